-- situation: kill-beside-xz: an OOM kill while xz takes the CPU
-- kind: kill
-- whom: perl in victim.service
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821013194510652,1795821017746754769,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','perl','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"cpu","kind":"some","stall_us":200000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','cpu','some',200000,2000000,'sampled','/verdicts.slice/victim.service',1795821014207966985,1795821013206528803,1795821017207966985,1001438182,'complete',500036,47,1001438182,23,24,1,34,237,182,1795821013207966985);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,29628,16701198184231,'xz','xz',0,'/verdicts.slice/xz.service','xz.service','native'),
(2,1,29624,16701165786747,'perl','perl',0,'/verdicts.slice/victim.service','victim.service','perl'),
(3,1,29393,16697537144536,'clang-tidy','clang-tidy',0,'/',NULL,'native'),
(8,1,29468,16700255929669,'cc1',NULL,0,'/',NULL,NULL),
(10,1,29483,16700593782606,'r_unit',NULL,0,'/',NULL,NULL),
(11,1,29604,16701058269385,'cc1',NULL,0,'/',NULL,NULL),
(12,1,29635,16701236680878,'bourdond',NULL,65534,'/',NULL,NULL),
(15,1,29680,16702486250402,'vtest',NULL,0,'/',NULL,NULL),
(18,1,29633,16701230161414,'bash',NULL,0,'/',NULL,NULL),
(20,1,29707,16703603056291,'await_status',NULL,0,'/',NULL,NULL),
(21,1,29708,16703684278339,'vtest',NULL,0,'/',NULL,NULL),
(22,1,29709,16704045699890,'r_unit',NULL,0,'/',NULL,NULL),
(24,1,15,99314954,'rcu_preempt',NULL,0,NULL,NULL,NULL),
(74,1,29615,16701123566914,'vtest',NULL,0,'/',NULL,NULL),
(75,1,29617,16701129980296,'bash',NULL,0,'/',NULL,NULL),
(76,1,29620,16701156818892,'vtest',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,24,'kernel',1795821013208535903,1795821017209001141,5489824,24951373,0,0,0,0,0,0,0,266,0,0,0,0,0),
(1,3,'other',1795821013208535903,1795821017209001141,3250562761,747403222,0,0,0,0,15872,0,0,0,713,134160384,144449536,0,0),
(1,8,'other',1795821013208535903,1795821017209001141,21501391,3790129973,0,0,0,0,161,0,4096,0,7,36413440,35889152,0,0),
(1,10,'other',1795821013208535903,1795821017209001141,26856342,2733925085,0,0,0,0,295,0,12288,1,6,5799936,4210688,0,0),
(1,11,'other',1795821013208535903,1795821017209001141,24008348,4099965936,0,0,0,0,537,0,0,0,7,24367104,22245376,0,0),
(1,74,'other',1795821013208535903,1795821017209001141,3586822,328505800,0,0,0,0,24,0,0,0,1,0,20971520,0,0),
(1,75,'other',1795821013208535903,1795821017209001141,29727798,121396215,0,0,0,0,2904,0,0,63,5,4153344,3497984,0,0),
(1,76,'other',1795821013208535903,1795821017209001141,6292665,905900118,0,0,0,0,350,0,0,0,2,20971520,20971520,0,0),
(1,2,'target',1795821013208535903,1795821017209001141,1120617567,1121206713,626989712,0,0,0,15958,0,0,0,437,71524352,6119424,35,8149129),
(1,1,'other',1795821013208535903,1795821017209001141,2863625543,1133724738,0,0,0,0,1,0,0,0,336,8462336,8462336,0,0),
(1,18,'other',1795821013208535903,1795821017209001141,48863116,93085971,0,0,0,0,3,0,4096,38,9,3547136,3547136,0,0),
(1,12,'other',1795821013208535903,1795821017209001141,67040877,361544214,0,0,0,0,1201,0,323584,286,73,14094336,13570048,0,0),
(1,15,'other',1795821013208535903,1795821017209001141,13604843,1196194452,0,0,0,0,1390,0,4096,1,5,21004288,0,0,0),
(1,20,'other',1795821013208535903,1795821017209001141,52768247,51131992,0,0,0,0,334,0,0,47,18,3735552,0,0,0),
(1,21,'other',1795821013208535903,1795821017209001141,20164172,1423772099,0,0,0,0,3484,0,0,1,5,21004288,0,0,0),
(1,22,'other',1795821013208535903,1795821017209001141,19048094,1115262032,0,0,0,0,341,0,327680,0,6,4341760,0,0,0),
(1,NULL,'rest',1795821013208535903,1795821017209001141,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821013208535903,1795821017209001141,31196852,429805948,0,0,0,0,168,0,16384,705,0,146706432,144998400,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','bourdond','bourdond',29636,'/',0,3,269492359,951220554,0,0,0,0,0),
(1,'other','awk','bash',29617,'/',0,11,33746925,86710219,0,0,0,0,0),
(1,'other','getconf','bash',NULL,'/',0,11,25620798,54846337,0,0,0,0,0),
(1,'other','cat','bash',NULL,'/',0,12,18550231,179375497,0,0,0,0,0),
(1,'other','pgrep','bash',29617,'/',0,1,13463760,19575599,0,0,0,0,0),
(1,'other','bash','bash',29617,'/',0,12,12891504,80042015,0,0,0,0,0),
(1,'other','sleep','bash',29617,'/',0,8,11080978,18346852,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821013208535903,1795821017209001141,0,0.0),
(1,'guest',1795821013208535903,1795821017209001141,0,0.0),
(1,'idle',1795821013208535903,1795821017209001141,0,0.0),
(1,'irq',1795821013208535903,1795821017209001141,0,0.0),
(1,'kernel threads',1795821013208535903,1795821017209001141,10828177,0.14),
(1,'others',1795821013208535903,1795821017209001141,6473509518,80.91),
(1,'short-lived',1795821013208535903,1795821017209001141,384846555,4.81),
(1,'softirq',1795821013208535903,1795821017209001141,0,0.0),
(1,'steal',1795821013208535903,1795821017209001141,10000000,0.12),
(1,'targets',1795821013208535903,1795821017209001141,1120617567,14.01),
(1,'unaccounted',1795821013208535903,1795821017209001141,1128659,0.01);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821013208535903,1795821017209001141,0,974848),
(1,'kernel threads',1795821013208535903,1795821017209001141,0,16384),
(1,'others',1795821013208535903,1795821017209001141,0,675840),
(1,'short-lived',1795821013208535903,1795821017209001141,0,0),
(1,'targets',1795821013208535903,1795821017209001141,0,0),
(1,'unaccounted',1795821013208535903,1795821017209001141,0,282624);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'perl in victim.service','memory',0,746854),
(1,'perl in victim.service','queued',0,999300385),
(1,'perl in victim.service','ran',0,989209639),
(1,'perl in victim.service','rest',0,785184);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'perl in victim.service','memory','limit',NULL,NULL,NULL,NULL,NULL,746854),
(1,'perl in victim.service','queued','other','xz','xz.service','/verdicts.slice/xz.service',29628,1,989438582),
(1,'perl in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,5440805),
(1,'perl in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,2692285),
(1,'perl in victim.service','queued','kernel','kworker',NULL,NULL,NULL,4,1520733),
(1,'perl in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,207980);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795821013208535903,1795821017209001141,2945,45663423,0.57),
(1,'softirq',9,'RCU',1795821013208535903,1795821017209001141,817,6993202,0.09),
(1,'softirq',1,'TIMER',1795821013208535903,1795821017209001141,296,2248544,0.03),
(1,'softirq',7,'SCHED',1795821013208535903,1795821017209001141,109,1681603,0.02),
(1,'softirq',4,'BLOCK',1795821013208535903,1795821017209001141,5,109741,0.0),
(1,'irq',36,'virtio1-req.0',1795821013208535903,1795821017209001141,5,33491,0.0),
(1,'irq',41,'virtio3-rx',1795821013208535903,1795821017209001141,1,11507,0.0),
(1,'irq',31,'virtio0-stats',1795821013208535903,1795821017209001141,1,8636,0.0),
(1,'irq',42,'virtio3-tx',1795821013208535903,1795821017209001141,1,2976,0.0);
INSERT INTO killed(capture_id,at,how,role,comm,tgid,cgroup,unit,rss_bytes,by_comm,by_tgid,by_cgroup,by_unit,limit_cgroup,limit_bytes,processes) VALUES
(1,1795821015434718461,'oom','target','perl',29624,'/verdicts.slice/victim.service','victim.service',71524352,'perl',29624,'/verdicts.slice/victim.service','victim.service','verdicts-kill',67108864,1);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821014221932338,1795821017209051377,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',595962,1211509),
(1,1795821014221932338,1795821017209051377,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',591864,1154940),
(1,1795821014221932338,1795821017209051377,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',4098,56568),
(1,1795821014221932338,1795821017209051377,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',583986,1143328),
(1,1795821014221932338,1795821017209051377,'/verdicts.slice','cpu.stat',NULL,'usage_usec',3454432,6428419),
(1,1795821014221932338,1795821017209051377,'/verdicts.slice','cpu.stat',NULL,'user_usec',3267499,6176407),
(1,1795821014221932338,1795821017209051377,'/verdicts.slice','cpu.stat',NULL,'system_usec',186933,252011),
(1,1795821014221932338,1795821017209051377,'/verdicts.slice','cpu.stat',NULL,'nice_usec',3353413,6270434),
(1,1795821014221932338,1795821017209051377,'/','cpu.stat',NULL,'usage_usec',30046082159,30052051808),
(1,1795821014221932338,1795821017209051377,'/','cpu.stat',NULL,'user_usec',25422666050,25428415698),
(1,1795821014221932338,1795821017209051377,'/','cpu.stat',NULL,'system_usec',4623416109,4623636109),
(1,1795821014221932338,1795821017209051377,'/','cpu.stat',NULL,'nice_usec',8394581676,8397590680),
(1,1795821014221932338,1795821017209051377,'system','vmstat',NULL,'pgfault',531936704,531979439),
(1,1795821014221932338,1795821017209051377,'system','vmstat',NULL,'oom_kill',80,81),
(1,1795821014221932338,1795821017209051377,'system','diskstats','vda','writes',2588150,2588151);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821014207966985,'system','cpu',10872183009,0),
(1,1795821014207966985,'system','memory',38360595,9667289),
(1,1795821014207966985,'system','io',292506662,48265711),
(1,1795821014207966985,'/verdicts.slice/victim.service','cpu',577075,577075),
(1,1795821014207966985,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821014207966985,'/verdicts.slice/victim.service','io',0,0),
(1,1795821017209051377,'system','cpu',10874312936,0),
(1,1795821017209051377,'system','memory',38364695,9667890),
(1,1795821017209051377,'system','io',292507098,48265711),
(1,1795821017209051377,'/verdicts.slice/victim.service','cpu',1200304,1200304),
(1,1795821017209051377,'/verdicts.slice/victim.service','memory',8200,8200),
(1,1795821017209051377,'/verdicts.slice/victim.service','io',0,0),
(1,1795821017209051377,'targets','cpu',118847,NULL),
(1,1795821017209051377,'targets','memory',8142,NULL),
(1,1795821017209051377,'targets','io',0,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',131,'frame'),
(1,'overwritten-slots',1,'sample'),
(1,'stack-not-whole',3,'stack');

-- situation: own-threads-stress-ng: stress-ng beside itself
-- kind: own threads
-- whom: stress-ng-cpu in victim.service
-- ran: 95 % of the CPUs
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795820523870183876,1795820536066771447,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','stress-ng-cpu','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"cpu","kind":"some","stall_us":200000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','cpu','some',200000,2000000,'sampled','/verdicts.slice/victim.service',1795820525038709772,1795820524004106709,1795820528038709772,1034603063,'complete',1033729,47,1034603063,253,243,6,1000,2073,1714,1795820524004937538);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,32342,16210284942898,'stress-ng-cpu','stress-ng',0,'/verdicts.slice/victim.service','victim.service','native'),
(2,1,32344,16210286026397,'stress-ng-cpu','stress-ng',0,'/verdicts.slice/victim.service','victim.service','native'),
(3,1,32345,16210286284362,'stress-ng-cpu','stress-ng',0,'/verdicts.slice/victim.service','victim.service','native'),
(4,1,32340,16210282239223,'bash',NULL,0,'/',NULL,NULL),
(5,1,32348,16210316568559,'bourdond',NULL,65534,'/',NULL,NULL),
(6,1,22959,15446187142385,'lck22652','java',0,'/bourdon-locks-alone-22652/victim',NULL,'jvm'),
(7,1,32343,16210285370664,'stress-ng-cpu','stress-ng',0,'/verdicts.slice/victim.service','victim.service','native'),
(8,1,32346,16210286513025,'stress-ng-cpu','stress-ng',0,'/verdicts.slice/victim.service','victim.service','native'),
(9,1,32347,16210286788871,'stress-ng-cpu','stress-ng',0,'/verdicts.slice/victim.service','victim.service','native'),
(15,1,31889,16196605839893,'bash',NULL,0,'/',NULL,NULL),
(21,1,32373,16212344886155,'pgrep',NULL,0,'/',NULL,NULL),
(22,1,32330,16210217534565,'bash',NULL,0,'/',NULL,NULL),
(26,1,32376,16212572889715,'bourdond',NULL,65534,'/',NULL,NULL),
(33,1,32375,16212533527294,'bourdond',NULL,65534,'/',NULL,NULL),
(35,1,32389,16214106167773,'bash',NULL,0,'/',NULL,NULL),
(37,1,21745,14365338061922,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(39,1,21695,14365289490317,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(57,1,15,99314954,'rcu_preempt',NULL,0,NULL,NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,57,'kernel',1795820524066919670,1795820528135815787,10641833,294073772,0,0,0,0,0,0,0,271,0,0,0,0,0),
(1,39,'other',1795820524066919670,1795820528135815787,5663918,151609234,0,0,0,0,0,0,0,79,0,1163264,1163264,0,0),
(1,37,'other',1795820524066919670,1795820528135815787,5400768,114127427,0,0,0,0,0,0,0,80,0,1126400,1126400,0,0),
(1,6,'other',1795820524066919670,1795820528135815787,47560662,1356588884,0,0,0,0,3,0,8192,450,1,47149056,47149056,0,0),
(1,15,'other',1795820524066919670,1795820528135815787,28920927,1022300948,0,0,0,0,849,0,0,7,6,4976640,4976640,0,0),
(1,22,'other',1795820524066919670,1795820528135815787,9673650,1403077163,0,0,0,0,597,0,0,14,5,3637248,3375104,0,0),
(1,4,'other',1795820524066919670,1795820528135815787,21147979,2260374518,0,0,0,0,0,0,0,19,3,3350528,3350528,0,0),
(1,1,'target',1795820524066919670,1795820528135815787,1315873301,2814000130,2805677527,0,0,0,0,0,0,0,384,3108864,3108864,0,0),
(1,7,'target',1795820524066919670,1795820528135815787,1306555391,2825047644,2807648233,0,0,0,0,0,0,0,390,3121152,3121152,0,0),
(1,2,'target',1795820524066919670,1795820528135815787,1315892845,2808435954,2806702621,0,0,0,0,0,0,0,395,3108864,3108864,0,0),
(1,3,'target',1795820524066919670,1795820528135815787,1314403341,2811781207,2808800407,0,0,0,0,0,0,0,389,3108864,3108864,0,0),
(1,8,'target',1795820524066919670,1795820528135815787,1302088528,2820572114,2790693054,0,0,0,0,0,0,0,380,3121152,3121152,0,0),
(1,9,'target',1795820524066919670,1795820528135815787,1309189605,2829610166,2807417176,0,0,0,0,0,0,0,373,3121152,3121152,0,0),
(1,5,'other',1795820524066919670,1795820528135815787,43889902,5839037170,0,0,0,0,315,0,204800,68,19,14340096,13574144,0,0),
(1,21,'other',1795820524066919670,1795820528135815787,13457778,1146351567,0,0,0,0,292,0,0,0,6,3121152,0,0,0),
(1,33,'other',1795820524066919670,1795820528135815787,16929867,1831888130,0,0,0,0,742,0,0,11,8,3391488,0,0,0),
(1,26,'other',1795820524066919670,1795820528135815787,16829404,2168003259,0,0,0,0,721,0,0,17,5,3104768,0,0,0),
(1,35,'other',1795820524066919670,1795820528135815787,30517194,1158048337,0,0,0,0,1120,0,4096,13,4,4173824,0,0,0),
(1,NULL,'rest',1795820524066919670,1795820528135815787,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795820524066919670,1795820528135815787,51563678,13579197154,0,0,0,0,1412,0,0,118,15,480391168,466632704,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','mountpoint','bash',31889,'/',0,2,11073009,331394630,0,0,0,0,0),
(1,'other','bourdon-load','bash',31889,'/',0,1,9778108,343098098,0,0,0,0,0),
(1,'other','cat','bash',NULL,'/',0,4,8837708,1019199991,0,0,0,0,0),
(1,'other','bash','bash',32389,'/',0,3,6695550,351442488,0,0,0,0,0),
(1,'other','bash','bash',32330,'/',0,4,6685069,987826518,0,0,0,0,0),
(1,'other','mkdir','bash',NULL,'/',0,2,6582098,216632717,0,0,0,0,0),
(1,'other','install','bash',32389,'/',0,2,6078641,65908746,0,0,0,0,0),
(1,'other','rm','bash',31889,'/',0,2,5300748,184109304,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,11,25741549,772323375,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795820524066919670,1795820528135815787,0,0.0),
(1,'guest',1795820524066919670,1795820528135815787,0,0.0),
(1,'idle',1795820524066919670,1795820528135815787,0,0.0),
(1,'irq',1795820524066919670,1795820528135815787,0,0.0),
(1,'kernel threads',1795820524066919670,1795820528135815787,24269593,0.3),
(1,'others',1795820524066919670,1795820528135815787,277927967,3.42),
(1,'short-lived',1795820524066919670,1795820528135815787,86772480,1.07),
(1,'softirq',1795820524066919670,1795820528135815787,0,0.0),
(1,'steal',1795820524066919670,1795820528135815787,10000000,0.12),
(1,'targets',1795820524066919670,1795820528135815787,7864003011,96.64),
(1,'unaccounted',1795820524066919670,1795820528135815787,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795820524066919670,1795820528135815787,0,323584),
(1,'kernel threads',1795820524066919670,1795820528135815787,0,0),
(1,'others',1795820524066919670,1795820528135815787,0,217088),
(1,'short-lived',1795820524066919670,1795820528135815787,0,0),
(1,'targets',1795820524066919670,1795820528135815787,0,0),
(1,'unaccounted',1795820524066919670,1795820528135815787,0,106496);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'stress-ng-cpu in victim.service','queued',6,16079260143),
(1,'stress-ng-cpu in victim.service','ran',6,7472727228),
(1,'stress-ng-cpu in victim.service','rest',6,20381338);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'stress-ng-cpu in victim.service','queued','own','stress-ng-cpu','victim.service','/verdicts.slice/victim.service',NULL,6,14774030647),
(1,'stress-ng-cpu in victim.service','queued','other','bash',NULL,'/',NULL,54,328559894),
(1,'stress-ng-cpu in victim.service','queued','recorder','bourdond',NULL,'/',NULL,9,230848747),
(1,'stress-ng-cpu in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,199289580),
(1,'stress-ng-cpu in victim.service','queued','other','lck22652',NULL,'/bourdon-locks-alone-22652/victim',22959,1,135919961),
(1,'stress-ng-cpu in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,99420506),
(1,'stress-ng-cpu in victim.service','queued','other','cat',NULL,'/',NULL,9,39323710),
(1,'stress-ng-cpu in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,33757358),
(1,'stress-ng-cpu in victim.service','queued','kernel','kworker',NULL,NULL,NULL,9,32919647),
(1,'stress-ng-cpu in victim.service','queued','other','pgrep',NULL,'/',32373,1,32837956),
(1,'stress-ng-cpu in victim.service','queued','other','mountpoint',NULL,'/',NULL,2,31774862),
(1,'stress-ng-cpu in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,31535102),
(1,'stress-ng-cpu in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,25783947),
(1,'stress-ng-cpu in victim.service','queued','other','cc1',NULL,'/',NULL,6,21124208),
(1,'stress-ng-cpu in victim.service','queued','other','bourdon-load',NULL,'/',NULL,1,20208224),
(1,'stress-ng-cpu in victim.service','queued','other','mkdir',NULL,'/',NULL,3,19483369),
(1,'stress-ng-cpu in victim.service','queued','other','install',NULL,'/',NULL,3,18048471),
(1,'stress-ng-cpu in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,4393954);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795820524066919670,1795820528135815787,5012,83636065,1.03),
(1,'softirq',9,'RCU',1795820524066919670,1795820528135815787,804,12038556,0.15),
(1,'softirq',1,'TIMER',1795820524066919670,1795820528135815787,267,4857933,0.06),
(1,'softirq',7,'SCHED',1795820524066919670,1795820528135815787,136,2815051,0.03),
(1,'softirq',4,'BLOCK',1795820524066919670,1795820528135815787,12,256378,0.0),
(1,'irq',36,'virtio1-req.0',1795820524066919670,1795820528135815787,12,139785,0.0),
(1,'irq',42,'virtio3-tx',1795820524066919670,1795820528135815787,3,49405,0.0),
(1,'irq',41,'virtio3-rx',1795820524066919670,1795820528135815787,1,19913,0.0),
(1,'irq',32,'virtio0-reporting_vq',1795820524066919670,1795820528135815787,1,15958,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795820525040580717,1795820528136015935,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',5523651,11418378),
(1,1795820525040580717,1795820528136015935,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',5504144,11398871),
(1,1795820525040580717,1795820528136015935,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',5654136,11758633),
(1,1795820525040580717,1795820528136015935,'/verdicts.slice','cpu.stat',NULL,'usage_usec',53465558,58869427),
(1,1795820525040580717,1795820528136015935,'/verdicts.slice','cpu.stat',NULL,'user_usec',49568071,54971939),
(1,1795820525040580717,1795820528136015935,'/verdicts.slice','cpu.stat',NULL,'nice_usec',50159224,55761199),
(1,1795820525040580717,1795820528136015935,'/','cpu.stat',NULL,'usage_usec',29076289501,29081959476),
(1,1795820525040580717,1795820528136015935,'/','cpu.stat',NULL,'user_usec',24555760353,24561402328),
(1,1795820525040580717,1795820528136015935,'/','cpu.stat',NULL,'system_usec',4520529147,4520557147),
(1,1795820525040580717,1795820528136015935,'/','cpu.stat',NULL,'nice_usec',7599964406,7605574380),
(1,1795820525040580717,1795820528136015935,'system','vmstat',NULL,'pgfault',519222917,519231045),
(1,1795820525040580717,1795820528136015935,'system','diskstats','vda','writes',2572325,2572332),
(1,1795820525040580717,1795820528136015935,'system','diskstats','vda','write_bytes',289315160064,289315483648),
(1,1795820525040580717,1795820528136015935,'system','diskstats','vda','write_ms',1696531,1696536);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795820525038709772,'system','cpu',10436380220,0),
(1,1795820525038709772,'system','memory',37673017,9108197),
(1,1795820525038709772,'system','io',285635329,48235128),
(1,1795820525038709772,'/verdicts.slice/victim.service','cpu',2905263,142998),
(1,1795820525038709772,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820525038709772,'/verdicts.slice/victim.service','io',0,0),
(1,1795820528136015935,'system','cpu',10439477056,0),
(1,1795820528136015935,'system','memory',37673017,9108197),
(1,1795820528136015935,'system','io',285636234,48235128),
(1,1795820528136015935,'/verdicts.slice/victim.service','cpu',6002014,283807),
(1,1795820528136015935,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820528136015935,'/verdicts.slice/victim.service','io',0,0),
(1,1795820528136015935,'targets','cpu',2021273,NULL),
(1,1795820528136015935,'targets','memory',0,NULL),
(1,1795820528136015935,'targets','io',0,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',475,'frame'),
(1,'stack-not-whole',2071,'stack'),
(1,'symbolizer-failed',1,'event');

-- situation: own-io-python3: a Python program that flushes each write
-- kind: own I/O
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821040728831728,1795821045986686292,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','python3','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"io","kind":"some","stall_us":40000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','io','some',40000,2000000,'sampled','/verdicts.slice/victim.service',1795821042732405847,1795821040732405847,1795821045732405847,2000000000,'complete',106913,47,2000000000,6,3,1,12,1980,1972,1795821040732405847);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,32604,16728717645523,'cc1','cc1',0,'/',NULL,'native'),
(2,1,32623,16728789925949,'python3','python3.11',0,'/verdicts.slice/victim.service','victim.service','python'),
(11,1,32726,16730784923532,'cc1','cc1',0,'/',NULL,'native'),
(26,1,27042,16654365526164,'make',NULL,0,'/',NULL,NULL),
(27,1,32731,16730822504665,'cc1','cc1',0,'/',NULL,'native'),
(29,1,32630,16728816312135,'bourdond',NULL,65534,'/',NULL,NULL),
(30,1,32732,16730885762558,'await_status',NULL,0,'/',NULL,NULL),
(31,1,32733,16731113851405,'as',NULL,0,'/',NULL,NULL),
(46,1,32767,16732089043957,'cc1','cc1',0,'/',NULL,'native'),
(48,1,304,16732190592203,'cc1','cc1',0,'/',NULL,'native'),
(50,1,32628,16728813380168,'bash',NULL,0,'/',NULL,NULL),
(59,1,329,16733303684936,'cc1','cc1',0,'/',NULL,'native'),
(60,1,334,16733448410232,'cc1','cc1',0,'/',NULL,'native'),
(63,1,339,16733658771346,'cc1','cc1',0,'/',NULL,'native'),
(65,1,15,99314954,'rcu_preempt',NULL,0,NULL,NULL,NULL),
(71,1,44,178597696,'kworker/0:1H',NULL,0,NULL,NULL,NULL),
(105,1,32581,16728632228667,'cc1',NULL,0,'/',NULL,NULL),
(108,1,32618,16728761288117,'bash',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,65,'kernel',1795821040732799041,1795821045733192854,5219077,5197836,0,0,0,0,0,0,0,338,0,0,0,0,0),
(1,71,'kernel',1795821040732799041,1795821045733192854,50009410,249273,0,0,0,0,0,0,0,3966,0,0,0,0,0),
(1,26,'other',1795821040732799041,1795821045733192854,12774178,13787122,0,0,0,0,21,0,0,104,4,5779456,5779456,0,0),
(1,105,'other',1795821040732799041,1795821045733192854,11834764,308451,0,0,0,0,65,0,200704,1,6,46948352,46948352,0,0),
(1,1,'other',1795821040732799041,1795821045733192854,966095987,53644209,0,0,0,0,3911,0,1126400,1,785,37552128,37552128,0,0),
(1,108,'other',1795821040732799041,1795821045733192854,8718349,14388200,0,0,0,0,1421,0,0,39,3,3768320,3502080,0,0),
(1,2,'target',1795821040732799041,1795821045733192854,238304514,4382966512,4401686085,0,377485132,0,0,0,257556480,9052,7,8478720,8478720,0,0),
(1,50,'other',1795821040732799041,1795821045733192854,41089898,7020823,0,0,0,0,4,0,8192,50,3,3538944,3403776,0,0),
(1,29,'other',1795821040732799041,1795821045733192854,60140311,48933077,0,0,0,0,687,0,159744,482,197,15642624,13217792,0,0),
(1,11,'other',1795821040732799041,1795821045733192854,480617427,60497062,0,0,0,0,5957,0,409600,1,354,44904448,0,0,0),
(1,27,'other',1795821040732799041,1795821045733192854,196499842,93826693,0,0,0,0,4436,0,90112,1,82,21348352,0,0,0),
(1,30,'other',1795821040732799041,1795821045733192854,95752910,6291203,0,0,0,0,331,0,0,84,16,3616768,0,0,0),
(1,31,'other',1795821040732799041,1795821045733192854,20449066,1455593,0,0,0,0,444,0,36864,1,6,4640768,0,0,0),
(1,48,'other',1795821040732799041,1795821045733192854,556369931,52431232,0,0,0,0,6976,0,573440,1,468,45993984,0,0,0),
(1,46,'other',1795821040732799041,1795821045733192854,424963411,26169463,0,0,0,0,6069,0,339968,1,70,46743552,0,0,0),
(1,59,'other',1795821040732799041,1795821045733192854,312345590,19509164,0,0,0,0,6118,0,339968,1,149,48087040,0,0,0),
(1,60,'other',1795821040732799041,1795821045733192854,412270077,21107786,0,0,0,0,6198,0,126976,0,104,48930816,0,0,0),
(1,63,'other',1795821040732799041,1795821045733192854,202673967,17400111,0,0,0,0,5309,0,53248,0,153,45162496,0,0,0),
(1,NULL,'rest',1795821040732799041,1795821045733192854,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821040732799041,1795821045733192854,46243043,53663833,0,0,0,0,1210,0,0,646,43,128581632,97067008,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','cc1','gcc',NULL,'/',0,20,5140316669,335685355,0,0,5566464,0,0),
(1,'other','as','gcc',NULL,'/',0,20,237061853,6382505,0,0,2285568,0,0),
(1,'other','bourdond','bourdond',32631,'/',0,5,54798605,33908720,0,0,0,0,0),
(1,'other','as','gcc',32600,'/',0,1,48295176,1205260,0,0,397312,0,0),
(1,'other','gcc','sh',NULL,'/',0,20,42994418,36103089,0,0,0,0,0),
(1,'other','mkdir','make',27042,'/',0,27,32804708,2108516,0,0,0,0,0),
(1,'other','as','gcc',32725,'/',0,1,24580266,990242,0,0,151552,0,0),
(1,'other','as','gcc',303,'/',0,1,18926261,676842,0,0,204800,0,0),
(1,'other','sh','make',27042,'/',0,20,16173082,5565715,0,0,0,0,0),
(1,'other','as','gcc',328,'/',0,1,15463202,689158,0,0,126976,0,0),
(1,'other','as','gcc',32766,'/',0,1,15160901,43402,0,0,143360,0,0),
(1,'other','cat','bash',NULL,'/',0,12,10964713,14009223,0,0,0,0,0),
(1,'other','as','gcc',32580,'/',0,1,8953151,30543483,0,0,94208,0,0),
(1,'other','pgrep','bash',32618,'/',0,1,7347587,103152,0,0,0,0,0),
(1,'other','bash','bash',32618,'/',0,12,7159788,6893210,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821040732799041,1795821045733192854,0,0.0),
(1,'guest',1795821040732799041,1795821045733192854,0,0.0),
(1,'idle',1795821040732799041,1795821045733192854,140000000,1.4),
(1,'irq',1795821040732799041,1795821045733192854,0,0.0),
(1,'kernel threads',1795821040732799041,1795821045733192854,62352096,0.62),
(1,'others',1795821040732799041,1795821045733192854,3836713727,38.36),
(1,'short-lived',1795821040732799041,1795821045733192854,5673722575,56.73),
(1,'softirq',1795821040732799041,1795821045733192854,50000000,0.5),
(1,'steal',1795821040732799041,1795821045733192854,0,0.0),
(1,'targets',1795821040732799041,1795821045733192854,237999228,2.38),
(1,'unaccounted',1795821040732799041,1795821045733192854,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821040732799041,1795821045733192854,0,271368192),
(1,'kernel threads',1795821040732799041,1795821045733192854,0,0),
(1,'others',1795821040732799041,1795821045733192854,0,3465216),
(1,'short-lived',1795821040732799041,1795821045733192854,0,8970240),
(1,'targets',1795821040732799041,1795821045733192854,0,257556480),
(1,'unaccounted',1795821040732799041,1795821045733192854,0,1376256);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'python3 in victim.service','io',1,399166197),
(1,'python3 in victim.service','queued',1,4367483822),
(1,'python3 in victim.service','ran',1,237609331);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text) VALUES
(1,'python3 in victim.service','queued','other','cc1',NULL,'/',NULL,29,4172840625,NULL),
(1,'python3 in victim.service','queued','other','as',NULL,'/',NULL,27,136900944,NULL),
(1,'python3 in victim.service','queued','other','gcc',NULL,'/',NULL,29,15162593,NULL),
(1,'python3 in victim.service','queued','other','mkdir',NULL,'/',NULL,27,12653831,NULL),
(1,'python3 in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,8971447,NULL),
(1,'python3 in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,8301948,NULL),
(1,'python3 in victim.service','queued','other','sh',NULL,'/',NULL,29,7758723,NULL),
(1,'python3 in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,3419657,NULL),
(1,'python3 in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,1259835,NULL),
(1,'python3 in victim.service','queued','recorder',NULL,NULL,NULL,NULL,NULL,207401,NULL),
(1,'python3 in victim.service','queued','nobody',NULL,NULL,NULL,NULL,NULL,6818,NULL),
(1,'python3 in victim.service','io','own','python3','victim.service','/verdicts.slice/victim.service',32623,1,378850004,NULL),
(1,'python3 in victim.service','io','other','cc1',NULL,'/',NULL,29,12983806,NULL),
(1,'python3 in victim.service','io','other','as',NULL,'/',NULL,27,5060973,NULL),
(1,'python3 in victim.service','io','unknown',NULL,NULL,NULL,NULL,NULL,2024392,'not recorded'),
(1,'python3 in victim.service','io','other',NULL,NULL,NULL,NULL,NULL,247022,NULL);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'softirq',4,'BLOCK',1795821040732799041,1795821045733192854,9118,65670012,0.66),
(1,'irq',NULL,'local timer',1795821040732799041,1795821045733192854,3534,52318415,0.52),
(1,'irq',36,'virtio1-req.0',1795821040732799041,1795821045733192854,9118,13739911,0.14),
(1,'softirq',9,'RCU',1795821040732799041,1795821045733192854,1047,8706609,0.09),
(1,'softirq',7,'SCHED',1795821040732799041,1795821045733192854,366,3318192,0.03),
(1,'softirq',1,'TIMER',1795821040732799041,1795821045733192854,360,2428640,0.02),
(1,'irq',31,'virtio0-stats',1795821040732799041,1795821045733192854,1,8262,0.0),
(1,'irq',42,'virtio3-tx',1795821040732799041,1795821045733192854,2,6814,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821042740714229,1795821045733300852,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',96754,256931),
(1,1795821042740714229,1795821045733300852,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',30458,61363),
(1,1795821042740714229,1795821045733300852,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',66296,195567),
(1,1795821042740714229,1795821045733300852,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',8000,32000),
(1,1795821042740714229,1795821045733300852,'/verdicts.slice','cpu.stat',NULL,'usage_usec',12056556,12216733),
(1,1795821042740714229,1795821045733300852,'/verdicts.slice','cpu.stat',NULL,'user_usec',11485518,11560064),
(1,1795821042740714229,1795821045733300852,'/verdicts.slice','cpu.stat',NULL,'system_usec',571038,656669),
(1,1795821042740714229,1795821045733300852,'/verdicts.slice','cpu.stat',NULL,'nice_usec',11096019,11120019),
(1,1795821042740714229,1795821045733300852,'/','cpu.stat',NULL,'usage_usec',30102766228,30108607239),
(1,1795821042740714229,1795821045733300852,'/','cpu.stat',NULL,'user_usec',25472770057,25477955462),
(1,1795821042740714229,1795821045733300852,'/','cpu.stat',NULL,'system_usec',4629996171,4630651777),
(1,1795821042740714229,1795821045733300852,'/','cpu.stat',NULL,'nice_usec',8422981467,8428038872),
(1,1795821042740714229,1795821045733300852,'system','vmstat',NULL,'pgfault',533163590,533278042),
(1,1795821042740714229,1795821045733300852,'system','diskstats','vda','writes',2614913,2621429),
(1,1795821042740714229,1795821045733300852,'system','diskstats','vda','write_bytes',291330822144,291527819264),
(1,1795821042740714229,1795821045733300852,'system','diskstats','vda','write_ms',1719438,1719752),
(1,1795821042740714229,1795821045733300852,'system','diskstats','vda','busy_ms',513424,513600);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821042732405847,'system','cpu',10895275728,0),
(1,1795821042732405847,'system','memory',38367558,9668143),
(1,1795821042732405847,'system','io',293333153,48414769),
(1,1795821042732405847,'/verdicts.slice/victim.service','cpu',1877646,1877646),
(1,1795821042732405847,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821042732405847,'/verdicts.slice/victim.service','io',108405,108405),
(1,1795821045733300852,'system','cpu',10896818248,0),
(1,1795821045733300852,'system','memory',38367558,9668143),
(1,1795821045733300852,'system','io',293471208,48479014),
(1,1795821045733300852,'/verdicts.slice/victim.service','cpu',4462045,4462045),
(1,1795821045733300852,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821045733300852,'/verdicts.slice/victim.service','io',372875,372875),
(1,1795821045733300852,'targets','cpu',1760037,NULL),
(1,1795821045733300852,'targets','memory',0,NULL),
(1,1795821045733300852,'targets','io',155805,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',449,'frame'),
(1,'offcpu-over-budget',1,'interval'),
(1,'stack-not-whole',1,'stack');

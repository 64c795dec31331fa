-- situation: quota-node: a quota of a server beside a neighbour
-- kind: quota
-- throttled: 97 % of the wait
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795820860833137219,1795820865467192254,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','node','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"cpu","kind":"some","stall_us":200000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','cpu','some',200000,2000000,'sampled','/verdicts.slice/victim.service',1795820861887246764,1795820860886637383,1795820864887246764,1000609381,'complete',703798,47,1000609381,38,36,1,7,99,45,1795820860887246764);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,21759,16548564125964,'node','node',0,'/verdicts.slice/victim.service','victim.service','node'),
(3,1,21764,16548590770821,'gzip','gzip',0,'/verdicts.slice/gzip.service','gzip.service','native'),
(5,1,21472,16543318139706,'lck21195','lck21195',0,'/bourdon-locks-dbzkqH-21195/victim',NULL,'go'),
(6,1,21753,16548530081886,'bash',NULL,0,'/',NULL,NULL),
(11,1,21312,16542666193943,'bourdond',NULL,65534,'/',NULL,NULL),
(12,1,21600,16547543212928,'cc1',NULL,0,'/',NULL,NULL),
(13,1,21602,16547550141969,'cc1',NULL,0,'/',NULL,NULL),
(14,1,21619,16547922519958,'cc1',NULL,0,'/',NULL,NULL),
(15,1,21624,16547962876066,'cc1',NULL,0,'/',NULL,NULL),
(16,1,21777,16548787037317,'bourdond',NULL,65534,'/',NULL,NULL),
(17,1,21824,16549306388784,'bourdond',NULL,65534,'/',NULL,NULL),
(21,1,21831,16549844418775,'bourdond',NULL,65534,'/',NULL,NULL),
(23,1,21833,16550038268507,'await_status',NULL,0,'/',NULL,NULL),
(26,1,21769,16548666515982,'bash',NULL,0,'/',NULL,NULL),
(27,1,21832,16550002500126,'cc1',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,11,'other',1795820860899746606,1795820864888268952,17914419,6217469803,0,0,0,0,105,0,0,31,12,14110720,13586432,0,0),
(1,5,'other',1795820860899746606,1795820864888268952,3559662964,2892140760,0,0,0,0,1,0,0,731,1624,1519616,1519616,0,0),
(1,12,'other',1795820860899746606,1795820864888268952,30242019,4240810098,0,0,0,0,690,0,0,0,11,23322624,20439040,0,0),
(1,13,'other',1795820860899746606,1795820864888268952,17697146,4035826111,0,0,0,0,86,0,8192,0,7,42393600,42131456,0,0),
(1,14,'other',1795820860899746606,1795820864888268952,15645167,3625078439,0,0,0,0,318,0,0,0,5,37601280,35504128,0,0),
(1,15,'other',1795820860899746606,1795820864888268952,18280696,3663812042,0,0,0,0,385,0,0,0,6,28155904,26583040,0,0),
(1,6,'other',1795820860899746606,1795820864888268952,13056997,63009826,0,0,0,0,1438,0,0,27,3,3715072,3584000,0,0),
(1,1,'target',1795820860899746606,1795820864888268952,1196533742,2796984287,2797112965,0,0,0,0,0,0,0,61,44777472,44777472,0,0),
(1,3,'other',1795820860899746606,1795820864888268952,2749206039,1245358621,0,0,0,0,59,0,0,0,98,1916928,1654784,0,0),
(1,26,'other',1795820860899746606,1795820864888268952,56461838,11865303,0,0,0,0,2,0,4096,39,8,3493888,3493888,0,0),
(1,16,'other',1795820860899746606,1795820864888268952,47685423,234862357,0,0,0,0,530,0,221184,262,71,15208448,13287424,0,0),
(1,17,'other',1795820860899746606,1795820864888268952,5405340,1441686183,0,0,0,0,294,0,0,4,2,2629632,0,0,0),
(1,21,'other',1795820860899746606,1795820864888268952,17227770,2872825557,0,0,0,0,855,0,0,2,6,6086656,0,0,0),
(1,27,'other',1795820860899746606,1795820864888268952,17339577,2804556301,0,0,0,0,1170,0,0,0,7,19750912,0,0,0),
(1,23,'other',1795820860899746606,1795820864888268952,54387698,54378776,0,0,0,0,334,0,0,86,19,3485696,0,0,0),
(1,NULL,'rest',1795820860899746606,1795820864888268952,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795820860899746606,1795820864888268952,42885743,9051793071,0,0,0,0,724,0,8192,671,9,164712448,156803072,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','bourdond','bourdond',21783,'/',0,4,71223680,193345101,0,0,0,0,0),
(1,'other','cat','bash',NULL,'/',0,13,20477643,200501694,0,0,0,0,0),
(1,'other','bash','bash',21753,'/',0,12,12007456,44848045,0,0,0,0,0),
(1,'other','pgrep','bash',21753,'/',0,1,11600173,2457404,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,1,1761027,169763842,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795820860899746606,1795820864888268952,0,0.0),
(1,'guest',1795820860899746606,1795820864888268952,0,0.0),
(1,'idle',1795820860899746606,1795820864888268952,0,0.0),
(1,'irq',1795820860899746606,1795820864888268952,0,0.0),
(1,'kernel threads',1795820860899746606,1795820864888268952,6904136,0.09),
(1,'others',1795820860899746606,1795820864888268952,6656194700,83.44),
(1,'short-lived',1795820860899746606,1795820864888268952,117069979,1.47),
(1,'softirq',1795820860899746606,1795820864888268952,0,0.0),
(1,'steal',1795820860899746606,1795820864888268952,20000000,0.25),
(1,'targets',1795820860899746606,1795820864888268952,1196533742,15.0),
(1,'unaccounted',1795820860899746606,1795820864888268952,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795820860899746606,1795820864888268952,0,1470464),
(1,'kernel threads',1795820860899746606,1795820864888268952,0,8192),
(1,'others',1795820860899746606,1795820864888268952,0,233472),
(1,'short-lived',1795820860899746606,1795820864888268952,0,0),
(1,'targets',1795820860899746606,1795820864888268952,0,0),
(1,'unaccounted',1795820860899746606,1795820864888268952,0,1228800);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'node in victim.service','queued',7,29101786),
(1,'node in victim.service','ran',7,1111677699),
(1,'node in victim.service','rest',7,191171),
(1,'node in victim.service','sleep',7,23999495057),
(1,'node in victim.service','throttled',7,2590071223);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text) VALUES
(1,'node in victim.service','throttled','quota',NULL,NULL,NULL,NULL,NULL,2519378498,'verdicts-self'),
(1,'node in victim.service','throttled','quota',NULL,NULL,NULL,NULL,NULL,70692725,''),
(1,'node in victim.service','queued','other','gzip','gzip.service','/verdicts.slice/gzip.service',21764,1,28358832,NULL),
(1,'node in victim.service','queued','kernel','kworker',NULL,NULL,NULL,5,547345,NULL),
(1,'node in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,138135,NULL),
(1,'node in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,57474,NULL);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795820860899746606,1795820864888268952,3876,48811994,0.61),
(1,'softirq',9,'RCU',1795820860899746606,1795820864888268952,465,3463799,0.04),
(1,'softirq',1,'TIMER',1795820860899746606,1795820864888268952,203,1503858,0.02),
(1,'softirq',7,'SCHED',1795820860899746606,1795820864888268952,113,1465011,0.02),
(1,'softirq',4,'BLOCK',1795820860899746606,1795820864888268952,5,73212,0.0),
(1,'irq',36,'virtio1-req.0',1795820860899746606,1795820864888268952,5,26122,0.0),
(1,'irq',41,'virtio3-rx',1795820860899746606,1795820864888268952,1,16156,0.0),
(1,'irq',42,'virtio3-tx',1795820860899746606,1795820864888268952,1,10134,0.0),
(1,'irq',31,'virtio0-stats',1795820860899746606,1795820864888268952,1,9314,0.0),
(1,'irq',34,'virtio4-input',1795820860899746606,1795820864888268952,1,4349,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795820861892502821,1795820864888322513,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',466863,1361646),
(1,1795820861892502821,1795820864888322513,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',448305,1343087),
(1,1795820861892502821,1795820864888322513,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',459752,1365494),
(1,1795820861892502821,1795820864888322513,'/verdicts.slice','cpu.stat',NULL,'usage_usec',32516191,35495919),
(1,1795820861892502821,1795820864888322513,'/verdicts.slice','cpu.stat',NULL,'user_usec',32434220,35405958),
(1,1795820861892502821,1795820864888322513,'/verdicts.slice','cpu.stat',NULL,'system_usec',81971,89961),
(1,1795820861892502821,1795820864888322513,'/verdicts.slice','cpu.stat',NULL,'nice_usec',32553906,35528964),
(1,1795820861892502821,1795820864888322513,'/','cpu.stat',NULL,'usage_usec',29748666488,29754638612),
(1,1795820861892502821,1795820864888322513,'/','cpu.stat',NULL,'user_usec',25157363694,25163249392),
(1,1795820861892502821,1795820864888322513,'/','cpu.stat',NULL,'system_usec',4591302793,4591389219),
(1,1795820861892502821,1795820864888322513,'/','cpu.stat',NULL,'nice_usec',8154656477,8160448146),
(1,1795820861892502821,1795820864888322513,'system','vmstat',NULL,'pgfault',526967517,526971395),
(1,1795820861892502821,1795820864888322513,'system','diskstats','vda','writes',2584258,2584267),
(1,1795820861892502821,1795820864888322513,'system','diskstats','vda','write_bytes',289827725312,289829195776),
(1,1795820861892502821,1795820864888322513,'system','diskstats','vda','write_ms',1707980,1707987);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795820861887246764,'system','cpu',10770484894,0),
(1,1795820861887246764,'system','memory',37673017,9108197),
(1,1795820861887246764,'system','io',288478417,48237628),
(1,1795820861887246764,'/verdicts.slice/victim.service','cpu',998019,993247),
(1,1795820861887246764,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820861887246764,'/verdicts.slice/victim.service','io',0,0),
(1,1795820864888322513,'system','cpu',10773485423,0),
(1,1795820864888322513,'system','memory',37673017,9108197),
(1,1795820864888322513,'system','io',288481842,48237628),
(1,1795820864888322513,'/verdicts.slice/victim.service','cpu',3091093,3086321),
(1,1795820864888322513,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820864888322513,'/verdicts.slice/victim.service','io',0,0),
(1,1795820864888322513,'targets','cpu',1401449,NULL),
(1,1795820864888322513,'targets','memory',0,NULL),
(1,1795820864888322513,'targets','io',0,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',72,'frame'),
(1,'stack-not-whole',6,'stack');

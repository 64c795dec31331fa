-- situation: io-neighbour: a backup writes beside a program that writes little
-- kind: neighbour
-- whom: backup in backup.service
-- written: victim.service 12789164
-- written: backup.service 5539629514
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821046811039169,1795821051130395138,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','python3','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"io","kind":"some","stall_us":40000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','io','some',40000,2000000,'sampled','/verdicts.slice/victim.service',1795821047813095362,1795821046811985947,1795821050813095362,1001109415,'complete',120201,47,1001109415,5,2,1,7,2281,2278,1795821046813095362);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,486,16734713676945,'cc1','cc1',0,'/',NULL,'native'),
(8,1,597,16735825340969,'cc1',NULL,0,'/',NULL,NULL),
(9,1,514,16734797135542,'python3','python3.11',0,'/verdicts.slice/victim.service','victim.service','python'),
(14,1,519,16734802809993,'cc1',NULL,0,'/',NULL,NULL),
(15,1,527,16734830626838,'bash',NULL,0,'/',NULL,NULL),
(18,1,521,16734813784166,'backup','backup',0,'/verdicts.slice/backup.service','backup.service','native'),
(20,1,592,16735690425365,'cc1','cc1',0,'/',NULL,'native'),
(21,1,531,16734936243904,'bourdond',NULL,65534,'/',NULL,NULL),
(22,1,598,16735964950892,'await_status',NULL,0,'/',NULL,NULL),
(25,1,608,16736034487708,'cc1','cc1',0,'/',NULL,'native'),
(30,1,27042,16654365526164,'make',NULL,0,'/',NULL,NULL),
(40,1,644,16737377561456,'cc1','cc1',0,'/',NULL,'native'),
(42,1,649,16737414436982,'cc1','cc1',0,'/',NULL,'native'),
(50,1,669,16738309110116,'cc1','cc1',0,'/',NULL,'native'),
(52,1,674,16738504307987,'cc1','cc1',0,'/',NULL,'native'),
(53,1,679,16738800306216,'cc1','cc1',0,'/',NULL,'native'),
(56,1,684,16738820059801,'cc1',NULL,0,'/',NULL,NULL),
(64,1,44,178597696,'kworker/0:1H',NULL,0,NULL,NULL,NULL),
(66,1,58,232050397,'kworker/1:1H',NULL,0,NULL,NULL,NULL),
(69,1,507,16734785353424,'bash',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,64,'kernel',1795821046812527307,1795821050815560808,23450564,278771,0,0,0,0,0,0,0,1191,0,0,0,0,0),
(1,66,'kernel',1795821046812527307,1795821050815560808,190357226,12221558,0,0,0,0,0,0,0,28034,1,0,0,0,0),
(1,1,'other',1795821046812527307,1795821050815560808,241171165,9702985,0,0,0,0,1330,0,507904,1,211,47583232,47583232,0,0),
(1,69,'other',1795821046812527307,1795821050815560808,10995710,10732396,0,0,0,0,1444,0,4096,34,16,3768320,3371008,0,0),
(1,9,'target',1795821046812527307,1795821050815560808,160673340,2965913427,2991533068,0,880086759,0,0,0,12689408,7150,15,8237056,8237056,0,0),
(1,14,'other',1795821046812527307,1795821050815560808,88334511,74914085,0,0,0,0,479,0,159744,1,89,41394176,41394176,0,0),
(1,18,'other',1795821046812527307,1795821050815560808,598387095,1205301099,0,0,0,0,0,0,5527568384,44405,203,2023424,2023424,0,0),
(1,15,'other',1795821046812527307,1795821050815560808,80995640,6428432,0,0,0,0,0,0,8192,39,180,3543040,3543040,0,0),
(1,21,'other',1795821046812527307,1795821050815560808,60134312,53095528,0,0,0,0,685,0,159744,437,316,15855616,13479936,0,0),
(1,30,'other',1795821046812527307,1795821050815560808,11471053,43372730,0,0,0,0,16,0,0,86,62,5910528,5779456,0,0),
(1,20,'other',1795821046812527307,1795821050815560808,235871148,83162541,0,0,0,0,4588,0,90112,1,2179,42946560,0,0,0),
(1,8,'other',1795821046812527307,1795821050815560808,140845748,46698182,0,0,0,0,4634,0,90112,1,256,42110976,0,0,0),
(1,22,'other',1795821046812527307,1795821050815560808,50962896,5512966,0,0,0,0,331,0,0,78,59,3719168,0,0,0),
(1,25,'other',1795821046812527307,1795821050815560808,376490509,126720058,0,0,0,0,5486,0,212992,1,3356,35012608,0,0,0),
(1,40,'other',1795821046812527307,1795821050815560808,263282658,19898480,0,0,0,0,5742,0,196608,1,634,27820032,0,0,0),
(1,42,'other',1795821046812527307,1795821050815560808,456570429,146705787,0,0,0,0,5711,0,344064,1,4009,25026560,0,0,0),
(1,50,'other',1795821046812527307,1795821050815560808,363283684,128518599,0,0,0,0,5151,0,200704,1,3086,44003328,0,0,0),
(1,52,'other',1795821046812527307,1795821050815560808,253246651,29305280,0,0,0,0,4699,0,106496,1,580,41644032,0,0,0),
(1,53,'other',1795821046812527307,1795821050815560808,148917115,14792501,0,0,0,0,4556,0,0,0,316,41574400,0,0,0),
(1,56,'other',1795821046812527307,1795821050815560808,108484054,35993797,0,0,0,0,3745,0,0,0,712,31162368,0,0,0),
(1,NULL,'rest',1795821046812527307,1795821050815560808,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821046812527307,1795821050815560808,55629461,52962454,0,0,0,0,1731,0,0,807,291,139804672,97267712,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','cc1','gcc',NULL,'/',0,13,3577829877,441331795,0,0,3002368,0,0),
(1,'other','as','gcc',NULL,'/',0,13,180564190,25347228,0,0,1155072,0,0),
(1,'other','bourdond','bourdond',532,'/',0,6,74006162,58271178,0,0,0,0,0),
(1,'other','mkdir','make',27042,'/',0,22,31205597,8216640,0,0,0,0,0),
(1,'other','gcc','sh',NULL,'/',0,12,29251810,32294652,0,0,4096,0,0),
(1,'other','as','gcc',648,'/',0,1,24389449,7896120,0,0,122880,0,0),
(1,'other','as','gcc',478,'/',0,1,18747637,690071,0,0,184320,0,0),
(1,'other','as','gcc',607,'/',0,1,15471091,4488760,0,0,77824,0,0),
(1,'other','cat','bash',NULL,'/',0,12,15207443,18173192,0,0,0,0,0),
(1,'other','sh','make',27042,'/',0,12,12141537,10038183,0,0,0,0,0),
(1,'other','as','gcc',643,'/',0,1,11841737,1054557,0,0,73728,0,0),
(1,'other','as','gcc',591,'/',0,1,10454093,3275558,0,0,36864,0,0),
(1,'other','pgrep','bash',507,'/',0,1,10438085,343093,0,0,0,0,0),
(1,'other','bash','bash',507,'/',0,12,10067818,14972037,0,0,0,0,0),
(1,'other','as','gcc',518,'/',0,1,9965636,582920,0,0,61440,0,0),
(1,'other','as','gcc',668,'/',0,1,8733736,2004167,0,0,73728,0,0),
(1,'other','as','gcc',673,'/',0,1,7083884,421049,0,0,40960,0,0),
(1,'other','as','gcc',596,'/',0,1,6865202,568208,0,0,32768,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821046812527307,1795821050815560808,0,0.0),
(1,'guest',1795821046812527307,1795821050815560808,0,0.0),
(1,'idle',1795821046812527307,1795821050815560808,20000000,0.25),
(1,'irq',1795821046812527307,1795821050815560808,0,0.0),
(1,'kernel threads',1795821046812527307,1795821050815560808,215584287,2.69),
(1,'others',1795821046812527307,1795821050815560808,3412363803,42.62),
(1,'short-lived',1795821046812527307,1795821050815560808,3913042324,48.88),
(1,'softirq',1795821046812527307,1795821050815560808,280000000,3.5),
(1,'steal',1795821046812527307,1795821050815560808,10000000,0.12),
(1,'targets',1795821046812527307,1795821050815560808,155076588,1.94),
(1,'unaccounted',1795821046812527307,1795821050815560808,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821046812527307,1795821050815560808,0,5554180096),
(1,'kernel threads',1795821046812527307,1795821050815560808,0,0),
(1,'others',1795821046812527307,1795821050815560808,0,5529649152),
(1,'short-lived',1795821046812527307,1795821050815560808,0,4866048),
(1,'targets',1795821046812527307,1795821050815560808,0,12689408),
(1,'unaccounted',1795821046812527307,1795821050815560808,0,6975488);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'python3 in victim.service','io',1,896637706),
(1,'python3 in victim.service','queued',1,2739729319),
(1,'python3 in victim.service','ran',1,155435985),
(1,'python3 in victim.service','rest',1,830314);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text) VALUES
(1,'python3 in victim.service','queued','other','cc1',NULL,'/',NULL,24,2518734172,NULL),
(1,'python3 in victim.service','queued','other','as',NULL,'/',NULL,22,117696588,NULL),
(1,'python3 in victim.service','queued','other','await_status',NULL,'/',598,1,42316966,NULL),
(1,'python3 in victim.service','queued','recorder','bourdond',NULL,'/',NULL,8,19448051,NULL),
(1,'python3 in victim.service','queued','other','gcc',NULL,'/',NULL,24,11060764,NULL),
(1,'python3 in victim.service','queued','other','mkdir',NULL,'/',NULL,22,8272582,NULL),
(1,'python3 in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,6015585,NULL),
(1,'python3 in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,5862514,NULL),
(1,'python3 in victim.service','queued','other','sh',NULL,'/',NULL,24,3042827,NULL),
(1,'python3 in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,2873116,NULL),
(1,'python3 in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,2321340,NULL),
(1,'python3 in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,1331315,NULL),
(1,'python3 in victim.service','queued','own','python3','victim.service','/verdicts.slice/victim.service',514,1,722916,NULL),
(1,'python3 in victim.service','queued','nobody',NULL,NULL,NULL,NULL,NULL,18479,NULL),
(1,'python3 in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,12104,NULL),
(1,'python3 in victim.service','io','other','backup','backup.service','/verdicts.slice/backup.service',521,1,892341650,NULL),
(1,'python3 in victim.service','io','own','python3','victim.service','/verdicts.slice/victim.service',514,1,2048511,NULL),
(1,'python3 in victim.service','io','unknown',NULL,NULL,NULL,NULL,NULL,1126090,'not recorded'),
(1,'python3 in victim.service','io','other',NULL,NULL,NULL,NULL,NULL,1121455,NULL);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'softirq',4,'BLOCK',1795821046812527307,1795821050815560808,33153,206779020,2.58),
(1,'irq',36,'virtio1-req.0',1795821046812527307,1795821050815560808,33153,44794499,0.56),
(1,'irq',NULL,'local timer',1795821046812527307,1795821050815560808,2816,39932309,0.5),
(1,'softirq',9,'RCU',1795821046812527307,1795821050815560808,819,7207763,0.09),
(1,'softirq',7,'SCHED',1795821046812527307,1795821050815560808,219,1663228,0.02),
(1,'softirq',1,'TIMER',1795821046812527307,1795821050815560808,355,1547402,0.02),
(1,'irq',31,'virtio0-stats',1795821046812527307,1795821050815560808,1,5960,0.0),
(1,'irq',42,'virtio3-tx',1795821046812527307,1795821050815560808,1,5835,0.0),
(1,'irq',34,'virtio4-input',1795821046812527307,1795821050815560808,1,2993,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821047814220047,1795821050815713910,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',43266,176149),
(1,1795821047814220047,1795821050815713910,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',32449,88074),
(1,1795821047814220047,1795821050815713910,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',10816,88074),
(1,1795821047814220047,1795821050815713910,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',12000,20000),
(1,1795821047814220047,1795821050815713910,'/verdicts.slice','cpu.stat',NULL,'usage_usec',12370454,13014014),
(1,1795821047814220047,1795821050815713910,'/verdicts.slice','cpu.stat',NULL,'user_usec',11607528,11760697),
(1,1795821047814220047,1795821050815713910,'/verdicts.slice','cpu.stat',NULL,'system_usec',762926,1253317),
(1,1795821047814220047,1795821050815713910,'/verdicts.slice','cpu.stat',NULL,'nice_usec',11132019,11144019),
(1,1795821047814220047,1795821050815713910,'/','cpu.stat',NULL,'usage_usec',30112746092,30118734162),
(1,1795821047814220047,1795821050815713910,'/','cpu.stat',NULL,'user_usec',25481302348,25485816770),
(1,1795821047814220047,1795821050815713910,'/','cpu.stat',NULL,'system_usec',4631443743,4632917391),
(1,1795821047814220047,1795821050815713910,'/','cpu.stat',NULL,'nice_usec',8430961887,8435360432),
(1,1795821047814220047,1795821050815713910,'system','vmstat',NULL,'pgfault',533401277,533503822),
(1,1795821047814220047,1795821050815713910,'system','diskstats','vda','writes',2629564,2673215),
(1,1795821047814220047,1795821050815713910,'system','diskstats','vda','write_bytes',292253081600,297121538048),
(1,1795821047814220047,1795821050815713910,'system','diskstats','vda','write_ms',1720624,1726564),
(1,1795821047814220047,1795821050815713910,'system','diskstats','vda','busy_ms',514000,516876);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821047813095362,'system','cpu',10898308157,0),
(1,1795821047813095362,'system','memory',38367558,9668143),
(1,1795821047813095362,'system','io',293746270,48490101),
(1,1795821047813095362,'/verdicts.slice/victim.service','cpu',985682,985682),
(1,1795821047813095362,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821047813095362,'/verdicts.slice/victim.service','io',130079,130079),
(1,1795821050815713910,'system','cpu',10899884356,0),
(1,1795821050815713910,'system','memory',38367558,9668143),
(1,1795821050815713910,'system','io',295473764,48500868),
(1,1795821050815713910,'/verdicts.slice/victim.service','cpu',3126190,3126190),
(1,1795821050815713910,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821050815713910,'/verdicts.slice/victim.service','io',880744,880744),
(1,1795821050815713910,'targets','cpu',1416124,NULL),
(1,1795821050815713910,'targets','memory',0,NULL),
(1,1795821050815713910,'targets','io',515649,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',303,'frame'),
(1,'offcpu-over-budget',1,'interval'),
(1,'stack-not-whole',2,'stack');

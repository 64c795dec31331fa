-- situation: lock-go: a mutex of Go, on demand
-- kind: lock
-- lock: 7949 ms, CPU: 1150 ms
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821479962092178,1795821486650700696,'0.1.0',13,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795821482694846807,1795821482694846807,1795821485694846807,0,'complete',47,0,125,128,1,65,2921,2783,0,'root','--comm gomutex --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,28458,17157875948901,'chromium','chromium',0,'/',NULL,'native'),
(8,1,28935,17162083143001,'cc1','cc1',0,'/',NULL,'native'),
(9,1,29001,17163528914189,'clang-tidy','clang-tidy',0,'/',NULL,'native'),
(10,1,29007,17163671964082,'chromium',NULL,0,'/',NULL,NULL),
(12,1,29012,17163791726182,'chromium',NULL,0,'/',NULL,NULL),
(13,1,29025,17163957538221,'cc1',NULL,0,'/',NULL,NULL),
(14,1,29058,17164579337288,'cc1','cc1',0,'/',NULL,'native'),
(15,1,29064,17164610612303,'cc1',NULL,0,'/',NULL,NULL),
(17,1,29069,17164670506540,'cc1',NULL,0,'/',NULL,NULL),
(18,1,29130,17165506148557,'cc1',NULL,0,'/',NULL,NULL),
(19,1,29144,17165654225772,'cc1',NULL,0,'/',NULL,NULL),
(20,1,29176,17166259829198,'cpu28535','cpu28535',0,'/bourdon-accounts-oFCa71-28535/victim',NULL,'native'),
(21,1,29183,17166337525340,'bourdond',NULL,65534,'/',NULL,NULL),
(22,1,29216,17166598817928,'cc1',NULL,0,'/',NULL,NULL),
(23,1,29229,17166678883731,'cpu28535','cpu28535',0,'/bourdon-accounts-oFCa71-28535/victim',NULL,'native'),
(24,1,29253,17166808535478,'clang-tidy',NULL,0,'/',NULL,NULL),
(25,1,29268,17166869824953,'cc1',NULL,0,'/',NULL,NULL),
(26,1,29385,17167899387030,'gomutex','gomutex',0,'/verdicts.slice/victim.service','victim.service','go'),
(30,1,29397,17167925147927,'bourdond',NULL,65534,'/',NULL,NULL),
(32,1,29395,17167920215015,'bash',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,1,'other',1795821482694809408,1795821485710884896,11037161,29997630816,0,0,0,0,38,0,106496,48,8,227921920,228016128,0,0),
(1,8,'other',1795821482694809408,1795821485710884896,7906427,3202773673,0,0,0,0,14,0,0,0,3,49672192,49672192,0,0),
(1,9,'other',1795821482694809408,1795821485710884896,10126295,1834300997,0,0,0,0,30,0,0,0,1,0,94740480,0,0),
(1,10,'other',1795821482694809408,1795821485710884896,2513536,6815229668,0,0,0,0,190,0,0,1,1,77828096,73392128,0,0),
(1,12,'other',1795821482694809408,1795821485710884896,2380167,5126332641,0,0,0,0,190,0,0,2,0,101638144,91201536,0,0),
(1,13,'other',1795821482694809408,1795821485710884896,7294084,2933403806,0,0,0,0,29,0,0,0,3,44916736,44654592,0,0),
(1,14,'other',1795821482694809408,1795821485710884896,26229102,3174803381,0,0,0,0,100,0,12288,0,11,41193472,40800256,0,0),
(1,15,'other',1795821482694809408,1795821485710884896,5108119,3057828740,0,0,0,0,76,0,0,0,2,30703616,30441472,0,0),
(1,17,'other',1795821482694809408,1795821485710884896,8047775,3202441416,0,0,0,0,80,0,0,0,3,30642176,30380032,0,0),
(1,18,'other',1795821482694809408,1795821485710884896,14145762,3127532441,0,0,0,0,347,0,0,0,5,29544448,27971584,0,0),
(1,19,'other',1795821482694809408,1795821485710884896,11030613,3199543862,0,0,0,0,114,0,0,0,3,33673216,32886784,0,0),
(1,20,'other',1795821482694809408,1795821485710884896,1423865104,7661489381,0,0,0,0,0,0,0,0,737,1404928,1404928,0,0),
(1,21,'other',1795821482694809408,1795821485710884896,9922023,2784271076,0,0,0,0,763,0,0,1,4,3575808,6328320,0,0),
(1,22,'other',1795821482694809408,1795821485710884896,7343232,2977620624,0,0,0,0,151,0,0,0,3,24608768,23429120,0,0),
(1,23,'other',1795821482694809408,1795821485710884896,1400986761,1593123189,0,0,0,0,0,0,0,0,406,1142784,1142784,0,0),
(1,24,'other',1795821482694809408,1795821485710884896,12305532,3128857911,0,0,0,0,1413,0,0,0,4,73633792,29720576,0,0),
(1,25,'other',1795821482694809408,1795821485710884896,13982692,3081537189,0,0,0,0,407,0,0,0,5,21983232,19472384,0,0),
(1,26,'target',1795821482694809408,1795821485710884896,2916973608,920125385,921142198,0,0,0,0,0,0,1875,1245,1142784,1142784,0,0),
(1,32,'other',1795821482694809408,1795821485710884896,26395429,71371243,0,0,0,0,0,0,8192,29,6,3461120,3461120,0,0),
(1,30,'other',1795821482694809408,1795821485710884896,40013180,243659870,0,0,0,0,142,0,20480,183,20,14450688,13926400,0,0),
(1,NULL,'rest',1795821482694809408,1795821485710884896,0,0,0,0,0,0,0,0,0,0,0,15286272,15286272,0,0),
(1,NULL,'rest',1795821482694809408,1795821485710884896,59455790,39587379853,0,0,0,0,1547,0,28672,628,34,1044037632,1026498560,0,0);
INSERT INTO ended(capture_id,role,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'rest',0,3,5204915,921533792,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821482694809408,1795821485710884896,0,0.0),
(1,'guest',1795821482694809408,1795821485710884896,0,0.0),
(1,'idle',1795821482694809408,1795821485710884896,0,0.0),
(1,'irq',1795821482694809408,1795821485710884896,0,0.0),
(1,'kernel threads',1795821482694809408,1795821485710884896,8174494,0.14),
(1,'others',1795821482694809408,1795821485710884896,3091914290,51.26),
(1,'short-lived',1795821482694809408,1795821485710884896,5204915,0.09),
(1,'softirq',1795821482694809408,1795821485710884896,0,0.0),
(1,'steal',1795821482694809408,1795821485710884896,10000000,0.17),
(1,'targets',1795821482694809408,1795821485710884896,2916973608,48.36),
(1,'unaccounted',1795821482694809408,1795821485710884896,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821482694809408,1795821485710884896,0,3309568),
(1,'kernel threads',1795821482694809408,1795821485710884896,0,24576),
(1,'others',1795821482694809408,1795821485710884896,0,151552),
(1,'short-lived',1795821482694809408,1795821485710884896,0,0),
(1,'targets',1795821482694809408,1795821485710884896,0,0),
(1,'unaccounted',1795821482694809408,1795821485710884896,0,3133440);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'gomutex in victim.service','lock',9,2395092114),
(1,'gomutex in victim.service','peer',9,14660507441),
(1,'gomutex in victim.service','queued',9,917012585),
(1,'gomutex in victim.service','ran',9,2909265739),
(1,'gomutex in victim.service','rest',9,9728130),
(1,'gomutex in victim.service','sleep',9,6166527106);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'gomutex in victim.service','queued','own','gomutex','victim.service','/verdicts.slice/victim.service',29385,1,695026426),
(1,'gomutex in victim.service','queued','other','cpu28535',NULL,'/bourdon-accounts-oFCa71-28535/victim',NULL,2,78120300),
(1,'gomutex in victim.service','queued','other','cc1',NULL,'/',NULL,10,39917775),
(1,'gomutex in victim.service','queued','other','bash',NULL,'/',NULL,46,24991328),
(1,'gomutex in victim.service','queued','other','clang-tidy',NULL,'/',NULL,3,19486841),
(1,'gomutex in victim.service','queued','recorder','bourdond',NULL,'/',NULL,4,17438082),
(1,'gomutex in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,11753701),
(1,'gomutex in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,8295532),
(1,'gomutex in victim.service','queued','other','chromium',NULL,'/',NULL,11,4500859),
(1,'gomutex in victim.service','queued','kernel','kworker',NULL,NULL,NULL,6,3609840),
(1,'gomutex in victim.service','queued','other','grep',NULL,'/',NULL,NULL,2620177),
(1,'gomutex in victim.service','queued','other','date',NULL,'/',NULL,NULL,2401840),
(1,'gomutex in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,1883545),
(1,'gomutex in victim.service','queued','other','bourdond',NULL,'/',NULL,4,1580428),
(1,'gomutex in victim.service','queued','other','sleep',NULL,'/',NULL,NULL,1533695),
(1,'gomutex in victim.service','queued','other','cat',NULL,'/',NULL,1,1383774),
(1,'gomutex in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,1163406),
(1,'gomutex in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,992838),
(1,'gomutex in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,233418),
(1,'gomutex in victim.service','queued','recorder',NULL,NULL,NULL,NULL,NULL,78780),
(1,'gomutex in victim.service','lock','own','gomutex','victim.service','/verdicts.slice/victim.service',29385,1,2395092114),
(1,'gomutex in victim.service','peer','own','gomutex','victim.service','/verdicts.slice/victim.service',29385,1,14660507441);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795821482694809408,1795821485710884896,3071,38883793,0.64),
(1,'softirq',7,'SCHED',1795821482694809408,1795821485710884896,117,5132672,0.09),
(1,'softirq',9,'RCU',1795821482694809408,1795821485710884896,321,2720256,0.05),
(1,'softirq',1,'TIMER',1795821482694809408,1795821485710884896,156,1357465,0.02),
(1,'softirq',4,'BLOCK',1795821482694809408,1795821485710884896,36,610393,0.01),
(1,'irq',36,'virtio1-req.0',1795821482694809408,1795821485710884896,36,159775,0.0),
(1,'softirq',3,'NET_RX',1795821482694809408,1795821485710884896,7,111089,0.0),
(1,'irq',39,'virtio2-output.0',1795821482694809408,1795821485710884896,3,10750,0.0),
(1,'irq',31,'virtio0-stats',1795821482694809408,1795821485710884896,1,6054,0.0),
(1,'irq',38,'virtio2-input.0',1795821482694809408,1795821485710884896,4,5054,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821482696341273,1795821485711133218,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',2775717,5693218),
(1,1795821482696341273,1795821485711133218,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',2743095,5604273),
(1,1795821482696341273,1795821485711133218,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',32621,88945),
(1,1795821482696341273,1795821485711133218,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',2693205,5544683),
(1,1795821482696341273,1795821485711133218,'/verdicts.slice','cpu.stat',NULL,'usage_usec',31427329,34344830),
(1,1795821482696341273,1795821485711133218,'/verdicts.slice','cpu.stat',NULL,'user_usec',31237066,34098935),
(1,1795821482696341273,1795821485711133218,'/verdicts.slice','cpu.stat',NULL,'system_usec',190263,245895),
(1,1795821482696341273,1795821485711133218,'/verdicts.slice','cpu.stat',NULL,'nice_usec',31632654,34484131),
(1,1795821482696341273,1795821485711133218,'/','cpu.stat',NULL,'usage_usec',30979672382,30985697730),
(1,1795821482696341273,1795821485711133218,'/','cpu.stat',NULL,'user_usec',26248454386,26254351734),
(1,1795821482696341273,1795821485711133218,'/','cpu.stat',NULL,'system_usec',4731217995,4731345995),
(1,1795821482696341273,1795821485711133218,'/','cpu.stat',NULL,'nice_usec',9156858765,9162728114),
(1,1795821482696341273,1795821485711133218,'system','vmstat',NULL,'pgfault',548195435,548201576),
(1,1795821482696341273,1795821485711133218,'system','diskstats','vda','writes',2799319,2799530),
(1,1795821482696341273,1795821485711133218,'system','diskstats','vda','write_bytes',308989435904,308992745472),
(1,1795821482696341273,1795821485711133218,'system','diskstats','vda','write_ms',1807047,1807492),
(1,1795821482696341273,1795821485711133218,'system','diskstats','vda','busy_ms',551792,551800);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821482694846807,'system','cpu',11274385157,0),
(1,1795821482694846807,'system','memory',40519800,11300537),
(1,1795821482694846807,'system','io',313992300,48663641),
(1,1795821482694846807,'/verdicts.slice/victim.service','cpu',482184,133971),
(1,1795821482694846807,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821482694846807,'/verdicts.slice/victim.service','io',0,0),
(1,1795821485711133218,'system','cpu',11277270267,0),
(1,1795821485711133218,'system','memory',40519800,11300537),
(1,1795821485711133218,'system','io',313998688,48663641),
(1,1795821485711133218,'/verdicts.slice/victim.service','cpu',875533,212782),
(1,1795821485711133218,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821485711133218,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',15,'frame'),
(1,'offcpu-over-budget',2,'interval');

-- situation: neighbour-openssl: openssl takes the CPU of a PHP program
-- kind: neighbour
-- whom: openssl in openssl.service
-- share: openssl.service 99.8
-- share: others 0.2
-- share: own 0.0
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795819651355738835,1795819655682660042,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','php','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"cpu","kind":"some","stall_us":200000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','cpu','some',200000,2000000,'sampled','/verdicts.slice/victim.service',1795819652361622099,1795819651360503385,1795819655361622099,1001118714,'complete',500837,47,1001118714,64,65,1,30,492,396,1795819651361622099);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,15532,15339361520616,'php','php8.2',0,'/verdicts.slice/victim.service','victim.service','php'),
(2,1,15536,15339399151674,'openssl','openssl',0,'/verdicts.slice/openssl.service','openssl.service','native'),
(7,1,14924,15327115004804,'cpu_hog','cpu_hog',0,'/bourdon-capture-ngJj4v-14371',NULL,NULL),
(10,1,15541,15339466276431,'bash',NULL,0,'/',NULL,NULL),
(13,1,14716,15323309331939,'bourdond',NULL,65534,'/',NULL,NULL),
(14,1,12104,15290419306137,'cc1',NULL,0,'/',NULL,NULL),
(16,1,13909,15315989742178,'cc1',NULL,0,'/',NULL,NULL),
(17,1,15047,15330567121720,'bourdond',NULL,65534,'/',NULL,NULL),
(18,1,15370,15337800516643,'bourdond',NULL,65534,'/',NULL,NULL),
(20,1,15543,15339471143005,'bourdond',NULL,65534,'/',NULL,NULL),
(22,1,15600,15340513662860,'await_status',NULL,0,'/',NULL,NULL),
(31,1,14371,15320428896311,'bash','bash',0,'/',NULL,'native'),
(33,1,15608,15340611004436,'cc1',NULL,0,'/',NULL,NULL),
(70,1,15738,15342273891388,'cc1',NULL,0,'/',NULL,NULL),
(86,1,14556,15321390655236,'bash','bash',0,'/',NULL,'native'),
(87,1,15770,15343242923031,'sqlite3',NULL,0,'/',NULL,NULL),
(93,1,15,99314954,'rcu_preempt',NULL,0,NULL,NULL,NULL),
(140,1,15525,15339333735017,'bash',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,93,'kernel',1795819651361894113,1795819655363292820,15765270,44115873,0,0,0,0,0,0,0,448,0,0,0,0,0),
(1,14,'other',1795819651361894113,1795819655363292820,26784210,3953193127,0,0,0,0,52,0,8192,0,7,53067776,52805632,0,0),
(1,16,'other',1795819651361894113,1795819655363292820,23953758,3812004189,0,0,0,0,258,0,0,0,6,36827136,33751040,0,0),
(1,31,'other',1795819651361894113,1795819655363292820,171901146,486688316,0,0,0,0,11488,0,8192,145,55,5120000,5120000,0,0),
(1,86,'other',1795819651361894113,1795819655363292820,18065867,93643713,0,0,0,0,541,0,0,7,8,5111808,5111808,0,0),
(1,13,'other',1795819651361894113,1795819655363292820,52691597,0,0,0,0,0,446,0,1507328,129,13,14417920,14393344,0,0),
(1,7,'other',1795819651361894113,1795819655363292820,2610278701,29646683763,0,0,0,0,0,0,0,0,966,1773568,1773568,0,0),
(1,17,'other',1795819651361894113,1795819655363292820,13899388,3640503539,0,0,0,0,309,0,0,0,5,0,15310848,0,0),
(1,18,'other',1795819651361894113,1795819655363292820,14913440,3661063250,0,0,0,0,541,0,0,0,4,7831552,4816896,0,0),
(1,140,'other',1795819651361894113,1795819655363292820,12558480,44880852,0,0,0,0,1415,0,0,37,5,3534848,3268608,0,0),
(1,1,'target',1795819651361894113,1795819655363292820,1998799221,2000034391,1996902721,0,0,0,0,0,0,0,496,18599936,18599936,0,0),
(1,2,'other',1795819651361894113,1795819655363292820,1996328613,2000866334,0,0,0,0,0,0,0,0,493,6250496,6250496,0,0),
(1,10,'other',1795819651361894113,1795819655363292820,40612286,29335371,0,0,0,0,3,0,4096,39,3,3215360,3215360,0,0),
(1,20,'other',1795819651361894113,1795819655363292820,54330711,185730333,0,0,0,0,568,0,724992,331,77,14450688,13357056,0,0),
(1,22,'other',1795819651361894113,1795819655363292820,54113381,78153161,0,0,0,0,328,0,0,85,18,3588096,0,0,0),
(1,33,'other',1795819651361894113,1795819655363292820,37986464,2862114871,0,0,0,0,1472,0,0,0,14,21786624,0,0,0),
(1,70,'other',1795819651361894113,1795819655363292820,11292094,737249045,0,0,0,0,1005,0,4096,0,4,0,0,0,0),
(1,87,'other',1795819651361894113,1795819655363292820,15426941,74836077,0,0,0,0,492,0,417792,13,4,4268032,0,0,0),
(1,NULL,'rest',1795819651361894113,1795819655363292820,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795819651361894113,1795819655363292820,58626816,2640499285,0,0,0,0,2396,0,8192,445,19,174645248,144101376,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','grep','bash',14371,'/',0,95,202793313,564119604,0,0,0,0,0),
(1,'other','bourdond','bourdond',14717,'/',0,3,129267575,435629471,0,0,0,0,0),
(1,'other','sqlite3','bash',NULL,'/',0,15,125173724,474826292,0,0,0,0,0),
(1,'other','bash','bash',14371,'/',0,25,78929859,405170189,0,0,0,0,0),
(1,'other','bourdond','bourdond',15544,'/',0,4,53657439,190147563,0,0,0,0,0),
(1,'other','bourdon','timeout',NULL,'/',0,2,23774302,76455815,0,0,0,0,0),
(1,'other','cc1','gcc',NULL,'/',0,2,22615433,1490988951,0,0,8192,0,0),
(1,'other','cat','bash',NULL,'/',0,13,20328858,106286782,0,0,0,0,0),
(1,'other','pgrep','bash',NULL,'/',0,1,14327388,46356135,0,0,0,0,0),
(1,'other','pgrep','bash',15525,'/',0,1,14192880,243311,0,0,0,0,0),
(1,'other','bash','bash',15525,'/',0,12,12437209,24644135,0,0,0,0,0),
(1,'other','sqlite3','bash',15721,'/',0,1,10495051,37884504,0,0,0,0,0),
(1,'other','cc1','gcc',15530,'/',0,1,10244594,794968888,0,0,4096,0,0),
(1,'other','bash','bash',NULL,'/',0,4,8910168,47071266,0,0,0,0,0),
(1,'other','nproc','bash',NULL,'/',0,5,8466264,48389844,0,0,0,0,0),
(1,'other','awk','bash',NULL,'/',0,3,5236603,36122677,0,0,0,0,0),
(1,'other','perl','bash',14556,'/',0,1,3568107,190837,0,0,364544,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,21,37603801,743937024,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795819651361894113,1795819655363292820,0,0.0),
(1,'guest',1795819651361894113,1795819655363292820,0,0.0),
(1,'idle',1795819651361894113,1795819655363292820,0,0.0),
(1,'irq',1795819651361894113,1795819655363292820,0,0.0),
(1,'kernel threads',1795819651361894113,1795819655363292820,23864073,0.3),
(1,'others',1795819651361894113,1795819655363292820,5205665090,65.05),
(1,'short-lived',1795819651361894113,1795819655363292820,782022568,9.77),
(1,'softirq',1795819651361894113,1795819655363292820,0,0.0),
(1,'steal',1795819651361894113,1795819655363292820,10000000,0.12),
(1,'targets',1795819651361894113,1795819655363292820,1998799221,24.98),
(1,'unaccounted',1795819651361894113,1795819655363292820,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795819651361894113,1795819655363292820,0,1384448),
(1,'kernel threads',1795819651361894113,1795819655363292820,0,0),
(1,'others',1795819651361894113,1795819655363292820,0,2682880),
(1,'short-lived',1795819651361894113,1795819655363292820,0,376832),
(1,'targets',1795819651361894113,1795819655363292820,0,0),
(1,'unaccounted',1795819651361894113,1795819655363292820,0,-1675264);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'php in victim.service','queued',1,1979565555),
(1,'php in victim.service','ran',1,1983376946),
(1,'php in victim.service','rest',1,967771);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'php in victim.service','queued','other','openssl','openssl.service','/verdicts.slice/openssl.service',15536,1,1964667192),
(1,'php in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,11251307),
(1,'php in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,2736040),
(1,'php in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,538608),
(1,'php in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,372408);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795819651361894113,1795819655363292820,3538,48774832,0.61),
(1,'softirq',9,'RCU',1795819651361894113,1795819655363292820,1504,14887306,0.19),
(1,'softirq',1,'TIMER',1795819651361894113,1795819655363292820,464,3562081,0.04),
(1,'softirq',7,'SCHED',1795819651361894113,1795819655363292820,107,1688825,0.02),
(1,'softirq',4,'BLOCK',1795819651361894113,1795819655363292820,56,414138,0.01),
(1,'irq',36,'virtio1-req.0',1795819651361894113,1795819655363292820,56,148644,0.0),
(1,'irq',42,'virtio3-tx',1795819651361894113,1795819655363292820,2,20343,0.0),
(1,'irq',31,'virtio0-stats',1795819651361894113,1795819655363292820,1,16940,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795819652363010935,1795819655363378294,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',590967,2090578),
(1,1795819652363010935,1795819655363378294,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',575087,2074621),
(1,1795819652363010935,1795819655363378294,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',15879,15956),
(1,1795819652363010935,1795819655363378294,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',579445,2082777),
(1,1795819652363010935,1795819655363378294,'/verdicts.slice','cpu.stat',NULL,'usage_usec',18624302,21621752),
(1,1795819652363010935,1795819655363378294,'/verdicts.slice','cpu.stat',NULL,'user_usec',18518112,21515562),
(1,1795819652363010935,1795819655363378294,'/verdicts.slice','cpu.stat',NULL,'nice_usec',18354670,21352980),
(1,1795819652363010935,1795819655363378294,'/','cpu.stat',NULL,'usage_usec',27334087895,27340083445),
(1,1795819652363010935,1795819655363378294,'/','cpu.stat',NULL,'user_usec',23141911698,23147651261),
(1,1795819652363010935,1795819655363378294,'/','cpu.stat',NULL,'system_usec',4192176196,4192432184),
(1,1795819652363010935,1795819655363378294,'/','cpu.stat',NULL,'nice_usec',6434113646,6439485545),
(1,1795819652363010935,1795819655363378294,'system','vmstat',NULL,'pgfault',490657827,490708091),
(1,1795819652363010935,1795819655363378294,'system','diskstats','vda','writes',2475454,2475486),
(1,1795819652363010935,1795819655363378294,'system','diskstats','vda','write_bytes',279827939328,279828434944),
(1,1795819652363010935,1795819655363378294,'system','diskstats','vda','write_ms',1658290,1658293);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795819652361622099,'system','cpu',9585894210,0),
(1,1795819652361622099,'system','memory',35657274,8505636),
(1,1795819652361622099,'system','io',269614578,48219598),
(1,1795819652361622099,'/verdicts.slice/victim.service','cpu',531445,531445),
(1,1795819652361622099,'/verdicts.slice/victim.service','memory',0,0),
(1,1795819652361622099,'/verdicts.slice/victim.service','io',0,0),
(1,1795819655363378294,'system','cpu',9588895394,0),
(1,1795819655363378294,'system','memory',35657274,8505636),
(1,1795819655363378294,'system','io',269615918,48219598),
(1,1795819655363378294,'/verdicts.slice/victim.service','cpu',2029081,2029081),
(1,1795819655363378294,'/verdicts.slice/victim.service','memory',0,0),
(1,1795819655363378294,'/verdicts.slice/victim.service','io',0,0),
(1,1795819655363378294,'targets','cpu',1003393,NULL),
(1,1795819655363378294,'targets','memory',0,NULL),
(1,1795819655363378294,'targets','io',0,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',94,'frame'),
(1,'stack-not-whole',7,'stack');

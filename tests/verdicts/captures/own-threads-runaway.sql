-- situation: own-threads-runaway: twelve threads of one program on all CPUs
-- kind: own threads
-- whom: app in victim.service
-- ran: 95 % of the CPUs
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795820512478003373,1795820521310691039,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','app','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"cpu","kind":"some","stall_us":200000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','cpu','some',200000,2000000,'sampled','/verdicts.slice/victim.service',1795820513771332743,1795820512683285224,1795820516771332743,1088047519,'complete',1087281,47,1088047519,297,249,1,38,2393,2022,1795820512684007839);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,32083,16199092627986,'app','app',0,'/verdicts.slice/victim.service','victim.service','native'),
(5,1,31889,16196605839893,'bash',NULL,0,'/',NULL,NULL),
(6,1,22959,15446187142385,'lck22652','java',0,'/bourdon-locks-alone-22652/victim',NULL,'jvm'),
(7,1,21695,14365289490317,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(17,1,32078,16199065845724,'bash',NULL,0,'/',NULL,NULL),
(18,1,32099,16199188308839,'bash',NULL,0,'/',NULL,NULL),
(19,1,32104,16199301612279,'bourdond',NULL,65534,'/',NULL,NULL),
(20,1,32130,16201232434943,'bourdond',NULL,65534,'/',NULL,NULL),
(21,1,32133,16201508428904,'bourdond',NULL,65534,'/',NULL,NULL),
(32,1,32102,16199280695362,'bourdond',NULL,65534,'/',NULL,NULL),
(44,1,32157,16203102220069,'bash',NULL,0,'/',NULL,NULL),
(56,1,32165,16203809483419,'bourdond',NULL,65534,'/',NULL,NULL),
(72,1,15,99314954,'rcu_preempt',NULL,0,NULL,NULL,NULL),
(112,1,21849,14365416863852,'memfd:sealed-91',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,72,'kernel',1795820512703951889,1795820517381264748,9052958,171656746,0,0,0,0,0,0,0,303,0,0,0,0,0),
(1,7,'other',1795820512703951889,1795820517381264748,6060330,116793612,0,0,0,0,0,0,0,80,0,1163264,1163264,0,0),
(1,112,'other',1795820512703951889,1795820517381264748,6855934,145925915,0,0,0,0,0,0,0,80,0,1191936,1191936,0,0),
(1,6,'other',1795820512703951889,1795820517381264748,48655964,541287001,0,0,0,0,3,0,0,525,2,47017984,47017984,0,0),
(1,5,'other',1795820512703951889,1795820517381264748,47443536,2716540120,0,0,0,0,1825,0,0,39,10,4452352,4190208,0,0),
(1,17,'other',1795820512703951889,1795820517381264748,10979166,2106909289,0,0,0,0,1091,0,4096,24,4,3506176,3375104,0,0),
(1,1,'target',1795820512703951889,1795820517381264748,8948903751,47423153386,47072757626,0,0,0,0,0,0,0,2884,1683456,1683456,0,0),
(1,18,'other',1795820512703951889,1795820517381264748,16913258,2148941784,0,0,0,0,1,0,0,24,2,3305472,3305472,0,0),
(1,32,'other',1795820512703951889,1795820517381264748,40406409,5168980907,0,0,0,0,213,0,28672,82,21,14307328,13520896,0,0),
(1,19,'other',1795820512703951889,1795820517381264748,10134365,1172176217,0,0,0,0,272,0,401408,42,14,13783040,13578240,0,0),
(1,20,'other',1795820512703951889,1795820517381264748,32471438,3241952394,0,0,0,0,1515,0,0,11,14,8839168,0,0,0),
(1,21,'other',1795820512703951889,1795820517381264748,29737619,3146136965,0,0,0,0,1389,0,0,9,10,7036928,0,0,0),
(1,44,'other',1795820512703951889,1795820517381264748,5252550,230037702,0,0,0,0,182,0,0,1,1,3383296,0,0,0),
(1,56,'other',1795820512703951889,1795820517381264748,5134539,453037866,0,0,0,0,324,0,0,2,10,2498560,0,0,0),
(1,NULL,'rest',1795820512703951889,1795820517381264748,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795820512703951889,1795820517381264748,54486641,11605344846,0,0,0,0,2436,0,8192,186,26,577077248,545361920,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','cat','bash',NULL,'/',0,15,29710669,2386856432,0,0,0,0,0),
(1,'other','bash','bash',31889,'/',0,9,23315237,1982210995,0,0,0,0,0),
(1,'other','pgrep','bash',NULL,'/',0,1,13991199,439052763,0,0,0,0,0),
(1,'other','pgrep','bash',32078,'/',0,1,9177045,438905919,0,0,0,0,0),
(1,'other','bash','bash',32078,'/',0,5,6019376,561158421,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,2,4418047,635583185,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795820512703951889,1795820517381264748,7280889,0.08),
(1,'guest',1795820512703951889,1795820517381264748,0,0.0),
(1,'idle',1795820512703951889,1795820517381264748,0,0.0),
(1,'irq',1795820512703951889,1795820517381264748,0,0.0),
(1,'kernel threads',1795820512703951889,1795820517381264748,16419079,0.18),
(1,'others',1795820512703951889,1795820517381264748,307165628,3.28),
(1,'short-lived',1795820512703951889,1795820517381264748,86631573,0.93),
(1,'softirq',1795820512703951889,1795820517381264748,0,0.0),
(1,'steal',1795820512703951889,1795820517381264748,10000000,0.11),
(1,'targets',1795820512703951889,1795820517381264748,8948903751,95.66),
(1,'unaccounted',1795820512703951889,1795820517381264748,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795820512703951889,1795820517381264748,0,397312),
(1,'kernel threads',1795820512703951889,1795820517381264748,0,8192),
(1,'others',1795820512703951889,1795820517381264748,0,434176),
(1,'short-lived',1795820512703951889,1795820517381264748,0,0),
(1,'targets',1795820512703951889,1795820517381264748,0,0),
(1,'unaccounted',1795820512703951889,1795820517381264748,0,-45056);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'app in victim.service','queued',12,39985802478),
(1,'app in victim.service','ran',12,7550458147),
(1,'app in victim.service','rest',12,25859642);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'app in victim.service','queued','own','app','victim.service','/verdicts.slice/victim.service',32083,1,37290726098),
(1,'app in victim.service','queued','other','bash',NULL,'/',NULL,65,656849871),
(1,'app in victim.service','queued','recorder','bourdond',NULL,'/',NULL,15,515073897),
(1,'app in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,485310981),
(1,'app in victim.service','queued','other','lck22652',NULL,'/bourdon-locks-alone-22652/victim',22959,1,278658517),
(1,'app in victim.service','queued','other','cat',NULL,'/',NULL,23,246609158),
(1,'app in victim.service','queued','other','bourdond',NULL,'/',NULL,15,136725166),
(1,'app in victim.service','queued','other','pgrep',NULL,'/',NULL,2,106645709),
(1,'app in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,101294807),
(1,'app in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,53685525),
(1,'app in victim.service','queued','other','cc1',NULL,'/',NULL,8,42713804),
(1,'app in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,41194722),
(1,'app in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,30314223);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795820512703951889,1795820517381264748,6307,99499950,1.06),
(1,'softirq',9,'RCU',1795820512703951889,1795820517381264748,919,13237968,0.14),
(1,'softirq',1,'TIMER',1795820512703951889,1795820517381264748,310,4026646,0.04),
(1,'softirq',7,'SCHED',1795820512703951889,1795820517381264748,153,2709544,0.03),
(1,'softirq',4,'BLOCK',1795820512703951889,1795820517381264748,4,166069,0.0),
(1,'irq',36,'virtio1-req.0',1795820512703951889,1795820517381264748,4,55688,0.0),
(1,'irq',42,'virtio3-tx',1795820512703951889,1795820517381264748,2,36756,0.0),
(1,'irq',31,'virtio0-stats',1795820512703951889,1795820517381264748,1,26478,0.0),
(1,'irq',41,'virtio3-rx',1795820512703951889,1795820517381264748,2,19856,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795820513773123620,1795820517381468267,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',5346175,12223595),
(1,1795820513773123620,1795820517381468267,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',5338359,12208016),
(1,1795820513773123620,1795820517381468267,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',7816,15579),
(1,1795820513773123620,1795820517381468267,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',5463766,12537636),
(1,1795820513773123620,1795820517381468267,'/verdicts.slice','cpu.stat',NULL,'usage_usec',33400974,40278393),
(1,1795820513773123620,1795820517381468267,'/verdicts.slice','cpu.stat',NULL,'user_usec',29503562,36380982),
(1,1795820513773123620,1795820517381468267,'/verdicts.slice','cpu.stat',NULL,'nice_usec',29664607,36738477),
(1,1795820513773123620,1795820517381468267,'/','cpu.stat',NULL,'usage_usec',29053267204,29060477074),
(1,1795820513773123620,1795820517381468267,'/','cpu.stat',NULL,'user_usec',24533937757,24541087627),
(1,1795820513773123620,1795820517381468267,'/','cpu.stat',NULL,'system_usec',4519329447,4519389447),
(1,1795820513773123620,1795820517381468267,'/','cpu.stat',NULL,'nice_usec',7578745800,7585831670),
(1,1795820513773123620,1795820517381468267,'system','vmstat',NULL,'pgfault',519136790,519149621),
(1,1795820513773123620,1795820517381468267,'system','diskstats','vda','writes',2572170,2572177),
(1,1795820513773123620,1795820517381468267,'system','diskstats','vda','write_bytes',289303203840,289303601152),
(1,1795820513773123620,1795820517381468267,'system','diskstats','vda','write_ms',1696402,1696406);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795820513771332743,'system','cpu',10425289550,0),
(1,1795820513771332743,'system','memory',37673017,9108197),
(1,1795820513771332743,'system','io',285589441,48234706),
(1,1795820513771332743,'/verdicts.slice/victim.service','cpu',2798749,122123),
(1,1795820513771332743,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820513771332743,'/verdicts.slice/victim.service','io',0,0),
(1,1795820517381468267,'system','cpu',10428899172,0),
(1,1795820517381468267,'system','memory',37673017,9108197),
(1,1795820517381468267,'system','io',285589834,48234706),
(1,1795820517381468267,'/verdicts.slice/victim.service','cpu',6408526,285266),
(1,1795820517381468267,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820517381468267,'/verdicts.slice/victim.service','io',0,0),
(1,1795820517381468267,'targets','cpu',2582811,NULL),
(1,1795820517381468267,'targets','memory',0,NULL),
(1,1795820517381468267,'targets','io',0,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',16,'frame'),
(1,'stack-not-whole',54,'stack'),
(1,'symbolizer-failed',1,'event');

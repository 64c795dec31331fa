-- situation: io-neighbour-four: a backup of four threads beside a program that writes little
-- kind: neighbour
-- whom: backup in backup.service
-- written: victim.service 12473983
-- written: backup.service 6702390528
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821051883698284,1795821056206623173,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','python3','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"io","kind":"some","stall_us":40000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','io','some',40000,2000000,'sampled','/verdicts.slice/victim.service',1795821052887031294,1795821051886170975,1795821055887031294,1000860319,'complete',352303,47,1000860319,5,2,1,10,2628,2624,1795821051887031294);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,849,16739867918652,'cc1','cc1',0,'/',NULL,'native'),
(5,1,842,16739844254573,'python3','python3.11',0,'/verdicts.slice/victim.service','victim.service','python'),
(6,1,919,16740721447053,'cc1','cc1',0,'/',NULL,'native'),
(8,1,797,16739677666846,'cc1',NULL,0,'/',NULL,NULL),
(9,1,837,16739823796157,'bash',NULL,0,'/',NULL,NULL),
(11,1,851,16739870746594,'backup','backup',0,'/verdicts.slice/backup.service','backup.service','native'),
(15,1,914,16740500149688,'cc1','cc1',0,'/',NULL,'native'),
(18,1,926,16741143477704,'cc1','cc1',0,'/',NULL,'native'),
(19,1,859,16739890341976,'bash',NULL,0,'/',NULL,NULL),
(20,1,920,16741039350086,'await_status',NULL,0,'/',NULL,NULL),
(28,1,863,16740006223008,'bourdond',NULL,65534,'/',NULL,NULL),
(30,1,946,16742285159978,'cc1','cc1',0,'/',NULL,'native'),
(31,1,947,16742517411848,'as',NULL,0,'/',NULL,NULL),
(46,1,986,16743683147559,'cc1','cc1',0,'/',NULL,'native'),
(48,1,991,16743740543154,'cc1','cc1',0,'/',NULL,'native'),
(50,1,996,16743953662056,'cc1',NULL,0,'/',NULL,NULL),
(58,1,44,178597696,'kworker/0:1H',NULL,0,NULL,NULL,NULL),
(59,1,58,232050397,'kworker/1:1H',NULL,0,NULL,NULL,NULL),
(82,1,27042,16654365526164,'make',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,58,'kernel',1795821051887058593,1795821055887963620,21029902,326512,0,0,0,0,0,0,0,1093,0,0,0,0,0),
(1,59,'kernel',1795821051887058593,1795821055887963620,181348295,66392470,0,0,0,0,0,0,0,23939,2,0,0,0,0),
(1,8,'other',1795821051887058593,1795821055887963620,137820798,45470774,0,0,0,0,642,0,323584,1,678,42356736,42356736,0,0),
(1,9,'other',1795821051887058593,1795821055887963620,7864749,7034663,0,0,0,0,1440,0,0,33,24,3637248,3502080,0,0),
(1,5,'target',1795821051887058593,1795821055887963620,169972559,2390074117,2414522461,0,1440539722,0,0,0,12533760,7293,10,8290304,8290304,0,0),
(1,1,'other',1795821051887058593,1795821055887963620,329890265,106149665,0,0,0,0,1937,0,421888,1,1417,33832960,33832960,0,0),
(1,11,'other',1795821051887058593,1795821055887963620,533673857,1445288263,0,0,0,0,0,0,6715084800,54667,485,2691072,2691072,0,0),
(1,19,'other',1795821051887058593,1795821055887963620,68669985,2896006,0,0,0,0,0,0,12288,39,36,3543040,3543040,0,0),
(1,28,'other',1795821051887058593,1795821055887963620,59022847,56988875,0,0,0,0,688,0,196608,428,233,15863808,13467648,0,0),
(1,82,'other',1795821051887058593,1795821055887963620,8323630,39668927,0,0,0,0,15,0,0,71,23,5910528,5910528,0,0),
(1,15,'other',1795821051887058593,1795821055887963620,985248822,265410786,0,0,0,0,8841,0,1167360,1,5010,52666368,0,0,0),
(1,6,'other',1795821051887058593,1795821055887963620,357358522,41113615,0,0,0,0,6927,0,401408,1,680,50270208,0,0,0),
(1,20,'other',1795821051887058593,1795821055887963620,44476908,8806326,0,0,0,0,334,0,0,71,195,3624960,0,0,0),
(1,18,'other',1795821051887058593,1795821055887963620,272479278,17402621,0,0,0,0,6870,0,307200,1,566,46817280,0,0,0),
(1,30,'other',1795821051887058593,1795821055887963620,266660759,63730605,0,0,0,0,5180,0,229376,1,1172,43737088,0,0,0),
(1,31,'other',1795821051887058593,1795821055887963620,22921539,930923,0,0,0,0,1179,0,212992,1,28,7237632,0,0,0),
(1,46,'other',1795821051887058593,1795821055887963620,229954547,20086220,0,0,0,0,5581,0,225280,1,362,32120832,0,0,0),
(1,48,'other',1795821051887058593,1795821055887963620,238682960,57630874,0,0,0,0,4853,0,36864,0,969,44277760,0,0,0),
(1,50,'other',1795821051887058593,1795821055887963620,76110978,6567198,0,0,0,0,3506,0,0,0,127,30138368,0,0,0),
(1,NULL,'rest',1795821051887058593,1795821055887963620,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821051887058593,1795821055887963620,46517149,34403996,0,0,0,0,1391,0,81920,780,117,133505024,97267712,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','cc1','gcc',NULL,'/',0,11,3491734515,475751427,0,0,3170304,0,0),
(1,'other','as','gcc',NULL,'/',0,10,124153371,18280625,0,0,1003520,0,0),
(1,'other','bourdond','bourdond',864,'/',0,6,77154079,22358846,0,0,0,0,0),
(1,'other','as','gcc',913,'/',0,1,53324703,9798607,0,0,405504,0,0),
(1,'other','mkdir','make',27042,'/',0,18,22842478,6369351,0,0,0,0,0),
(1,'other','gcc','sh',NULL,'/',0,10,20675008,8374864,0,0,4096,0,0),
(1,'other','as','gcc',848,'/',0,1,18593209,3641004,0,0,151552,0,0),
(1,'other','as','gcc',795,'/',0,1,15573584,9929731,0,0,126976,0,0),
(1,'other','as','gcc',918,'/',0,1,15079278,880022,0,0,159744,0,0),
(1,'other','as','gcc',945,'/',0,1,13198743,3378967,0,0,90112,0,0),
(1,'other','as','gcc',925,'/',0,1,12296439,531449,0,0,122880,0,0),
(1,'other','as','gcc',985,'/',0,1,11826709,1374982,0,0,86016,0,0),
(1,'other','pgrep','bash',837,'/',0,1,10949404,333681,0,0,0,0,0),
(1,'other','cat','bash',NULL,'/',0,12,10062686,3245177,0,0,0,0,0),
(1,'other','sh','make',27042,'/',0,10,8278626,2496985,0,0,0,0,0),
(1,'other','bash','bash',837,'/',0,12,7159159,2684117,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821051887058593,1795821055887963620,0,0.0),
(1,'guest',1795821051887058593,1795821055887963620,0,0.0),
(1,'idle',1795821051887058593,1795821055887963620,20000000,0.25),
(1,'irq',1795821051887058593,1795821055887963620,0,0.0),
(1,'kernel threads',1795821051887058593,1795821055887963620,205486003,2.57),
(1,'others',1795821051887058593,1795821055887963620,3556176243,44.44),
(1,'short-lived',1795821051887058593,1795821055887963620,3785700744,47.31),
(1,'softirq',1795821051887058593,1795821055887963620,260000000,3.25),
(1,'steal',1795821051887058593,1795821055887963620,10000000,0.12),
(1,'targets',1795821051887058593,1795821055887963620,164447064,2.06),
(1,'unaccounted',1795821051887058593,1795821055887963620,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821051887058593,1795821055887963620,0,6741585920),
(1,'kernel threads',1795821051887058593,1795821055887963620,0,65536),
(1,'others',1795821051887058593,1795821055887963620,0,6718636032),
(1,'short-lived',1795821051887058593,1795821055887963620,0,5320704),
(1,'targets',1795821051887058593,1795821055887963620,0,12533760),
(1,'unaccounted',1795821051887058593,1795821055887963620,0,5029888);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'python3 in victim.service','io',1,1372844788),
(1,'python3 in victim.service','queued',1,2248018934),
(1,'python3 in victim.service','ran',1,157552648),
(1,'python3 in victim.service','rest',1,3560176);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text) VALUES
(1,'python3 in victim.service','queued','other','cc1',NULL,'/',NULL,20,2022502323,NULL),
(1,'python3 in victim.service','queued','other','as',NULL,'/',NULL,18,80628768,NULL),
(1,'python3 in victim.service','queued','other','bash',NULL,'/',NULL,28,57959202,NULL),
(1,'python3 in victim.service','queued','recorder','bourdond',NULL,'/',NULL,8,49163839,NULL),
(1,'python3 in victim.service','queued','other','pgrep',NULL,'/',NULL,1,6220470,NULL),
(1,'python3 in victim.service','queued','other','mkdir',NULL,'/',NULL,18,5621252,NULL),
(1,'python3 in victim.service','queued','other','gcc',NULL,'/',NULL,20,5547898,NULL),
(1,'python3 in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,5101252,NULL),
(1,'python3 in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,4969684,NULL),
(1,'python3 in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,4123599,NULL),
(1,'python3 in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,2552676,NULL),
(1,'python3 in victim.service','queued','own','python3','victim.service','/verdicts.slice/victim.service',842,1,2546825,NULL),
(1,'python3 in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,1076494,NULL),
(1,'python3 in victim.service','queued','nobody',NULL,NULL,NULL,NULL,NULL,4652,NULL),
(1,'python3 in victim.service','io','other','backup','backup.service','/verdicts.slice/backup.service',851,1,1367448146,NULL),
(1,'python3 in victim.service','io','own','python3','victim.service','/verdicts.slice/victim.service',842,1,2552353,NULL),
(1,'python3 in victim.service','io','other',NULL,NULL,NULL,NULL,NULL,1806662,NULL),
(1,'python3 in victim.service','io','unknown',NULL,NULL,NULL,NULL,NULL,1024282,'not recorded'),
(1,'python3 in victim.service','io','kernel',NULL,NULL,NULL,NULL,NULL,13345,NULL);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'softirq',4,'BLOCK',1795821051887058593,1795821055887963620,24173,199448495,2.49),
(1,'irq',36,'virtio1-req.0',1795821051887058593,1795821055887963620,24173,42135649,0.53),
(1,'irq',NULL,'local timer',1795821051887058593,1795821055887963620,2836,37960292,0.47),
(1,'softirq',9,'RCU',1795821051887058593,1795821055887963620,766,6116038,0.08),
(1,'softirq',7,'SCHED',1795821051887058593,1795821055887963620,201,1712053,0.02),
(1,'softirq',1,'TIMER',1795821051887058593,1795821055887963620,352,1437712,0.02),
(1,'irq',42,'virtio3-tx',1795821051887058593,1795821055887963620,10,29938,0.0),
(1,'irq',41,'virtio3-rx',1795821051887058593,1795821055887963620,4,27261,0.0),
(1,'irq',31,'virtio0-stats',1795821051887058593,1795821055887963620,1,6011,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821052888323002,1795821055888080739,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',74353,199386),
(1,1795821052888323002,1795821055888080739,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',36299,45508),
(1,1795821052888323002,1795821055888080739,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',38053,153878),
(1,1795821052888323002,1795821055888080739,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',20000,24000),
(1,1795821052888323002,1795821055888080739,'/verdicts.slice','cpu.stat',NULL,'usage_usec',13296393,13822068),
(1,1795821052888323002,1795821055888080739,'/verdicts.slice','cpu.stat',NULL,'user_usec',11801086,11841703),
(1,1795821052888323002,1795821055888080739,'/verdicts.slice','cpu.stat',NULL,'system_usec',1495307,1980364),
(1,1795821052888323002,1795821055888080739,'/verdicts.slice','cpu.stat',NULL,'nice_usec',11172019,11188019),
(1,1795821052888323002,1795821055888080739,'/','cpu.stat',NULL,'usage_usec',30122849054,30128812471),
(1,1795821052888323002,1795821055888080739,'/','cpu.stat',NULL,'user_usec',25489096004,25493805758),
(1,1795821052888323002,1795821055888080739,'/','cpu.stat',NULL,'system_usec',4633753049,4635006713),
(1,1795821052888323002,1795821055888080739,'/','cpu.stat',NULL,'nice_usec',8438299666,8442897419),
(1,1795821052888323002,1795821055888080739,'system','vmstat',NULL,'pgfault',533615860,533719166),
(1,1795821052888323002,1795821055888080739,'system','diskstats','vda','writes',2695373,2738708),
(1,1795821052888323002,1795821055888080739,'system','diskstats','vda','write_bytes',299479605248,304432181248),
(1,1795821052888323002,1795821055888080739,'system','diskstats','vda','write_ms',1730799,1742539),
(1,1795821052888323002,1795821055888080739,'system','diskstats','vda','busy_ms',518084,521040);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821052887031294,'system','cpu',10900983115,0),
(1,1795821052887031294,'system','memory',38367558,9668143),
(1,1795821052887031294,'system','io',296355788,48503660),
(1,1795821052887031294,'/verdicts.slice/victim.service','cpu',711530,711530),
(1,1795821052887031294,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821052887031294,'/verdicts.slice/victim.service','io',396559,396559),
(1,1795821055888080739,'system','cpu',10902315368,0),
(1,1795821055888080739,'system','memory',38367558,9668143),
(1,1795821055888080739,'system','io',298351548,48514040),
(1,1795821055888080739,'/verdicts.slice/victim.service','cpu',2521760,2521760),
(1,1795821055888080739,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821055888080739,'/verdicts.slice/victim.service','io',1478815,1478815),
(1,1795821055888080739,'targets','cpu',1211240,NULL),
(1,1795821055888080739,'targets','memory',0,NULL),
(1,1795821055888080739,'targets','io',721565,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',365,'frame'),
(1,'offcpu-over-budget',1,'interval'),
(1,'stack-not-whole',1,'stack');

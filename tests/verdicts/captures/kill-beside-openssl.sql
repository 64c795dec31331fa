-- situation: kill-beside-openssl: an OOM kill of a Python program while openssl takes the CPU
-- kind: kill
-- whom: python3 in victim.service
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821018972851139,1795821023422666110,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','python3','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"cpu","kind":"some","stall_us":200000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','cpu','some',200000,2000000,'sampled','/verdicts.slice/victim.service',1795821019980716631,1795821018979589469,1795821022980716631,1001127162,'complete',501249,47,1001127162,21,23,1,28,219,167,1795821018980716631);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,29874,16706851097786,'python3','python3.11',0,'/verdicts.slice/victim.service','victim.service','python'),
(2,1,29879,16706888533071,'openssl','openssl',0,'/verdicts.slice/openssl.service','openssl.service','native'),
(3,1,29393,16697537144536,'clang-tidy','clang-tidy',0,'/',NULL,'native'),
(5,1,29829,16706659329255,'vtest',NULL,0,'/',NULL,NULL),
(7,1,29884,16707004197658,'bash',NULL,0,'/',NULL,NULL),
(10,1,29877,16706860438364,'r_unit',NULL,0,'/',NULL,NULL),
(11,1,29886,16707012497988,'bourdond',NULL,65534,'/',NULL,NULL),
(13,1,29468,16700255929669,'cc1',NULL,0,'/',NULL,NULL),
(14,1,29604,16701058269385,'cc1',NULL,0,'/',NULL,NULL),
(15,1,29868,16706823467125,'bash',NULL,0,'/',NULL,NULL),
(21,1,29824,16706615406048,'vtest',NULL,0,'/',NULL,NULL),
(22,1,29975,16709297117701,'await_status',NULL,0,'/',NULL,NULL),
(23,1,29976,16709506461137,'vtest',NULL,0,'/',NULL,NULL),
(25,1,21561,14365028987638,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(26,1,29977,16710282330344,'vtest',NULL,0,'/',NULL,NULL),
(28,1,15,99314954,'rcu_preempt',NULL,0,NULL,NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,28,'kernel',1795821018981581648,1795821022981741415,7144220,24416757,0,0,0,0,0,0,0,276,0,0,0,0,0),
(1,25,'other',1795821018981581648,1795821022981741415,5048102,13054017,0,0,0,0,0,0,0,79,0,1155072,1155072,0,0),
(1,3,'other',1795821018981581648,1795821022981741415,3167612380,831532664,0,0,0,0,10496,0,0,0,810,139665408,111116288,0,0),
(1,13,'other',1795821018981581648,1795821022981741415,23343006,4058640225,0,0,0,0,64,0,0,0,9,40570880,40476672,0,0),
(1,14,'other',1795821018981581648,1795821022981741415,21300425,3725607423,0,0,0,0,55,0,16384,0,6,40886272,40624128,0,0),
(1,21,'other',1795821018981581648,1795821022981741415,3338889,368159106,0,0,0,0,24,0,0,1,1,0,21319680,0,0),
(1,5,'other',1795821018981581648,1795821022981741415,21050729,2263819215,0,0,0,0,3483,0,0,1,8,21319680,21319680,0,0),
(1,15,'other',1795821018981581648,1795821022981741415,30216546,134732848,0,0,0,0,2850,0,4096,65,4,4153344,3497984,0,0),
(1,1,'target',1795821018981581648,1795821022981741415,1083498262,1084864654,627349584,0,0,0,15451,0,0,0,414,72384512,9076736,35,5697213),
(1,10,'other',1795821018981581648,1795821022981741415,46645887,4069367404,0,0,0,0,74,0,380928,0,16,4341760,4079616,0,0),
(1,2,'other',1795821018981581648,1795821022981741415,2905367924,1093766625,0,0,0,0,0,0,0,0,279,6250496,6250496,0,0),
(1,7,'other',1795821018981581648,1795821022981741415,45460080,118240569,0,0,0,0,2,0,4096,38,5,3551232,3551232,0,0),
(1,11,'other',1795821018981581648,1795821022981741415,69252209,351387812,0,0,0,0,1777,0,442368,325,79,14065664,13500416,0,0),
(1,22,'other',1795821018981581648,1795821022981741415,51571490,66306498,0,0,0,0,334,0,0,53,14,3584000,0,0,0),
(1,23,'other',1795821018981581648,1795821022981741415,13802466,939964671,0,0,0,0,1434,0,4096,1,5,21303296,0,0,0),
(1,26,'other',1795821018981581648,1795821022981741415,11983291,709662544,0,0,0,0,3490,0,0,1,3,21303296,0,0,0),
(1,NULL,'rest',1795821018981581648,1795821022981741415,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821018981581648,1795821022981741415,36464232,111324002,0,0,0,0,1104,0,20480,600,6,150310912,144076800,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','bourdond','bourdond',29887,'/',0,3,293757844,1159385919,0,0,0,0,0),
(1,'other','git','bash',27894,'/',0,2,32729326,50172779,0,0,761856,0,0),
(1,'other','awk','bash',29868,'/',0,10,30413227,56836696,0,0,0,0,0),
(1,'other','cat','bash',NULL,'/',0,13,23664812,194234489,0,0,0,0,0),
(1,'other','getconf','bash',NULL,'/',0,10,20206025,16533696,0,0,0,0,0),
(1,'other','bash','bash',29868,'/',0,12,16028594,122397538,0,0,0,0,0),
(1,'other','sleep','bash',29868,'/',0,8,12986127,7969786,0,0,0,0,0),
(1,'other','pgrep','bash',29868,'/',0,1,11129109,20594104,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,9,10424403,10902327,0,0,4096,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821018981581648,1795821022981741415,0,0.0),
(1,'guest',1795821018981581648,1795821022981741415,0,0.0),
(1,'idle',1795821018981581648,1795821022981741415,0,0.0),
(1,'irq',1795821018981581648,1795821022981741415,0,0.0),
(1,'kernel threads',1795821018981581648,1795821022981741415,11750357,0.15),
(1,'others',1795821018981581648,1795821022981741415,6447851519,80.59),
(1,'short-lived',1795821018981581648,1795821022981741415,451339467,5.64),
(1,'softirq',1795821018981581648,1795821022981741415,0,0.0),
(1,'steal',1795821018981581648,1795821022981741415,0,0.0),
(1,'targets',1795821018981581648,1795821022981741415,1083498262,13.54),
(1,'unaccounted',1795821018981581648,1795821022981741415,5879929,0.07);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821018981581648,1795821022981741415,0,307200),
(1,'kernel threads',1795821018981581648,1795821022981741415,0,0),
(1,'others',1795821018981581648,1795821022981741415,0,872448),
(1,'short-lived',1795821018981581648,1795821022981741415,0,765952),
(1,'targets',1795821018981581648,1795821022981741415,0,0),
(1,'unaccounted',1795821018981581648,1795821022981741415,0,-1331200);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'python3 in victim.service','memory',0,340990),
(1,'python3 in victim.service','queued',0,977405258),
(1,'python3 in victim.service','ran',0,971033641),
(1,'python3 in victim.service','rest',0,179269);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'python3 in victim.service','memory','limit',NULL,NULL,NULL,NULL,NULL,340990),
(1,'python3 in victim.service','queued','other','openssl','openssl.service','/verdicts.slice/openssl.service',29879,1,973516220),
(1,'python3 in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,2520814),
(1,'python3 in victim.service','queued','kernel','kworker',NULL,NULL,NULL,4,1265110),
(1,'python3 in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,90763),
(1,'python3 in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,12351);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795821018981581648,1795821022981741415,2949,42337253,0.53),
(1,'softirq',9,'RCU',1795821018981581648,1795821022981741415,877,7357978,0.09),
(1,'softirq',1,'TIMER',1795821018981581648,1795821022981741415,303,1471880,0.02),
(1,'softirq',7,'SCHED',1795821018981581648,1795821022981741415,117,1354482,0.02),
(1,'softirq',4,'BLOCK',1795821018981581648,1795821022981741415,12,142826,0.0),
(1,'irq',36,'virtio1-req.0',1795821018981581648,1795821022981741415,12,42401,0.0),
(1,'irq',41,'virtio3-rx',1795821018981581648,1795821022981741415,3,36724,0.0),
(1,'irq',42,'virtio3-tx',1795821018981581648,1795821022981741415,3,21406,0.0);
INSERT INTO killed(capture_id,at,how,role,comm,tgid,cgroup,unit,rss_bytes,by_comm,by_tgid,by_cgroup,by_unit,limit_cgroup,limit_bytes,processes) VALUES
(1,1795821021136804038,'oom','target','python3',29874,'/verdicts.slice/victim.service','victim.service',72384512,'python3',29874,'/verdicts.slice/victim.service','victim.service','verdicts-kill',67108864,1);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821019989554976,1795821022981793656,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',687065,1265776),
(1,1795821019989554976,1795821022981793656,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',683122,1226092),
(1,1795821019989554976,1795821022981793656,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',3943,39683),
(1,1795821019989554976,1795821022981793656,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',695886,1235879),
(1,1795821019989554976,1795821022981793656,'/verdicts.slice','cpu.stat',NULL,'usage_usec',7977640,10959059),
(1,1795821019989554976,1795821022981793656,'/verdicts.slice','cpu.stat',NULL,'user_usec',7717193,10662089),
(1,1795821019989554976,1795821022981793656,'/verdicts.slice','cpu.stat',NULL,'system_usec',260446,296969),
(1,1795821019989554976,1795821022981793656,'/verdicts.slice','cpu.stat',NULL,'nice_usec',7817989,10765448),
(1,1795821019989554976,1795821022981793656,'/','cpu.stat',NULL,'usage_usec',30057607529,30063588592),
(1,1795821019989554976,1795821022981793656,'/','cpu.stat',NULL,'user_usec',25433495539,25439281016),
(1,1795821019989554976,1795821022981793656,'/','cpu.stat',NULL,'system_usec',4624111989,4624307576),
(1,1795821019989554976,1795821022981793656,'/','cpu.stat',NULL,'nice_usec',8400164969,8403188428),
(1,1795821019989554976,1795821022981793656,'system','vmstat',NULL,'pgfault',532104629,532144883),
(1,1795821019989554976,1795821022981793656,'system','vmstat',NULL,'oom_kill',81,82),
(1,1795821019989554976,1795821022981793656,'system','diskstats','vda','writes',2588266,2588274),
(1,1795821019989554976,1795821022981793656,'system','diskstats','vda','write_bytes',290388021248,290388328448),
(1,1795821019989554976,1795821022981793656,'system','diskstats','vda','write_ms',1716967,1716968),
(1,1795821019989554976,1795821022981793656,'system','diskstats','vda','busy_ms',512608,512616);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821019980716631,'system','cpu',10876813289,0),
(1,1795821019980716631,'system','memory',38364695,9667890),
(1,1795821019980716631,'system','io',292515962,48265711),
(1,1795821019980716631,'/verdicts.slice/victim.service','cpu',582822,582822),
(1,1795821019980716631,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821019980716631,'/verdicts.slice/victim.service','io',0,0),
(1,1795821022981793656,'system','cpu',10878940050,0),
(1,1795821022981793656,'system','memory',38367558,9668143),
(1,1795821022981793656,'system','io',292516670,48265711),
(1,1795821022981793656,'/verdicts.slice/victim.service','cpu',1164612,1164612),
(1,1795821022981793656,'/verdicts.slice/victim.service','memory',5725,5725),
(1,1795821022981793656,'/verdicts.slice/victim.service','io',0,0),
(1,1795821022981793656,'targets','cpu',82572,NULL),
(1,1795821022981793656,'targets','memory',5695,NULL),
(1,1795821022981793656,'targets','io',0,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',149,'frame'),
(1,'stack-not-whole',10,'stack');

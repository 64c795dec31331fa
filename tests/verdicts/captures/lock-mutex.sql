-- situation: lock-mutex: six threads and one mutex, on demand
-- kind: lock
-- lock: 13197 ms, CPU: 1245 ms
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795820876780179258,1795820882885545464,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795820879241786115,1795820879241786115,1795820882241786115,0,'complete',47,0,152,158,1,83,765,591,0,'root','--comm locker --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(2,1,22570,16562832348784,'cc1','cc1',0,'/',NULL,'native'),
(3,1,22623,16563324200334,'cc1','cc1',0,'/',NULL,'native'),
(4,1,22642,16563531196097,'cc1','cc1',0,'/',NULL,'native'),
(5,1,22835,16564753529882,'locker','locker',0,'/verdicts.slice/victim.service','victim.service','native'),
(6,1,22847,16564788864728,'bourdond',NULL,65534,'/',NULL,NULL),
(7,1,22913,16565451720079,'cc1','cc1',0,'/',NULL,'native'),
(8,1,22937,16566144512195,'cc1','cc1',0,'/',NULL,'native'),
(9,1,22957,16566605710084,'cc1','cc1',0,'/',NULL,'native'),
(10,1,22982,16567010022453,'bourdond',NULL,65534,'/',NULL,NULL),
(12,1,22550,16562701317872,'bourdond',NULL,65534,'/',NULL,NULL),
(13,1,22597,16563055752692,'lck22188',NULL,0,'/bourdon-locks-dbzkqH-22188/victim',NULL,NULL),
(17,1,22845,16564781419370,'bash',NULL,0,'/',NULL,NULL),
(18,1,22999,16568881639801,'as',NULL,0,'/',NULL,NULL),
(20,1,22188,16558861754910,'bash','bash',0,'/',NULL,'native'),
(24,1,23006,16569274112224,'cc1',NULL,0,'/',NULL,NULL),
(33,1,23014,16569531007884,'cc1',NULL,0,'/',NULL,NULL),
(45,1,23035,16569988286802,'make',NULL,0,'/',NULL,NULL),
(49,1,23024,16569930224970,'cc1',NULL,0,'/',NULL,NULL),
(132,1,23052,16570122859134,'gcc',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,20,'other',1795820879241764929,1795820882244159998,37816804,336761329,0,0,0,0,873,0,0,13,26,4739072,4214784,0,0),
(1,12,'other',1795820879241764929,1795820882244159998,37146313,0,0,0,0,0,54,0,737280,106,29,12189696,13934592,0,0),
(1,2,'other',1795820879241764929,1795820882244159998,165193213,1356264013,0,0,0,0,383,0,516096,1,39,0,52969472,0,0),
(1,13,'other',1795820879241764929,1795820882244159998,34929053,0,0,0,0,0,0,0,0,625,15,1650688,1650688,0,0),
(1,3,'other',1795820879241764929,1795820882244159998,327496185,2667945954,0,0,0,0,2049,0,241664,0,123,63606784,58585088,0,0),
(1,4,'other',1795820879241764929,1795820882244159998,100133335,1386966373,0,0,0,0,223,0,438272,1,33,51208192,51077120,0,0),
(1,5,'target',1795820879241764929,1795820882244159998,3562552353,1069746550,1061445862,0,0,0,0,0,0,145,910,1540096,1540096,0,0),
(1,17,'other',1795820879241764929,1795820882244159998,31633859,38451040,0,0,0,0,0,0,4096,29,1,3485696,3485696,0,0),
(1,6,'other',1795820879241764929,1795820882244159998,38959052,126983505,0,0,0,0,62,0,20480,197,25,13864960,13733888,0,0),
(1,7,'other',1795820879241764929,1795820882244159998,199054131,2844002389,0,0,0,0,1199,0,53248,0,87,44072960,32980992,0,0),
(1,8,'other',1795820879241764929,1795820882244159998,320032868,1408210560,0,0,0,0,2696,0,323584,1,86,45686784,27648000,0,0),
(1,9,'other',1795820879241764929,1795820882244159998,402787594,2653047341,0,0,0,0,5259,0,61440,0,113,51556352,23166976,0,0),
(1,10,'other',1795820879241764929,1795820882244159998,118502319,1356913580,0,0,0,0,3233,0,0,2,57,21323776,8433664,0,0),
(1,18,'other',1795820879241764929,1795820882244159998,38046064,334544453,0,0,0,0,1178,0,200704,1,16,2043904,0,0,0),
(1,24,'other',1795820879241764929,1795820882244159998,94956192,995702468,0,0,0,0,3203,0,0,0,39,28995584,0,0,0),
(1,33,'other',1795820879241764929,1795820882244159998,80285167,756669043,0,0,0,0,2141,0,0,0,27,24625152,0,0,0),
(1,49,'other',1795820879241764929,1795820882244159998,20430167,397291431,0,0,0,0,1187,0,0,0,6,20025344,0,0,0),
(1,45,'other',1795820879241764929,1795820882244159998,13773789,79769188,0,0,0,0,398,0,0,43,1,3158016,0,0,0),
(1,132,'other',1795820879241764929,1795820882244159998,10326232,21323311,0,0,0,0,1004,0,4096,0,5,2654208,0,0,0),
(1,NULL,'rest',1795820879241764929,1795820882244159998,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795820879241764929,1795820882244159998,72071994,1088427666,0,0,0,0,1814,0,45056,708,28,194486272,165883904,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','find','sh',NULL,'/',0,2,47499513,35684252,0,0,12288,0,0),
(1,'other','as','gcc',22569,'/',0,1,41560698,449358300,0,0,270336,0,0),
(1,'other','cc1','gcc',NULL,'/',0,3,38015019,13700018,0,0,12288,0,0),
(1,'other','gcc','sh',NULL,'/',0,4,27703476,59357979,0,0,4096,0,0),
(1,'other','sqlite3','bash',NULL,'/',0,3,20986190,147532728,0,0,0,0,0),
(1,'other','sqlite3','bash',22188,'/',0,3,20744402,255794472,0,0,4096,0,0),
(1,'other','as','gcc',22935,'/',0,1,19469419,278495963,0,0,122880,0,0),
(1,'other','as','gcc',NULL,'/',0,3,11472993,18373672,0,0,0,0,0),
(1,'other','bash','bash',22188,'/',0,3,10363730,88464602,0,0,0,0,0),
(1,'other','sh','make',23035,'/',0,4,9229587,93102074,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,19,34642450,83772414,0,0,40960,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795820879241764929,1795820882244159998,0,0.0),
(1,'guest',1795820879241764929,1795820882244159998,0,0.0),
(1,'idle',1795820879241764929,1795820882244159998,20000000,0.33),
(1,'irq',1795820879241764929,1795820882244159998,0,0.0),
(1,'kernel threads',1795820879241764929,1795820882244159998,12028635,0.2),
(1,'others',1795820879241764929,1795820882244159998,2131545696,35.5),
(1,'short-lived',1795820879241764929,1795820882244159998,281687477,4.69),
(1,'softirq',1795820879241764929,1795820882244159998,0,0.0),
(1,'steal',1795820879241764929,1795820882244159998,10000000,0.17),
(1,'targets',1795820879241764929,1795820882244159998,3562552353,59.33),
(1,'unaccounted',1795820879241764929,1795820882244159998,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795820879241764929,1795820882244159998,0,4096000),
(1,'kernel threads',1795820879241764929,1795820882244159998,0,16384),
(1,'others',1795820879241764929,1795820882244159998,0,2629632),
(1,'short-lived',1795820879241764929,1795820882244159998,0,466944),
(1,'targets',1795820879241764929,1795820882244159998,0,0),
(1,'unaccounted',1795820879241764929,1795820882244159998,0,983040);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'locker in victim.service','lock',7,13112181769),
(1,'locker in victim.service','queued',7,1075269567),
(1,'locker in victim.service','ran',7,3533238917),
(1,'locker in victim.service','rest',7,19341978),
(1,'locker in victim.service','sleep',7,3166274380);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text,then_account) VALUES
(1,'locker in victim.service','queued','own','locker','victim.service','/verdicts.slice/victim.service',22835,1,904527691,NULL,NULL),
(1,'locker in victim.service','queued','other','lck22188',NULL,'/bourdon-locks-dbzkqH-22188/victim',22597,1,29308950,NULL,NULL),
(1,'locker in victim.service','queued','other','bash',NULL,'/',NULL,40,26198779,NULL,NULL),
(1,'locker in victim.service','queued','other','cc1',NULL,'/',NULL,12,25813206,NULL,NULL),
(1,'locker in victim.service','queued','recorder','bourdond',NULL,'/',NULL,7,19113043,NULL,NULL),
(1,'locker in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,16921317,NULL,NULL),
(1,'locker in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,12433713,NULL,NULL),
(1,'locker in victim.service','queued','other','sh',NULL,'/',NULL,17,8302531,NULL,NULL),
(1,'locker in victim.service','queued','other','gcc',NULL,'/',NULL,15,5884977,NULL,NULL),
(1,'locker in victim.service','queued','other','bourdond',NULL,'/',NULL,7,4378648,NULL,NULL),
(1,'locker in victim.service','queued','other','find',NULL,'/',NULL,2,3991649,NULL,NULL),
(1,'locker in victim.service','queued','kernel','kworker',NULL,NULL,NULL,6,3398581,NULL,NULL),
(1,'locker in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,2868916,NULL,NULL),
(1,'locker in victim.service','queued','other','date',NULL,'/',NULL,NULL,2662529,NULL,NULL),
(1,'locker in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,1794885,NULL,NULL),
(1,'locker in victim.service','queued','other','sqlite3',NULL,'/',NULL,6,1692263,NULL,NULL),
(1,'locker in victim.service','queued','other','uname',NULL,'/',NULL,2,1409868,NULL,NULL),
(1,'locker in victim.service','queued','other','sleep',NULL,'/',NULL,3,1359479,NULL,NULL),
(1,'locker in victim.service','queued','other','make',NULL,'/',NULL,3,1169758,NULL,NULL),
(1,'locker in victim.service','queued','other','as',NULL,'/',NULL,7,1095425,NULL,NULL),
(1,'locker in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,553594,NULL,NULL),
(1,'locker in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,389765,NULL,NULL),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',22835,1,12929742866,'hold_lock','ran'),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',22835,1,182438903,'hold_lock','queued');
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795820879241764929,1795820882244159998,3040,59677691,0.99),
(1,'softirq',9,'RCU',1795820879241764929,1795820882244159998,581,7117717,0.12),
(1,'softirq',7,'SCHED',1795820879241764929,1795820882244159998,153,3641741,0.06),
(1,'softirq',1,'TIMER',1795820879241764929,1795820882244159998,220,1915148,0.03),
(1,'softirq',4,'BLOCK',1795820879241764929,1795820882244159998,62,771550,0.01),
(1,'irq',36,'virtio1-req.0',1795820879241764929,1795820882244159998,62,313300,0.01),
(1,'irq',41,'virtio3-rx',1795820879241764929,1795820882244159998,1,19470,0.0),
(1,'irq',42,'virtio3-tx',1795820879241764929,1795820882244159998,2,14891,0.0);
INSERT INTO killed(capture_id,at,how,role,comm,tgid,cgroup,rss_bytes,by_comm,by_tgid,by_cgroup,processes) VALUES
(1,1795820881757357652,'signal','other','lck22188',22597,'/bourdon-locks-dbzkqH-22188/victim',1650688,'bash',22188,'/',1);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795820879243141739,1795820882244307947,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',3256782,6817501),
(1,1795820879243141739,1795820882244307947,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',3240841,6753872),
(1,1795820879243141739,1795820882244307947,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',15941,63629),
(1,1795820879243141739,1795820882244307947,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',3255866,6752325),
(1,1795820879243141739,1795820882244307947,'/verdicts.slice','cpu.stat',NULL,'usage_usec',39967959,43528678),
(1,1795820879243141739,1795820882244307947,'/verdicts.slice','cpu.stat',NULL,'user_usec',39838407,43351627),
(1,1795820879243141739,1795820882244307947,'/verdicts.slice','cpu.stat',NULL,'system_usec',129552,177050),
(1,1795820879243141739,1795820882244307947,'/verdicts.slice','cpu.stat',NULL,'nice_usec',40060378,43556838),
(1,1795820879243141739,1795820882244307947,'/','cpu.stat',NULL,'usage_usec',29783296116,29789270984),
(1,1795820879243141739,1795820882244307947,'/','cpu.stat',NULL,'user_usec',25188710819,25194322471),
(1,1795820879243141739,1795820882244307947,'/','cpu.stat',NULL,'system_usec',4594585297,4594948512),
(1,1795820879243141739,1795820882244307947,'/','cpu.stat',NULL,'nice_usec',8184353906,8189837558),
(1,1795820879243141739,1795820882244307947,'system','vmstat',NULL,'pgfault',527511201,527549770),
(1,1795820879243141739,1795820882244307947,'system','diskstats','vda','writes',2584951,2585010),
(1,1795820879243141739,1795820882244307947,'system','diskstats','vda','write_bytes',289884110848,289888206848),
(1,1795820879243141739,1795820882244307947,'system','diskstats','vda','write_ms',1709818,1709857),
(1,1795820879243141739,1795820882244307947,'system','diskstats','vda','busy_ms',503432,503460);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795820879241786115,'system','cpu',10786692402,0),
(1,1795820879241786115,'system','memory',37673017,9108197),
(1,1795820879241786115,'system','io',288554879,48237628),
(1,1795820879241786115,'/verdicts.slice/victim.service','cpu',371019,87722),
(1,1795820879241786115,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820879241786115,'/verdicts.slice/victim.service','io',0,0),
(1,1795820882244307947,'system','cpu',10789048267,0),
(1,1795820882244307947,'system','memory',37673017,9108197),
(1,1795820882244307947,'system','io',288564794,48237628),
(1,1795820882244307947,'/verdicts.slice/victim.service','cpu',955378,149560),
(1,1795820882244307947,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820882244307947,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',167,'frame');

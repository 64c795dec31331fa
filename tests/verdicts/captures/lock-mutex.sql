-- situation: lock-mutex: six threads and one mutex, on demand
-- kind: lock
-- lock: 13426 ms, CPU: 756 ms
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795822157546467724,1795822163697010202,'0.1.0',13,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795822159959736975,1795822159959736975,1795822162959736975,0,'complete',47,0,164,165,1,64,603,425,0,'root','--comm locker --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,6064,17813412683714,'bash',NULL,0,'/',NULL,NULL),
(2,1,6157,17814209981341,'three_hot','three_hot',0,'/bourdon-baseline-2G8TGe-6064',NULL,'native'),
(3,1,6159,17814261085466,'bourdond','bourdond',65534,'/',NULL,'native'),
(4,1,6929,17833627298393,'unit','unit',0,'/',NULL,NULL),
(5,1,6998,17835488929791,'bourdon-load','bourdon-load',0,'/',NULL,'native'),
(6,1,7478,17845508953635,'locker','locker',0,'/verdicts.slice/victim.service','victim.service','native'),
(7,1,7490,17845560142760,'bourdond',NULL,65534,'/',NULL,NULL),
(8,1,7557,17846707428083,'cc1','cc1',0,'/',NULL,'native'),
(9,1,7579,17847497908506,'cc1',NULL,0,'/',NULL,NULL),
(10,1,7593,17848026912445,'r_unit',NULL,0,'/',NULL,NULL),
(12,1,7587,17847822445149,'bourdond',NULL,65534,'/',NULL,NULL),
(17,1,7488,17845556334050,'bash',NULL,0,'/',NULL,NULL),
(23,1,7605,17849205246078,'r_unit',NULL,0,'/',NULL,NULL),
(30,1,7612,17849953541495,'cc1',NULL,0,'/',NULL,NULL),
(37,1,7616,17850322482783,'r_unit',NULL,0,'/',NULL,NULL),
(44,1,7623,17850587503152,'cc1',NULL,0,'/',NULL,NULL),
(45,1,7625,17850614387967,'sqlite3',NULL,0,'/',NULL,NULL),
(51,1,15,99314954,'rcu_preempt',NULL,0,NULL,NULL,NULL),
(63,1,3188,13422989467005,'kworker/u8:7',NULL,0,NULL,NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,51,'kernel',1795822159959699395,1795822162960672779,9319373,72636699,0,0,0,0,0,0,0,243,0,0,0,0,0),
(1,63,'kernel',1795822159959699395,1795822162960672779,6202293,17401154,0,0,0,0,0,0,12288,14,2,0,0,0,0),
(1,1,'other',1795822159959699395,1795822162960672779,13739506,386945031,0,0,0,0,692,0,0,16,5,4386816,4386816,0,0),
(1,2,'other',1795822159959699395,1795822162960672779,319503701,2653394771,0,0,0,0,0,0,0,0,112,1425408,1425408,0,0),
(1,3,'other',1795822159959699395,1795822162960672779,32758897,2669402110,0,0,0,0,73,0,356352,71,23,14622720,14729216,0,0),
(1,4,'other',1795822159959699395,1795822162960672779,414360766,2560865926,0,0,0,0,0,0,1036288,1,151,8683520,8683520,0,0),
(1,5,'other',1795822159959699395,1795822162960672779,193110148,2598802330,0,0,0,0,2749,0,0,0,33,12484608,16044032,0,0),
(1,6,'target',1795822159959699395,1795822162960672779,3815559539,627907235,624479590,0,0,0,0,0,0,140,431,1531904,1531904,0,0),
(1,17,'other',1795822159959699395,1795822162960672779,20623019,20007448,0,0,0,0,0,0,8192,29,0,3518464,3518464,0,0),
(1,7,'other',1795822159959699395,1795822162960672779,28859495,126967552,0,0,0,0,125,0,20480,183,17,14184448,13660160,0,0),
(1,8,'other',1795822159959699395,1795822162960672779,172655970,2036773791,0,0,0,0,1527,0,237568,1,56,40669184,30646272,0,0),
(1,9,'other',1795822159959699395,1795822162960672779,121963572,1478898582,0,0,0,0,2545,0,131072,1,44,41721856,24776704,0,0),
(1,12,'other',1795822159959699395,1795822162960672779,101388458,1547663938,0,0,0,0,3615,0,0,1,15,18206720,2248704,0,0),
(1,10,'other',1795822159959699395,1795822162960672779,70219754,466502549,0,0,0,0,394,0,417792,1,25,4341760,3817472,0,0),
(1,23,'other',1795822159959699395,1795822162960672779,89545639,505714324,0,0,0,0,631,0,430080,1,26,4210688,0,0,0),
(1,30,'other',1795822159959699395,1795822162960672779,100194153,998139491,0,0,0,0,4198,0,0,0,34,37183488,0,0,0),
(1,37,'other',1795822159959699395,1795822162960672779,76110231,456607495,0,0,0,0,635,0,450560,2,29,0,0,0,0),
(1,44,'other',1795822159959699395,1795822162960672779,62581051,401928927,0,0,0,0,3078,0,0,0,8,27693056,0,0,0),
(1,45,'other',1795822159959699395,1795822162960672779,5935473,259237769,0,0,0,0,293,0,0,0,4,1482752,0,0,0),
(1,NULL,'rest',1795822159959699395,1795822162960672779,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795822159959699395,1795822162960672779,56713472,1830363842,0,0,0,0,1645,0,53248,361,16,203284480,180277248,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','r_unit','r_unit',7083,'/',0,4,276569698,1542221766,0,0,1843200,0,0),
(1,'other','sqlite3','bash',NULL,'/',0,2,11961147,555584718,0,0,0,0,0),
(1,'other','as','gcc',7556,'/',0,1,11012998,147365239,0,0,73728,0,0),
(1,'other','as','gcc',7578,'/',0,1,8798608,113995246,0,0,49152,0,0),
(1,'other','sqlite3','bash',7594,'/',0,1,6876348,341845610,0,0,0,0,0),
(1,'other','bash','bash',6064,'/',0,2,6297822,251526694,0,0,0,0,0),
(1,'other','bourdond','bourdond',6160,'/',0,2,5160744,393030169,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,6,9403226,366743733,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795822159959699395,1795822162960672779,0,0.0),
(1,'guest',1795822159959699395,1795822162960672779,0,0.0),
(1,'idle',1795822159959699395,1795822162960672779,30000000,0.5),
(1,'irq',1795822159959699395,1795822162960672779,0,0.0),
(1,'kernel threads',1795822159959699395,1795822162960672779,28817030,0.48),
(1,'others',1795822159959699395,1795822162960672779,1863833078,31.05),
(1,'short-lived',1795822159959699395,1795822162960672779,335524849,5.59),
(1,'softirq',1795822159959699395,1795822162960672779,10000000,0.17),
(1,'steal',1795822159959699395,1795822162960672779,0,0.0),
(1,'targets',1795822159959699395,1795822162960672779,3809250144,63.47),
(1,'unaccounted',1795822159959699395,1795822162960672779,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795822159959699395,1795822162960672779,0,4149248),
(1,'kernel threads',1795822159959699395,1795822162960672779,0,24576),
(1,'others',1795822159959699395,1795822162960672779,0,3129344),
(1,'short-lived',1795822159959699395,1795822162960672779,0,1966080),
(1,'targets',1795822159959699395,1795822162960672779,0,0),
(1,'unaccounted',1795822159959699395,1795822162960672779,0,-970752);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'locker in victim.service','lock',7,13297176924),
(1,'locker in victim.service','queued',7,625548558),
(1,'locker in victim.service','ran',7,3781309170),
(1,'locker in victim.service','rest',7,80634466),
(1,'locker in victim.service','sleep',7,3206548630);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text,then_account) VALUES
(1,'locker in victim.service','queued','own','locker','victim.service','/verdicts.slice/victim.service',7478,1,489928172,NULL,NULL),
(1,'locker in victim.service','queued','other','unit',NULL,'/',NULL,3,28943272,NULL,NULL),
(1,'locker in victim.service','queued','other','cc1',NULL,'/',NULL,4,16640683,NULL,NULL),
(1,'locker in victim.service','queued','kernel','kworker',NULL,NULL,NULL,11,16060968,NULL,NULL),
(1,'locker in victim.service','queued','other','bash',NULL,'/',NULL,41,14821300,NULL,NULL),
(1,'locker in victim.service','queued','recorder','bourdond',NULL,'/',NULL,7,13075791,NULL,NULL),
(1,'locker in victim.service','queued','other','r_unit',NULL,'/',NULL,9,11391891,NULL,NULL),
(1,'locker in victim.service','queued','other','three_hot',NULL,'/bourdon-baseline-2G8TGe-6064',6157,1,6487191,NULL,NULL),
(1,'locker in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,6271942,NULL,NULL),
(1,'locker in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,4720318,NULL,NULL),
(1,'locker in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,4605023,NULL,NULL),
(1,'locker in victim.service','queued','other','date',NULL,'/',NULL,NULL,4565919,NULL,NULL),
(1,'locker in victim.service','queued','other','as',NULL,'/',NULL,2,4423365,NULL,NULL),
(1,'locker in victim.service','queued','other','sleep',NULL,'/',NULL,4,1387018,NULL,NULL),
(1,'locker in victim.service','queued','other','cat',NULL,'/',NULL,2,1065589,NULL,NULL),
(1,'locker in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,781646,NULL,NULL),
(1,'locker in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,285247,NULL,NULL),
(1,'locker in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,93223,NULL,NULL),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',7478,1,13233674342,'hold_lock','ran'),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',7478,1,63502582,'hold_lock','rest');
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795822159959699395,1795822162960672779,2730,38137573,0.64),
(1,'softirq',9,'RCU',1795822159959699395,1795822162960672779,724,5931413,0.1),
(1,'softirq',7,'SCHED',1795822159959699395,1795822162960672779,161,3540862,0.06),
(1,'softirq',1,'TIMER',1795822159959699395,1795822162960672779,247,1986276,0.03),
(1,'softirq',4,'BLOCK',1795822159959699395,1795822162960672779,25,881009,0.01),
(1,'irq',36,'virtio1-req.0',1795822159959699395,1795822162960672779,25,234880,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795822159961162576,1795822162960736867,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',3187959,7005608),
(1,1795822159961162576,1795822162960736867,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',3152211,6937482),
(1,1795822159961162576,1795822162960736867,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',35747,68126),
(1,1795822159961162576,1795822162960736867,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',3174505,6917870),
(1,1795822159961162576,1795822162960736867,'/verdicts.slice','cpu.stat',NULL,'usage_usec',25909945,29727594),
(1,1795822159961162576,1795822162960736867,'/verdicts.slice','cpu.stat',NULL,'user_usec',25714574,29499970),
(1,1795822159961162576,1795822162960736867,'/verdicts.slice','cpu.stat',NULL,'system_usec',195370,227623),
(1,1795822159961162576,1795822162960736867,'/verdicts.slice','cpu.stat',NULL,'nice_usec',25754370,29497736),
(1,1795822159961162576,1795822162960736867,'/','cpu.stat',NULL,'usage_usec',32332215686,32338166530),
(1,1795822159961162576,1795822162960736867,'/','cpu.stat',NULL,'user_usec',27466930512,27472417423),
(1,1795822159961162576,1795822162960736867,'/','cpu.stat',NULL,'system_usec',4865285173,4865749107),
(1,1795822159961162576,1795822162960736867,'/','cpu.stat',NULL,'nice_usec',10271540227,10277015138),
(1,1795822159961162576,1795822162960736867,'system','vmstat',NULL,'pgfault',565449568,565477126),
(1,1795822159961162576,1795822162960736867,'system','diskstats','vda','writes',2836728,2836852),
(1,1795822159961162576,1795822162960736867,'system','diskstats','vda','write_bytes',311320961024,311325110272),
(1,1795822159961162576,1795822162960736867,'system','diskstats','vda','write_ms',1831556,1832023),
(1,1795822159961162576,1795822162960736867,'system','diskstats','vda','busy_ms',561680,561696);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795822159959736975,'system','cpu',11919720734,0),
(1,1795822159959736975,'system','memory',40931911,11628604),
(1,1795822159959736975,'system','io',319754616,48675523),
(1,1795822159959736975,'/verdicts.slice/victim.service','cpu',370426,87554),
(1,1795822159959736975,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822159959736975,'/verdicts.slice/victim.service','io',0,0),
(1,1795822162960736867,'system','cpu',11922314258,0),
(1,1795822162960736867,'system','memory',40931911,11628604),
(1,1795822162960736867,'system','io',319761500,48675523),
(1,1795822162960736867,'/verdicts.slice/victim.service','cpu',743592,135352),
(1,1795822162960736867,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822162960736867,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',42,'frame');

-- situation: lock-mutex-short: twelve threads and one mutex, on demand
-- kind: lock
-- lock: 30535 ms, CPU: 1938 ms
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795822164477885522,1795822170713715134,'0.1.0',13,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795822166896313098,1795822166896313098,1795822169896313098,0,'complete',47,0,152,158,1,81,1606,1435,0,'root','--comm locker --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,7851,17852509721258,'locker','locker',0,'/verdicts.slice/victim.service','victim.service','native'),
(3,1,6157,17814209981341,'three_hot','three_hot',0,'/bourdon-baseline-2G8TGe-6064',NULL,'native'),
(4,1,6159,17814261085466,'bourdond','bourdond',65534,'/',NULL,'native'),
(5,1,6929,17833627298393,'unit','unit',0,'/',NULL,NULL),
(6,1,7716,17852128860414,'cc1','cc1',0,'/',NULL,'native'),
(7,1,7869,17852536184573,'bourdond',NULL,65534,'/',NULL,NULL),
(8,1,7959,17853690026478,'cc1','cc1',0,'/',NULL,'native'),
(11,1,8005,17855009707178,'bourdon-load','bourdon-load',0,'/',NULL,'native'),
(13,1,8008,17855118989823,'r_unit',NULL,0,'/',NULL,NULL),
(14,1,8006,17855030558528,'sqlite3',NULL,0,'/',NULL,NULL),
(15,1,6064,17813412683714,'bash',NULL,0,'/',NULL,NULL),
(17,1,21561,14365028987638,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(20,1,8011,17855948052120,'bourdond',NULL,65534,'/',NULL,NULL),
(22,1,7867,17852531985542,'bash',NULL,0,'/',NULL,NULL),
(24,1,8013,17856166647902,'r_unit',NULL,0,'/',NULL,NULL),
(27,1,8017,17856322803380,'cc1','cc1',0,'/',NULL,'native'),
(29,1,8019,17856398903265,'bash',NULL,0,'/',NULL,NULL),
(37,1,8023,17857364894509,'r_unit',NULL,0,'/',NULL,NULL),
(41,1,8025,17857726735529,'sqlite3',NULL,0,'/',NULL,NULL),
(43,1,15,99314954,'rcu_preempt',NULL,0,NULL,NULL,NULL),
(97,1,21745,14365338061922,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(109,1,8026,17857993094597,'r_unit',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,43,'kernel',1795822166896279701,1795822169897608040,10795809,96933101,0,0,0,0,0,0,0,234,0,0,0,0,0),
(1,15,'other',1795822166896279701,1795822169897608040,7849250,883511083,0,0,0,0,342,0,0,7,5,4386816,4386816,0,0),
(1,3,'other',1795822166896279701,1795822169897608040,427463202,2612699433,0,0,0,0,0,0,0,0,155,1425408,1425408,0,0),
(1,4,'other',1795822166896279701,1795822169897608040,45228636,2243834743,0,0,0,0,138,0,417792,86,49,14934016,14622720,0,0),
(1,5,'other',1795822166896279701,1795822169897608040,440583715,2560585018,0,0,0,0,0,0,909312,2,141,8683520,8683520,0,0),
(1,6,'other',1795822166896279701,1795822169897608040,62726778,787973492,0,0,0,0,161,0,221184,1,24,40923136,40792064,0,0),
(1,17,'other',1795822166896279701,1795822169897608040,5295779,38403402,0,0,0,0,0,0,0,59,0,1179648,1179648,0,0),
(1,1,'target',1795822166896279701,1795822169897608040,3532042488,1652012707,1547395043,0,0,0,0,0,0,524,827,1622016,1622016,0,0),
(1,22,'other',1795822166896279701,1795822169897608040,26986817,48349323,0,0,0,0,0,0,4096,29,3,3518464,3518464,0,0),
(1,7,'other',1795822166896279701,1795822169897608040,35496115,60241888,0,0,0,0,3,0,53248,181,26,16035840,16035840,0,0),
(1,97,'other',1795822166896279701,1795822169897608040,6595236,5356511,0,0,0,0,0,0,0,60,0,1097728,1097728,0,0),
(1,8,'other',1795822166896279701,1795822169897608040,269939322,2741362937,0,0,0,0,1204,0,28672,0,87,46366720,41123840,0,0),
(1,11,'other',1795822166896279701,1795822169897608040,244645414,2508900453,0,0,0,0,3355,0,0,0,63,16007168,13946880,0,0),
(1,14,'other',1795822166896279701,1795822169897608040,6298859,799463228,0,0,0,0,291,0,0,0,3,4055040,1417216,0,0),
(1,13,'other',1795822166896279701,1795822169897608040,75792717,465902088,0,0,0,0,652,0,413696,1,26,4218880,0,0,0),
(1,20,'other',1795822166896279701,1795822169897608040,140753229,1417482667,0,0,0,0,3860,0,0,13,55,4345856,0,0,0),
(1,24,'other',1795822166896279701,1795822169897608040,84610443,641212212,0,0,0,0,644,0,458752,1,29,4218880,0,0,0),
(1,27,'other',1795822166896279701,1795822169897608040,175534610,1493091065,0,0,0,0,3962,0,0,0,58,39841792,0,0,0),
(1,29,'other',1795822166896279701,1795822169897608040,6939592,722577346,0,0,0,0,294,0,0,0,3,1417216,0,0,0),
(1,37,'other',1795822166896279701,1795822169897608040,90719264,536616055,0,0,0,0,617,0,450560,1,35,4349952,0,0,0),
(1,41,'other',1795822166896279701,1795822169897608040,5969330,99203076,0,0,0,0,267,0,0,0,4,4509696,0,0,0),
(1,109,'other',1795822166896279701,1795822169897608040,5248796,37088001,0,0,0,0,241,0,28672,0,2,3825664,0,0,0),
(1,NULL,'rest',1795822166896279701,1795822169897608040,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795822166896279701,1795822169897608040,37773002,1324200522,0,0,0,0,791,0,0,284,3,202645504,191160320,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','r_unit','r_unit',7083,'/',0,2,188983745,730414937,0,0,864256,0,0),
(1,'other','as','gcc',7715,'/',0,1,18052703,281745342,0,0,77824,0,0),
(1,'other','sleep','bash',6064,'/',0,2,5329352,175763163,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,2,2491492,28576097,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795822166896279701,1795822169897608040,0,0.0),
(1,'guest',1795822166896279701,1795822169897608040,0,0.0),
(1,'idle',1795822166896279701,1795822169897608040,20000000,0.33),
(1,'irq',1795822166896279701,1795822169897608040,0,0.0),
(1,'kernel threads',1795822166896279701,1795822169897608040,15252819,0.25),
(1,'others',1795822166896279701,1795822169897608040,2197993096,36.62),
(1,'short-lived',1795822166896279701,1795822169897608040,214857292,3.58),
(1,'softirq',1795822166896279701,1795822169897608040,0,0.0),
(1,'steal',1795822166896279701,1795822169897608040,10000000,0.17),
(1,'targets',1795822166896279701,1795822169897608040,3532042488,58.84),
(1,'unaccounted',1795822166896279701,1795822169897608040,12510983,0.21);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795822166896279701,1795822169897608040,0,598016),
(1,'kernel threads',1795822166896279701,1795822169897608040,0,0),
(1,'others',1795822166896279701,1795822169897608040,0,2985984),
(1,'short-lived',1795822166896279701,1795822169897608040,0,942080),
(1,'targets',1795822166896279701,1795822169897608040,0,0),
(1,'unaccounted',1795822166896279701,1795822169897608040,0,-3330048);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'locker in victim.service','lock',13,30504602225),
(1,'locker in victim.service','queued',13,1653024072),
(1,'locker in victim.service','ran',13,3532100393),
(1,'locker in victim.service','rest',13,9151192),
(1,'locker in victim.service','sleep',13,3315643710);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text,then_account) VALUES
(1,'locker in victim.service','queued','own','locker','victim.service','/verdicts.slice/victim.service',7851,1,1467809974,NULL,NULL),
(1,'locker in victim.service','queued','recorder','bourdond',NULL,'/',NULL,6,30349910,NULL,NULL),
(1,'locker in victim.service','queued','other','cc1',NULL,'/',NULL,3,22565841,NULL,NULL),
(1,'locker in victim.service','queued','other','r_unit',NULL,'/',NULL,8,22404284,NULL,NULL),
(1,'locker in victim.service','queued','other','bash',NULL,'/',NULL,39,21861446,NULL,NULL),
(1,'locker in victim.service','queued','other','unit',NULL,'/',NULL,3,17962831,NULL,NULL),
(1,'locker in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,15142786,NULL,NULL),
(1,'locker in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,12950422,NULL,NULL),
(1,'locker in victim.service','queued','other','three_hot',NULL,'/bourdon-baseline-2G8TGe-6064',6157,1,11601768,NULL,NULL),
(1,'locker in victim.service','queued','other','bourdon-load',NULL,'/',8005,1,8177844,NULL,NULL),
(1,'locker in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,7190878,NULL,NULL),
(1,'locker in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,4869916,NULL,NULL),
(1,'locker in victim.service','queued','other','bourdond',NULL,'/',NULL,6,3958022,NULL,NULL),
(1,'locker in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,3026162,NULL,NULL),
(1,'locker in victim.service','queued','kernel','kworker',NULL,NULL,NULL,5,2325834,NULL,NULL),
(1,'locker in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,796990,NULL,NULL),
(1,'locker in victim.service','queued','nobody',NULL,NULL,NULL,NULL,NULL,29164,NULL,NULL),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',7851,1,25045318924,'hold_lock','ran'),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',7851,1,5459283301,'hold_lock','queued');
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795822166896279701,1795822169897608040,2528,42255640,0.7),
(1,'softirq',9,'RCU',1795822166896279701,1795822169897608040,667,5144418,0.09),
(1,'softirq',7,'SCHED',1795822166896279701,1795822169897608040,156,3897524,0.06),
(1,'softirq',1,'TIMER',1795822166896279701,1795822169897608040,231,1676925,0.03),
(1,'softirq',4,'BLOCK',1795822166896279701,1795822169897608040,17,330114,0.01),
(1,'irq',36,'virtio1-req.0',1795822166896279701,1795822169897608040,17,139645,0.0),
(1,'irq',41,'virtio3-rx',1795822166896279701,1795822169897608040,3,38482,0.0),
(1,'irq',42,'virtio3-tx',1795822166896279701,1795822169897608040,2,26841,0.0),
(1,'irq',31,'virtio0-stats',1795822166896279701,1795822169897608040,1,12431,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795822166899263996,1795822169897777939,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',2805558,6333692),
(1,1795822166899263996,1795822169897777939,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',2789415,6264350),
(1,1795822166899263996,1795822169897777939,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',16142,69342),
(1,1795822166899263996,1795822169897777939,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',2772643,6143086),
(1,1795822166899263996,1795822169897777939,'/verdicts.slice','cpu.stat',NULL,'usage_usec',33418951,36947085),
(1,1795822166899263996,1795822169897777939,'/verdicts.slice','cpu.stat',NULL,'user_usec',33171401,36646672),
(1,1795822166899263996,1795822169897777939,'/verdicts.slice','cpu.stat',NULL,'system_usec',247549,300412),
(1,1795822166899263996,1795822169897777939,'/verdicts.slice','cpu.stat',NULL,'nice_usec',33166174,36536618),
(1,1795822166899263996,1795822169897777939,'/','cpu.stat',NULL,'usage_usec',32346003330,32351936619),
(1,1795822166899263996,1795822169897777939,'/','cpu.stat',NULL,'user_usec',27479466622,27484937824),
(1,1795822166899263996,1795822169897777939,'/','cpu.stat',NULL,'system_usec',4866536707,4866998795),
(1,1795822166899263996,1795822169897777939,'/','cpu.stat',NULL,'nice_usec',10283597279,10289040777),
(1,1795822166899263996,1795822169897777939,'system','vmstat',NULL,'pgfault',565584061,565603332),
(1,1795822166899263996,1795822169897777939,'system','diskstats','vda','writes',2836976,2836980),
(1,1795822166899263996,1795822169897777939,'system','diskstats','vda','write_bytes',311327571968,311328145408),
(1,1795822166899263996,1795822169897777939,'system','diskstats','vda','write_ms',1832042,1832045),
(1,1795822166899263996,1795822169897777939,'system','diskstats','vda','busy_ms',561724,561736);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795822166896313098,'system','cpu',11925754281,0),
(1,1795822166896313098,'system','memory',40931911,11628604),
(1,1795822166896313098,'system','io',319775734,48676815),
(1,1795822166896313098,'/verdicts.slice/victim.service','cpu',765816,76414),
(1,1795822166896313098,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822166896313098,'/verdicts.slice/victim.service','io',0,0),
(1,1795822169897777939,'system','cpu',11928274671,0),
(1,1795822169897777939,'system','memory',40931911,11628604),
(1,1795822169897777939,'system','io',319781072,48676815),
(1,1795822169897777939,'/verdicts.slice/victim.service','cpu',1490832,150697),
(1,1795822169897777939,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822169897777939,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',99,'frame');

-- situation: lock-rust: a mutex of Rust, on demand
-- kind: lock
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795822288195900671,1795822295822788288,'0.1.0',13,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795822291123422650,1795822291123422650,1795822294123422650,0,'complete',47,0,126,128,1,88,1231,1092,0,'root','--comm rustlocks --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,12738,17949177904181,'bash',NULL,0,'/',NULL,NULL),
(2,1,13137,17954311694656,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(3,1,13142,17955344829509,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(4,1,13146,17957209284720,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(5,1,13419,17960018639358,'cpu12738','cpu12738',0,'/bourdon-culprits-alone-12738/victim',NULL,'native'),
(6,1,13486,17966110688514,'bash',NULL,0,'/',NULL,NULL),
(7,1,13504,17966257824117,'cc1',NULL,0,'/',NULL,NULL),
(9,1,13819,17974962671018,'cc1',NULL,0,'/',NULL,NULL),
(10,1,13882,17975177194799,'cc1',NULL,0,'/',NULL,NULL),
(11,1,13950,17975478335717,'cc1',NULL,0,'/',NULL,NULL),
(12,1,13974,17975846727800,'rustlocks','rustlocks',0,'/verdicts.slice/victim.service','victim.service','native'),
(13,1,14079,17978057780470,'cc1',NULL,0,'/',NULL,NULL),
(14,1,14080,17978062471265,'unit',NULL,0,'/',NULL,NULL),
(15,1,14106,17978850331994,'bourdon-load',NULL,0,'/',NULL,NULL),
(16,1,13126,17954119149753,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(20,1,13988,17976098869947,'bourdond',NULL,65534,'/',NULL,NULL),
(24,1,13983,17975943616435,'bash',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,1,'other',1795822291123392797,1795822294124625040,6314326,1878578525,0,0,0,0,328,0,0,5,3,4718592,4718592,0,0),
(1,16,'other',1795822291123392797,1795822294124625040,570446873,2429545729,0,0,0,0,0,0,0,0,161,1384448,1384448,0,0),
(1,2,'other',1795822291123392797,1795822294124625040,573494279,2422496670,0,0,0,0,0,0,0,0,163,1392640,1392640,0,0),
(1,3,'other',1795822291123392797,1795822294124625040,570116897,2425551334,0,0,0,0,0,0,0,0,157,1327104,1327104,0,0),
(1,4,'other',1795822291123392797,1795822294124625040,570922888,2442021797,0,0,0,0,0,0,0,0,160,1282048,1282048,0,0),
(1,5,'other',1795822291123392797,1795822294124625040,569701527,2426306968,0,0,0,0,0,0,0,0,156,1286144,1286144,0,0),
(1,6,'other',1795822291123392797,1795822294124625040,5708829,1192157508,0,0,0,0,0,0,0,0,2,3538944,3538944,0,0),
(1,7,'other',1795822291123392797,1795822294124625040,13226178,1902681076,0,0,0,0,252,0,0,0,7,35205120,30879744,0,0),
(1,9,'other',1795822291123392797,1795822294124625040,8730877,1106685150,0,0,0,0,310,0,0,0,3,26202112,24498176,0,0),
(1,10,'other',1795822291123392797,1795822294124625040,5690245,1102184910,0,0,0,0,92,0,0,0,2,24371200,23977984,0,0),
(1,11,'other',1795822291123392797,1795822294124625040,8368693,2641468687,0,0,0,0,319,0,0,0,3,24518656,23846912,0,0),
(1,12,'target',1795822291123392797,1795822294124625040,2938263600,1974223665,1972301363,0,0,0,0,0,0,291,801,2080768,2080768,0,0),
(1,24,'other',1795822291123392797,1795822294124625040,42870476,110845147,0,0,0,0,0,0,8192,28,3,3555328,3555328,0,0),
(1,20,'other',1795822291123392797,1795822294124625040,23585895,294350542,0,0,0,0,124,0,20480,166,13,14282752,13889536,0,0),
(1,13,'other',1795822291123392797,1795822294124625040,8695192,1115241752,0,0,0,0,213,0,0,0,4,22118400,21331968,0,0),
(1,14,'other',1795822291123392797,1795822294124625040,23241561,2530647995,0,0,0,0,366,0,0,0,9,7618560,7323648,0,0),
(1,15,'other',1795822291123392797,1795822294124625040,25684082,1875087259,0,0,0,0,2936,0,0,0,12,15687680,15462400,0,0),
(1,NULL,'rest',1795822291123392797,1795822294124625040,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795822291123392797,1795822294124625040,29585188,7035055834,0,0,0,0,866,0,118784,401,11,231620608,216264704,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795822291123392797,1795822294124625040,0,0.0),
(1,'guest',1795822291123392797,1795822294124625040,0,0.0),
(1,'idle',1795822291123392797,1795822294124625040,0,0.0),
(1,'irq',1795822291123392797,1795822294124625040,0,0.0),
(1,'kernel threads',1795822291123392797,1795822294124625040,3520454,0.06),
(1,'others',1795822291123392797,1795822294124625040,3052863552,50.86),
(1,'short-lived',1795822291123392797,1795822294124625040,0,0.0),
(1,'softirq',1795822291123392797,1795822294124625040,0,0.0),
(1,'steal',1795822291123392797,1795822294124625040,0,0.0),
(1,'targets',1795822291123392797,1795822294124625040,2938263600,48.95),
(1,'unaccounted',1795822291123392797,1795822294124625040,7816880,0.13);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795822291123392797,1795822294124625040,0,835584),
(1,'kernel threads',1795822291123392797,1795822294124625040,0,118784),
(1,'others',1795822291123392797,1795822294124625040,0,28672),
(1,'short-lived',1795822291123392797,1795822294124625040,0,0),
(1,'targets',1795822291123392797,1795822294124625040,0,0),
(1,'unaccounted',1795822291123392797,1795822294124625040,0,688128);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'rustlocks in victim.service','lock',5,7121586267),
(1,'rustlocks in victim.service','queued',5,1974359003),
(1,'rustlocks in victim.service','ran',5,2922723759),
(1,'rustlocks in victim.service','rest',5,3503544),
(1,'rustlocks in victim.service','sleep',5,2979537856);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text,then_account) VALUES
(1,'rustlocks in victim.service','queued','own','rustlocks','victim.service','/verdicts.slice/victim.service',13974,1,1673518247,NULL,NULL),
(1,'rustlocks in victim.service','queued','other','wcpu12738',NULL,'/bourdon-culprits-alone-12738/other',NULL,4,148132908,NULL,NULL),
(1,'rustlocks in victim.service','queued','other','cpu12738',NULL,'/bourdon-culprits-alone-12738/victim',13419,1,45468460,NULL,NULL),
(1,'rustlocks in victim.service','queued','other','bash',NULL,'/',NULL,41,42833448,NULL,NULL),
(1,'rustlocks in victim.service','queued','recorder','bourdond',NULL,'/',NULL,4,15699035,NULL,NULL),
(1,'rustlocks in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,14264551,NULL,NULL),
(1,'rustlocks in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,12298929,NULL,NULL),
(1,'rustlocks in victim.service','queued','other','date',NULL,'/',NULL,NULL,6312137,NULL,NULL),
(1,'rustlocks in victim.service','queued','other','cc1',NULL,'/',NULL,5,4113731,NULL,NULL),
(1,'rustlocks in victim.service','queued','other','sleep',NULL,'/',NULL,2,3719105,NULL,NULL),
(1,'rustlocks in victim.service','queued','kernel','kworker',NULL,NULL,NULL,5,3081898,NULL,NULL),
(1,'rustlocks in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,1815554,NULL,NULL),
(1,'rustlocks in victim.service','queued','recorder',NULL,NULL,NULL,NULL,NULL,1316212,NULL,NULL),
(1,'rustlocks in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,1297420,NULL,NULL),
(1,'rustlocks in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,487368,NULL,NULL),
(1,'rustlocks in victim.service','lock','own','rustlocks','victim.service','/verdicts.slice/victim.service',13974,1,6623465972,'locks::contend','ran'),
(1,'rustlocks in victim.service','lock','own','rustlocks','victim.service','/verdicts.slice/victim.service',13974,1,498120295,'locks::contend','queued');
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795822291123392797,1795822294124625040,2613,33378133,0.56),
(1,'softirq',7,'SCHED',1795822291123392797,1795822294124625040,110,2302333,0.04),
(1,'softirq',1,'TIMER',1795822291123392797,1795822294124625040,92,763629,0.01),
(1,'softirq',9,'RCU',1795822291123392797,1795822294124625040,106,739441,0.01),
(1,'softirq',4,'BLOCK',1795822291123392797,1795822294124625040,5,56163,0.0),
(1,'irq',36,'virtio1-req.0',1795822291123392797,1795822294124625040,5,15592,0.0),
(1,'irq',31,'virtio0-stats',1795822291123392797,1795822294124625040,1,10161,0.0);
INSERT INTO killed(capture_id,at,how,role,comm,tgid,cgroup,rss_bytes,by_comm,by_tgid,by_cgroup,processes) VALUES
(1,1795822293913139445,'signal','other','unit',14080,'/',7618560,'unit',12546,'/',1);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795822291124422760,1795822294124730674,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',3101260,6039523),
(1,1795822291124422760,1795822294124730674,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',3085265,6015645),
(1,1795822291124422760,1795822294124730674,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',15994,23878),
(1,1795822291124422760,1795822294124730674,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',3087636,6046209),
(1,1795822291124422760,1795822294124730674,'/verdicts.slice','cpu.stat',NULL,'usage_usec',39572220,42510484),
(1,1795822291124422760,1795822294124730674,'/verdicts.slice','cpu.stat',NULL,'user_usec',39298094,42228557),
(1,1795822291124422760,1795822294124730674,'/verdicts.slice','cpu.stat',NULL,'system_usec',274126,281927),
(1,1795822291124422760,1795822294124730674,'/verdicts.slice','cpu.stat',NULL,'nice_usec',39259147,42217720),
(1,1795822291124422760,1795822294124730674,'/','cpu.stat',NULL,'usage_usec',32593839968,32599834208),
(1,1795822291124422760,1795822294124730674,'/','cpu.stat',NULL,'user_usec',27694614244,27700544483),
(1,1795822291124422760,1795822294124730674,'/','cpu.stat',NULL,'system_usec',4899225724,4899289724),
(1,1795822291124422760,1795822294124730674,'/','cpu.stat',NULL,'nice_usec',10487490070,10493392309),
(1,1795822291124422760,1795822294124730674,'system','vmstat',NULL,'pgfault',568431305,568437100),
(1,1795822291124422760,1795822294124730674,'system','diskstats','vda','writes',2839555,2839568),
(1,1795822291124422760,1795822294124730674,'system','diskstats','vda','write_bytes',311543848960,311544684544),
(1,1795822291124422760,1795822294124730674,'system','diskstats','vda','write_ms',1836075,1836086);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795822291123422650,'system','cpu',12033534304,0),
(1,1795822291123422650,'system','memory',40931911,11628604),
(1,1795822291123422650,'system','io',320234771,48682285),
(1,1795822291123422650,'/verdicts.slice/victim.service','cpu',1063810,455960),
(1,1795822291123422650,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822291123422650,'/verdicts.slice/victim.service','io',0,0),
(1,1795822294124730674,'system','cpu',12036135548,0),
(1,1795822294124730674,'system','memory',40931911,11628604),
(1,1795822294124730674,'system','io',320235401,48682285),
(1,1795822294124730674,'/verdicts.slice/victim.service','cpu',2790230,539102),
(1,1795822294124730674,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822294124730674,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',25,'frame');

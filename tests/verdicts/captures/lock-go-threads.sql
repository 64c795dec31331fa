-- situation: lock-go-threads: a mutex of Go of goroutines with threads of their own, on demand
-- kind: lock
-- lock: 6272 ms, CPU: 2747 ms
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795822279197570203,1795822286706491422,'0.1.0',13,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795822282111710361,1795822282111710361,1795822285111710361,0,'complete',47,0,128,127,1,43,3544,3404,0,'root','--comm gothreads --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(3,1,13126,17954119149753,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(4,1,13137,17954311694656,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(5,1,13142,17955344829509,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(6,1,13146,17957209284720,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(7,1,13166,17957882616116,'make',NULL,0,'/',NULL,NULL),
(8,1,13419,17960018639358,'cpu12738','cpu12738',0,'/bourdon-culprits-alone-12738/victim',NULL,'native'),
(9,1,13477,17965814490068,'cc1',NULL,0,'/',NULL,NULL),
(10,1,13486,17966110688514,'bash',NULL,0,'/',NULL,NULL),
(11,1,13504,17966257824117,'cc1',NULL,0,'/',NULL,NULL),
(13,1,13673,17966846756904,'gothreads','gothreads',0,'/verdicts.slice/victim.service','victim.service','go'),
(14,1,13690,17967056744425,'bourdond',NULL,65534,'/',NULL,NULL),
(18,1,13778,17970920963376,'unit',NULL,0,'/',NULL,NULL),
(19,1,13678,17966868766800,'bash',NULL,0,'/',NULL,NULL),
(95,1,13490,17966203969598,'unit',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,3,'other',1795822282111680552,1795822285115892118,578422967,2421474160,0,0,0,0,0,0,0,0,161,1384448,1384448,0,0),
(1,4,'other',1795822282111680552,1795822285115892118,578516188,2421059608,0,0,0,0,0,0,0,0,168,1392640,1392640,0,0),
(1,5,'other',1795822282111680552,1795822285115892118,577295362,2422458238,0,0,0,0,0,0,0,0,167,1327104,1327104,0,0),
(1,6,'other',1795822282111680552,1795822285115892118,580596253,2438739685,0,0,0,0,0,0,0,0,176,1282048,1282048,0,0),
(1,7,'other',1795822282111680552,1795822285115892118,7185892,2781122715,0,0,0,0,24,0,0,0,2,5103616,4972544,0,0),
(1,8,'other',1795822282111680552,1795822285115892118,578743314,2418095473,0,0,0,0,0,0,0,0,171,1286144,1286144,0,0),
(1,9,'other',1795822282111680552,1795822285115892118,6008864,4825903846,0,0,0,0,272,0,0,0,2,23703552,22654976,0,0),
(1,10,'other',1795822282111680552,1795822285115892118,11551088,3119423078,0,0,0,0,0,0,4096,2,6,3538944,3538944,0,0),
(1,11,'other',1795822282111680552,1795822285115892118,7070058,4808880183,0,0,0,0,185,0,0,0,2,22810624,22024192,0,0),
(1,13,'target',1795822282111680552,1795822285115892118,2982004235,1973375940,1972227584,0,0,0,1,0,0,1781,1719,1142784,1142784,0,0),
(1,19,'other',1795822282111680552,1795822285115892118,33544666,98849832,0,0,0,0,0,0,8192,29,3,3555328,3555328,0,0),
(1,14,'other',1795822282111680552,1795822285115892118,28989502,321921620,0,0,0,0,123,0,20480,164,14,14057472,13533184,0,0),
(1,95,'other',1795822282111680552,1795822285115892118,52246284,3992306780,0,0,0,0,1113,0,344064,1,21,0,0,0,0),
(1,18,'other',1795822282111680552,1795822285115892118,9666720,1935962682,0,0,0,0,201,0,32768,0,3,4128768,0,0,0),
(1,NULL,'rest',1795822282111680552,1795822285115892118,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795822282111680552,1795822285115892118,19219049,7591094881,0,0,0,0,228,0,16384,382,2,205623296,205320192,0,0);
INSERT INTO ended(capture_id,role,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'rest',0,1,1902549,519080980,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795822282111680552,1795822285115892118,0,0.0),
(1,'guest',1795822282111680552,1795822285115892118,0,0.0),
(1,'idle',1795822282111680552,1795822285115892118,0,0.0),
(1,'irq',1795822282111680552,1795822285115892118,0,0.0),
(1,'kernel threads',1795822282111680552,1795822285115892118,3820461,0.06),
(1,'others',1795822282111680552,1795822285115892118,3065235746,51.02),
(1,'short-lived',1795822282111680552,1795822285115892118,1902549,0.03),
(1,'softirq',1795822282111680552,1795822285115892118,0,0.0),
(1,'steal',1795822282111680552,1795822285115892118,10000000,0.17),
(1,'targets',1795822282111680552,1795822285115892118,2982004235,49.63),
(1,'unaccounted',1795822282111680552,1795822285115892118,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795822282111680552,1795822285115892118,0,4628480),
(1,'kernel threads',1795822282111680552,1795822285115892118,0,12288),
(1,'others',1795822282111680552,1795822285115892118,0,413696),
(1,'short-lived',1795822282111680552,1795822285115892118,0,0),
(1,'targets',1795822282111680552,1795822285115892118,0,0),
(1,'unaccounted',1795822282111680552,1795822285115892118,0,4202496);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'gothreads in victim.service','lock',8,1408469162),
(1,'gothreads in victim.service','peer',8,11570758034),
(1,'gothreads in victim.service','queued',8,2036364173),
(1,'gothreads in victim.service','ran',8,2981709324),
(1,'gothreads in victim.service','rest',8,212941),
(1,'gothreads in victim.service','sleep',8,6018368168);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'gothreads in victim.service','queued','own','gothreads','victim.service','/verdicts.slice/victim.service',13673,1,1979567630),
(1,'gothreads in victim.service','queued','other','cc1',NULL,'/',NULL,2,13898121),
(1,'gothreads in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,12503689),
(1,'gothreads in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,12018880),
(1,'gothreads in victim.service','queued','other','unit',NULL,'/',NULL,4,6387498),
(1,'gothreads in victim.service','queued','other','bourdon-load',NULL,'/',13763,1,4972014),
(1,'gothreads in victim.service','queued','other','mount',NULL,'/',NULL,1,2909666),
(1,'gothreads in victim.service','queued','other','bash',NULL,'/',NULL,38,2041918),
(1,'gothreads in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,1371082),
(1,'gothreads in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,693675),
(1,'gothreads in victim.service','lock','own','gothreads','victim.service','/verdicts.slice/victim.service',13673,1,1408469162),
(1,'gothreads in victim.service','peer','own','gothreads','victim.service','/verdicts.slice/victim.service',13673,1,11570758034);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795822282111680552,1795822285115892118,3023,29800244,0.5),
(1,'softirq',7,'SCHED',1795822282111680552,1795822285115892118,98,1681738,0.03),
(1,'softirq',1,'TIMER',1795822282111680552,1795822285115892118,96,806445,0.01),
(1,'softirq',4,'BLOCK',1795822282111680552,1795822285115892118,15,746116,0.01),
(1,'softirq',9,'RCU',1795822282111680552,1795822285115892118,70,456855,0.01),
(1,'irq',36,'virtio1-req.0',1795822282111680552,1795822285115892118,15,80248,0.0),
(1,'irq',31,'virtio0-stats',1795822282111680552,1795822285115892118,1,8122,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795822282112914223,1795822285116161203,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',3291605,6273609),
(1,1795822282112914223,1795822285116161203,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',3267579,6217751),
(1,1795822282112914223,1795822285116161203,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',24025,55857),
(1,1795822282112914223,1795822285116161203,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',3278657,6233563),
(1,1795822282112914223,1795822285116161203,'/verdicts.slice','cpu.stat',NULL,'usage_usec',31981732,34963736),
(1,1795822282112914223,1795822285116161203,'/verdicts.slice','cpu.stat',NULL,'user_usec',31767563,34717586),
(1,1795822282112914223,1795822285116161203,'/verdicts.slice','cpu.stat',NULL,'system_usec',214168,246150),
(1,1795822282112914223,1795822285116161203,'/verdicts.slice','cpu.stat',NULL,'nice_usec',31721005,34675911),
(1,1795822282112914223,1795822285116161203,'/','cpu.stat',NULL,'usage_usec',32575831476,32581833847),
(1,1795822282112914223,1795822285116161203,'/','cpu.stat',NULL,'user_usec',27677281752,27683232123),
(1,1795822282112914223,1795822285116161203,'/','cpu.stat',NULL,'system_usec',4898549724,4898601724),
(1,1795822282112914223,1795822285116161203,'/','cpu.stat',NULL,'nice_usec',10470829522,10476751893),
(1,1795822282112914223,1795822285116161203,'system','vmstat',NULL,'pgfault',568326001,568327175),
(1,1795822282112914223,1795822285116161203,'system','diskstats','vda','writes',2839191,2839399),
(1,1795822282112914223,1795822285116161203,'system','diskstats','vda','write_bytes',311533424640,311538053120),
(1,1795822282112914223,1795822285116161203,'system','diskstats','vda','write_ms',1835719,1836022),
(1,1795822282112914223,1795822285116161203,'system','diskstats','vda','busy_ms',562460,562472);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795822282111710361,'system','cpu',12024790923,0),
(1,1795822282111710361,'system','memory',40931911,11628604),
(1,1795822282111710361,'system','io',320207533,48682285),
(1,1795822282111710361,'/verdicts.slice/victim.service','cpu',1818219,90322),
(1,1795822282111710361,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822282111710361,'/verdicts.slice/victim.service','io',0,0),
(1,1795822285116161203,'system','cpu',12027607645,0),
(1,1795822285116161203,'system','memory',40931911,11628604),
(1,1795822285116161203,'system','io',320215031,48682285),
(1,1795822285116161203,'/verdicts.slice/victim.service','cpu',3409396,110632),
(1,1795822285116161203,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822285116161203,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',12,'frame'),
(1,'offcpu-over-budget',5,'interval');

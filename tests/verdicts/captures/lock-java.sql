-- situation: lock-java: a monitor of Java, on demand
-- kind: lock
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795822263524916716,1795822270146239845,'0.1.0',13,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795822266141438066,1795822266141438066,1795822269141438066,0,'complete',47,0,143,154,1,90,926,757,0,'root','--comm java --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,12738,17949177904181,'bash',NULL,0,'/',NULL,NULL),
(2,1,12894,17950826185351,'java','java',0,'/verdicts.slice/victim.service','victim.service','jvm'),
(3,1,12980,17951602461641,'bourdon-load','bourdon-load',0,'/',NULL,'native'),
(4,1,12974,17951524577561,'bourdond',NULL,65534,'/',NULL,NULL),
(5,1,13025,17952045781381,'cc1','cc1',0,'/',NULL,'native'),
(6,1,13114,17953641569870,'cc1',NULL,0,'/',NULL,NULL),
(8,1,13136,17954256520854,'unit',NULL,0,'/',NULL,NULL),
(9,1,13126,17954119149753,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(11,1,12967,17951409948450,'bash',NULL,0,'/',NULL,NULL),
(13,1,21695,14365289490317,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(14,1,13137,17954311694656,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(15,1,13141,17955340447465,'unit',NULL,0,'/',NULL,NULL),
(20,1,13145,17956558211147,'unit',NULL,0,'/',NULL,NULL),
(22,1,13142,17955344829509,'wcpu12738',NULL,0,'/bourdon-culprits-alone-12738/other',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,13,'other',1795822266141410314,1795822269142556914,5025518,29159392,0,0,0,0,0,0,0,60,0,1011712,1011712,0,0),
(1,1,'other',1795822266141410314,1795822269142556914,13455690,260026695,0,0,0,0,253,0,0,3,3,4325376,4325376,0,0),
(1,2,'target',1795822266141410314,1795822269142556914,3357884563,1363995681,1350642188,0,0,0,1,0,0,231,588,39784448,39784448,0,0),
(1,11,'other',1795822266141410314,1795822269142556914,127530147,156372125,0,0,0,0,0,0,28672,28,22,3563520,3563520,0,0),
(1,4,'other',1795822266141410314,1795822269142556914,29146758,255796385,0,0,0,0,7,0,20480,187,21,16072704,15941632,0,0),
(1,3,'other',1795822266141410314,1795822269142556914,177831279,2813356905,0,0,0,0,1010,0,0,0,51,9302016,15958016,0,0),
(1,5,'other',1795822266141410314,1795822269142556914,111806355,2855704276,0,0,0,0,781,0,12288,0,33,43057152,39649280,0,0),
(1,6,'other',1795822266141410314,1795822269142556914,96687029,2890635861,0,0,0,0,998,0,8192,0,29,38522880,28311552,0,0),
(1,9,'other',1795822266141410314,1795822269142556914,1098232443,1902672211,0,0,0,0,0,0,0,0,272,1384448,1384448,0,0),
(1,8,'other',1795822266141410314,1795822269142556914,103730306,954456475,0,0,0,0,1672,0,311296,1,26,7372800,4251648,0,0),
(1,14,'other',1795822266141410314,1795822269142556914,696429159,2256203209,0,0,0,0,419,0,0,3,213,1392640,0,0,0),
(1,15,'other',1795822266141410314,1795822269142556914,87259184,1129434608,0,0,0,0,1902,0,344064,1,27,7503872,0,0,0),
(1,22,'other',1795822266141410314,1795822269142556914,28723588,1849326144,0,0,0,0,432,0,0,3,11,1327104,0,0,0),
(1,20,'other',1795822266141410314,1795822269142556914,28842150,684831826,0,0,0,0,572,0,352256,0,9,7061504,0,0,0),
(1,NULL,'rest',1795822266141410314,1795822269142556914,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795822266141410314,1795822269142556914,24160957,348333481,0,0,0,0,519,0,12288,342,5,173854720,170586112,0,0);
INSERT INTO ended(capture_id,role,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'rest',0,7,9766501,237964352,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795822266141410314,1795822269142556914,0,0.0),
(1,'guest',1795822266141410314,1795822269142556914,0,0.0),
(1,'idle',1795822266141410314,1795822269142556914,10000000,0.17),
(1,'irq',1795822266141410314,1795822269142556914,0,0.0),
(1,'kernel threads',1795822266141410314,1795822269142556914,6568893,0.11),
(1,'others',1795822266141410314,1795822269142556914,2622291670,43.69),
(1,'short-lived',1795822266141410314,1795822269142556914,9766501,0.16),
(1,'softirq',1795822266141410314,1795822269142556914,0,0.0),
(1,'steal',1795822266141410314,1795822269142556914,10000000,0.17),
(1,'targets',1795822266141410314,1795822269142556914,3357884563,55.94),
(1,'unaccounted',1795822266141410314,1795822269142556914,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795822266141410314,1795822269142556914,0,450560),
(1,'kernel threads',1795822266141410314,1795822269142556914,0,12288),
(1,'others',1795822266141410314,1795822269142556914,0,1077248),
(1,'short-lived',1795822266141410314,1795822269142556914,0,0),
(1,'targets',1795822266141410314,1795822269142556914,0,0),
(1,'unaccounted',1795822266141410314,1795822269142556914,0,-638976);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'java in victim.service','lock',23,7195313878),
(1,'java in victim.service','peer',23,573985673),
(1,'java in victim.service','queued',23,1450191309),
(1,'java in victim.service','ran',23,3332564387),
(1,'java in victim.service','rest',23,13242221),
(1,'java in victim.service','sleep',23,56440414289);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text) VALUES
(1,'java in victim.service','queued','own','java','victim.service','/verdicts.slice/victim.service',12894,1,669521695,NULL),
(1,'java in victim.service','queued','other','wcpu12738',NULL,'/bourdon-culprits-alone-12738/other',NULL,3,517063558,NULL),
(1,'java in victim.service','queued','other','bash',NULL,'/',NULL,34,101393359,NULL),
(1,'java in victim.service','queued','other','bourdon-load',NULL,'/',12980,1,76542017,NULL),
(1,'java in victim.service','queued','recorder','bourdond',NULL,'/',NULL,3,21198020,NULL),
(1,'java in victim.service','queued','other','unit',NULL,'/',NULL,5,17182613,NULL),
(1,'java in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,11646069,NULL),
(1,'java in victim.service','queued','other','cc1',NULL,'/',NULL,2,10635588,NULL),
(1,'java in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,8994223,NULL),
(1,'java in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,4175875,NULL),
(1,'java in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,2565506,NULL),
(1,'java in victim.service','queued','recorder','bourdon',NULL,'/',13135,1,2335510,NULL),
(1,'java in victim.service','queued','other','taskset',NULL,'/',NULL,5,2067165,NULL),
(1,'java in victim.service','queued','kernel','kworker',NULL,NULL,NULL,4,1995000,NULL),
(1,'java in victim.service','queued','other','bash',NULL,'/bourdon-culprits-alone-12738/other',NULL,NULL,1818448,NULL),
(1,'java in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,756984,NULL),
(1,'java in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,299679,NULL),
(1,'java in victim.service','lock','own','java','victim.service','/verdicts.slice/victim.service',12894,1,7195313878,'futex_wake'),
(1,'java in victim.service','peer','own','java','victim.service','/verdicts.slice/victim.service',12894,1,573985673,NULL);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795822266141410314,1795822269142556914,2552,34718907,0.58),
(1,'softirq',7,'SCHED',1795822266141410314,1795822269142556914,128,2817549,0.05),
(1,'softirq',9,'RCU',1795822266141410314,1795822269142556914,336,2561228,0.04),
(1,'softirq',1,'TIMER',1795822266141410314,1795822269142556914,149,985212,0.02),
(1,'softirq',4,'BLOCK',1795822266141410314,1795822269142556914,6,80178,0.0),
(1,'irq',36,'virtio1-req.0',1795822266141410314,1795822269142556914,6,30451,0.0),
(1,'irq',31,'virtio0-stats',1795822266141410314,1795822269142556914,1,9216,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795822266147501841,1795822269142686723,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',3936556,7292180),
(1,1795822266147501841,1795822269142686723,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',3898228,7245563),
(1,1795822266147501841,1795822269142686723,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',38327,46617),
(1,1795822266147501841,1795822269142686723,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',3863564,7145658),
(1,1795822266147501841,1795822269142686723,'/verdicts.slice','cpu.stat',NULL,'usage_usec',17354495,20710120),
(1,1795822266147501841,1795822269142686723,'/verdicts.slice','cpu.stat',NULL,'user_usec',17204282,20551446),
(1,1795822266147501841,1795822269142686723,'/verdicts.slice','cpu.stat',NULL,'system_usec',150212,158673),
(1,1795822266147501841,1795822269142686723,'/verdicts.slice','cpu.stat',NULL,'nice_usec',17163288,20445382),
(1,1795822266147501841,1795822269142686723,'/','cpu.stat',NULL,'usage_usec',32543935513,32549916487),
(1,1795822266147501841,1795822269142686723,'/','cpu.stat',NULL,'user_usec',27646467803,27652168776),
(1,1795822266147501841,1795822269142686723,'/','cpu.stat',NULL,'system_usec',4897467710,4897747710),
(1,1795822266147501841,1795822269142686723,'/','cpu.stat',NULL,'nice_usec',10441019233,10446592207),
(1,1795822266147501841,1795822269142686723,'system','vmstat',NULL,'pgfault',568144953,568154080),
(1,1795822266147501841,1795822269142686723,'system','diskstats','vda','writes',2838917,2838922),
(1,1795822266147501841,1795822269142686723,'system','diskstats','vda','write_bytes',311523586048,311524036608),
(1,1795822266147501841,1795822269142686723,'system','diskstats','vda','write_ms',1835643,1835649),
(1,1795822266147501841,1795822269142686723,'system','diskstats','vda','busy_ms',562428,562432);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795822266141438066,'system','cpu',12010190875,0),
(1,1795822266141438066,'system','memory',40931911,11628604),
(1,1795822266141438066,'system','io',320159173,48681802),
(1,1795822266141438066,'/verdicts.slice/victim.service','cpu',985985,109710),
(1,1795822266141438066,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822266141438066,'/verdicts.slice/victim.service','io',0,0),
(1,1795822269142686723,'system','cpu',12012973944,0),
(1,1795822269142686723,'system','memory',40931911,11628604),
(1,1795822269142686723,'system','io',320161552,48681802),
(1,1795822269142686723,'/verdicts.slice/victim.service','cpu',1641771,394189),
(1,1795822269142686723,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822269142686723,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',66,'frame');

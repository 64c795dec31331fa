-- situation: lock-mutex-short: twelve threads and one mutex, on demand
-- kind: lock
-- lock: 29753 ms, CPU: 2949 ms
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795820883658104254,1795820890310667372,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795820886297480681,1795820886297480681,1795820889297480681,0,'complete',47,0,142,139,1,89,1695,1543,0,'root','--comm locker --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,23246,16571635080212,'locker','locker',0,'/verdicts.slice/victim.service','victim.service','native'),
(3,1,22957,16566605710084,'cc1','cc1',0,'/',NULL,'native'),
(4,1,23006,16569274112224,'cc1','cc1',0,'/',NULL,'native'),
(5,1,23024,16569930224970,'cc1','cc1',0,'/',NULL,'native'),
(6,1,23264,16571671962513,'bourdond',NULL,65534,'/',NULL,NULL),
(7,1,23324,16572457578385,'cc1','cc1',0,'/',NULL,'native'),
(8,1,23326,16572472570877,'cc1','cc1',0,'/',NULL,'native'),
(9,1,23338,16572790972473,'cc1','cc1',0,'/',NULL,'native'),
(10,1,23351,16573395993325,'cc1','cc1',0,'/',NULL,'native'),
(11,1,23380,16573894716341,'cc1','cc1',0,'/',NULL,'native'),
(12,1,23396,16574286044576,'bourdon-load','bourdon-load',0,'/',NULL,NULL),
(18,1,23408,16575254750721,'cc1','cc1',0,'/',NULL,'native'),
(22,1,23256,16571667924720,'bash',NULL,0,'/',NULL,NULL),
(28,1,23416,16576712299666,'as',NULL,0,'/',NULL,NULL),
(31,1,23421,16577297505146,'cc1','cc1',0,'/',NULL,'native'),
(41,1,1965,13930126505609,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(68,1,21561,14365028987638,'memfd:sealed-91',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,41,'other',1795820886297446238,1795820889298438872,5091998,10066242,0,0,0,0,0,0,0,60,0,1245184,1245184,0,0),
(1,68,'other',1795820886297446238,1795820889298438872,5685314,17194024,0,0,0,0,0,0,0,60,0,1200128,1200128,0,0),
(1,3,'other',1795820886297446238,1795820889298438872,238036593,2013982403,0,0,0,0,659,0,819200,1,59,58109952,56406016,0,0),
(1,4,'other',1795820886297446238,1795820889298438872,25998707,254875419,0,0,0,0,97,0,245760,1,5,49963008,49831936,0,0),
(1,5,'other',1795820886297446238,1795820889298438872,263057724,2808163394,0,0,0,0,1180,0,49152,0,52,55881728,45072384,0,0),
(1,1,'target',1795820886297446238,1795820889298438872,3303026669,2549696353,2336008969,0,0,0,0,0,0,504,919,1576960,1576960,0,0),
(1,22,'other',1795820886297446238,1795820889298438872,32513621,52755225,0,0,0,0,0,0,4096,29,3,3485696,3485696,0,0),
(1,6,'other',1795820886297446238,1795820889298438872,44027091,145461841,0,0,0,0,78,0,61440,229,50,14028800,13635584,0,0),
(1,7,'other',1795820886297446238,1795820889298438872,219424327,2743930251,0,0,0,0,1140,0,57344,0,57,44937216,35901440,0,0),
(1,8,'other',1795820886297446238,1795820889298438872,51051500,1063682258,0,0,0,0,304,0,221184,1,15,40255488,39862272,0,0),
(1,9,'other',1795820886297446238,1795820889298438872,177229785,2766090866,0,0,0,0,1181,0,49152,0,54,44929024,34119680,0,0),
(1,10,'other',1795820886297446238,1795820889298438872,403233403,2623525023,0,0,0,0,2866,0,176128,0,131,46718976,35889152,0,0),
(1,11,'other',1795820886297446238,1795820889298438872,247251622,2752011608,0,0,0,0,4093,0,20480,0,63,48418816,24055808,0,0),
(1,12,'other',1795820886297446238,1795820889298438872,429424967,2573606135,0,0,0,0,2833,0,0,0,119,15892480,10567680,0,0),
(1,18,'other',1795820886297446238,1795820889298438872,197792426,1978994200,0,0,0,0,4820,0,8192,0,57,42897408,0,0,0),
(1,28,'other',1795820886297446238,1795820889298438872,63158044,591955373,0,0,0,0,2223,0,430080,1,18,0,0,0,0),
(1,31,'other',1795820886297446238,1795820889298438872,59202948,90270819,0,0,0,0,2742,0,0,0,14,26619904,0,0,0),
(1,NULL,'rest',1795820886297446238,1795820889298438872,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795820886297446238,1795820889298438872,37063624,939234164,0,0,0,0,521,0,4096,483,12,202833920,189546496,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','cc1','gcc',NULL,'/',0,1,128312886,831863620,0,0,131072,0,0),
(1,'other','as','gcc',23005,'/',0,1,19686400,422149245,0,0,122880,0,0),
(1,'other','as','gcc',23325,'/',0,1,14438232,261981221,0,0,86016,0,0),
(1,'other','as','gcc',NULL,'/',0,1,7914044,128495312,0,0,57344,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,5,9849156,111348078,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795820886297446238,1795820889298438872,0,0.0),
(1,'guest',1795820886297446238,1795820889298438872,0,0.0),
(1,'idle',1795820886297446238,1795820889298438872,10000000,0.17),
(1,'irq',1795820886297446238,1795820889298438872,0,0.0),
(1,'kernel threads',1795820886297446238,1795820889298438872,5835255,0.1),
(1,'others',1795820886297446238,1795820889298438872,2493408439,41.54),
(1,'short-lived',1795820886297446238,1795820889298438872,180200718,3.0),
(1,'softirq',1795820886297446238,1795820889298438872,0,0.0),
(1,'steal',1795820886297446238,1795820889298438872,10000000,0.17),
(1,'targets',1795820886297446238,1795820889298438872,3303026669,55.03),
(1,'unaccounted',1795820886297446238,1795820889298438872,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795820886297446238,1795820889298438872,0,1744896),
(1,'kernel threads',1795820886297446238,1795820889298438872,0,0),
(1,'others',1795820886297446238,1795820889298438872,0,2146304),
(1,'short-lived',1795820886297446238,1795820889298438872,0,397312),
(1,'targets',1795820886297446238,1795820889298438872,0,0),
(1,'unaccounted',1795820886297446238,1795820889298438872,0,-798720);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'locker in victim.service','lock',13,29782184092),
(1,'locker in victim.service','queued',13,2553068333),
(1,'locker in victim.service','ran',13,3301593474),
(1,'locker in victim.service','rest',13,71053061),
(1,'locker in victim.service','sleep',13,3301023483);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text,then_account) VALUES
(1,'locker in victim.service','queued','own','locker','victim.service','/verdicts.slice/victim.service',23246,1,2222093785,NULL,NULL),
(1,'locker in victim.service','queued','other','cc1',NULL,'/',NULL,11,197202144,NULL,NULL),
(1,'locker in victim.service','queued','recorder','bourdond',NULL,'/',NULL,4,41002746,NULL,NULL),
(1,'locker in victim.service','queued','other','bash',NULL,'/',NULL,35,34752521,NULL,NULL),
(1,'locker in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,18929809,NULL,NULL),
(1,'locker in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,17425236,NULL,NULL),
(1,'locker in victim.service','queued','other','bourdon-load',NULL,'/',23396,1,11736460,NULL,NULL),
(1,'locker in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,2836258,NULL,NULL),
(1,'locker in victim.service','queued','kernel','kworker',NULL,NULL,NULL,5,2798582,NULL,NULL),
(1,'locker in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,2372964,NULL,NULL),
(1,'locker in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,1917828,NULL,NULL),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',23246,1,23604098539,'hold_lock','ran'),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',23246,1,6110395214,'hold_lock','queued'),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',23246,1,67690339,'hold_lock','rest');
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795820886297446238,1795820889298438872,2292,34855417,0.58),
(1,'softirq',7,'SCHED',1795820886297446238,1795820889298438872,152,3511842,0.06),
(1,'softirq',9,'RCU',1795820886297446238,1795820889298438872,382,3046111,0.05),
(1,'softirq',1,'TIMER',1795820886297446238,1795820889298438872,153,874824,0.01),
(1,'softirq',4,'BLOCK',1795820886297446238,1795820889298438872,19,346765,0.01),
(1,'irq',36,'virtio1-req.0',1795820886297446238,1795820889298438872,19,146253,0.0),
(1,'irq',31,'virtio0-stats',1795820886297446238,1795820889298438872,1,12467,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795820886303983722,1795820889298566767,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',3093700,6391335),
(1,1795820886303983722,1795820889298566767,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',3089554,6356268),
(1,1795820886303983722,1795820889298566767,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',4146,35066),
(1,1795820886303983722,1795820889298566767,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',3056785,6285861),
(1,1795820886303983722,1795820889298566767,'/verdicts.slice','cpu.stat',NULL,'usage_usec',47325252,50622887),
(1,1795820886303983722,1795820889298566767,'/verdicts.slice','cpu.stat',NULL,'user_usec',47144020,50410880),
(1,1795820886303983722,1795820889298566767,'/verdicts.slice','cpu.stat',NULL,'system_usec',181231,212006),
(1,1795820886303983722,1795820889298566767,'/verdicts.slice','cpu.stat',NULL,'nice_usec',47314880,50543957),
(1,1795820886303983722,1795820889298566767,'/','cpu.stat',NULL,'usage_usec',29797329724,29803296887),
(1,1795820886303983722,1795820889298566767,'/','cpu.stat',NULL,'user_usec',25201482233,25206886786),
(1,1795820886303983722,1795820889298566767,'/','cpu.stat',NULL,'system_usec',4595847490,4596410100),
(1,1795820886303983722,1795820889298566767,'/','cpu.stat',NULL,'nice_usec',8196414464,8201791017),
(1,1795820886303983722,1795820889298566767,'system','vmstat',NULL,'pgfault',527677492,527708165),
(1,1795820886303983722,1795820889298566767,'system','diskstats','vda','writes',2585148,2585159),
(1,1795820886303983722,1795820889298566767,'system','diskstats','vda','write_bytes',289893056512,289894780928),
(1,1795820886303983722,1795820889298566767,'system','diskstats','vda','write_ms',1709904,1709909),
(1,1795820886303983722,1795820889298566767,'system','diskstats','vda','busy_ms',503504,503516);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795820886297480681,'system','cpu',10792526206,0),
(1,1795820886297480681,'system','memory',37673017,9108197),
(1,1795820886297480681,'system','io',288589147,48237828),
(1,1795820886297480681,'/verdicts.slice/victim.service','cpu',816125,91952),
(1,1795820886297480681,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820886297480681,'/verdicts.slice/victim.service','io',0,0),
(1,1795820889298566767,'system','cpu',10794928548,0),
(1,1795820889298566767,'system','memory',37673017,9108197),
(1,1795820889298566767,'system','io',288594801,48238065),
(1,1795820889298566767,'/verdicts.slice/victim.service','cpu',1840909,152682),
(1,1795820889298566767,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820889298566767,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',232,'frame'),
(1,'overwritten-slots',2,'sample');

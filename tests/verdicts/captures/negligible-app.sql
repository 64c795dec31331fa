-- situation: negligible-app: a program that goes before its neighbour
-- kind: negligible
-- ran: 99 % of the span
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821058002863906,1795821062294680486,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','app','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"cpu","kind":"some","stall_us":4000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','cpu','some',4000,2000000,'sampled','/verdicts.slice/victim.service',1795821059008957519,1795821058008066180,1795821062008957519,1000891339,'complete',6516,47,1000891339,128,129,1,9,191,4,1795821059002385088);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,1151,16744842153836,'app','app',0,'/verdicts.slice/victim.service','victim.service','native'),
(2,1,1155,16744864975100,'xz',NULL,0,'/verdicts.slice/xz.service','xz.service',NULL),
(3,1,1144,16744817614852,'bash',NULL,0,'/',NULL,NULL),
(6,1,1262,16746174584952,'cc1','cc1',0,'/',NULL,'native'),
(7,1,1234,16745523763999,'cc1',NULL,0,'/',NULL,NULL),
(11,1,1242,16746111786340,'bourdond',NULL,65534,'/',NULL,NULL),
(12,1,1308,16747060932546,'cc1','cc1',0,'/',NULL,'native'),
(16,1,1309,16747160399911,'await_status',NULL,0,'/',NULL,NULL),
(20,1,1339,16747875172422,'cc1','cc1',0,'/',NULL,'native'),
(27,1,1402,16749119892561,'cc1','cc1',0,'/',NULL,'native'),
(28,1,1237,16746002315853,'bash',NULL,0,'/',NULL,NULL),
(84,1,1320,16747277298249,'unit',NULL,0,'/',NULL,NULL),
(89,1,1403,16750146124793,'as',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,3,'other',1795821058009152303,1795821062009634018,9228040,8394329,0,0,0,0,1444,0,0,40,1,3768320,3502080,0,0),
(1,1,'target',1795821058009152303,1795821062009634018,3978115524,17162243,16953979,0,0,0,0,0,0,0,64,1282048,1282048,0,0),
(1,2,'other',1795821058009152303,1795821062009634018,13539000,3836021470,0,0,0,0,1386,0,0,0,4,8466432,2830336,0,0),
(1,7,'other',1795821058009152303,1795821062009634018,31461620,86393067,0,0,0,0,104,0,208896,1,13,45780992,45780992,0,0),
(1,28,'other',1795821058009152303,1795821062009634018,50341129,1418766,0,0,0,0,0,0,4096,39,3,3538944,3538944,0,0),
(1,11,'other',1795821058009152303,1795821062009634018,43705428,48795441,0,0,0,0,671,0,163840,341,109,15908864,13385728,0,0),
(1,6,'other',1795821058009152303,1795821062009634018,536254062,762404407,0,0,0,0,7887,0,667648,1,184,54231040,0,0,0),
(1,12,'other',1795821058009152303,1795821062009634018,832001290,964133121,0,0,0,0,8986,0,1060864,1,283,57659392,0,0,0),
(1,16,'other',1795821058009152303,1795821062009634018,37426784,1330243,0,0,0,0,334,0,0,89,10,3641344,0,0,0),
(1,84,'other',1795821058009152303,1795821062009634018,21358097,24797718,0,0,0,0,2038,0,589824,30,22,14430208,0,0,0),
(1,20,'other',1795821058009152303,1795821062009634018,1030645799,1252603138,0,0,0,0,9711,0,294912,0,336,63582208,0,0,0),
(1,27,'other',1795821058009152303,1795821062009634018,494577810,530894102,0,0,0,0,7232,0,499712,1,164,50814976,0,0,0),
(1,89,'other',1795821058009152303,1795821062009634018,6818471,4057156,0,0,0,0,585,0,0,1,3,5271552,0,0,0),
(1,NULL,'rest',1795821058009152303,1795821062009634018,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821058009152303,1795821062009634018,46745314,320251564,0,0,0,0,1689,0,77824,699,45,116703232,102117376,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','cc1','gcc',NULL,'/',0,2,469917366,565044096,0,0,438272,0,0),
(1,'other','python3','bash',NULL,'/',0,1,71382326,8496760,0,0,12288,0,0),
(1,'other','bourdond','bourdond',1243,'/',0,5,60510186,35945473,0,0,0,0,0),
(1,'other','as','gcc',1307,'/',0,1,49175697,191952085,0,0,430080,0,0),
(1,'other','bash','bash',NULL,'/',0,36,44486014,37659258,0,0,0,0,0),
(1,'other','unit','unit',28631,'/',0,1,32333041,35719991,0,0,1036288,0,0),
(1,'other','as','gcc',1247,'/',0,1,26150224,25255440,0,0,270336,0,0),
(1,'other','as','gcc',NULL,'/',0,2,19439002,21097522,0,0,172032,0,0),
(1,'other','cat','bash',NULL,'/',0,14,14539641,11115571,0,0,0,0,0),
(1,'other','as','gcc',1233,'/',0,1,11791691,11991077,0,0,98304,0,0),
(1,'other','pgrep','bash',1144,'/',0,1,9429288,175684,0,0,0,0,0),
(1,'other','bash','bash',1144,'/',0,12,9182999,9581316,0,0,0,0,0),
(1,'other','mkdir','make',27042,'/',0,5,5212419,8654740,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,32,35978846,40598664,0,0,36864,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821058009152303,1795821062009634018,0,0.0),
(1,'guest',1795821058009152303,1795821062009634018,0,0.0),
(1,'idle',1795821058009152303,1795821062009634018,0,0.0),
(1,'irq',1795821058009152303,1795821062009634018,0,0.0),
(1,'kernel threads',1795821058009152303,1795821062009634018,11883443,0.15),
(1,'others',1795821058009152303,1795821062009634018,3142219401,39.27),
(1,'short-lived',1795821058009152303,1795821062009634018,859528740,10.74),
(1,'softirq',1795821058009152303,1795821062009634018,0,0.0),
(1,'steal',1795821058009152303,1795821062009634018,0,0.0),
(1,'targets',1795821058009152303,1795821062009634018,3978115524,49.72),
(1,'unaccounted',1795821058009152303,1795821062009634018,9216322,0.12);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821058009152303,1795821062009634018,0,3575808),
(1,'kernel threads',1795821058009152303,1795821062009634018,0,16384),
(1,'others',1795821058009152303,1795821062009634018,0,3551232),
(1,'short-lived',1795821058009152303,1795821062009634018,0,2494464),
(1,'targets',1795821058009152303,1795821062009634018,0,0),
(1,'unaccounted',1795821058009152303,1795821062009634018,0,-2486272);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'app in victim.service','queued',1,16663511),
(1,'app in victim.service','ran',1,3909323311),
(1,'app in victim.service','rest',1,27252);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'app in victim.service','queued','other','xz','xz.service','/verdicts.slice/xz.service',1155,1,13165268),
(1,'app in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,2336462),
(1,'app in victim.service','queued','kernel','kworker',NULL,NULL,NULL,17,875110),
(1,'app in victim.service','queued','other','grep',NULL,'/',NULL,2,168755),
(1,'app in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,75348),
(1,'app in victim.service','queued','kernel','migration/0',NULL,NULL,NULL,2,42568);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795821058009152303,1795821062009634018,2817,39889696,0.5),
(1,'softirq',9,'RCU',1795821058009152303,1795821062009634018,836,6827568,0.09),
(1,'softirq',1,'TIMER',1795821058009152303,1795821062009634018,238,1460303,0.02),
(1,'softirq',7,'SCHED',1795821058009152303,1795821062009634018,112,1364032,0.02),
(1,'softirq',4,'BLOCK',1795821058009152303,1795821062009634018,41,318408,0.0),
(1,'irq',36,'virtio1-req.0',1795821058009152303,1795821062009634018,41,143792,0.0),
(1,'irq',41,'virtio3-rx',1795821058009152303,1795821062009634018,3,20288,0.0),
(1,'irq',42,'virtio3-tx',1795821058009152303,1795821062009634018,4,14560,0.0),
(1,'irq',31,'virtio0-stats',1795821058009152303,1795821062009634018,1,12871,0.0);
INSERT INTO killed(capture_id,at,how,role,comm,tgid,cgroup,rss_bytes,by_comm,by_tgid,by_cgroup,processes) VALUES
(1,1795821058950678214,'signal','other','unit',28634,'/',14409728,'unit',28631,'/',1);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821059009896610,1795821062009677512,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',2278526,5264111),
(1,1795821059009896610,1795821062009677512,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',2278526,5260119),
(1,1795821059009896610,1795821062009677512,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',0,3992),
(1,1795821059009896610,1795821062009677512,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',2289849,5269918),
(1,1795821059009896610,1795821062009677512,'/verdicts.slice','cpu.stat',NULL,'usage_usec',16165082,19160202),
(1,1795821059009896610,1795821062009677512,'/verdicts.slice','cpu.stat',NULL,'user_usec',14147441,17142561),
(1,1795821059009896610,1795821062009677512,'/verdicts.slice','cpu.stat',NULL,'nice_usec',13481868,16473937),
(1,1795821059009896610,1795821062009677512,'/','cpu.stat',NULL,'usage_usec',30135032151,30141027188),
(1,1795821059009896610,1795821062009677512,'/','cpu.stat',NULL,'user_usec',25499374149,25505121187),
(1,1795821059009896610,1795821062009677512,'/','cpu.stat',NULL,'system_usec',4635658001,4635906001),
(1,1795821059009896610,1795821062009677512,'/','cpu.stat',NULL,'nice_usec',8448102174,8453681223),
(1,1795821059009896610,1795821062009677512,'system','vmstat',NULL,'pgfault',533852020,533902003),
(1,1795821059009896610,1795821062009677512,'system','diskstats','vda','writes',2743198,2743217),
(1,1795821059009896610,1795821062009677512,'system','diskstats','vda','write_bytes',304941195264,304944164864),
(1,1795821059009896610,1795821062009677512,'system','diskstats','vda','write_ms',1743668,1743677),
(1,1795821059009896610,1795821062009677512,'system','diskstats','vda','busy_ms',521364,521376);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821059008957519,'system','cpu',10905013325,0),
(1,1795821059008957519,'system','memory',38367558,9668143),
(1,1795821059008957519,'system','io',298564283,48514701),
(1,1795821059008957519,'/verdicts.slice/victim.service','cpu',14746,14746),
(1,1795821059008957519,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821059008957519,'/verdicts.slice/victim.service','io',0,0),
(1,1795821062009677512,'system','cpu',10908011160,0),
(1,1795821062009677512,'system','memory',38367558,9668143),
(1,1795821062009677512,'system','io',298567410,48514701),
(1,1795821062009677512,'/verdicts.slice/victim.service','cpu',25114,25114),
(1,1795821062009677512,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821062009677512,'/verdicts.slice/victim.service','io',0,0),
(1,1795821062009677512,'targets','cpu',5930,NULL),
(1,1795821062009677512,'targets','memory',0,NULL),
(1,1795821062009677512,'targets','io',0,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',308,'frame'),
(1,'stack-not-whole',2,'stack');

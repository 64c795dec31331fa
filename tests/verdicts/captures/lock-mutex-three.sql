-- situation: lock-mutex-three: three threads and one mutex, on demand
-- kind: lock
-- lock: 4409 ms, CPU: 706 ms
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795822171684824187,1795822177790656954,'0.1.0',13,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795822174093036166,1795822174093036166,1795822177093036166,0,'complete',47,0,167,168,1,62,467,284,0,'root','--comm locker --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,6157,17814209981341,'three_hot','three_hot',0,'/bourdon-baseline-2G8TGe-6064',NULL,'native'),
(2,1,6159,17814261085466,'bourdond','bourdond',65534,'/',NULL,'native'),
(3,1,6929,17833627298393,'unit','unit',0,'/',NULL,NULL),
(4,1,8005,17855009707178,'bourdon-load','bourdon-load',0,'/',NULL,'native'),
(5,1,8017,17856322803380,'cc1','cc1',0,'/',NULL,'native'),
(6,1,8173,17859621139366,'locker','locker',0,'/verdicts.slice/victim.service','victim.service','native'),
(7,1,8182,17859667891467,'bourdond',NULL,65534,'/',NULL,NULL),
(8,1,8265,17861754026765,'cc1',NULL,0,'/',NULL,NULL),
(9,1,8268,17861830728385,'r_unit','r_unit',0,'/',NULL,'native'),
(11,1,6064,17813412683714,'bash',NULL,0,'/',NULL,NULL),
(12,1,8276,17862098981265,'cpu_hog','cpu_hog',0,'/bourdon-baseline-2G8TGe-6064',NULL,'native'),
(14,1,8180,17859662692519,'bash',NULL,0,'/',NULL,NULL),
(18,1,8287,17862910607923,'await_status',NULL,0,'/',NULL,NULL),
(20,1,21745,14365338061922,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(28,1,15,99314954,'rcu_preempt',NULL,0,NULL,NULL,NULL),
(38,1,21695,14365289490317,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(62,1,21849,14365416863852,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(96,1,8296,17865042625536,'cc1',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,28,'kernel',1795822174093015897,1795822177096857677,7431696,12294398,0,0,0,0,0,0,0,137,0,0,0,0,0),
(1,38,'other',1795822174093015897,1795822177096857677,5434824,12884261,0,0,0,0,0,0,0,60,0,1011712,1011712,0,0),
(1,11,'other',1795822174093015897,1795822177096857677,13215828,408010858,0,0,0,0,64,0,0,2,11,4386816,4386816,0,0),
(1,1,'other',1795822174093015897,1795822177096857677,117571840,2917857367,0,0,0,0,0,0,0,0,33,1425408,1425408,0,0),
(1,2,'other',1795822174093015897,1795822177096857677,25844299,5094422250,0,0,0,0,56,0,53248,39,23,15196160,14934016,0,0),
(1,62,'other',1795822174093015897,1795822177096857677,5245393,43922331,0,0,0,0,0,0,0,59,0,1048576,1048576,0,0),
(1,3,'other',1795822174093015897,1795822177096857677,304206042,2690588238,0,0,0,0,5,0,925696,1,95,8683520,8683520,0,0),
(1,4,'other',1795822174093015897,1795822177096857677,75554516,2220944827,0,0,0,0,2576,0,4194304,11,5,16871424,5902336,0,0),
(1,5,'other',1795822174093015897,1795822177096857677,92122542,2045358078,0,0,0,0,220,0,327680,1,31,46485504,46092288,0,0),
(1,6,'target',1795822174093015897,1795822177096857677,3893407005,622034706,616680471,0,0,0,0,0,0,59,526,1470464,1470464,0,0),
(1,14,'other',1795822174093015897,1795822177096857677,36396264,24429212,0,0,0,0,0,0,4096,29,4,3518464,3518464,0,0),
(1,7,'other',1795822174093015897,1795822177096857677,42243711,113281910,0,0,0,0,226,0,221184,189,24,14180352,13762560,0,0),
(1,20,'other',1795822174093015897,1795822177096857677,5424286,35750746,0,0,0,0,0,0,0,59,0,1097728,1097728,0,0),
(1,8,'other',1795822174093015897,1795822177096857677,134497360,2855339369,0,0,0,0,1379,0,12288,0,47,36818944,22921216,0,0),
(1,9,'other',1795822174093015897,1795822177096857677,320611851,2682206277,0,0,0,0,1915,0,4562944,0,95,6684672,6553600,0,0),
(1,12,'other',1795822174093015897,1795822177096857677,801704625,10947155638,0,0,0,0,65,0,0,0,168,1552384,3338240,0,0),
(1,18,'other',1795822174093015897,1795822177096857677,25497073,1659464647,0,0,0,0,341,0,0,5,2,3592192,0,0,0),
(1,96,'other',1795822174093015897,1795822177096857677,8802431,192623436,0,0,0,0,979,0,0,0,3,18595840,0,0,0),
(1,NULL,'rest',1795822174093015897,1795822177096857677,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795822174093015897,1795822177096857677,21392732,3021504526,0,0,0,0,298,0,4096,218,6,186720256,180502528,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','as','gcc',8016,'/',0,1,29225289,525207040,0,0,135168,0,0),
(1,'other','bourdond','bourdond',8183,'/',0,2,13592501,3102324,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,1,1656533,189262,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795822174093015897,1795822177096857677,0,0.0),
(1,'guest',1795822174093015897,1795822177096857677,0,0.0),
(1,'idle',1795822174093015897,1795822177096857677,20000000,0.33),
(1,'irq',1795822174093015897,1795822177096857677,0,0.0),
(1,'kernel threads',1795822174093015897,1795822177096857677,12738032,0.21),
(1,'others',1795822174093015897,1795822177096857677,2030459281,33.8),
(1,'short-lived',1795822174093015897,1795822177096857677,44474323,0.74),
(1,'softirq',1795822174093015897,1795822177096857677,0,0.0),
(1,'steal',1795822174093015897,1795822177096857677,0,0.0),
(1,'targets',1795822174093015897,1795822177096857677,3893407005,64.81),
(1,'unaccounted',1795822174093015897,1795822177096857677,6604919,0.11);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795822174093015897,1795822177096857677,0,7704576),
(1,'kernel threads',1795822174093015897,1795822177096857677,0,0),
(1,'others',1795822174093015897,1795822177096857677,0,10305536),
(1,'short-lived',1795822174093015897,1795822177096857677,0,135168),
(1,'targets',1795822174093015897,1795822177096857677,0,0),
(1,'unaccounted',1795822174093015897,1795822177096857677,0,-2736128);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'locker in victim.service','lock',4,4418095576),
(1,'locker in victim.service','queued',4,628128780),
(1,'locker in victim.service','ran',4,3863154688),
(1,'locker in victim.service','rest',4,32049136),
(1,'locker in victim.service','sleep',4,3057526445);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text,then_account) VALUES
(1,'locker in victim.service','queued','own','locker','victim.service','/verdicts.slice/victim.service',8173,1,537519409,NULL,NULL),
(1,'locker in victim.service','queued','recorder','bourdond',NULL,'/',NULL,7,19749635,NULL,NULL),
(1,'locker in victim.service','queued','other','bash',NULL,'/',NULL,36,18553149,NULL,NULL),
(1,'locker in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,18029147,NULL,NULL),
(1,'locker in victim.service','queued','other','cpu_hog',NULL,'/bourdon-baseline-2G8TGe-6064',8276,1,5281726,NULL,NULL),
(1,'locker in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,4935018,NULL,NULL),
(1,'locker in victim.service','queued','other','unit',NULL,'/',NULL,3,4543313,NULL,NULL),
(1,'locker in victim.service','queued','other','three_hot',NULL,'/bourdon-baseline-2G8TGe-6064',6157,1,3735084,NULL,NULL),
(1,'locker in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,3491309,NULL,NULL),
(1,'locker in victim.service','queued','other','r_unit',NULL,'/',NULL,2,3348717,NULL,NULL),
(1,'locker in victim.service','queued','kernel','kworker',NULL,NULL,NULL,5,2305663,NULL,NULL),
(1,'locker in victim.service','queued','other','date',NULL,'/',NULL,NULL,2166959,NULL,NULL),
(1,'locker in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,1080870,NULL,NULL),
(1,'locker in victim.service','queued','other','sleep',NULL,'/',NULL,2,1059429,NULL,NULL),
(1,'locker in victim.service','queued','other','awk',NULL,'/',NULL,NULL,856909,NULL,NULL),
(1,'locker in victim.service','queued','other','cat',NULL,'/',NULL,2,722597,NULL,NULL),
(1,'locker in victim.service','queued','other','cc1',NULL,'/',NULL,3,684785,NULL,NULL),
(1,'locker in victim.service','queued','recorder',NULL,NULL,NULL,NULL,NULL,65061,NULL,NULL),
(1,'locker in victim.service','lock','own','locker','victim.service','/verdicts.slice/victim.service',8173,1,4418095576,'hold_lock','ran');
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795822174093015897,1795822177096857677,2770,42818508,0.71),
(1,'softirq',7,'SCHED',1795822174093015897,1795822177096857677,155,4867595,0.08),
(1,'softirq',9,'RCU',1795822174093015897,1795822177096857677,407,3554545,0.06),
(1,'softirq',1,'TIMER',1795822174093015897,1795822177096857677,164,1395737,0.02),
(1,'softirq',4,'BLOCK',1795822174093015897,1795822177096857677,28,324899,0.01),
(1,'irq',36,'virtio1-req.0',1795822174093015897,1795822177096857677,28,133084,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795822174093742998,1795822177097087157,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',3257765,7150858),
(1,1795822174093742998,1795822177097087157,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',3249798,7138887),
(1,1795822174093742998,1795822177097087157,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',7967,11970),
(1,1795822174093742998,1795822177097087157,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',3270226,7156460),
(1,1795822174093742998,1795822177097087157,'/verdicts.slice','cpu.stat',NULL,'usage_usec',41044295,44937388),
(1,1795822174093742998,1795822177097087157,'/verdicts.slice','cpu.stat',NULL,'user_usec',40720036,44609189),
(1,1795822174093742998,1795822177097087157,'/verdicts.slice','cpu.stat',NULL,'system_usec',324258,328198),
(1,1795822174093742998,1795822177097087157,'/verdicts.slice','cpu.stat',NULL,'nice_usec',40585691,44471925),
(1,1795822174093742998,1795822177097087157,'/','cpu.stat',NULL,'usage_usec',32360289774,32366259150),
(1,1795822174093742998,1795822177097087157,'/','cpu.stat',NULL,'user_usec',27492256101,27498061489),
(1,1795822174093742998,1795822177097087157,'/','cpu.stat',NULL,'system_usec',4868033673,4868197660),
(1,1795822174093742998,1795822177097087157,'/','cpu.stat',NULL,'nice_usec',10295871275,10301620663),
(1,1795822174093742998,1795822177097087157,'system','vmstat',NULL,'pgfault',565680759,565690382),
(1,1795822174093742998,1795822177097087157,'system','diskstats','vda','writes',2837102,2837128),
(1,1795822174093742998,1795822177097087157,'system','diskstats','vda','write_bytes',311331446784,311339151360),
(1,1795822174093742998,1795822177097087157,'system','diskstats','vda','write_ms',1832068,1832092),
(1,1795822174093742998,1795822177097087157,'system','diskstats','vda','busy_ms',561744,561760);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795822174093036166,'system','cpu',11931821461,0),
(1,1795822174093036166,'system','memory',40931911,11628604),
(1,1795822174093036166,'system','io',319794576,48677252),
(1,1795822174093036166,'/verdicts.slice/victim.service','cpu',358998,76603),
(1,1795822174093036166,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822174093036166,'/verdicts.slice/victim.service','io',0,0),
(1,1795822177097087157,'system','cpu',11934296896,0),
(1,1795822177097087157,'system','memory',40931911,11628604),
(1,1795822177097087157,'system','io',319800091,48677252),
(1,1795822177097087157,'/verdicts.slice/victim.service','cpu',725016,111363),
(1,1795822177097087157,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822177097087157,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',60,'frame');

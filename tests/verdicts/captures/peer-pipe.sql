-- situation: peer-pipe: a program that waits for bytes of another, on demand
-- kind: peer
-- whom: sender in sender.service
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821106754833111,1795821112662688778,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795821109170331127,1795821109170331127,1795821112170331127,0,'complete',47,0,0,0,1,1,299,299,0,'root','--comm reader --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,6864,16794686905996,'reader','reader',0,'/verdicts.slice/victim.service','victim.service','native'),
(2,1,6873,16794831330789,'bourdond',NULL,65534,'/',NULL,NULL),
(3,1,6953,16797067058093,'shellcheck','shellcheck',0,'/',NULL,'native'),
(4,1,6956,16797090897887,'shellcheck','shellcheck',0,'/',NULL,'native'),
(5,1,6860,16794654177960,'sender',NULL,0,'/verdicts.slice/sender.service','sender.service',NULL),
(8,1,6869,16794718189342,'bash',NULL,0,'/',NULL,NULL),
(10,1,6965,16799890636595,'shellcheck','shellcheck',0,'/',NULL,'native'),
(11,1,6964,16799821233591,'shellcheck','shellcheck',0,'/',NULL,'native');
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,5,'other',1795821109170308872,1795821112176153161,11931111,946514,0,0,0,0,0,0,0,149,1,1376256,1376256,0,0),
(1,1,'target',1795821109170308872,1795821112176153161,8321102,799441,2615829,0,0,0,0,0,0,149,0,1441792,1441792,0,0),
(1,8,'other',1795821109170308872,1795821112176153161,34977183,116593,0,0,0,0,0,0,4096,30,2,3538944,3538944,0,0),
(1,2,'other',1795821109170308872,1795821112176153161,23284879,16582640,0,0,0,0,64,0,20480,191,26,13881344,13750272,0,0),
(1,3,'other',1795821109170308872,1795821112176153161,2475892474,25909573,0,0,0,0,56026,0,0,0,281,104153088,17326080,0,0),
(1,4,'other',1795821109170308872,1795821112176153161,2513743278,57891352,0,0,0,0,48005,0,0,0,383,103100416,19550208,0,0),
(1,11,'other',1795821109170308872,1795821112176153161,482784498,15704298,0,0,0,0,9389,0,0,0,77,49102848,0,0,0),
(1,10,'other',1795821109170308872,1795821112176153161,410017127,19111513,0,0,0,0,7213,0,0,0,76,40247296,0,0,0),
(1,NULL,'rest',1795821109170308872,1795821112176153161,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821109170308872,1795821112176153161,20470606,16867153,0,0,0,0,618,0,28672,387,4,107921408,107921408,0,0);
INSERT INTO ended(capture_id,role,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'rest',0,12,15480946,16452139,0,0,24576,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821109170308872,1795821112176153161,0,0.0),
(1,'guest',1795821109170308872,1795821112176153161,0,0.0),
(1,'idle',1795821109170308872,1795821112176153161,10000000,0.17),
(1,'irq',1795821109170308872,1795821112176153161,0,0.0),
(1,'kernel threads',1795821109170308872,1795821112176153161,7015992,0.12),
(1,'others',1795821109170308872,1795821112176153161,5966085164,99.24),
(1,'short-lived',1795821109170308872,1795821112176153161,15480946,0.26),
(1,'softirq',1795821109170308872,1795821112176153161,0,0.0),
(1,'steal',1795821109170308872,1795821112176153161,0,0.0),
(1,'targets',1795821109170308872,1795821112176153161,8321102,0.14),
(1,'unaccounted',1795821109170308872,1795821112176153161,4785374,0.08);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821109170308872,1795821112176153161,0,3543040),
(1,'kernel threads',1795821109170308872,1795821112176153161,0,16384),
(1,'others',1795821109170308872,1795821112176153161,0,36864),
(1,'short-lived',1795821109170308872,1795821112176153161,0,24576),
(1,'targets',1795821109170308872,1795821112176153161,0,0),
(1,'unaccounted',1795821109170308872,1795821112176153161,0,3465216);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'reader in victim.service','peer',1,2983665773),
(1,'reader in victim.service','queued',1,799441),
(1,'reader in victim.service','ran',1,8411108),
(1,'reader in victim.service','sleep',1,9263429);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'reader in victim.service','queued','other','rm',NULL,'/',NULL,1,759469),
(1,'reader in victim.service','queued','kernel','kworker',NULL,NULL,NULL,22,39972),
(1,'reader in victim.service','peer','other','sender','sender.service','/verdicts.slice/sender.service',6860,1,2983665773);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795821109170308872,1795821112176153161,2884,31535021,0.52),
(1,'softirq',9,'RCU',1795821109170308872,1795821112176153161,350,2469553,0.04),
(1,'softirq',7,'SCHED',1795821109170308872,1795821112176153161,103,1247664,0.02),
(1,'softirq',1,'TIMER',1795821109170308872,1795821112176153161,132,875256,0.01),
(1,'softirq',4,'BLOCK',1795821109170308872,1795821112176153161,11,143372,0.0),
(1,'irq',36,'virtio1-req.0',1795821109170308872,1795821112176153161,11,56902,0.0),
(1,'irq',42,'virtio3-tx',1795821109170308872,1795821112176153161,1,3518,0.0),
(1,'irq',41,'virtio3-rx',1795821109170308872,1795821112176153161,1,2650,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821109171465984,1795821112176710121,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',11841,20162),
(1,1795821109171465984,1795821112176710121,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',3794,12115),
(1,1795821109171465984,1795821112176710121,'/verdicts.slice','cpu.stat',NULL,'usage_usec',30646542,30666795),
(1,1795821109171465984,1795821112176710121,'/verdicts.slice','cpu.stat',NULL,'user_usec',28553949,28565164),
(1,1795821109171465984,1795821112176710121,'/verdicts.slice','cpu.stat',NULL,'system_usec',2092593,2101630),
(1,1795821109171465984,1795821112176710121,'/','cpu.stat',NULL,'usage_usec',30234210830,30240218626),
(1,1795821109171465984,1795821112176710121,'/','cpu.stat',NULL,'user_usec',25586135905,25591779865),
(1,1795821109171465984,1795821112176710121,'/','cpu.stat',NULL,'system_usec',4648074925,4648438761),
(1,1795821109171465984,1795821112176710121,'/','cpu.stat',NULL,'nice_usec',8530151677,8535759754),
(1,1795821109171465984,1795821112176710121,'system','vmstat',NULL,'pgfault',536486858,536609867),
(1,1795821109171465984,1795821112176710121,'system','diskstats','vda','writes',2746233,2746251),
(1,1795821109171465984,1795821112176710121,'system','diskstats','vda','write_bytes',305061294080,305064812544),
(1,1795821109171465984,1795821112176710121,'system','diskstats','vda','write_ms',1746715,1746742);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821109170331127,'system','cpu',10934652344,0),
(1,1795821109170331127,'system','memory',38367558,9668143),
(1,1795821109170331127,'system','io',298737302,48538750),
(1,1795821109170331127,'/verdicts.slice/victim.service','cpu',1475,1475),
(1,1795821109170331127,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821109170331127,'/verdicts.slice/victim.service','io',0,0),
(1,1795821112176710121,'system','cpu',10934730273,0),
(1,1795821112176710121,'system','memory',38367558,9668143),
(1,1795821112176710121,'system','io',298738814,48538750),
(1,1795821112176710121,'/verdicts.slice/victim.service','cpu',1475,1475),
(1,1795821112176710121,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821112176710121,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',242,'frame');

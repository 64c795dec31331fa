-- situation: peer-redis: a client that waits for redis, on demand
-- kind: peer
-- whom: redis-server in server.service
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821113548993992,1795821119434603555,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795821115926298827,1795821115926298827,1795821118926298827,0,'complete',47,0,4,4,1,6,4058,4053,0,'root','--comm redis-benchmark --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,7198,16801457298483,'redis-benchmark','redis-benchmark',0,'/verdicts.slice/victim.service','victim.service','native'),
(2,1,7194,16801433483161,'redis-server','redis-check-rdb',0,'/verdicts.slice/server.service','server.service','native'),
(3,1,6964,16799821233591,'shellcheck','shellcheck',0,'/',NULL,'native'),
(4,1,7211,16801631306450,'bourdond',NULL,65534,'/',NULL,NULL),
(5,1,7263,16802213346623,'shellcheck','shellcheck',0,'/',NULL,'native'),
(7,1,7301,16805017049194,'shellcheck','shellcheck',0,'/',NULL,'native'),
(9,1,7207,16801496048866,'bash',NULL,0,'/',NULL,NULL),
(11,1,21565,14365038824316,'bash',NULL,0,'/',NULL,NULL),
(24,1,7377,16806806759444,'pv','pv',0,'/',NULL,'native');
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,3,'other',1795821115926285887,1795821118927157217,608804581,325072490,0,0,0,0,17922,0,0,0,601,121741312,122716160,0,0),
(1,2,'other',1795821115926285887,1795821118927157217,2851774244,64241934,0,0,0,0,0,0,0,2032,83,12333056,12333056,0,0),
(1,1,'target',1795821115926285887,1795821118927157217,97202711,13506656,29048736,0,0,0,0,0,0,2030,5,7979008,7979008,0,0),
(1,9,'other',1795821115926285887,1795821118927157217,33134277,2137605,0,0,0,0,0,0,4096,30,16,3538944,3538944,0,0),
(1,4,'other',1795821115926285887,1795821118927157217,24322710,35508881,0,0,0,0,154,0,225280,208,36,14188544,13869056,0,0),
(1,11,'other',1795821115926285887,1795821118927157217,6096277,10492822,0,0,0,0,487,0,4096,7,13,4657152,4657152,0,0),
(1,5,'other',1795821115926285887,1795821118927157217,892378438,2059197380,0,0,0,0,8960,0,0,0,1711,102821888,102834176,0,0),
(1,7,'other',1795821115926285887,1795821118927157217,868537869,1189563757,0,0,0,0,16121,0,0,0,1268,76619776,0,0,0),
(1,24,'other',1795821115926285887,1795821118927157217,240037089,29027459,0,0,0,0,641,0,36864,0,226,6889472,0,0,0),
(1,NULL,'rest',1795821115926285887,1795821118927157217,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821115926285887,1795821118927157217,28164521,282967967,0,0,0,0,1784,0,77824,409,22,114671616,96698368,0,0);
INSERT INTO ended(capture_id,role,comm,parent,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','python3','bash','/',0,1,133464369,21841074,0,0,192512,0,0),
(1,'other','cc1','gcc','/',0,1,72688334,72649087,0,0,0,0,0),
(1,'other','bash','bash','/',0,38,51243059,118281630,0,0,0,0,0),
(1,'other','clang-format','bash','/',0,1,30511220,2499050,0,0,40960,0,0),
(1,'other','gcc','bash','/',0,1,5445435,3688293,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,0,26,36263836,30687176,0,0,106496,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821115926285887,1795821118927157217,0,0.0),
(1,'guest',1795821115926285887,1795821118927157217,0,0.0),
(1,'idle',1795821115926285887,1795821118927157217,10000000,0.17),
(1,'irq',1795821115926285887,1795821118927157217,0,0.0),
(1,'kernel threads',1795821115926285887,1795821118927157217,5506200,0.09),
(1,'others',1795821115926285887,1795821118927157217,5547743806,92.44),
(1,'short-lived',1795821115926285887,1795821118927157217,329616253,5.49),
(1,'softirq',1795821115926285887,1795821118927157217,0,0.0),
(1,'steal',1795821115926285887,1795821118927157217,0,0.0),
(1,'targets',1795821115926285887,1795821118927157217,97202711,1.62),
(1,'unaccounted',1795821115926285887,1795821118927157217,11673690,0.19);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821115926285887,1795821118927157217,0,208896),
(1,'kernel threads',1795821115926285887,1795821118927157217,0,0),
(1,'others',1795821115926285887,1795821118927157217,0,348160),
(1,'short-lived',1795821115926285887,1795821118927157217,0,339968),
(1,'targets',1795821115926285887,1795821118927157217,0,0),
(1,'unaccounted',1795821115926285887,1795821118927157217,0,-479232);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'redis-benchmark in victim.service','peer',1,2893827902),
(1,'redis-benchmark in victim.service','queued',1,13457869),
(1,'redis-benchmark in victim.service','ran',1,98136313),
(1,'redis-benchmark in victim.service','rest',1,2903341),
(1,'redis-benchmark in victim.service','sleep',1,8791035);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'redis-benchmark in victim.service','queued','other','bash',NULL,'/',NULL,57,6379314),
(1,'redis-benchmark in victim.service','queued','other','cc1',NULL,'/',NULL,1,2842005),
(1,'redis-benchmark in victim.service','queued','other','pv',NULL,'/',7377,1,2670818),
(1,'redis-benchmark in victim.service','queued','recorder','bourdond',NULL,'/',NULL,4,435310),
(1,'redis-benchmark in victim.service','queued','other','shellcheck',NULL,'/',NULL,3,383981),
(1,'redis-benchmark in victim.service','queued','own','redis-benchmark','victim.service','/verdicts.slice/victim.service',7198,1,257660),
(1,'redis-benchmark in victim.service','queued','kernel','rcu_preempt',NULL,NULL,15,1,163454),
(1,'redis-benchmark in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,137670),
(1,'redis-benchmark in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,109203),
(1,'redis-benchmark in victim.service','queued','other','python3',NULL,'/',NULL,1,66976),
(1,'redis-benchmark in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,11478),
(1,'redis-benchmark in victim.service','peer','other','redis-server','server.service','/verdicts.slice/server.service',7194,1,2893827902);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795821115926285887,1795821118927157217,2670,26025123,0.43),
(1,'softirq',9,'RCU',1795821115926285887,1795821118927157217,454,3925101,0.07),
(1,'softirq',7,'SCHED',1795821115926285887,1795821118927157217,258,1985953,0.03),
(1,'softirq',1,'TIMER',1795821115926285887,1795821118927157217,172,997707,0.02),
(1,'softirq',4,'BLOCK',1795821115926285887,1795821118927157217,20,182010,0.0),
(1,'irq',36,'virtio1-req.0',1795821115926285887,1795821118927157217,20,54449,0.0),
(1,'irq',42,'virtio3-tx',1795821115926285887,1795821118927157217,6,39712,0.0),
(1,'irq',41,'virtio3-rx',1795821115926285887,1795821118927157217,3,30079,0.0),
(1,'irq',31,'virtio0-stats',1795821115926285887,1795821118927157217,1,8754,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821115927564198,1795821118927332580,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',80764,177980),
(1,1795821115927564198,1795821118927332580,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',26921,44528),
(1,1795821115927564198,1795821118927332580,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',53842,133452),
(1,1795821115927564198,1795821118927332580,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',28000,40000),
(1,1795821115927564198,1795821118927332580,'/verdicts.slice','cpu.stat',NULL,'usage_usec',33201812,36150448),
(1,1795821115927564198,1795821118927332580,'/verdicts.slice','cpu.stat',NULL,'user_usec',31022890,33882486),
(1,1795821115927564198,1795821118927332580,'/verdicts.slice','cpu.stat',NULL,'system_usec',2178922,2267961),
(1,1795821115927564198,1795821118927332580,'/verdicts.slice','cpu.stat',NULL,'nice_usec',30222703,33025542),
(1,1795821115927564198,1795821118927332580,'/','cpu.stat',NULL,'usage_usec',30247692131,30253664589),
(1,1795821115927564198,1795821118927332580,'/','cpu.stat',NULL,'user_usec',25598518704,25604015301),
(1,1795821115927564198,1795821118927332580,'/','cpu.stat',NULL,'system_usec',4649173427,4649649288),
(1,1795821115927564198,1795821118927332580,'/','cpu.stat',NULL,'nice_usec',8542044387,8547065034),
(1,1795821115927564198,1795821118927332580,'system','vmstat',NULL,'pgfault',536775450,536842084),
(1,1795821115927564198,1795821118927332580,'system','diskstats','vda','writes',2746507,2746517),
(1,1795821115927564198,1795821118927332580,'system','diskstats','vda','write_bytes',305096208384,305096396800),
(1,1795821115927564198,1795821118927332580,'system','diskstats','vda','write_ms',1746920,1746921),
(1,1795821115927564198,1795821118927332580,'system','diskstats','vda','busy_ms',521708,521712);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821115926298827,'system','cpu',10936841541,0),
(1,1795821115926298827,'system','memory',38367558,9668143),
(1,1795821115926298827,'system','io',298753394,48538821),
(1,1795821115926298827,'/verdicts.slice/victim.service','cpu',18335,18335),
(1,1795821115926298827,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821115926298827,'/verdicts.slice/victim.service','io',0,0),
(1,1795821118927332580,'system','cpu',10938713153,0),
(1,1795821118927332580,'system','memory',38367558,9668143),
(1,1795821118927332580,'system','io',298754304,48538821),
(1,1795821118927332580,'/verdicts.slice/victim.service','cpu',44017,44017),
(1,1795821118927332580,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821118927332580,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',160,'frame');

-- situation: network-perl: a program that waits for another host, on demand
-- kind: network
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821138469354442,1795821144226711212,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795821140801662237,1795821140801662237,1795821143801662237,0,'complete',47,0,0,0,1,1,17,17,0,'root','--comm perl --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(2,1,8612,16826510268233,'perl','perl',0,'/verdicts.slice/victim.service','victim.service','perl'),
(3,1,8619,16826550036927,'bourdond',NULL,65534,'/',NULL,NULL),
(4,1,8690,16828272233297,'shellcheck','shellcheck',0,'/',NULL,'native'),
(5,1,8693,16828421206739,'shellcheck','shellcheck',0,'/',NULL,'native'),
(12,1,8733,16831902244153,'shellcheck',NULL,0,'/',NULL,NULL),
(38,1,8617,16826545876462,'bash',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,2,'target',1795821140801638332,1795821143802728050,765370,0,113689,0,0,0,0,0,0,8,0,8257536,8257536,0,0),
(1,38,'other',1795821140801638332,1795821143802728050,34510277,96165,0,0,0,0,0,0,4096,30,2,3538944,3538944,0,0),
(1,3,'other',1795821140801638332,1795821143802728050,22592023,21332445,0,0,0,0,55,0,20480,176,16,14196736,13934592,0,0),
(1,4,'other',1795821140801638332,1795821143802728050,2832773951,119749123,0,0,0,0,44952,0,0,0,246,99930112,55828480,0,0),
(1,5,'other',1795821140801638332,1795821143802728050,2904477333,93344799,0,0,0,0,43264,0,0,0,308,106168320,45293568,0,0),
(1,12,'other',1795821140801638332,1795821143802728050,47450464,1163243,0,0,0,0,1267,0,0,0,7,15790080,0,0,0),
(1,NULL,'rest',1795821140801638332,1795821143802728050,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821140801638332,1795821143802728050,21190535,10813236,6370,0,0,0,444,0,8192,376,10,116346880,116346880,0,0);
INSERT INTO ended(capture_id,role,comm,parent,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','git','bash','/',0,5,89202212,22188272,0,0,315392,0,0),
(1,'other','bash','bash','/',0,2,13488202,2858231,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,0,13,26193628,22234178,0,0,24576,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821140801638332,1795821143802728050,0,0.0),
(1,'guest',1795821140801638332,1795821143802728050,0,0.0),
(1,'idle',1795821140801638332,1795821143802728050,0,0.0),
(1,'irq',1795821140801638332,1795821143802728050,0,0.0),
(1,'kernel threads',1795821140801638332,1795821143802728050,4359870,0.07),
(1,'others',1795821140801638332,1795821143802728050,5848851060,97.45),
(1,'short-lived',1795821140801638332,1795821143802728050,128668972,2.14),
(1,'softirq',1795821140801638332,1795821143802728050,10000000,0.17),
(1,'steal',1795821140801638332,1795821143802728050,10000000,0.17),
(1,'targets',1795821140801638332,1795821143802728050,764093,0.01),
(1,'unaccounted',1795821140801638332,1795821143802728050,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821140801638332,1795821143802728050,0,282624),
(1,'kernel threads',1795821140801638332,1795821143802728050,0,0),
(1,'others',1795821140801638332,1795821143802728050,0,32768),
(1,'short-lived',1795821140801638332,1795821143802728050,0,339968),
(1,'targets',1795821140801638332,1795821143802728050,0,0),
(1,'unaccounted',1795821140801638332,1795821143802728050,0,-90112);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'perl in victim.service','network',1,2758415626),
(1,'perl in victim.service','ran',1,802541),
(1,'perl in victim.service','sleep',1,240966208);
INSERT INTO blame(capture_id,victim,wait,role,ns) VALUES
(1,'perl in victim.service','network','unknown',2758415626);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795821140801638332,1795821143802728050,2757,33763376,0.56),
(1,'softirq',9,'RCU',1795821140801638332,1795821143802728050,295,3471312,0.06),
(1,'softirq',7,'SCHED',1795821140801638332,1795821143802728050,108,1520683,0.03),
(1,'softirq',1,'TIMER',1795821140801638332,1795821143802728050,145,1249582,0.02),
(1,'softirq',3,'NET_RX',1795821140801638332,1795821143802728050,9,1006754,0.02),
(1,'softirq',8,'HRTIMER',1795821140801638332,1795821143802728050,8,350977,0.01),
(1,'softirq',4,'BLOCK',1795821140801638332,1795821143802728050,12,186975,0.0),
(1,'irq',36,'virtio1-req.0',1795821140801638332,1795821143802728050,12,58526,0.0),
(1,'irq',42,'virtio3-tx',1795821140801638332,1795821143802728050,5,58236,0.0),
(1,'irq',41,'virtio3-rx',1795821140801638332,1795821143802728050,4,48343,0.0),
(1,'irq',31,'virtio0-stats',1795821140801638332,1795821143802728050,1,13367,0.0),
(1,'irq',32,'virtio0-reporting_vq',1795821140801638332,1795821143802728050,1,4263,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821140803634283,1795821143802786001,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',27454,28220),
(1,1795821140803634283,1795821143802786001,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',13727,14110),
(1,1795821140803634283,1795821143802786001,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',13727,14110),
(1,1795821140803634283,1795821143802786001,'/verdicts.slice','cpu.stat',NULL,'usage_usec',43058452,43059349),
(1,1795821140803634283,1795821143802786001,'/verdicts.slice','cpu.stat',NULL,'user_usec',39398788,39399610),
(1,1795821140803634283,1795821143802786001,'/verdicts.slice','cpu.stat',NULL,'system_usec',3659663,3659739),
(1,1795821140803634283,1795821143802786001,'/','cpu.stat',NULL,'usage_usec',30297321300,30303316348),
(1,1795821140803634283,1795821143802786001,'/','cpu.stat',NULL,'user_usec',25641687021,25647275422),
(1,1795821140803634283,1795821143802786001,'/','cpu.stat',NULL,'system_usec',4655634278,4656040926),
(1,1795821140803634283,1795821143802786001,'/','cpu.stat',NULL,'nice_usec',8582174148,8587667057),
(1,1795821140803634283,1795821143802786001,'system','vmstat',NULL,'pgfault',538106293,538200392),
(1,1795821140803634283,1795821143802786001,'system','diskstats','vda','writes',2749509,2749517),
(1,1795821140803634283,1795821143802786001,'system','diskstats','vda','write_bytes',305119698944,305119961088),
(1,1795821140803634283,1795821143802786001,'system','diskstats','vda','write_ms',1747127,1747129);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821140801662237,'system','cpu',10954690924,0),
(1,1795821140801662237,'system','memory',38367558,9668143),
(1,1795821140801662237,'system','io',298861229,48546545),
(1,1795821140801662237,'/verdicts.slice/victim.service','cpu',1255,1255),
(1,1795821140801662237,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821140801662237,'/verdicts.slice/victim.service','io',0,0),
(1,1795821143802786001,'system','cpu',10954820075,0),
(1,1795821143802786001,'system','memory',38367558,9668143),
(1,1795821143802786001,'system','io',298862117,48546545),
(1,1795821143802786001,'/verdicts.slice/victim.service','cpu',1255,1255),
(1,1795821143802786001,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821143802786001,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',244,'frame');

-- situation: idle-postgres: PostgreSQL without clients, on demand
-- kind: negligible
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795821100012770643,1795821105878683098,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795821102401916395,1795821102401916395,1795821105401916395,0,'complete',47,0,0,0,2,2,62,62,0,'root','--comm postgres --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,6613,16787722289699,'postgres','postgres',65534,'/verdicts.slice/victim.service','victim.service','native'),
(2,1,6618,16787832479333,'postgres','postgres',65534,'/verdicts.slice/victim.service','victim.service','native'),
(3,1,6619,16787832813171,'postgres','postgres',65534,'/verdicts.slice/victim.service','victim.service','native'),
(4,1,6621,16787857338412,'postgres','postgres',65534,'/verdicts.slice/victim.service','victim.service','native'),
(5,1,6622,16787858208059,'postgres','postgres',65534,'/verdicts.slice/victim.service','victim.service','native'),
(6,1,6623,16787861645731,'postgres','postgres',65534,'/verdicts.slice/victim.service','victim.service','native'),
(7,1,6684,16788682075458,'shellcheck','shellcheck',0,'/',NULL,'native'),
(8,1,6687,16788691110359,'shellcheck','shellcheck',0,'/',NULL,'native'),
(10,1,6628,16787974954983,'bash',NULL,0,'/',NULL,NULL),
(11,1,6632,16788091099696,'bourdond',NULL,65534,'/',NULL,NULL),
(12,1,6725,16791496771540,'shellcheck','shellcheck',0,'/',NULL,'native'),
(13,1,6726,16792020515098,'shellcheck','shellcheck',0,'/',NULL,'native');
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,1,'target',1795821102401900858,1795821105403189164,0,0,0,0,0,0,0,0,0,0,0,30019584,30019584,0,0),
(1,2,'target',1795821102401900858,1795821105403189164,0,0,0,0,0,0,0,0,0,0,0,6430720,6430720,0,0),
(1,3,'target',1795821102401900858,1795821105403189164,995328,0,194376,0,0,0,1,0,0,15,0,6549504,6397952,0,0),
(1,4,'target',1795821102401900858,1795821105403189164,729480,48921,194030,0,0,0,0,0,0,15,0,6266880,6266880,0,0),
(1,5,'target',1795821102401900858,1795821105403189164,0,0,0,0,0,0,0,0,0,0,0,9117696,9117696,0,0),
(1,6,'target',1795821102401900858,1795821105403189164,0,0,0,0,0,0,0,0,0,0,0,8552448,8552448,0,0),
(1,10,'other',1795821102401900858,1795821105403189164,27528962,58701,0,0,0,0,1,0,4096,30,2,3551232,3551232,0,0),
(1,11,'other',1795821102401900858,1795821105403189164,31894408,4994518,0,0,0,0,3,0,20480,195,19,13938688,13938688,0,0),
(1,7,'other',1795821102401900858,1795821105403189164,929814073,15611688,0,0,0,0,24322,0,0,0,58,80855040,80855040,0,0),
(1,8,'other',1795821102401900858,1795821105403189164,1452550057,16823720,0,0,0,0,14882,0,0,0,163,144871424,128356352,0,0),
(1,12,'other',1795821102401900858,1795821105403189164,2025787656,25596556,0,0,0,0,40699,0,0,0,168,149192704,0,0,0),
(1,13,'other',1795821102401900858,1795821105403189164,1511441208,15839756,0,0,0,0,17915,0,0,0,120,76898304,0,0,0),
(1,NULL,'rest',1795821102401900858,1795821105403189164,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795821102401900858,1795821105403189164,12446907,1202849,0,0,0,0,20,0,0,290,0,107876352,107876352,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795821102401900858,1795821105403189164,0,0.0),
(1,'guest',1795821102401900858,1795821105403189164,0,0.0),
(1,'idle',1795821102401900858,1795821105403189164,0,0.0),
(1,'irq',1795821102401900858,1795821105403189164,0,0.0),
(1,'kernel threads',1795821102401900858,1795821105403189164,2318954,0.04),
(1,'others',1795821102401900858,1795821105403189164,5989144317,99.78),
(1,'short-lived',1795821102401900858,1795821105403189164,0,0.0),
(1,'softirq',1795821102401900858,1795821105403189164,0,0.0),
(1,'steal',1795821102401900858,1795821105403189164,10000000,0.17),
(1,'targets',1795821102401900858,1795821105403189164,1724808,0.03),
(1,'unaccounted',1795821102401900858,1795821105403189164,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795821102401900858,1795821105403189164,0,24576),
(1,'kernel threads',1795821102401900858,1795821105403189164,0,0),
(1,'others',1795821102401900858,1795821105403189164,0,24576),
(1,'short-lived',1795821102401900858,1795821105403189164,0,0),
(1,'targets',1795821102401900858,1795821105403189164,0,0),
(1,'unaccounted',1795821102401900858,1795821105403189164,0,0);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'postgres in victim.service','queued',6,61981),
(1,'postgres in victim.service','ran',6,1718209),
(1,'postgres in victim.service','sleep',6,17998699157);
INSERT INTO blame(capture_id,victim,wait,role,program,cgroup,processes,ns) VALUES
(1,'postgres in victim.service','queued','other','memfd:sealed-91','/',6,38136),
(1,'postgres in victim.service','queued','irq',NULL,NULL,NULL,23845);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795821102401900858,1795821105403189164,2756,33726345,0.56),
(1,'softirq',9,'RCU',1795821102401900858,1795821105403189164,210,1483599,0.02),
(1,'softirq',7,'SCHED',1795821102401900858,1795821105403189164,103,1135302,0.02),
(1,'softirq',1,'TIMER',1795821102401900858,1795821105403189164,90,929287,0.02),
(1,'softirq',4,'BLOCK',1795821102401900858,1795821105403189164,3,17463,0.0),
(1,'irq',31,'virtio0-stats',1795821102401900858,1795821105403189164,1,14826,0.0),
(1,'irq',36,'virtio1-req.0',1795821102401900858,1795821105403189164,3,4119,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795821102402526190,1795821105403262178,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',101490,103215),
(1,1795821102402526190,1795821105403262178,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',65156,66880),
(1,1795821102402526190,1795821105403262178,'/verdicts.slice','cpu.stat',NULL,'usage_usec',30602465,30604189),
(1,1795821102402526190,1795821105403262178,'/verdicts.slice','cpu.stat',NULL,'user_usec',28539368,28540977),
(1,1795821102402526190,1795821105403262178,'/verdicts.slice','cpu.stat',NULL,'system_usec',2063096,2063212),
(1,1795821102402526190,1795821105403262178,'/','cpu.stat',NULL,'usage_usec',30220691156,30226683458),
(1,1795821102402526190,1795821105403262178,'/','cpu.stat',NULL,'user_usec',25573657436,25579301837),
(1,1795821102402526190,1795821105403262178,'/','cpu.stat',NULL,'system_usec',4647033719,4647381621),
(1,1795821102402526190,1795821105403262178,'/','cpu.stat',NULL,'nice_usec',8517999543,8523623944),
(1,1795821102402526190,1795821105403262178,'system','vmstat',NULL,'pgfault',536206514,536304357),
(1,1795821102402526190,1795821105403262178,'system','diskstats','vda','writes',2746121,2746124),
(1,1795821102402526190,1795821105403262178,'system','diskstats','vda','write_bytes',305058119680,305058144256),
(1,1795821102402526190,1795821105403262178,'system','diskstats','vda','write_ms',1746688,1746689);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795821102401916395,'system','cpu',10933872273,0),
(1,1795821102401916395,'system','memory',38367558,9668143),
(1,1795821102401916395,'system','io',298733518,48538677),
(1,1795821102401916395,'/verdicts.slice/victim.service','cpu',41525,31478),
(1,1795821102401916395,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821102401916395,'/verdicts.slice/victim.service','io',4855,4299),
(1,1795821105403262178,'system','cpu',10933910677,0),
(1,1795821105403262178,'system','memory',38367558,9668143),
(1,1795821105403262178,'system','io',298733587,48538677),
(1,1795821105403262178,'/verdicts.slice/victim.service','cpu',41525,31478),
(1,1795821105403262178,'/verdicts.slice/victim.service','memory',0,0),
(1,1795821105403262178,'/verdicts.slice/victim.service','io',4855,4299);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',255,'frame');

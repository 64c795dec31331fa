-- situation: lock-go: a mutex of Go, on demand
-- kind: lock|own threads
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795822271140822892,1795822278031255395,'0.1.0',13,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO capture(capture_id,run_id,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,asked_by_uid,asked_by,asked_for) VALUES
(1,1,'manual','/verdicts.slice/victim.service',1795822273691994939,1795822273691994939,1795822276691994939,0,'complete',47,0,128,129,1,121,1673,1532,0,'root','--comm golocks --cgroup /verdicts.slice/victim.service --for 3s');
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,13357,17959028685791,'golocks','golocks',0,'/verdicts.slice/victim.service','victim.service','go'),
(4,1,13126,17954119149753,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(5,1,13137,17954311694656,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(6,1,13142,17955344829509,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(7,1,13146,17957209284720,'wcpu12738','wcpu12738',0,'/bourdon-culprits-alone-12738/other',NULL,'native'),
(8,1,13261,17958607559858,'unit',NULL,0,'/',NULL,NULL),
(9,1,13360,17959037275275,'gcc',NULL,0,'/',NULL,NULL),
(10,1,13369,17959144766958,'bourdond',NULL,65534,'/',NULL,NULL),
(15,1,13458,17962112667436,'unit',NULL,0,'/',NULL,NULL),
(18,1,13366,17959124312031,'bash',NULL,0,'/',NULL,NULL),
(99,1,13419,17960018639358,'cpu12738','cpu12738',0,'/bourdon-culprits-alone-12738/victim',NULL,'native'),
(102,1,13238,17958524131439,'as',NULL,0,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,4,'other',1795822273691970779,1795822276693122118,660502636,2340407476,0,0,0,0,0,0,0,0,200,1384448,1384448,0,0),
(1,5,'other',1795822273691970779,1795822276693122118,661354694,2346918175,0,0,0,0,0,0,0,0,189,1392640,1392640,0,0),
(1,6,'other',1795822273691970779,1795822276693122118,659771696,2350343799,0,0,0,0,0,0,0,0,193,1327104,1327104,0,0),
(1,7,'other',1795822273691970779,1795822276693122118,660981011,2337378741,0,0,0,0,0,0,0,0,198,1282048,1282048,0,0),
(1,8,'other',1795822273691970779,1795822276693122118,727080,929104217,0,0,0,0,44,0,0,0,0,0,7413760,0,0),
(1,1,'target',1795822273691970779,1795822276693122118,2985287236,1693419363,1692341995,0,0,0,0,0,0,593,1042,1650688,1650688,0,0),
(1,9,'other',1795822273691970779,1795822276693122118,5292810,1603503756,0,0,0,0,3,0,0,0,1,3063808,3063808,0,0),
(1,18,'other',1795822273691970779,1795822276693122118,29511069,28188856,0,0,0,0,0,0,4096,30,2,3555328,3555328,0,0),
(1,10,'other',1795822273691970779,1795822276693122118,24072090,314303996,0,0,0,0,127,0,49152,174,18,14184448,13660160,0,0),
(1,99,'other',1795822273691970779,1795822276693122118,254745015,2287468256,0,0,0,0,191,0,0,1,77,1286144,3268608,0,0),
(1,102,'other',1795822273691970779,1795822276693122118,12341499,2932295236,0,0,0,0,744,0,90112,2,8,0,0,0,0),
(1,15,'other',1795822273691970779,1795822276693122118,7306614,1563971509,0,0,0,0,203,0,28672,0,2,4124672,0,0,0),
(1,NULL,'rest',1795822273691970779,1795822276693122118,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795822273691970779,1795822276693122118,41555087,15381727476,0,0,0,0,1193,0,8192,468,12,201199616,195858432,0,0);
INSERT INTO ended(capture_id,role,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'rest',0,3,3197160,861907,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795822273691970779,1795822276693122118,0,0.0),
(1,'guest',1795822273691970779,1795822276693122118,0,0.0),
(1,'idle',1795822273691970779,1795822276693122118,0,0.0),
(1,'irq',1795822273691970779,1795822276693122118,0,0.0),
(1,'kernel threads',1795822273691970779,1795822276693122118,2400275,0.04),
(1,'others',1795822273691970779,1795822276693122118,3015761026,50.24),
(1,'short-lived',1795822273691970779,1795822276693122118,3197160,0.05),
(1,'softirq',1795822273691970779,1795822276693122118,0,0.0),
(1,'steal',1795822273691970779,1795822276693122118,10000000,0.17),
(1,'targets',1795822273691970779,1795822276693122118,2985287236,49.74),
(1,'unaccounted',1795822273691970779,1795822276693122118,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795822273691970779,1795822276693122118,0,24576),
(1,'kernel threads',1795822273691970779,1795822276693122118,0,0),
(1,'others',1795822273691970779,1795822276693122118,0,180224),
(1,'short-lived',1795822273691970779,1795822276693122118,0,0),
(1,'targets',1795822273691970779,1795822276693122118,0,0),
(1,'unaccounted',1795822273691970779,1795822276693122118,0,-155648);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'golocks in victim.service','lock',4,1339171230),
(1,'golocks in victim.service','queued',4,1691262063),
(1,'golocks in victim.service','ran',4,2984658603),
(1,'golocks in victim.service','rest',4,1716741),
(1,'golocks in victim.service','sleep',4,5983853794);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns,where_text) VALUES
(1,'golocks in victim.service','queued','own','golocks','victim.service','/verdicts.slice/victim.service',13357,1,1663978524,NULL),
(1,'golocks in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,10614551,NULL),
(1,'golocks in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,7941263,NULL),
(1,'golocks in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,6543190,NULL),
(1,'golocks in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,1571976,NULL),
(1,'golocks in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,612559,NULL),
(1,'golocks in victim.service','lock','own','golocks','victim.service','/verdicts.slice/victim.service',13357,1,1339171230,'main.hold');
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795822273691970779,1795822276693122118,2871,28223734,0.47),
(1,'softirq',9,'RCU',1795822273691970779,1795822276693122118,284,1857122,0.03),
(1,'softirq',7,'SCHED',1795822273691970779,1795822276693122118,105,1764437,0.03),
(1,'softirq',1,'TIMER',1795822273691970779,1795822276693122118,133,794255,0.01),
(1,'softirq',4,'BLOCK',1795822273691970779,1795822276693122118,4,55203,0.0),
(1,'irq',36,'virtio1-req.0',1795822273691970779,1795822276693122118,4,18560,0.0),
(1,'irq',41,'virtio3-rx',1795822273691970779,1795822276693122118,1,15750,0.0),
(1,'irq',42,'virtio3-tx',1795822273691970779,1795822276693122118,2,6431,0.0),
(1,'irq',34,'virtio4-input',1795822273691970779,1795822276693122118,1,3841,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795822273699436979,1795822276693236051,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',2776985,5753604),
(1,1795822273699436979,1795822276693236051,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',2765007,5729670),
(1,1795822273699436979,1795822276693236051,'/verdicts.slice/victim.service','cpu.stat',NULL,'system_usec',11977,23933),
(1,1795822273699436979,1795822276693236051,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',2773983,5745505),
(1,1795822273699436979,1795822276693236051,'/verdicts.slice','cpu.stat',NULL,'usage_usec',24461467,27438086),
(1,1795822273699436979,1795822276693236051,'/verdicts.slice','cpu.stat',NULL,'user_usec',24287124,27251813),
(1,1795822273699436979,1795822276693236051,'/verdicts.slice','cpu.stat',NULL,'system_usec',174342,186272),
(1,1795822273699436979,1795822276693236051,'/verdicts.slice','cpu.stat',NULL,'nice_usec',24219226,27190748),
(1,1795822273699436979,1795822276693236051,'/','cpu.stat',NULL,'usage_usec',32559018541,32564995842),
(1,1795822273699436979,1795822276693236051,'/','cpu.stat',NULL,'user_usec',27660864485,27666813786),
(1,1795822273699436979,1795822276693236051,'/','cpu.stat',NULL,'system_usec',4898154056,4898182056),
(1,1795822273699436979,1795822276693236051,'/','cpu.stat',NULL,'nice_usec',10454840255,10460773556),
(1,1795822273699436979,1795822276693236051,'system','vmstat',NULL,'pgfault',568242560,568244449),
(1,1795822273699436979,1795822276693236051,'system','diskstats','vda','writes',2839065,2839067),
(1,1795822273699436979,1795822276693236051,'system','diskstats','vda','write_bytes',311530991616,311530995712);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795822273691994939,'system','cpu',12017031266,0),
(1,1795822273691994939,'system','memory',40931911,11628604),
(1,1795822273691994939,'system','io',320195401,48682285),
(1,1795822273691994939,'/verdicts.slice/victim.service','cpu',1409954,63314),
(1,1795822273691994939,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822273691994939,'/verdicts.slice/victim.service','io',0,0),
(1,1795822276693236051,'system','cpu',12019479520,0),
(1,1795822276693236051,'system','memory',40931911,11628604),
(1,1795822276693236051,'system','io',320197491,48682285),
(1,1795822276693236051,'/verdicts.slice/victim.service','cpu',3076714,72980),
(1,1795822276693236051,'/verdicts.slice/victim.service','memory',0,0),
(1,1795822276693236051,'/verdicts.slice/victim.service','io',0,0);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',23,'frame');

-- situation: own-threads-openssl: openssl beside itself
-- kind: own threads
-- whom: openssl in victim.service
-- ran: 95 % of the CPUs
INSERT INTO run(run_id,started_at,ended_at,version,abi,kernel,hostname,cpus,hz,ring_bytes) VALUES
(1,1795820538726133431,1795820548762725124,'0.1.0',12,'6.18.44-fc-v657','host',2,47,1048352);
INSERT INTO rule(rule_id,run_id,rule,source,comm,cgroup,watch,pattern_id,history_ns,capture_ns,cooldown_ns,triggers) VALUES
(1,1,'victim','victim.conf:1','openssl','/verdicts.slice/victim.service','cgroup',1,2000000000,3000000000,3600000000000,'[{"resource":"cpu","kind":"some","stall_us":200000,"window_us":2000000}]');
INSERT INTO capture(capture_id,run_id,rule_id,rule,resource,kind,stall_us,window_us,trigger_mode,cgroup,triggered_at,began_at,ended_at,history_ns,state,observed_us,hz,offcpu_history_ns,expected_samples,received_samples,process_count,stack_count,sample_count,interval_count,onset_at) VALUES
(1,1,1,'victim','cpu','some',200000,2000000,'sampled','/verdicts.slice/victim.service',1795820539858772029,1795820538855389146,1795820542858772029,1003382883,'complete',1002766,47,1003382883,235,231,6,1009,2062,1706,1795820538855960656);
INSERT INTO process(process_id,run_id,tgid,started_ns,comm,exe,uid,cgroup,unit,runtime) VALUES
(1,1,321,16225121193769,'openssl','openssl',0,'/verdicts.slice/victim.service','victim.service','native'),
(2,1,322,16225121327816,'openssl','openssl',0,'/verdicts.slice/victim.service','victim.service','native'),
(3,1,323,16225123409294,'openssl','openssl',0,'/verdicts.slice/victim.service','victim.service','native'),
(4,1,32504,16223831627745,'bourdon-load','bourdon-load',0,'/',NULL,NULL),
(5,1,324,16225132321800,'openssl','openssl',0,'/verdicts.slice/victim.service','victim.service','native'),
(6,1,320,16225121040358,'openssl','openssl',0,'/verdicts.slice/victim.service','victim.service','native'),
(7,1,317,16225091726354,'bourdon-load',NULL,0,'/',NULL,NULL),
(8,1,319,16225120851245,'openssl','openssl',0,'/verdicts.slice/victim.service','victim.service','native'),
(9,1,307,16225054834696,'bash',NULL,0,'/',NULL,NULL),
(10,1,314,16225083297168,'openssl','openssl',0,'/verdicts.slice/victim.service','victim.service','native'),
(12,1,329,16225536422969,'bash',NULL,0,'/',NULL,NULL),
(13,1,347,16227124176679,'bourdond',NULL,65534,'/',NULL,NULL),
(14,1,349,16227364483291,'bourdond',NULL,65534,'/',NULL,NULL),
(16,1,22959,15446187142385,'lck22652','java',0,'/bourdon-locks-alone-22652/victim',NULL,'jvm'),
(26,1,333,16225688684129,'bourdond',NULL,65534,'/',NULL,NULL),
(33,1,21695,14365289490317,'memfd:sealed-91',NULL,0,'/',NULL,NULL),
(124,1,364,16230808386651,'bourdond',NULL,65534,'/',NULL,NULL);
INSERT INTO usage(capture_id,process_id,role,from_at,to_at,cpu_ns,run_delay_ns,stalled_cpu_ns,stalled_memory_ns,stalled_io_ns,major_faults,minor_faults,read_bytes,write_bytes,voluntary_switches,involuntary_switches,rss_bytes,rss_before_bytes,reclaims,reclaim_ns) VALUES
(1,9,'other',1795820538899039544,1795820542907775606,9380731,1603875617,0,0,0,0,821,0,0,19,8,3637248,3375104,0,0),
(1,10,'target',1795820538899039544,1795820542907775606,0,0,0,0,0,0,0,0,0,0,0,6094848,6094848,0,0),
(1,7,'other',1795820538899039544,1795820542907775606,72110994,4020514905,0,0,0,0,1,0,0,0,21,15831040,15831040,0,0),
(1,8,'target',1795820538899039544,1795820542907775606,1303438949,2749956101,2722377296,0,0,0,0,0,0,0,384,3252224,3252224,0,0),
(1,6,'target',1795820538899039544,1795820542907775606,1302727899,2743607520,2717646445,0,0,0,0,0,0,0,376,3252224,3252224,0,0),
(1,1,'target',1795820538899039544,1795820542907775606,1271905559,2779715475,2771266383,0,0,0,0,0,0,0,396,3395584,3395584,0,0),
(1,2,'target',1795820538899039544,1795820542907775606,1274568008,2771001845,2770533253,0,0,0,0,0,0,0,389,3395584,3395584,0,0),
(1,3,'target',1795820538899039544,1795820542907775606,1277844614,2777397216,2761633209,0,0,0,0,0,0,0,383,3395584,3395584,0,0),
(1,5,'target',1795820538899039544,1795820542907775606,1306245652,2747709540,2729257298,0,0,0,0,0,0,0,382,3252224,3252224,0,0),
(1,12,'other',1795820538899039544,1795820542907775606,12551216,1970057379,0,0,0,0,1,0,4096,18,1,3350528,3350528,0,0),
(1,26,'other',1795820538899039544,1795820542907775606,37780062,5331002124,0,0,0,0,438,0,172032,86,21,14565376,13406208,0,0),
(1,33,'other',1795820538899039544,1795820542907775606,5600708,129798587,0,0,0,0,0,0,0,78,0,1163264,1163264,0,0),
(1,16,'other',1795820538899039544,1795820542907775606,39092934,866474218,0,0,0,0,3,0,8192,472,2,47149056,47149056,0,0),
(1,4,'other',1795820538899039544,1795820542907775606,65810734,3786198365,0,0,0,0,0,0,0,0,18,5402624,5402624,0,0),
(1,13,'other',1795820538899039544,1795820542907775606,21702011,2085545404,0,0,0,0,1039,0,0,13,4,4542464,0,0,0),
(1,14,'other',1795820538899039544,1795820542907775606,22416747,2117678700,0,0,0,0,1051,0,0,14,14,4915200,0,0,0),
(1,124,'other',1795820538899039544,1795820542907775606,5962807,91759902,0,0,0,0,310,0,0,2,1,3481600,0,0,0),
(1,NULL,'rest',1795820538899039544,1795820542907775606,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),
(1,NULL,'rest',1795820538899039544,1795820542907775606,35867399,13963690386,0,0,0,0,1171,0,20480,305,15,442499072,430657536,0,0);
INSERT INTO ended(capture_id,role,comm,parent,parent_tgid,cgroup,denied,processes,cpu_ns,run_delay_ns,major_faults,read_bytes,write_bytes,reclaims,reclaim_ns) VALUES
(1,'other','pgrep','bash',307,'/',0,1,10708277,828661031,0,0,0,0,0),
(1,'other','cat','bash',NULL,'/',0,5,8629802,993663990,0,0,0,0,0),
(1,'other','bash','bash',307,'/',0,4,5152140,920637144,0,0,0,0,0),
(1,'rest',NULL,NULL,NULL,NULL,0,3,5898409,745227218,0,0,0,0,0);
INSERT INTO machine_time(capture_id,part,from_at,to_at,ns,percent) VALUES
(1,'denied',1795820538899039544,1795820542907775606,0,0.0),
(1,'guest',1795820538899039544,1795820542907775606,0,0.0),
(1,'idle',1795820538899039544,1795820542907775606,0,0.0),
(1,'irq',1795820538899039544,1795820542907775606,0,0.0),
(1,'kernel threads',1795820538899039544,1795820542907775606,8557502,0.11),
(1,'others',1795820538899039544,1795820542907775606,319718841,3.99),
(1,'short-lived',1795820538899039544,1795820542907775606,30388628,0.38),
(1,'softirq',1795820538899039544,1795820542907775606,0,0.0),
(1,'steal',1795820538899039544,1795820542907775606,10000000,0.12),
(1,'targets',1795820538899039544,1795820542907775606,7736730681,96.5),
(1,'unaccounted',1795820538899039544,1795820542907775606,0,0.0);
INSERT INTO machine_bytes(capture_id,part,from_at,to_at,read_bytes,write_bytes) VALUES
(1,'disks',1795820538899039544,1795820542907775606,0,368640),
(1,'kernel threads',1795820538899039544,1795820542907775606,0,4096),
(1,'others',1795820538899039544,1795820542907775606,0,200704),
(1,'short-lived',1795820538899039544,1795820542907775606,0,0),
(1,'targets',1795820538899039544,1795820542907775606,0,0),
(1,'unaccounted',1795820538899039544,1795820542907775606,0,163840);
INSERT INTO account(capture_id,victim,account,threads,ns) VALUES
(1,'openssl in victim.service','queued',7,15481582178),
(1,'openssl in victim.service','ran',7,7210768709),
(1,'openssl in victim.service','rest',7,36326435),
(1,'openssl in victim.service','sleep',7,4003232764);
INSERT INTO blame(capture_id,victim,wait,role,program,unit,cgroup,tgid,processes,ns) VALUES
(1,'openssl in victim.service','queued','own','openssl','victim.service','/verdicts.slice/victim.service',NULL,7,14350209720),
(1,'openssl in victim.service','queued','other','bourdon-load',NULL,'/',NULL,2,380589655),
(1,'openssl in victim.service','queued','recorder','bourdond',NULL,'/',NULL,9,235513705),
(1,'openssl in victim.service','queued','irq',NULL,NULL,NULL,NULL,NULL,127345826),
(1,'openssl in victim.service','queued','other','lck22652',NULL,'/bourdon-locks-alone-22652/victim',22959,1,109356122),
(1,'openssl in victim.service','queued','other','bash',NULL,'/',NULL,47,89841904),
(1,'openssl in victim.service','queued','other','cat',NULL,'/',NULL,12,45294775),
(1,'openssl in victim.service','queued','other','bourdond',NULL,'/',NULL,9,34470015),
(1,'openssl in victim.service','queued','other','memfd:sealed-91',NULL,'/',NULL,6,28323307),
(1,'openssl in victim.service','queued','other',NULL,NULL,NULL,NULL,NULL,24250678),
(1,'openssl in victim.service','queued','kernel',NULL,NULL,NULL,NULL,NULL,23516874),
(1,'openssl in victim.service','queued','other','pgrep',NULL,'/',NULL,1,18025703),
(1,'openssl in victim.service','queued','steal',NULL,NULL,NULL,NULL,NULL,14843894);
INSERT INTO interrupt(capture_id,kind,number,name,from_at,to_at,count,ns,percent) VALUES
(1,'irq',NULL,'local timer',1795820538899039544,1795820542907775606,4765,59706034,0.74),
(1,'softirq',9,'RCU',1795820538899039544,1795820542907775606,399,3822064,0.05),
(1,'softirq',7,'SCHED',1795820538899039544,1795820542907775606,132,2625405,0.03),
(1,'softirq',1,'TIMER',1795820538899039544,1795820542907775606,194,2216075,0.03),
(1,'softirq',4,'BLOCK',1795820538899039544,1795820542907775606,5,141227,0.0),
(1,'irq',42,'virtio3-tx',1795820538899039544,1795820542907775606,2,57233,0.0),
(1,'irq',36,'virtio1-req.0',1795820538899039544,1795820542907775606,5,40401,0.0),
(1,'irq',41,'virtio3-rx',1795820538899039544,1795820542907775606,2,39028,0.0);
INSERT INTO statistic(capture_id,from_at,to_at,scope,source,device,name,before,after) VALUES
(1,1795820539861062315,1795820542907976567,'/verdicts.slice/victim.service','cpu.stat',NULL,'usage_usec',5528122,11341976),
(1,1795820539861062315,1795820542907976567,'/verdicts.slice/victim.service','cpu.stat',NULL,'user_usec',5515653,11329506),
(1,1795820539861062315,1795820542907976567,'/verdicts.slice/victim.service','cpu.stat',NULL,'nice_usec',5605643,11536973),
(1,1795820539861062315,1795820542907976567,'/verdicts.slice','cpu.stat',NULL,'usage_usec',79145928,84959781),
(1,1795820539861062315,1795820542907976567,'/verdicts.slice','cpu.stat',NULL,'user_usec',75243174,81057028),
(1,1795820539861062315,1795820542907976567,'/verdicts.slice','cpu.stat',NULL,'nice_usec',76590460,82521791),
(1,1795820539861062315,1795820542907976567,'/','cpu.stat',NULL,'usage_usec',29105369422,29111460753),
(1,1795820539861062315,1795820542907976567,'/','cpu.stat',NULL,'user_usec',24583494780,24589506111),
(1,1795820539861062315,1795820542907976567,'/','cpu.stat',NULL,'system_usec',4521874641,4521954641),
(1,1795820539861062315,1795820542907976567,'/','cpu.stat',NULL,'nice_usec',7626703642,7632642972),
(1,1795820539861062315,1795820542907976567,'system','vmstat',NULL,'pgfault',519339855,519345115),
(1,1795820539861062315,1795820542907976567,'system','diskstats','vda','writes',2572572,2572580),
(1,1795820539861062315,1795820542907976567,'system','diskstats','vda','write_bytes',289325121536,289325490176),
(1,1795820539861062315,1795820542907976567,'system','diskstats','vda','write_ms',1696741,1696745);
INSERT INTO pressure(capture_id,at,scope,resource,some_us,full_us) VALUES
(1,1795820539858772029,'system','cpu',10451094662,0),
(1,1795820539858772029,'system','memory',37673017,9108197),
(1,1795820539858772029,'system','io',285663504,48235128),
(1,1795820539858772029,'/verdicts.slice/victim.service','cpu',2889449,122605),
(1,1795820539858772029,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820539858772029,'/verdicts.slice/victim.service','io',0,0),
(1,1795820542907976567,'system','cpu',10454143270,0),
(1,1795820542907976567,'system','memory',37673017,9108197),
(1,1795820542907976567,'system','io',285663686,48235128),
(1,1795820542907976567,'/verdicts.slice/victim.service','cpu',5936682,258998),
(1,1795820542907976567,'/verdicts.slice/victim.service','memory',0,0),
(1,1795820542907976567,'/verdicts.slice/victim.service','io',0,0),
(1,1795820542907976567,'targets','cpu',2033350,NULL),
(1,1795820542907976567,'targets','memory',0,NULL),
(1,1795820542907976567,'targets','io',0,NULL);
INSERT INTO loss(capture_id,reason,events,unit) VALUES
(1,'frames-unresolved',563,'frame'),
(1,'stack-not-whole',682,'stack');

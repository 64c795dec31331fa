// SPDX-License-Identifier: GPL-2.0-only
//
// tables.js: what the selected span has, in tables; and what is known of the whole capture alone.

const ROWS_SHOWN = 25;

const KIND_TEXTS = {
	program: 'program', user: 'function', inlined: 'inlined', kernel: 'kernel', jit: 'JIT code', unknown: 'unknown code',
	missing: 'frames missing',
};

/* ---- of the selected span ---- */

// Functions by what they have themselves, or with their callees. A recursive function counts once.
function functionRows(tree, { self, totals }) {
	const rows = tree.functions.map((frame) => ({ frame, self: 0, total: 0 }));

	for (let i = 1; i < tree.count; i++) {
		const row = totals[i] ? rows[tree.frameOf(i).code] : null;

		if (!row)
			continue;
		row.self += self[i];
		if (tree.isFirst[i])
			row.total += totals[i];
	}
	return rows;
}

function drawFunctions(selection, view, by) {
	const { tree } = selection;
	const rows = functionRows(tree, view);
	const theirs = view.compared ? functionRows(tree, view.theirs) : null;
	const ours = view.compared ? functionRows(tree, view.ours) : null;
	const whole = view.totals[0];
	const columns = [
		{ head: 'Function', text: (row) => functionCell(row.frame) },
		{ head: 'Kind', text: (row) => KIND_TEXTS[row.frame.kind] },
		{ head: 'Self', number: true, text: (row) => bar(row.self, whole) },
		{ head: 'Total', number: true, text: (row) => bar(row.total, whole) },
		{ head: selection.isTime ? 'Waited itself' : 'Samples itself', number: true,
			text: (row) => selection.isTime ? duration(row.self) : count(row.self) },
	];
	const change = (row) => ours[row.frame.code][by] - theirs[row.frame.code][by];
	let shown = rows.filter((row) => row.frame.kind !== 'program' && (row.total > 0 || theirs?.[row.frame.code].total > 0));

	if (theirs) {
		columns.splice(2, 0,
			{ head: view.compared.names[0], number: true, text: (row) => selection.rate(ours[row.frame.code][by]) },
			{ head: view.compared.names[1], number: true, text: (row) => selection.rate(theirs[row.frame.code][by]) },
			{ head: 'Change', number: true, text: (row) => `${change(row) < 0 ? '−' : '+'}${selection.rate(Math.abs(change(row)))}` });
		shown.sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)) || b[by] - a[by]);
	} else {
		shown.sort((a, b) => b[by] - a[by] || b.total - a.total);
	}
	const hidden = shown.length - ROWS_SHOWN;

	shown = shown.slice(0, ROWS_SHOWN);
	replace($('functions'), shown.length ? table(columns, shown, 'Functions') : nothing('No samples of this kind in this span.'),
		hidden > 0 ? nothing(`${counted(hidden, 'more function has', 'more functions have')} less.`) : null);
}

function functionCell(frame) {
	return element('span', { className: 'function', title: `${frame.name}\n${frame.module}${frame.file ? `\n${frame.file}` : ''}` },
		element('span', { className: 'name' }, frame.name), ' ', element('span', { className: 'module' }, basename(frame.module)));
}

// Sums by process of groups that `wanted` accepts: { samples, cpu, waited by stall }.
function processRows(samples, sums, wanted) {
	const rows = new Map();

	for (let i = 0; i < samples.groups; i++) {
		const one = samples.classOf(i);

		if (!wanted(one) || (!sums.counts[i] && !sums.weights[i]))
			continue;
		const process = samples.processOf(i);

		if (!rows.has(process))
			rows.set(process, { process: samples.processes[process], samples: 0, cpu: 0, waited: 0, cpuWait: 0, ioWait: 0, memoryWait: 0, threads: new Set() });
		const row = rows.get(process);

		row.threads.add(samples.groupThreads[i]);
		if (one.onCpu) {
			row.samples += sums.counts[i];
			row.cpu += sums.weights[i];
			continue;
		}
		row.waited += sums.weights[i];
		for (const stall of one.stalls)
			if (`${stall}Wait` in row)
				row[`${stall}Wait`] += sums.weights[i];
	}
	return [...rows.values()];
}

function processCell(row) {
	const [comm, tgid, place] = row.process;

	return element('span', { className: 'function', title: place },
		element('span', { className: 'name' }, comm), ` ${tgid} `, element('span', { className: 'module' }, basename(place)));
}

function drawProcesses(selection, view) {
	const { samples } = selection;
	const victims = processRows(samples, view.sums, (one) => one.role === 'target');
	const others = processRows(samples, view.sums, (one) => one.role !== 'target' && one.onCpu);
	const onCpu = [...victims, ...others].reduce((sum, row) => sum + row.samples, 0);
	const most = (rows, key) => rows.sort((a, b) => b[key] - a[key]);
	const shown = most(victims, 'waited').sort((a, b) => (b.cpuWait + b.ioWait + b.memoryWait + b.cpu) - (a.cpuWait + a.ioWait + a.memoryWait + a.cpu));
	const more = (rows) => rows.length > ROWS_SHOWN ? nothing(`${counted(rows.length - ROWS_SHOWN, 'more process has', 'more processes have')} less.`) : null;

	replace($('victims'), shown.length ? table([
		{ head: 'Process', text: processCell },
		{ head: 'Threads', number: true, text: (row) => count(row.threads.size) },
		{ head: 'On CPU', number: true, text: (row) => duration(row.cpu) },
		{ head: 'For a CPU', number: true, text: (row) => duration(row.cpuWait) },
		{ head: 'For I/O', number: true, text: (row) => duration(row.ioWait) },
		{ head: 'For memory', number: true, text: (row) => duration(row.memoryWait) },
	], shown.slice(0, ROWS_SHOWN), 'Targets: running and waiting, all threads added up') : nothing('No sample of a target in this span.'), more(shown));
	replace($('culprits'), others.length ? table([
		{ head: 'Process', text: processCell },
		{ head: 'Samples', number: true, text: (row) => count(row.samples) },
		{ head: 'On CPU', number: true, text: (row) => duration(row.cpu) },
		{ head: 'Of all on CPU', number: true, text: (row) => bar(row.samples, onCpu) },
	], most(others, 'samples').slice(0, ROWS_SHOWN), 'Others than the targets, and kernel threads') : nothing('No sample of others in this span.'), more(others));
}

function drawWaiting(selection, view) {
	const { samples } = selection;
	const rows = samples.classes.map((one) => ({ one, waited: 0, intervals: 0 }));

	for (let i = 0; i < samples.groups; i++) {
		const row = rows[samples.groupClasses[i]];

		row.waited += view.sums.weights[i];
		row.intervals += view.sums.counts[i];
	}
	const shown = rows.filter((row) => !row.one.onCpu && row.waited > 0).sort((a, b) => b.waited - a.waited);
	const all = shown.reduce((sum, row) => sum + row.waited, 0);

	replace($('waiting'), shown.length ? table([
		{ head: 'Waiting for', text: (row) => row.one.stall === 'none' ? 'no resource: asleep, locks' : row.one.stall },
		{ head: 'Time', number: true, text: (row) => duration(row.waited) },
		{ head: 'Share', number: true, text: (row) => bar(row.waited, all) },
		{ head: 'Intervals ended', number: true, text: (row) => count(row.intervals) },
	], shown, 'Time off CPU of the targets’ threads, added up') : nothing('No waiting of targets in this span.'));
}

const STATE_TEXTS = {
	running: 'running', queued: 'queued for a CPU', S: 'asleep (S)', D: 'in D', T: 'stopped (T)', t: 'traced (t)', Z: 'ended (Z)', X: 'ended (X)',
	I: 'idle (I)', P: 'parked (P)',
};

// Looks are told by second: those seconds count that the span touches.
function drawStates(data, span) {
	const states = data.why.states ?? [];
	const within = (second) => 1000 * second < span.to && 1000 * (second + 1) > span.from;
	const rows = states.map((one) => {
		const seconds = (one.seconds ?? []).filter(({ second }) => within(second));

		return { one, threads: seconds.length ? seconds.reduce((sum, { threads }) => sum + threads, 0) / seconds.length : 0 };
	}).filter((row) => row.threads > 0).sort((a, b) => b.threads - a.threads);

	replace($('states'), rows.length ? table([
		{ head: 'Who', text: ({ one }) => one.role === 'target' ? 'targets' : one.program ?? one.role },
		{ head: 'State', text: ({ one }) => STATE_TEXTS[one.state] ?? one.state },
		{ head: 'Where', text: ({ one }) => [one.syscall, one.function, one.below].filter(Boolean).join(' · ') || '–' },
		{ head: 'Threads', number: true, text: (row) => row.threads.toFixed(1) },
	], rows, 'Threads that ran, were queued, or were in D at a look, on average') : nothing(states.length
		? 'The threads were looked at from the trigger on; no look is within this span.' : 'The capture has no looks at threads.'));
}

function drawSums(selection, view) {
	const { samples } = selection;
	const sums = { onCpu: 0, cpu: 0, others: 0, waited: 0, stalled: 0, intervals: 0 };
	const resource = selection.capture.resource;

	for (let i = 0; i < samples.groups; i++) {
		const one = samples.classOf(i);

		if (one.role !== 'target') {
			sums.others += view.sums.counts[i];
		} else if (one.onCpu) {
			sums.onCpu += view.sums.counts[i];
			sums.cpu += view.sums.weights[i];
		} else {
			sums.waited += view.sums.weights[i];
			sums.intervals += view.sums.counts[i];
		}
		if (one.role === 'target' && resource && one.stalls.includes(resource))
			sums.stalled += view.sums.weights[i];
	}
	const sum = (name, text, value, hint) => element('div', { title: hint ?? '' }, element('dt', null, name),
		element('dd', { 'data-sum': name, 'data-value': String(Math.round(value)) }, text));

	replace($('sums'),
		sum('span', duration((view.span.to - view.span.from) * MS), (view.span.to - view.span.from) * MS),
		sum('targets on CPU', counted(sums.onCpu, 'sample', 'samples'), sums.onCpu),
		sum('others on CPU', counted(sums.others, 'sample', 'samples'), sums.others),
		sum('targets waited', duration(sums.waited), sums.waited, 'time off CPU, all threads added up'),
		resource ? sum(`stalled on ${resource === 'io' ? 'I/O' : resource === 'cpu' ? 'CPU' : resource}`, duration(sums.stalled), sums.stalled, 'of it, by PSI’s classes, and on CPU in reclaim') : null,
		sum('intervals ended', count(sums.intervals), sums.intervals));
}

function drawScopes(selection) {
	const { from, to } = selection.span;
	const text = selection.isWhole ? 'whole capture' : `${moment(from)} to ${moment(to)}`;

	for (const scope of document.querySelectorAll('[data-scope]')) {
		scope.textContent = scope.dataset.scope === 'seconds' && !selection.isWhole
			? `seconds ${moment(Math.floor(from / 1000) * 1000)} to ${moment(Math.ceil(to / 1000) * 1000)}` : text;
		scope.classList.toggle('chosen', !selection.isWhole);
	}
	$('from').value = (from / 1000).toFixed(2);
	$('to').value = (to / 1000).toFixed(2);
	$('all').disabled = selection.isWhole;
	document.body.classList.toggle('has-span', !selection.isWhole);
	$('timeline').setAttribute('aria-label', `Timeline from ${moment(selection.samples.from)} to ${moment(selection.samples.to)}, selected: ${text}`);
}

function drawPressure(data, span) {
	const rows = [];
	const groups = new Map();

	for (const row of data.pressure) {
		const key = `${row.scope}\0${row.resource}`;

		if (!groups.has(key))
			groups.set(key, []);
		groups.get(key).push(row);
	}
	for (const readings of groups.values()) {
		// the last reading before the span, and the first one behind it
		const first = readings.findLast((row) => row.at_ns / MS <= span.from) ?? readings[0];
		const last = readings.find((row) => row.at_ns / MS >= span.to) ?? readings[readings.length - 1];

		if (last.at_ns > first.at_ns)
			rows.push({ scope: first.scope, resource: first.resource, first, last, elapsed: last.at_ns - first.at_ns,
				some: (last.some_us - first.some_us) * 1000, full: last.full_us === null ? null : (last.full_us - first.full_us) * 1000 });
	}
	replace($('pressure-table'), rows.length ? table([
		{ head: 'Resource', text: (row) => row.resource },
		{ head: 'Scope', text: (row) => row.scope },
		{ head: 'From', number: true, text: (row) => moment(row.first.at_ns / MS) },
		{ head: 'To', number: true, text: (row) => moment(row.last.at_ns / MS) },
		{ head: 'Some', number: true, text: (row) => `${duration(row.some)} (${percent(row.some, row.elapsed)})` },
		{ head: 'Full', number: true, text: (row) => row.full === null ? '–' : `${duration(row.full)} (${percent(row.full, row.elapsed)})` },
	], rows, 'Growth of PSI’s totals between the readings around the selected span') : nothing('No reading of PSI.'));
}

/* ---- of the whole capture ---- */

const PART_TEXTS = { others: 'other processes', irq: 'hard interrupts', softirq: 'soft interrupts', steal: 'stolen by the hypervisor', denied: 'denied by policy' };

function drawMachine(data) {
	const parts = (data.why.machine ?? []).filter((part) => part.ns > 0);
	const all = parts.reduce((sum, part) => sum + part.ns, 0);
	const strip = element('div', { className: 'strip', role: 'img', 'aria-label': parts.map((part) =>
		`${PART_TEXTS[part.part] ?? part.part} ${percent(part.ns, all)}`).join(', ') });

	if (!parts.length) {
		replace($('machine'), nothing('Not recorded.'));
		return;
	}
	for (const part of parts) {
		const piece = element('span', { className: `part part-${part.part.replace(/[^a-z]/g, '-')}` },
			part.ns / all > 0.09 ? `${part.part} ${percent(part.ns, all)}` : '');

		piece.style.width = `${100 * part.ns / all}%`;
		strip.append(piece);
	}
	replace($('machine'), strip, table([
		{ head: 'Who took it', text: (part) => element('span', { className: 'with-swatch' },
			element('span', { className: `swatch part-${part.part.replace(/[^a-z]/g, '-')}` }), PART_TEXTS[part.part] ?? part.part) },
		{ head: 'CPU time', number: true, text: (part) => duration(part.ns) },
		{ head: 'Share', number: true, text: (part) => percent(part.ns, all) },
	], parts, `All CPU time of the machine over ${duration(parts[0].span_ns)}`));
}

// Sections of why that are tables without more: { title, columns of [head, key, form] }.
const PLAIN = [
	{ key: 'groups', title: 'Who used most', note: 'By program. “Ended” are processes that began and ended meanwhile.', columns: [
		['Program', 'program'], ['Role', 'role'], ['Unit or cgroup', 'place'], ['Processes', 'processes', count], ['Ended', 'ended', count], ['CPU time', 'cpu_ns', duration],
		['Read', 'read_bytes', bytes], ['Written', 'write_bytes', bytes], ['Memory', 'rss_bytes', bytes], ['Share', 'percent', (value) => `${value} %`]] },
	{ key: 'killed', title: 'Killed meanwhile', columns: [
		['Victim', 'comm'], ['PID', 'tgid', String], ['How', 'how'], ['After the trigger', 'after_ns', (ns) => moment(ns / MS)], ['Memory', 'rss_bytes', bytes],
		['By', 'by_comm'], ['Limit of', 'limit_cgroup'], ['Limit', 'limit_bytes', bytes]] },
	{ key: 'wakers', title: 'Who ended the waits', note: 'Of the targets’ threads, waits of 1 ms or longer.', columns: [
		['Woken by', 'comm'], ['Who', 'role'], ['PID', 'tgid', String], ['TID', 'tid', String], ['Waited', 'waited_ns', duration], ['Share', 'percent', (value) => `${value.toFixed(1)} %`], ['Intervals', 'intervals', count]] },
	{ key: 'locks', title: 'Locks', note: 'That the targets’ threads waited for, and who gave them free.', columns: [
		['Lock', 'lock'], ['Waited', 'waited_ns', duration], ['Waiters', 'waiters', count], ['Held by', 'comm'], ['TID', 'tid', String], ['Share', 'percent', (value) => `${value} %`], ['Given free in', 'place']] },
	{ key: 'bytes', title: 'Bytes read and written', columns: [['By', 'part'], ['Read', 'read_bytes', bytes], ['Written', 'write_bytes', bytes]] },
	{ key: 'cgroup_bytes', title: 'What block devices did for cgroups', columns: [['Unit or cgroup', 'place'], ['Read', 'device_read_bytes', bytes], ['Written', 'device_written_bytes', bytes]] },
	{ key: 'growth', title: 'Who grew', columns: [['Program', 'program'], ['Unit or cgroup', 'place'], ['Before', 'rss_before_bytes', bytes], ['After', 'rss_bytes', bytes], ['Growth', 'grown_bytes', bytes]] },
	{ key: 'growth_stacks', title: 'Which functions made memory grow', note: 'Of targets, beyond the highest that their memory ever was.', columns: [
		['Function', 'function'], ['Grew by', 'bytes', bytes], ['Share', 'percent', (value) => `${value} %`], ['Program', 'program'], ['Unit or cgroup', 'unit'],
		['Processes', 'processes', count], ['Called', 'place']] },
	{ key: 'reclaim', title: 'Who reclaimed memory', columns: [['Program', 'program'], ['Unit or cgroup', 'place'], ['Reclaims', 'reclaims', count], ['Time', 'reclaim_ns', duration], ['CPU time', 'cpu_ns', duration]] },
	{ key: 'cgroups', title: 'Memory of cgroups', columns: [
		['Unit or cgroup', 'place'], ['Processes’', 'anon_bytes', bytes], ['Before', 'anon_before_bytes', bytes], ['Page cache', 'file_bytes', bytes], ['Before', 'file_before_bytes', bytes],
		['Refaulted', 'refaulted_bytes', bytes], ['Reclaimed', 'reclaimed_bytes', bytes]] },
	{ key: 'not_whole', title: 'Stacks that are not whole', note: 'By the file of their outermost frame, of all samples of targets with a stack of the program.', columns: [
		['File', 'module'], ['Runtime', 'runtime'], ['Samples', 'samples', count], ['Share', 'percent', (value) => `${value.toFixed(1)} %`], ['Ended', 'ended'], ['Why', 'why'], ['What to do', 'remedy']] },
	{ key: 'interrupts', title: 'Interrupts', columns: [['Interrupt', 'label'], ['Kind', 'kind'], ['Number', 'number', String], ['Count', 'count', count], ['Time', 'ns', duration], ['Of the machine', 'percent', (value) => `${value} %`]] },
];

// The unit of a statistic is the end of its name.
function statistic(name, value) {
	if (value === null)
		return '–';
	if (/usec$|_us$/.test(name))
		return duration(value * 1000);
	if (/_ms$/.test(name))
		return duration(value * MS);
	if (/bytes$/.test(name))
		return bytes(value);
	return count(value);
}

function plainCard(title, note, content) {
	const id = `static-${title.toLowerCase().replace(/[^a-z]+/g, '-')}`;

	return element('section', { className: 'card', 'aria-labelledby': id },
		element('div', { className: 'section-head' }, element('h2', { id }, title), element('p', { className: 'scope whole' }, 'whole capture')),
		note ? element('p', { className: 'note' }, note) : null, content);
}

function drawStatic(data) {
	const cards = [];

	for (const { key, title, note, columns } of PLAIN) {
		const rows = data.why[key] ?? [];

		if (rows.length)
			cards.push(plainCard(title, note, table(columns.map(([head, name, form]) => ({
				head, number: Boolean(form), text: (row) => row[name] === null || row[name] === undefined ? '–' : form ? form(row[name]) : String(row[name]),
			})), rows, title)));
	}
	if (data.statistics.length)
		cards.push(plainCard('What the kernel counted', 'Its own numbers about shortages that changed, and limits.', table([
			{ head: 'Name', text: (row) => row.device ? `${row.device} ${row.name}` : row.name },
			{ head: 'File', text: (row) => row.source },
			{ head: 'Scope', text: (row) => row.scope },
			{ head: 'Before', number: true, text: (row) => statistic(row.name, row.before) },
			{ head: 'After', number: true, text: (row) => statistic(row.name, row.after) },
			{ head: 'Change', number: true, text: (row) => row.before === null || row.after === null ? '–'
				: `${row.after < row.before ? '−' : '+'}${statistic(row.name, Math.abs(row.after - row.before))}` },
		], data.statistics, 'What the kernel counted')));
	replace($('static'), ...cards);
}

function drawLedger(data) {
	const losses = data.why.losses ?? [];
	const lost = losses.filter((loss) => loss.events > 0);
	const rest = losses.length - lost.length;

	if (!losses.length) {
		replace($('ledger'), nothing('Unknown: the capture has no ledger of losses.'));
		return;
	}
	replace($('ledger'), lost.length ? table([
		{ head: 'Reason', text: (loss) => loss.reason },
		{ head: 'Events', number: true, text: (loss) => counted(loss.events, loss.unit, `${loss.unit}${loss.unit.endsWith('s') ? 'es' : 's'}`) },
		{ head: 'Share', number: true, text: (loss) => loss.percent === null ? '–' : `${loss.percent} %` },
		{ head: 'What it means', text: (loss) => data.loss_texts[loss.reason] ?? '–' },
	], lost, 'Losses') : null,
	nothing(lost.length ? `${counted(rest, 'other reason was', 'other reasons were')} checked, and nothing found.` : `No loss: ${counted(rest, 'reason was', 'reasons were')} checked.`));
}

function drawMade(data) {
	const { capture } = data;
	const list = [];
	const add = (name, value) => value !== null && value !== undefined && value !== '' && list.push(element('div', null, element('dt', null, name), element('dd', null, value)));
	const length = (ns) => ns === null ? null : duration(ns);

	add('host', capture.hostname);
	add('kernel', capture.kernel);
	add('CPUs', String(capture.cpus ?? ''));
	add('bourdond', capture.version);
	add('page by', `bourdon ${data.made_by}`);
	add('kernel programs', capture.object_sha256 ? `SHA-256 ${capture.object_sha256.slice(0, 16)}…` : null);
	add('rule', capture.rule ? `${capture.rule}${capture.source ? ` (${capture.source})` : ''}` : null);
	add('comm', capture.rule_comm);
	add('cgroup of the rule', capture.rule_cgroup);
	add('unit of the rule', capture.rule_unit);
	add('watches', capture.watch);
	add('threshold', capture.stall_us ? `${capture.resource} ${capture.kind}: ${duration(capture.stall_us * 1000)} within ${duration(capture.window_us * 1000)}` : null);
	add('latency', capture.latency_metric ? `${capture.latency_metric} ${capture.latency_quantile}: ${duration(capture.latency_observed_ns)} > ${duration(capture.latency_limit_ns)} within ${duration(capture.latency_window_ns)}` : null);
	add('trigger', capture.trigger_mode);
	add('asked for by', capture.asked_by);
	add('asked for', capture.asked_for);
	add('note', capture.note);
	add('history', length(capture.history_ns));
	add('history of waiting', length(capture.offcpu_history_ns));
	add('recorded after it', length(capture.after_ns));
	add('clock', capture.hz ? `${capture.hz} Hz` : null);
	add('samples on CPU', capture.expected_samples === null ? null
		: `${count(capture.received_samples)} of ${count(capture.expected_samples)} expected by CPU time`);
	add('root’s policy', capture.policy);
	add('state', capture.state);
	replace($('made'), ...list);
}

// SPDX-License-Identifier: GPL-2.0-only
//
// latency.js: how long what waited, by metric and label: percentiles, and a histogram of octaves, during the capture above its axis and
// before it below. Of the whole capture.

const LABELS_SHOWN = 8;

const METRIC_TEXTS = {
	runqueue: 'from becoming runnable to a CPU', offcpu: 'off CPU, by what was waited for', block: 'requests to disks, from the queue to the end',
	'block.queue': 'of that, before the device had the request', 'block.service': 'of that, since the device had it', 'block.size': 'bytes of a request',
	'request': 'from the arrival of a request to the last byte of its answer', 'request.first_byte': 'of that, up to the first byte of the answer',
	'request.unread': 'of that, before the server read it', 'request.on_cpu': 'of that, since then, on a CPU',
	'request.queued': 'of that, since then, waiting for a CPU', 'request.blocked': 'of that, since then, blocked',
	'request.multiplexed': 'the same of connections on which requests overlap',
	lock: 'waiting for locks', memory: 'in reclaim and compaction, and for pages read', softirq: 'in soft interrupts',
	exec: 'from the start of a process to its first exec', fork: 'from fork to the first CPU',
};

// The octave of a bucket's lower bound: the first one has all values below 8.
function octaveOf(lower) {
	return lower < 8 ? 2 : Math.floor(Math.log2(lower));
}

// Counts by octave of one label in one span.
function octaves(label) {
	const counts = new Map();

	for (const [lower, , number] of label?.buckets ?? [])
		counts.set(octaveOf(lower), (counts.get(octaveOf(lower)) ?? 0) + number);
	return counts;
}

function octaveBegins(octave) {
	return octave > 2 ? 2 ** octave : 0;
}

// Where most of it is: "most in 1.05 ms to 2.1 ms".
function mostOf(counts, quantity) {
	const [most] = [...counts].sort((a, b) => b[1] - a[1]);

	return most ? `most in ${quantity(octaveBegins(most[0]))} to ${quantity(octaveBegins(most[0] + 1))}` : 'nothing';
}

function histogram(row, first, last, quantity) {
	const during = octaves(row.during);
	const before = octaves(row.before);
	const made = element('span', { className: 'histogram', role: 'img', 'aria-label': `during: ${mostOf(during, quantity)}; before: ${mostOf(before, quantity)}` });
	const piece = (className, counts, octave) => {
		const part = element('span', { className });
		const number = counts.get(octave) ?? 0;

		part.style.height = `${number ? Math.max(1, Math.round(18 * number / Math.max(...counts.values()))) : 0}px`;
		return part;
	};

	for (let octave = first; octave <= last; octave++)
		made.append(element('span', {
			className: 'octave',
			title: `${quantity(octaveBegins(octave))} to ${quantity(octaveBegins(octave + 1))}: ${count(during.get(octave) ?? 0)} during, ${count(before.get(octave) ?? 0)} before`,
		}, element('span', { className: 'above' }, piece('now', during, octave)), element('span', { className: 'below' }, piece('then', before, octave))));
	return made;
}

// The labels of a metric, most time during the capture first, each with what it had before.
function latencyRows(spans) {
	const before = new Map((spans.before?.labels ?? []).map((label) => [label.label, label]));
	const rows = (spans.during?.labels ?? []).map((label) => ({ label: label.label, during: label, before: before.get(label.label) }));
	const shown = new Set(rows.map((row) => row.label));

	return rows.concat((spans.before?.labels ?? []).filter((label) => !shown.has(label.label)).map((label) => ({ label: label.label, during: null, before: label })));
}

function measuredText(name, measured) {
	if (!measured || measured.events === null)
		return `${name}: not measured`;
	return `${name}: ${counted(measured.events, 'event', 'events')}, ${count(measured.lost)} lost, ${count(measured.unpaired)} unpaired`
		+ ` (${percent(measured.unpaired, measured.events + measured.unpaired)}), ${duration(measured.to_at - measured.from_at)} of ${duration(measured.wanted_ns)}`
		+ `${measured.is_partial ? ': partial' : ''}`;
}

function drawMetric(metric, spans) {
	const rows = latencyRows(spans);
	const shown = rows.slice(0, LABELS_SHOWN);
	const quantity = (spans.during ?? spans.before).unit === 'bytes' ? bytes : duration;
	const all = shown.flatMap((row) => [...octaves(row.during).keys(), ...octaves(row.before).keys()]);
	const first = Math.min(...all);
	const last = Math.max(...all);
	const value = (name, key) => (row) => row[name] ? quantity(row[name][key]) : '–';
	const text = METRIC_TEXTS[metric] ? `${metric}: ${METRIC_TEXTS[metric]}` : metric;

	return element('div', { className: 'metric' }, element('h3', null, text),
		nothing(`${measuredText('During', spans.during)}. ${measuredText('Before', spans.before)}.`),
		rows.length ? table([
			{ head: 'Label', text: (row) => row.label },
			{ head: 'Count', number: true, text: (row) => count(row.during?.count ?? 0) },
			{ head: 'p50', number: true, text: value('during', 'p50_ns') },
			{ head: 'p90', number: true, text: value('during', 'p90_ns') },
			{ head: 'p99', number: true, text: value('during', 'p99_ns') },
			{ head: 'p99 before', number: true, text: value('before', 'p99_ns') },
			{ head: 'p99.9', number: true, text: value('during', 'p999_ns') },
			{ head: 'Longest', number: true, text: value('during', 'max_ns') },
			{ head: `${quantity(octaveBegins(first))} to ${quantity(octaveBegins(last + 1))}`, text: (row) => histogram(row, first, last, quantity) },
		], shown, text) : null,
		rows.length > shown.length ? nothing(`${counted(rows.length - shown.length, 'more label has', 'more labels have')} less.`) : null);
}

function drawLatencies(data) {
	const metrics = new Map();

	for (const metric of data.latencies) {
		if (!metrics.has(metric.metric))
			metrics.set(metric.metric, {});
		metrics.get(metric.metric)[metric.span] = metric;
	}
	$('latencies-card').hidden = !metrics.size;
	replace($('latencies'), ...[...metrics].map(([metric, spans]) => drawMetric(metric, spans)));
}

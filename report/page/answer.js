// SPDX-License-Identifier: GPL-2.0-only
//
// answer.js: the first screen: what was short, who suffered, who used most, where in the code, since when, and how certain.

const RESOURCES = { cpu: 'CPU', memory: 'Memory', io: 'I/O', irq: 'Interrupt time' };
const PARTIAL_PERCENT = 1;

function fact(name, text, more) {
	return element('div', null, element('dt', null, name), element('dd', null, text ? element('strong', null, text) : null, more ? element('span', null, more) : null));
}

// The target that stalled longest on the resource, or used most CPU time where none fired.
function victimFact(selection, sums, resource) {
	const key = resource && resource !== 'irq' ? `${resource}Wait` : 'cpu';
	const [row] = processRows(selection.samples, sums, (one) => one.role === 'target').sort((a, b) => b[key] - a[key]);

	if (!row || !row[key])
		return null;
	return fact(key === 'cpu' ? 'Ran most' : 'Stalled most', `${row.process[0]} [${row.process[1]}]`,
		`${duration(row[key])} ${key === 'cpu' ? 'on CPU' : `waiting for ${{ cpu: 'a CPU', io: 'I/O', memory: 'memory' }[resource]}`}${row.process[2] ? `, in ${basename(row.process[2])}` : ''}`);
}

function usedMostFact(data) {
	const [group] = data.why.groups ?? [];

	if (!group)
		return null;
	const used = data.capture.resource === 'io' ? `${bytes(group.read_bytes)} read, ${bytes(group.write_bytes)} written`
		: data.capture.resource === 'memory' ? bytes(group.rss_bytes) : `${duration(group.cpu_ns)} of CPU time`;

	return fact('Used most of it', `${group.program}${group.tgid ? ` [${group.tgid}]` : ''}`,
		`${used}, ${group.percent} % of what all used; ${group.role === 'target' ? 'a target itself' : group.role === 'kernel' ? 'a kernel thread' : 'no target'}`);
}

// The hottest function of whoever used most.
function hottestFact(selection, sums, data) {
	const { samples, tree } = selection;
	const program = data.why.groups?.[0]?.program;
	const values = new Float64Array(samples.groups);
	let all = 0;

	for (const only of [program, undefined]) {
		for (let i = 0; i < values.length; i++) {
			values[i] = samples.classOf(i).onCpu && (only === undefined ? samples.classOf(i).role === 'target'
				: samples.processes[samples.processOf(i)][0] === only) ? sums.counts[i] : 0;
			all += values[i];
		}
		if (all)
			break;
	}
	const [row] = functionRows(tree, tree.totals(samples, values)).filter(({ frame }) => !['program', 'missing'].includes(frame.kind))
		.sort((a, b) => b.self - a.self);

	return row?.self ? fact('Hottest function', row.frame.name, `${percent(row.self, all)} of its samples on CPU, in ${basename(row.frame.module)}`) : null;
}

function drawAnswer(selection, data) {
	const { capture } = data;
	const { answer } = data.why;
	const resource = RESOURCES[capture.resource];
	const [loss] = (data.why.losses ?? []).filter(({ percent: share, events }) => share >= PARTIAL_PERCENT && events > 0);
	const sums = selection.wholeSums ??= selection.samples.sum(selection.samples.whole);
	const state = capture.state === 'complete' ? '' : capture.state === 'recording' ? ' Still recording when this page was made.' : ' Interrupted: bourdond ended before the capture did.';

	$('what').textContent = `capture ${capture.capture_id} · ${capture.rule ? `rule ${capture.rule}` : 'on demand'} · ${capture.hostname} · ${capture.triggered} UTC`;
	$('eyebrow').textContent = resource ? `${resource} was short${capture.cgroup ? ` in ${capture.cgroup}` : ' on the whole system'}`
		: capture.trigger_mode === 'kill' ? 'A process was killed for lack of memory' : 'Recorded on demand';
	$('headline').textContent = capture.cause ? capture.cause.charAt(0).toUpperCase() + capture.cause.slice(1)
		: resource ? `${resource} pressure, cause not determined` : capture.note ?? 'What these processes did';
	$('because').textContent = capture.because ? `${capture.because}.` : '';
	replace($('facts'),
		resource ? fact('Stalled', duration(capture.observed_us * 1000), `within ${duration(capture.window_us * 1000)}, ${percent(capture.observed_us, capture.window_us)}; threshold ${duration(capture.stall_us * 1000)}`) : null,
		victimFact(selection, sums, capture.resource),
		usedMostFact(data),
		hottestFact(selection, sums, data),
		capture.onset_before_ns !== null && resource ? fact('Since', capture.onset_before_ns > 0 ? `${duration(capture.onset_before_ns)} before the trigger` : 'the trigger', data.why.incident?.captures > 1 ? `incident ${data.why.incident.incident_id} of ${data.why.incident.captures} captures` : '') : null,
		answer?.still ? fact('Still', null, answer.still) : null,
		answer?.certain ? fact('Certain', null, answer.certain) : null,
		fact('Completeness', loss ? 'Partial' : 'Complete', loss ? `${loss.reason}, ${loss.percent} %` : 'no loss of 1 % or more'));
	$('remedy').hidden = !answer?.remedy;
	$('remedy-text').textContent = answer?.remedy ?? '';
	$('remedy-verb').textContent = answer?.command_changes ? 'Do' : 'Look at';
	$('remedy-command').textContent = answer?.command ?? '';
	$('remark').textContent = `${state}${capture.note && capture.cause ? ` Note: ${capture.note}` : ''}`.trim();
	$('remark').hidden = !$('remark').textContent;
}

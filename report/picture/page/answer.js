// SPDX-License-Identifier: GPL-2.0-only
//
// answer.js: the first screen: the lines of `bourdon why`, with the verdict as the title.

const RESOURCES = { cpu: 'CPU', memory: 'Memory', io: 'I/O', irq: 'Interrupt time' };
const PARTIAL_PERCENT = 1;

function fact(name, text) {
	return element('div', null, element('dt', null, name), element('dd', null, text));
}

function capitalised(text) {
	return text.charAt(0).toUpperCase() + text.slice(1);
}

function drawAnswer(data) {
	const { capture } = data;
	const { answer, incident } = data.why;
	const resource = RESOURCES[capture.resource];
	const [loss] = (data.why.losses ?? []).filter(({ percent: share, events }) => share >= PARTIAL_PERCENT && events > 0);
	const state = capture.state === 'complete' ? '' : capture.state === 'recording' ? ' Still recording when this page was made.' : ' Interrupted: bourdond ended before the capture did.';

	$('what').textContent = `capture ${capture.capture_id} · ${capture.rule ? `rule ${capture.rule}` : 'on demand'} · ${capture.hostname} · ${capture.triggered} UTC`;
	$('eyebrow').textContent = resource ? `${resource} was short${capture.cgroup ? ` in ${capture.cgroup}` : ' on the whole system'}`
		: capture.trigger_mode === 'kill' ? 'A process was killed for lack of memory'
			: capture.trigger_mode === 'latency' ? `${capture.latency_metric} took too long${capture.cgroup ? ` in ${capture.cgroup}` : ' on the whole system'}` : 'Recorded on demand';
	$('headline').textContent = answer?.headline ? capitalised(answer.headline)
		: capture.note ?? (resource ? `${resource} pressure` : 'What these processes did');
	// a line without a label goes on with the one before
	replace($('facts'),
		...(answer?.lines ?? []).filter(({ label }) => !['remedy', 'do', 'look at'].includes(label)).map(({ label, text }) => fact(capitalised(label), text)),
		incident?.captures > 1 ? fact('Incident', `${incident.incident_id}, of ${incident.captures} captures`) : null,
		fact('Losses', loss ? `partial: ${loss.reason}, ${loss.percent} %` : 'none of 1 % or more'));
	$('remedy').hidden = !answer?.remedy;
	$('remedy-text').textContent = answer?.remedy.text ?? '';
	$('remedy-verb').textContent = answer?.remedy.changes ? 'Do' : 'Look at';
	$('remedy-command').textContent = answer?.remedy.command ?? '';
	$('remark').textContent = `${state}${capture.note && answer?.headline ? ` Note: ${capture.note}` : ''}`.trim();
	$('remark').hidden = !$('remark').textContent;
}

// SPDX-License-Identifier: GPL-2.0-only
//
// main.js: reads the data, makes the parts, and ties the controls to them.

function fillChoices(selection) {
	const stalls = new Set();

	for (const one of selection.samples.classes)
		if (!one.onCpu)
			one.stalls.forEach((stall) => stalls.add(stall));
	replace($('doing'), element('option', { value: 'on-cpu' }, 'on CPU'), ...(stalls.size ? [
		element('option', { value: 'off-cpu' }, 'waiting, for anything'),
		...[...stalls].sort().map((stall) => element('option', { value: `off-cpu:${stall}` }, STALL_NAMES[stall] ?? `waiting: ${stall}`)),
	] : []));
	if (selection.against)
		$('compare').append(element('option', { value: 'against' }, `with capture ${selection.against.capture.capture_id}`));
}

// What is drawn at first: what fired, and whoever has samples of it.
function chooseFirst(selection) {
	const { samples } = selection;
	const has = (role) => samples.classes.some((one) => one.onCpu && (one.role === 'target') === (role === 'target'));
	const resource = selection.capture.resource;

	if (!has('target') && has('other'))
		selection.role = 'other';
	if (['io', 'memory'].includes(resource) && [...$('doing').options].some(({ value }) => value === `off-cpu:${resource}`))
		selection.doing = `off-cpu:${resource}`;
	if (selection.against)
		selection.compare = 'against';
	$('role').value = selection.role;
	$('doing').value = selection.doing;
	$('compare').value = selection.compare;
}

function drawLegend(selection, view) {
	const kinds = new Set(selection.tree.frames.map((frame) => frame.kind));
	const item = (className, text) => element('li', null, element('span', { className: `swatch ${className}` }), text);

	$('flame').setAttribute('aria-label', `Flame graph of ${$('role').selectedOptions[0].text}, ${$('doing').selectedOptions[0]?.text ?? ''}`);
	if (view.compared)
		replace($('legend'), item('f-more', `▲ more ${view.compared.places[0]}`), item('f-less', `▼ more ${view.compared.places[1]}`), item('f-same', '= the same'));
	else if ($('colour').value === 'kind')
		replace($('legend'), ...Object.keys(KIND_TEXTS).filter((kind) => kinds.has(kind)).map((kind) => item(`f-${kind}`, KIND_TEXTS[kind])));
	else
		replace($('legend'), element('li', null, `One colour for each ${$('colour').value}. Kernel has a bar at its left, inlined a dashed border, JIT code dots.`));
	$('compare-note').hidden = !view.compared;
	if (!view.compared)
		return;
	const [ours, theirs] = view.seconds;

	$('compare-note').textContent = !theirs || !ours
		? `Nothing to compare: ${view.compared.places[theirs ? 0 : 1]} the selected span has no time that was recorded.`
		: `Rates: ${view.compared.places[0]} over ${duration(ours * SECOND)}, ${view.compared.places[1]} over ${duration(theirs * SECOND)}. A frame is as wide as both together; the strip at its foot parts it.${
			selection.compare === 'before' && selection.isTime ? ' Before the trigger, only waits of 20 ms or longer have stacks.' : ''}`;
}

function listen(selection, flame, drawAll) {
	for (const [id, key] of [['role', 'role'], ['doing', 'doing'], ['compare', 'compare']])
		$(id).addEventListener('change', () => {
			selection[key] = $(id).value;
			if (selection.doing !== 'on-cpu' && id === 'doing' && selection.role === 'other')
				$('role').value = selection.role = 'target'; // others are recorded on CPU alone
			if (selection.role === 'other' && id === 'role' && selection.isTime)
				$('doing').value = selection.doing = 'on-cpu';
			flame.zoom = flame.focus = 0;
			$('unzoom').disabled = true;
			selection.changed();
		});
	for (const [id, key] of [['direction', 'direction'], ['colour', 'colourBy']])
		$(id).addEventListener('change', () => {
			flame[key] = $(id).value;
			flame.draw();
			drawLegend(selection, selection.view);
		});
	$('functions-by').addEventListener('change', () => drawFunctions(selection, selection.view, $('functions-by').value));
	$('search').addEventListener('input', () => {
		$('matched').textContent = flame.search($('search').value.trim());
		flame.draw();
	});
	$('search').addEventListener('keydown', (event) => {
		if (event.key === 'Enter') {
			$('flame').focus();
			flame.go(flame.nextMatch());
		}
	});
	$('unzoom').addEventListener('click', () => flame.zoomTo(0));
	$('all').addEventListener('click', () => selection.selectAll());
	for (const id of ['from', 'to'])
		$(id).addEventListener('change', () => selection.select(1000 * $('from').valueAsNumber, 1000 * $('to').valueAsNumber));
	document.addEventListener('keydown', (event) => {
		if (event.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
			event.preventDefault();
			$('search').focus();
		}
	});
	window.addEventListener('resize', drawAll);
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
	$('theme').addEventListener('change', () => {
		document.documentElement.dataset.theme = $('theme').value;
		drawAll();
	});
	// on paper the page is light
	window.addEventListener('beforeprint', () => {
		document.documentElement.dataset.theme = 'light';
		drawAll();
	});
	window.addEventListener('afterprint', () => {
		document.documentElement.dataset.theme = $('theme').value;
		drawAll();
	});
}

function main() {
	const data = JSON.parse($('data').textContent);
	const tree = new Tree(data);
	const samples = new Samples(data.samples, data.capture);
	const against = data.against && { capture: data.against.capture, samples: new Samples(data.against.samples, data.against.capture) };

	if (against)
		against.whole = against.samples.whole;
	const selection = new Selection(samples, tree, against, data.capture);
	const timeline = new Timeline(selection, data);
	const flame = new Flame(selection);
	const drawAll = () => {
		timeline.draw();
		flame.draw();
	};

	$('data').remove();
	fillChoices(selection);
	chooseFirst(selection);
	drawAnswer(data);
	drawLatencies(data);
	drawMachine(data);
	drawStatic(data);
	drawLedger(data);
	drawMade(data);
	$('timeline-note').textContent = [
		data.pressure.length ? 'PSI was read from the trigger on; the block before it is the stall that fired, within its window.' : '',
		samples.untimed ? `${counted(samples.untimed, 'sample has', 'samples have')} no exact time, and stand evenly in their second.` : '',
	].filter(Boolean).join(' ');
	selection.listeners.push((view) => {
		drawScopes(selection);
		drawSums(selection, view);
		timeline.draw();
		flame.read(view);
		$('matched').textContent = flame.matched();
		flame.draw();
		flame.say(flame.focus);
		drawLegend(selection, view);
		drawFunctions(selection, view, $('functions-by').value);
		drawProcesses(selection, view);
		drawWaiting(selection, view);
		drawStates(data, view.span);
		drawPressure(data, view.span);
	});
	listen(selection, flame, drawAll);
	selection.changed();
	$('foot').textContent = `bourdon ${data.made_by}. This page loads nothing and sends nothing. As text: bourdon why ${data.capture.capture_id}`;
	document.body.classList.add('ready');
}

main();

// SPDX-License-Identifier: GPL-2.0-only
//
// timeline.js: pressure, and below it a heat map in steps of 20 ms, over one axis of time on which a span is selected.

const PRESSURE_HEIGHT = 96;
const LANE = 18;
const AXIS = 22;
const LANES_MOST = 32;
const STALL_NAMES = {
	none: 'waiting, no resource', cpu: 'waiting for a CPU', memory: 'waiting for memory', io: 'waiting for I/O',
	'memory+io': 'memory and I/O', 'memory+cpu': 'memory and CPU',
};

// A canvas of the size that it has on the page, sharp on each screen. Draws with colours of the style sheet.
class Picture {
	constructor(canvas) {
		this.canvas = canvas;
		this.context = canvas.getContext('2d');
	}

	begin(height) {
		const scale = window.devicePixelRatio || 1;
		const width = Math.max(this.canvas.parentElement.clientWidth, 200);

		this.width = width;
		this.height = height;
		this.canvas.style.height = `${height}px`;
		this.canvas.width = Math.round(width * scale);
		this.canvas.height = Math.round(height * scale);
		this.context.setTransform(scale, 0, 0, scale, 0, 0);
		this.context.clearRect(0, 0, width, height);
		this.style = getComputedStyle(document.documentElement);
		this.colours = new Map();
		return this.context;
	}

	colour(name) {
		if (!this.colours.has(name))
			this.colours.set(name, this.style.getPropertyValue(`--${name}`).trim());
		return this.colours.get(name);
	}

	// The text, cut to a width.
	fit(text, width) {
		const letter = this.letter ??= this.context.measureText('0').width;
		const letters = Math.floor(width / letter);

		if (text.length <= letters)
			return text;
		return letters < 3 ? '' : `${text.slice(0, letters - 1)}…`;
	}
}

class Timeline extends Picture {
	constructor(selection, data) {
		super($('timeline'));
		this.selection = selection;
		this.samples = selection.samples;
		this.capture = data.capture;
		this.series = readPressure(data);
		this.steps = Math.round((this.samples.to - this.samples.from) / STEP);
		this.lanes = this.makeLanes('what');
		this.listen();
		$('lanes').addEventListener('change', () => {
			this.lanes = this.makeLanes($('lanes').value);
			this.draw();
		});
	}

	/* ---- lanes ---- */

	// A lane is { name, values by step, most, unit }; `place` says in which one an event belongs, or null.
	fill(names, place, unit) {
		const lanes = names.map((name) => ({ name, values: new Float64Array(this.steps), most: 0, unit, threads: new Set() }));
		const { points, spans } = this.samples;
		const first = this.samples.from;

		for (let i = 0; i < points.at.length; i++) {
			const lane = lanes[place(points.group[i], points.cpu[i])];

			if (lane && this.samples.classOf(points.group[i]).onCpu)
				lane.values[Math.floor((points.at[i] - first) / STEP)] += points.count[i];
		}
		for (let i = 0; i < spans.from.length; i++) {
			const lane = lanes[place(spans.group[i], -1)];
			const density = spans.weight[i] / (spans.to[i] - spans.from[i]) / MS / STEP;

			for (let at = Math.floor((spans.from[i] - first) / STEP); lane && at < this.steps; at++) {
				const from = Math.max(spans.from[i], first + at * STEP);
				const to = Math.min(spans.to[i], first + (at + 1) * STEP);

				if (to <= from)
					break;
				lane.values[at] += density * (to - from);
				lane.unit = 'threads';
			}
			lane?.threads.add(this.samples.groupThreads[spans.group[i]]);
		}
		for (const lane of lanes) {
			// times are cut to ms: short waits that followed each other may seem to be at once
			if (lane.unit === 'threads')
				lane.values.forEach((value, at) => {
					lane.values[at] = Math.min(value, lane.threads.size);
				});
			lane.most = lane.values.reduce((most, value) => Math.max(most, value), 0);
		}
		return lanes;
	}

	makeLanes(by) {
		const { samples } = this;

		if (by === 'cpus') {
			const cpus = Math.min(samples.points.cpu.reduce((most, cpu) => Math.max(most, cpu), 0) + 1, 4096);
			const each = Math.ceil(cpus / LANES_MOST);
			const names = Array.from({ length: Math.ceil(cpus / each) }, (_, i) =>
				each > 1 ? `CPUs ${i * each}–${Math.min((i + 1) * each, cpus) - 1}` : `CPU ${i}`);

			return this.fill(names, (group, cpu) => samples.classOf(group).onCpu ? Math.floor(cpu / each) : -1, 'samples');
		}
		if (by === 'programs') {
			const all = new Map();

			this.selection.wholeSums ??= samples.sum(samples.whole);
			for (let i = 0; i < samples.groups; i++) {
				const name = samples.processes[samples.processOf(i)][0];

				if (samples.classOf(i).onCpu)
					all.set(name, (all.get(name) ?? 0) + this.selection.wholeSums.counts[i]);
			}
			const names = [...all].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([name]) => name);
			const places = new Map(names.map((name, i) => [name, i]));

			return this.fill(names, (group) => samples.classOf(group).onCpu
				? places.get(samples.processes[samples.processOf(group)][0]) : -1, 'samples');
		}
		const names = [];
		const places = samples.classes.map((one) => {
			const who = one.role === 'target' ? 'targets' : one.role === 'kernel' ? 'kernel threads' : 'others';
			const name = one.onCpu ? `${who} on CPU` : STALL_NAMES[one.stall] ?? one.stall;

			if (!names.includes(name))
				names.push(name);
			return name;
		});

		names.sort((a, b) => a.endsWith('on CPU') === b.endsWith('on CPU') ? 0 : a.endsWith('on CPU') ? -1 : 1);
		return this.fill(names, (group) => names.indexOf(places[samples.groupClasses[group]]), 'samples');
	}

	/* ---- drawing ---- */

	x(ms) {
		return this.left + (ms - this.samples.from) / (this.samples.to - this.samples.from) * this.inner;
	}

	ms(x) {
		return this.samples.from + (x - this.left) / this.inner * (this.samples.to - this.samples.from);
	}

	draw() {
		const narrow = this.canvas.parentElement.clientWidth < 560;
		const heat = PRESSURE_HEIGHT + (narrow ? 26 : 14);
		const lane = narrow ? 30 : LANE;
		const context = this.begin(heat + this.lanes.length * lane + AXIS);

		this.left = narrow ? 42 : 168;
		this.inner = this.width - this.left - (narrow ? 6 : 84);
		context.font = '11px system-ui, sans-serif';
		this.letter = undefined;
		this.drawPressure(context, narrow);
		this.lanes.forEach((one, i) => this.drawLane(context, one, heat + i * lane + (narrow ? 12 : 0), lane, narrow));
		this.drawAxis(context, heat + this.lanes.length * lane, narrow);
		this.drawSelection(context, heat + this.lanes.length * lane);
	}

	drawPressure(context, narrow) {
		const y = (share) => 6 + (PRESSURE_HEIGHT - 8) * (1 - Math.min(share, 1));
		const fired = this.capture.resource;

		context.strokeStyle = this.colour('line');
		context.fillStyle = this.colour('muted');
		context.lineWidth = 1;
		context.textAlign = 'right';
		for (const share of [0, 0.5, 1]) {
			context.beginPath();
			context.moveTo(this.left, Math.round(y(share)) + 0.5);
			context.lineTo(this.left + this.inner, Math.round(y(share)) + 0.5);
			context.stroke();
			context.fillText(`${100 * share} %`, this.left - 6, y(share) + 4);
		}
		if (!narrow) {
			context.textAlign = 'left';
			context.fillStyle = this.colour('text');
			context.fillText('PSI some, stalled', 0, 12);
			context.fillStyle = this.colour('muted');
			context.fillText(this.fit(this.capture.cgroup ? basename(this.capture.cgroup) : 'whole system', 128), 0, 28);
		}
		if (fired && this.capture.window_us) {
			const share = this.capture.observed_us / this.capture.window_us;
			const from = Math.max(-this.capture.window_us / 1000, this.samples.from);

			context.globalAlpha = 0.35;
			context.fillStyle = this.colour(`res-${fired}`);
			context.fillRect(this.x(from), y(share), this.x(0) - this.x(from), y(0) - y(share));
			context.globalAlpha = 1;
		}
		for (const one of this.series)
			this.drawSeries(context, one, y, one.resource === fired);
		if (!narrow)
			this.nameSeries(context);
	}

	drawSeries(context, series, y, isFired) {
		context.strokeStyle = this.colour(`res-${series.resource}`) || this.colour('text');
		context.lineWidth = isFired ? 2 : 1.5;
		context.setLineDash({ cpu: [], io: [5, 3], memory: [2, 2], irq: [8, 2, 2, 2] }[series.resource] ?? []);
		context.beginPath();
		series.pieces.forEach(({ from, to, share }, i) => {
			context[i ? 'lineTo' : 'moveTo'](this.x(from), y(share));
			context.lineTo(this.x(to), y(share));
		});
		context.stroke();
		context.setLineDash([]);
		if (!isFired || !series.pieces.length)
			return;
		context.lineTo(this.x(series.pieces[series.pieces.length - 1].to), y(0));
		context.lineTo(this.x(series.pieces[0].from), y(0));
		context.globalAlpha = 0.25;
		context.fillStyle = context.strokeStyle;
		context.fill();
		context.globalAlpha = 1;
	}

	// Names at the right, the highest first, each in a line of its own.
	nameSeries(context) {
		const named = [...this.series].sort((a, b) => b.last - a.last);

		context.textAlign = 'left';
		named.forEach((series, i) => {
			context.fillStyle = this.colour(`res-${series.resource}`) || this.colour('text');
			context.fillRect(this.left + this.inner + 6, 12 + 15 * i, 8, 3);
			context.fillStyle = this.colour('text');
			context.fillText(series.resource, this.left + this.inner + 18, 17 + 15 * i);
		});
	}

	drawLane(context, lane, y, height, narrow) {
		const bars = narrow ? height - 14 : height - 2;
		const pixels = Math.max(1, Math.floor(this.inner));
		const waits = lane.unit === 'threads';
		const colour = this.colour(waits ? 'heat-wait' : 'heat-run');
		const slots = Math.min(pixels, this.steps);

		context.fillStyle = this.colour('text');
		context.textAlign = 'left';
		if (narrow)
			context.fillText(`${lane.name}, ${this.most(lane)}`, this.left, y - 3);
		else
			context.fillText(this.fit(lane.name, this.left - 14), 0, y + 12);
		context.fillStyle = this.colour('heat-none');
		context.fillRect(this.left, y, this.inner, bars);
		context.fillStyle = colour;
		for (let i = 0; i < slots; i++) {
			const first = Math.floor(i * this.steps / slots);
			const end = Math.max(Math.floor((i + 1) * this.steps / slots), first + 1);
			let value = 0;

			for (let k = first; k < end; k++)
				value = Math.max(value, lane.values[k]);
			if (value <= 0)
				continue;
			context.globalAlpha = 0.2 + 0.8 * value / lane.most;
			context.fillRect(this.left + first * this.inner / this.steps, y,
				Math.max((end - first) * this.inner / this.steps - (this.inner / this.steps > 4 ? 0.6 : 0), 0.8), bars);
		}
		context.globalAlpha = 1;
		if (narrow)
			return;
		context.fillStyle = this.colour('muted');
		context.fillText(this.most(lane), this.left + this.inner + 6, y + 12);
	}

	// What the darkest step has.
	most(lane) {
		return lane.unit === 'threads' ? `≤ ${lane.most < 9.95 ? lane.most.toFixed(1) : Math.round(lane.most)} threads`
			: `≤ ${counted(Math.ceil(lane.most), 'sample', 'samples')}`;
	}

	drawAxis(context, y, narrow) {
		const all = this.samples.to - this.samples.from;
		const wanted = all / (narrow ? 4 : 10);
		const unit = [100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000, 120000, 300000, 600000].find((ms) => ms >= wanted) ?? 600000;

		context.fillStyle = this.colour('muted');
		context.strokeStyle = this.colour('line');
		context.textAlign = 'center';
		for (let ms = Math.ceil(this.samples.from / unit) * unit; ms <= this.samples.to; ms += unit) {
			const x = Math.round(this.x(ms)) + 0.5;

			context.beginPath();
			context.moveTo(x, y);
			context.lineTo(x, y + 4);
			context.stroke();
			if (ms)
				context.fillText(`${ms / 1000} s`.replace('-', '−'), Math.min(x, this.width - 12), y + 16);
		}
		this.drawMark(context, 0, y, 'trigger', true);
		if (this.capture.onset_before_ns > 0 && -this.capture.onset_before_ns / MS > this.samples.from)
			this.drawMark(context, -this.capture.onset_before_ns / MS, y, narrow ? '' : 'stall begins', false);
	}

	drawMark(context, ms, y, name, isTrigger) {
		const x = Math.round(this.x(ms)) + 0.5;

		context.strokeStyle = this.colour('trigger');
		context.lineWidth = isTrigger ? 2 : 1;
		context.setLineDash(isTrigger ? [] : [3, 3]);
		context.beginPath();
		context.moveTo(x, 2);
		context.lineTo(x, y + 4);
		context.stroke();
		context.setLineDash([]);
		context.lineWidth = 1;
		context.fillStyle = this.colour(isTrigger ? 'trigger' : 'muted');
		context.textAlign = 'center';
		if (isTrigger) {
			context.font = '600 11px system-ui, sans-serif';
			context.fillText(name, x, y + 16);
			context.font = '11px system-ui, sans-serif';
		} else {
			context.textAlign = 'left';
			context.fillText(name, x + 4, 14);
		}
	}

	drawSelection(context, y) {
		const { from, to } = this.selection.span;
		const [left, right] = [this.x(from), this.x(to)];

		if (this.selection.isWhole)
			return;
		context.fillStyle = this.colour('shade');
		context.fillRect(this.left, 2, left - this.left, y - 2);
		context.fillRect(right, 2, this.left + this.inner - right, y - 2);
		context.strokeStyle = this.colour('accent');
		context.lineWidth = 2;
		context.strokeRect(left, 2, Math.max(right - left, 1), y - 2);
		context.fillStyle = this.colour('accent');
		for (const x of [left, right])
			context.fillRect(x - 2.5, y / 2 - 12, 5, 24);
		context.lineWidth = 1;
	}

	/* ---- input ---- */

	listen() {
		let begin = null;
		let moved = false;
		const at = (event) => this.ms(event.clientX - this.canvas.getBoundingClientRect().left);

		this.canvas.addEventListener('pointerdown', (event) => {
			const { from, to } = this.selection.span;
			const ms = at(event);
			const near = 8 / this.inner * (this.samples.to - this.samples.from);

			if (event.button)
				return;
			// an end that is grasped moves alone
			begin = !this.selection.isWhole && Math.abs(ms - from) < near ? to
				: !this.selection.isWhole && Math.abs(ms - to) < near ? from : ms;
			moved = false;
			this.canvas.setPointerCapture(event.pointerId);
		});
		this.canvas.addEventListener('pointermove', (event) => {
			if (begin === null)
				return;
			if (moved || Math.abs(this.x(at(event)) - this.x(begin)) > 3) {
				moved = true;
				this.selection.select(begin, at(event));
			}
		});
		this.canvas.addEventListener('pointerup', () => {
			if (begin !== null && !moved)
				this.selection.selectAll();
			begin = null;
		});
		this.canvas.addEventListener('pointercancel', () => {
			begin = null;
		});
		this.canvas.addEventListener('keydown', (event) => this.press(event));
	}

	press(event) {
		const { from, to } = this.selection.span;
		const { from: first, to: last } = this.samples;
		const length = to - from;
		const move = (by) => {
			const begin = Math.min(Math.max(from + by, first), last - length);

			return [begin, begin + length];
		};
		const keys = {
			ArrowLeft: () => event.shiftKey ? [from, to - STEP] : move(-STEP),
			ArrowRight: () => event.shiftKey ? [from, to + STEP] : move(STEP),
			PageUp: () => move(-length),
			PageDown: () => move(length),
			Home: () => [first, first + length],
			End: () => [last - length, last],
			b: () => [first, 0],
			a: () => [0, last],
			Escape: () => [first, last],
		};

		if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
			return;
		event.preventDefault();
		this.selection.select(...keys[event.key]());
	}
}

// The growth of PSI's totals between readings, for the scope that fired.
function readPressure(data) {
	const scope = data.capture.cgroup ?? 'system';
	const scopes = new Set(data.pressure.map((row) => row.scope));
	const shown = scopes.has(scope) ? scope : 'system';
	const series = new Map();

	for (const row of data.pressure) {
		if (row.scope !== shown)
			continue;
		if (!series.has(row.resource))
			series.set(row.resource, { resource: row.resource, pieces: [], last: 0, grown: 0, before: null });
		const one = series.get(row.resource);

		if (one.before && row.at_ns > one.before.at_ns) {
			const share = Math.max(row.some_us - one.before.some_us, 0) * 1000 / (row.at_ns - one.before.at_ns);

			one.pieces.push({ from: one.before.at_ns / MS, to: row.at_ns / MS, share });
			one.last = share;
			one.grown += share;
		}
		one.before = row;
	}
	// a resource without any stall says so in the table
	return [...series.values()].filter((one) => one.grown > 0 || one.resource === data.capture.resource);
}

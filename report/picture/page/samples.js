// SPDX-License-Identifier: GPL-2.0-only
//
// samples.js: the samples of a capture as events in time, and their sums over any span.
//
// On CPU a sample is a moment. Off CPU a row says how long a thread waited in one second, and when its intervals were: the
// waiting is spread over these. What does not fit into them, because not each interval has its times, or has ended, is
// spread over the rest of that second in which nothing is known of the thread. So whole seconds have the sums of the
// database, a shorter span its part, and no thread waits twice at once. All times are ms from the trigger.

const STEP = 20;
const TIME_MOST = 4000 * 1000; // no capture is longer; what a damaged database has beyond is put at the edge

// Rows of one stack, thread and class are a group.
class Samples {
	constructor(data, capture) {
		this.processes = data.processes;
		this.threads = data.threads;
		this.classes = data.classes.map(([role, kind, stall]) => ({
			role, kind, stall, onCpu: kind === 'on-cpu', stalls: stall.split('+'),
		}));
		this.nodes = Uint32Array.from(data.nodes);
		this.groupThreads = Uint32Array.from(data.group_threads);
		this.groupClasses = Uint8Array.from(data.group_classes);
		this.groups = data.nodes.length;
		this.untimed = 0;
		this.points = { at: [], group: [], count: [], weight: [], cpu: [] };
		this.spans = { from: [], to: [], group: [], weight: [] };
		this.known = new Map(); // by thread and second: the parts of its intervals in it
		this.untold = []; // waiting that does not fit into these
		this.read(data, capture);
		this.spreadUntold();
		for (const events of [this.points, this.spans])
			for (const [name, values] of Object.entries(events))
				events[name] = name === 'group' ? Uint32Array.from(values) : Float64Array.from(values);
		this.counts = new Float64Array(this.groups);
		this.weights = new Float64Array(this.groups);
	}

	read(data, capture) {
		let row = 0;
		let time = 0;
		// either history may be the longer one
		const first = -Math.min(Math.max(capture.before_ns ?? 0, capture.offcpu_history_ns ?? 0) / MS, TIME_MOST);
		let last = capture.after_ns === null ? 0 : Math.min(capture.after_ns / MS, TIME_MOST);

		for (let i = 0; i < data.seconds.length; i++)
			if (capture.after_ns === null)
				last = Math.max(last, Math.min(1000 * (data.seconds[i] + 1), TIME_MOST));
		this.from = Math.floor(first / STEP) * STEP;
		this.to = Math.max(Math.ceil(last / STEP) * STEP, this.from + STEP);
		for (let group = 0; group < this.groups; group++) {
			const end = row + data.group_rows[group];

			time = this.classes[this.groupClasses[group]].onCpu
				? this.readPoints(data, group, row, end, time) : this.readSpans(data, group, row, end, time);
			row = end;
		}
		this.whole = { from: this.from, to: this.to };
	}

	clamp(ms) {
		return Math.min(Math.max(ms, this.from), this.to - 1);
	}

	addPoint(at, group, number, weight, cpu) {
		this.points.at.push(this.clamp(at));
		this.points.group.push(group);
		this.points.count.push(number);
		this.points.weight.push(weight);
		this.points.cpu.push(cpu);
	}

	// Samples without times stand evenly in their second.
	addUntimed(second, group, number, weight) {
		const shown = Math.min(number, 1000);

		for (let i = 0; i < shown; i++)
			this.addPoint(1000 * second + (i + 0.5) * 1000 / shown, group, number / shown, weight * number / shown, -1);
		this.untimed += Math.max(number, 0);
	}

	readPoints(data, group, row, end, time) {
		for (; row < end; row++) {
			const second = data.seconds[row];
			const number = data.times_counts[row];
			const weight = data.counts[row] ? data.weights[row] / data.counts[row] : 0;

			for (let i = 0; i < number; i++, time += 2)
				this.addPoint(1000 * second + data.times[time], group, 1, weight, data.times[time + 1]);
			if (data.counts[row] > number)
				this.addUntimed(second, group, data.counts[row] - number, weight);
		}
		return time;
	}

	addSpan(from, to, group, weight) {
		from = this.clamp(from);
		to = Math.min(to, this.to);
		this.spans.from.push(from);
		this.spans.to.push(Math.max(to, from + 0.001));
		this.spans.group.push(group);
		this.spans.weight.push(weight);
	}

	readSpans(data, group, row, end, time) {
		const pieces = new Map(); // of seconds that have a row: the parts of intervals in them

		for (let i = row; i < end; i++)
			pieces.set(data.seconds[i], []);
		for (let i = row; i < end; i++) {
			const second = data.seconds[i];

			for (let k = 0; k < data.times_counts[i]; k++, time += 3) {
				const from = 1000 * second + data.times[time];
				const ended = 1000 * second + data.times[time + 1];
				const to = Math.max(ended, from + 1); // times are cut to ms

				this.addPoint(ended, group, 1, 0, data.times[time + 2]);
				for (let at = Math.floor(Math.max(from, this.from) / 1000); 1000 * at < Math.min(to, this.to); at++) {
					const part = [Math.max(from, 1000 * at, this.from), Math.min(to, 1000 * at + 1000, this.to)];

					this.knownOf(group, at).push(part);
					pieces.get(at)?.push(part);
				}
			}
			if (data.counts[i] > data.times_counts[i])
				this.addUntimed(second, group, data.counts[i] - data.times_counts[i], 0);
		}
		for (let i = row; i < end; i++) {
			const second = data.seconds[i];
			const parts = pieces.get(second);
			const all = parts.reduce((sum, [from, to]) => sum + to - from, 0);
			// times are cut to ms
			const fits = data.weights[i] <= (all + parts.length) * MS ? data.weights[i] : all * MS;

			for (const [from, to] of parts)
				this.addSpan(from, to, group, fits * (to - from) / all);
			if (data.weights[i] > fits)
				this.untold.push({ group, second, weight: data.weights[i] - fits });
		}
		return time;
	}

	// What is known of the group's thread in that second.
	knownOf(group, second) {
		const key = this.groupThreads[group] * 2 * TIME_MOST + second;

		if (!this.known.has(key))
			this.known.set(key, []);
		return this.known.get(key);
	}

	// The parts of a second, as far as the capture has it, that none of these parts covers; the whole of it, if they cover all.
	gaps(second, parts) {
		const [first, last] = [Math.max(1000 * second, this.from), Math.min(1000 * second + 1000, this.to)];
		const gaps = [];
		let at = first;

		for (const [from, to] of [...parts, [last, last]].sort((a, b) => a[0] - b[0])) {
			if (from > at)
				gaps.push([at, from]);
			at = Math.max(at, to);
		}
		return gaps.length ? gaps : [[first, Math.max(last, first + 1)]];
	}

	spreadUntold() {
		for (const { group, second, weight } of this.untold) {
			const gaps = this.gaps(second, this.knownOf(group, second));
			const all = gaps.reduce((sum, [from, to]) => sum + to - from, 0);

			for (const [from, to] of gaps)
				this.addSpan(from, to, group, weight * (to - from) / all);
		}
		delete this.known;
		delete this.untold;
	}

	// Sums the events of a span by group: `counts` are samples and ended intervals, `weights` ns on CPU and off.
	sum(span) {
		const { points, spans, counts, weights } = this;

		counts.fill(0);
		weights.fill(0);
		for (let i = 0; i < points.at.length; i++)
			if (points.at[i] >= span.from && points.at[i] < span.to) {
				counts[points.group[i]] += points.count[i];
				weights[points.group[i]] += points.weight[i];
			}
		for (let i = 0; i < spans.from.length; i++) {
			const from = Math.max(spans.from[i], span.from);
			const to = Math.min(spans.to[i], span.to);

			if (to > from)
				weights[spans.group[i]] += to - from === spans.to[i] - spans.from[i] ? spans.weight[i]
					: spans.weight[i] * (to - from) / (spans.to[i] - spans.from[i]);
		}
		return { counts: counts.slice(), weights: weights.slice() };
	}

	processOf(group) {
		return this.threads[this.groupThreads[group]][0];
	}

	classOf(group) {
		return this.classes[this.groupClasses[group]];
	}
}

// The tree of functions that all graphs draw. Node 0 is the root; a parent stands before its children.
class Tree {
	constructor(data) {
		let module = '';
		const functions = new Map();

		this.kinds = data.kinds;
		this.frames = data.functions.map((name, i) => {
			module = data.modules[i] ?? module;
			return { name, module, file: data.files[i], kind: data.kinds[data.frame_kinds[i]], code: 0 };
		});
		// an inlined function and the same one that is called are one function
		this.functions = [];
		for (const frame of this.frames) {
			const key = `${frame.kind === 'program'} ${frame.module}\0${frame.name}`;

			if (!functions.has(key)) {
				functions.set(key, this.functions.length);
				this.functions.push(frame);
			}
			frame.code = functions.get(key);
		}
		this.parents = Uint32Array.from(data.parents);
		this.nodeFrames = Int32Array.from(data.node_frames);
		this.count = this.parents.length;
		this.link();
	}

	frameOf(node) {
		return this.frames[this.nodeFrames[node]];
	}

	// Children of each node, and whether a node is the outermost one of its function on its path.
	link() {
		const { parents, count: all } = this;
		const onPath = new Uint32Array(this.functions.length);
		const next = new Uint32Array(all);
		const stack = [0];

		this.depths = new Uint32Array(all);
		this.firstChild = new Uint32Array(all + 1);
		this.children = new Uint32Array(Math.max(all - 1, 0));
		this.isFirst = new Uint8Array(all);
		for (let i = 1; i < all; i++)
			this.firstChild[parents[i] + 1]++;
		for (let i = 0; i < all; i++)
			this.firstChild[i + 1] += this.firstChild[i];
		next.set(this.firstChild.subarray(0, all));
		for (let i = 1; i < all; i++) {
			this.children[next[parents[i]]++] = i;
			this.depths[i] = this.depths[parents[i]] + 1;
		}
		next.set(this.firstChild.subarray(0, all));
		while (stack.length) {
			const node = stack[stack.length - 1];

			if (node && next[node] === this.firstChild[node]) // it is entered
				this.isFirst[node] = onPath[this.frameOf(node).code]++ === 0 ? 1 : 0;
			if (next[node] < this.firstChild[node + 1]) {
				stack.push(this.children[next[node]++]);
				continue;
			}
			stack.pop();
			if (node)
				onPath[this.frameOf(node).code]--;
		}
	}

	// What each node has itself, and with those within it, from a value for each group.
	totals(samples, values) {
		const totals = new Float64Array(this.count);

		for (let i = 0; i < values.length; i++)
			totals[samples.nodes[i]] += values[i];
		const self = totals.slice();

		for (let i = this.count - 1; i > 0; i--)
			totals[this.parents[i]] += totals[i];
		return { self, totals };
	}
}

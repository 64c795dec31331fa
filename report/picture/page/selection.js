// SPDX-License-Identifier: GPL-2.0-only
//
// selection.js: what is selected, and the sums that follow from it. Whoever changes it calls changed(); all pictures and
// tables then draw what `view` says.

class Selection {
	constructor(samples, tree, against, capture) {
		this.samples = samples;
		this.tree = tree;
		this.against = against; // Samples of another capture, or null
		this.capture = capture;
		this.span = { ...samples.whole };
		this.role = 'target';
		this.doing = 'on-cpu'; // or off-cpu, or off-cpu and the stall behind a colon
		this.compare = 'none';
		this.listeners = [];
	}

	get isWhole() {
		return this.span.from === this.samples.from && this.span.to === this.samples.to;
	}

	get isTime() {
		return this.doing !== 'on-cpu';
	}

	// Selects a span; both ends are put on steps, and within the capture.
	select(from, to) {
		const { from: first, to: last } = this.samples.whole;
		const step = (ms) => Math.round(ms / STEP) * STEP;

		if (!Number.isFinite(from) || !Number.isFinite(to))
			return;
		from = Math.min(Math.max(step(Math.min(from, to)), first), last - STEP);
		to = Math.min(Math.max(step(to), from + STEP), last);
		this.span = { from, to };
		this.changed();
	}

	selectAll() {
		this.select(this.samples.from, this.samples.to);
	}

	hasRole(samples, group, role) {
		return role === 'all' || (samples.classOf(group).role === 'target') === (role === 'target');
	}

	isDoing(samples, group) {
		const one = samples.classOf(group);
		const [kind, stall] = this.doing.split(':');

		return one.kind === kind && (!stall || one.stalls.includes(stall));
	}

	// The values that the graph draws of a span, by group.
	values(samples, sums) {
		const from = this.isTime ? sums.weights : sums.counts;
		const values = new Float64Array(samples.groups);

		for (let i = 0; i < values.length; i++)
			if (this.hasRole(samples, i, this.role) && this.isDoing(samples, i))
				values[i] = Math.max(from[i], 0);
		return values;
	}

	// How long before the trigger the rings hold what is drawn, in ms.
	get history() {
		return (this.isTime ? this.capture.offcpu_history_ns ?? 0 : this.capture.history_ns ?? 0) / MS;
	}

	within(span) {
		const from = Math.max(span.from, -this.history);

		return { from, to: Math.max(span.to, from) };
	}

	// What is compared: two spans of one capture, or of two.
	compared() {
		if (this.compare === 'before') {
			const before = this.within({ from: this.span.from, to: Math.min(this.span.to, 0) });
			const after = { from: Math.max(this.span.from, 0), to: Math.max(this.span.to, 0) };

			return { ours: after, theirs: before, other: this.samples, names: ['after the trigger', 'before it'], places: ['after the trigger', 'before it'] };
		}
		if (this.compare === 'against' && this.against)
			return {
				ours: this.within(this.span), theirs: this.against.whole, other: this.against.samples,
				names: ['this capture', `capture ${this.against.capture.capture_id}`],
				places: ['in this capture', `in capture ${this.against.capture.capture_id}`],
			};
		return null;
	}

	// Of the whole capture, by which frames are ordered, so that they keep their places while a span is dragged.
	order() {
		const key = `${this.role} ${this.doing}`;

		if (this.orderKey !== key) {
			this.orderKey = key;
			this.wholeSums ??= this.samples.sum(this.samples.whole);
			this.orderTotals = this.tree.totals(this.samples, this.values(this.samples, this.wholeSums)).totals;
		}
		return this.orderTotals;
	}

	// Computes all that the pictures and tables draw.
	changed() {
		const compared = this.compared();
		const sums = this.samples.sum(this.span);
		const view = { span: this.span, sums, compared, ...this.tree.totals(this.samples, this.values(this.samples, sums)) };

		if (compared) {
			const seconds = (span) => Math.max((span.to - span.from) / 1000, 0);
			const rates = (samples, span) => {
				const of = this.tree.totals(samples, this.values(samples, samples.sum(span)));
				const length = seconds(span);

				for (const values of [of.self, of.totals])
					for (let i = 0; i < values.length; i++)
						values[i] = length ? values[i] / length : 0;
				return of;
			};

			view.ours = rates(this.samples, compared.ours);
			view.theirs = rates(compared.other, compared.theirs);
			view.seconds = [seconds(compared.ours), seconds(compared.theirs)];
		}
		this.view = view;
		for (const listener of this.listeners)
			listener(view);
	}

	// A value as a text: samples, or time.
	quantity(value) {
		return this.isTime ? duration(value) : counted(value, 'sample', 'samples');
	}

	// The same for each second, of all threads added up.
	rate(value) {
		return this.isTime ? `${duration(value)}/s` : `${value < 9.95 ? value.toFixed(1) : count(value)}/s`;
	}
}

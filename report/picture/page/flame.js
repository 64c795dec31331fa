// SPDX-License-Identifier: GPL-2.0-only
//
// flame.js: the flame graph. It is drawn into a canvas, because a capture may have more frames than a document bears; the
// tables beside it have the same numbers, and keys walk through the frames, which are then told as text.

const ROW = 19;
const NARROWEST = 1.5; // px: narrower neighbours are drawn as one, without what is within them
const DEPTH_DRAWN = 400;

// A colour like #rrggbb with a share of white.
function lighter(colour, white) {
	const part = (at) => Math.round(parseInt(colour.slice(at, at + 2), 16) * (1 - white) + 255 * white).toString(16).padStart(2, '0');

	return `#${part(1)}${part(3)}${part(5)}`;
}

class Flame extends Picture {
	constructor(selection) {
		super($('flame'));
		this.selection = selection;
		this.tree = selection.tree;
		this.direction = 'flame';
		this.colourBy = 'kind';
		this.zoom = 0;
		this.focus = 0;
		this.hover = 0;
		this.matches = null; // a flag for each function, while something is searched
		this.drawn = [];
		this.listen();
	}

	/* ---- values ---- */

	// Values of a node: alone, or of both sides of a comparison.
	read(view) {
		this.view = view;
		if (view.compared) {
			this.totals = new Float64Array(this.tree.count);
			for (let i = 0; i < this.totals.length; i++)
				this.totals[i] = view.ours.totals[i] + view.theirs.totals[i];
		} else {
			this.totals = view.totals;
		}
		this.sort();
		if (!this.totals[this.zoom])
			this.zoom = 0;
	}

	// The largest child first: by the whole capture.
	sort() {
		const order = this.selection.order();
		const { children, firstChild } = this.tree;

		if (this.sorted === order)
			return;
		this.sorted = order;
		for (let i = 0; i < this.tree.count; i++)
			if (firstChild[i + 1] - firstChild[i] > 1)
				children.subarray(firstChild[i], firstChild[i + 1]).sort((a, b) => order[b] - order[a] || a - b);
	}

	isWithin(node, ancestor) {
		while (node > ancestor)
			node = this.tree.parents[node];
		return node === ancestor;
	}

	/* ---- drawing ---- */

	draw() {
		const box = this.canvas.parentElement;
		const first = this.height === undefined;

		this.width = Math.max(box.clientWidth, 200);
		this.lay();
		const context = this.begin(Math.max(this.deepest + 1, 3) * ROW + 2);

		context.font = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
		context.textBaseline = 'middle';
		this.letter = undefined;
		this.palette = this.readPalette();
		for (const frame of this.drawn)
			this.drawFrame(context, frame);
		this.drawMarks(context);
		if (!this.totals[0]) {
			context.fillStyle = this.colour('muted');
			context.font = '14px system-ui, sans-serif';
			context.fillText('Nothing of this kind in this span.', 8, ROW * 1.5);
		}
		if (first || this.direction !== this.drawnDirection)
			box.scrollTop = this.direction === 'flame' ? box.scrollHeight : 0;
		this.drawnDirection = this.direction;
	}

	// Finds the place of each frame: those outside of the zoomed one, then those within.
	lay() {
		const { tree, totals } = this;
		const outer = [];
		const open = [];

		this.drawn = [];
		this.places = new Map();
		this.deepest = 0;
		if (!totals[0])
			return;
		for (let node = this.zoom; node; node = tree.parents[node])
			outer.push(node);
		outer.push(0);
		for (const node of outer)
			if (node !== this.zoom)
				this.place(node, 0, this.width, true);
		open.push([this.zoom, 0, this.width]);
		while (open.length) {
			const [node, x, width] = open.pop();
			let at = x;

			this.place(node, x, width, false);
			if (tree.depths[node] >= DEPTH_DRAWN + tree.depths[this.zoom])
				continue;
			for (let i = tree.firstChild[node], joined = null; i < tree.firstChild[node + 1]; i++) {
				const child = tree.children[i];
				const wide = width * totals[child] / totals[node];

				if (wide >= NARROWEST) {
					open.push([child, at, wide]);
					joined = null;
				} else if (wide > 0 && joined) {
					joined.width += wide;
					joined.nodes++;
				} else if (wide > 0) {
					joined = this.place(child, at, wide, false);
					joined.isMatch = false;
				}
				if (joined)
					joined.isMatch ||= this.hasMatch?.[child] === 1; // or something within it
				at += wide;
			}
		}
	}

	place(node, x, width, isOuter) {
		const frame = { node, x, width, depth: this.tree.depths[node], isOuter, nodes: 1 };

		this.deepest = Math.max(this.deepest, frame.depth);
		this.drawn.push(frame);
		this.places.set(node, frame);
		return frame;
	}

	y(depth) {
		return this.direction === 'flame' ? (Math.max(this.deepest, 2) - depth) * ROW + 1 : depth * ROW + 1;
	}

	readPalette() {
		const palette = {};

		for (const kind of [...this.tree.kinds, 'root', 'text', 'dim', 'edge', 'match', 'mark-kernel', 'mark-jit', 'mark-inlined',
			'more', 'less', 'same'])
			palette[kind] = this.colour(`f-${kind}`);
		// neighbours of one kind get one of three shades by their function
		for (const kind of this.tree.kinds)
			palette[kind] = [0, 0.13, 0.26].map((white) => lighter(palette[kind], white));
		palette.hues = Array.from({ length: 8 }, (_, i) => this.colour(`hue-${i}`));
		return palette;
	}

	fill(node) {
		const { palette } = this;
		const frame = this.tree.frameOf(node);

		if (this.view.compared)
			return this.fillChange(node);
		if (this.colourBy === 'kind' || frame.kind === 'program' || frame.kind === 'missing')
			return palette[frame.kind][frame.kind === 'program' ? 0 : frame.shade ??= hash(frame.name) % 3];
		return palette.hues[hash(this.colourBy === 'module' ? frame.module : frame.name) % palette.hues.length];
	}

	// More is one colour and less the other, the paler the smaller the change; the text has a sign as well.
	fillChange(node) {
		const change = this.changeOf(node);

		if (Math.abs(change) < 0.02)
			return this.palette.same;
		return { name: change > 0 ? this.palette.more : this.palette.less, alpha: 0.25 + 0.75 * Math.abs(change) };
	}

	// From -1 (gone) by 0 (the same) to 1 (new).
	changeOf(node) {
		const ours = this.view.ours.totals[node];
		const theirs = this.view.theirs.totals[node];

		return ours + theirs ? (ours - theirs) / (ours + theirs) : 0;
	}

	drawFrame(context, { node, x, width, depth, isOuter, nodes, isMatch: hasMatch }) {
		const { palette } = this;
		const y = this.y(depth);
		const height = ROW - 1;
		const wide = Math.max(width - (width > 3 ? 0.8 : 0), 0.5);
		const frame = node ? this.tree.frameOf(node) : null;
		const isMatch = frame && (hasMatch ?? this.matches?.[frame.code]);
		const fill = node ? this.fill(node) : palette.root;

		context.globalAlpha = (this.matches && !isMatch ? 0.3 : 1) * (nodes > 1 ? 0.5 : 1) * (isOuter ? 0.55 : 1) * (fill.alpha ?? 1);
		context.fillStyle = fill.name ?? fill;
		context.fillRect(x, y, wide, height);
		context.globalAlpha = this.matches && !isMatch ? 0.3 : 1;
		if (frame && nodes === 1 && !this.view.compared)
			this.drawKind(context, frame.kind, x, y, wide, height);
		if (this.view.compared && wide > 6 && node)
			this.drawSides(context, node, x, y, wide, height);
		context.globalAlpha = this.matches && !isMatch ? 0.65 : 1;
		if (isMatch) {
			context.strokeStyle = palette.match;
			context.lineWidth = 2;
			context.strokeRect(x + 1, y + 1, Math.max(wide - 2, 0.5), height - 2);
		}
		if (width > 24 && nodes === 1) {
			const inset = frame?.kind === 'kernel' && !this.view.compared ? 8 : 5;

			context.fillStyle = !node || isOuter || this.view.compared ? this.colour('text') : palette.text;
			context.fillText(this.fit(this.label(node), width - inset - 3), x + inset, y + height / 2 + 0.5);
		}
		context.globalAlpha = 1;
	}

	label(node) {
		if (!node)
			return 'all';
		if (!this.view.compared)
			return this.tree.frameOf(node).name;
		const change = this.changeOf(node);

		return `${change >= 0.02 ? '▲' : change <= -0.02 ? '▼' : '='} ${this.tree.frameOf(node).name}`;
	}

	// What tells kinds apart without their colour: kernel has a bar at its left, JIT dots, inlined a dashed border, the rest stripes.
	drawKind(context, kind, x, y, width, height) {
		const { palette } = this;

		if (kind === 'kernel' && width >= 4) {
			context.fillStyle = palette['mark-kernel'];
			context.fillRect(x, y, 3, height);
		} else if (kind === 'inlined' && width >= 4) {
			context.strokeStyle = palette['mark-inlined'];
			context.lineWidth = 1;
			context.setLineDash([3, 2]);
			context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
			context.setLineDash([]);
		} else if (kind === 'jit' && width >= 4) {
			context.fillStyle = palette['mark-jit'];
			for (let at = 3; at < width - 1; at += 6)
				context.fillRect(x + at, y + height - 3, 2, 2);
		} else if ((kind === 'unknown' || kind === 'missing') && width >= 4) {
			context.save();
			context.beginPath();
			context.rect(x, y, width, height);
			context.clip();
			context.strokeStyle = palette.edge;
			context.lineWidth = 1;
			context.beginPath();
			for (let at = -height; at < width; at += 7) {
				context.moveTo(x + at, y + height);
				context.lineTo(x + at + height, y);
			}
			context.stroke();
			context.restore();
		}
	}

	// At the foot of a frame, how much of its width is of each side.
	drawSides(context, node, x, y, width, height) {
		const ours = this.view.ours.totals[node];
		const theirs = this.view.theirs.totals[node];
		const part = width * ours / (ours + theirs);

		context.fillStyle = this.palette.more;
		context.fillRect(x, y + height - 3, part, 3);
		context.fillStyle = this.palette.less;
		context.fillRect(x + part, y + height - 3, width - part, 3);
	}

	drawMarks(context) {
		for (const [node, colour, width] of [[this.hover, 'text', 1.5], [document.activeElement === this.canvas ? this.focus : -1, 'accent', 2.5]]) {
			const frame = node >= 0 && this.places.get(node);

			if (!frame || (!node && colour === 'text'))
				continue;
			context.strokeStyle = this.colour(colour);
			context.lineWidth = width;
			context.strokeRect(frame.x + width / 2, this.y(frame.depth) + width / 2,
				Math.max(frame.width - width, 1), ROW - 1 - width);
		}
	}

	/* ---- texts ---- */

	describe(node) {
		const whole = this.totals[0];

		if (!node)
			return `all: ${this.view.compared ? this.describeChange(0) : this.selection.quantity(whole)}`;
		const frame = this.tree.frameOf(node);
		const place = frame.module ? ` (${frame.module})` : '';
		const source = frame.file ? `, ${frame.file}` : '';
		const amount = this.view.compared ? this.describeChange(node)
			: `${this.selection.quantity(this.totals[node])}, ${percent(this.totals[node], whole)}; itself ${percent(this.view.self[node], whole)}`;

		return `${frame.name}${place}: ${amount}, ${frame.kind}${source}`;
	}

	describeChange(node) {
		const { ours, theirs, compared } = this.view;

		return `${compared.places[0]} ${this.selection.rate(ours.totals[node])}, ${compared.places[1]} ${this.selection.rate(theirs.totals[node])}`;
	}

	say(node) {
		$('frame-text').textContent = this.totals[0] ? this.describe(node) : '';
	}

	/* ---- search ---- */

	// Flags the functions that match; a text between slashes is a regular expression.
	search(text) {
		const expression = /^\/(.+)\/$/.exec(text);
		let matches = (frame) => `${frame.name} ${frame.module}`.toLowerCase().includes(text.toLowerCase());

		if (expression) {
			let pattern;

			try {
				pattern = new RegExp(expression[1], 'i');
			} catch {
				return 'no regular expression';
			}
			matches = (frame) => pattern.test(frame.name) || pattern.test(frame.module);
		}
		this.matches = text ? this.tree.functions.map((frame) => matches(frame)) : null;
		this.hasMatch = text ? new Uint8Array(this.tree.count) : null;
		for (let i = this.tree.count - 1; i > 0 && text; i--) {
			if (this.matches[this.tree.frameOf(i).code])
				this.hasMatch[i] = 1;
			if (this.hasMatch[i])
				this.hasMatch[this.tree.parents[i]] = 1;
		}
		return this.matched();
	}

	// The share of what is in a frame that matches; a frame within another one counts once.
	matched() {
		const { tree, totals } = this;
		const inside = new Uint8Array(tree.count);
		let sum = 0;
		let frames = 0;

		if (!this.matches)
			return '';
		for (let i = 1; i < tree.count; i++) {
			const isMatch = this.matches[tree.frameOf(i).code];

			inside[i] = inside[tree.parents[i]] || isMatch ? 1 : 0;
			if (isMatch && totals[i])
				frames++;
			if (isMatch && !inside[tree.parents[i]])
				sum += totals[i];
		}
		return `${percent(sum, totals[0])} in ${counted(frames, 'frame', 'frames')}`;
	}

	/* ---- input ---- */

	listen() {
		const frameAt = (event) => {
			const box = this.canvas.getBoundingClientRect();
			const [x, y] = [event.clientX - box.left, event.clientY - box.top];

			return this.drawn.find((frame) => x >= frame.x && x < frame.x + frame.width &&
				y >= this.y(frame.depth) && y < this.y(frame.depth) + ROW);
		};

		this.canvas.addEventListener('pointermove', (event) => {
			const frame = frameAt(event);
			const node = frame?.node ?? 0;

			if (node === this.hover)
				return;
			this.hover = node;
			this.canvas.title = node ? this.describe(node) : '';
			this.say(node || this.focus);
			if (frame?.nodes > 1)
				$('frame-text').textContent = `${count(frame.nodes)} frames, each too narrow to be drawn: a click zooms in`;
			this.draw();
		});
		this.canvas.addEventListener('pointerleave', () => {
			this.hover = 0;
			this.say(this.focus);
			this.draw();
		});
		this.canvas.addEventListener('click', (event) => {
			const frame = frameAt(event);

			// frames that are drawn as one are seen in their caller
			if (frame)
				this.zoomTo(frame.nodes > 1 ? this.tree.parents[frame.node] : frame.node);
		});
		this.canvas.addEventListener('keydown', (event) => this.press(event));
		this.canvas.addEventListener('focus', () => {
			this.say(this.focus);
			this.draw();
		});
		this.canvas.addEventListener('blur', () => this.draw());
	}

	zoomTo(node) {
		this.zoom = node;
		this.focus = node;
		$('unzoom').disabled = !node;
		this.say(node);
		this.draw();
		this.show(node);
	}

	// Scrolls to a frame.
	show(node) {
		const box = this.canvas.parentElement;
		const y = this.y(this.tree.depths[node]);

		if (y < box.scrollTop || y + ROW > box.scrollTop + box.clientHeight)
			box.scrollTop = y - box.clientHeight / 2;
	}

	go(node) {
		if (node === undefined || !this.totals[node])
			return;
		if (!this.places.has(node))
			this.zoom = node;
		this.focus = node;
		$('unzoom').disabled = !this.zoom;
		this.say(node);
		this.draw();
		this.show(node);
	}

	sibling(by) {
		const { parents, firstChild, children } = this.tree;
		const parent = parents[this.focus];
		const all = [...children.subarray(firstChild[parent], firstChild[parent + 1])].filter((node) => this.totals[node]);

		return this.focus ? all[all.indexOf(this.focus) + by] : undefined;
	}

	// The next frame that matches, in the order in which they are drawn.
	nextMatch() {
		const all = this.drawn.filter(({ node }) => node && this.matches?.[this.tree.frameOf(node).code])
			.sort((a, b) => a.x - b.x || a.depth - b.depth).map(({ node }) => node);

		return all[(all.indexOf(this.focus) + 1) % all.length];
	}

	press(event) {
		const { firstChild, children, parents } = this.tree;
		const child = [...children.subarray(firstChild[this.focus], firstChild[this.focus + 1])].find((node) => this.totals[node]);
		const inwards = this.direction === 'flame' ? 'ArrowUp' : 'ArrowDown';
		const keys = {
			ArrowUp: () => this.go(inwards === 'ArrowUp' ? child : parents[this.focus]),
			ArrowDown: () => this.go(inwards === 'ArrowDown' ? child : parents[this.focus]),
			ArrowLeft: () => this.go(this.sibling(-1)),
			ArrowRight: () => this.go(this.sibling(1)),
			Home: () => this.go(0),
			Enter: () => this.zoomTo(this.focus),
			Escape: () => this.zoomTo(0),
			n: () => this.go(this.nextMatch()),
			'/': () => $('search').focus(),
		};

		if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
			return;
		event.preventDefault();
		keys[event.key]();
	}
}

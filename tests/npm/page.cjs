// SPDX-License-Identifier: GPL-2.0-only
//
// page.cjs WHAT FILE [ARGUMENT...]: opens a page of `bourdon report` in Debian's chromium, from file://, does WHAT of the functions
// below, and prints what it finds, a line each. Whatever the page asks the network for, logs or breaks of its policy is printed
// as a line that begins with "unwanted". NODE_PATH names the directory of playwright-core and axe-core.
//
// page.cjs serve FILE: runs a browser until it is ended, and writes its address into FILE. BROWSER is the address of the one to use.
'use strict';

const { readFileSync, renameSync, writeFileSync } = require('fs');
const { chromium } = require('playwright-core');

const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium';

const OPTIONS = { executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] };

async function serve(file) {
	const server = await chromium.launchServer(OPTIONS);

	writeFileSync(`${file}.new`, server.wsEndpoint());
	renameSync(`${file}.new`, file);
}

// A page that tells all that it should not do. A violation of the policy is an event of the document.
async function open(browser, file, options) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
	const url = `file://${file}`;

	page.on('request', (request) => request.url() === url || console.log(`unwanted request ${request.url()}`));
	page.on('console', (message) => console.log(`unwanted message ${message.text()}`));
	page.on('pageerror', (error) => console.log(`unwanted error ${error.message}`));
	page.on('dialog', (dialog) => {
		console.log(`unwanted dialog ${dialog.message()}`);
		dialog.dismiss();
	});
	await page.addInitScript(() => {
		window.violations = [];
		document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
		window.drawn = []; // the texts of pictures
		const fillText = CanvasRenderingContext2D.prototype.fillText;

		CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
			window.drawn.push(text);
			return fillText.call(this, text, ...place);
		};
	});
	await page.goto(url);
	await page.waitForSelector('body.ready', { timeout: 30000 });
	return page;
}

async function close(page) {
	for (const violation of await page.evaluate(() => window.violations))
		console.log(`unwanted violation ${violation}`);
	await page.close();
}

const text = (page, selector) => page.textContent(selector).then((found) => found.replace(/[\u00a0\u202f]/g, ' ').trim());

// The numbers of the selected span: "NAME=VALUE", times in ns.
async function printSums(page) {
	const sums = await page.$$eval('#sums dd', (all) => all.map((one) => `${one.dataset.sum}=${one.dataset.value}`));

	console.log(sums.join('|'));
}

const rows = (page, selector) => page.$$eval(`${selector} tbody tr`, (all) =>
	all.map((row) => [...row.cells].map((cell) => cell.textContent.replace(/[\u00a0\u202f]/g, ' ').trim()).join('|')));

// Seconds to ms from the trigger, and back from a place on the timeline.
async function drag(page, from, to) {
	const { x, y, width } = await page.locator('#timeline').boundingBox();
	const place = (share) => x + 168 + share * (width - 168 - 84); // as in report/picture/page/timeline.js

	await page.mouse.move(place(from), y + 60);
	await page.mouse.down();
	await page.mouse.move(place((from + to) / 2), y + 60);
	await page.mouse.move(place(to), y + 60);
	await page.mouse.up();
}

const TESTS = {
	// Opens it, and nothing else. Then breaks the policy on purpose: a policy that is not in force would say nothing.
	async policy(page) {
		const before = await page.evaluate(() => window.violations.length);

		page.removeAllListeners('console'); // chromium tells it there, too
		await page.evaluate(() => {
			const script = document.createElement('script');

			script.textContent = 'window.ran = true';
			document.body.append(script);
			document.body.insertAdjacentHTML('beforeend', '<p style="color: red">styled</p>');
			return new Promise((resolve) => setTimeout(resolve, 100));
		});
		console.log(`violations before ${before}, ran ${await page.evaluate(() => window.ran === true)}`);
		console.log(`then ${(await page.evaluate(() => window.violations.splice(0))).sort().join(' ')}`);
	},

	// The sums of each span "FROM TO", whose numbers are written into the fields.
	async spans(page, ...spans) {
		for (const [from, to] of spans.map((span) => span.split(' '))) {
			// first to the begin of all: a span that would be empty is turned round
			for (const [field, seconds] of [['#from', '-9999'], ['#to', to], ['#from', from]]) {
				await page.fill(field, seconds);
				await page.dispatchEvent(field, 'change');
			}
			console.log(`${await page.inputValue('#from')}|${await page.inputValue('#to')}`);
			await printSums(page);
		}
	},

	async whole(page) {
		await printSums(page);
	},

	// The same by dragging from one share of the timeline to another.
	async drag(page, from, to) {
		await drag(page, Number(from), Number(to));
		console.log(`${await page.inputValue('#from')}|${await page.inputValue('#to')}`);
		await printSums(page);
	},

	// What a span changes: a line for each part of the page, before and after.
	async changes(page) {
		const parts = ['#sums', '#functions', '#victims', '#culprits', '#waiting', '#states', '#pressure-table', '#frame-text', '.scope'];
		const pictures = ['#timeline', '#flame'];
		const state = async () => [...await Promise.all(parts.map((part) => text(page, part))),
			...await Promise.all(pictures.map((picture) => page.$eval(picture, (canvas) => canvas.toDataURL())))];
		const before = await state();

		await drag(page, 0.1, 0.3);
		const after = await state();

		[...parts, ...pictures].forEach((part, i) => console.log(`${part} ${before[i] === after[i] ? 'same' : 'changed'}`));
	},

	// What the functions' table has, of targets on CPU.
	async functions(page) {
		(await rows(page, '#functions')).forEach((row) => console.log(row));
	},

	// What the tables of latencies have, and what each histogram says; whether its part is shown.
	async latencies(page) {
		(await rows(page, '#latencies')).forEach((row) => console.log(row));
		(await page.$$eval('#latencies .histogram', (all) => all.map((one) => one.getAttribute('aria-label'))))
			.forEach((said) => console.log(said.replace(/\u00a0/g, ' ')));
		console.log(`shown ${await page.isVisible('#latencies-card')}`);
	},

	// What the lanes of the timeline say of their darkest step: "NAME: ≤ 3.2 threads".
	async lanes(page) {
		await page.evaluate(() => {
			window.drawn = [];
			window.dispatchEvent(new Event('resize'));
		});
		const drawn = await page.evaluate(() => window.drawn);

		drawn.forEach((most, i) => most.startsWith('≤') && console.log(`${drawn[i - 1]}: ${most.replace(/[\u00a0\u202f]/g, ' ')}`));
	},

	async search(page, ...words) {
		for (const word of words) {
			await page.fill('#search', word);
			console.log(await text(page, '#matched'));
		}
	},

	// Walks with keys alone: from the begin of the page to the timeline and the flame graph.
	async keys(page) {
		const say = async (what) => console.log(`${what}: ${await text(page, '#frame-text')}`);
		const span = async (what) => console.log(`${what}: ${await page.inputValue('#from')} ${await page.inputValue('#to')}`);
		const focus = async (id) => {
			for (let i = 0; i < 60 && await page.evaluate(() => document.activeElement.id) !== id; i++)
				await page.keyboard.press('Tab');
			console.log(`focus ${await page.evaluate(() => document.activeElement.id)}`);
		};

		await focus('timeline');
		await page.keyboard.press('a');
		await span('after');
		await page.keyboard.press('Shift+ArrowLeft');
		await span('shorter');
		await page.keyboard.press('ArrowLeft');
		await span('moved');
		await page.keyboard.press('Escape');
		await span('all');
		await focus('flame');
		await page.keyboard.press('ArrowUp');
		await say('inwards');
		await page.keyboard.press('ArrowUp');
		await page.keyboard.press('Enter');
		await say('zoomed');
		console.log(`zoom ${await page.isEnabled('#unzoom')}`);
		await page.keyboard.press('Escape');
		console.log(`zoom ${await page.isEnabled('#unzoom')}`);
		await page.keyboard.press('/');
		console.log(`focus ${await page.evaluate(() => document.activeElement.id)}`);
		await page.keyboard.type('spin');
		await page.keyboard.press('Enter');
		await say('match');
	},

	// A click zooms, on the frame that is told.
	async zoom(page) {
		await page.locator('#flame').scrollIntoViewIfNeeded();
		const box = await page.locator('#flame').boundingBox();

		await page.mouse.click(box.x + box.width * 0.1, box.y + box.height - 2.5 * 19);
		console.log(await text(page, '#frame-text'));
		console.log(`zoom ${await page.isEnabled('#unzoom')}`);
		await page.click('#unzoom');
		console.log(`zoom ${await page.isEnabled('#unzoom')}`);
	},

	// Compares, and prints what the table says of the largest changes, and the note.
	async compare(page, value) {
		await page.selectOption('#compare', value);
		console.log(await text(page, '#compare-note'));
		console.log((await page.$$eval('#functions thead th', (all) => all.map((one) => one.textContent))).join('|'));
		(await rows(page, '#functions')).slice(0, 5).forEach((row) => console.log(row));
	},

	// Each choice of each control draws something, and breaks nothing.
	async controls(page) {
		for (const id of ['lanes', 'theme', 'role', 'doing', 'direction', 'colour', 'compare', 'functions-by'])
			for (const value of await page.$$eval(`#${id} option`, (all) => all.map((one) => one.value)))
				await page.selectOption(`#${id}`, value);
		console.log('done');
	},

	// No names have become elements: the page has only those of its own.
	async elements(page) {
		const kinds = await page.evaluate(() => [...new Set([...document.querySelectorAll('*')].map((one) => one.localName))].sort());

		console.log(kinds.join(' '));
		console.log(await page.evaluate(() => document.scripts.length));
		console.log(await page.evaluate(() => document.body.textContent.includes('<script>alert(1)</script>&amp;')));
	},

	// The CPU time that the page takes to open, and to follow a key, a letter of a search and a choice: the mean of 21; in percent of
	// what a work of the same kind takes meanwhile, 100 ms on a fast machine: a slow machine is no slow page.
	async times(page) {
		const session = await page.context().newCDPSession(page);
		const used = async () => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value;
		const time = async (act) => {
			const before = await used();

			await act();
			return await used() - before;
		};
		const reference = () => time(() => page.evaluate(() => {
			const pen = document.createElement('canvas').getContext('2d');

			for (let i = 0; i < 50000; i++)
				pen.fillText(`name ${i % 999}`, i % 300, i % 150);
			return Array.from({ length: 50000 }, (_, i) => i * 7919 % 50021).sort((a, b) => a - b)[0] + pen.getImageData(0, 0, 1, 1).data[0];
		}));
		const say = async (what, act, times = 1) => {
			const before = await reference();
			const took = await time(act) / times;
			const mean = (before + await reference()) / 2;

			console.log(`${what} ${Math.ceil(100 * took / mean)} % of ${Math.round(1000 * mean)} ms`);
		};
		const react = (what, act) => say(what, () => page.evaluate(`(async () => {
			for (let i = 0; i < 21; i++) {
				(${act})(i);
				await new Promise(requestAnimationFrame);
			}
		})()`), 21);

		await session.send('Performance.enable', { timeDomain: 'threadTicks' });
		await say('opened', async () => {
			await page.reload();
			await page.waitForSelector('body.ready');
		});
		await react('key', `(i) => document.getElementById('timeline').dispatchEvent(
			new KeyboardEvent('keydown', { key: i ? 'ArrowLeft' : 'a' }))`);
		await react('search', `(i) => {
			document.getElementById('search').value = 'f' + i;
			document.getElementById('search').dispatchEvent(new Event('input'));
		}`);
		await react('graph', `(i) => {
			document.getElementById('role').value = i % 2 ? 'all' : 'target';
			document.getElementById('role').dispatchEvent(new Event('change'));
		}`);
	},

	// All that a page with hostile names may be asked.
	async hostile(page) {
		await TESTS.elements(page);
		await TESTS.search(page, '<script>', '__proto__');
		await TESTS.controls(page);
	},
};

// What axe-core finds, in both themes, wide and narrow, and whether something is wider than a narrow screen.
async function axe(browser, file) {
	const source = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

	for (const colorScheme of ['light', 'dark'])
		for (const width of [1280, 400]) {
			const page = await open(browser, file, { colorScheme, viewport: { width, height: 900 } });

			await page.click('details summary');
			await page.evaluate(source);
			const { violations, passes } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));

			for (const { id, nodes } of violations)
				for (const node of nodes)
					console.log(`${id} ${node.target.join(' ')}: ${node.failureSummary.replace(/\s+/g, ' ')}`);
			console.log(`${colorScheme} ${width}: ${violations.length} found, ${passes.length > 10 ? 'many' : 'few'} rules passed, ` +
				`${await page.evaluate(() => document.documentElement.scrollWidth) <= width ? 'fits' : 'too wide'}`);
			await close(page);
		}
}

// What an SVG picture asks for, what it is, and how many frames it has.
async function picture(browser, file) {
	const page = await browser.newPage();

	page.on('request', (request) => console.log(request.url().split('/').pop()));
	await page.goto(`file://${file}`);
	console.log(await page.evaluate(() => document.documentElement.localName));
	console.log(await page.evaluate(() => document.querySelectorAll('g.f > title').length));
}

async function main() {
	const [what, file, ...words] = process.argv.slice(2);

	if (what === 'serve')
		return serve(file);
	const browser = await chromium.connect(process.env.BROWSER);

	try {
		if (what === 'axe') {
			await axe(browser, file);
		} else if (what === 'picture') {
			await picture(browser, file);
		} else {
			const page = await open(browser, file);

			await TESTS[what](page, ...words);
			await close(page);
		}
	} finally {
		await browser.close(); // node ends no sooner
	}
}

main().catch((error) => {
	console.error(error.message);
	process.exitCode = 1;
});

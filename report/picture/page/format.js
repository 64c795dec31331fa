// SPDX-License-Identifier: GPL-2.0-only
//
// format.js: elements, and how quantities look. Texts of the capture reach the document as text nodes alone.

const NS = 1;
const MS = 1e6;
const SECOND = 1e9;

function $(id) {
	return document.getElementById(id);
}

// An element with these properties; children are elements, or texts. A property that is no property is an attribute.
function element(tag, properties, ...children) {
	const made = document.createElement(tag);

	for (const [name, value] of Object.entries(properties ?? {}))
		if (name in made)
			made[name] = value;
		else
			made.setAttribute(name, value);
	made.append(...children.filter((child) => child !== null && child !== undefined));
	return made;
}

// Three digits and a unit.
function scaled(value, units, space) {
	let unit = 0;

	while (unit + 1 < units.length && Math.abs(value) >= 999.5 * units[unit][0])
		unit++;
	const size = Math.abs(value) / units[unit][0];
	const digits = (value / units[unit][0]).toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);

	return (digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits) + space + units[unit][1];
}

function duration(ns) {
	return ns ? scaled(ns, [[NS, 'ns'], [1e3, 'µs'], [MS, 'ms'], [SECOND, 's']], '\u00a0') : '0\u00a0s';
}

function bytes(number) {
	return scaled(number, [[1, 'B'], [1024, 'KiB'], [1024 ** 2, 'MiB'], [1024 ** 3, 'GiB'], [1024 ** 4, 'TiB']], '\u00a0');
}

function percent(part, whole) {
	const share = whole ? 100 * part / whole : 0;

	return share > 0 && share < 0.05 ? '<0.1\u00a0%' : `${share.toFixed(1)}\u00a0%`;
}

// 1234567 as 1 234 567, with thin spaces.
function count(number) {
	return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

function counted(number, one, many) {
	return `${count(number)}\u00a0${Math.round(number) === 1 ? one : many}`;
}

// A moment, in ms from the trigger: "+1.24 s".
function moment(ms) {
	const text = (ms / 1000).toFixed(2);

	return `${ms > 0 ? '+' : ''}${text.replace('-', '−')}\u00a0s`;
}

function basename(path) {
	return path.slice(path.lastIndexOf('/') + 1) || path;
}

// The number of a function's colour: the same in each picture.
function hash(text) {
	let sum = 2166136261;

	for (let i = 0; i < text.length; i++)
		sum = Math.imul(sum ^ text.charCodeAt(i), 16777619);
	return sum >>> 0;
}

// A column is { head, text(row), number, sort }; a table scrolls sideways where it has no room.
function table(columns, rows, caption) {
	const body = element('tbody');

	for (const row of rows)
		body.append(element('tr', null, ...columns.map((column, i) => {
			const cell = element(i ? 'td' : 'th', { className: column.number ? 'number' : '' });

			if (!i)
				cell.scope = 'row';
			cell.append(column.text(row) ?? '–');
			return cell;
		})));
	const head = element('tr', null, ...columns.map((column) =>
		element('th', { scope: 'col', className: column.number ? 'number' : '' }, column.head)));

	return element('div', { className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': `Table: ${caption}` },
		element('table', null, element('caption', null, caption), element('thead', null, head), body));
}

function replace(parent, ...children) {
	parent.replaceChildren(...children.filter(Boolean));
}

function nothing(text) {
	return element('p', { className: 'note' }, text);
}

// A share as a number, with a bar beside it.
function bar(part, whole) {
	const made = element('span', { className: 'bar' }, percent(part, whole));

	made.style.setProperty('--share', `${whole > 0 ? Math.min(100, 100 * part / whole) : 0}%`);
	return made;
}

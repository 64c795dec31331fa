// SPDX-License-Identifier: GPL-2.0-only
//
// speedscope.cjs FILE: checks the file with the schema that speedscope publishes and with what its reader relies on, and prints
// JSON: the number and the weight of the samples of all profiles on CPU and off CPU, without gaps.
// NODE_PATH names the directory of the packages.
'use strict';

const assert = require('assert');
const fs = require('fs');
const Ajv = require('ajv');

const schema = JSON.parse(fs.readFileSync(require.resolve('speedscope/dist/release/file-format-schema.json'), 'utf8'));
const validate = new Ajv({ strict: false }).compile(schema);
const file = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const result = { 'on CPU': { count: 0, ns: 0 }, 'off CPU': { count: 0, ns: 0 } };

assert(validate(file), JSON.stringify(validate.errors));
assert(file.profiles.length === 0 || file.activeProfileIndex < file.profiles.length);
for (const profile of file.profiles) {
	const kind = profile.name.endsWith(', off CPU') ? 'off CPU' : 'on CPU';
	assert.strictEqual(profile.samples.length, profile.weights.length);
	assert.strictEqual(profile.endValue, profile.weights.reduce((sum, weight) => sum + weight, 0));
	profile.samples.forEach((stack, index) => {
		for (const frame of stack)
			assert(frame < file.shared.frames.length);
		if (!stack.length)
			return; // a gap
		result[kind].count++;
		result[kind].ns += profile.weights[index];
	});
}
console.log(JSON.stringify(result));

// SPDX-License-Identifier: GPL-2.0-only
//
// pprof.cjs FILE: reads a profile with pprof-format, checks that what it refers to exists, and prints JSON: the sums of each type,
// the sums by the labels role and stall, the samples on CPU by the function at the leaf, and the build ids.
// NODE_PATH names the directory of the package.
'use strict';

const assert = require('assert');
const fs = require('fs');
const zlib = require('zlib');
const { Profile } = require('pprof-format');

const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[2])));
const text = (index) => {
	const string = profile.stringTable.strings[Number(index)];
	assert.notStrictEqual(string, undefined, `no string ${index}`);
	return string;
};
const byId = (list) => new Map(list.map((element) => [Number(element.id), element]));
const locations = byId(profile.location);
const functions = byId(profile.function);
const mappings = byId(profile.mapping);

assert.strictEqual(text(0), '');
for (const list of [profile.location, profile.function, profile.mapping])
	assert.strictEqual(byId(list).size, list.length, 'ids are unique');
for (const location of profile.location) {
	const mapping = mappings.get(Number(location.mappingId));
	assert(mapping, `no mapping ${location.mappingId}`);
	assert(BigInt(location.address) >= BigInt(mapping.memoryStart) && BigInt(location.address) < BigInt(mapping.memoryLimit));
	assert(location.line.length > 0);
	for (const line of location.line)
		assert(functions.has(Number(line.functionId)), `no function ${line.functionId}`);
}

const types = profile.sampleType.map((type) => `${text(type.type)}/${text(type.unit)}`);
const result = { totals: {}, role: {}, stall: {}, leaves: {}, inlined: 0, labels: {}, build_ids: [] };
const add = (sums, key, value) => {
	sums[key] = (sums[key] ?? 0) + Number(value);
};

for (const sample of profile.sample) {
	assert.strictEqual(sample.value.length, types.length);
	const labels = Object.fromEntries(sample.label.map((label) => [text(label.key), text(label.str) || Number(label.num)]));
	sample.value.forEach((value, index) => {
		add(result.totals, types[index], value);
		add(result.role, `${labels.role} ${types[index]}`, value);
		add(result.stall, `${labels.stall} ${types[index]}`, value);
	});
	for (const key of Object.keys(labels))
		add(result.labels, key, 1);
	for (const id of sample.locationId)
		assert(locations.has(Number(id)), `no location ${id}`);
	if (sample.locationId.length) {
		const leaf = locations.get(Number(sample.locationId[0]));
		add(result.leaves, text(functions.get(Number(leaf.line[0].functionId)).name), sample.value[0]);
	}
}
result.inlined = profile.location.filter((location) => location.line.length > 1).length;
result.build_ids = profile.mapping.map((mapping) => text(mapping.buildId)).filter(Boolean).sort();
console.log(JSON.stringify(result));

// SPDX-License-Identifier: GPL-2.0-only
//
// perfetto.cjs PROTO FILE: reads a trace with protobufjs, checks that what a packet refers to was written before it, and that slices
// of a track neither overlap nor stay open, and prints JSON: samples and ns by the source of the samples, the samples of each stack,
// how many slices threads have, the moments of the capture, and the values of each counter.
// NODE_PATH names the directory of the package.
'use strict';

const assert = require('assert');
const fs = require('fs');
const protobuf = require('protobufjs');

const SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4;
const trace = protobuf.loadSync(process.argv[2]).lookupType('perfetto.Trace').decode(fs.readFileSync(process.argv[3]));
const result = { totals: {}, stacks: {}, slices: 0, moments: [], counters: {} };
const sequences = new Map(); // what each has written, and its source
const tracks = new Map();
const threads = new Set();
const has = (message, field) => Object.hasOwn(message, field) && message[field] !== null;

const find = (sequence, list, iid) => {
	const found = sequence[list]?.get(Number(iid));
	assert(found, `no ${iid} in ${list}`);
	return found;
};
const textOf = (sequence, list, iid) => Buffer.from(find(sequence, list, iid).str).toString();
const functionOf = (sequence, iid) => {
	const frame = find(sequence, 'frames', iid);
	if (Number(frame.mappingId))
		textOf(sequence, 'mappingPaths', find(sequence, 'mappings', frame.mappingId).pathStringIds[0]);
	if (Number(frame.sourcePathIid))
		textOf(sequence, 'sourcePaths', frame.sourcePathIid);
	return textOf(sequence, 'functionNames', frame.functionNameId).replaceAll(';', ':'); // as in folded stacks
};
const stackOf = (sequence, iid) => find(sequence, 'callstacks', iid).frameIds.map((frame) => functionOf(sequence, frame)).join(';');

const readEvent = (sequence, event, at) => {
	const track = tracks.get(Number(event.trackUuid));
	assert(track, `no track ${event.trackUuid}`);
	if (event.type === SLICE_BEGIN) {
		assert(!track.open && at >= track.end, 'slices overlap');
		assert(event.name);
		track.open = true;
		track.end = at;
		if (has(track, 'thread')) {
			result.slices++;
			stackOf(sequence, event.callstackIid);
		}
	} else if (event.type === SLICE_END) {
		assert(track.open && at >= track.end, 'a slice ends before it begins');
		track.open = false;
		track.end = at;
	} else if (event.type === INSTANT) {
		result.moments.push(event.name);
	} else {
		assert.strictEqual(event.type, COUNTER);
		assert(has(event, 'doubleCounterValue'));
		(result.counters[track.name] ??= []).push(event.doubleCounterValue);
	}
};

const readSample = (sequence, sample) => {
	const total = (result.totals[sequence.source] ??= { samples: 0, ns: 0 });
	const stacks = (result.stacks[sequence.source] ??= {});
	const stack = stackOf(sequence, sample.callstackIid);
	assert(threads.has(`${sample.taskContext.pid} ${sample.taskContext.tid}`), 'a thread without a name');
	total.samples++;
	total.ns += Number(sample.primaryWeight);
	stacks[stack] = (stacks[stack] ?? 0) + 1;
};

assert.strictEqual(trace.packet[0].clockSnapshot.primaryTraceClock, 1, 'Unix time');
for (const packet of trace.packet) {
	const id = packet.trustedPacketSequenceId;
	if (packet.sequenceFlags === 1)
		sequences.set(id, { source: packet.tracePacketDefaults.stackSampleDefaults.source });
	const sequence = sequences.get(id);
	for (const [list, elements] of Object.entries(packet.internedData ?? {}))
		for (const element of elements) {
			const known = (sequence[list] ??= new Map());
			assert(!known.has(Number(element.iid)), 'iids are unique');
			known.set(Number(element.iid), element);
		}
	const { trackDescriptor, trackEvent, stackSample } = packet;
	if (trackDescriptor)
		tracks.set(Number(trackDescriptor.uuid), Object.assign(trackDescriptor, { open: false, end: 0n }));
	if (trackDescriptor?.thread)
		threads.add(`${trackDescriptor.thread.pid} ${trackDescriptor.thread.tid}`);
	if (trackEvent || stackSample)
		assert(Number(packet.timestamp) > 1.7e18);
	if (trackEvent)
		readEvent(sequence, trackEvent, BigInt(packet.timestamp.toString()));
	if (stackSample)
		readSample(sequence, stackSample);
}
for (const track of tracks.values())
	assert(!track.open, 'a slice stays open');
console.log(JSON.stringify(result));

// SPDX-License-Identifier: Apache-2.0
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const page = require('./page.js');

const SECONDS = {
    from: 1700000000,
    width: 1,
    count: 3,
    groups: [
        { name: 'main', running: [10, 20], blocked: [0, 0, 30] },
        { name: 'pool', running: [1], idle: [999, 1000, 1000] },
        { name: '[other threads]', io: [5, 5, 5] },
    ],
};

test('all groups are added up, and idle time is not active', () => {
    const times = page.secondsOf(SECONDS, null);
    assert.deepEqual(times.states.running, [11, 20, 0]);
    assert.deepEqual(times.states.idle, [999, 1000, 1000]);
    assert.deepEqual(times.active, [16, 25, 35]);
});

test('a chosen group has its own seconds, or those of all others', () => {
    assert.deepEqual(page.secondsOf(SECONDS, 'pool').active, [1, 0, 0]);
    assert.deepEqual(page.secondsOf(SECONDS, 'late').active, [5, 5, 5]);
    assert.equal(page.secondsOf(SECONDS, 'late').name, '[other threads]');
});

test('without seconds there is no strip', () => {
    assert.equal(page.secondsOf(undefined, null), null);
    assert.equal(page.secondsOf({ ...SECONDS, count: 0, groups: [] }, null), null);
});

test('the boxes of a second stand on each other, and fill the height of the highest', () => {
    const paths = page.stripPaths(page.secondsOf(SECONDS, null));
    const area = paths.flatMap(({ path }) => [...path.matchAll(/v([0-9]+)h-1z/g)].map((box) => Number(box[1])));
    assert.equal(area.reduce((sum, millis) => sum + millis, 0), 16 + 25 + 35);
    assert.deepEqual(paths.map(({ state }) => state), ['running', 'runnable', 'blocked', 'io', 'waiting']);
    assert.equal(paths[0].path, 'M0 24h1v11h-1zM1 15h1v20h-1z');
    assert.equal(paths[2].path, 'M2 5h1v30h-1z');
    assert.equal(paths[3].path, 'M0 19h1v5h-1zM1 10h1v5h-1zM2 0h1v5h-1z');
});

test('a second shows its states, a wider slot its width', () => {
    const zone = { name: ' CET', minutes: 60 };
    const at = new Date((SECONDS.from + 3600) * 1000).toISOString().slice(11, 19);
    const first = page.secondText(page.secondsOf(SECONDS, null), 0, zone);
    assert.match(first, /^\d\d:\d\d:\d\d CET: running 11.*, I\/O 5.*, idle 999/);
    assert.ok(first.startsWith(at), first);
    assert.match(page.secondText(page.secondsOf({ ...SECONDS, width: 4 }, 'main'), 0, zone), /CET and the next 3 s: running/);
    assert.match(page.secondText(page.secondsOf(SECONDS, 'pool'), 1, zone), /: idle/);
});

test('the seconds that the library writes are read, by the file that its own test compares', () => {
    const golden = path.resolve(__dirname, '../../golden/seconds.json');
    const { seconds } = JSON.parse('{' + fs.readFileSync(golden, 'utf8').replace(/}\s*$/, '}'));
    const all = page.secondsOf(seconds, null);
    assert.deepEqual(all.active, [800, 19, 1500, 0]);
    assert.deepEqual(all.states.idle, [0, 0, 0, 1000]);
    assert.deepEqual(page.secondsOf(seconds, 'hot').states.blocked, [0, 7, 0, 0]);
    assert.equal(page.secondsOf(seconds, 'another').name, '[other threads]');
});

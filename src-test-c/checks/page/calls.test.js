// SPDX-License-Identifier: Apache-2.0
'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const page = require('./page.js');
const naive = require('./naive.js');

const ROUNDS = 200;

/** A report with counted calls: groups with separate trees and calls. */
function randomReport(seed) {
    const random = new naive.Random(seed + 7777);
    const counted = naive.randomReport(seed + 5000).groups.map((group) => ({
        ...group,
        calls: group.parent.map(() => (random.below(3) === 0 ? 0 : random.below(100))),
    }));
    return { ...naive.randomReport(seed), counted };
}

function forRandomReports(body) {
    for (let seed = 1; seed <= ROUNDS; seed++) {
        const report = randomReport(seed);
        try {
            body(report, page.modelsOf(report), new naive.Random(seed + ROUNDS));
        } catch (failure) {
            failure.message = `seed ${seed}: ${failure.message}`;
            throw failure;
        }
    }
}

/**
 * The rows of the counted groups: [{group, at, frame, callers: their places, nearest last}], as places in the
 * group.
 */
function rowsOf(report) {
    return report.counted.flatMap((group, g) =>
        group.parent.map((_, at) => {
            const callers = [];
            for (let i = group.parent[at]; i >= 0; i = group.parent[i]) {
                callers.unshift(i);
            }
            return { group, g, at, frame: report.frames[group.frame[at]], callers };
        })
    );
}

const sumOf = (list, of) => list.reduce((sum, one) => sum + of(one), 0);

// ---- two models

test('a report without counted groups has one model', () => {
    const models = page.modelsOf(naive.randomReport(3));
    assert.equal(models.counted, null);
    assert.equal(models.sampled.hasCalls, false);
    assert.equal(page.countedOf(naive.differenceOf(naive.randomReport(1), naive.randomReport(2))), null);
});

test('counted calls do not change the sampled model', () => {
    forRandomReports((report, { sampled }) => {
        const { counted, ...rest } = report;
        const alone = page.modelOf(rest);
        assert.ok(counted.length > 0);
        assert.deepEqual(sampled.self, alone.self);
        assert.deepEqual(sampled.total, alone.total);
        assert.deepEqual(sampled.measures, alone.measures);
    });
});

test('the counted model has the calls of each node, and their sum below it as its width', () => {
    forRandomReports((report, { counted }) => {
        let node = 0;
        report.counted.forEach((group, g) => {
            const first = counted.groups[g].node + 1;
            assert.equal(first - 1, ++node);
            const rows = rowsOf(report).filter((row) => row.g === g);
            rows.forEach(({ at }) => {
                assert.equal(counted.self.calls[first + at], group.calls[at]);
                const below = rows.filter((row) => row.at === at || row.callers.includes(at));
                assert.equal(counted.width('calls', first + at), sumOf(below, (row) => group.calls[row.at]));
            });
            node += rows.length;
        });
        assert.equal(counted.total.calls[0], sumOf(rowsOf(report), (row) => row.group.calls[row.at]));
        assert.equal(counted.hasCalls, counted.total.calls[0] > 0);
    });
});

test('a frame that was called is not folded into its caller', () => {
    const report = {
        ...naive.randomReport(1),
        counted: [{ name: 'g', parent: [-1, 0, 1], frame: [0, 2, 3], wall: [0, 0, 5], calls: [1, 4, 9] }],
    };
    const { counted } = page.modelsOf(report);
    assert.deepEqual([...page.callTree(counted, 'wall', true).shown], [0, 1, 2, 3, 4]);
    report.counted[0].calls[1] = 0;
    assert.deepEqual([...page.callTree(page.modelsOf(report).counted, 'wall', true).shown], [0, 1, 2, 2, 4]);
});

// ---- callers

test('callers have the calls made from there, and the time of a recursive method once', () => {
    forRandomReports((report, { counted }, random) => {
        const rows = rowsOf(report);
        if (rows.length === 0) {
            return;
        }
        const wanted = naive.methodText(random.one(rows).frame);
        const callerOf = ({ group, at }) =>
            group.parent[at] < 0 ? naive.groupName(group) : naive.methodText(report.frames[group.frame[group.parent[at]]]);
        const is = (row, caller) => naive.methodText(row.frame) === wanted && callerOf(row) === caller;
        const method = counted.frames.methods.findIndex((one) => one.text === wanted && one.kind >= page.KIND.JAVA);
        const found = page.callersOf(counted, 0, method).map((row) => [
            counted.frames.methods[row.key].text, row.self.calls, row.total.wall,
        ]);
        const callers = [...new Set(rows.filter((row) => naive.methodText(row.frame) === wanted).map(callerOf))];
        const expected = callers.map((caller) => {
            const calls = rows.filter((row) => is(row, caller));
            const outer = calls.filter((row) => !row.callers.some((at) => is({ ...rows.find((one) =>
                one.group === row.group && one.at === at) }, caller)));
            const time = (row) => sumOf(
                rows.filter((one) => one.group === row.group && (one.at === row.at || one.callers.includes(row.at))),
                (one) => one.group.wall[one.at]
            );
            return [caller, sumOf(calls, (row) => row.group.calls[row.at]), sumOf(outer, time)];
        });
        assert.deepEqual(found.sort(), expected.sort());
    });
});

// ---- by class and package

test('methods add up to classes and packages, each counted once while it is on the stack', () => {
    const nameOf = (frame, level) => {
        if (frame.pseudo !== undefined || level === 'method') {
            return naive.methodText(frame);
        }
        const parts = naive.escaped(frame.class).split('.');
        return level === 'class' ? parts.join('.') : parts.slice(0, -1).join('.') || '(no package)';
    };
    for (const level of ['method', 'class', 'package']) {
        forRandomReports((report, { counted }) => {
            const rows = rowsOf(report);
            const rolled = page.rollUp(counted.frames, level);
            const found = page.hotList(counted, 0, false, rolled).map((row) => [
                rolled.names[row.key], row.self.calls, row.total.calls,
            ]);
            const expected = [...new Set(rows.map((row) => nameOf(row.frame, level)))].map((name) => {
                const own = rows.filter((row) => nameOf(row.frame, level) === name);
                const inside = rows.filter((row) => [...row.callers, row.at].some((at) =>
                    nameOf(report.frames[row.group.frame[at]], level) === name));
                return [name, ...[own, inside].map((list) => sumOf(list, (row) => row.group.calls[row.at]))];
            });
            assert.deepEqual(found.sort(), expected.sort());
        });
    }
    assert.equal(page.rollUpName({ text: 'a.b.C$1.run', kind: page.KIND.JAVA }, 'package'), 'a.b');
    assert.equal(page.rollUpName({ text: 'main', kind: page.KIND.GROUP }, 'package'), 'main');
});

// ---- words and columns

const ONE = {
    format: 'threads-sampler/1',
    elapsedNanos: 2e9,
    frames: [{ class: 'a.A', method: 'm', file: 'A.java' }, { class: 'a.B', method: 'n' }],
    groups: [],
    counted: [
        {
            name: 'g', hookNanos: 1e9, parent: [-1, 0], frame: [0, 1], wall: [1e9, 3e9], cpu: [1e9, 0], samples: [0, 0],
            calls: [4, 1_200_000], rootTimes: [[0, 3, 6e9, 5_432, 5e9]],
        },
    ],
};

function cells(model, metric, node) {
    const get = {
        self: (measure, i) => model.self[measure][i],
        total: (measure, i) => model.total[measure][i],
        calls: (i) => model.self.calls[i],
        text: (i) => model.textOf(i),
        tone: () => '',
    };
    return Object.fromEntries(
        page.columnsOf({ model, metric, base: 0 }, get, 'total').map((column) => [column.key, column.text(node)])
    );
}

test('columns of a counted model have calls and time per call in place of samples', () => {
    const model = page.modelsOf(ONE).counted;
    assert.deepEqual(cells(model, 'wall', 3), {
        percent: '75.0 %', wall: '3,000', self: '3,000', cpu: '0', calls: '1,200,000', perCall: '2.500', name: 'a.B.n(Unknown Source)',
    });
    assert.equal(cells(model, 'calls', 2).percent, '100.0 %');
    assert.equal(cells(model, 'calls', 2).perCall, '1,000,000');
    const { calls, perCall } = cells(page.modelsOf({ ...ONE, counted: [{ ...ONE.counted[0], wall: [0, 0] }] }).counted, 'calls', 3);
    assert.deepEqual([calls, perCall], ['1,200,000', '']);
});

test('a node of a counted model is described by its calls; a root by the shortest and the longest', () => {
    const view = { model: page.modelsOf(ONE).counted, metric: 'wall', base: 0, zoom: 0 };
    assert.deepEqual(page.describe(view, 1), [
        '4.00 s = 100.0 %', 'CPU 1.00 s', '1,200,004 calls', 'hook share 20.0 %',
    ]);
    assert.deepEqual(page.describe(view, 2), [
        '4.00 s = 100.0 %', 'own time 1.00 s', 'CPU 1.00 s', 'called 4 times',
        '2,000,000 µs per call, from 5.432 to 5,000,000',
    ]);
    assert.deepEqual(page.describe({ ...view, metric: 'calls' }, 3), [
        '1,200,000 calls = 100.0 %', 'wall 3.00 s', 'called 1,200,000 times', '2.500 µs per call',
    ]);
});

test('a row with a late probe says since when, in the zone of the JVM, and how many calls are missing', () => {
    const counted = [{ ...ONE.counted[0], hookNanos: 0, countedSince: [[0, 3_723_000, -1], [1, 7_000, 330]] }];
    const { counted: model } = page.modelsOf({ ...ONE, zone: 'CET', zoneOffsetSeconds: 3600, counted });
    const view = { model, metric: 'wall', base: 0, zoom: 0 };
    assert.equal(page.describe(view, 2).at(-1), 'counted since 02:02:03');
    assert.equal(page.describe(view, 3).at(-1), 'counted since 01:00:07, at most 330 calls missing');
    assert.deepEqual(model.measures, page.modelsOf(ONE).counted.measures);
});

test('a node of a sampled model has the calls of its counted node', () => {
    const group = {
        name: 'g', parent: [-1, 0, 0], frame: [0, 1, 1], wall: [1e9, 3e9, 0], cpu: [0, 0, 0], samples: [1, 2, 0],
        rowCalls: [[0, 1, 1], [1, 1_200_000, 3]],
    };
    const { sampled } = page.modelsOf({ ...ONE, groups: [group] });
    assert.equal(sampled.hasCalls, false);
    assert.deepEqual(sampled.measures, ['wall', 'cpu', 'samples']);
    const get = {
        self: (measure, i) => sampled.self[measure][i],
        total: (measure, i) => sampled.total[measure][i],
        calls: () => 0,
        counted: (i) => sampled.rowCalls.get(i),
        text: (i) => sampled.textOf(i),
        tone: () => '',
    };
    const view = { model: sampled, metric: 'wall', base: 0, zoom: 0 };
    const column = page.columnsOf(view, get, 'total').find(({ key }) => key === 'counted');
    assert.deepEqual([1, 2, 3, 4].map(column.text), ['', '1', '≤ 1,200,000', '']);
    assert.deepEqual([1, 2, 3, 4].map(column.value), [0, 1, 1_200_000, 0]);
    assert.equal(page.describe(view, 2).at(-1), 'called 1 time');
    assert.equal(page.describe(view, 3).at(-1), 'called 1,200,000 times over 3 paths');
    assert.equal(page.describe(view, 4).at(-1), '0 samples');
    const without = page.modelsOf({ ...ONE, groups: [{ ...group, rowCalls: undefined }] }).sampled;
    assert.equal(page.columnsOf({ ...view, model: without }, get, 'total').some(({ key }) => key === 'counted'), false);
});

test('calls and microseconds in words', () => {
    assert.equal(page.amountText('calls', 1), '1 call');
    assert.equal(page.amountText('calls', 1234), '1,234 calls');
    assert.equal(page.amountText('wall', 1e9), '1.00 s');
    assert.equal(page.micros(10), '0.010');
    assert.equal(page.micros(99_999), '99.999');
    assert.equal(page.micros(100_400), '100');
    assert.equal(page.timePerCall(0, 5) + page.timePerCall(5, 0), '');
    assert.equal(page.changeOf(-3, 'calls'), '-3 calls');
});

test('the counted groups of a difference are a model of their own', () => {
    const pair = naive.differenceOf({ ...ONE, counted: undefined }, ONE);
    pair.difference.counted = {
        frames: ONE.frames, groups: [[0, 0]], parent: [-1, 0, 1], frame: [0, 0, 1],
        before: { wall: [0, 1e9, 1e9], cpu: [0, 0, 0], calls: [0, 2, 5] },
        after: { wall: [0, 1e9, 3e9], cpu: [0, 0, 0], calls: [0, 4, 9] },
    };
    pair.before.counted = pair.after.counted = ONE.counted;
    const { sampled, counted } = page.modelsOf(pair);
    assert.equal(sampled.hasCalls, false);
    assert.equal(counted.hasCalls, true);
    assert.equal(counted.isDiff, true);
    assert.equal(counted.delta('calls', 2), 6);
    assert.equal(cells(counted, 'calls', 3).delta, '+4');
    assert.equal(cells(counted, 'wall', 3).after, '3,000');
    assert.deepEqual(page.describe({ model: counted, metric: 'calls', base: 0, zoom: 0 }, 3), [
        'before 5 calls, after 9 calls', '+4 calls (+80.0 %)',
    ]);
});

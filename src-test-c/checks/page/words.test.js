// SPDX-License-Identifier: Apache-2.0
'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const page = require('./page.js');
const naive = require('./naive.js');

/** [argument, expected]... */
function assertEach(function_, cases) {
    for (const [argument, expected] of cases) {
        assert.equal(function_(argument), expected, String(argument));
    }
}

// ---- numbers

test('milliseconds have a digit after the point where there are few', () => {
    assertEach(page.millis, [
        [0, '0'], [50_000, '0.1'], [49_999, '0.0'], [1e6, '1.0'], [9_940_000, '9.9'], [10e6, '10'], [1.2345e12, '1,234,500'],
        [-2.5e6, '-2.5'], [-12e6, '-12'],
    ]);
});

test('a positive share is never shown as 0.0 %', () => {
    assert.equal(page.percent(0, 5), '0.0 %');
    assert.equal(page.percent(1, 3), '33.3 %');
    assert.equal(page.percent(1, 100_000), '< 0.1 %');
    assert.equal(page.percent(-1, 100_000), '> -0.1 %');
    assert.equal(page.percent(5, 0), '–');
    assert.equal(page.percent(0, 0), '0.0 %');
    assert.equal(page.percent(3, 2), '150.0 %');
    assert.equal(page.percent(5, undefined), '–');
});

test('a duration is rounded to its last digit', () => {
    const UNITS = { ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };
    const random = new naive.Random(11);
    for (let round = 0; round < 3000; round++) {
        const ns = (random.below(2) ? 1 : -1) * random.below(1000) * 10 ** random.below(12);
        const text = page.duration(ns);
        let said = 0;
        let unit = '';
        for (const part of text.replace('-', '').matchAll(/([\d,.]+) (ms|s|min|h)/g)) {
            said += Number(part[1].replaceAll(',', '')) * UNITS[part[2]];
            unit = part[2];
        }
        const step = unit === 'ms' ? 1e5 : unit === 'min' ? 60e9 : text.includes('min') ? 1e9 : 1e7;
        assert.ok(Math.abs(said - Math.abs(ns)) <= step / 2 + 1, `${ns}: ${text}`);
        assert.equal(text.startsWith('-'), ns < 0, `${ns}: ${text}`);
    }
    assertEach(page.duration, [
        [0, '0 s'], [1e6, '1.0 ms'], [999e6, '999.0 ms'], [1e9, '1.00 s'], [100e9, '1 min 40 s'], [119.6e9, '2 min 0 s'],
        [7199.4e9, '119 min 59 s'], [7200e9, '2 h 0 min'], [-1e9, '-1.00 s'],
    ]);
});

test('bytes, signs and counts', () => {
    assertEach(page.bytes, [[0, '0.0 kB'], [123_456, '123.5 kB'], [1e6, '1.0 MB'], [67_108_864, '67.1 MB']]);
    assertEach(page.whole, [[0, '0'], [1234567, '1,234,567']]);
    assert.equal(page.signed('1', 1), '+1');
    assert.equal(page.signed('-1', -1), '-1');
    assert.equal(page.signed('0', 0), '0');
    assert.equal(page.changeOf(0), '±0');
    assert.equal(page.changeOf(2e9), '+2.00 s');
    assert.equal(page.changeOf(-2e9), '-2.00 s');
});

test('an interval shows its day once, unless it ends on another day', () => {
    const at = (...parts) => new Date(...parts).getTime();
    const viewers = page.zoneOf({});
    assert.equal(
        page.span(at(2026, 10, 20, 10, 0, 0), at(2026, 10, 20, 10, 15, 9), viewers),
        '2026-11-20 10:00:00 – 10:15:09'
    );
    assert.equal(
        page.span(at(2026, 0, 2, 23, 59, 59), at(2026, 0, 3, 0, 0, 1), viewers),
        '2026-01-02 23:59:59 – 2026-01-03 00:00:01'
    );
});

test("an interval has the JVM's time and zone, wherever it is read", () => {
    const zone = page.zoneOf({ zone: 'IST', zoneOffsetSeconds: 19_800 });
    assert.equal(page.span(0, 3_000, zone), '1970-01-01 05:30:00 – 05:30:03 IST');
    assert.equal(page.span(0, 0, page.zoneOf({ zone: '-03', zoneOffsetSeconds: -10_800 })), '1969-12-31 21:00:00 – 21:00:00 -03');
});

test('a box has the end of a name, as far as it fits', () => {
    const frames = new page.Frames();
    const frame = frames.fromReport({ class: 'com.acme.shop.Order', method: 'place', file: 'Order.java', line: 12 }, true);
    const widths = [
        [40, 'com.acme.shop.Order.place(Order.java:12)'], [39, 'Order.place(Order.java:12)'], [25, 'Order.place'],
        [10, '…der.place'], [6, '…place'], [5, 'plac…'], [3, 'pl…'], [2, ''],
    ];
    widths.forEach(([letters, text]) => assert.equal(page.fitted(frames, frame, letters), text));
    const group = frames.named('http-nio-8080.exec', page.KIND.GROUP);
    assert.equal(page.fitted(frames, group, 18), 'http-nio-8080.exec');
    assert.equal(page.fitted(frames, group, 6), 'http-…');
});

// ---- names

test('characters that cannot be seen are escaped, all others are kept', () => {
    for (let code = 0; code <= 0xe0100; code++) {
        const text = 'a' + String.fromCodePoint(code) + 'b';
        assert.equal(page.clean(text), naive.escaped(text));
    }
});

test('a name is cut at its limit, never within a character', () => {
    assert.equal(page.shorten('abc', 3), 'abc');
    assert.equal(page.shorten('abcd', 3), 'abc… (4 characters)');
    assert.equal(page.shorten('ab\u{1f600}d', 3), 'ab… (5 characters)');
    assert.equal(page.shorten('ab\u{1f600}d', 4), 'ab\u{1f600}… (5 characters)');
    assert.equal(page.wholeCharacters('a\ud83d'), 'a');
});

test('a colour follows the first three parts of the package', () => {
    const of = (name) => page.packageOf(name, name.lastIndexOf('.'));
    assertEach(of, [['C', ''], ['a.C', 'a'], ['a.b.c.C', 'a.b.c'], ['a.b.c.d.e.C', 'a.b.c']]);
});

test('a title lists the threads of the newer side', () => {
    const side = (threads, names) => ({ threads, threadNames: names });
    assert.equal(page.threadsOf({ sides: [side(2, ['a', 'b\n'])] }), '2 threads: a, b\\u000a');
    assert.equal(page.threadsOf({ sides: [side(1, ['a']), side(1234, ['c'])] }), '1,234 threads: c');
    assert.equal(page.threadsOf({ sides: [side(1, ['a']), undefined] }), '1 threads: a');
    assert.equal(page.threadsOf({ sides: [{ ...side(2, ['a']), joinedGroups: 1500 }] }), '2 threads of 1,500 groups: a');
});

// ---- colours

test('packages with most own time get the hues, and keep them when the report is refreshed', () => {
    for (let seed = 1; seed <= 50; seed++) {
        const random = new naive.Random(seed);
        const report = (count) => ({
            format: 'threads-sampler/1',
            frames: [...Array(count).keys()].map((i) => ({ class: `p${i}.C`, method: 'm' })),
            groups: [
                {
                    name: 'g',
                    parent: Array(count).fill(-1),
                    frame: [...Array(count).keys()],
                    wall: [...Array(count).keys()].map(() => random.below(5)),
                },
            ],
        });
        const first = report(14);
        const colours = new page.Colours();
        colours.assign(page.modelOf(first));
        const ranked = first.frames
            .map((frame, i) => ({ name: 'p' + i, wall: first.groups[0].wall[i] }))
            .sort((a, b) => b.wall - a.wall || (a.name < b.name ? -1 : 1))
            .map((entry) => entry.name);
        assert.deepEqual(colours.ranked, ranked);
        const before = ranked.map((name) => colours.ofPackage(name));
        assert.equal(new Set(before.slice(0, page.HUES.length)).size, page.HUES.length);
        before.slice(page.HUES.length).forEach((colour) => assert.equal(colour, colours.theme.other));
        colours.assign(page.modelOf(report(14)));
        assert.deepEqual(ranked.map((name) => colours.ofPackage(name)), before);
        assert.equal(colours.ofPackage('never seen'), colours.theme.other);
    }
});

test('each kind of frame has its colour, in each theme', () => {
    const frames = new page.Frames();
    const ids = naive.FRAMES.map((frame) => frames.fromReport(frame, true));
    const group = frames.named('g', page.KIND.GROUP);
    const colours = new page.Colours();
    for (const theme of ['light', 'dark']) {
        colours.setTheme(theme);
        assert.deepEqual(Object.keys(colours.theme), Object.keys(page.THEMES.light));
        naive.FRAMES.forEach((frame, i) => {
            const wanted = { JDK: colours.theme.jdk, PSEUDO: colours.theme.pseudo, JAVA: colours.theme.other };
            assert.equal(colours.ofFrame(frames, ids[i]), wanted[naive.kindOf(frame)]);
        });
        assert.equal(colours.ofFrame(frames, group), colours.theme.group);
    }
});

test('a change has the colour of its direction, stronger the larger its share of the frame and of the view', () => {
    const colours = new page.Colours();
    const { slower, faster, same } = colours.theme;
    assert.equal(colours.ofChange(0, 10, 10), same);
    assert.equal(colours.ofChange(5, 0, 10), same);
    assert.equal(colours.ofChange(5, 10, 10), slower(1));
    assert.equal(colours.ofChange(-5, 10, 10), faster(1));
    assert.equal(colours.ofChange(1, 10, 10), slower(0.2));
    assert.equal(colours.ofChange(-500, 10, 10), faster(1));
    assert.equal(colours.ofChange(5, 10, 1000), slower(0.5));
    assert.equal(colours.ofChange(5, 10, 1e9), same);
});

test('the legend explains the colours', () => {
    const report = naive.randomReport(3, 3);
    const single = page.modelOf(report);
    const colours = new page.Colours();
    colours.assign(single);
    const legend = colours.legend(single);
    assert.ok(legend.length <= 6);
    assert.deepEqual(legend.at(-1), [colours.theme.jdk, 'JDK']);
    assert.deepEqual(
        colours.legend(page.modelOf(naive.differenceOf(report, report))).map(([, words]) => words),
        ['slower', 'faster', 'as before']
    );
});

// ---- what is said of a node, and the columns of tables

const ONE = {
    format: 'threads-sampler/1',
    elapsedNanos: 2e9,
    frames: [{ class: 'a.A', method: 'm', file: 'A.java', line: 1 }, { class: 'a.B', method: 'n' }],
    groups: [{ name: 'g', parent: [-1, 0], frame: [0, 1], wall: [1e9, 3e9], cpu: [1e9, 0], samples: [10, 30] }],
};
const TWO = {
    ...ONE,
    elapsedNanos: 4e9,
    groups: [{ name: 'g', parent: [-1, 0], frame: [0, 1], wall: [2e9, 3e9], cpu: [1e9, 0], samples: [10, 30] }],
};

test('a node is described by its time, its share, and how often it was seen', () => {
    const view = { model: page.modelOf(ONE), metric: 'wall', base: 0, zoom: 0 };
    assert.deepEqual(page.describe(view, 2), ['4.00 s = 100.0 %', 'own time 1.00 s', 'CPU 1.00 s', '40 samples']);
    assert.deepEqual(page.describe({ ...view, zoom: 2 }, 3), [
        '3.00 s = 75.0 %, 75.0 % of the zoom', 'own time 3.00 s', 'CPU 0 s', '30 samples',
    ]);
    assert.deepEqual(page.describe({ ...view, metric: 'cpu' }, 1), ['1.00 s = 100.0 %', 'wall 4.00 s', '40 samples']);
});

test('a node of two reports is described by its change', () => {
    const view = { model: page.modelOf(naive.differenceOf(ONE, TWO)), metric: 'wall', base: 0, zoom: 0 };
    assert.deepEqual(page.describe(view, 2), ['before 8.00 s, after 5.00 s', '-3.00 s (-37.5 %)']);
    assert.deepEqual(
        page.describe({ ...view, model: page.modelOf(naive.differenceOf(TWO, ONE)) }, 2),
        ['before 2.50 s, after 4.00 s', '+1.50 s (+60.0 %)']
    );
});

function cells(model, metric, main, node) {
    const get = {
        self: (measure, i) => model.self[measure][i],
        total: (measure, i) => model.total[measure][i],
        text: (i) => model.textOf(i),
        tone: () => '',
    };
    return Object.fromEntries(
        page.columnsOf({ model, metric, base: 0 }, get, main).map((column) => [column.key, column.text(node)])
    );
}

test('columns of one report', () => {
    const model = page.modelOf(ONE);
    assert.deepEqual(cells(model, 'wall', 'total', 2), {
        percent: '100.0 %', wall: '4,000', self: '1,000', cpu: '1,000', samples: '40', name: 'a.A.m(A.java:1)',
    });
    assert.deepEqual(cells(model, 'wall', 'self', 2), {
        percent: '25.0 %', wall: '4,000', self: '1,000', cpu: '1,000', ownCpu: '1,000', samples: '10',
        name: 'a.A.m(A.java:1)',
    });
    assert.equal(cells(model, 'cpu', 'total', 3).percent, '0.0 %');
});

/** a.A.m ran for 1 s; a.B.n, its callee, was blocked for 1 s and idle for 2 s. */
const STATES = {
    ...ONE,
    groups: [{ ...ONE.groups[0], running: [1e9, 0], blocked: [0, 1e9], idle: [0, 2e9] }],
};

test('active time is wall time without idle time, and the states that have time are columns', () => {
    const model = page.modelOf(STATES);
    assert.deepEqual([...model.total.active], [2e9, 2e9, 2e9, 1e9]);
    const without = page.modelOf(ONE);
    assert.equal(without.total.active, without.total.wall);
    const active = cells(model, 'active', 'total', 3);
    assert.deepEqual([active.percent, active.wall, active.blocked, active.running, active.idle],
        ['50.0 %', '1,000', '1,000', '', undefined]);
    const wall = cells(model, 'wall', 'total', 3);
    assert.deepEqual([wall.percent, wall.wall, wall.idle], ['75.0 %', '3,000', '2,000']);
    assert.equal(cells(page.modelOf(ONE), 'wall', 'total', 2).running, undefined);
});

test('the name is the first column', () => {
    const get = { self: () => 0, total: () => 0, error: () => NaN, calls: () => 0, text: () => '', tone: () => '' };
    const model = page.modelOf(STATES);
    assert.equal(page.columnsOf({ model, metric: 'active', base: 0 }, get, 'total')[0].key, 'name');
});

test('a box has the colour of the state with most of its time', () => {
    const model = page.modelOf(STATES);
    const colours = new page.Colours();
    const { states } = page.THEMES.light;
    assert.equal(colours.ofStates(model.statesOf('active', 3)), states.blocked);
    assert.equal(colours.ofStates(model.statesOf('wall', 3)), states.idle);
    assert.deepEqual(colours.legend(model, 'active').map(([, words]) => words), ['running', 'blocked']);
    assert.deepEqual(colours.legend(model, 'wall').map(([, words]) => words), ['running', 'blocked', 'idle']);
    colours.paint = 'package';
    assert.ok(colours.legend(model, 'active').some(([, words]) => words === 'JDK'));
});

test('a hot spot is found by its line, else by its method', () => {
    const { frames } = page.modelOf(STATES);
    const spot = { class: 'a.A', method: 'm', file: 'A.java', line: 1 };
    assert.equal(page.textOfSpot(frames, spot), 'a.A.m(A.java:1)');
    assert.equal(page.textOfSpot(frames, { ...spot, line: 7 }), 'a.A.m');
});

test('columns of a difference', () => {
    const model = page.modelOf(naive.differenceOf(ONE, TWO));
    assert.deepEqual(cells(model, 'wall', 'total', 2), {
        delta: '-3,000', ownDelta: '0', relative: '-37.5 %', before: '8,000', after: '5,000', name: 'a.A.m',
    });
    assert.deepEqual(cells(model, 'wall', 'self', 3), {
        delta: '-3,000', ownDelta: '-3,000', relative: '-50.0 %', before: '6,000', after: '3,000', name: 'a.B.n',
    });
    const fresh = page.modelOf(naive.differenceOf({ ...ONE, groups: [] }, ONE));
    assert.equal(cells(fresh, 'wall', 'total', 2).relative, 'new');
    const gone = page.modelOf(naive.differenceOf(ONE, { ...ONE, groups: [] }));
    assert.equal(cells(gone, 'wall', 'total', 2).relative, '-100.0 %');
    assert.equal(page.tone(1) + page.tone(-1) + page.tone(0), 'slowerfaster');
});

// ---- the account

test('time without a stack is the time of frames in brackets directly below a group, except the JVM group', () => {
    const account = new page.Account({});
    for (let seed = 1; seed <= 100; seed++) {
        const report = naive.randomReport(seed, 3);
        report.groups[2].name = '[JVM]';
        account.model = page.modelOf(report);
        const sums = new Map();
        for (const group of naive.treeOf(report).filter((tree) => tree.names[0] !== '[JVM]')) {
            for (const row of group.rows.filter((below) => below.kind === 'PSEUDO' && below.own.wall > 0)) {
                sums.set(row.names[1], (sums.get(row.names[1]) ?? 0) + row.own.wall);
            }
        }
        assert.deepEqual([...account.pseudoByFrame(0)].sort(), [...sums].sort());
        assert.equal(account.pseudoTime(0), [...sums.values()].reduce((a, b) => a + b, 0));
    }
});

test('outcomes, counters and counting are explained, and a code of another version is shown as it is', () => {
    for (const [code, { kind, text, words }] of Object.entries(page.OUTCOMES)) {
        const tag = ['failed', 'skipped'].includes(kind) ? kind : 'seen';
        assert.deepEqual(page.outcomeOf(code), { tag, text, words });
    }
    for (const [code, counter] of Object.entries(page.COUNTERS)) {
        assert.equal(page.counterOf(code), counter);
    }
    for (const [code, counting] of Object.entries(page.COUNTING)) {
        assert.equal(page.countingOf(code, 'its text'), counting);
        assert.ok(counting.text.length > 0 && counting.words.length > 0);
    }
    for (const code of ['BY_SOMETHING_NEW', 'toString', '__proto__']) {
        assert.deepEqual(page.countingOf(code, 'its text'), { text: 'its text', words: '' });
        assert.deepEqual(page.outcomeOf(code), { tag: 'other', text: code, words: '' });
        assert.deepEqual(page.counterOf(code), { text: code, words: '' });
    }
});

test('sums and unions of figures', () => {
    assert.equal(page.sumOf({ a: 1, b: 2, ab: 4 }, (text) => text.startsWith('a')), 5);
    assert.equal(page.sumOf(undefined, () => true), 0);
    assert.deepEqual(page.unionOfKeys([{ a: 1, b: 1 }, {}, { b: 2, c: 2 }]), ['a', 'b', 'c']);
});

// ---- the rest

test('a table orders numbers by value, and names by their letters', () => {
    const columns = [{ key: 'n', value: (row) => row.n }, { key: 'name', value: (row) => row.name, name: true }];
    const rows = [{ n: 2, name: 'b' }, { n: 10, name: 'a' }, { n: -1, name: 'C' }];
    const sorted = (sort) => {
        const grid = { columns, sort };
        return [...rows].sort((a, b) => page.Grid.prototype.compare.call(grid, a, b)).map((row) => row.n);
    };
    assert.deepEqual(sorted({ key: 'n', down: true }), [10, 2, -1]);
    assert.deepEqual(sorted({ key: 'n', down: false }), [-1, 2, 10]);
    assert.deepEqual(sorted({ key: 'name', down: false }), [-1, 10, 2]);
});

test('a page that cannot start says why', () => {
    assert.match(page.whyThePageDidNotStart, /^The report cannot be shown: /);
});

// SPDX-License-Identifier: Apache-2.0
// Compares filtered trees with stacks that are cut one by one.
'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const page = require('./page.js');

const NAMES = ['a.A.m', 'a.A.n', 'b.B.m', 'b.B.n', 'c.C.m'];

/** A report with random stacks in two groups. */
function reportOf(seed) {
    let state = seed;
    const below = (n) => (state = (state * 1103515245 + 12345) % 2147483648) % n;
    const group = (name) => {
        const parent = [-1];
        const frame = [below(5)];
        for (let i = 1; i < 60; i++) {
            parent.push(below(i));
            frame.push(below(5));
        }
        return { name, threads: 1, parent, frame, wall: parent.map(() => below(4)), samples: parent.map(() => below(3)) };
    };
    const frames = NAMES.map((name, i) => ({
        class: name.slice(0, 3), method: name.slice(4), file: name[2] + '.java', line: i + 1,
    }));
    return {
        format: 'threads-sampler/1', fromMillis: 0, tillMillis: 1, elapsedNanos: 1, frames,
        groups: [group('g'), group('h')],
    };
}

/** Each path with own time, as text, with its time. */
function stacksOf(model) {
    const stacks = [];
    for (let i = 1; i < model.count; i++) {
        if (model.self.wall[i] !== 0) {
            stacks.push([model.path(i), model.self.wall[i]]);
        }
    }
    return stacks;
}

function sums(stacks) {
    const sum = new Map();
    stacks.forEach(([path, time]) => sum.set(path.join(';'), (sum.get(path.join(';')) ?? 0) + time));
    return new Map([...sum].sort());
}

const NONE = { hide: null, focus: null, keep: null, recursion: false, invert: false };

function check(change, naive) {
    for (let seed = 1; seed < 40; seed++) {
        const model = page.modelOf(reportOf(seed));
        const expected = stacksOf(model).flatMap(([[group, ...frames], time]) => {
            const left = naive(frames);
            return left === null ? [] : [[[group, ...left], time]];
        });
        assert.deepEqual(sums(stacksOf(page.filtered(model, { ...NONE, ...change }))), sums(expected), 'seed ' + seed);
    }
}

test('the time of hidden frames goes to their callers', () => {
    check({ hide: /^b\./ }, (frames) => frames.filter((name) => !name.startsWith('b.')));
});

test('only stacks with a match are kept', () => {
    check({ keep: /^c\.C/ }, (frames) => (frames.some((name) => name.startsWith('c.C')) ? frames : null));
});

test('focused stacks begin at their outermost match', () => {
    check({ focus: /\.n\(/ }, (frames) => {
        const at = frames.findIndex((name) => name.includes('.n('));
        return at < 0 ? null : frames.slice(at);
    });
});

test('a recursive method becomes one frame', () => {
    check({ recursion: true }, (frames) => frames.filter((name, i) => name !== frames[i - 1]));
});

test('inverted stacks begin with their innermost frame', () => {
    check({ invert: true }, (frames) => [...frames].reverse());
    check({ invert: true, hide: /^a\./ }, (frames) => frames.filter((name) => !name.startsWith('a.')).reverse());
});

test('an empty filter changes nothing, and all measures are kept', () => {
    assert.equal(page.isFiltering(NONE), false);
    assert.equal(page.isFiltering({ ...NONE, invert: true }), true);
    const model = page.modelOf(reportOf(5));
    const inverted = page.filtered(model, { ...NONE, invert: true });
    assert.equal(inverted.total.samples[0], model.total.samples[0]);
    assert.deepEqual(inverted.groups.map(({ name }) => name), ['g', 'h']);
});

// ---- error bars and counts

/** a.A.m { a.A.n { b.B.m }, b.B.n }, each with an error bar of half its total. */
function withBars() {
    const report = reportOf(1);
    const group = {
        name: 'g', threads: 1, parent: [-1, 0, 1, 0], frame: [0, 1, 2, 3], wall: [0, 10, 20, 40], samples: [0, 1, 1, 1],
        error95: { wall: [[35, 105], [15, 45], [10, 30], [20, 60]] },
        rowCalls: [[0, 1, 1], [1, 5, 1], [2, 7, 2], [3, 9, 1]],
    };
    return page.modelOf({ ...report, groups: [group] });
}

function rowsOf(model) {
    return Array.from({ length: model.count }, (_, i) => i)
        .filter((i) => i > 0 && model.parent[i] > 0)
        .map((i) => [
            model.frames.short[model.frame[i]], model.total.wall[i], Math.round(model.half.wall[i] * 100) / 100,
            model.rowCalls.get(i)?.calls,
        ]);
}

test('a row keeps its error bar and its calls as long as it has all of its time', () => {
    const model = withBars();
    assert.deepEqual(rowsOf(page.filtered(model, { ...NONE, hide: /^a\.A\.n/ })), [
        ['A.m', 70, 35, 1], ['B.m', 20, 10, 7], ['B.n', 40, 20, 9],
    ]);
    // Two places of one method become one row: their error bars add up as independent ones.
    const focused = page.filtered(model, { ...NONE, hide: /^a\./, recursion: true });
    assert.deepEqual(rowsOf(focused), [['B.m', 20, 10, 7], ['B.n', 40, 20, 9]]);
    assert.equal(page.lackingText(model, focused), '');
});

test('a row that lost a part has the error bar of the remaining time, and no calls', () => {
    const model = withBars();
    const kept = page.filtered(model, { ...NONE, keep: /^b\.B\.m/ });
    assert.deepEqual(rowsOf(kept), [['A.m', 20, 10, undefined], ['A.n', 20, 10, undefined], ['B.m', 20, 10, 7]]);
    assert.match(page.lackingText(model, kept), /^Rows of which a part/);
});

test('merged rows have the calls of both, unless they may count the same calls', () => {
    const group = {
        name: 'g', threads: 1, parent: [-1, 0, 0, 1, 2], frame: [0, 1, 3, 4, 4], wall: [0, 0, 0, 30, 40], samples: [],
        error95: { wall: [null, null, null, [24, 36], [32, 48]] }, rowCalls: [[3, 5, 1], [4, 6, 1]],
    };
    const report = { ...reportOf(1), groups: [group] };
    const hide = { ...NONE, hide: /\.n\(/ };
    assert.deepEqual(rowsOf(page.filtered(page.modelOf(report), hide)).at(-1), ['C.m', 70, 10, 11]);
    group.rowCalls = [[3, 5, 1], [4, 6, 2]];
    const model = page.modelOf(report);
    const cut = page.filtered(model, hide);
    assert.deepEqual(rowsOf(cut).at(-1), ['C.m', 70, 10, undefined]);
    assert.match(page.lackingText(model, cut), /^Rows of which a part/);
});

test('a method that calls itself has all of its calls, and its error bar', () => {
    const group = {
        name: 'g', threads: 1, parent: [-1, 0, 1], frame: [0, 0, 2], wall: [5, 10, 20], samples: [],
        error95: { wall: [[25, 45], [20, 40], [16, 24]] }, rowCalls: [[0, 2, 1], [1, 9, 1], [2, 4, 1]],
    };
    const model = page.modelOf({ ...reportOf(1), groups: [group] });
    assert.deepEqual(rowsOf(page.filtered(model, { ...NONE, recursion: true })), [['A.m', 35, 10, 11], ['B.m', 20, 4, 4]]);
});

test('a folded recursion keeps its depth through filters', () => {
    const group = {
        name: 'g', threads: 1, parent: [-1, 0, 1], frame: [1, 0, 2], wall: [5, 10, 20], samples: [],
        recursion: [[1, 7]],
    };
    const model = page.modelOf({ ...reportOf(1), groups: [group] });
    assert.deepEqual([...model.measures].includes('recursion'), false);
    const depths = (shown) => Array.from({ length: shown.count }, (_, i) => shown.recursion.get(i)).filter((depth) => depth);
    assert.deepEqual(depths(model), [7]);
    const node = [...model.recursion.keys()][0];
    assert.ok(page.describe({ model, metric: 'wall', base: 0, zoom: 0 }, node).includes('recursion depth 7'));
    assert.deepEqual(depths(page.filtered(model, { ...NONE, hide: /^b/ })), [7]);
});

test('an inverted tree has the error bars of own times, no calls, and says so', () => {
    const model = withBars();
    const inverted = page.filtered(model, { ...NONE, invert: true });
    // The own time of A.n: at most sqrt(15² + 10²), and at most its amount.
    assert.deepEqual(rowsOf(inverted).slice(0, 2), [['A.n', 10, 10, undefined], ['A.m', 10, 10, undefined]]);
    assert.deepEqual(rowsOf(inverted).at(-2), ['B.n', 40, 20, undefined]);
    assert.match(page.lackingText(model, inverted), /^Turned over/);
    assert.equal(inverted.upright, model);
    assert.equal(page.describe({ model: inverted, metric: 'wall', base: 0, zoom: 0 }, 2).some((text) => /own time/.test(text)), false);
});

test('filters add no error bars to a report without them', () => {
    const model = page.modelOf(reportOf(4));
    assert.equal(page.filtered(model, { ...NONE, hide: /^b/ }).hasBars, false);
    assert.equal(page.filtered(model, { ...NONE, invert: true }).hasBars, false);
});

test('root times follow their row, as long as it is a root', () => {
    const counted = {
        name: 'g', threads: 1, parent: [-1, -1, 1], frame: [0, 1, 0], wall: [0, 0, 0], calls: [3, 2, 8], hookNanos: 5,
        rootTimes: [[0, 3, 30, 1, 20], [1, 2, 50, 10, 40]],
    };
    const model = page.modelsOf({ ...reportOf(2), counted: [counted] }).counted;
    const focused = page.filtered(model, { ...NONE, focus: /^a/ });
    assert.deepEqual([...focused.rootTimes.values()], [...model.rootTimes.values()]);
    // The hidden row's callee is the same method as the first root, but its calls are not a
    // root's.
    const cut = page.filtered(model, { ...NONE, hide: /^a\.A\.n/ });
    assert.deepEqual([...cut.rootTimes.values()], []);
    assert.equal(cut.self.calls[2], 11);
    assert.deepEqual([...page.filtered(model, { ...NONE, invert: true }).rootTimes], []);
});

test('callees mirror callers', () => {
    for (let seed = 1; seed < 20; seed++) {
        const model = page.modelOf(reportOf(seed));
        const methods = model.frames.methods.map((_, i) => i).filter((i) => model.frames.methods[i].kind >= page.KIND.JAVA);
        for (const caller of methods) {
            for (const { key, total } of page.calleesOf(model, 0, caller)) {
                const mirrored = page.callersOf(model, 0, key).find((row) => row.key === caller);
                assert.equal(mirrored.total.wall, total.wall, 'seed ' + seed);
            }
        }
    }
});

test('collapsed stacks and a copied stack', () => {
    const model = page.modelOf(reportOf(3));
    const lines = page.collapsed(model, 'wall');
    assert.equal(lines.reduce((sum, line) => sum + Number(/ (\d+)\n$/.exec(line)[1]), 0), model.total.wall[0]);
    const node = model.children(model.groups[0].node)[0];
    assert.equal(page.stackText(model, node), `"g"\n    at ${model.textOf(node)}\n`);
});

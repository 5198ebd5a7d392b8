// SPDX-License-Identifier: Apache-2.0
// Filtered trees against stacks that are cut one by one.
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

/** Each path with own time, as text, with that time. */
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

test('hidden frames leave their time to their callers', () => {
    check({ hide: /^b\./ }, (frames) => frames.filter((name) => !name.startsWith('b.')));
});

test('kept stacks are those with a match', () => {
    check({ keep: /^c\.C/ }, (frames) => (frames.some((name) => name.startsWith('c.C')) ? frames : null));
});

test('focused stacks begin at their outermost match', () => {
    check({ focus: /\.n\(/ }, (frames) => {
        const at = frames.findIndex((name) => name.includes('.n('));
        return at < 0 ? null : frames.slice(at);
    });
});

test('a method that calls itself is one frame', () => {
    check({ recursion: true }, (frames) => frames.filter((name, i) => name !== frames[i - 1]));
});

test('inverted stacks begin with their innermost frame', () => {
    check({ invert: true }, (frames) => [...frames].reverse());
    check({ invert: true, hide: /^a\./ }, (frames) => frames.filter((name) => !name.startsWith('a.')).reverse());
});

test('a filter that changes nothing is none, and all measures are carried over', () => {
    assert.equal(page.isFiltering(NONE), false);
    assert.equal(page.isFiltering({ ...NONE, invert: true }), true);
    const model = page.modelOf(reportOf(5));
    const inverted = page.filtered(model, { ...NONE, invert: true });
    assert.equal(inverted.total.samples[0], model.total.samples[0]);
    assert.deepEqual(inverted.groups.map(({ name }) => name), ['g', 'h']);
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

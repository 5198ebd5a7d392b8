// SPDX-License-Identifier: Apache-2.0
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const page = require('./page.js');
const naive = require('./naive.js');

const ROUNDS = 300;
const MEASURES = ['wall', 'cpu', 'samples'];
const { KIND } = page;

function forRandomReports(body) {
    for (let seed = 1; seed <= ROUNDS; seed++) {
        const report = naive.randomReport(seed);
        try {
            body(report, page.modelOf(report), new naive.Random(seed + ROUNDS));
        } catch (failure) {
            failure.message = `seed ${seed}: ${failure.message}`;
            throw failure;
        }
    }
}

/** The page's nodes in the order in which the naive tree has its rows; both keep the order of the report. */
function nodesOf(model, top) {
    return [...model.children(top)].flatMap((node) => [node, ...nodesOf(model, node)]);
}

function isInside(model, base, node) {
    for (let i = node; i >= 0; i = model.parent[i]) {
        if (i === base) {
            return true;
        }
    }
    return false;
}

function namesOf(model, node) {
    const names = [];
    for (let i = node; i > 0; i = model.parent[i]) {
        names.unshift(model.frames.text[model.frame[i]]);
    }
    return names;
}

// ---- parsing

test('each row of a report is a node, with its name, its kind, its own figures and their sums', () => {
    forRandomReports((report, model) => {
        const rows = naive.all(naive.treeOf(report));
        const nodes = nodesOf(model, 0);
        assert.equal(model.count, rows.length + 1);
        assert.equal(nodes.length, rows.length);
        rows.forEach((row, i) => {
            assert.deepEqual(namesOf(model, nodes[i]), row.names);
            assert.equal(model.frames.kind[model.frame[nodes[i]]], KIND[row.kind]);
            for (const measure of MEASURES) {
                assert.equal(model.self[measure][nodes[i]], row.own[measure]);
                assert.equal(model.total[measure][nodes[i]], naive.total(row, measure));
            }
        });
        assert.equal(model.hasCpu, rows.some((row) => row.own.cpu > 0));
        assert.deepEqual(model.groups.map((group) => group.name), report.groups.map(naive.groupName));
    });
});

test('a parent stands before its children', () => {
    forRandomReports((report, model) => {
        for (let i = 1; i < model.count; i++) {
            assert.ok(model.parent[i] < i);
        }
    });
});

test('a report without CPU times and samples has no such columns', () => {
    const report = naive.randomReport(7, 2);
    report.groups.forEach((group) => {
        delete group.cpu;
        delete group.samples;
    });
    const model = page.modelOf(report);
    assert.equal(model.hasCpu, false);
    assert.equal(model.total.samples[0], 0);
    assert.ok(model.total.wall[0] > 0);
});

test('the clock is taken from the report', () => {
    assert.equal(page.modelOf({ ...naive.randomReport(1), clock: 'CPU' }).isCpuClock, true);
    assert.equal(page.modelOf(naive.randomReport(1)).isCpuClock, false);
});

test('input that is no report is refused with its format', () => {
    for (const data of [null, {}, { format: 'other/1' }, { format: 7 }, { before: naive.randomReport(1), after: {} }]) {
        assert.throws(() => page.modelOf(data), /^Error: This is not a report that this page can read \(format: /);
    }
    assert.throws(() => page.modelOf({ format: 'other/1' }), /\(format: other\/1\)\.$/);
    page.checkFormat({ format: 'threads-sampler/1.7' });
});

test('frames of one method are one method, each line is a frame', () => {
    const frames = new page.Frames();
    const ids = naive.FRAMES.map((frame) => frames.fromReport(frame, true));
    assert.equal(new Set(ids).size, naive.FRAMES.length);
    assert.equal(frames.method[ids[0]], frames.method[ids[1]]);
    assert.equal(new Set(ids.map((id) => frames.method[id])).size, naive.FRAMES.length - 1);
    assert.deepEqual(naive.FRAMES.map((frame) => frames.fromReport(frame, true)), ids);
    assert.equal(frames.fromReport(naive.FRAMES[0], false), frames.fromReport(naive.FRAMES[1], false));
    naive.FRAMES.forEach((frame, i) => {
        assert.equal(frames.text[ids[i]], naive.lineText(frame));
        assert.equal(frames.methods[frames.method[ids[i]]].text, naive.methodText(frame));
        assert.equal(frames.search[ids[i]], naive.lineText(frame).toLowerCase());
    });
    assert.equal(frames.short[ids[0]], 'Deep.run');
    assert.equal(frames.short[ids[2]], 'Shop$Till.sell');
    assert.equal(frames.short[ids[3]], 'Plain.go');
    assert.equal(frames.colour[ids[0]], 'a.b.c');
    assert.equal(frames.colour[ids[3]], '');
});

test('a group and a pseudo-frame with the same name are two frames', () => {
    const frames = new page.Frames();
    assert.notEqual(frames.named('[x]', KIND.GROUP), frames.named('[x]', KIND.PSEUDO));
    assert.equal(frames.text[frames.named('', KIND.GROUP)], '(empty name)');
});

// ---- places

test('a place is found again in another report, or the deepest part of it that is there', () => {
    forRandomReports((report, model, random) => {
        const other = page.modelOf(naive.randomReport(1 + random.below(ROUNDS)));
        const node = random.below(model.count);
        const path = model.path(node);
        assert.deepEqual(path, namesOf(model, node));
        assert.deepEqual(namesOf(model, model.find(path)), path);
        // The first child with the name is taken, as in a loop over the naive tree.
        let rows = nodesOf(other, 0).filter((i) => other.parent[i] === 0);
        let found = 0;
        for (const name of path) {
            const next = rows.find((i) => other.frames.text[other.frame[i]] === name);
            if (next === undefined) {
                break;
            }
            found = next;
            rows = nodesOf(other, 0).filter((i) => other.parent[i] === found);
        }
        assert.equal(other.find(path), found);
    });
});

test('a node contains itself and what is below it', () => {
    forRandomReports((report, model, random) => {
        for (let i = 0; i < 20; i++) {
            const [one, other] = [random.below(model.count), random.below(model.count)];
            assert.equal(model.contains(one, other), isInside(model, one, other));
        }
    });
});

// ---- two reports

function byPath(report, factor) {
    const sums = new Map();
    for (const row of naive.all(naive.treeOf(report, naive.methodText))) {
        const key = JSON.stringify(row.names);
        const sum = sums.get(key) ?? { wall: 0, cpu: 0, samples: 0 };
        MEASURES.forEach((measure) => (sum[measure] += row.own[measure] * factor));
        sums.set(key, sum);
    }
    return sums;
}

test('equal stacks of two reports are one node without lines, the first report scaled to the length of the second', () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
        const before = naive.randomReport(seed);
        const after = naive.randomReport(seed + 1);
        const model = page.modelOf(naive.differenceOf(before, after));
        const scale = after.elapsedNanos / before.elapsedNanos;
        const sides = [byPath(before, scale), byPath(after, 1)];
        const paths = nodesOf(model, 0).map((node) => JSON.stringify(namesOf(model, node)));
        assert.equal(model.isDiff, true);
        assert.equal(model.scale, scale);
        assert.deepEqual([...paths].sort(), [...new Set([...sides[0].keys(), ...sides[1].keys()])].sort());
        nodesOf(model, 0).forEach((node, i) => {
            for (const measure of MEASURES) {
                assert.equal(model.self[measure + '0'][node], sides[0].get(paths[i])?.[measure] ?? 0);
                assert.equal(model.self[measure][node], sides[1].get(paths[i])?.[measure] ?? 0);
                const change = model.total[measure][node] - model.total[measure + '0'][node];
                assert.equal(model.delta(measure, node), change);
            }
            assert.equal(model.width('wall', node), model.total.wall[node] + model.total.wall0[node]);
        });
        for (const group of model.groups) {
            const of = (report) => report.groups.filter((side) => naive.groupName(side) === group.name).pop();
            assert.deepEqual(group.sides, [of(before), of(after)]);
        }
    }
});

/** Every third row has none, the others from 9/10 to 12/10 of a hundred times their number. */
function withErrorBars(report) {
    for (const group of report.groups) {
        group.error95 = { wall: group.parent.map((_, i) => (i % 3 === 2 ? null : [90 * i, 120 * i])) };
    }
    return report;
}

test('an error bar is half the width of the range, and unknown where there is none', () => {
    const model = page.modelOf(withErrorBars(naive.randomReport(3)));
    let known = 0;
    for (const { node, sides } of model.groups) {
        sides[0].parent.forEach((_, i) => {
            known += i % 3 === 2 ? 0 : 1;
            assert.equal(model.half.wall[node + 1 + i], i % 3 === 2 ? NaN : 15 * i);
        });
        assert.ok(Number.isNaN(model.half.wall[node]));
    }
    assert.ok(known > 3);
    assert.ok(Number.isNaN(page.modelOf(naive.randomReport(3)).half.wall[1]));
});

test('the error of a difference combines both sides, and is unknown if one is', () => {
    const before = naive.randomReport(4);
    const pair = naive.differenceOf(before, naive.randomReport(5));
    const count = pair.difference.parent.length;
    const side = (half) => ({ wall: Array(count).fill(half), cpu: Array(count).fill(half) });
    pair.difference.error95 = { before: side(300), after: side(400) };
    pair.difference.error95.before.wall[1] = -1;
    const model = page.modelOf(pair);
    assert.equal(model.half.wall[1], Math.hypot(300 * model.scale, 400));
    assert.ok(Number.isNaN(model.half.wall[2]));
});

test('the difference that the library writes is read, by the file that its own test compares', () => {
    const file = path.join(__dirname, '../../golden/difference.json');
    const model = page.modelOf(JSON.parse(fs.readFileSync(file, 'utf8')));
    const changes = nodesOf(model, 0).map((node) => [
        namesOf(model, node).join(' '), model.self.wall0[node] / 1e6, model.self.wall[node] / 1e6,
    ]);
    assert.deepEqual(changes, [
        ['main', 0, 0], ['main a.A.run', 0, 0], ['main a.A.run a.A.slow', 1000, 3000],
        ['main a.A.run a.A.quick', 3000, 1000], ['main a.A.run a.A.same', 1000, 1000],
        ['main a.A.run a.A.fresh', 0, 200], ['pool-', 0, 0], ['pool- [thread ended]', 200, 0],
    ]);
    assert.deepEqual(model.groups.map((group) => group.sides.map((side) => side?.threads)), [[1, 1], [1, undefined]]);
});

test('a report compared with itself has not changed', () => {
    const report = naive.randomReport(5);
    const model = page.modelOf(naive.differenceOf(report, report));
    for (let i = 0; i < model.count; i++) {
        assert.equal(model.delta('wall', i), 0);
    }
});

test('an interval without a length is not scaled', () => {
    const empty = { ...naive.randomReport(5), elapsedNanos: 0 };
    assert.equal(page.modelOf(naive.differenceOf(empty, naive.randomReport(6))).scale, 1);
});

// ---- search

test('a search finds all frames that contain the text, and counts no time twice', () => {
    for (const text of ['run', ' RUN ', 'a.b', 'java', '[', 'thread', 'nothing like it', 'pool-', ':']) {
        forRandomReports((report, model, random) => {
            const base = random.below(model.count);
            const wanted = text.trim().toLowerCase();
            const matches = (node) => model.frames.text[model.frame[node]].toLowerCase().includes(wanted);
            const inside = [...Array(model.count).keys()].filter((node) => isInside(model, base, node));
            const hits = inside.filter(matches);
            const outermost = hits.filter((node) => !hits.some((hit) => hit !== node && isInside(model, hit, node)));
            const found = page.searchFor(model, text, base, 'wall');
            assert.equal(found.count, hits.length);
            assert.deepEqual([...found.top].sort((a, b) => a - b), outermost);
            assert.equal(found.time, outermost.reduce((sum, node) => sum + model.total.wall[node], 0));
            found.top.slice(1).forEach((node, i) =>
                assert.ok(model.total.wall[node] <= model.total.wall[found.top[i]])
            );
            model.frames.text.forEach((name, i) =>
                assert.equal(found.frames[i], name.toLowerCase().includes(wanted) ? 1 : 0)
            );
        });
    }
});

test('an empty text finds nothing', () => {
    const model = page.modelOf(naive.randomReport(1));
    assert.equal(page.searchFor(model, '', 0, 'wall'), null);
    assert.equal(page.searchFor(model, ' \t', 0, 'wall'), null);
});

test('the result of a search is described in words', () => {
    assert.equal(page.wordsOfFinds({ count: 0, time: 0 }, 5), 'nothing found');
    assert.equal(page.wordsOfFinds({ count: 1, time: 1 }, 4), '25.0 % in 1 place');
    assert.equal(page.wordsOfFinds({ count: 1234, time: 1 }, 1), '100.0 % in 1,234 places');
});

// ---- hot methods and lines

test('hot rows have their own time, and count a recursive method once', () => {
    for (const byLine of [false, true]) {
        forRandomReports((report, model, random) => {
            const base = random.below(model.count);
            const keyOf = (node) => (byLine ? model.frame[node] : model.frames.method[model.frame[node]]);
            const inside = [...Array(model.count).keys()].filter((node) => isInside(model, base, node));
            const frames = inside.filter((node) => model.frames.kind[model.frame[node]] >= KIND.JAVA);
            const rows = page.hotList(model, base, byLine);
            assert.deepEqual(
                rows.map((row) => row.key).sort((a, b) => a - b),
                [...new Set(frames.map(keyOf))].sort((a, b) => a - b)
            );
            for (const row of rows) {
                const own = frames.filter((node) => keyOf(node) === row.key);
                const outer = own.filter((node) => !own.some((above) => above !== node && isInside(model, above, node)));
                for (const measure of MEASURES) {
                    assert.equal(row.self[measure], own.reduce((sum, node) => sum + model.self[measure][node], 0));
                    assert.equal(row.total[measure], outer.reduce((sum, node) => sum + model.total[measure][node], 0));
                }
                assert.equal(byLine ? row.frame : model.frames.method[row.frame], row.key);
            }
        });
    }
});

// ---- the call tree

function isFolded(model, metric, node) {
    const isFrame = (i) => model.frames.kind[model.frame[i]] >= KIND.JAVA;
    const own = model.self[metric][node] !== 0 || (model.isDiff && model.self[metric + '0'][node] !== 0);
    const parent = model.parent[node];
    const near = Math.abs(model.width(metric, node) - model.width(metric, parent)) <= 1e-9 * model.width(metric, parent);
    return isFrame(node) && isFrame(parent) && !own && near;
}

test('the call tree leaves out rows without own time, and their children move up', () => {
    const check = (model, metric, compact) => {
        const tree = page.callTree(model, metric, compact);
        const shown = (node) =>
            node > 0 && compact && isFolded(model, metric, node) ? shown(model.parent[node]) : node;
        const children = new Map();
        for (let i = 1; i < model.count; i++) {
            assert.equal(tree.shown[i], shown(i));
            if (shown(i) === i) {
                const parent = shown(model.parent[i]);
                assert.equal(tree.parent[i], parent);
                children.set(parent, [...(children.get(parent) ?? []), i]);
            } else {
                assert.equal(tree.parent[i], -1);
            }
        }
        for (let i = 0; i < model.count; i++) {
            assert.deepEqual(tree.children(i), children.get(i) ?? []);
        }
    };
    forRandomReports((report, model, random) => {
        const diff = page.modelOf(naive.differenceOf(report, naive.randomReport(1 + random.below(ROUNDS))));
        for (const metric of ['wall', 'cpu']) {
            for (const compact of [false, true]) {
                check(model, metric, compact);
                check(diff, metric, compact);
            }
        }
    });
});

test('sums that differ in their last digits are the same', () => {
    assert.ok(page.nearly(0.1 + 0.2, 0.3));
    assert.ok(page.nearly(0, 0));
    assert.ok(page.nearly(-5, -5));
    assert.ok(!page.nearly(1, 1.00001));
    assert.ok(!page.nearly(0, 1e-12));
});

// ---- the graph

test('the graph lays out each node that is wide enough, with its callers, most time first', () => {
    forRandomReports((report, model, random) => {
        const node = random.below(model.count);
        const least = 1000 * random.below(60);
        const root = page.Flame.prototype.wideNodes.call({ model, metric: 'wall', node }, least);
        const isWide = (i) => i === node || (model.width('wall', i) > least && isWide(model.parent[i]));
        const wanted = [...Array(model.count).keys()].filter((i) => isInside(model, node, i) && isWide(i));
        const laidOut = [];
        const visit = (item, depth, parent) => {
            assert.equal(item.depth, depth);
            assert.equal(item.parent, parent);
            assert.equal(item.value, model.width('wall', item.data));
            laidOut.push(item.data);
            (item.children ?? []).forEach((child, i, list) => {
                assert.equal(model.parent[child.data], item.data);
                assert.ok(i === 0 || list[i - 1].value >= child.value);
                visit(child, depth + 1, item);
            });
            return Math.max(depth, ...(item.children ?? []).map((child) => child.depth));
        };
        visit(root, 0, null);
        assert.deepEqual(laidOut.sort((a, b) => a - b), wanted);
    });
});

test('the box at a point is found', () => {
    const random = new naive.Random(3);
    for (let round = 0; round < ROUNDS; round++) {
        const row = [];
        for (let x = 0, i = random.below(12); i > 0; i--) {
            const x0 = x + random.below(3);
            x = x0 + 1 + random.below(5);
            row.push({ node: i, x0, x1: x });
        }
        for (let x = -1; x < 60; x += 0.5) {
            assert.equal(page.boxAt(row, x), row.find((box) => x >= box.x0 && x < box.x1));
        }
    }
});

test('the hot path of a difference ends at the frame whose own time increased most', () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
        const model = page.modelOf(naive.differenceOf(naive.randomReport(seed), naive.randomReport(seed + 9)));
        const base = new naive.Random(seed).below(model.count);
        const app = { model, base, metric: 'wall', open: new Set(), callTree: page.callTree(model, 'wall', true) };
        const slowest = page.App.prototype.openSlowest.call(app);
        const change = (i) => model.self.wall[i] - model.self.wall0[i];
        const inside = [...Array(model.count).keys()].filter((i) => isInside(model, base, i));
        assert.equal(change(slowest), Math.max(...inside.map(change)));
        const open = [];
        for (let i = app.callTree.shown[slowest]; i > 0; i = app.callTree.parent[i]) {
            open.push(i);
        }
        assert.deepEqual([...app.open], open);
    }
});

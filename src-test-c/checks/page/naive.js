// SPDX-License-Identifier: Apache-2.0
// Random reports, and the page's results for them computed in the simplest way: without arrays of indices or passes from
// the end; each query walks the whole report. The page shares no line with this file.
'use strict';

/** A linear congruential generator, which gives the same numbers everywhere. */
class Random {
    constructor(seed) {
        this.state = BigInt(seed) * 0x9e3779b97f4a7c15n;
    }

    below(limit) {
        this.state = (this.state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
        return Number(this.state >> 33n) % limit;
    }

    one(list) {
        return list[this.below(list.length)];
    }
}

const FRAMES = [
    { class: 'a.b.c.d.Deep', method: 'run', file: 'Deep.java', line: 1 },
    { class: 'a.b.c.d.Deep', method: 'run', file: 'Deep.java', line: 22 },
    { class: 'a.b.Shop$Till', method: 'sell', file: 'Shop.java', line: 7 },
    { class: 'Plain', method: 'go', file: 'Plain.java' },
    { class: 'x.Y', method: 'unknown' },
    { class: 'java.lang.Thread', method: 'run', file: 'Thread.java', line: 840 },
    { class: 'java.lang.Object', method: 'wait', native: true },
    { class: 'javax.Not', method: 'run', file: 'Not.java', line: 3 },
    { class: 'javafx.Own', method: 'RUN', file: 'Own.java', line: 3 },
    { pseudo: '[thread ended]' },
    { pseudo: '[GC active]' },
    { class: 'na\u202eme.\u0007', method: 'b\nc', file: 'F\u2028.java', line: 5 },
];

/** A report as the library writes it; times are whole numbers, so that sums are exact. */
function randomReport(seed, groupCount = 1 + (seed % 4)) {
    const random = new Random(seed);
    const report = {
        format: 'threads-sampler/1',
        fromMillis: 0,
        tillMillis: 1000,
        elapsedNanos: 1_000_000 * 2 ** random.below(4),
        frames: FRAMES,
        groups: [],
    };
    for (let g = 0; g < groupCount; g++) {
        const group = { name: random.one(['main', 'pool-', 'http', '']) + (g === 0 ? '' : g), parent: [], frame: [] };
        Object.assign(group, { wall: [], cpu: [], samples: [] });
        const count = random.below(40);
        for (let i = 0; i < count; i++) {
            // The tree is deep in some places and bushy in others; the children of a row are
            // different frames.
            let parent = i === 0 || random.below(8) === 0 ? -1 : i - 1 - random.below(Math.min(i, 3));
            const left = (above) => FRAMES.map((_, f) => f)
                .filter((f) => !group.parent.some((other, j) => other === above && group.frame[j] === f));
            parent = left(parent).length > 0 ? parent : i - 1;
            group.frame.push(random.one(left(parent)));
            group.parent.push(parent);
            group.wall.push(random.below(3) === 0 ? 1000 * random.below(50) : 0);
            group.cpu.push(random.below(3) === 0 ? 1000 * random.below(20) : 0);
            group.samples.push(random.below(5));
        }
        report.groups.push(group);
    }
    return report;
}

// Unicode's categories Cc, Cf, Zl and Zp.
const HIDDEN = (
    '0-1f 7f-9f ad 600-605 61c 6dd 70f 890-891 8e2 180e 200b-200f 2028-202e 2060-2064 2066-206f feff fff9-fffb ' +
    '110bd 110cd 13430-1343f 1bca0-1bca3 1d173-1d17a e0001 e0020-e007f'
)
    .split(' ')
    .map((range) => range.split('-').map((end) => parseInt(end, 16)))
    .map(([first, last = first]) => ({ first, last }));

function escaped(text) {
    let result = '';
    for (const c of text) {
        const code = c.codePointAt(0);
        const unseen = HIDDEN.some(({ first, last }) => code >= first && code <= last);
        for (let i = 0; i < c.length; i++) {
            result += unseen ? '\\u' + ('000' + c.charCodeAt(i).toString(16)).slice(-4) : c[i];
        }
    }
    return result;
}

function methodText(frame) {
    return frame.pseudo !== undefined ? escaped(frame.pseudo) : escaped(frame.class + '.' + frame.method);
}

function lineText(frame) {
    if (frame.pseudo !== undefined) {
        return methodText(frame);
    }
    if (frame.native) {
        return methodText(frame) + '(Native Method)';
    }
    if (frame.file === undefined) {
        return methodText(frame) + '(Unknown Source)';
    }
    return methodText(frame) + '(' + escaped(frame.file) + (frame.line === undefined ? '' : ':' + frame.line) + ')';
}

function kindOf(frame) {
    if (frame.pseudo !== undefined) {
        return 'PSEUDO';
    }
    return ['java.', 'javax.', 'jdk.', 'sun.', 'com.sun.'].some((prefix) => frame.class.startsWith(prefix))
        ? 'JDK'
        : 'JAVA';
}

const groupName = (group) => escaped(group.name) || '(empty name)';

/**
 * Each row of a report as an object: {names: from the group down, kind, own: {wall, cpu, samples}, rows}.
 * @param textOf how a frame is written
 */
function treeOf(report, textOf = lineText) {
    return report.groups.map((group) => {
        const rowsOf = (parent, names) =>
            group.parent.flatMap((above, i) => {
                if (above !== parent) {
                    return [];
                }
                const frame = report.frames[group.frame[i]];
                const below = [...names, textOf(frame)];
                const own = { wall: group.wall[i], cpu: group.cpu[i], samples: group.samples[i] };
                return [{ names: below, frame, kind: kindOf(frame), own, rows: rowsOf(i, below) }];
            });
        const name = groupName(group);
        const own = { wall: 0, cpu: 0, samples: 0 };
        return { names: [name], kind: 'GROUP', own, rows: rowsOf(-1, [name]) };
    });
}

function total(row, measure) {
    return row.rows.reduce((sum, below) => sum + total(below, measure), row.own[measure]);
}

/** All rows of these trees, callers first. */
function all(rows) {
    return rows.flatMap((row) => [row, ...all(row.rows)]);
}

/** Two reports and the tree of both, as the library writes them for the page. */
function differenceOf(before, after) {
    const columns = () => ({ wall: [], cpu: [], samples: [] });
    const difference = { frames: [], groups: [], parent: [], frame: [], before: columns(), after: columns() };
    const numbers = new Map(); // of nodes, by their names from the group down
    const keyOf = (names) => JSON.stringify(names);
    const frameOf = (frame) => {
        const known = difference.frames.findIndex((other) => methodText(other) === methodText(frame));
        const method = frame.pseudo === undefined ? { class: frame.class, method: frame.method } : frame;
        return known >= 0 ? known : difference.frames.push(method) - 1;
    };
    const add = (row) => {
        const isGroup = row.names.length === 1;
        numbers.set(keyOf(row.names), difference.parent.length);
        difference.parent.push(isGroup ? -1 : numbers.get(keyOf(row.names.slice(0, -1))));
        difference.frame.push(isGroup ? difference.groups.push([-1, -1]) - 1 : frameOf(row.frame));
        [difference.before, difference.after].forEach((side) => Object.values(side).forEach((column) => column.push(0)));
    };
    [before, after].forEach((report, side) =>
        treeOf(report, methodText).forEach((group, rank) =>
            all([group]).forEach((row) => {
                if (!numbers.has(keyOf(row.names))) {
                    add(row);
                }
                const node = numbers.get(keyOf(row.names));
                if (row === group) {
                    difference.groups[difference.frame[node]][side] = rank;
                }
                for (const measure in row.own) {
                    difference[side === 0 ? 'before' : 'after'][measure][node] += row.own[measure];
                }
            })
        )
    );
    return { before, after, difference };
}

module.exports = { Random, FRAMES, randomReport, escaped, methodText, lineText, kindOf, groupName, treeOf, total, all, differenceOf };

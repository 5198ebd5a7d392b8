// SPDX-License-Identifier: Apache-2.0
// The report as flat arrays. One tree for everything: node 0 is all threads, below it a node per
// thread group, below that the group's frames; a parent always has a lower index than its children.
// So a thread group is a node that can be shown, and totals are one pass from the end.

const KIND = { ALL: 0, GROUP: 1, JAVA: 2, JDK: 3, PSEUDO: 4 };
const JDK_CLASS = /^(java|javax|jdk|sun|com\.sun)\./;

/** Every frame the page can show, once: how it is written, what it counts under, its colour's key. */
class Frames {
    constructor() {
        /** @type {string[]} */
        this.text = []; // as in a stack trace
        /** @type {string[]} */
        this.short = []; // without package and file
        /** @type {string[]} */
        this.search = []; // texts that a search compares
        /** @type {number[]} */
        this.method = []; // index into methods
        /** @type {number[]} */
        this.kind = [];
        /** @type {string[]} */
        this.colour = []; // package, for the colour
        /** @type {MethodEntry[]} */
        this.methods = [];
        this.methodOf = new Map();
        this.frameOf = new Map();
    }

    /**
     * @param {string} key
     * @param {string} text
     * @param {string} short
     * @param {number} method
     */
    add(key, text, short, method) {
        let index = this.frameOf.get(key);
        if (index === undefined) {
            index = this.text.length;
            this.frameOf.set(key, index);
            this.text.push(text);
            this.short.push(short);
            this.search.push(text.toLowerCase());
            this.method.push(method);
            this.kind.push(this.methods[method].kind);
            this.colour.push(this.methods[method].colour);
        }
        return index;
    }

    /**
     * @param {string} key
     * @param {string} text
     * @param {string} short
     * @param {number} kind
     * @param {string} colour
     */
    addMethod(key, text, short, kind, colour) {
        let index = this.methodOf.get(key);
        if (index === undefined) {
            index = this.methods.length;
            this.methodOf.set(key, index);
            this.methods.push({ text, short, kind, colour });
        }
        return index;
    }

    /**
     * @param {string} name
     * @param {number} kind
     */
    named(name, kind) {
        const text = clean(name) || '(empty name)';
        return this.add(kind + name, text, text, this.addMethod(kind + name, text, text, kind, ''));
    }

    /**
     * @param {ReportFrame} frame
     * @param {boolean} lines false: the frame stands for all lines of its method
     */
    fromReport(frame, lines) {
        if (frame.pseudo !== undefined) {
            return this.named(frame.pseudo, KIND.PSEUDO);
        }
        const className = frame.class ?? '';
        const dot = className.lastIndexOf('.');
        const name = clean(className + '.' + (frame.method ?? ''));
        const short = clean(className.slice(dot + 1) + '.' + (frame.method ?? ''));
        const kind = JDK_CLASS.test(className) ? KIND.JDK : KIND.JAVA;
        const key = KIND.JAVA + name;
        const method = this.addMethod(key, name, short, kind, packageOf(className, dot));
        const place = lines ? placeOf(frame) : '';
        return this.add(key + place, name + place, short, method);
    }
}

/**
 * The first three parts of the package: enough to tell one library or module from another.
 *
 * @param {string} className
 * @param {number} dot
 */
function packageOf(className, dot) {
    return clean(className.slice(0, Math.max(dot, 0)).split('.', 3).join('.'));
}

/** @param {ReportFrame} frame */
function placeOf(frame) {
    if (frame.native) {
        return '(Native Method)';
    }
    if (frame.file === undefined) {
        return '(Unknown Source)';
    }
    return '(' + clean(frame.file) + (frame.line === undefined ? '' : ':' + frame.line) + ')';
}

/** A growing tree; the constructor of Model takes its arrays. */
class TreeBuilder {
    count = 0;

    /**
     * @param {Frames} frames
     * @param {string[]} measures
     * @param {number} capacity nodes for which there is room at first
     */
    constructor(frames, measures, capacity) {
        this.frames = frames;
        this.parent = new Int32Array(capacity);
        this.frame = new Int32Array(capacity);
        /** @type {Amounts} */
        this.self = {};
        for (const measure of measures) {
            this.self[measure] = new Float64Array(capacity);
        }
        this.add(-1, frames.named('All threads', KIND.ALL));
    }

    /**
     * @param {number} parent
     * @param {number} frame
     * @returns {number}
     */
    add(parent, frame) {
        if (this.count === this.parent.length) {
            this.grow();
        }
        this.parent[this.count] = parent;
        this.frame[this.count] = frame;
        return this.count++;
    }

    grow() {
        /**
         * @template {Int32Array | Float64Array} T
         * @param {T} array
         * @returns {T}
         */
        const larger = (array) => {
            const made = new /** @type {any} */ (array.constructor)(2 * array.length);
            made.set(array);
            return made;
        };
        this.parent = larger(this.parent);
        this.frame = larger(this.frame);
        for (const measure in this.self) {
            this.self[measure] = larger(this.self[measure]);
        }
    }
}

class Model {
    scale = 1; // of two reports: what the times of the first are multiplied by
    isCpuClock = false;
    lacksCounts = false; // whether a filter has taken numbers of calls from rows
    /** @type {Model} of an inverted tree: the tree before */
    upright = this;
    /** @type {SamplerReport | ReportPair | undefined} all that the page was given */
    source;

    /**
     * @param {TreeBuilder} builder
     * @param {SamplerReport[]} reports one, or two of a difference
     */
    constructor(builder, reports) {
        this.frames = builder.frames;
        this.reports = reports;
        this.isDiff = reports.length === 2;
        this.count = builder.count;
        this.parent = builder.parent.subarray(0, this.count);
        this.frame = builder.frame.subarray(0, this.count);
        /** @type {Amounts} */
        this.self = {};
        /** @type {Amounts} */
        this.total = {};
        for (const measure in builder.self) {
            this.self[measure] = builder.self[measure].subarray(0, this.count);
            this.total[measure] = totals(this.parent, this.self[measure]);
        }
        this.measures = Object.keys(builder.self);
        this.hasStates = this.measures.includes('idle') && this.measures.includes('running');
        this.addActive('');
        if (this.isDiff) {
            this.addActive('0');
        }
        this.hasCpu = this.total.cpu[0] > 0 || (this.isDiff && this.total.cpu0[0] > 0);
        this.hasCalls = (this.total.calls?.[0] ?? 0) + (this.total.calls0?.[0] ?? 0) > 0;
        /** @type {Map<number, RootTime>} */
        this.rootTimes = new Map();
        /** @type {Map<number, CountedSince>} of counted nodes that are not counted throughout */
        this.countedSince = new Map();
        /** @type {Map<number, RowCalls>} what the counted trees know of a sampled node */
        this.rowCalls = new Map();
        const [childStart, childList] = childrenByParent(this.parent);
        this.childStart = childStart;
        this.childList = childList;
        /** @type {ModelGroup[]} */
        this.groups = [];
        /** @type {Amounts} half the width of the error bar of a node's total; NaN: not known */
        this.half = {};
        for (const metric of BAR_METRICS) {
            this.half[metric] = new Float64Array(this.count).fill(NaN);
        }
    }

    /**
     * Active time is wall time that is not idle; without states it is all wall time.
     *
     * @param {'' | '0'} side of a difference, `0` is before
     */
    addActive(side) {
        for (const amounts of [this.self, this.total]) {
            const idle = this.hasStates ? amounts['idle' + side] : undefined;
            const wall = amounts['wall' + side];
            amounts['active' + side] = idle === undefined ? wall : wall.map((time, i) => time - idle[i]);
        }
    }

    /**
     * The parts of a node's time, in the order of STATES; idle is none of active time.
     *
     * @param {Metric} metric
     * @param {number} node
     * @returns {{ state: string, time: number }[]}
     */
    statesOf(metric, node) {
        return STATES.filter((state) => this.total[state] !== undefined && (state !== 'idle' || metric === 'wall')).map(
            (state) => ({ state, time: this.total[state][node] })
        );
    }

    /**
     * How often the method of a row was called there; of a group, and of callers in an inverted tree, all calls below it.
     *
     * @param {number} node
     */
    callsOf(node) {
        const isMethod = this.frames.kind[this.frame[node]] >= KIND.JAVA && this.upright === this;
        return (isMethod ? this.self : this.total).calls[node];
    }

    get hasBars() {
        return this.half.wall.some((half) => half >= 0);
    }

    /**
     * Half the width of the error bar of what a node has itself: at most that of its total and those of its children
     * together, and no more than it has.
     *
     * @param {string} metric
     * @param {number} node
     */
    ownHalf(metric, node) {
        const half = this.half[metric];
        const squares = this.children(node).reduce((sum, child) => sum + half[child] ** 2, half[node] ** 2);
        return Math.min(Math.sqrt(squares), this.self[metric][node]);
    }

    /** @param {number} node */
    children(node) {
        return this.childList.subarray(this.childStart[node], this.childStart[node + 1]);
    }

    /** @param {number} node */
    textOf(node) {
        return this.frames.text[this.frame[node]];
    }

    /**
     * What a node takes of the graph's width; of two reports both count, so that nothing is hidden.
     *
     * @param {Metric} metric
     * @param {number} node
     */
    width(metric, node) {
        return this.total[metric][node] + (this.isDiff ? this.total[metric + '0'][node] : 0);
    }

    /**
     * @param {Metric} metric
     * @param {number} node
     */
    delta(metric, node) {
        return this.total[metric][node] - this.total[metric + '0'][node];
    }

    /**
     * Names from a group down to node: finds the place again in another report.
     *
     * @param {number} node
     */
    path(node) {
        const path = [];
        for (let i = node; i > 0; i = this.parent[i]) {
            path.push(this.textOf(i));
        }
        return path.reverse();
    }

    /**
     * The node of a path, or the deepest of it that there is.
     *
     * @param {string[]} path
     */
    find(path) {
        let node = 0;
        for (const name of path) {
            const next = this.children(node).find((child) => this.textOf(child) === name);
            if (next === undefined) {
                break;
            }
            node = next;
        }
        return node;
    }

    /**
     * @param {number} ancestor
     * @param {number} node
     */
    contains(ancestor, node) {
        while (node > ancestor) {
            node = this.parent[node];
        }
        return node === ancestor;
    }
}

/**
 * @param {Int32Array} parent
 * @param {Float64Array} self
 */
function totals(parent, self) {
    const total = Float64Array.from(self);
    for (let i = total.length - 1; i > 0; i--) {
        total[parent[i]] += total[i];
    }
    return total;
}

/**
 * @param {Int32Array} parent
 * @returns {[Int32Array, Int32Array]}
 */
function childrenByParent(parent) {
    const count = parent.length;
    const start = new Int32Array(count + 1);
    const list = new Int32Array(Math.max(count - 1, 0));
    for (let i = 1; i < count; i++) {
        start[parent[i] + 1]++;
    }
    for (let i = 0; i < count; i++) {
        start[i + 1] += start[i];
    }
    const next = start.slice();
    for (let i = 1; i < count; i++) {
        list[next[parent[i]]++] = i;
    }
    return [start, list];
}

/** @param {SamplerReport | undefined} report */
function checkFormat(report) {
    if (typeof report?.format !== 'string' || !report.format.startsWith('threads-sampler/1')) {
        throw new Error('This is not a report that this page can read (format: ' + report?.format + ').');
    }
}

/** @param {SamplerReport | ReportPair} data */
function modelOf(data) {
    const pair = /** @type {Partial<ReportPair>} */ (data);
    if (pair?.before !== undefined && pair?.after !== undefined) {
        [pair.before, pair.after].forEach(checkFormat);
        return diffModel(/** @type {ReportPair} */ (pair));
    }
    checkFormat(/** @type {SamplerReport} */ (data));
    return singleModel(/** @type {SamplerReport} */ (data));
}

/** Measures with error bars. */
const BAR_METRICS = ['wall', 'cpu'];

/** The states that wall time is the sum of; all but the last are active. */
const STATES = ['running', 'runnable', 'blocked', 'io', 'waiting', 'idle'];

/** @type {{ [state: string]: string }} */
const STATE_WORDS = {
    running: 'running',
    runnable: 'runnable',
    blocked: 'blocked',
    io: 'I/O',
    waiting: 'waiting',
    idle: 'idle',
};

/** Measures that the page has words of its own for. A report may hold more. */
const KNOWN_MEASURES = ['wall', 'cpu', 'samples'];

/**
 * The names of all measures: a group's arrays of numbers by node that are no links.
 * @param {SamplerReport} report
 * @returns {string[]}
 */
function measuresOf(report) {
    const names = new Set(KNOWN_MEASURES);
    for (const group of report.groups) {
        for (const [name, column] of Object.entries(group)) {
            if (Array.isArray(column) && !['threadNames', 'parent', 'frame', 'rootTimes', 'rowCalls', 'countedSince'].includes(name)) {
                names.add(name);
            }
        }
    }
    return [...names];
}

/**
 * @param {ReportGroup} group
 * @param {string} measure
 * @returns {number[]} by node; empty where the group does not have the measure
 */
function columnOf(group, measure) {
    return /** @type {Record<string, any>} */ (group)[measure] ?? [];
}

/** @param {SamplerReport} report */
function singleModel(report) {
    const frames = new Frames();
    const ids = report.frames.map((frame) => frames.fromReport(frame, true));
    const measures = measuresOf(report);
    const count = report.groups.reduce((sum, group) => sum + 1 + group.parent.length, 1);
    const builder = new TreeBuilder(frames, measures, count);
    /** @type {Map<number, RootTime>} */
    const rootTimes = new Map();
    /** @type {Map<number, CountedSince>} */
    const countedSince = new Map();
    /** @type {Map<number, RowCalls>} */
    const rowCalls = new Map();
    /** @type {[string, number, number][]} a measure, a node, half the width */
    const halves = [];
    const groups = report.groups.map((group) => {
        const node = builder.add(0, frames.named(group.name, KIND.GROUP));
        const first = node + 1;
        for (let i = 0; i < group.parent.length; i++) {
            const parent = group.parent[i];
            builder.add(parent < 0 ? node : first + parent, ids[group.frame[i]]);
        }
        for (const measure of measures) {
            builder.self[measure].set(columnOf(group, measure).slice(0, group.parent.length), first);
        }
        for (const metric of BAR_METRICS) {
            (group.error95?.[metric] ?? []).forEach((range, i) => {
                if (range !== null) {
                    halves.push([metric, first + i, (range[1] - range[0]) / 2]);
                }
            });
        }
        for (const [at, calls, total, min, max] of group.rootTimes ?? []) {
            rootTimes.set(first + at, { calls, total, min, max });
        }
        for (const [at, millis, missing] of group.countedSince ?? []) {
            countedSince.set(first + at, { millis, missing });
        }
        for (const [at, calls, paths] of group.rowCalls ?? []) {
            rowCalls.set(first + at, { calls, paths });
        }
        return { node, name: frames.text[builder.frame[node]], sides: [group] };
    });
    const model = new Model(builder, [report]);
    model.groups = groups;
    model.rootTimes = rootTimes;
    model.countedSince = countedSince;
    model.rowCalls = rowCalls;
    model.isCpuClock = report.clock === 'CPU';
    for (const [metric, node, half] of halves) {
        model.half[metric][node] = half;
    }
    return model;
}

/**
 * Two reports as one tree, which the library has made: equal stacks of equally named groups are one node, with the
 * time of both. The first is scaled to the length of the second, else a longer interval would look like a slower
 * program.
 *
 * @param {ReportPair} pair
 */
function diffModel({ before, after, difference }) {
    const frames = new Frames();
    const measures = Object.keys(difference.after);
    const builder = new TreeBuilder(frames, [...measures, ...measures.map((measure) => measure + '0')], difference.parent.length + 1);
    const scale = before.elapsedNanos > 0 ? after.elapsedNanos / before.elapsedNanos : 1;
    const ids = difference.frames.map((frame) => frames.fromReport(frame, false));
    const groups = difference.groups.map(([first, second]) => {
        const sides = [before.groups[first], after.groups[second]];
        return { sides, node: 0, frame: frames.named((sides[0] ?? sides[1]).name, KIND.GROUP) };
    });
    difference.parent.forEach((parent, i) => {
        const number = difference.frame[i];
        // After node 0, which is above all groups.
        const node = builder.add(parent + 1, parent < 0 ? groups[number].frame : ids[number]);
        for (const measure of measures) {
            builder.self[measure + '0'][node] = difference.before[measure][i] * scale;
            builder.self[measure][node] = difference.after[measure][i];
        }
        if (parent < 0) {
            groups[number].node = node;
        }
    });
    const model = new Model(builder, [before, after]);
    model.scale = scale;
    // The two are independent of each other: their squares add up.
    const bars = difference.error95;
    if (bars !== undefined) {
        for (const metric of BAR_METRICS) {
            const halves = bars.after[metric];
            bars.before[metric].forEach((half, i) => {
                if (half >= 0 && halves[i] >= 0) {
                    model.half[metric][i + 1] = Math.hypot(half * scale, halves[i]);
                }
            });
        }
    }
    model.groups = groups.map(({ node, frame, sides }) => ({ node, name: frames.text[frame], sides }));
    return model;
}

/**
 * Time per method or per line under base, or by what methods are rolled up to: self is the time of its own frames, total
 * the time during which it was on the stack, counted once where it called itself.
 * @param {Model} model
 * @param {number} base
 * @param {boolean} byLine
 * @param {RollUp} [rolled]
 * @returns {HotRow[]}
 */
function hotList(model, base, byLine, rolled) {
    const { frames, frame } = model;
    const keyOfFrame = rolled?.key ?? frames.method;
    /** @param {number} node */
    const keyOf = (node) => (byLine ? frame[node] : keyOfFrame[frame[node]]);
    const keys = byLine ? frames.text.length : (rolled?.names.length ?? frames.methods.length);
    const open = new Int32Array(keys); // how often a key is on the current stack
    /** @type {HotRow[]} */
    const rows = new Array(keys);
    const measures = Object.keys(model.self);
    const stack = [base];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
        if (node < 0) {
            open[keyOf(~node)]--; // all below it is done
            continue;
        }
        const key = keyOf(node);
        if (frames.kind[frame[node]] >= KIND.JAVA) {
            const row = (rows[key] ??= newHotRow(key, frame[node], measures));
            for (const m of measures) {
                row.self[m] += model.self[m][node];
                row.total[m] += open[key] === 0 ? model.total[m][node] : 0;
            }
            addErrors(model, node, row, open[key] === 0);
        }
        open[key]++;
        stack.push(~node);
        for (let i = model.childStart[node]; i < model.childStart[node + 1]; i++) {
            stack.push(model.childList[i]);
        }
    }
    return rows.filter((row) => row !== undefined);
}

/**
 * Of nodes that have nothing there the error is of no use.
 *
 * @param {Model} model
 * @param {number} node
 * @param {HotRow} row
 * @param {boolean} isOutermost
 */
function addErrors(model, node, row, isOutermost) {
    for (const metric of BAR_METRICS) {
        if (model.self[metric][node] > 0) {
            row.selfError[metric] += model.ownHalf(metric, node) ** 2;
        }
        if (isOutermost && model.total[metric][node] > 0) {
            row.totalError[metric] += model.half[metric][node] ** 2;
        }
    }
}

/**
 * @param {number} key
 * @param {number} frame
 * @param {string[]} measures
 */
function newHotRow(key, frame, measures) {
    /** @type {HotRow} */
    const row = { key, frame, self: {}, total: {}, selfError: {}, totalError: {} };
    for (const m of measures) {
        row.self[m] = row.total[m] = 0;
    }
    for (const metric of BAR_METRICS) {
        row.selfError[metric] = row.totalError[metric] = 0;
    }
    return row;
}

/**
 * The tree as it is shown: frames without own time that have but one child with all their time are
 * left out, as in the text report, and their children move up. One that was called stays.
 * @param {Model} model
 * @param {Metric} metric
 * @param {boolean} compact
 * @returns {CallTree}
 */
function callTree(model, metric, compact) {
    /** @param {number} node */
    const self = (node) => model.self[metric][node] || (model.isDiff && model.self[metric + '0'][node]);
    /** @param {number} node */
    const isCalled = (node) =>
        model.hasCalls && (model.self.calls[node] > 0 || (model.isDiff && model.self.calls0[node] > 0));
    /** @param {number} node */
    const passesOn = (node) =>
        compact &&
        model.frames.kind[model.frame[node]] >= KIND.JAVA &&
        model.frames.kind[model.frame[model.parent[node]]] >= KIND.JAVA &&
        !self(node) &&
        !isCalled(node) &&
        nearly(model.width(metric, node), model.width(metric, model.parent[node]));
    const shown = new Int32Array(model.count); // the node itself, or the one it is folded into
    const parent = new Int32Array(model.count).fill(-1);
    for (let i = 1; i < model.count; i++) {
        const above = shown[model.parent[i]];
        shown[i] = passesOn(i) ? above : i;
        parent[i] = above;
    }
    for (let i = 1; i < model.count; i++) {
        if (shown[i] !== i) {
            parent[i] = -1;
        }
    }
    const lists = new Map();
    for (let i = 1; i < model.count; i++) {
        if (parent[i] >= 0) {
            const list = lists.get(parent[i]);
            list ? list.push(i) : lists.set(parent[i], [i]);
        }
    }
    return { parent, shown, children: (node) => lists.get(node) ?? [] };
}

/**
 * Sums of scaled numbers differ in their last digits.
 *
 * @param {number} a
 * @param {number} b
 */
function nearly(a, b) {
    return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

/**
 * @param {Model} model
 * @param {string} text
 * @param {number} base
 * @param {Metric} metric
 * @returns {Finds|null} matching frames; the
 *     outermost matching nodes below base, most time first; their time, nothing counted twice
 */
function searchFor(model, text, base, metric) {
    const wanted = text.trim().toLowerCase();
    if (wanted === '') {
        return null;
    }
    const frames = new Uint8Array(model.frames.text.length);
    model.frames.search.forEach((name, i) => (frames[i] = name.includes(wanted) ? 1 : 0));
    const inside = new Uint8Array(model.count); // 1: below base; 2: inside a match too
    const top = [];
    let count = 0;
    let time = 0;
    for (let i = base; i < model.count; i++) {
        const above = i === base ? 1 : inside[model.parent[i]];
        if (above === 0) {
            continue;
        }
        const matches = frames[model.frame[i]] === 1;
        inside[i] = matches ? 2 : above;
        if (matches) {
            count++;
        }
        if (matches && above === 1) {
            top.push(i);
            time += model.width(metric, i);
        }
    }
    top.sort((a, b) => model.width(metric, b) - model.width(metric, a));
    return { frames, count, top, time };
}

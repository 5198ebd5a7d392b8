// SPDX-License-Identifier: Apache-2.0
// Another tree of the same report: frames hidden, stacks chosen, recursion collapsed, turned upside down.

const INVERT_DEPTH = 500; // callers of a frame in an inverted tree; the others are one row

/** @returns {Filter} one that changes nothing */
function noFilter() {
    return { hide: null, focus: null, keep: null, recursion: false, invert: false };
}

/** @param {Filter} filter */
function isFiltering(filter) {
    return Object.values(filter).some(Boolean);
}

/**
 * Which nodes match, and what is above and below matching ones.
 *
 * @param {Model} model
 * @param {RegExp | null} pattern null: all nodes are inside
 */
function matchesOf(model, pattern) {
    const { frames, frame, parent, count } = model;
    const ofFrame = frames.text.map((text, i) => (frames.kind[i] >= KIND.JAVA && pattern?.test(text) ? 1 : 0));
    const own = new Uint8Array(count); // the node itself
    const inside = new Uint8Array(count); // the node, or a caller of it
    const above = new Uint8Array(count); // the node, or something it called
    for (let i = 0; i < count; i++) {
        own[i] = ofFrame[frame[i]];
        inside[i] = pattern === null || own[i] || (i > 0 && inside[parent[i]]) ? 1 : 0;
        above[i] = inside[i];
    }
    for (let i = count - 1; i > 0; i--) {
        above[parent[i]] |= above[i];
    }
    return { own, inside, above };
}

/**
 * Half the width of the error bar of each node's time, squared, of what a filter leaves of it; NaN: not known. Bars of
 * several places are independent of each other: their squares add up.
 *
 * @param {Model} model
 * @param {string} metric
 * @param {Uint8Array} credited 1 for each node that keeps its own time
 */
function squaresOf(model, metric, credited) {
    const { parent, count } = model;
    const half = model.half[metric];
    const self = model.self[metric];
    const isWhole = new Uint8Array(count).fill(1);
    const squares = new Float64Array(count); // until a node's turn comes: of what is left below it
    for (let i = count - 1; i > 0; i--) {
        isWhole[i] &= self[i] === 0 ? 1 : credited[i];
        isWhole[parent[i]] &= isWhole[i];
        if (model.total[metric][i] === 0) {
            continue;
        }
        if (isWhole[i]) {
            squares[i] = half[i] ** 2;
        } else if (credited[i] && self[i] > 0) {
            squares[i] += model.ownHalf(metric, i) ** 2;
        }
        squares[parent[i]] += squares[i];
    }
    return { isWhole, squares };
}

/** Builds the new tree: equal frames below one node are one node, with the time of all. */
class Regrown {
    /** @param {Model} model */
    constructor(model) {
        this.model = model;
        this.builder = new TreeBuilder(model.frames, model.measures, model.count);
        /** @type {Map<number, number>} */
        this.known = new Map();
        /** @type {Map<number, number>} from a group's old node to its new one */
        this.groups = new Map();
        this.credited = new Uint8Array(model.count); // 1 for each old node with its own time in the new tree
    }

    /**
     * @param {number} parent
     * @param {number} frame
     */
    child(parent, frame) {
        const key = parent * 2 ** 24 + frame;
        let node = this.known.get(key);
        if (node === undefined) {
            node = this.builder.add(parent, frame);
            this.known.set(key, node);
        }
        return node;
    }

    /** @param {number} old */
    group(old) {
        const node = this.builder.add(0, this.model.frame[old]);
        this.groups.set(old, node);
        return node;
    }

    /**
     * @param {number} node
     * @param {number} old
     */
    credit(node, old) {
        this.credited[old] = 1;
        for (const measure of this.model.measures) {
            this.builder.self[measure][node] += this.model.self[measure][old];
        }
    }

    finish() {
        const old = this.model;
        const model = new Model(this.builder, old.reports);
        model.scale = old.scale;
        model.isCpuClock = old.isCpuClock;
        model.groups = old.groups.map((group) => {
            const node = this.groups.get(group.node) ?? 0;
            const isCut = group.isCut || model.total.wall[node] !== old.total.wall[group.node];
            return { ...group, node, isCut };
        });
        return model;
    }
}

/**
 * @param {Model} model
 * @param {Filter} filter
 */
function filtered(model, filter) {
    const { hide, focus, keep, recursion, invert } = filter;
    const cut = hide || focus || keep || recursion ? cutTree(model, filter) : model;
    return invert ? inverted(cut) : cut;
}

/**
 * The time of a hidden frame is its caller's; the time of a stack that is not chosen is left out.
 *
 * @param {Model} model
 * @param {Filter} filter
 */
function cutTree(model, { hide, focus, keep, recursion }) {
    const { frames, frame, parent } = model;
    const hidden = matchesOf(model, hide).own;
    const focused = matchesOf(model, focus);
    const kept = matchesOf(model, keep);
    const regrown = new Regrown(model);
    const to = new Int32Array(model.count);
    const shown = new Uint8Array(model.count); // 1: as a row, perhaps together with others; 2: with its caller's row
    for (let i = 1; i < model.count; i++) {
        if (parent[i] === 0) {
            to[i] = regrown.group(i);
        } else if (kept.above[i] === 0) {
            continue; // and nothing below it is kept
        } else {
            const above = to[parent[i]];
            const isSame = recursion && frames.method[frame[i]] === frames.method[regrown.builder.frame[above]];
            shown[i] = hidden[i] || !focused.inside[i] ? 0 : isSame ? 2 : 1;
            to[i] = shown[i] === 1 ? regrown.child(above, frame[i]) : above;
        }
        if (focused.inside[i] && kept.inside[i]) {
            regrown.credit(to[i], i);
        }
    }
    const cut = regrown.finish();
    for (const metric of BAR_METRICS) {
        const { isWhole, squares } = squaresOf(model, metric, regrown.credited);
        const sums = new Float64Array(cut.count);
        for (let i = 1; i < model.count; i++) {
            sums[to[i]] += shown[i] === 1 ? squares[i] : 0;
        }
        setBars(cut, metric, sums);
        if (metric === 'wall') {
            cut.lacksCounts = carryCounts(model, cut, (i) => (shown[i] === 0 ? undefined : isWhole[i] ? to[i] : 0));
        }
    }
    return cut;
}

/**
 * Thread groups have no bars, and what has no time.
 *
 * @param {Model} model
 * @param {string} metric
 * @param {Float64Array} squares by node
 */
function setBars(model, metric, squares) {
    model.half[metric] = squares.map((square, i) =>
        i > 0 && model.parent[i] > 0 && model.total[metric][i] > 0 ? Math.sqrt(square) : NaN
    );
}

/**
 * How often methods were called, for rows that have all of their time. What several rows count together is not added up:
 * it may be the same calls. Nor has a row root times if some of its calls are no root's.
 *
 * @param {Model} model
 * @param {Model} cut
 * @param {(node: number) => number | undefined} rowOf the row of a node; 0: one that lacks time; undefined: none
 * @returns {boolean} whether a row lacks what is known of its nodes
 */
function carryCounts(model, cut, rowOf) {
    const lacking = new Set();
    for (let i = 1; i < model.count; i++) {
        const row = rowOf(i);
        if (row !== undefined) {
            const time = model.rootTimes.get(i);
            const sum = cut.rootTimes.get(row);
            const calls = model.rowCalls.get(i);
            const known = cut.rowCalls.get(row);
            const depth = Math.max(model.recursion.get(i) ?? 0, cut.recursion.get(row) ?? 0);
            if (depth > 0) {
                cut.recursion.set(row, depth);
            }
            if ((time || calls) && (row === 0 || (known && calls && Math.max(known.paths, calls.paths) > 1))) {
                lacking.add(row);
            }
            const since = model.countedSince.get(i);
            if (since && row !== 0) {
                cut.countedSince.set(row, laterOf(since, cut.countedSince.get(row)));
            }
            if (time) {
                cut.rootTimes.set(row, sum ? sumOfTimes(sum, time) : { ...time });
            }
            if (calls) {
                cut.rowCalls.set(row, { calls: calls.calls + (known?.calls ?? 0), paths: calls.paths });
            }
        }
    }
    for (let i = 1; i < model.count && cut.rootTimes.size > 0; i++) {
        const row = rowOf(i);
        if (row !== undefined && cut.rootTimes.has(row) && !model.rootTimes.has(i)) {
            lacking.add(row);
        }
    }
    lacking.forEach((row) => {
        cut.rootTimes.delete(row);
        cut.rowCalls.delete(row);
    });
    return lacking.size > 0;
}

/**
 * Since when a row of two nodes is counted, and how many calls it lacks.
 *
 * @param {CountedSince} a
 * @param {CountedSince} [b]
 * @returns {CountedSince}
 */
function laterOf(a, b) {
    return b === undefined
        ? a
        : {
              millis: Math.max(a.millis, b.millis),
              missing: Math.min(a.missing, b.missing) < 0 ? -1 : a.missing + b.missing,
          };
}

/**
 * @param {RootTime} a
 * @param {RootTime} b
 * @returns {RootTime}
 */
function sumOfTimes(a, b) {
    return {
        calls: a.calls + b.calls,
        total: a.total + b.total,
        min: Math.min(a.min, b.min),
        max: Math.max(a.max, b.max),
    };
}

/**
 * Says in words which figures a filtered tree lacks.
 *
 * @param {Model} model before the filter
 * @param {Model} shown
 */
function lackingText(model, shown) {
    if (shown.upright !== shown && model.rowCalls.size + model.rootTimes.size > 0) {
        return 'Turned over, a row has no calls of its own: sampled rows show none, and counted ones no times of root methods.';
    }
    return shown.upright.lacksCounts ? 'Rows of which a part is left out show no calls.' : '';
}

/**
 * Below each group the frames with time of their own, below these their callers.
 *
 * @param {Model} model
 */
function inverted(model) {
    const { frame, parent, measures, frames } = model;
    const regrown = new Regrown(model);
    const more = frames.named(`[more than ${INVERT_DEPTH} callers]`, KIND.PSEUDO);
    const groupOf = new Int32Array(model.count);
    const to = new Int32Array(model.count);
    for (let i = 1; i < model.count; i++) {
        groupOf[i] = parent[i] === 0 ? i : groupOf[parent[i]];
        if (groupOf[i] === i) {
            regrown.group(i);
        }
        if (!measures.some((measure) => model.self[measure][i] !== 0)) {
            continue;
        }
        let node = /** @type {number} */ (regrown.groups.get(groupOf[i]));
        let depth = 0;
        for (let at = i; at !== groupOf[i] && depth <= INVERT_DEPTH; at = parent[at]) {
            node = regrown.child(node, depth++ === INVERT_DEPTH ? more : frame[at]);
        }
        to[i] = node;
        regrown.credit(node, i);
    }
    const turned = regrown.finish();
    for (const metric of BAR_METRICS) {
        const squares = new Float64Array(turned.count);
        for (let i = 1; i < model.count; i++) {
            squares[to[i]] += model.self[metric][i] > 0 ? model.ownHalf(metric, i) ** 2 : 0;
        }
        setBars(turned, metric, totals(turned.parent, squares));
    }
    turned.upright = model;
    return turned;
}

/** The row of fields above the views. */
class FilterBar {
    /** @param {(filter: Filter) => void} change */
    constructor(change) {
        this.change = change;
        for (const id of ['hide', 'focus', 'keep', 'recursion', 'invert']) {
            byId('filter-' + id).addEventListener('change', () => this.read());
        }
        byId('filter-clear').addEventListener('click', () => {
            this.write(new URLSearchParams());
            this.read();
        });
        byId('filter-open').addEventListener('click', () => this.open(byId('filters').hidden));
    }

    /** @param {boolean} isOpen */
    open(isOpen) {
        byId('filters').hidden = !isOpen;
        byId('filter-open').setAttribute('aria-expanded', String(isOpen));
    }

    /** @param {string} id */
    field(id) {
        return /** @type {HTMLInputElement} */ (byId('filter-' + id));
    }

    read() {
        try {
            const [hide, focus, keep] = ['hide', 'focus', 'keep'].map((id) => {
                const text = this.field(id).value.trim();
                return text === '' ? null : new RegExp(text);
            });
            this.change({
                hide,
                focus,
                keep,
                recursion: this.field('recursion').checked,
                invert: this.field('invert').checked,
            });
        } catch (failure) {
            byId('filter-error').textContent = 'This is not a regular expression.';
        }
    }

    /** @param {URLSearchParams} view */
    write(view) {
        for (const id of ['hide', 'focus', 'keep']) {
            this.field(id).value = view.get(id) ?? '';
        }
        for (const id of ['recursion', 'invert']) {
            this.field(id).checked = view.has(id);
        }
    }

    /** @param {string[]} packages offered by the fields */
    offer(packages) {
        byId('packages').replaceChildren(
            ...packages.filter(Boolean).map((name) => {
                const option = element('option');
                option.value = '^' + name.replace(/[.$]/g, '\\$&') + '\\.';
                return option;
            })
        );
    }
}

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

/** Builds the new tree: equal frames below one node are one node, with the time of all. */
class Regrown {
    /** @param {Model} model */
    constructor(model) {
        this.model = model;
        this.builder = new TreeBuilder(model.frames, model.measures);
        /** @type {Map<number, number>} */
        this.known = new Map();
        /** @type {Map<number, number>} from a group's old node to its new one */
        this.groups = new Map();
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
        for (const measure of this.model.measures) {
            this.builder.self[measure][node] += this.model.self[measure][old];
        }
    }

    /** Error bars and counts belong to the rows of the report, which these are not. */
    finish() {
        const old = this.model;
        const model = new Model(this.builder, old.reports);
        model.scale = old.scale;
        model.isCpuClock = old.isCpuClock;
        model.groups = old.groups.map((group) => ({ ...group, node: this.groups.get(group.node) ?? 0 }));
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
    for (let i = 1; i < model.count; i++) {
        if (parent[i] === 0) {
            to[i] = regrown.group(i);
        } else if (kept.above[i] === 0) {
            continue; // and nothing below it is kept
        } else {
            const above = to[parent[i]];
            const isSame = recursion && frames.method[frame[i]] === frames.method[regrown.builder.frame[above]];
            to[i] = hidden[i] || !focused.inside[i] || isSame ? above : regrown.child(above, frame[i]);
        }
        if (focused.inside[i] && kept.inside[i]) {
            regrown.credit(to[i], i);
        }
    }
    return regrown.finish();
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
        regrown.credit(node, i);
    }
    return regrown.finish();
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
            byId('filter-error').textContent = '';
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

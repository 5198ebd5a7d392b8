// SPDX-License-Identifier: Apache-2.0
// The page: what is shown (group, zoom, time, search, view) and by which part.

/**
 * @template {keyof PageElements} K
 * @param {K} id of an element of index.html
 * @returns {PageElements[K]}
 */
function byId(id) {
    const found = document.getElementById(String(id));
    if (found === null) {
        throw new Error('The page has no element ' + id);
    }
    return /** @type {PageElements[K]} */ (found);
}

/**
 * @param {string} name of a data attribute
 * @returns {NodeListOf<HTMLElement>}
 */
function dataElements(name) {
    return document.querySelectorAll('[data-' + name + ']');
}

/**
 * Marks the pressed one of buttons of which one is.
 *
 * @param {string} name of their data attribute
 * @param {string} value
 */
function press(name, value) {
    for (const button of dataElements(name)) {
        button.setAttribute('aria-pressed', String(button.dataset[name] === value));
    }
}

/** @type {Tab[]} */
const TABS = ['graph', 'tree', 'methods', 'lines', 'account', 'callers', 'locks'];
/** @type {Tab[]} */
const HOT_TABS = ['methods', 'lines', 'callers'];
const UPRIGHT_COLUMNS = ['self', 'ownDelta', 'perCall']; // an inverted tree has no own time: a row is a caller's part
const HOT_PART = 0.1; // the hot path is open down to frames with this part of the group's time

class App {
    /** @type {Model} */
    model;
    /** @type {{ sampled: Model, counted: Model | null }} the models that there are; one of them is shown */
    models;
    /** @type {Map<string, CallTree>} the call trees made so far, by time and folding */
    trees;
    /** @type {Map<string, HotRow[]>} the hot lists made so far, by table and group */
    hot;
    /** @type {Map<number, number>} the depth of each row of the call tree */
    levels;

    constructor() {
        this.colours = new Colours();
        this.base = 0;
        this.zoom = 0;
        /** @type {number[]} */
        this.zooms = [];
        /** @type {Metric} */
        this.metric = 'active';
        /** @type {Data} */
        this.data = 'sampled';
        /** @type {Level} */
        this.level = 'method';
        this.called = -1; // the method of the view Callers; -1: that with the most calls
        /** @type {Tab} */
        this.tab = 'graph';
        this.theme = 'auto';
        /** @type {Set<number>} */
        this.open = new Set();
        /** @type {Finds | null} */
        this.found = null;
        this.findIndex = -1;
        this.flame = new Flame(byId('flame'), this.colours, {
            zoom: (node) => this.zoomTo(node),
            hover: (node, event) => this.showTip(node, event),
            choose: (node) => this.showDetail(node),
        });
        this.tree = new Grid(
            byId('tree'),
            'Call tree',
            {
                sort: () => this.showTree(),
                activate: (node) => this.showInGraph(node),
                toggle: (node, open) => this.toggle(node, open),
            },
            {
                level: (node) => this.levels.get(node) ?? 1,
                isOpen: (node) => this.open.has(node),
                canOpen: (node) => this.childrenIn(this.callTree, node).length > 0,
                parent: (node) => this.callTree.parent[node],
            }
        );
        /**
         * @param {'methods' | 'lines'} id
         * @param {string} label
         */
        const hot = (id, label) =>
            new Grid(byId(id), label, {
                sort: () => this.showHot(id),
                activate: (row) => this.searchInGraph(row),
            });
        this.methods = hot('methods', 'Hot methods');
        this.lines = hot('lines', 'Hot lines');
        const sandwich = {
            sort: () => this.showHot('callers'),
            /** @param {HotRow} row */
            activate: (row) => this.showCallers(this.model.frames.method[row.frame]),
        };
        this.callers = new Grid(byId('callers'), 'Callers', sandwich);
        this.callees = new Grid(byId('callees'), 'Callees', sandwich);
        this.filter = noFilter();
        this.filterBar = new FilterBar((filter) => this.setFilter(filter));
        this.account = new Account(byId('panel-account'));
        this.locks = new Locks(byId('panel-locks'));
        this.summary = new Summary(byId('summary'), (spot) => this.focusOn(spot));
        this.address = new Address(this);
        this.strip = new Strip(byId('strip'), this.colours);
        /** @type {Live | null} only where a server has sent the page */
        this.live = null;
        new Input(this);
        const theme = remembered('theme') ?? '';
        this.setTheme(['light', 'dark'].includes(theme) ? theme : 'auto');
    }

    // ---- what is shown

    /** @param {Model} model */
    setModel(model) {
        this.model = model;
        this.trees = new Map();
        this.hot = new Map();
        this.colours.assign(model);
        this.flame.setModel(model);
        if (!this.canShow(this.metric) || !(model.width(this.metric, 0) > 0)) {
            this.metric = this.usualMetric;
        }
        this.called = -1;
        for (const button of dataElements('metric')) {
            button.hidden = !this.canShow(/** @type {Metric} */ (button.dataset.metric));
        }
        byId('metrics').hidden = !['active', 'cpu', 'calls'].some((metric) =>
            this.canShow(/** @type {Metric} */ (metric))
        );
        byId('metric-wall').textContent = model.hasStates ? 'Show idle' : 'Wall';
        byId('paints').hidden = !model.hasStates || model.isDiff;
        byId('tab-lines').hidden = model.hasCalls;
        this.filterBar.offer(this.colours.ranked);
        this.showData();
        this.showInterval();
    }

    /** The time that the page opens with. */
    get usualMetric() {
        return this.model.hasCalls && !(this.model.width('wall', 0) > 0)
            ? 'calls'
            : this.model.hasStates && this.model.width('active', 0) > 0
              ? 'active'
              : 'wall';
    }

    /** The node that the page opens with. */
    get usualBase() {
        return this.model.groups.length === 1 ? this.model.groups[0].node : 0;
    }

    /** @param {Metric} metric */
    canShow(metric) {
        const { model } = this;
        // With the CPU clock both times are the same one.
        const known = { active: model.hasStates, wall: true, cpu: model.hasCpu && !model.isCpuClock, calls: model.hasCalls };
        return known[metric];
    }

    /**
     * @param {Model} sampled
     * @param {Model | null} counted
     */
    start(sampled, counted) {
        this.models = { sampled, counted };
        this.begin();
    }

    /** Shows a model for the first time. */
    begin() {
        const model = this.models[this.data] ?? this.models.sampled;
        this.metric = 'active';
        this.open = new Set();
        this.zooms = [];
        this.tab = 'graph'; // a tab may be hidden now
        this.setLevel('method');
        this.setModel(this.filteredModel(model));
        this.base = this.zoom = this.usualBase;
        this.setColumns();
        this.openHotPath();
        this.showAll();
        this.selectTab('graph');
    }

    /** @param {Model} model */
    filteredModel(model) {
        return isFiltering(this.filter) ? filtered(model, this.filter) : model;
    }

    /** @param {Filter} filter */
    setFilter(filter) {
        this.filter = filter;
        this.replace(this.models.sampled, this.models.counted);
        byId('filter-error').textContent = lackingText(this.models[this.data] ?? this.models.sampled, this.model);
        byId('filter-open').setAttribute('aria-pressed', String(isFiltering(filter)));
        this.address.note();
    }

    /** @param {Data} data */
    setData(data) {
        if (data !== this.data && this.models[data] !== null) {
            this.data = data;
            this.begin();
            this.address.note();
        }
    }

    showData() {
        byId('data').hidden = this.models.counted === null;
        press('data', this.data);
    }

    /**
     * A newer report in place of the old one; what is shown stays, as far as it is still there.
     *
     * @param {Model} sampled
     * @param {Model | null} counted
     */
    replace(sampled, counted) {
        this.models = { sampled, counted };
        if (this.data === 'counted' && counted === null) {
            this.data = 'sampled';
            this.begin();
            return;
        }
        const model = this.filteredModel(this.data === 'counted' && counted !== null ? counted : sampled);
        const called = this.nameOfCalled();
        const old = this.model;
        const base = model.find(old.path(this.base));
        /** @param {number} node */
        const inBase = (node) => {
            const there = model.find(old.path(node));
            return model.contains(base, there) ? there : base;
        };
        const open = [...this.open].map((node) => inBase(node));
        const current = this.tree.rows[this.tree.current];
        const chosen = inBase(this.flame.chosen);
        const zoom = inBase(this.zoom);
        const zooms = this.zooms.map(inBase);
        const row = current === undefined ? undefined : inBase(current);
        this.setModel(model);
        this.called = model.frames.methods.findIndex((method) => method.text === called);
        Object.assign(this, { base, zoom, zooms, open: new Set(open) });
        this.flame.chosen = chosen;
        this.setColumns();
        this.search(true);
        this.showAll(row);
    }

    /** @param {number} node */
    setBase(node) {
        this.base = this.zoom = node;
        this.zooms = [];
        this.openHotPath();
        this.search(true);
        this.showAll();
        this.address.note();
    }

    /** @param {Metric} metric */
    setMetric(metric) {
        if (metric !== this.metric && this.canShow(metric)) {
            this.metric = metric;
            this.setColumns();
            this.search(true);
            this.showAll();
            this.address.note();
        }
    }

    /** @param {number} node */
    zoomTo(node) {
        if (node !== this.zoom) {
            this.zooms.push(this.zoom);
            this.zoom = node;
            this.search(true);
            this.showGraph();
            this.address.note();
        }
    }

    back() {
        const before = this.zooms.pop();
        if (before !== undefined) {
            this.zoom = before;
            this.search(true);
            this.showGraph();
            this.address.note();
        }
    }

    resetZoom() {
        this.zoomTo(this.base);
        this.zooms = [];
        this.showGraph();
    }

    /** @param {number} node */
    showInGraph(node) {
        this.selectTab('graph');
        this.zoomTo(node);
        this.flame.scroller.focus();
        this.flame.choose(node);
    }

    /** @param {HotRow} row */
    searchInGraph(row) {
        byId('search').value = this.model.frames.methods[this.model.frames.method[row.frame]].text;
        this.resetZoom();
        this.search(false);
        this.selectTab('graph');
        byId('search').focus();
    }

    // ---- showing it

    /** @param {number} [currentRow] of the call tree */
    showAll(currentRow) {
        this.showGroups();
        press('metric', this.metric);
        this.showStrip();
        this.showGraph();
        this.showTree(currentRow);
        this.showHot('methods');
        this.showHot('lines');
        this.showHot('callers');
        this.account.show(this.models.sampled);
        this.showLocks();
        this.summary.show(this.models.sampled);
    }

    /**
     * Zooms the graph to the place of a hot spot that has most time.
     *
     * @param {HotSpot} spot
     */
    focusOn(spot) {
        if (this.data !== 'sampled') {
            this.setData('sampled');
        }
        const group = this.model.groups.find((one) => one.name === spot.group);
        byId('search').value = '';
        this.setBase(0);
        this.selectTab('graph');
        const top = searchFor(this.model, textOfSpot(this.model.frames, spot), 0, this.metric)?.top ?? [];
        const node = top.find((one) => group !== undefined && this.model.contains(group.node, one)) ?? top[0];
        if (node !== undefined) {
            this.zoomTo(node);
            this.flame.choose(node);
        }
        this.flame.scroller.focus();
    }

    /** @param {Paint} paint */
    setPaint(paint) {
        this.colours.paint = paint;
        this.address.note();
        press('paint', paint);
        this.showGraph();
    }

    /* A difference has none: its reports are of different times. */
    showStrip() {
        const { isDiff, reports } = this.models.sampled;
        const group = this.model.groups.find(({ node }) => node === this.base);
        this.strip.show(isDiff ? undefined : reports[0].seconds, zoneOf(reports[0]), this.base === 0 ? null : (group?.name ?? null));
    }

    showLocks() {
        const hasLocks = this.locks.show(this.models.sampled);
        byId('tab-locks').hidden = !hasLocks;
        if (!hasLocks && this.tab === 'locks') {
            this.selectTab('graph');
        }
    }

    showInterval() {
        const { reports } = this.model;
        for (const button of dataElements('download')) {
            button.hidden = this.model.isDiff && !DIFFERENCE_DOWNLOADS.includes(button.dataset.download ?? '');
        }
        /** @param {SamplerReport} report */
        const one = (report) =>
            span(report.fromMillis, report.tillMillis, zoneOf(report)) + ' (' + duration(report.elapsedNanos) + ')';
        const host = byId('interval');
        if (!this.model.isDiff) {
            const { threads, groups } = threadCounts(reports[0]);
            const counts = `${numberOf(threads, 'thread')} in ${numberOf(groups, 'group')}`;
            const clock = this.model.isCpuClock ? ', all times are CPU times' : '';
            host.replaceChildren(element('b', '', one(reports[0])), element('span', '', counts + clock));
            return;
        }
        const scaled =
            Math.abs(this.model.scale - 1) < 0.001
                ? ''
                : ` before scaled × ${this.model.scale.toFixed(2)} to the length of after`;
        host.replaceChildren(
            element('span', '', 'Before '),
            element('b', '', one(reports[0])),
            element('span', '', ' After '),
            element('b', '', one(reports[1])),
            element('span', '', scaled)
        );
        host.title = host.textContent;
    }

    showGroups() {
        byId('groups').replaceChildren(...groupOptions(this));
        byId('groups').setAttribute('aria-activedescendant', 'group-' + this.base);
    }

    showGraph() {
        this.flame.found = this.found;
        this.flame.view(this.base, this.zoom, this.metric);
        byId('back').disabled = this.zooms.length === 0;
        byId('reset').disabled = this.zoom === this.base;
        this.showPath();
        this.showDetail(this.flame.chosen);
        // The strip has the same colours and their names.
        byId('legend').hidden = this.colours.isByState(this.model) && !byId('strip').hidden;
        byId('legend').replaceChildren(
            ...this.colours
                .legend(this.model, this.metric)
                .map(([colour, words]) => legendItem('li', colour, shorten(words, 60)))
        );
    }

    showPath() {
        const { model } = this;
        const share = percent(model.width(this.metric, this.zoom), model.width(this.metric, 0));
        const path = this.zoom === 0 ? '' : `${shorten(model.frames.short[model.frame[this.zoom]], 80)}: ${share} of all`;
        byId('path').textContent = [path, isFiltering(this.filter) ? 'filtered' : ''].filter(Boolean).join(', ');
    }

    /** @param {number} node */
    showDetail(node) {
        if (node < 0) {
            return;
        }
        const name = element('b', 'text');
        name.append(...nameParts(shorten(this.model.textOf(node), NAME_LIMIT)));
        byId('detail').replaceChildren(name, element('span', '', describe(this, node).join(' · ')));
    }

    /**
     * @param {number} node
     * @param {MouseEvent} event
     */
    showTip(node, event) {
        const tip = byId('tip');
        tip.hidden = node < 0;
        if (node < 0) {
            return;
        }
        tip.replaceChildren(
            element('b', '', shorten(this.model.textOf(node), NAME_LIMIT)),
            ...describe(this, node).map((line) => element('span', '', line))
        );
        const x = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
        const below = event.clientY + 20;
        const y = below + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 10 : below;
        tip.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
    }

    // ---- tables

    setColumns() {
        this.tree.setColumns(
            columnsOf(
                this,
                {
                    self: (m, i) => this.model.self[m][i],
                    total: (m, i) => this.model.total[m][i],
                    error: (m, i, main) => (main === 'self' ? this.model.ownHalf(m, i) : this.model.half[m][i]),
                    calls: (i) => this.model.callsOf(i),
                    counted: (i) => this.model.rowCalls.get(i),
                    depth: (i) => this.model.recursion.get(i),
                    text: (i) => this.model.textOf(i),
                    tone: (i) => this.toneOf(this.model.frame[i]),
                },
                'total'
            ).filter(({ key }) => this.model.upright === this.model || !UPRIGHT_COLUMNS.includes(key)),
            { key: this.model.isDiff ? 'delta' : 'percent', down: true }
        );
        for (const grid of [this.methods, this.lines, this.callers, this.callees]) {
            const byLine = grid === this.lines;
            grid.setColumns(
                columnsOf(
                    this,
                    {
                        self: (m, row) => row.self[m],
                        total: (m, row) => row.total[m],
                        error: (m, row, main) => Math.sqrt((main === 'self' ? row.selfError : row.totalError)[m]),
                        calls: (row) => row.self.calls,
                        text: (row) =>
                            byLine
                                ? this.model.frames.text[row.frame]
                                : rollUpName(
                                      this.model.frames.methods[this.model.frames.method[row.frame]],
                                      grid === this.methods ? this.level : 'method'
                                  ),
                        tone: (row) => this.toneOf(row.frame),
                    },
                    this.isSandwich(grid) ? 'total' : 'self'
                ),
                { key: this.model.isDiff ? 'ownDelta' : this.isSandwich(grid) && this.model.hasCalls ? 'calls' : 'percent', down: true }
            );
        }
    }

    /** @param {Grid} grid */
    isSandwich(grid) {
        return grid === this.callers || grid === this.callees;
    }

    /** @param {number} frame */
    toneOf(frame) {
        const kind = this.model.frames.kind[frame];
        const found = this.found?.frames[frame] === 1 ? ' found' : '';
        return (
            (kind === KIND.JDK ? 'jdk' : kind === KIND.PSEUDO ? 'pseudo' : kind === KIND.GROUP ? 'is-group' : '') +
            found
        );
    }

    get callTree() {
        const compact = byId('compact').checked;
        const key = this.metric + compact;
        let tree = this.trees.get(key);
        if (tree === undefined) {
            tree = callTree(this.model, this.metric, compact);
            this.trees.set(key, tree);
        }
        return tree;
    }

    /**
     * A table of active time has no rows that were idle throughout.
     *
     * @param {CallTree} tree
     * @param {number} node
     */
    childrenIn(tree, node) {
        const all = tree.children(node);
        return this.metric === 'active' ? all.filter((child) => this.model.width('active', child) > 0) : all;
    }

    /** @param {number} [current] */
    showTree(current) {
        const tree = this.callTree;
        const rows = [];
        this.levels = new Map();
        /** @param {number[]} nodes */
        const order = (nodes) => [...nodes].sort((a, b) => -this.tree.compare(a, b) || b - a); // last first: a stack
        const stack = this.base === 0 ? order(this.childrenIn(tree, 0)).map((node) => [node, 1]) : [[this.base, 1]];
        for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
            const [node, level] = next;
            rows.push(node);
            this.levels.set(node, level);
            if (this.open.has(node)) {
                order(this.childrenIn(tree, node)).forEach((child) => stack.push([child, level + 1]));
            }
        }
        this.tree.setRows(rows, current ?? this.tree.rows[this.tree.current]);
    }

    /**
     * @param {number} node
     * @param {boolean} open
     */
    toggle(node, open) {
        open ? this.open.add(node) : this.open.delete(node);
        this.showTree(node);
    }

    /** @returns the end of the way */
    openHotPath() {
        return this.model.isDiff ? this.openSlowest() : this.openHottest();
    }

    openHottest() {
        const tree = this.callTree;
        const time = this.model.total[this.metric];
        /** @param {number[]} nodes */
        const hottest = (nodes) => nodes.reduce((best, i) => (best < 0 || time[i] > time[best] ? i : best), -1);
        let node = this.base === 0 ? hottest(tree.children(0)) : this.base;
        const least = time[node] * HOT_PART;
        let last = node;
        while (node >= 0 && time[node] > 0 && time[node] >= least) {
            last = node;
            this.open.add(node);
            node = hottest(tree.children(node));
        }
        return last;
    }

    /** To the frame that itself got slower by most: its callers as a whole may have become faster. */
    openSlowest() {
        const { model, metric } = this;
        /** @param {number} i */
        const change = (i) => model.self[metric][i] - model.self[metric + '0'][i];
        let slowest = this.base;
        for (let i = this.base + 1; i < model.count; i++) {
            if (change(i) > change(slowest) && model.contains(this.base, i)) {
                slowest = i;
            }
        }
        for (let i = this.callTree.shown[slowest]; i > 0; i = this.callTree.parent[i]) {
            this.open.add(i);
        }
        return slowest;
    }

    /** @param {number} node */
    reveal(node) {
        const tree = this.callTree;
        const shown = tree.shown[node];
        for (let i = tree.parent[shown]; i > 0; i = tree.parent[i]) {
            this.open.add(i);
        }
        this.showTree(shown);
        this.tree.reveal();
        this.tree.draw();
    }

    /** Tables of methods add up the tree as it was before it was inverted. */
    get upright() {
        const model = this.model.upright;
        return { model, base: model.find(this.model.path(this.base)) };
    }

    /** @param {Tab} id */
    hotRows(id) {
        const key = [id, this.base, this.level, this.called].join(' ');
        let rows = this.hot.get(key);
        if (rows === undefined) {
            const { model, base } = this.upright;
            rows =
                id === 'callers'
                    ? callersOf(model, base, this.called)
                    : hotList(model, base, id === 'lines', rollUp(model.frames, this.level));
            this.hot.set(key, rows);
        }
        return rows;
    }

    /** @param {Tab} id */
    showHot(id) {
        if (this.tab !== id || !HOT_TABS.includes(id)) {
            return; // made when it is shown
        }
        if (id === 'callers') {
            this.called = this.called < 0 ? this.mostCalled() : this.called;
            byId('callers-of').textContent = `Callers of ${shorten(this.nameOfCalled(), NAME_LIMIT)}`;
            byId('callees-of').textContent = 'What it called';
            const { model, base } = this.upright;
            this.showRows(this.callees, calleesOf(model, base, this.called));
        }
        const grid = this[/** @type {'methods' | 'lines' | 'callers'} */ (id)];
        const rows = this.hotRows(id).filter((row) => id === 'callers' || this.isFound(row));
        this.showRows(grid, rows);
    }

    /**
     * @param {Grid} grid
     * @param {HotRow[]} all
     */
    showRows(grid, all) {
        const { metric } = this;
        /** @param {HotRow} row */
        const hasTime = (row) => metric !== 'active' || row.total.active > 0 || row.total.active0 > 0;
        const rows = all.filter(hasTime);
        /** @param {HotRow} row */
        const change = (row) => row.total[metric] - (this.model.isDiff ? row.total[metric + '0'] : 0);
        rows.sort((a, b) => grid.compare(a, b) || change(b) - change(a) || a.key - b.key);
        grid.setRows(rows);
    }

    /**
     * A class or a package by its own name, as no frame of it stands for all.
     *
     * @param {HotRow} row
     */
    isFound(row) {
        if (this.found === null || this.level === 'method' || this.tab === 'lines') {
            return this.found === null || this.found.frames[row.frame] === 1;
        }
        const method = this.model.frames.methods[this.model.frames.method[row.frame]];
        return rollUpName(method, this.level).toLowerCase().includes(byId('search').value.trim().toLowerCase());
    }

    /** @param {Level} level */
    setLevel(level) {
        this.level = level;
        press('level', level);
        byId('show-callers').hidden = level !== 'method';
        this.showHot('methods');
    }

    mostCalled() {
        const { model, base } = this.upright;
        const rows = hotList(model, base, false);
        const measure = this.model.hasCalls ? 'calls' : this.metric;
        const most = rows.reduce((best, row) => (row.self[measure] > best.self[measure] ? row : best), rows[0]);
        return most === undefined ? -1 : this.model.frames.method[most.frame];
    }

    nameOfCalled() {
        return this.model.frames.methods[this.called]?.text ?? '';
    }

    /** @param {number} method */
    showCallers(method) {
        if (this.model.frames.methods[method].kind >= KIND.JAVA) {
            this.called = method;
            this.selectTab('callers');
        }
    }

    /** Shows the callers and callees of the frame that is marked in the graph. */
    showCallersOfFrame() {
        this.showCallers(this.model.frames.method[this.model.frame[this.flame.chosen]]);
    }

    async copyStack() {
        byId('copied').textContent = await copy(stackText(this.model, this.flame.chosen));
    }

    showCallersOfRow() {
        const row = this.methods.rows[Math.max(this.methods.current, 0)];
        if (row !== undefined) {
            this.showCallers(this.model.frames.method[row.frame]);
        }
    }

    // ---- search

    /** @param {boolean} keep true: the same text in another view, so the place in the finds stays */
    search(keep) {
        const started = performance.now();
        const within = this.tab === 'graph' ? this.zoom : this.base;
        this.found = searchFor(this.model, byId('search').value, within, this.metric);
        if (!keep) {
            this.findIndex = -1;
        }
        const { model, metric, found } = this;
        byId('found').textContent = found === null ? '' : wordsOfFinds(found, model.width(metric, within));
        byId('found').dataset.millis = (performance.now() - started).toFixed(1);
    }

    searchAndShow() {
        this.search(false);
        this.flame.found = this.found;
        this.flame.redraw();
        this.tree.draw();
        this.showHot(this.tab);
    }

    /** @param {number} step */
    nextFind(step) {
        const top = this.found?.top ?? [];
        if (top.length === 0) {
            return;
        }
        this.findIndex =
            this.findIndex < 0 && step < 0 ? top.length - 1 : (this.findIndex + step + top.length) % top.length;
        const node = top[this.findIndex];
        if (this.tab === 'tree') {
            this.reveal(node);
        } else if (this.tab === 'graph') {
            this.flame.choose(node);
        }
    }

    // ---- views, themes, keys

    /** @param {Tab} tab */
    selectTab(tab) {
        if (tab !== this.tab) {
            this.address.note();
        }
        this.tab = tab;
        for (const name of TABS) {
            const button = byId('tab-' + name);
            button.setAttribute('aria-selected', String(name === tab));
            button.tabIndex = name === tab ? 0 : -1;
            byId('panel-' + name).hidden = name !== tab;
        }
        byId('tip').hidden = true;
        this.search(true);
        if (tab === 'graph') {
            this.flame.found = this.found;
            this.flame.show();
        } else if (tab === 'tree') {
            this.zoom === this.base ? this.tree.draw() : this.reveal(this.zoom);
        } else if (HOT_TABS.includes(tab)) {
            this.showHot(tab);
        }
    }

    /** @param {string} theme */
    setTheme(theme) {
        byId('theme').textContent = 'Theme: ' + theme;
        remember('theme', theme);
        this.theme = theme;
        this.showTheme(theme);
    }

    /**
     * Paper has everything that is shown, and is light.
     *
     * @param {boolean} isPrinting
     */
    setPrinting(isPrinting) {
        for (const part of [this.flame, this.tree, this.methods, this.lines, this.callers, this.callees]) {
            part.isPrinting = isPrinting;
        }
        this.showTheme(isPrinting ? 'light' : this.theme);
        [this.tree, this.methods, this.lines, this.callers, this.callees].forEach((grid) => grid.draw());
    }

    /** @param {string} theme */
    showTheme(theme) {
        document.documentElement.dataset.theme = theme;
        const dark =
            theme === 'dark' || (theme === 'auto' && window.matchMedia('(prefers-color-scheme: dark)').matches);
        this.colours.setTheme(dark ? 'dark' : 'light');
        if (this.model) {
            this.strip.draw();
            this.showGraph();
        }
    }

    /** @param {string} direction */
    setDirection(direction) {
        press('direction', direction);
        this.flame.turn(direction);
        this.address.note();
    }

    clearSearch() {
        byId('search').value = '';
        this.searchAndShow();
    }
}

/**
 * @param {Finds} found
 * @param {number} time
 */
function wordsOfFinds(found, time) {
    if (found.count === 0) {
        return 'nothing found';
    }
    return `${percent(found.time, time)} in ${whole(found.count)} ${found.count === 1 ? 'place' : 'places'}`;
}

// A file opened in a strict browser has no storage: then nothing is remembered.
/**
 * @param {string} key
 * @param {string} value
 */
function remember(key, value) {
    try {
        localStorage.setItem('threads-sampler-' + key, value);
    } catch (denied) {
        // as above
    }
}

/** @param {string} key */
function remembered(key) {
    try {
        return localStorage.getItem('threads-sampler-' + key);
    } catch (denied) {
        return null;
    }
}

/** @param {any} failure what was thrown */
function fail(failure) {
    byId('fatal').textContent = 'The report cannot be shown: ' + failure.message;
    byId('fatal').hidden = false;
}

try {
    const app = new App();
    const models = modelsOf(JSON.parse(byId('report').textContent));
    app.start(models.sampled, models.counted);
    if (location.hash.length > 1) {
        app.address.restore();
    }
    byId('report').textContent = ''; // read; it need not be kept twice
    requestAnimationFrame(() =>
        setTimeout(() => {
            performance.mark('threads-sampler-painted');
            document.documentElement.dataset.ready = 'true';
        })
    );
    /** @type {HTMLMetaElement | null} */
    const meta = document.querySelector('meta[name="threads-sampler-live"]:not([content=""])');
    if (meta) {
        app.live = new Live(meta, {
            report: (data) => {
                const newer = modelsOf(data);
                app.replace(newer.sampled, newer.counted);
            },
        });
    }
} catch (failure) {
    fail(failure);
}

// SPDX-License-Identifier: Apache-2.0
// The page: what is looked at (group, zoom, time, search, view) and who shows it.

const byId = (id) => document.getElementById(id);
const TABS = ['graph', 'tree', 'methods', 'lines', 'account'];
const HOT_TABS = ['methods', 'lines'];
const HOT_PART = 0.1; // the hot path is open down to frames with this part of the group's time

class App {
    constructor() {
        this.colours = new Colours();
        this.base = 0;
        this.zoom = 0;
        this.zooms = [];
        this.metric = 'wall';
        this.tab = 'graph';
        this.open = new Set();
        this.found = null;
        this.findIndex = -1;
        this.flame = new Flame(byId('flame'), this.colours, {
            zoom: (node) => this.zoomTo(node),
            hover: (node, event) => this.showTip(node, event),
            choose: (node) => this.showDetail(node),
        });
        this.tree = new Grid(byId('tree'), 'Call tree', {
            sort: () => this.showTree(),
            activate: (node) => this.showInGraph(node),
            toggle: (node, open) => this.toggle(node, open),
        }, {
            level: (node) => this.levels.get(node),
            isOpen: (node) => this.open.has(node),
            canOpen: (node) => this.callTree.children(node).length > 0,
            parent: (node) => this.callTree.parent[node],
        });
        const hot = (id, label) => new Grid(byId(id), label, {
            sort: () => this.showHot(id),
            activate: (row) => this.searchInGraph(row),
        });
        this.methods = hot('methods', 'Hot methods');
        this.lines = hot('lines', 'Hot lines');
        this.account = new Account(byId('panel-account'));
        this.listen();
        this.setTheme(remembered('theme') ?? 'auto');
    }

    // ---- what is looked at

    setModel(model) {
        this.model = model;
        this.trees = new Map();
        this.hot = new Map();
        this.colours.assign(model);
        this.flame.setModel(model);
        if (!model.hasCpu) {
            this.metric = 'wall';
        }
        byId('metrics').hidden = !model.hasCpu;
        this.showInterval();
    }

    start(model) {
        this.setModel(model);
        this.base = this.zoom = model.groups.length === 1 ? model.groups[0].node : 0;
        this.setColumns();
        this.openHotPath();
        this.showAll();
        this.selectTab('graph');
    }

    /** A newer report in place of the old one; what is looked at stays, as far as it is still there. */
    replace(model) {
        const old = this.model;
        const base = model.find(old.path(this.base));
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
        Object.assign(this, { base, zoom, zooms, open: new Set(open) });
        this.flame.chosen = chosen;
        this.setColumns();
        this.search(true);
        this.showAll(row);
    }

    setBase(node) {
        this.base = this.zoom = node;
        this.zooms = [];
        this.openHotPath();
        this.search(true);
        this.showAll();
    }

    setMetric(metric) {
        if (metric !== this.metric && this.model.hasCpu) {
            this.metric = metric;
            this.setColumns();
            this.search(true);
            this.showAll();
        }
    }

    zoomTo(node) {
        if (node !== this.zoom) {
            this.zooms.push(this.zoom);
            this.zoom = node;
            this.search(true);
            this.showGraph();
        }
    }

    back() {
        if (this.zooms.length > 0) {
            this.zoom = this.zooms.pop();
            this.search(true);
            this.showGraph();
        }
    }

    resetZoom() {
        this.zoomTo(this.base);
        this.zooms = [];
        this.showGraph();
    }

    showInGraph(node) {
        this.selectTab('graph');
        this.zoomTo(node);
        this.flame.scroller.focus();
        this.flame.choose(node);
    }

    searchInGraph(row) {
        byId('search').value = this.model.frames.methods[this.model.frames.method[row.frame]].text;
        this.resetZoom();
        this.search(false);
        this.selectTab('graph');
        byId('search').focus();
    }

    // ---- showing it

    showAll(currentRow) {
        this.showGroups();
        for (const button of document.querySelectorAll('[data-metric]')) {
            button.setAttribute('aria-pressed', String(button.dataset.metric === this.metric));
        }
        this.showGraph();
        this.showTree(currentRow);
        this.showHot('methods');
        this.showHot('lines');
        this.account.show(this.model);
    }

    showInterval() {
        const { reports } = this.model;
        const one = (report) => span(report.fromMillis, report.tillMillis) + ' (' + duration(report.elapsedNanos) + ')';
        const threads = (report) => report.groups.reduce((sum, group) => sum + (group.threads ?? 0), 0);
        const host = byId('interval');
        if (!this.model.isDiff) {
            const counts = `${whole(threads(reports[0]))} threads in ${whole(reports[0].groups.length)} groups`;
            host.replaceChildren(element('b', '', one(reports[0])), element('span', '', counts));
            return;
        }
        const scaled = Math.abs(this.model.scale - 1) < 0.001 ? '' : `, scaled × ${this.model.scale.toFixed(2)} to the length of after`;
        host.replaceChildren(
            element('span', '', 'Before '), element('b', '', one(reports[0])), element('span', '', scaled),
            element('span', '', ' After '), element('b', '', one(reports[1])));
    }

    showGroups() {
        const { model, metric } = this;
        const entries = [{ node: 0, name: 'All threads' }, ...model.groups];
        const most = Math.max(...model.groups.map((group) => model.width(metric, group.node)), 1);
        byId('groups').replaceChildren(...entries.map((group) => this.groupOption(group, most)));
        byId('groups').setAttribute('aria-activedescendant', 'group-' + this.base);
    }

    groupOption(group, most) {
        const { model, metric } = this;
        const option = element('div', 'group');
        option.id = 'group-' + group.node;
        option.dataset.node = group.node;
        option.setAttribute('role', 'option');
        option.setAttribute('aria-selected', String(group.node === this.base));
        const delta = model.isDiff ? model.delta(metric, group.node) : 0;
        const time = model.isDiff ? (delta === 0 ? '±0' : signed(duration(delta), delta)) : duration(model.total[metric][group.node]);
        option.append(element('span', 'group-name', shorten(group.name, NAME_LIMIT)), element('span', 'group-time ' + tone(delta), time));
        if (group.node !== 0) {
            const bar = element('span', 'group-bar');
            bar.style.setProperty('--bar', ((100 * model.width(metric, group.node)) / most).toFixed(1) + '%');
            option.append(bar);
            const side = group.sides[group.sides.length - 1] ?? group.sides[0];
            const names = (side?.threadNames ?? []).map(clean).join(', ');
            option.title = shorten(`${group.name}\n${whole(side?.threads ?? 0)} threads: ${names}`, TITLE_LIMIT);
        }
        return option;
    }

    showGraph() {
        this.flame.found = this.found;
        this.flame.view(this.base, this.zoom, this.metric);
        byId('back').disabled = this.zooms.length === 0;
        byId('reset').disabled = this.zoom === this.base;
        this.showPath();
        this.showDetail(this.flame.chosen);
        byId('legend').replaceChildren(...this.colours.legend(this.model).map(([colour, words]) => {
            const item = element('li');
            const swatch = element('span', 'swatch');
            swatch.style.backgroundColor = colour;
            item.append(swatch, element('span', '', shorten(words, 60)));
            return item;
        }));
    }

    showPath() {
        const { model } = this;
        const share = percent(model.width(this.metric, this.zoom), model.width(this.metric, 0));
        byId('path').textContent = this.zoom === 0 ? '' : `${shorten(model.frames.short[model.frame[this.zoom]], 80)}: ${share} of all`;
    }

    /** One line about a node: of what it is a part, and how much. */
    describe(node) {
        const { model, metric } = this;
        if (model.isDiff) {
            const before = model.total[metric + '0'][node];
            const delta = model.delta(metric, node);
            return [`before ${duration(before)}, after ${duration(model.total[metric][node])}`,
                `${signed(duration(delta), delta)} (${signed(percent(delta, before), delta)})`];
        }
        const total = model.total[metric][node];
        const figures = [`${duration(total)} = ${percent(total, model.total[metric][this.base])}` +
            (this.zoom === this.base ? '' : `, ${percent(total, model.total[metric][this.zoom])} of the zoom`)];
        if (model.frames.kind[model.frame[node]] >= KIND.JAVA) {
            figures.push('own time ' + duration(model.self[metric][node]));
        }
        if (model.hasCpu) {
            const other = metric === 'wall' ? 'cpu' : 'wall';
            figures.push(`${other === 'cpu' ? 'CPU' : 'wall'} ${duration(model.total[other][node])}`);
        }
        figures.push(whole(model.total.samples[node]) + ' samples');
        return figures;
    }

    showDetail(node) {
        if (node < 0) {
            return;
        }
        byId('detail').replaceChildren(
            element('b', '', shorten(this.model.textOf(node), NAME_LIMIT)), element('span', '', this.describe(node).join(' · ')));
    }

    showTip(node, event) {
        const tip = byId('tip');
        tip.hidden = node < 0;
        if (node < 0) {
            return;
        }
        tip.replaceChildren(element('b', '', shorten(this.model.textOf(node), NAME_LIMIT)),
            ...this.describe(node).map((line) => element('span', '', line)));
        const x = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
        const below = event.clientY + 20;
        const y = below + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 10 : below;
        tip.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
    }

    // ---- tables

    setColumns() {
        const node = (i) => i;
        this.tree.setColumns(this.columns({
            self: (m, i) => this.model.self[m][i], total: (m, i) => this.model.total[m][i], id: node,
            text: (i) => this.model.textOf(i),
            tone: (i) => this.toneOf(this.model.frame[i]),
        }, 'total'), { key: this.model.isDiff ? 'delta' : 'percent', down: true });
        for (const [grid, byLine] of [[this.methods, false], [this.lines, true]]) {
            grid.setColumns(this.columns({
                self: (m, row) => row.self[m], total: (m, row) => row.total[m],
                text: (row) => (byLine ? this.model.frames.text[row.frame] : this.model.frames.methods[this.model.frames.method[row.frame]].text),
                tone: (row) => this.toneOf(row.frame),
            }, 'self'), { key: this.model.isDiff ? 'ownDelta' : 'percent', down: true });
        }
    }

    toneOf(frame) {
        const kind = this.model.frames.kind[frame];
        const found = this.found?.frames[frame] === 1 ? ' found' : '';
        return (kind === KIND.JDK ? 'jdk' : kind === KIND.PSEUDO ? 'pseudo' : kind === KIND.GROUP ? 'is-group' : '') + found;
    }

    columns(get, main) {
        return this.model.isDiff ? this.diffColumns(get, main) : this.singleColumns(get, main);
    }

    singleColumns(get, main) {
        const { metric } = this;
        const everything = () => this.model.total[metric][this.base];
        const time = (key, title, hint, value) => ({ key, title, hint, value, text: (row) => millis(value(row)) });
        const share = (row) => get[main](metric, row);
        const columns = [
            { key: 'percent', title: 'Percent', hint: `Share of the group's ${metric === 'cpu' ? 'CPU' : 'wall'} time`,
                value: share, text: (row) => percent(share(row), everything()), bar: (row) => share(row) / everything() },
            time('wall', 'Cumulative ms', 'Time in the frame and in all it called', (row) => get.total('wall', row)),
            time('self', 'Method ms', 'Time in the frame itself', (row) => get.self('wall', row)),
        ];
        if (this.model.hasCpu) {
            columns.push(time('cpu', 'CPU ms', 'Time on a processor, cumulative', (row) => get.total('cpu', row)));
        }
        if (this.model.hasCpu && main === 'self') {
            columns.push(time('ownCpu', 'Own CPU ms', 'Time on a processor in the frame itself', (row) => get.self('cpu', row)));
        }
        const samples = (row) => get[main]('samples', row);
        columns.push({ key: 'samples', title: 'Samples', hint: 'How often it was seen', value: samples, text: (row) => whole(samples(row)) });
        columns.push({ key: 'name', title: 'Frame', hint: 'Name', name: true, value: get.text, text: get.text, tone: get.tone });
        return columns;
    }

    diffColumns(get, main) {
        const now = this.metric;
        const then = now + '0';
        const column = (key, title, hint, value) => ({ key, title, hint, value, text: (row) => millis(value(row)) });
        const change = (key, title, hint, value) => ({ key, title, hint, value,
            text: (row) => signed(millis(value(row)), value(row)), tone: (row) => tone(value(row)) });
        const part = main === 'self' ? get.self : get.total;
        const relative = (row) => (part(now, row) - part(then, row)) / (part(then, row) || Number.MIN_VALUE);
        const columns = [
            change('delta', 'Change ms', 'After less before, with all that was called', (row) => get.total(now, row) - get.total(then, row)),
            change('ownDelta', 'Own change ms', 'After less before, the frame itself', (row) => get.self(now, row) - get.self(then, row)),
            { key: 'relative', title: 'Change', hint: 'In percent of before', value: relative,
                text: (row) => part(then, row) > 0 ? signed(percent(part(now, row) - part(then, row), part(then, row)), relative(row)) : part(now, row) > 0 ? 'new' : '–',
                tone: (row) => tone(relative(row)) },
            column('before', main === 'self' ? 'Own before ms' : 'Before ms', 'Scaled to the length of after', (row) => part(then, row)),
            column('after', main === 'self' ? 'Own after ms' : 'After ms', 'As measured', (row) => part(now, row)),
        ];
        columns.push({ key: 'name', title: 'Frame', hint: 'Name', name: true, value: get.text, text: get.text, tone: get.tone });
        return columns;
    }

    get callTree() {
        const compact = byId('compact').checked;
        const key = this.metric + compact;
        if (!this.trees.has(key)) {
            this.trees.set(key, callTree(this.model, this.metric, compact));
        }
        return this.trees.get(key);
    }

    showTree(current) {
        const tree = this.callTree;
        const rows = [];
        this.levels = new Map();
        const order = (nodes) => [...nodes].sort((a, b) => -this.tree.compare(a, b) || b - a); // last first: a stack
        const stack = this.base === 0 ? order(tree.children(0)).map((node) => [node, 1]) : [[this.base, 1]];
        while (stack.length > 0) {
            const [node, level] = stack.pop();
            rows.push(node);
            this.levels.set(node, level);
            if (this.open.has(node)) {
                order(tree.children(node)).forEach((child) => stack.push([child, level + 1]));
            }
        }
        this.tree.setRows(rows, current ?? this.tree.rows[this.tree.current]);
    }

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

    hotRows(id) {
        const key = id + this.base;
        if (!this.hot.has(key)) {
            this.hot.set(key, hotList(this.model, this.base, id === 'lines'));
        }
        return this.hot.get(key);
    }

    showHot(id) {
        if (this.tab !== id || !HOT_TABS.includes(id)) {
            return; // made when it is looked at
        }
        const grid = this[id];
        const rows = this.hotRows(id).filter((row) => this.found === null || this.found.frames[row.frame] === 1);
        const { metric } = this;
        const change = (row) => row.total[metric] - (this.model.isDiff ? row.total[metric + '0'] : 0);
        rows.sort((a, b) => grid.compare(a, b) || change(b) - change(a) || a.key - b.key);
        grid.setRows(rows);
    }

    // ---- search

    /** @param keep true: the same text in another view, so the place in the finds stays */
    search(keep) {
        const started = performance.now();
        const within = this.tab === 'graph' ? this.zoom : this.base;
        this.found = searchFor(this.model, byId('search').value, within, this.metric);
        if (!keep) {
            this.findIndex = -1;
        }
        const { model, metric, found } = this;
        byId('found').textContent = found === null ? ''
            : found.top.length === 0 ? 'nothing found'
                : `${percent(found.time, model.width(metric, within))} in ${whole(found.count)} ${found.count === 1 ? 'place' : 'places'}`;
        byId('found').dataset.millis = (performance.now() - started).toFixed(1);
    }

    searchAndShow() {
        this.search(false);
        this.flame.found = this.found;
        this.flame.redraw();
        this.tree.draw();
        this.showHot(this.tab);
    }

    nextFind(step) {
        const top = this.found?.top ?? [];
        if (top.length === 0) {
            return;
        }
        this.findIndex = this.findIndex < 0 && step < 0 ? top.length - 1 : (this.findIndex + step + top.length) % top.length;
        const node = top[this.findIndex];
        if (this.tab === 'tree') {
            this.reveal(node);
        } else if (this.tab === 'graph') {
            this.flame.choose(node);
        }
    }

    // ---- views, themes, keys

    selectTab(tab) {
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
        } else if (tab !== 'account') {
            this.showHot(tab);
        }
    }

    setTheme(theme) {
        document.documentElement.dataset.theme = theme;
        byId('theme').textContent = 'Theme: ' + theme;
        remember('theme', theme);
        const dark = theme === 'dark' || (theme === 'auto' && window.matchMedia('(prefers-color-scheme: dark)').matches);
        this.colours.setTheme(dark ? 'dark' : 'light');
        if (this.model) {
            this.showGraph();
        }
    }

    setDirection(direction) {
        for (const button of document.querySelectorAll('[data-direction]')) {
            button.setAttribute('aria-pressed', String(button.dataset.direction === direction));
        }
        this.flame.turn(direction);
    }

    listen() {
        const click = (id, action) => byId(id).addEventListener('click', action);
        click('back', () => this.back());
        click('reset', () => this.resetZoom());
        click('theme', () => this.setTheme({ auto: 'light', light: 'dark', dark: 'auto' }[document.documentElement.dataset.theme]));
        click('help-open', () => byId('help').showModal());
        click('collapse', () => { this.open.clear(); this.showTree(); });
        click('hot-path', () => this.reveal(this.openHotPath()));
        byId('compact').addEventListener('change', () => this.showTree());
        TABS.forEach((tab) => click('tab-' + tab, () => this.selectTab(tab)));
        document.querySelectorAll('[data-metric]').forEach((b) => b.addEventListener('click', () => this.setMetric(b.dataset.metric)));
        document.querySelectorAll('[data-direction]').forEach((b) => b.addEventListener('click', () => this.setDirection(b.dataset.direction)));
        window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.setTheme(document.documentElement.dataset.theme));
        byId('search').addEventListener('input', () => this.searchAndShow());
        byId('search').addEventListener('keydown', (event) => this.searchKey(event));
        byId('tabs').addEventListener('keydown', (event) => this.tabKey(event));
        byId('groups').addEventListener('keydown', (event) => this.groupKey(event));
        byId('groups').addEventListener('click', (event) => {
            const option = event.target.closest('.group');
            if (option) {
                this.setBase(Number(option.dataset.node));
            }
        });
        document.addEventListener('keydown', (event) => this.key(event));
    }

    searchKey(event) {
        if (event.key === 'Enter') {
            event.preventDefault();
            this.nextFind(event.shiftKey ? -1 : 1);
        } else if (event.key === 'Escape') {
            event.stopPropagation();
            event.preventDefault();
            byId('search').value === '' ? byId('search').blur() : (byId('search').value = '');
            this.searchAndShow();
        }
    }

    tabKey(event) {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) {
            event.preventDefault();
            this.selectTab(TABS[(TABS.indexOf(this.tab) + step + TABS.length) % TABS.length]);
            byId('tab-' + this.tab).focus();
        }
    }

    groupKey(event) {
        const options = [...byId('groups').children];
        const at = options.findIndex((option) => Number(option.dataset.node) === this.base);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: options.length - 1 }[event.key];
        if (to !== undefined) {
            event.preventDefault();
            const option = options[Math.max(0, Math.min(options.length - 1, to))];
            this.setBase(Number(option.dataset.node));
            byId(option.id).scrollIntoView({ block: 'nearest' });
        }
    }

    key(event) {
        byId('tip').hidden = true; // who uses keys does not look at the mouse
        if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches('input[type=search]') || byId('help').open) {
            return;
        }
        const actions = {
            '/': () => { byId('search').focus(); byId('search').select(); },
            '?': () => byId('help').showModal(),
            'Escape': () => (byId('search').value !== '' && this.zoom === this.base ? this.clearSearch() : this.resetZoom()),
            'Backspace': () => this.back(),
            'w': () => this.setMetric('wall'),
            'c': () => this.setMetric('cpu'),
            'i': () => this.setDirection(this.flame.direction === 'icicle' ? 'flame' : 'icicle'),
        };
        TABS.forEach((tab, i) => (actions[i + 1] = () => this.selectTab(tab)));
        if (actions[event.key]) {
            event.preventDefault();
            actions[event.key]();
        }
    }

    clearSearch() {
        byId('search').value = '';
        this.searchAndShow();
    }
}

function tone(delta) {
    return delta > 0 ? 'slower' : delta < 0 ? 'faster' : '';
}

// A file opened in a strict browser has no storage: then nothing is remembered.
function remember(key, value) {
    try {
        localStorage.setItem('threads-sampler-' + key, value);
    } catch (denied) {
        // as above
    }
}

function remembered(key) {
    try {
        const value = localStorage.getItem('threads-sampler-' + key);
        return ['auto', 'light', 'dark'].includes(value) ? value : null;
    } catch (denied) {
        return null;
    }
}

function fail(failure) {
    byId('fatal').textContent = 'The report cannot be shown: ' + failure.message;
    byId('fatal').hidden = false;
}

try {
    const app = new App();
    app.start(modelOf(JSON.parse(byId('report').textContent)));
    byId('report').textContent = ''; // read; it need not be kept twice
    requestAnimationFrame(() => setTimeout(() => {
        performance.mark('threads-sampler-painted');
        document.documentElement.dataset.ready = 'true';
    }));
    const meta = document.querySelector('meta[name="threads-sampler-live"]:not([content=""])');
    if (meta) {
        new Live(meta, { report: (data) => app.replace(modelOf(data)) });
    }
} catch (failure) {
    fail(failure);
}

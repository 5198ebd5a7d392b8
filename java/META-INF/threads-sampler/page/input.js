// SPDX-License-Identifier: Apache-2.0
// What a person does: buttons and keys. Nothing is shown here; the page's methods are called.

class Input {
    /** @param {App} app */
    constructor(app) {
        this.app = app;
        this.listen();
    }

    listen() {
        /**
         * @param {string} id
         * @param {() => void} action
         */
        const click = (id, action) => byId(id).addEventListener('click', action);
        click('back', () => this.app.back());
        click('reset', () => this.app.resetZoom());
        click('theme', () =>
            this.app.setTheme({ auto: 'light', light: 'dark', dark: 'auto' }[/** @type {'auto'} */ (this.app.theme)])
        );
        click('frame-callers', () => this.app.showCallersOfFrame());
        click('copy-stack', () => this.app.copyStack());
        click('help-open', () => byId('help').showModal());
        click('collapse', () => {
            this.app.open.clear();
            this.app.showTree();
        });
        click('hot-path', () => this.app.reveal(this.app.openHotPath()));
        byId('compact').addEventListener('change', () => this.app.showTree());
        TABS.forEach((tab) => click('tab-' + tab, () => this.app.selectTab(tab)));
        /**
         * @param {string} name of the data attribute of some buttons
         * @param {(value: any) => void} action
         */
        const each = (name, action) =>
            dataElements(name).forEach((b) => b.addEventListener('click', () => action(b.dataset[name])));
        each('metric', (metric) => this.app.setMetric(metric));
        each('paint', (paint) => this.app.setPaint(paint));
        each('data', (data) => this.app.setData(data));
        each('level', (level) => this.app.setLevel(level));
        each('direction', (direction) => this.app.setDirection(direction));
        each('download', (format) => {
            byId('downloads').hidePopover();
            download(this.app, format).catch(fail);
        });
        click('show-callers', () => this.app.showCallersOfRow());
        window
            .matchMedia('(prefers-color-scheme: dark)')
            .addEventListener('change', () => this.app.showTheme(this.app.theme));
        // The first two events come before a page is laid out for paper, the third one if tools show it so.
        window.addEventListener('beforeprint', () => this.app.setPrinting(true));
        window.addEventListener('afterprint', () => this.app.setPrinting(false));
        window.matchMedia('print').addEventListener('change', ({ matches }) => this.app.setPrinting(matches));
        byId('search').addEventListener('input', () => this.app.searchAndShow());
        byId('search').addEventListener('change', () => this.app.address.note());
        byId('search').addEventListener('keydown', (event) => this.searchKey(event));
        byId('tabs').addEventListener('keydown', (event) => this.tabKey(event));
        byId('groups').addEventListener('keydown', (event) => this.groupKey(event));
        byId('groups').addEventListener('click', (event) => {
            const target = /** @type {Element} */ (event.target);
            const option = /** @type {HTMLElement | null} */ (target.closest('.group'));
            if (option) {
                this.app.setBase(Number(option.dataset.node));
            }
        });
        document.addEventListener('keydown', (event) => this.key(event));
        // Speech input and unsteady hands press single keys by accident.
        byId('shortcuts').checked = remembered('shortcuts') !== 'off';
        byId('shortcuts').addEventListener('change', () => remember('shortcuts', byId('shortcuts').checked ? 'on' : 'off'));
    }

    /** @param {KeyboardEvent} event */
    searchKey(event) {
        if (event.key === 'Enter') {
            event.preventDefault();
            this.app.nextFind(event.shiftKey ? -1 : 1);
        } else if (event.key === 'Escape') {
            event.stopPropagation();
            event.preventDefault();
            byId('search').value === '' ? byId('search').blur() : (byId('search').value = '');
            this.app.searchAndShow();
        }
    }

    /** @param {KeyboardEvent} event */
    tabKey(event) {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) {
            event.preventDefault();
            const tabs = TABS.filter((tab) => !byId('tab-' + tab).hidden);
            this.app.selectTab(tabs[(tabs.indexOf(this.app.tab) + step + tabs.length) % tabs.length]);
            byId('tab-' + this.app.tab).focus();
        }
    }

    /** @param {KeyboardEvent} event */
    groupKey(event) {
        const options = /** @type {HTMLElement[]} */ ([...byId('groups').children]);
        const at = options.findIndex((option) => Number(option.dataset.node) === this.app.base);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: options.length - 1 }[event.key];
        if (to !== undefined) {
            event.preventDefault();
            const option = options[Math.max(0, Math.min(options.length - 1, to))];
            this.app.setBase(Number(option.dataset.node));
            byId(option.id).scrollIntoView({ block: 'nearest' });
        }
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        byId('tip').hidden = true; // a person who uses keys does not watch the mouse
        if (
            event.ctrlKey ||
            event.altKey ||
            event.metaKey ||
            (event.key.length === 1 && !byId('shortcuts').checked) ||
            /** @type {Element} */ (event.target).matches('input[type=search], input[type=text]') ||
            byId('help').open
        ) {
            return;
        }
        /** @type {{ [key: string]: () => void }} */
        const actions = {
            '/': () => {
                byId('search').focus();
                byId('search').select();
            },
            '?': () => byId('help').showModal(),
            Escape: () =>
                byId('search').value !== '' && this.app.zoom === this.app.base
                    ? this.app.clearSearch()
                    : this.app.resetZoom(),
            Backspace: () => this.app.back(),
            a: () => this.app.setMetric('active'),
            w: () => this.app.setMetric('wall'),
            s: () => this.app.showCallersOfFrame(),
            d: () => byId('downloads').showPopover(),
            y: () => this.app.copyStack(),
            f: () => {
                this.app.filterBar.open(true);
                byId('filter-hide').focus();
            },
            t: () => this.app.live?.nextWindow(),
            p: () => this.app.setPaint(this.app.colours.paint === 'state' ? 'package' : 'state'),
            c: () => this.app.setMetric('cpu'),
            n: () => this.app.setMetric('calls'),
            i: () => this.app.setDirection(this.app.flame.direction === 'icicle' ? 'flame' : 'icicle'),
        };
        TABS.filter((tab) => !byId('tab-' + tab).hidden).forEach(
            (tab) => (actions[TABS.indexOf(tab) + 1] = () => this.app.selectTab(tab))
        );
        if (actions[event.key]) {
            event.preventDefault();
            actions[event.key]();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// The view in the fragment of the page's address: a link shows what its sender saw, and the browser's back and
// forward go through the views.

const PATH_LIMIT = 4000; // characters of a zoom's path; a longer one is not kept

/** @param {App} app */
function addressOf(app) {
    const view = new URLSearchParams();
    /**
     * @param {string} key
     * @param {string} value
     * @param {string} usual left out
     */
    const put = (key, value, usual) => value !== usual && view.set(key, value);
    const path = app.model.path(app.zoom).join('\n');
    put('data', app.data, 'sampled');
    put('measure', app.metric, app.usualMetric);
    put('colours', app.colours.paint, 'state');
    put('direction', app.flame.direction, 'icicle');
    put('view', app.tab, 'graph');
    put('group', app.model.path(app.base).join('\n'), app.model.path(app.usualBase).join('\n'));
    put('zoom', path.length > PATH_LIMIT || app.zoom === app.base ? '' : path, '');
    put('search', byId('search').value, '');
    for (const [key, value] of Object.entries(app.filter)) {
        put(key, value instanceof RegExp ? value.source : value ? '1' : '', '');
    }
    return view.toString();
}

class Address {
    /** @param {App} app */
    constructor(app) {
        this.app = app;
        this.restoring = false;
        window.addEventListener('popstate', () => this.restore());
    }

    /** After the methods that change the view have all returned, once. */
    note() {
        if (!this.pending && !this.restoring) {
            this.pending = true;
            queueMicrotask(() => {
                this.pending = false;
                const text = addressOf(this.app);
                if (text !== location.hash.slice(1)) {
                    history.pushState(null, '', '#' + text);
                }
            });
        }
    }

    restore() {
        const view = new URLSearchParams(location.hash.slice(1));
        const { app } = this;
        this.restoring = true;
        app.setData(view.get('data') === 'counted' ? 'counted' : 'sampled');
        app.filterBar.write(view);
        app.filterBar.read();
        app.setMetric(/** @type {Metric} */ (view.get('measure') ?? app.usualMetric));
        app.setPaint(view.get('colours') === 'package' ? 'package' : 'state');
        app.setDirection(view.get('direction') === 'flame' ? 'flame' : 'icicle');
        const group = view.get('group');
        app.setBase(group === null ? app.usualBase : app.model.find(group.split('\n')));
        byId('search').value = view.get('search') ?? '';
        const tab = TABS.find((name) => name === view.get('view') && !byId('tab-' + name).hidden);
        app.selectTab(tab ?? 'graph');
        const zoom = view.get('zoom');
        if (zoom !== null) {
            app.zoomTo(app.model.find(zoom.split('\n')));
        }
        app.searchAndShow();
        this.restoring = false;
    }
}

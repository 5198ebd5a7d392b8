// SPDX-License-Identifier: Apache-2.0
// The list of thread groups, most time first, with all threads above them.

/** @param {View} view */
function groupOptions(view) {
    const { model, metric } = view;
    const most = model.groups.reduce((max, group) => Math.max(max, model.width(metric, group.node)), 1);
    const all = groupOption(view, 0, 'All threads');
    const groups = model.groups.map((group) => {
        const option = groupOption(view, group.node, group.name);
        const bar = element('span', 'group-bar');
        bar.style.setProperty('--bar', ((100 * model.width(metric, group.node)) / most).toFixed(1) + '%');
        option.append(bar);
        option.title = shorten(group.name + '\n' + threadsOf(group), TITLE_LIMIT);
        return option;
    });
    return [all, ...groups];
}

/**
 * @param {View} view
 * @param {number} node
 * @param {string} name
 */
function groupOption(view, node, name) {
    const { model, metric, base } = view;
    const option = element('div', 'group');
    option.id = 'group-' + node;
    option.dataset.node = /** @type {any} */ (node);
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', String(node === base));
    const delta = model.isDiff ? visible(model.delta(metric, node), metric) : 0;
    const time = model.isDiff ? changeOf(delta, metric) : amountText(metric, model.total[metric][node]);
    option.append(
        element('span', 'group-name', shorten(name, NAME_LIMIT)),
        element('span', 'group-time ' + tone(delta), time)
    );
    return option;
}

/**
 * Without the JVM's own threads, as the summary counts.
 *
 * @param {SamplerReport} report
 */
function threadCounts({ summary, groups }) {
    const own = groups.filter(({ name }) => name !== '[JVM]');
    return {
        threads: summary?.threads ?? own.reduce((sum, group) => sum + (group.threads ?? 0), 0),
        groups: summary?.groups ?? own.length,
    };
}

/** @param {ModelGroup} group */
function threadsOf(group) {
    const side = /** @type {ReportGroup} */ (group.sides[group.sides.length - 1] ?? group.sides[0]);
    const groups = side.joinedGroups ? ' of ' + whole(side.joinedGroups) + ' groups' : '';
    return whole(side.threads ?? 0) + ' threads' + groups + ': ' + (side.threadNames ?? []).map(clean).join(', ');
}

/**
 * The scale of a difference leaves changes that are written as 0.
 *
 * @param {number} delta
 * @param {Metric} metric
 */
function visible(delta, metric) {
    return Math.abs(delta) < (metric === 'calls' ? 0.5 : 50_000) ? 0 : delta;
}

/**
 * @param {number} delta
 * @param {Metric} [metric]
 */
function changeOf(delta, metric = 'wall') {
    return delta === 0 ? '±0' : signed(amountText(metric, delta), delta);
}

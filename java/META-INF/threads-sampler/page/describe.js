// SPDX-License-Identifier: Apache-2.0
// What there is to say about a node of the graph.

/**
 * @param {View} view
 * @param {number} node
 * @returns {string[]} of what it is a part, and how much
 */
function describe(view, node) {
    const { model, metric } = view;
    if (model.isDiff) {
        const before = model.total[metric + '0'][node];
        const delta = model.delta(metric, node);
        return [
            `before ${amountText(metric, before)}, after ${amountText(metric, model.total[metric][node])}`,
            `${signed(amountText(metric, delta), delta)} (${signed(percent(delta, before), delta)})`,
            ...describeChangeError(model, metric, node, delta),
        ];
    }
    const total = model.total[metric][node];
    const figures = [
        `${amountText(metric, total)} = ${percent(total, model.total[metric][view.base])}` +
            (view.zoom === view.base ? '' : `, ${percent(total, model.total[metric][view.zoom])} of the zoom`),
    ];
    const isActive = metric === 'active';
    // The bar of wall time is that of active time only if nothing of it is idle.
    const half = isActive && model.total.wall[node] === total ? model.half.wall : model.half[metric];
    const bar = errorBar(total, half?.[node] ?? NaN);
    if (bar !== '') {
        figures.push(bar === 'exact' ? bar : `${bar} ms (95 %)`);
    }
    if (model.frames.kind[model.frame[node]] >= KIND.JAVA && metric !== 'calls' && model.upright === model) {
        figures.push('own time ' + duration(model.self[metric][node]));
    }
    if (model.hasCpu || metric === 'calls') {
        const other = metric === 'wall' || isActive ? 'cpu' : 'wall';
        figures.push(`${other === 'cpu' ? 'CPU' : 'wall'} ${duration(model.total[other][node])}`);
    }
    if (model.hasCalls) {
        return figures.concat(describeCalls(model, node));
    }
    if (model.hasStates) {
        const states = model.statesOf('wall', node).filter(({ time }) => time > 0);
        figures.push(...states.map(({ state, time }) => `${STATE_WORDS[state]} ${duration(time)}`));
    }
    figures.push(whole(model.total.samples[node]) + ' samples');
    const counted = model.rowCalls.get(node);
    if (counted !== undefined) {
        figures.push(
            'called ' + numberOf(counted.calls, 'time') + (counted.paths > 1 ? ` over ${counted.paths} paths` : '')
        );
    }
    return figures;
}

/**
 * @param {Model} model
 * @param {Metric} metric
 * @param {number} node
 * @param {number} delta
 * @returns {string[]}
 */
function describeChangeError(model, metric, node, delta) {
    const half = model.half[metric]?.[node] ?? NaN;
    if (!(half > 0)) {
        return [];
    }
    return [half >= Math.abs(delta) ? 'may be chance' : `change ${errorBar(delta, half)} ms (95 %)`];
}

/**
 * @param {Model} model
 * @param {number} node
 * @returns {string[]}
 */
function describeCalls(model, node) {
    const calls = model.callsOf(node);
    const time = model.rootTimes.get(node);
    const group = model.groups.find((one) => one.node === node);
    const hooks = group?.isCut ? 0 : (group?.sides[0]?.hookNanos ?? 0);
    const figures = [];
    if (group !== undefined) {
        figures.push(numberOf(model.total.calls[node], 'call'));
    } else if (node > 0) {
        figures.push('called ' + numberOf(calls, 'time'));
    }
    if (time !== undefined) {
        figures.push(`${micros(time.total / time.calls)} µs per call, from ${micros(time.min)} to ${micros(time.max)}`);
    } else if (group === undefined && model.upright === model && timePerCall(model.total.wall[node], calls) !== '') {
        figures.push(timePerCall(model.total.wall[node], calls) + ' µs per call');
    }
    const since = model.countedSince.get(node);
    if (since !== undefined) {
        figures.push(sinceText(since, zoneOf(model.reports[0])));
    }
    if (hooks > 0) {
        figures.push('hook share ' + percent(hooks, hooks + model.total.wall[node]));
    }
    return figures;
}

/**
 * "counted since 12:03:07, at most 330 calls missing", as in the text report.
 *
 * @param {CountedSince} since
 * @param {Zone} zone
 */
function sinceText({ millis, missing }, { minutes }) {
    const lack = missing < 0 ? '' : `, at most ${numberOf(missing, 'call')} missing`;
    return `counted since ${clockOf(new Date(millis), minutes)}${lack}`;
}

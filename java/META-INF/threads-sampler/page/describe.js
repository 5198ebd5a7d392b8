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
        ];
    }
    const total = model.total[metric][node];
    const figures = [
        `${amountText(metric, total)} = ${percent(total, model.total[metric][view.base])}` +
            (view.zoom === view.base ? '' : `, ${percent(total, model.total[metric][view.zoom])} of the zoom`),
    ];
    if (model.frames.kind[model.frame[node]] >= KIND.JAVA && metric !== 'calls') {
        figures.push('own time ' + duration(model.self[metric][node]));
    }
    if (model.hasCpu || metric === 'calls') {
        const other = metric === 'wall' ? 'cpu' : 'wall';
        figures.push(`${other === 'cpu' ? 'CPU' : 'wall'} ${duration(model.total[other][node])}`);
    }
    return figures.concat(model.hasCalls ? describeCalls(model, node) : [whole(model.total.samples[node]) + ' samples']);
}

/**
 * @param {Model} model
 * @param {number} node
 * @returns {string[]}
 */
function describeCalls(model, node) {
    const calls = model.self.calls[node];
    const time = model.rootTimes.get(node);
    const group = model.groups.find((one) => one.node === node);
    const hooks = group?.sides[0]?.hookNanos ?? 0;
    const figures = [];
    if (group !== undefined) {
        figures.push(whole(model.total.calls[node]) + ' calls');
    } else if (node > 0) {
        figures.push('called ' + whole(calls) + (calls === 1 ? ' time' : ' times'));
    }
    if (time !== undefined) {
        figures.push(`${micros(time.total / time.calls)} µs per call, from ${micros(time.min)} to ${micros(time.max)}`);
    } else if (timePerCall(model.total.wall[node], calls) !== '') {
        figures.push(timePerCall(model.total.wall[node], calls) + ' µs per call');
    }
    if (hooks > 0) {
        figures.push('hook share ' + percent(hooks, hooks + model.total.wall[node]));
    }
    return figures;
}

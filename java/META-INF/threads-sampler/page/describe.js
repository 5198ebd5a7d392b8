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
            `before ${duration(before)}, after ${duration(model.total[metric][node])}`,
            `${signed(duration(delta), delta)} (${signed(percent(delta, before), delta)})`,
        ];
    }
    const total = model.total[metric][node];
    const figures = [
        `${duration(total)} = ${percent(total, model.total[metric][view.base])}` +
            (view.zoom === view.base ? '' : `, ${percent(total, model.total[metric][view.zoom])} of the zoom`),
    ];
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

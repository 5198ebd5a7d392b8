// SPDX-License-Identifier: Apache-2.0
// What leaves the page: files made of what is shown, and the stack of a frame as text.

/**
 * The stacks that are shown, a line each with its time in nanoseconds, as flame graph tools read them.
 *
 * @param {Model} model
 * @param {Metric} metric
 */
function collapsed(model, metric) {
    const lines = [];
    for (let i = 1; i < model.count; i++) {
        const time = Math.round(model.self[metric][i]);
        if (time > 0) {
            const names = model.path(i).map((name) => name.replaceAll(';', ','));
            lines.push(names.join(';') + ' ' + time + '\n');
        }
    }
    return lines;
}

/**
 * The innermost frame first, as in a stack trace.
 *
 * @param {Model} model
 * @param {number} node
 */
function stackText(model, node) {
    const [group, ...frames] = model.path(node);
    return [`"${group ?? ''}"`, ...frames.reverse().map((name) => '    at ' + name)].join('\n') + '\n';
}

/**
 * @param {string} name
 * @param {string[]} parts
 * @param {string} type
 */
function download(name, parts, type) {
    const link = element('a');
    link.download = name;
    link.href = URL.createObjectURL(new Blob(parts, { type }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
}

/** @param {string} text */
async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        return 'Copied';
    } catch (denied) {
        return 'The browser does not let this page copy';
    }
}

// SPDX-License-Identifier: Apache-2.0
// Saves what is shown as files in the library's formats, and copies the stack of a frame as text.

const TEXT_WIDTH = 150; // columns before the figures of a row
const TEXT_DEPTH = 500; // levels; what is deeper is indented no further
const UNITS = { calls: 'count', samples: 'count' }; // of other measures: nanoseconds

/**
 * Each node that has an amount of its own, with its group and its frames, the outermost first.
 *
 * @param {Model} model
 * @param {(node: number) => boolean} has
 * @returns {Generator<{ node: number, group: number, frames: number[] }>}
 */
function* stacksOf({ count, parent, frame }, has) {
    for (let node = 1; node < count; node++) {
        if (has(node)) {
            const frames = [];
            let at = node;
            for (; parent[at] > 0; at = parent[at]) {
                frames.push(frame[at]);
            }
            yield { node, group: frame[at], frames: frames.reverse() };
        }
    }
}

/**
 * A stack a line, with its own amount, as flame graph tools read them; of a difference with those before and after it.
 *
 * @param {Model} model
 * @param {Metric} metric
 */
function collapsed(model, metric) {
    const after = model.self[metric];
    const before = model.self[metric + '0'];
    const lines = [];
    for (const { node, group, frames } of stacksOf(model, (i) => after[i] > 0 || before?.[i] > 0)) {
        const names = [group, ...frames].map((frame) => model.frames.text[frame].replaceAll(';', ','));
        const amounts = before === undefined ? [after[node]] : [before[node] / model.scale, after[node]];
        lines.push(`${names.join(';')} ${amounts.map(Math.round).join(' ')}\n`);
    }
    return lines;
}

/**
 * The parts of a frame, for formats that have them apart.
 *
 * @param {Frames} frames
 * @param {number} frame
 */
function frameParts({ text, short, method, methods }, frame) {
    const name = methods[method[frame]].text;
    const [, file, line] = /^\(([^:()]+\.[^:()]+)(?::(\d+))?\)$/.exec(text[frame].slice(name.length)) ?? [];
    const folder = name.slice(0, name.length - short[frame].length).replaceAll('.', '/');
    return { name, file: file && folder + file, line: Number(line ?? 0) };
}

/**
 * The file format of speedscope: a profile for each thread group.
 *
 * @param {Model} model
 * @param {Metric} metric
 */
function speedscope(model, metric) {
    const unit = metric === 'calls' ? 'none' : 'nanoseconds';
    /** @type {Map<number, any>} */
    const profiles = new Map();
    for (const { node, group, frames } of stacksOf(model, (i) => model.self[metric][i] > 0)) {
        const name = model.frames.text[group];
        const profile = profiles.get(group) ?? { type: 'sampled', name, unit, startValue: 0, endValue: 0, samples: [], weights: [] };
        profiles.set(group, profile);
        const weight = Math.round(model.self[metric][node]);
        profile.samples.push(frames);
        profile.weights.push(weight);
        profile.endValue += weight;
    }
    const shared = { frames: model.frames.text.map((_, frame) => frameParts(model.frames, frame)) };
    const $schema = 'https://www.speedscope.app/file-format-schema.json';
    return [JSON.stringify({ $schema, name: metric, shared, profiles: [...profiles.values()] })];
}

/** Messages of protocol buffers, field by field. */
class Message {
    bytes = new Uint8Array(256);
    length = 0;

    /** @param {number} byte */
    push(byte) {
        if (this.length === this.bytes.length) {
            const more = new Uint8Array(2 * this.length);
            more.set(this.bytes);
            this.bytes = more;
        }
        this.bytes[this.length++] = byte;
    }

    /** @param {number} n not negative; as exact as the number is */
    varint(n) {
        for (; n >= 128; n = Math.floor(n / 128)) {
            this.push((n % 128) + 128);
        }
        this.push(n);
        return this;
    }

    /**
     * @param {number} field
     * @param {number} n 0, which readers take for granted, is not written
     */
    number(field, n) {
        return n === 0 ? this : this.varint(field * 8).varint(n);
    }

    /**
     * @param {number} field
     * @param {Uint8Array} bytes
     */
    block(field, bytes) {
        this.varint(field * 8 + 2).varint(bytes.length);
        bytes.forEach((byte) => this.push(byte));
        return this;
    }

    /**
     * @param {number} field
     * @param {Message} message
     */
    message(field, message) {
        return this.block(field, message.bytes.subarray(0, message.length));
    }

    /**
     * @param {number} field
     * @param {number[]} numbers
     */
    packed(field, numbers) {
        return this.message(
            field,
            numbers.reduce((message, n) => message.varint(n), new Message())
        );
    }
}

/**
 * profile.proto, which "go tool pprof" reads: all of the model's amounts, and first the one that the page shows.
 *
 * @param {Model} model
 * @param {Metric} metric
 */
function pprofOf(model, metric) {
    const { frames, reports } = model;
    const out = new Message();
    /** @type {Map<string, number>} */
    const strings = new Map();
    /** @param {string} text */
    const word = (text) => strings.get(text) ?? (strings.set(text, strings.size), strings.size - 1);
    word('');
    const known = [...(model.hasStates ? ['active', ...STATES] : []), 'calls', 'samples', 'cpu', 'wall'];
    const types = known.filter((type) => model.total[type] !== undefined);
    for (const type of types) {
        const unit = UNITS[/** @type {keyof typeof UNITS} */ (type)] ?? 'nanoseconds';
        out.message(1, new Message().number(1, word(type)).number(2, word(unit)));
    }
    for (const { node, group, frames: stack } of stacksOf(model, (i) => types.some((type) => model.self[type][i] > 0))) {
        const label = new Message().number(1, word('thread')).number(2, word(frames.text[group]));
        out.message(
            2,
            new Message()
                .packed(1, stack.map((frame) => frame + 1).reverse())
                .packed(2, types.map((type) => Math.round(model.self[type][node])))
                .message(3, label)
        );
    }
    frames.text.forEach((_, frame) => {
        const line = new Message().number(1, frames.method[frame] + 1).number(2, frameParts(frames, frame).line);
        out.message(4, new Message().number(1, frame + 1).message(4, line));
    });
    const files = new Map(frames.method.map((method, frame) => [method, frameParts(frames, frame).file]));
    frames.methods.forEach(({ text }, method) => {
        const made = new Message().number(1, method + 1).number(2, word(text)).number(3, word(text));
        out.message(5, made.number(4, word(files.get(method) ?? '')));
    });
    out.number(9, reports[0].fromMillis * NANOS_PER_MILLI).number(10, reports[0].elapsedNanos).number(14, word(metric));
    const encoder = new TextEncoder();
    [...strings.keys()].forEach((text) => out.block(6, encoder.encode(text)));
    return out.bytes.subarray(0, out.length);
}

/**
 * @param {Model} model
 * @param {Metric} metric
 */
async function pprof(model, metric) {
    const zipped = new Blob([/** @type {BlobPart} */ (pprofOf(model, metric))]).stream().pipeThrough(new CompressionStream('gzip'));
    return [await new Response(zipped).blob()];
}

/**
 * The summary, and the rows as the text report has them.
 *
 * @param {Model} model
 */
function reportText(model) {
    const [report] = model.reports;
    const lines = [`Report interval: ${span(report.fromMillis, report.tillMillis, zoneOf(report))}`, ''];
    if (report.summary !== undefined) {
        lines.push('Summary.', ...report.summary.lines.map(clean), '');
    }
    /** @param {number} ns */
    const ms = (ns) => Math.floor(ns / NANOS_PER_MILLI);
    for (const { node: group, name, sides } of model.groups) {
        const side = /** @type {ReportGroup} */ (sides[0]);
        const names = (side.threadNames ?? []).map(clean).join(', ');
        lines.push(`Aggregated thread: ${name}. Distinct threads: ${side.threads ?? 0} [${names}]`);
        const open = [{ node: group, depth: -1 }];
        for (let next = open.pop(); next !== undefined; next = open.pop()) {
            const { node, depth } = next;
            const start = ('  '.repeat(Math.max(0, Math.min(depth, TEXT_DEPTH))) + model.textOf(node) + ' ').padEnd(TEXT_WIDTH + 1);
            if (node !== group) {
                lines.push(
                    `${start} Cumulative time(ms): ${ms(model.total.wall[node])}, Method time(ms): ${ms(model.self.wall[node])}`
                );
            }
            model.children(node).forEach((child) => open.push({ node: child, depth: depth + 1 }));
        }
        lines.push('');
    }
    return lines.map((line) => line + '\n');
}

/**
 * By the data-download of its button: how the file's name ends, and what makes its content.
 *
 * @type {{ [format: string]: [string, string, (app: App) => BlobPart[] | Promise<BlobPart[]>] }}
 */
const DOWNLOADS = {
    text: ['txt', 'text/plain', ({ model }) => reportText(model)],
    collapsed: ['collapsed', 'text/plain', ({ model, metric }) => collapsed(model, metric)],
    speedscope: ['speedscope.json', 'application/json', ({ model, metric }) => speedscope(model, metric)],
    pprof: ['pb.gz', 'application/octet-stream', ({ model, metric }) => pprof(model, metric)],
    json: ['json', 'application/json', ({ models }) => [JSON.stringify(models.sampled.source)]],
};

/** The other formats have no place for two times. */
const DIFFERENCE_DOWNLOADS = ['collapsed', 'json'];

/**
 * @param {App} app
 * @param {string} format
 */
async function download(app, format) {
    const [ending, type, make] = DOWNLOADS[format];
    const link = element('a');
    link.download = (app.model.isDiff ? 'difference.' : 'report.') + ending;
    link.href = URL.createObjectURL(new Blob(await make(app), { type }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
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

/** @param {string} text */
async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        return 'Copied';
    } catch (denied) {
        return 'The browser does not let this page copy';
    }
}

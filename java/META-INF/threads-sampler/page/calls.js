// SPDX-License-Identifier: Apache-2.0
// What there is only where calls are counted: the counted trees, which are a model of their own
// because their time is in the sampled trees, too; the callers of a method; methods by class and package.

/**
 * The counted groups as a report, or a pair of reports, of their own; null where no calls are counted.
 *
 * @param {SamplerReport | ReportPair} data
 * @returns {SamplerReport | ReportPair | null}
 */
function countedOf(data) {
    const pair = /** @type {Partial<ReportPair>} */ (data);
    if (pair.before !== undefined && pair.after !== undefined) {
        const counted = pair.difference?.counted;
        return counted === undefined
            ? null
            : { before: withCounted(pair.before), after: withCounted(pair.after), difference: counted };
    }
    const report = /** @type {SamplerReport} */ (data);
    return report.counted === undefined ? null : withCounted(report);
}

/** @param {SamplerReport} report */
function withCounted(report) {
    return { ...report, groups: report.counted ?? [] };
}

/** @param {SamplerReport | ReportPair} data */
function modelsOf(data) {
    const sampled = modelOf(data); // refuses what is no report
    const counted = countedOf(data);
    sampled.source = data;
    return { sampled, counted: counted === null ? null : modelOf(counted) };
}

/**
 * @param {Metric} metric
 * @param {number} value
 */
function amountText(metric, value) {
    return metric === 'calls' ? numberOf(value, 'call') : duration(value);
}

const THREE_DIGITS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 3, maximumFractionDigits: 3 });

/**
 * Microseconds; three digits after the point where there are few before it, for calls of nanoseconds.
 *
 * @param {number} ns
 */
function micros(ns) {
    const us = ns / 1e3;
    return us >= 100 ? WHOLE.format(us) : THREE_DIGITS.format(us);
}

/**
 * Nothing where it is not known: nothing was called, or no time was seen.
 *
 * @param {number} ns
 * @param {number} calls
 */
function timePerCall(ns, calls) {
    return ns > 0 && calls > 0 ? micros(ns / calls) : '';
}

/**
 * By frame the number of what it counts under, and the names of these.
 *
 * @param {Frames} frames
 * @param {Level} level
 * @returns {RollUp}
 */
function rollUp(frames, level) {
    const numbers = new Map();
    /** @type {string[]} */
    const names = [];
    const key = frames.method.map((method) => {
        const name = rollUpName(frames.methods[method], level);
        const known = (frames.methods[method].kind < KIND.JAVA ? 'group ' : 'code ') + name;
        if (!numbers.has(known)) {
            numbers.set(known, names.push(name) - 1);
        }
        return numbers.get(known);
    });
    return { key, names };
}

/**
 * @param {MethodEntry} method
 * @param {Level} level
 */
function rollUpName(method, level) {
    if (level === 'method' || (method.kind !== KIND.JAVA && method.kind !== KIND.JDK)) {
        return method.text;
    }
    const className = method.text.slice(0, method.text.lastIndexOf('.'));
    const dot = className.lastIndexOf('.');
    return level === 'class' ? className : dot < 0 ? '(no package)' : className.slice(0, dot);
}

/**
 * Below base, the methods that a method called, or those that called it, as rows; a caller may be a thread group. Where
 * a pair of caller and callee calls itself again its time is counted once.
 *
 * @param {Model} model
 * @param {number} base
 * @param {number} method
 * @param {boolean} isCaller whether the method is the caller of each pair
 * @returns {HotRow[]}
 */
function otherEndsOf(model, base, method, isCaller) {
    const { frames, frame, parent } = model;
    /** @param {number} node */
    const methodOf = (node) => frames.method[frame[node]];
    const measures = Object.keys(model.self);
    const rows = new Map();
    for (let node = base + 1; node < model.count; node++) {
        const callee = methodOf(node);
        const caller = methodOf(parent[node]);
        if ((isCaller ? caller : callee) !== method || !model.contains(base, node)) {
            continue;
        }
        const other = isCaller ? node : parent[node];
        const row = rows.get(methodOf(other)) ?? newHotRow(methodOf(other), frame[other], measures);
        rows.set(methodOf(other), row);
        let above = parent[node];
        while (above > base && (methodOf(above) !== callee || methodOf(parent[above]) !== caller)) {
            above = parent[above];
        }
        for (const m of measures) {
            row.self[m] += model.self[m][node];
            row.total[m] += above > base ? 0 : model.total[m][node];
        }
        addErrors(model, node, row, above <= base);
    }
    return [...rows.values()];
}

/** @param {Model} model @param {number} base @param {number} method @returns {HotRow[]} what the method called */
function calleesOf(model, base, method) {
    return otherEndsOf(model, base, method, true);
}

/** @param {Model} model @param {number} base @param {number} method @returns {HotRow[]} what called the method */
function callersOf(model, base, method) {
    return otherEndsOf(model, base, method, false);
}

// SPDX-License-Identifier: Apache-2.0
// The locks that threads waited for: by class, with the lines that waited and those that held them meanwhile.

/**
 * The locks of all reports, and of each lock its pairs of lines, longest first.
 *
 * @param {SamplerReport[]} reports
 * @returns {LockClass[]}
 */
function locksOf(reports) {
    /** @type {Map<string, LockClass>} */
    const classes = new Map();
    const zeros = () => reports.map(() => 0);
    reports.forEach((report, side) => {
        for (const time of report.locks ?? []) {
            const found = classes.get(time.lock) ?? { lock: time.lock, times: zeros(), lines: new Map() };
            const key = JSON.stringify([time.waiting, time.holding]);
            const line = found.lines.get(key) ?? { waiting: time.waiting, holding: time.holding, times: zeros() };
            found.times[side] += time.wall;
            line.times[side] += time.wall;
            found.lines.set(key, line);
            classes.set(time.lock, found);
        }
    });
    return longestFirst([...classes.values()]);
}

/**
 * By the last report, then by those before it.
 *
 * @template {{ times: number[] }} T
 * @param {T[]} rows
 */
function longestFirst(rows) {
    /** @param {T} row */
    const last = (row) => row.times[row.times.length - 1];
    return rows.sort((a, b) => last(b) - last(a) || b.times[0] - a.times[0]);
}

class Locks {
    /** @param {HTMLElement} host */
    constructor(host) {
        this.host = host;
    }

    /**
     * @param {Model} model
     * @returns {boolean} false: no thread was blocked
     */
    show(model) {
        const locks = locksOf(model.reports);
        const sides = model.isDiff ? ['before', 'after'] : [''];
        const all = sides.map((_, side) => locks.reduce((sum, lock) => sum + lock.times[side], 0));
        this.host.replaceChildren(
            element('h2', '', 'Locks'),
            element(
                'p',
                '',
                'How long threads were blocked, by the class of the lock, the line that waited for it and the line that held' +
                    ' it meanwhile. Several threads that wait at once count once each.'
            ),
            ...locks.flatMap((lock) => this.ofLock(lock, sides, all))
        );
        return locks.length > 0;
    }

    /**
     * @param {LockClass} lock
     * @param {string[]} sides
     * @param {number[]} all
     */
    ofLock(lock, sides, all) {
        /** @param {number[]} times */
        const cells = (times) => times.flatMap((time, side) => [duration(time), percent(time, all[side])]);
        const sums = sides
            .map((side, i) => `${duration(lock.times[i])} ${side}`.trim() + `, ${percent(lock.times[i], all[i])}`)
            .join('; ');
        const rows = longestFirst([...lock.lines.values()]).map((line) => [
            clean(line.waiting),
            clean(line.holding),
            ...cells(line.times),
        ]);
        const heads = sides.flatMap((side) => [('Blocked ' + side).trim(), 'Share']);
        return table(`${clean(lock.lock)}: ${sums}`, ['Waiting line', 'Holding line', ...heads], rows);
    }
}

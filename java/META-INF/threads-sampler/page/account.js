// SPDX-License-Identifier: Apache-2.0
// What was not seen, in plain words. The tables of outcomes, counters and counting are in outcomes.js; a code that
// is not in it, because another version made the document, is shown as it is.

/** @type {{ [kind: string]: string }} */
const TAGS = { walked: 'seen', idle: 'seen', recovered: 'seen', failed: 'failed', skipped: 'skipped' };

/**
 * @param {string} code
 * @returns {{ tag: string, text: string, words: string }}
 */
function outcomeOf(code) {
    const known = Object.hasOwn(OUTCOMES, code)
        ? /** @type {OutcomeTable} */ (OUTCOMES)[code]
        : { text: code, words: '' };
    return { tag: TAGS[/** @type {string} */ (known.kind)] ?? 'other', text: known.text, words: known.words };
}

/**
 * @param {string} code
 * @returns {{ text: string, words: string }}
 */
function counterOf(code) {
    return Object.hasOwn(COUNTERS, code) ? /** @type {OutcomeTable} */ (COUNTERS)[code] : { text: code, words: '' };
}

/**
 * @param {string} code
 * @param {string} text as the report has it
 * @returns {{ text: string, words: string }}
 */
function countingOf(code, text) {
    return Object.hasOwn(COUNTING, code) ? /** @type {OutcomeTable} */ (COUNTING)[code] : { text, words: '' };
}

class Account {
    /** @type {Model} */
    model;
    /** @type {string[]} a title for each report */
    sides;

    /** @param {HTMLElement} host */
    constructor(host) {
        this.host = host;
    }

    /** @param {Model} model */
    show(model) {
        this.model = model;
        this.sides = model.isDiff ? ['Before', 'After'] : [''];
        this.host.replaceChildren(
            ...model.reports.flatMap((report, side) => this.summary(report, side)),
            ...this.outcomes(),
            ...this.pseudoFrames(),
            ...this.counters(),
            ...this.counting(),
            ...this.groups()
        );
    }

    /**
     * @param {SamplerReport} report
     * @param {number} side 0 for the only report; of a difference 0 for the first, 1 for the second
     */
    summary(report, side) {
        const account = report.account ?? {};
        const seen = sumOf(account.outcomes, (code) => outcomeOf(code).tag === 'seen');
        const lost = this.pseudoTime(side);
        const all = this.model.total[this.measure(side)][0];
        const own = report.ownCpuNanos ?? 0;
        const lines = [
            `From ${span(report.fromMillis, report.tillMillis, zoneOf(report))} (${duration(report.elapsedNanos)}) the sampler polled ` +
                `threads ${whole(account.polls ?? 0)} times. ${percent(seen, account.polls ?? 0)} of the polls ` +
                'found where the thread was.',
            lost > 0
                ? `${duration(lost)} of ${duration(all)} of thread time (${percent(lost, all)}) have no stack. ` +
                  'That time is kept under frames in [brackets]; it is not spread over other frames.'
                : 'All thread time has a stack.',
            `The sampler itself took ${duration(own)} of CPU, ${percent(own, report.elapsedNanos)} of one core, and ` +
                `${bytes(report.memoryUsedBytes ?? 0)} of its limit of ${bytes(report.memoryLimitBytes ?? 0)} of memory.`,
        ];
        if (account.missedPackages) {
            lines.unshift(
                `No frame of the monitored packages was seen: ${shorten(account.missedPackages, NAME_LIMIT)}. ` +
                    'Each stack is its root frame alone.'
            );
        }
        if (account.signalTaken) {
            lines.push(`Another library took the sampler's signal: ${shorten(account.signalTaken, NAME_LIMIT)}.`);
        }
        const title = this.sides[side] ? this.sides[side] + ': what was seen' : 'What was seen, and what was not';
        return [element('h2', '', title), ...lines.map((line) => element('p', '', line))];
    }

    /** @param {number} side */
    measure(side) {
        return this.model.isDiff && side === 0 ? 'wall0' : 'wall';
    }

    /** @param {number} side */
    pseudoTime(side) {
        return [...this.pseudoByFrame(side).values()].reduce((a, b) => a + b, 0);
    }

    /**
     * @param {number} side
     * @returns {Map<string, number>}
     */
    pseudoByFrame(side) {
        const { model } = this;
        const self = model.self[this.measure(side)];
        const times = new Map();
        for (let i = 1; i < model.count; i++) {
            if (self[i] > 0 && this.isWithoutStack(i)) {
                const text = model.textOf(i);
                times.set(text, (times.get(text) ?? 0) + self[i]);
            }
        }
        return times;
    }

    /**
     * One in brackets that has callers is where a stack ends; the JVM's own threads have no Java stack to see.
     *
     * @param {number} node
     */
    isWithoutStack(node) {
        const { model } = this;
        const group = model.parent[node];
        return (
            model.frames.kind[model.frame[node]] === KIND.PSEUDO &&
            model.parent[group] === 0 &&
            model.textOf(group) !== '[JVM]'
        );
    }

    outcomes() {
        const sides = this.model.reports.map((report) => report.account?.outcomes ?? {});
        const polls = this.model.reports.map((report) => report.account?.polls ?? 0);
        const rows = unionOfKeys(sides).map((code) => {
            const { tag, text, words } = outcomeOf(code);
            const figures = sides.flatMap((side, i) => [whole(side[code] ?? 0), percent(side[code] ?? 0, polls[i])]);
            return [{ tag, text }, ...figures, words];
        });
        const heads = this.sides.flatMap((side) => [(side + ' polls').trim(), 'Share']);
        return table('How each poll of a thread ended', ['Outcome', ...heads, 'In words'], rows);
    }

    pseudoFrames() {
        const sides = this.sides.map((_, side) => Object.fromEntries(this.pseudoByFrame(side)));
        const rows = unionOfKeys(sides).map((text) => [
            text,
            ...sides.flatMap((side, i) => [
                duration(side[text] ?? 0),
                percent(side[text] ?? 0, this.model.total[this.measure(i)][0]),
            ]),
        ]);
        const heads = this.sides.flatMap((side) => [(side + ' time').trim(), 'Share']);
        return rows.length ? table('Time without a stack', ['Frame', ...heads], rows) : [];
    }

    counters() {
        const sides = this.model.reports.map((report) => report.account?.counters ?? {});
        const rows = unionOfKeys(sides).map((code) => [
            counterOf(code).text,
            ...sides.map((side) => whole(side[code] ?? 0)),
            counterOf(code).words,
        ]);
        const heads = this.sides.map((side) => side || 'Count');
        return rows.length ? table('Other events', ['Event', ...heads, 'In words'], rows) : [];
    }

    /** What was counted, and what was left alone and why. */
    counting() {
        const sides = this.model.reports.map((report) => report.counting ?? {});
        const rows = unionOfKeys(sides).map((code) => {
            const text = sides.find((side) => side[code] !== undefined)?.[code].text ?? code;
            return [
                countingOf(code, text).text,
                ...sides.map((side) => whole(side[code]?.count ?? 0)),
                [...new Set(sides.flatMap((side) => side[code]?.names ?? []))].map(clean).join(', '),
                countingOf(code, text).words,
            ];
        });
        const heads = this.sides.map((side) => side || 'Count');
        return rows.length ? table('Counting of calls', ['Event', ...heads, 'Methods', 'In words'], rows) : [];
    }

    groups() {
        const rows = this.model.groups.map((group) => [
            group.name,
            ...group.sides.flatMap((side) => [
                whole(side?.threads ?? 0),
                whole(side?.polls ?? 0),
                percent(
                    sumOf(side?.outcomes, (code) => outcomeOf(code).tag !== 'seen'),
                    side?.polls ?? 0
                ),
                whole(side?.maxDepth ?? 0),
            ]),
        ]);
        const heads = this.sides.flatMap((side) =>
            ['Threads', 'Polls', 'Not seen', 'Deepest stack'].map((text) => (side + ' ' + text.toLowerCase()).trim())
        );
        return table('By thread group', ['Group', ...heads], rows);
    }
}

/**
 * @param {Figures | undefined} figures
 * @param {(code: string) => boolean} wanted
 */
function sumOf(figures, wanted) {
    return Object.entries(figures ?? {}).reduce((sum, [code, n]) => sum + (wanted(code) ? n : 0), 0);
}

/** @param {object[]} objects */
function unionOfKeys(objects) {
    return [...new Set(objects.flatMap((object) => Object.keys(object)))];
}

/**
 * Cells are texts, or {tag, text}; a text that begins with a digit stands to the right.
 *
 * @param {string} title
 * @param {string[]} heads
 * @param {any[][]} rows
 */
function table(title, heads, rows) {
    const made = element('table');
    const head = element('tr');
    /** @param {number} i */
    const isNumber = (i) => rows.length > 0 && rows.every((row) => /^[<\d–]/.test(row[i].text ?? row[i]));
    head.append(
        ...heads.map((text, i) =>
            element('th', i > 0 && isNumber(i) ? 'number' : '', text.charAt(0).toUpperCase() + text.slice(1))
        )
    );
    made.append(head);
    for (const row of rows) {
        const line = element('tr');
        line.append(
            ...row.map((cell, i) => {
                const text = cell.text ?? cell;
                const td = element('td', i > 0 && isNumber(i) ? 'number' : '');
                td.append(...breakable(shorten(text, NAME_LIMIT)));
                if (cell.tag) {
                    td.classList.add('tagged');
                    td.prepend(element('span', 'tag ' + cell.tag, cell.tag === 'other' ? '' : cell.tag));
                }
                return td;
            })
        );
        made.append(line);
    }
    return [element('h3', '', title), made];
}

/**
 * A name's line may end behind its packages, rather than in the middle of a word.
 *
 * @param {string} text
 */
function breakable(text) {
    const packages = NAME_PARTS.exec(text)?.[1] ?? '';
    return [packages, element('wbr'), text.slice(packages.length)];
}

// SPDX-License-Identifier: Apache-2.0
// What was not seen, in plain words. The texts of outcomes and counters are those of the report;
// a text that this page does not know is shown as it is, with the words for its kind.

const OUTCOME_WORDS = {
    'samples taken': 'The stack was read.',
    'samples taken, middle of a deep stack omitted':
        'The stack was read, but it was so deep that frames in its middle were left out.',
    'samples taken, no Java frames': 'The thread had no Java code on its stack. Its time is under [no Java frames].',
    'samples taken, virtual thread cut where it was parked':
        'The stack of a virtual thread was read only down to where it was last parked.',
    'samples taken, a method without an id':
        'The stack was read, but the JVM had not given an id to one of its methods yet: that row is [method without an id].',
    'samples taken, stopped for garbage collection':
        'The garbage collector had stopped the whole JVM. The time is under [GC active].',
    'credited as idle': 'The thread had not run since the last look, so its stack could not have changed.',
    'recovered, in a runtime stub':
        'The thread was in a piece of code of the JVM itself: a frame in [brackets] below the Java code that called it.',
    'recovered, at the entry of a method': 'The thread was just entering a method, before its frame was complete.',
    'recovered, at the return of a method': 'The thread was just leaving a method, when its frame was half gone.',
    'recovered, in a method with registers pushed':
        'The method had put something on its stack for a moment; the frame was found below it.',
    'recovered, from the caller of native code':
        'The thread was in native code. The Java code that called it was found and has the time.',
    'recovered, at a second look': 'The first look found no stack, one a moment later did.',
    'failed, unknown_not_Java (-3)': 'The thread ran code that is not Java, and where it came from was not to be seen.',
    'failed, not_walkable_not_Java (-4)':
        'The thread ran code that is not Java, and the stack below it was not in a state to be read.',
    'failed, unknown_Java (-5)': 'The thread ran Java code, but its topmost frame could not be made out.',
    'failed, not_walkable_Java (-6)': 'The thread ran Java code, but its stack was not in a state to be read.',
    'failed, unknown_state (-7)': 'The thread was on its way from one state to another.',
    'failed, deoptimisation (-9)': 'The JVM was just taking compiled code of this stack back.',
    'failed, thread ended during the walk':
        'The thread ended while it was looked at. Its time is under [thread ended].',
    'failed, JVM not in its live phase': 'The JVM was starting or ending.',
    'failed, JVM out of memory': 'The JVM had no memory for the answer.',
    'failed, refused by the JVM': 'The JVM gave no stack at this moment.',
    'failed, over the memory limit':
        'There was no room for a new stack. Its time is under [over memory limit]; raise the memory limit to see it.',
    'skipped, thread ended since its last sample':
        'The thread ended between two looks. What it did last is not known; the time is under [thread ended].',
    'skipped, over the overhead limit':
        'Looking at every running thread would have cost more than the overhead limit allows. The threads that were ' +
        'looked at count for more; what is left is under [over the overhead limit].',
    'skipped, signal queue full':
        'Linux had no room for another signal: too many wait for this user. The time is under [signal queue full].',
    'skipped, signal not answered in time':
        'The thread was asked and did not answer before the next look: most often it had no processor to run on. ' +
        'The time is under [signal not answered].',
    'skipped, thread not told apart yet':
        'It is not proven yet which of the system\'s threads it is, and to stop it would have stopped all virtual threads. ' +
        'The time is under [not told apart yet].',
    'skipped, no room for the walk':
        'The samples before it had not been fetched yet. The next sample of the same thread counts for this one, too.',
    'skipped, no CPU timer to be had':
        'Linux gave no timer: too many signals and timers of this user. The time is under [no CPU timer].',
};

const KIND_WORDS = [
    ['samples taken', 'seen', 'The stack was read.'],
    ['credited as idle', 'seen', 'The thread had not run since the last look, so its stack could not have changed.'],
    ['recovered', 'seen', 'The stack was found, though not at first sight.'],
    ['failed', 'failed', 'No stack could be read. The time is under a frame in [brackets] that tells why.'],
    ['skipped', 'skipped', 'The thread was not looked at this time.'],
];

const COUNTER_WORDS = {
    ticks: 'Rounds of looking at the threads.',
    'ticks left out, over the overhead limit':
        'Rounds that were left out, because being woken up for them would have cost more than the overhead limit allows.',
    'ticks left out, nobody was due':
        'Rounds that were left out, because all threads were idle and none had to be looked at yet.',
    'late ticks': 'Rounds that began late. They are credited with their true length.',
    'frames omitted from deep stacks': 'Frames that very deep stacks have in their middle.',
    'methods of unloaded classes': 'The class was gone before its name could be read: [unloaded].',
    'methods without a name': 'The JVM did not tell the name.',
    'threads that came and went between two samples': 'Never seen; shorter than the sampling interval.',
    'failures of the thread name manipulator': 'The thread was put under its raw name instead.',
    'reports merged with the next because output was slow': 'Nothing is lost, the interval is longer.',
    'reports that failed': 'The output threw an exception.',
    'report records cut at their size limit': 'The text report left rows out; this page has them all.',
    'intervals dropped for lack of memory': 'Nobody fetched them, and the memory limit was reached. They are lost.',
};

function wordsOf(text) {
    const [, kind, words] = KIND_WORDS.find(([prefix]) => text.startsWith(prefix)) ?? ['', 'other', ''];
    return { kind, words: OUTCOME_WORDS[text] ?? words };
}

class Account {
    /** @type {Model} */
    model;
    /** @type {string[]} a title for each report */
    sides;

    constructor(host) {
        this.host = host;
    }

    show(model) {
        this.model = model;
        this.sides = model.isDiff ? ['Before', 'After'] : [''];
        this.host.replaceChildren(
            ...model.reports.flatMap((report, side) => this.summary(report, side)),
            ...this.outcomes(),
            ...this.pseudoFrames(),
            ...this.counters(),
            ...this.groups()
        );
    }

    summary(report, side) {
        const account = report.account ?? {};
        const seen = sumOf(account.outcomes, (text) => wordsOf(text).kind === 'seen');
        const lost = this.pseudoTime(side);
        const all = this.model.total[this.measure(side)][0];
        const own = report.ownCpuNanos ?? 0;
        const lines = [
            `From ${span(report.fromMillis, report.tillMillis)} (${duration(report.elapsedNanos)}) the sampler looked ` +
                `at threads ${whole(account.attempts ?? 0)} times. ${percent(seen, account.attempts)} of the looks ` +
                'told where the thread was.',
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
        const title = this.sides[side] ? this.sides[side] + ': what was seen' : 'What was seen, and what was not';
        return [element('h2', '', title), ...lines.map((line) => element('p', '', line))];
    }

    measure(side) {
        return this.model.isDiff && side === 0 ? 'wall0' : 'wall';
    }

    pseudoTime(side) {
        return [...this.pseudoByFrame(side).values()].reduce((a, b) => a + b, 0);
    }

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

    /** One in brackets that has callers is where a stack ends; the JVM's own threads have no Java stack to see. */
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
        const attempts = this.model.reports.map((report) => report.account?.attempts ?? 0);
        const texts = unionOfKeys(sides);
        const rows = texts.map((text) => [
            { tag: wordsOf(text).kind, text },
            ...sides.flatMap((side, i) => [whole(side[text] ?? 0), percent(side[text] ?? 0, attempts[i])]),
            wordsOf(text).words,
        ]);
        const heads = this.sides.flatMap((side) => [(side + ' looks').trim(), 'Share']);
        return table('What became of each look at a thread', ['Outcome', ...heads, 'In words'], rows);
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
        const rows = unionOfKeys(sides).map((text) => [
            text,
            ...sides.map((side) => whole(side[text] ?? 0)),
            COUNTER_WORDS[text] ?? '',
        ]);
        const heads = this.sides.map((side) => side || 'Count');
        return rows.length ? table('Other events', ['Event', ...heads, 'In words'], rows) : [];
    }

    groups() {
        const rows = this.model.groups.map((group) => [
            group.name,
            ...group.sides.flatMap((side) => [
                whole(side?.threads ?? 0),
                whole(side?.attempts ?? 0),
                percent(
                    sumOf(side?.outcomes, (text) => wordsOf(text).kind !== 'seen'),
                    side?.attempts
                ),
                whole(side?.maxDepth ?? 0),
            ]),
        ]);
        const heads = this.sides.flatMap((side) =>
            ['Threads', 'Looks', 'Not seen', 'Deepest stack'].map((text) => (side + ' ' + text.toLowerCase()).trim())
        );
        return table('By thread group', ['Group', ...heads], rows);
    }
}

function sumOf(figures, wanted) {
    return Object.entries(figures ?? {}).reduce((sum, [text, n]) => sum + (wanted(text) ? n : 0), 0);
}

function unionOfKeys(objects) {
    return [...new Set(objects.flatMap((object) => Object.keys(object)))];
}

/** Cells are texts, or {tag, text}; a text that begins with a digit stands to the right. */
function table(title, heads, rows) {
    const made = element('table');
    const head = element('tr');
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
                const td = element('td', i > 0 && isNumber(i) ? 'number' : '', shorten(text, NAME_LIMIT));
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

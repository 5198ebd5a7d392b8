// SPDX-License-Identifier: Apache-2.0
// The columns of the tables: of one report, and of the difference between two.

/**
 * @param {View} view
 * @param {RowReader} get
 * @param {'self' | 'total'} main what the table is about
 * @returns {Column[]}
 */
function columnsOf(view, get, main) {
    const columns = view.model.isDiff ? diffColumns(view, get, main) : singleColumns(view, get, main);
    columns.unshift({
        key: 'name',
        title: 'Frame',
        hint: 'Name',
        name: true,
        value: get.text,
        text: get.text,
        tone: get.tone,
    });
    return columns;
}

/** @type {typeof columnsOf} */
function singleColumns(view, get, main) {
    const { metric } = view;
    const clock = metric === 'active' ? metric : 'wall';
    const [total, own] = clock === 'active' ? ['Active ms', 'Own active ms'] : ['Cumulative ms', 'Method ms'];
    const everything = () => view.model.total[metric][view.base];
    /** @type {ColumnMaker} */
    const time = (key, title, hint, value) => ({ key, title, hint, value, text: (row) => millis(value(row)) });
    /** @param {any} row */
    const share = (row) => get[main](metric, row);
    /** @type {Column[]} */
    const columns = [
        {
            key: 'percent',
            title: 'Percent',
            hint: `Share of the group's ${{ active: 'active time', wall: 'wall time', cpu: 'CPU time', calls: 'calls' }[metric]}`,
            value: share,
            text: (row) => percent(share(row), everything()),
            bar: (row) => share(row) / everything(),
        },
        time('wall', total, 'Time in the frame and in all it called', (row) => get.total(clock, row)),
        time('self', own, 'Time in the frame itself', (row) => get.self(clock, row)),
    ];
    if (view.model.hasBars && metric !== 'calls') {
        columns.splice(main === 'self' ? 3 : 2, 0, errorColumn(view, get, main));
    }
    if (view.model.hasStates) {
        columns.push(...stateColumns(view, get, main));
    }
    if (view.model.hasCpu) {
        columns.push(time('cpu', 'CPU ms', 'Time on a processor, cumulative', (row) => get.total('cpu', row)));
    }
    if (view.model.hasCpu && main === 'self') {
        columns.push(
            time('ownCpu', 'Own CPU ms', 'Time on a processor in the frame itself', (row) => get.self('cpu', row))
        );
    }
    /**
     * @param {string} key
     * @param {string} title
     * @param {string} hint
     */
    const count = (key, title, hint) => {
        /** @param {any} row */
        const value = (row) => get[main](key, row);
        columns.push({ key, title, hint, value, text: (row) => whole(value(row)) });
    };
    if (view.model.hasCalls) {
        columns.push(...callColumns(get));
    } else {
        count('samples', 'Samples', 'How often it was seen');
    }
    if (get.counted !== undefined && view.model.rowCalls.size > 0) {
        columns.push(countedColumn(get.counted));
    }
    const { depth } = get;
    if (depth !== undefined && view.model.recursion.size > 0) {
        columns.push({
            key: 'depth',
            title: 'Depth',
            hint: 'How deep the calls of a recursion were in each other; the row has what they called once',
            value: (row) => depth(row) ?? 0,
            text: (row) => (depth(row) === undefined ? '' : whole(depth(row) ?? 0)),
        });
    }
    const known = [...KNOWN_MEASURES, ...STATES, 'calls'];
    for (const name of view.model.measures.filter((measure) => !known.includes(measure))) {
        count(name, name[0].toUpperCase() + name.slice(1), name + ', as the report has it');
    }
    return columns;
}

/**
 * A column for each state that has time, for the same time as the column Percent.
 *
 * @param {View} view
 * @param {RowReader} get
 * @param {'self' | 'total'} main
 * @returns {Column[]}
 */
function stateColumns(view, get, main) {
    return view.model
        .statesOf(view.metric, 0)
        .filter(({ time }) => time > 0)
        .map(({ state }) => {
            const words = STATE_WORDS[state];
            /** @param {any} row */
            const value = (row) => get[main](state, row);
            return {
                key: state,
                title: words[0].toUpperCase() + words.slice(1),
                hint: `Milliseconds ${words}`,
                value,
                text: (row) => (value(row) === 0 ? '' : millis(value(row))),
            };
        });
}

/**
 * The bar of wall time is that of active time only if nothing of it is idle.
 *
 * @param {View} view
 * @param {RowReader} get
 * @param {'self' | 'total'} main
 * @returns {Column}
 */
function errorColumn(view, get, main) {
    /** @param {any} row */
    const half = (row) =>
        view.metric === 'active' && view.model.hasStates && get[main]('idle', row) > 0
            ? NaN
            : get.error('wall', row, main);
    return {
        key: 'error',
        title: '± ms',
        hint: 'In 95 of 100 reports the true time is within this of the time beside it; nothing where it is not known',
        value: (row) => half(row) || 0,
        text: (row) => errorBar(get[main]('wall', row), half(row)),
    };
}

/**
 * @param {RowReader} get
 * @returns {Column[]}
 */
function callColumns(get) {
    /** @param {any} row */
    const each = (row) => get.total('wall', row) / (get.calls(row) || Infinity);
    return [
        {
            key: 'calls',
            title: 'Calls',
            hint: 'How often it was called itself; of a group, all calls',
            value: get.calls,
            text: (row) => whole(get.calls(row)),
        },
        {
            key: 'perCall',
            title: 'µs per call',
            hint: 'Mean time of a call, with all it called',
            value: each,
            text: (row) => timePerCall(get.total('wall', row), get.calls(row)),
        },
    ];
}

/**
 * @param {(row: any) => RowCalls | undefined} counted
 * @returns {Column}
 */
function countedColumn(counted) {
    return {
        key: 'counted',
        title: 'Calls',
        hint: 'How often it was called, where that is counted; ≤ where other rows share the number',
        value: (row) => counted(row)?.calls ?? 0,
        text: (row) => {
            const known = counted(row);
            return known === undefined ? '' : (known.paths > 1 ? '≤ ' : '') + whole(known.calls);
        },
    };
}

/** @type {typeof columnsOf} */
function diffColumns(view, get, main) {
    const now = view.metric;
    const then = now + '0';
    const unit = now === 'calls' ? 'calls' : 'ms';
    const number = now === 'calls' ? whole : millis;
    /** @type {ColumnMaker} */
    const column = (key, title, hint, value) => ({ key, title, hint, value, text: (row) => number(value(row)) });
    /** @type {ColumnMaker} */
    const change = (key, title, hint, value) => ({
        key,
        title,
        hint,
        value,
        text: (row) => signed(number(value(row)), value(row)),
        tone: (row) => tone(value(row)),
    });
    const part = main === 'self' ? get.self : get.total;
    /** @param {any} row */
    const relative = (row) => (part(now, row) - part(then, row)) / (part(then, row) || Number.MIN_VALUE);
    return [
        change(
            'delta',
            'Change ' + unit,
            'After less before, with all that was called',
            (row) => get.total(now, row) - get.total(then, row)
        ),
        change(
            'ownDelta',
            'Own change ' + unit,
            'After less before, the frame itself',
            (row) => get.self(now, row) - get.self(then, row)
        ),
        {
            key: 'relative',
            title: 'Change',
            hint: 'In percent of before',
            value: relative,
            text: (row) =>
                part(then, row) > 0
                    ? signed(percent(part(now, row) - part(then, row), part(then, row)), relative(row))
                    : part(now, row) > 0
                      ? 'new'
                      : '–',
            tone: (row) => tone(relative(row)),
        },
        column(
            'before',
            (main === 'self' ? 'Own before ' : 'Before ') + unit,
            'Scaled to the length of after',
            (row) => part(then, row)
        ),
        column('after', (main === 'self' ? 'Own after ' : 'After ') + unit, 'As measured', (row) => part(now, row)),
    ];
}

/** @param {number} delta */
function tone(delta) {
    return delta > 0 ? 'slower' : delta < 0 ? 'faster' : '';
}

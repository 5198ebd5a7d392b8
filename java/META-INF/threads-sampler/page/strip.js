// SPDX-License-Identifier: Apache-2.0
// The strip over the graph: how much thread time each second had in each state, so that a spike is seen.

/** @type {SecondState[]} from the bottom of a bar to its top; idle time is said, not drawn */
const SECOND_STATES = ['running', 'runnable', 'blocked', 'io', 'waiting', 'idle'];
const DRAWN_STATES = SECOND_STATES.filter((state) => state !== 'idle');
const SVG = 'http://www.w3.org/2000/svg';
const MILLIS = 1000;
const NANOS_PER_MILLI = 1e6;

/**
 * The milliseconds of each state by slot, of one group or of all.
 *
 * @param {ReportSeconds | undefined} seconds
 * @param {string | null} name of the group; null: all. A group without a row is in that of all others
 * @returns {SecondTimes | null} null: nothing is known
 */
function secondsOf(seconds, name) {
    if (seconds === undefined || !(seconds.count > 0)) {
        return null;
    }
    const own = seconds.groups.filter((group) => group.name === name);
    const others = seconds.groups.filter((group) => group.name === '[other threads]');
    const rows = name === null ? seconds.groups : own.length > 0 ? own : others;
    const zeros = () => new Array(seconds.count).fill(0);
    const times = /** @type {SecondTimes} */ ({
        from: seconds.from,
        width: seconds.width,
        name: name === null ? null : own.length > 0 ? name : (others[0]?.name ?? name),
        active: zeros(),
        states: Object.fromEntries(SECOND_STATES.map((state) => [state, zeros()])),
    });
    for (const row of rows) {
        for (const state of SECOND_STATES) {
            (row[state] ?? []).slice(0, seconds.count).forEach((millis, slot) => {
                times.states[state][slot] += millis;
                times.active[slot] += state === 'idle' ? 0 : millis;
            });
        }
    }
    return times;
}

/**
 * The time of each state in a slot, or in all of them.
 *
 * @param {SecondTimes} times
 * @param {number} slot -1: all
 */
function stateParts(times, slot) {
    return SECOND_STATES.map((state) => {
        const millis = slot < 0 ? times.states[state].reduce((sum, one) => sum + one, 0) : times.states[state][slot];
        return { state, millis, text: `${STATE_WORDS[state]} ${duration(millis * NANOS_PER_MILLI)}` };
    }).filter(({ millis }) => millis > 0);
}

/**
 * @param {SecondTimes} times
 * @param {number} slot
 * @param {Zone} zone
 * @returns {string} its time of day
 */
function slotText(times, slot, { name, minutes }) {
    const begin = clockOf(new Date((times.from + slot * times.width) * MILLIS), minutes);
    return begin + name + (times.width === 1 ? '' : ` and the next ${times.width - 1} s`);
}

/**
 * @param {SecondTimes} times
 * @param {number} slot
 * @param {Zone} zone
 * @returns {string} its time of day and its states
 */
function secondText(times, slot, zone) {
    const parts = stateParts(times, slot).map(({ text }) => text);
    return `${slotText(times, slot, zone)}: ${parts.length > 0 ? parts.join(', ') : 'no time'}`;
}

/**
 * One path for each state: a box for each slot, on those of the states before.
 *
 * @param {SecondTimes} times
 * @returns {{ state: SecondState, path: string }[]}
 */
function stripPaths(times) {
    const most = Math.max(1, ...times.active);
    const base = times.active.map(() => 0);
    return DRAWN_STATES.map((state) => {
        let path = '';
        times.states[state].forEach((millis, slot) => {
            if (millis > 0) {
                base[slot] += millis;
                path += `M${slot} ${most - base[slot]}h1v${millis}h-1z`;
            }
        });
        return { state, path };
    });
}

class Strip {
    /**
     * @param {HTMLElement} host
     * @param {Colours} colours
     */
    constructor(host, colours) {
        this.host = host;
        this.colours = colours;
        this.slot = -1;
        /** @type {SecondTimes | null} */
        this.times = null;
        /** @type {Zone} */
        this.zone = { name: '' };
        this.chart = element('div', 'seconds', '');
        this.text = element('p', 'seconds-text', '');
        this.text.setAttribute('role', 'status');
        this.chart.setAttribute('role', 'img');
        this.chart.tabIndex = 0;
        this.chart.addEventListener('pointermove', (event) => {
            const box = this.chart.getBoundingClientRect();
            const count = this.times?.active.length ?? 0;
            this.choose(Math.floor(((event.clientX - box.left) / box.width) * count));
        });
        this.chart.addEventListener('pointerleave', () => this.choose(-1));
        this.chart.addEventListener('keydown', (event) => this.key(event));
        host.replaceChildren(this.text, this.chart);
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        const count = this.times?.active.length ?? 0;
        const slots = { ArrowLeft: this.slot - 1, ArrowRight: this.slot + 1, Home: 0, End: count - 1 };
        if (event.key in slots) {
            event.preventDefault();
            event.stopPropagation(); // the page's own keys
            this.choose(Math.max(0, Math.min(count - 1, slots[/** @type {keyof slots} */ (event.key)])));
        }
    }

    /**
     * @param {ReportSeconds | undefined} seconds
     * @param {Zone} zone
     * @param {string | null} name of the chosen group; null: all
     */
    show(seconds, zone, name) {
        this.times = secondsOf(seconds, name);
        this.zone = zone;
        this.host.hidden = this.times === null;
        this.draw();
    }

    draw() {
        if (this.times === null) {
            return;
        }
        const { active } = this.times;
        const drawing = document.createElementNS(SVG, 'svg');
        drawing.setAttribute('viewBox', `0 0 ${active.length} ${Math.max(1, ...active)}`);
        drawing.setAttribute('preserveAspectRatio', 'none');
        drawing.setAttribute('aria-hidden', 'true');
        for (const { state, path } of stripPaths(this.times)) {
            const shape = document.createElementNS(SVG, 'path');
            shape.setAttribute('fill', this.colours.theme.states[state]);
            shape.setAttribute('d', path);
            drawing.append(shape);
        }
        this.mark = document.createElementNS(SVG, 'rect');
        this.mark.setAttribute('class', 'mark');
        this.mark.setAttribute('width', '1');
        this.mark.setAttribute('height', '100%');
        drawing.append(this.mark);
        this.chart.replaceChildren(drawing);
        this.choose(this.slot < active.length ? this.slot : -1);
    }

    /** @param {number} slot -1: none */
    choose(slot) {
        const { times, zone } = this;
        if (times === null || slot >= times.active.length) {
            return;
        }
        const title = `Active time per second, ${times.name === null ? 'all groups' : clean(times.name)}`;
        const highest = times.active.indexOf(Math.max(...times.active));
        this.slot = slot;
        this.mark?.setAttribute('visibility', slot < 0 ? 'hidden' : 'visible');
        this.mark?.setAttribute('x', String(slot));
        this.text.replaceChildren(
            element('span', '', (slot < 0 ? title : slotText(times, slot, zone)) + ':'),
            ...stateParts(times, slot).map(({ state, text }) =>
                legendItem('span', state === 'idle' ? '' : this.colours.theme.states[state], text)
            )
        );
        this.chart.setAttribute(
            'aria-label',
            `${title}; most at ${secondText(times, highest, zone)}. Arrow keys show the seconds.`
        );
    }
}

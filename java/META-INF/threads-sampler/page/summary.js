// SPDX-License-Identifier: Apache-2.0
// The summary: its lines as a report prints them. A hot spot's line is a button that focuses the graph.

/**
 * A spot as the frames of the model are written; its method where the line is not known.
 *
 * @param {Frames} frames
 * @param {HotSpot} spot
 */
function textOfSpot(frames, spot) {
    const name = clean((spot.class ?? '') + '.' + (spot.method ?? ''));
    const whole = name + placeOf(spot);
    return frames.text.includes(whole) ? whole : name;
}

class Summary {
    /**
     * @param {HTMLElement} host
     * @param {(spot: HotSpot) => void} focus
     */
    constructor(host, focus) {
        this.host = host;
        this.focus = focus;
        this.shown = '';
    }

    /**
     * A difference has no summary.
     *
     * @param {Model} model
     */
    show({ reports }) {
        const summary = reports.length === 1 ? reports[0].summary : undefined;
        const lines = (summary?.lines ?? []).map(clean);
        this.host.hidden = lines.length === 0;
        // The same lines stay as they are, or a button would lose the focus.
        if (this.shown !== lines.join('\n')) {
            this.shown = lines.join('\n');
            this.host.replaceChildren(...lines.map((line) => this.line(line, summary?.hotSpots ?? [])));
        }
    }

    /**
     * @param {string} line
     * @param {HotSpot[]} spots
     */
    line(line, spots) {
        const number = /^ *(\d+)\. /.exec(line);
        const spot = number === null ? undefined : spots[Number(number[1]) - 1];
        if (spot === undefined) {
            return element('p', '', line);
        }
        const button = element('button');
        button.type = 'button';
        button.title = 'Show this place in the graph';
        button.append(...lineParts(line, spot));
        button.addEventListener('click', () => this.focus(spot));
        return button;
    }
}

/**
 * The columns of a hot spot's line: a narrow window leaves out the error bar, the file, and what is no lock.
 *
 * @param {string} line
 * @param {HotSpot} spot
 */
function lineParts(line, spot) {
    const columns = /^( *\d+\. +[\d.]+)( .*?)?( s \S+ +)(\S+)(.*)$/.exec(line);
    if (columns === null) {
        return [line];
    }
    const [, amount, bar, state, place, rest] = columns;
    const time = element('span', '', amount);
    time.append(element('span', 'bar', bar), state);
    const name = element('span', 'text');
    name.append(...nameParts(place));
    return [time, name, element('span', spot.lock === undefined ? 'rest' : 'lock', rest)];
}

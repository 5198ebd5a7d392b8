// SPDX-License-Identifier: Apache-2.0
// Colours of frames. A package keeps its colour while the page is open, whatever a refresh brings.

const HUES = [22, 205, 140, 285, 48, 175, 335, 245, 95, 0];
/** @type {{ light: Theme, dark: Theme }} */
const THEMES = {
    light: {
        package: (hue) => `hsl(${hue} 74% 76%)`,
        states: {
            running: 'hsl(140 50% 70%)',
            runnable: 'hsl(48 85% 68%)',
            blocked: 'hsl(4 82% 76%)',
            io: 'hsl(205 74% 76%)',
            waiting: 'hsl(275 58% 82%)',
            idle: 'hsl(215 10% 84%)',
        },
        other: 'hsl(30 22% 82%)',
        jdk: 'hsl(215 16% 86%)',
        pseudo: 'hsl(0 0% 93%)',
        group: 'hsl(222 30% 76%)',
        text: '#14181f',
        textDim: '#6a7280',
        line: '#ffffff',
        found: '#b517c9',
        foundText: '#ffffff',
        muted: 'hsl(215 14% 92%)',
        hover: '#14181f',
        chosen: '#1d4fd8',
        hatch: '#b9bec6',
        same: 'hsl(215 14% 88%)',
        slower: (part) => `hsl(4 ${50 + 35 * part}% ${90 - 28 * part}%)`,
        faster: (part) => `hsl(212 ${50 + 35 * part}% ${90 - 28 * part}%)`,
    },
    dark: {
        package: (hue) => `hsl(${hue} 38% 36%)`,
        states: {
            running: 'hsl(140 38% 28%)',
            runnable: 'hsl(44 55% 30%)',
            blocked: 'hsl(4 50% 38%)',
            io: 'hsl(208 48% 35%)',
            waiting: 'hsl(275 28% 39%)',
            idle: 'hsl(215 8% 27%)',
        },
        other: 'hsl(30 10% 34%)',
        jdk: 'hsl(215 12% 29%)',
        pseudo: 'hsl(0 0% 19%)',
        group: 'hsl(222 26% 34%)',
        text: '#f0f3f8',
        textDim: '#8d96a5',
        line: '#14171c',
        found: '#d65ce6',
        foundText: '#16051a',
        muted: 'hsl(215 10% 21%)',
        hover: '#ffffff',
        chosen: '#8fb1ff',
        hatch: '#4a505a',
        same: 'hsl(215 10% 27%)',
        slower: (part) => `hsl(4 ${30 + 35 * part}% ${28 + 17 * part}%)`,
        faster: (part) => `hsl(212 ${30 + 35 * part}% ${28 + 17 * part}%)`,
    },
};
const FULL_COLOUR_CHANGE = 0.5; // a change by half has the full colour
const FULL_COLOUR_SHARE = 0.01; // and so much of the view, else less

class Colours {
    /** @type {string[]} packages, most time first */
    ranked = [];
    /** @type {Theme} */
    theme;
    /** @type {Paint} */
    paint = 'state';

    constructor() {
        /** @type {Map<string, number>} */
        this.hueOf = new Map(); // package -> index into HUES, or -1: there were more packages than hues
        this.setTheme('light');
    }

    /** @param {'light' | 'dark'} name */
    setTheme(name) {
        this.theme = THEMES[name];
    }

    /**
     * Packages in the order of their own time get the hues that are left.
     *
     * @param {Model} model
     */
    assign(model) {
        const time = new Map();
        for (let i = 1; i < model.count; i++) {
            const frame = model.frame[i];
            if (model.frames.kind[frame] === KIND.JAVA) {
                const key = model.frames.colour[frame];
                const self = model.self.wall[i] + (model.isDiff ? model.self.wall0[i] : 0);
                time.set(key, (time.get(key) ?? 0) + self);
            }
        }
        this.ranked = [...time.keys()].sort((a, b) => (time.get(b) ?? 0) - (time.get(a) ?? 0) || (a < b ? -1 : 1));
        for (const key of this.ranked) {
            if (!this.hueOf.has(key)) {
                this.hueOf.set(key, this.hueOf.size < HUES.length ? this.hueOf.size : -1);
            }
        }
    }

    /** @param {Model} model */
    isByState(model) {
        return this.paint === 'state' && model.hasStates && !model.isDiff;
    }

    /** @param {string} key */
    ofPackage(key) {
        const index = this.hueOf.get(key) ?? -1;
        return index < 0 ? this.theme.other : this.theme.package(HUES[index]);
    }

    /**
     * The state that has most of a node's time.
     *
     * @param {{ state: string, time: number }[]} states
     */
    ofStates(states) {
        const most = states.reduce((best, part) => (part.time > best.time ? part : best), states[0]);
        return this.theme.states[most.state];
    }

    /**
     * @param {Frames} frames
     * @param {number} frame
     */
    ofFrame(frames, frame) {
        switch (frames.kind[frame]) {
            case KIND.JAVA:
                return this.ofPackage(frames.colour[frame]);
            case KIND.JDK:
                return this.theme.jdk;
            case KIND.PSEUDO:
                return this.theme.pseudo;
            default:
                return this.theme.group;
        }
    }

    /**
     * @param {number} delta
     * @param {number} width
     * @param {number} whole
     */
    ofChange(delta, width, whole) {
        if (delta === 0 || !(width > 0)) {
            return this.theme.same;
        }
        const change = Math.min(1, Math.abs(delta) / width / FULL_COLOUR_CHANGE);
        const weight = Math.min(1, Math.abs(delta) / (whole * FULL_COLOUR_SHARE));
        const part = Math.round(10 * change * weight) / 10;
        if (part === 0) {
            return this.theme.same;
        }
        return delta > 0 ? this.theme.slower(part) : this.theme.faster(part);
    }

    /**
     * [colour, words]: the legend.
     *
     * @param {Model} model
     * @param {Metric} metric
     * @returns {string[][]}
     */
    legend(model, metric) {
        if (model.isDiff) {
            return [
                [this.theme.slower(1), 'slower'],
                [this.theme.faster(1), 'faster'],
                [this.theme.same, 'as before'],
            ];
        }
        if (this.isByState(model)) {
            return model
                .statesOf(metric, 0)
                .filter(({ time }) => time > 0)
                .map(({ state }) => [this.theme.states[state], STATE_WORDS[state]]);
        }
        const named = this.ranked.filter((key) => (this.hueOf.get(key) ?? -1) >= 0).slice(0, 5);
        return named.map((key) => [this.ofPackage(key), key || '(no package)']).concat([[this.theme.jdk, 'JDK']]);
    }
}

/**
 * @param {'li' | 'span'} tag
 * @param {string} colour none: words alone
 * @param {string} words
 */
function legendItem(tag, colour, words) {
    const item = element(tag);
    if (colour !== '') {
        const swatch = element('span', 'swatch');
        swatch.style.backgroundColor = colour;
        item.append(swatch);
    }
    item.append(element('span', '', words));
    return item;
}

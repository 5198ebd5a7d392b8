// SPDX-License-Identifier: Apache-2.0
// Numbers and names as people read them. Names are data from the sampled program: they reach the
// document through textContent and the canvas only, and what would turn a line over is shown escaped.

const ONE_DIGIT = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const NAME_LIMIT = 400; // characters of a name in a row; a title shows TITLE_LIMIT
const TITLE_LIMIT = 2000;

/** @param {number} n */
const whole = (n) => WHOLE.format(n);

/**
 * @param {number} n
 * @param {string} noun of one
 */
function numberOf(n, noun) {
    return whole(n) + ' ' + noun + (n === 1 ? '' : 's');
}

/**
 * Milliseconds; a digit after the point only where there is little before it.
 *
 * @param {number} ns
 */
function millis(ns) {
    const ms = ns / 1e6;
    return ms === 0 || Math.abs(ms) >= 10 ? WHOLE.format(ms) : ONE_DIGIT.format(ms);
}

/**
 * Half the width of an error bar, to the two digits that are known of it; nothing where it is not known.
 *
 * @param {number} ns
 * @param {number} half
 */
function errorBar(ns, half) {
    if (Number.isNaN(half)) {
        return '';
    }
    if (half === 0) {
        return 'exact';
    }
    const digits = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 });
    return half >= Math.abs(ns) ? '< ' + digits.format((ns + 2 * half) / 1e6) : '± ' + digits.format(half / 1e6);
}

/**
 * @param {string} text
 * @param {number} value
 */
function signed(text, value) {
    return value > 0 ? '+' + text : text;
}

/**
 * @param {number} part
 * @param {number} of
 */
function percent(part, of) {
    if (!(of > 0)) {
        return part ? '–' : '0.0 %';
    }
    const p = (100 * part) / of;
    if (p !== 0 && Math.abs(p) < 0.05) {
        return p > 0 ? '< 0.1 %' : '> -0.1 %';
    }
    return ONE_DIGIT.format(p) + ' %';
}

/** @param {number} ns */
function duration(ns) {
    const sign = ns < 0 ? '-' : '';
    const s = Math.abs(ns) / 1e9;
    if (s === 0) {
        return '0 s';
    }
    if (s < 1) {
        return sign + ONE_DIGIT.format(s * 1e3) + ' ms';
    }
    if (s < 100) {
        return sign + s.toFixed(2) + ' s';
    }
    const seconds = Math.round(s);
    if (seconds < 7200) {
        return sign + Math.floor(seconds / 60) + ' min ' + (seconds % 60) + ' s';
    }
    const minutes = Math.round(s / 60);
    return sign + whole(Math.floor(minutes / 60)) + ' h ' + (minutes % 60) + ' min';
}

/** @param {number} n */
function bytes(n) {
    return n < 1e6 ? ONE_DIGIT.format(n / 1e3) + ' kB' : ONE_DIGIT.format(n / 1e6) + ' MB';
}

/**
 * @param {Date} date
 * @param {number} [minutes] that its zone is east of UTC; the viewer's if that is not given
 */
function isoOf(date, minutes = -date.getTimezoneOffset()) {
    return new Date(date.getTime() + minutes * 60_000).toISOString();
}

/**
 * @param {Date} date
 * @param {number} [minutes]
 */
function dayOf(date, minutes) {
    return isoOf(date, minutes).slice(0, 10);
}

/**
 * @param {Date} date
 * @param {number} [minutes]
 */
function clockOf(date, minutes) {
    return isoOf(date, minutes).slice(11, 19);
}

/**
 * The zone of the JVM, in which the text report has its times, too. A report of an older version has none: then times are
 * the viewer's.
 *
 * @param {SamplerReport} report
 * @returns {Zone}
 */
function zoneOf({ zone, zoneOffsetSeconds: seconds }) {
    return seconds === undefined ? { name: '' } : { name: ' ' + clean(zone ?? ''), minutes: seconds / 60 };
}

/**
 * "2026-11-20 10:00:00 – 10:15:00 CET", the day again only where it is another.
 *
 * @param {number} fromMillis
 * @param {number} tillMillis
 * @param {Zone} zone
 */
function span(fromMillis, tillMillis, { name, minutes }) {
    const [from, till] = [new Date(fromMillis), new Date(tillMillis)];
    const day = dayOf(from, minutes);
    const end = dayOf(till, minutes);
    return `${day} ${clockOf(from, minutes)} – ${end === day ? '' : end + ' '}${clockOf(till, minutes)}${name}`;
}

// Control and format characters, and separators of lines: they cannot be seen, or reverse the text around them.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** @param {string} text */
function clean(text) {
    return text.replace(UNSEEN, (c) =>
        c.split('').map((unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')).join('')
    );
}

/**
 * At most limit characters; says how many there are where it cuts.
 *
 * @param {string} text
 * @param {number} limit
 */
function shorten(text, limit) {
    if (text.length <= limit) {
        return text;
    }
    return wholeCharacters(text.slice(0, limit)) + '… (' + whole(text.length) + ' characters)';
}

/**
 * Without half of a surrogate pair at the end.
 *
 * @param {string} text
 */
function wholeCharacters(text) {
    return text.replace(/[\ud800-\udbff]$/, '');
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[T]}
 */
function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) {
        made.className = className;
    }
    if (text !== undefined) {
        made.textContent = text;
    }
    return made;
}

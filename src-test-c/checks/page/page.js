// SPDX-License-Identifier: Apache-2.0
// The scripts of the HTML reports' page, loaded without a browser, in the order in which assemble.sh joins them.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const FOLDER = path.resolve(__dirname, '../../../java/META-INF/threads-sampler/page');

function scriptNames() {
    const list = /^scripts=\((.*)\)$/m.exec(fs.readFileSync(path.join(FOLDER, 'assemble.sh'), 'utf8'));
    return list[1].split(' ');
}

/** Replaces d3-hierarchy's class; the page sets all other fields itself. */
class Node {
    constructor(data) {
        this.data = data;
        this.height = 0;
    }
}

/**
 * The last script starts the page. Here the start fails, because no element can be created, and the page reports it
 * in the only existing element.
 */
const elements = { fatal: {} };
const document = { getElementById: (id) => (elements[id] ??= {}) };
const names = [
    'KIND', 'Frames', 'packageOf', 'placeOf', 'modelOf', 'checkFormat', 'hotList', 'callTree', 'nearly', 'searchFor',
    'millis', 'signed', 'percent', 'duration', 'bytes', 'span', 'zoneOf', 'fitted', 'lackingText', 'clean', 'shorten', 'wholeCharacters', 'whole',
    'modelsOf', 'countedOf', 'callersOf', 'rollUp', 'rollUpName', 'amountText', 'micros', 'timePerCall',
    'HUES', 'THEMES', 'Colours', 'columnsOf', 'tone', 'describe', 'OUTCOMES', 'COUNTERS', 'COUNTING', 'outcomeOf',
    'counterOf', 'countingOf', 'numberOf', 'sumOf',
    'unionOfKeys', 'Account', 'locksOf', 'secondsOf', 'secondText', 'stripPaths', 'threadsOf', 'textOfSpot', 'filtered',
    'isFiltering', 'calleesOf', 'collapsed', 'speedscope', 'pprofOf', 'reportText', 'stackText', 'changeOf', 'Flame', 'boxAt', 'Grid', 'App', 'wordsOfFinds',
];
const source = scriptNames().map((name) => fs.readFileSync(path.join(FOLDER, name + '.js'), 'utf8')).join('\n');

module.exports = new Function('document', 'd3', `'use strict';\n${source}\nreturn { ${names.join(', ')} };`)(document, {
    Node,
});
module.exports.whyThePageDidNotStart = elements.fatal.textContent;

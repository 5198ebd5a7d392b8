// SPDX-License-Identifier: Apache-2.0
//
// speedscope.js FOLDER NAME...: SPEEDSCOPE files, opened by speedscope itself in Chromium: each profile must be there
// with its name and its total. speedscope is found by NODE_PATH.
'use strict';

const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');

const [folder, ...names] = process.argv.slice(2);
const page = path.join(path.dirname(require.resolve('speedscope/package.json')), 'dist', 'release', 'index.html');
const PATIENCE_MS = 120000;
// Limits of the page's own time. That time stops while the page loads something, but not while another process of Chromium
// waits for a CPU. If the page is not ready in time, the next limit is tried.
const BUDGETS_MS = [20000, 100000, 1000000];
let bad = 0;

function expect(held, what) {
    if (!held) {
        console.error('speedscope.js: ' + what);
        bad = 1;
    }
}

// No sandbox: checks run as root, in containers. speedscope needs WebGL, which has to do without a graphics card here.
const ARGUMENTS = ['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking',
    '--no-first-run', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--dump-dom', '--user-data-dir=' + path.join(folder, 'chromium')];

// The texts of the page after it has opened a file with these bytes, which are passed as by
// speedscope's own command line.
function open(file, bytes, budget = BUDGETS_MS[0]) {
    const script = path.join(folder, 'load.js');
    fs.writeFileSync(script,
        `speedscope.loadFileFromBase64(${JSON.stringify(file)}, ${JSON.stringify(bytes.toString('base64'))})`);
    const url = pathToFileURL(page) + '#localProfilePath=' + script + '&view=sandwich';
    return textsOf(execFileSync('chromium', [...ARGUMENTS, '--virtual-time-budget=' + budget, url],
        { encoding: 'utf8', maxBuffer: 1 << 28, timeout: PATIENCE_MS, stdio: ['ignore', 'pipe', 'ignore'] }));
}

// Returns the complaints of look(texts) about the page of a file; none if the page is right, now
// or later.
function complaints(file, bytes, look) {
    let found = [];
    for (const budget of BUDGETS_MS) {
        found = look(open(file, bytes, budget));
        if (found.length === 0) {
            break;
        }
    }
    return found;
}

const ENTITIES = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&nbsp;': '\u00a0', '&amp;': '&' };

function textsOf(dom) {
    return dom.replace(/<script\b.*?<\/script>/gs, '').split(/<[^>]*>/)
        .map((text) => text.replace(/&(lt|gt|quot|nbsp|amp);/g, (entity) => ENTITIES[entity]));
}

// Formats a time as speedscope does.
function shown(nanoseconds) {
    for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['\u00b5s', 1e3]]) {
        if (nanoseconds >= size) {
            return (nanoseconds / size).toFixed(2) + unit;
        }
    }
    return nanoseconds + 'ns';
}

function check(name) {
    const file = name + '.wall.speedscope.json';
    const bytes = fs.readFileSync(path.join(folder, file));
    const { profiles } = JSON.parse(bytes);
    complaints(file, bytes, (texts) => {
        const found = [];
        if (!texts.some((text) => text.includes('/' + profiles.length + ')'))) {
            found.push('not all profiles are there');
        }
        for (const profile of profiles) {
            const total = shown(profile.endValue);
            const isThere = texts.some((text, i) => text === profile.name
                && texts.slice(i + 1).find((next) => next !== '') === total);
            if (!isThere && profile.name !== '') {
                found.push('not shown: ' + profile.name.slice(0, 40) + ' with ' + total);
            }
            if (!texts.includes(total)) {
                found.push('no total of ' + total);
            }
        }
        return found;
    }).forEach((complaint) => expect(false, file + ': ' + complaint));
}

// PPROF: among its sample types speedscope shows wall time, all of it.
function checkPprof(name) {
    const file = name + '.pprof';
    const [wall] = fs.readFileSync(path.join(folder, name + '.sums'), 'utf8').split(' ').map(Number);
    complaints(file, fs.readFileSync(path.join(folder, file)), (texts) => {
        // A row has its total, its own time and its name; the own times add up to the total.
        const times = texts.map((text) => text.match(/^([\d.]+)(s|ms|\u00b5s|ns) \(/)).filter((match) => match !== null);
        const own = times.filter((_, i) => i % 2 === 1)
            .reduce((sum, [, digits, unit]) => sum + digits * { s: 1e9, ms: 1e6, '\u00b5s': 1e3, ns: 1 }[unit], 0);
        return Math.abs(own - wall) < wall / 100 ? [] : [`${shown(own)} are shown, wall time is ${shown(wall)}`];
    }).forEach((complaint) => expect(false, file + ': ' + complaint));
}

names.forEach(check);
checkPprof(names[0]);
process.exit(bad);

// SPDX-License-Identifier: Apache-2.0
//
// exporters.js FOLDER NAME...: JSON files of export_examples are well formed, and their columns add up to the tree's totals.
// If there is a NAME.names, every format has exactly these names.
'use strict';

const fs = require('fs');
const path = require('path');

const [folder, ...names] = process.argv.slice(2);
let bad = 0;

function fail(what) {
    console.error('exporters.js: ' + what);
    bad = 1;
}

function expect(held, what) {
    if (!held) {
        fail(what);
    }
    return held;
}

const text = (file) => fs.readFileSync(path.join(folder, file), 'utf8');
const sum = (values) => values.reduce((a, b) => a + b, 0);
const isCount = (value) => Number.isInteger(value) && value >= 0;
const sorted = (lines) => [...lines].sort().join('\n');

// The sums of each group: "wall cpu samples bytes-of-name".
function groupsOf(name) {
    return text(name + '.sums').split('\n').filter((l) => l.startsWith('group ')).map((l) => l.slice(6));
}

// ------------------------------------------------------------------------------------------------ JSON

function isFrame(frame) {
    if (frame.pseudo !== undefined) {
        return typeof frame.pseudo === 'string' && Object.keys(frame).length === 1;
    }
    return typeof frame.class === 'string' && typeof frame.method === 'string'
        && (frame.line === undefined || frame.line > 0) && (frame.native === undefined || frame.native === true);
}

function isGroup(group, frames) {
    const { parent, frame, wall, cpu, samples } = group;
    const length = parent.length;
    return [frame, wall, cpu, samples].every((column) => column.length === length && column.every(isCount))
        && parent.every((at, i) => Number.isInteger(at) && at >= -1 && at < i)
        && frame.every((at) => at < frames)
        && Number.isInteger(group.polls) && sum(Object.values(group.outcomes)) === group.polls;
}

// The hot spots and the remaining time add up to the active time. The examples have no states, so
// that is all time except the time of [JVM].
function isSummary(summary, groups) {
    const { hotSpots, others, elsewhere, lines, activeNanos } = summary;
    const sampled = groups.filter((g) => g.name !== '[JVM]');
    return sum(hotSpots.map((s) => s.nanos)) + others.nanos + (elsewhere ? elsewhere.nanos : 0) === activeNanos
        && activeNanos === sum(sampled.map((g) => sum(g.wall)))
        && hotSpots.every((s) => typeof s.class === 'string' && typeof s.group === 'string' && s.groups > 0)
        && hotSpots.length <= 10
        && lines.length > 1 && lines.length < 25
        && lines.every((line) => typeof line === 'string' && [...line].length <= 130);
}

function faultsOfJson(document, name) {
    const faults = [];
    const frames = document.frames.map((f) => JSON.stringify(f));
    const found = document.groups.map((g) =>
        [sum(g.wall), sum(g.cpu), sum(g.samples), Buffer.byteLength(g.name)].join(' '));
    if (document.format !== 'threads-sampler/1') faults.push('format');
    if (!document.frames.every(isFrame)) faults.push('frames');
    if (new Set(frames).size !== frames.length) faults.push('a frame twice');
    if (!document.groups.every((g) => isGroup(g, frames.length))) faults.push('groups');
    if (sum(Object.values(document.account.outcomes)) !== document.account.polls) faults.push('account');
    if (sorted(found) !== sorted(groupsOf(name))) faults.push('sums');
    if (!isSummary(document.summary, document.groups)) faults.push('summary');
    return faults;
}

function checkJson(name) {
    const source = text(name + '.json');
    const faults = faultsOfJson(JSON.parse(source), name);
    expect(faults.length === 0, name + '.json: ' + faults.join(', '));
    expect(!/[<>&\u2028\u2029]/.test(source), name + '.json: not safe inside a script element');
}

// ----------------------------------------------------------------------------------------------- names

const LINES = [10, 20, 35];

// Every frame: {class, method, file, line}; file and line are undefined if the frame has none.
function framesOf(name) {
    const words = text(name + '.names').split('\0');
    const frames = [];
    for (let i = 0; i + 3 < words.length; i += 4) {
        const [type, method, file, kind] = words.slice(i, i + 4);
        const lines = kind === 'native' || file === '-' ? [undefined] : LINES;
        lines.forEach((line) => frames.push(
            { type, method, file: file === '-' ? undefined : file, line, isNative: kind === 'native' }));
    }
    return frames;
}

const SHORT = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

// Characters that would end a record or control a terminal.
const printable = (name) => name.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]/g,
    (c) => SHORT[c] ?? '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

function rowOf(frame) {
    const place = frame.isNative ? 'Native Method' : frame.file === undefined ? 'Unknown Source'
        : frame.file + ':' + frame.line;
    return printable(`${frame.type}.${frame.method}(${place})`);
}

// The names that each format must show, and those that it shows.
function namesIn(name, frames) {
    const json = JSON.parse(text(name + '.json')).frames;
    const speedscope = JSON.parse(text(name + '.wall.speedscope.json')).shared.frames;
    const lines = text(name + '.wall.collapsed').split('\n').filter((line) => line !== '');
    const stacks = lines.map((line) => line.slice(0, line.lastIndexOf(' ')).split(';').slice(1));
    return {
        json: [frames.map((f) => JSON.stringify([f.type, f.method, f.file, f.line, f.isNative])),
            json.filter((f) => f.pseudo === undefined)
                .map((f) => JSON.stringify([f.class, f.method, f.file, f.line, f.native === true]))],
        speedscope: [frames.map((f) => JSON.stringify([f.type + '.' + f.method, f.file, f.line])),
            speedscope.filter((f) => f.name !== '[thread ended]').map((f) => JSON.stringify([f.name, f.file, f.line]))],
        collapsed: [frames.map((f) => rowOf(f).replaceAll(';', '\\u003b')),
            stacks.flat().filter((f) => f !== '[thread ended]')],
    };
}

const differenceOf = (a, b) => [...new Set(a)].filter((each) => !new Set(b).has(each)).map((each) => each.slice(0, 99));

function checkNames(name) {
    const frames = framesOf(name);
    for (const [format, [ours, theirs]] of Object.entries(namesIn(name, frames))) {
        const wrong = [...differenceOf(ours, theirs), ...differenceOf(theirs, ours)];
        expect(wrong.length === 0, `${name}, ${format}: other names: ${wrong.join(' | ')}`);
    }
    const rows = new Set(text(name + '.txt').split('\n')
        .map((line) => line.replace(/ +Cumulative time\(ms\): .*/, '').trimStart()));
    const missing = frames.map(rowOf).filter((row) => !rows.has(row.trimStart()));
    expect(missing.length === 0, name + '.txt: names are missing: ' + missing.map((row) => row.slice(0, 99)).join(' | '));
}

// A source file, below the folders of its class's package.
function pathOf(frame) {
    if (frame.file === undefined || frame.file.includes('/')) {
        return frame.file ?? '';
    }
    return frame.type.slice(0, frame.type.lastIndexOf('.') + 1).replaceAll('.', '/') + frame.file;
}

// go tool pprof prints names as "  7: 0x0 M=1 NAME FILE:LINE:0 s=START(SYSTEM NAME)"; the system name only if it differs.
function checkPprofNames(name) {
    const theirs = text(name + '.pprof.raw').split('\n').map((line) => line.match(/ M=1 (.*)$/s)?.[1])
        .filter((row) => row !== undefined && !row.startsWith('[thread ended]'));
    const ours = framesOf(name).map((f) => {
        const system = `${f.type.replaceAll('.', '/')}.${f.method}`;
        const start = f.file === undefined ? 0 : LINES[0];
        return printable(`${f.type}.${f.method} ${pathOf(f)}:${f.line ?? 0}:0 s=${start}`
            + (f.type.includes('.') ? `(${system})` : ''));
    });
    const wrong = [...differenceOf(ours, theirs), ...differenceOf(theirs, ours)];
    expect(wrong.length === 0, `${name}.pprof: other names: ${wrong.join(' | ')}`);
}

for (const name of names) {
    checkJson(name);
    if (fs.existsSync(path.join(folder, name + '.names'))) {
        checkNames(name);
    }
    if (fs.existsSync(path.join(folder, name + '.pprof.raw'))) {
        checkPprofNames(name);
    }
}
process.exit(bad);

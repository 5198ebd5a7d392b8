// SPDX-License-Identifier: Apache-2.0
//
// exporters.js FOLDER NAME...: JSON and SPEEDSCOPE files of export_examples: well formed, in themselves without
// contradiction, and summing up to what the tree says. With ajv and speedscope on NODE_PATH also against its schema.
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
        && Number.isInteger(group.attempts) && sum(Object.values(group.outcomes)) === group.attempts;
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
    if (sum(Object.values(document.account.outcomes)) !== document.account.attempts) faults.push('account');
    if (sorted(found) !== sorted(groupsOf(name))) faults.push('sums');
    return faults;
}

// Break a copy: the faults must be found.
function checkJsonMutants(source, name) {
    const mutants = {
        'a parent after its child': (d) => { d.groups[0].parent[0] = 1; },
        'an unknown frame': (d) => { d.groups[0].frame[0] = d.frames.length; },
        'a short column': (d) => { d.groups[0].wall.pop(); },
        'a nanosecond more': (d) => { d.groups[0].wall[0]++; },
    };
    for (const [what, mutate] of Object.entries(mutants)) {
        const document = JSON.parse(source);
        mutate(document);
        expect(faultsOfJson(document, name).length > 0, name + '.json: ' + what + ': not noticed');
    }
}

function checkJson(name) {
    const source = text(name + '.json');
    const faults = faultsOfJson(JSON.parse(source), name);
    expect(faults.length === 0, name + '.json: ' + faults.join(', '));
    expect(!/[<>&\u2028\u2029]/.test(source), name + '.json: not safe inside a script element');
    checkJsonMutants(source, name);
}

// ------------------------------------------------------------------------------------------ SPEEDSCOPE

function isProfile(profile, frames) {
    return profile.samples.length === profile.weights.length
        && profile.weights.every((weight) => isCount(weight) && weight > 0)
        && profile.samples.every((stack) => stack.length > 0 && stack.every((at) => isCount(at) && at < frames))
        && profile.endValue === sum(profile.weights);
}

function validator() {
    try {
        const Ajv = require('ajv');
        const release = path.join(path.dirname(require.resolve('speedscope/package.json')), 'dist', 'release');
        const schema = JSON.parse(fs.readFileSync(path.join(release, 'file-format-schema.json'), 'utf8'));
        return new Ajv({ strict: false }).compile(schema);
    } catch (e) {
        console.log('exporters.js: ajv and speedscope are missing: no schema (SMP_NODE_MODULES)');
        return null;
    }
}

function checkSchema(validate, document, file) {
    expect(validate(document), file + ': ' + JSON.stringify(validate.errors));
    const mutant = JSON.parse(JSON.stringify(document));
    delete mutant.profiles[0].weights;
    expect(!validate(mutant), file + ': without weights: not refused');
}

function checkSpeedscope(validate, name, unit, column) {
    const file = name + '.' + unit + '.speedscope.json';
    const document = JSON.parse(text(file));
    const frames = document.shared.frames.length;
    expect(document.profiles.every((p) => isProfile(p, frames)), file + ': profiles');
    expect(sorted(document.profiles.map((p) => String(p.endValue)))
        === sorted(groupsOf(name).map((line) => line.split(' ')[column])), file + ': sums');
    if (validate !== null) {
        checkSchema(validate, document, file);
    }
}

const validate = validator();
for (const name of names) {
    checkJson(name);
    checkSpeedscope(validate, name, 'wall', 0);
    checkSpeedscope(validate, name, 'samples', 2);
}
process.exit(bad);

// SPDX-License-Identifier: Apache-2.0
//
// speedscope_schema.js FOLDER NAME...: SPEEDSCOPE files against the schema speedscope publishes. Files that were broken
// on purpose must be refused. ajv and speedscope are found by NODE_PATH.
'use strict';

const fs = require('fs');
const path = require('path');
const Ajv = require('ajv');

const [folder, ...names] = process.argv.slice(2);
const release = path.join(path.dirname(require.resolve('speedscope/package.json')), 'dist', 'release');
const schema = JSON.parse(fs.readFileSync(path.join(release, 'file-format-schema.json'), 'utf8'));
const validate = new Ajv({ strict: false }).compile(schema);
let bad = 0;

function expect(held, what) {
    if (!held) {
        console.error('speedscope_schema.js: ' + what);
        bad = 1;
    }
}

const MUTANTS = {
    'without weights': (document) => { delete document.profiles[0].weights; },
    'a frame without a name': (document) => { delete document.shared.frames[0].name; },
    'a unit that is none': (document) => { document.profiles[0].unit = 'fortnights'; },
};

function check(file) {
    const source = fs.readFileSync(path.join(folder, file), 'utf8');
    expect(validate(JSON.parse(source)), file + ': ' + JSON.stringify(validate.errors));
    for (const [what, mutate] of Object.entries(MUTANTS)) {
        const document = JSON.parse(source);
        mutate(document);
        expect(!validate(document), file + ': ' + what + ': not refused');
    }
}

for (const name of names) {
    check(name + '.wall.speedscope.json');
    check(name + '.samples.speedscope.json');
}
process.exit(bad);

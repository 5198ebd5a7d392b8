// SPDX-License-Identifier: Apache-2.0
// ESLint's rules for the page's JavaScript: src-test-c/checks/page_lint.sh.
const js = require('@eslint/js');

module.exports = [
    js.configs.recommended,
    {
        // assemble.sh joins the files to one strict script, so the top level of one is seen by all.
        languageOptions: { ecmaVersion: 2022, sourceType: 'script' },
        linterOptions: { reportUnusedDisableDirectives: 'error' },
        rules: {
            'no-undef': 'off', // tsc finds these, and knows the other files
            'no-unused-vars': ['error', { vars: 'local', args: 'after-used', caughtErrors: 'none' }],
            'no-var': 'error',
            'prefer-const': 'error',
            eqeqeq: 'error',
            'no-eval': 'error',
            'no-implied-eval': 'error',
            'no-shadow': 'error',
            'no-throw-literal': 'error',
            'default-case-last': 'error',
            'no-return-assign': ['error', 'except-parens'],
            // Names are data of the sampled program: they reach the document as text only.
            'no-restricted-properties': [
                'error',
                ...['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'write'].map((property) => ({
                    property,
                    ...(property === 'write' ? { object: 'document' } : {}),
                    message: 'textContent only: a name could bring elements with it',
                })),
            ],
        },
    },
];

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# page_lint.sh FOLDER: checks the page's JavaScript by "tsc --checkJs" with FOLDER/tsconfig.json, and by ESLint with checks/node.
# SMP_NODE_MODULES names a node_modules folder, made by "npm ci" in a copy of checks/node. Exit 77: node or a module is missing.
# SMP_TOOLS=required: they must be installed.
set -euo pipefail

page=$(realpath "${1:?usage: page_lint.sh FOLDER}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
modules=${SMP_NODE_MODULES:-}
tsc=$modules/typescript/bin/tsc
eslint=$modules/eslint/bin/eslint.js
bad=0

if ! command -v node >/dev/null || [ ! -f "$tsc" ] || [ ! -f "$eslint" ]; then
    echo "page_lint.sh: node, or typescript and eslint in SMP_NODE_MODULES, are missing: the page's JavaScript is not checked"
    [ "${SMP_TOOLS:-}" != required ] || exit 1
    exit 77
fi

node "$tsc" --project "$page/tsconfig.json" --pretty false || bad=1
(cd "$page" && NODE_PATH=$modules node "$eslint" --config "$here/node/eslint.config.cjs" --max-warnings 0 '*.js') || bad=1
exit "$bad"

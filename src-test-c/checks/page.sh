#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# page.sh: tests the functions of the HTML reports' page against naive versions, with node's test runner. Exit 77: no node.
# SMP_TOOLS=required: it must be installed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# node --test came with node 18.
if ! node --help 2>/dev/null | grep -q -- '--test '; then
    echo "page.sh: node 18 or newer is missing: the page's JavaScript not checked"
    [ "${SMP_TOOLS:-}" != required ] || exit 1
    exit 77
fi
exec node --test "$here"/page/*.test.js

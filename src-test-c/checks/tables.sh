#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tables.sh ROOT CC [--write]: what documents and the page tell of outcomes and counters is what the lists in C say.
# --write brings them in line instead. In a document a table stands between
#
#   <!-- glossary: made by native/build.sh tables -->
#   <!-- end of glossary -->
set -euo pipefail

root=${1:?usage: tables.sh ROOT CC [--write]}
cc=${2:?usage: tables.sh ROOT CC [--write]}
write=${3:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
page=$root/java/META-INF/threads-sampler/page/outcomes.js
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# agree FILE WANTED: FILE is as the file WANTED, or becomes it.
agree() {
    cmp -s "$1" "$2" && return
    if [ "$write" = --write ]; then
        cp "$2" "$1"
        echo "tables.sh: wrote ${1#"$root"/}"
        return
    fi
    echo "tables.sh: ${1#"$root"/} is not what the lists in C say; native/build.sh tables writes it:" >&2
    diff "$1" "$2" >&2 || true
    bad=1
}

# document TABLE: the one document that holds the table, with the table as it must be.
document() {
    local table=$1 files
    files=$(cd "$root" && ls README.md ./*/README.md 2>/dev/null | xargs grep -l "^<!-- $table: " || true)
    if [ "$(wc -w <<<"$files")" != 1 ]; then
        echo "tables.sh: the table '$table' must be in exactly one README.md, found: ${files:-none}" >&2
        bad=1
        return
    fi
    "$work/tables" "$table" >"$work/$table"
    awk -v table="$table" -v rows="$work/$table" '
        index($0, "<!-- end of " table) == 1 { inside = 0 }
        !inside { print }
        index($0, "<!-- " table ": ") == 1 {
            inside = 1
            while ((getline row < rows) > 0)
                print row
        }
        END { exit inside }
    ' "$root/$files" >"$work/document" || {
        echo "tables.sh: $files: the table '$table' has no end" >&2
        bad=1
        return
    }
    agree "$root/$files" "$work/document"
}

"$cc" -std=c11 -I "$root/native/src" -o "$work/tables" "$here/tables.c"
"$work/tables" page >"$work/page"
agree "$page" "$work/page"
document glossary
exit "$bad"

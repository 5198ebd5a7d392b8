#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tables.sh ROOT CC [--write]: what documents and the page say of outcomes, counters, counting and options is what the lists in C
# say. --write brings them in line instead. In a document the glossary stands between
#
#   <!-- glossary: made by native/build.sh tables -->
#   <!-- end of glossary -->
#
# and the table of what the counting of calls tells between the same lines with "counting".
#
# The table of options has rows for other properties too, so only the rows that C knows are made. It stands below
#
#   <!-- options: rows that native/src/model/options.h has are made by native/build.sh tables -->
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

# The document with the table of options, each of C's rows as it must be.
document_options() {
    local files
    files=$(cd "$root" && ls README.md ./*/README.md 2>/dev/null | xargs grep -l '^<!-- options: ' || true)
    if [ "$(wc -w <<<"$files")" != 1 ]; then
        echo "tables.sh: the table of options must be in exactly one README.md, found: ${files:-none}" >&2
        bad=1
        return
    fi
    "$work/tables" options >"$work/options"
    awk -v rows="$work/options" '
        BEGIN {
            FS = "|"
            while ((getline row < rows) > 0) {
                split(row, cells, "|")
                wanted[cells[2]] = row
            }
        }
        $1 == "" && $2 in wanted { print wanted[$2]; delete wanted[$2]; next }
        { print }
        END {
            for (name in wanted) {
                print "tables.sh: no row for the option" name >"/dev/stderr"
                missing = 1
            }
            exit missing
        }
    ' "$root/$files" >"$work/document" || bad=1
    agree "$root/$files" "$work/document"
}

"$cc" -std=c11 -I "$root/native/src" -o "$work/tables" "$here/tables.c"
"$work/tables" page >"$work/page"
agree "$page" "$work/page"
document glossary
document counting
document_options
exit "$bad"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tables.sh ROOT CC [--write]: java/REFERENCE.md and the page agree with the lists in C of outcomes, counters, counting,
# measures and options. --write updates them. In the document each table except that of options is between
#
#   <!-- glossary: made by native/build.sh tables -->
#   <!-- end of glossary -->
#
# The table of options also has rows for other properties, so only the rows that C knows are written.
set -euo pipefail

root=${1:?usage: tables.sh ROOT CC [--write]}
cc=${2:?usage: tables.sh ROOT CC [--write]}
write=${3:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
document=$root/java/REFERENCE.md
page=$root/java/META-INF/threads-sampler/page/outcomes.js
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# agree FILE WANTED: compares FILE with the file WANTED, or replaces it by WANTED.
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

# made TABLE <DOCUMENT: prints the document with the right table.
made() {
    "$work/tables" "$1" >"$work/$1"
    awk -v table="$1" -v rows="$work/$1" '
        index($0, "<!-- end of " table) == 1 { inside = 0 }
        !inside { print }
        index($0, "<!-- " table ": ") == 1 {
            inside = found = 1
            while ((getline row < rows) > 0)
                print row
        }
        END { exit inside || !found }
    ' || {
        echo "tables.sh: ${document#"$root"/}: the table '$1' is missing, or has no end" >&2
        return 1
    }
}

# made_options <DOCUMENT: prints the document with the right row for each of C's options.
made_options() {
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
    '
}

"$cc" -std=c11 -I "$root/native/src" -o "$work/tables" "$here/tables.c"
"$work/tables" page >"$work/page"
agree "$page" "$work/page"
if made glossary <"$document" | made counting | made measures | made_options >"$work/document"; then
    agree "$document" "$work/document"
else
    bad=1
fi
exit "$bad"

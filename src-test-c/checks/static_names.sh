#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# static_names.sh ROOT: the names of static functions are unique, so that a name in a debugger or a profile identifies the
# function.
set -euo pipefail

root=${1:?usage: static_names.sh ROOT}
mapfile -t files < <(find "$root/native/src" -name '*.c' 2>/dev/null | sort)
[ ${#files[@]} -gt 0 ] || { echo "static_names.sh: no C file under $root" >&2; exit 1; }

exec awk -v count=${#files[@]} '
# The name before the first parenthesis of a declaration. If its type has its own line, the name is on the next line.
function see(line) {
    gsub(/__attribute__ *\(\(([^()]|\([^()]*\))*\)\)/, "", line)
    sub(/_Atomic\([^()]*\)/, "", line)
    is_open = line !~ /[(=;{]/
    if (is_open || line !~ /^[^=;{]*\(/)
        return
    sub(/ *\(.*/, "", line)
    sub(/.*[ *]/, "", line)
    if (line in file && file[line] != FILENAME) {
        print "static_names.sh: " FILENAME ":" FNR ": " line "() is in " file[line] ", too" > "/dev/stderr"
        bad = 1
    }
    file[line] = FILENAME
    names[line] = 1
}

FNR == 1 {
    is_open = 0
}

/^static / || is_open {
    see($0)
    next
}

/^__attribute__.* static / {
    see($0)
}

END {
    for (name in names)
        functions++
    print "static_names.sh: " functions " functions in " count " files"
    exit bad
}
' "${files[@]}"

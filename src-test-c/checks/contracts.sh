#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# contracts.sh ROOT: every header begins with "NAME.h - purpose" and its contract. Each part of the contract has its own
# line, in this order; parts may be missing:
#
#  * Owns     the data that the file owns, and for how long
#  * Threads  which threads may call it
#  * Errors   the calls that may fail
#  * Cost     of a call; continuation lines are indented
#
# No line of a C file has more than 100 columns, comments included, which clang-format does not wrap.
set -euo pipefail

root=${1:?usage: contracts.sh ROOT}
mapfile -t files < <(find "$root/native/src" -name '*.h' 2>/dev/null | sort)
[ ${#files[@]} -gt 0 ] || { echo "contracts.sh: no header under $root" >&2; exit 1; }

# Counts characters, not bytes: continuation bytes of UTF-8 are removed.
find "$root/native/src" "$root/src-test-c" -name '*.[ch]' -print0 2>/dev/null | LC_ALL=C xargs -0 awk '
{
    gsub(/[\200-\277]/, "")
}

length($0) > 100 {
    print "contracts.sh: " FILENAME ":" FNR ": more than 100 columns" > "/dev/stderr"
    bad = 1
}

END {
    exit bad
}
'

exec awk -v count=${#files[@]} '
function complain(what) {
    print "contracts.sh: " file ": " what > "/dev/stderr"
    bad = 1
}

function end_header() {
    if (file != "" && !named)
        complain("its first comment does not begin with \"" name " - \"")
}

FNR == 1 {
    end_header()
    file = FILENAME
    name = file
    sub(".*/", "", name)
    named = last = ended = 0
}

FNR == 2 && index($0, "/* " name " - ") == 1 {
    named = ended = 1
}

FNR == 3 && index($0, " * " name " - ") == 1 {
    named = 1
}

ended || FNR < 3 {
    next
}

/^ \*\// {
    ended = 1
    next
}

{
    if ($0 ~ /[^ *] +(Owns|Threads|Errors|Cost)  +[^ ]/)
        complain(FNR ": a part that does not stand on a line of its own")
    part = substr($0, 4, 9) ~ /^(Owns     |Threads  |Errors   |Cost     )$/
    if (part && substr($0, 1, 3) == " * ") {
        part = index("OwnsThreadsErrorsCost", substr($0, 4, 4))
        if (part <= last)
            complain(FNR ": the parts are not in order")
        last = part
        if ($0 ~ /^ \* [A-Za-z]+ +([Nn]othing|[Nn]one|[Nn]o)[.]?$/ ||
            $0 ~ /^ \* (Owns|Threads|Errors) +([Nn]othing|[Nn]one)([^a-z]|$)/)
            complain(FNR ": a part that says nothing")
    } else if (last && $0 !~ /^ \*(          .*)?$/) {
        complain(FNR ": a line of a part that is not set in")
    }
}

END {
    end_header()
    print "contracts.sh: " count " headers"
    exit bad
}
' "${files[@]}"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# handshakes.sh ROOT: no source calls a JVM function whose cost grows with the depth of a stack. During such a call the
# thread is stopped, and all threads are if something waits for a safepoint. So stacks are read from their leaves, up to a
# limit.
set -euo pipefail

root=${1:?usage: handshakes.sh ROOT}
mapfile -t files < <(find "$root/native/src" -name '*.[ch]' 2>/dev/null | sort)
[ ${#files[@]} -gt 0 ] || { echo "handshakes.sh: no C file under $root" >&2; exit 1; }

unbounded='GetFrameCount|GetAllStackTraces|GetThreadListStackTraces|GetOwnedMonitorInfo|GetOwnedMonitorStackDepthInfo'
exec awk -v unbounded="->($unbounded)[(]" '
function look() {
    gsub(/[ \t\n]+/, " ", text)
    if (match(text, unbounded))
        complain(substr(text, RSTART + 2, RLENGTH - 3))
    gsub(/->GetStackTrace[(] ?[^,]+, ?[^,]+, ?0,/, "", text)
    if (text ~ /->GetStackTrace[(]/)
        complain("GetStackTrace, from elsewhere than the leaf")
}

function complain(what) {
    print "handshakes.sh: " name ": " what > "/dev/stderr"
    bad = 1
}

FNR == 1 {
    look()
    text = ""
    name = FILENAME
}

{
    text = text $0 "\n"
}

END {
    look()
    exit bad
}
' "${files[@]}"

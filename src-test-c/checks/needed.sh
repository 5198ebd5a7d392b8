#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# needed.sh LIBRARY: the library depends only on libc, in the three files of an old glibc. It has no thread-locals and no path
# of the build machine, and all its symbols are resolved when it is loaded.
set -euo pipefail

library=${1:?usage: needed.sh LIBRARY}
bad=0

complain() {
    echo "needed.sh: $library $1" >&2
    bad=1
}

dynamic=$(readelf --wide --dynamic "$library")
others=$(sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' <<<"$dynamic" | grep -vE '^(libc\.so\.6|libpthread\.so\.0|libdl\.so\.2)$' || true)
[ -z "$others" ] || complain "needs more than libc: $(tr '\n' ' ' <<<"$others")"
! grep -qE '\((RPATH|RUNPATH)\)' <<<"$dynamic" || complain "carries a search path"
grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || complain "is not linked with -z now"
! readelf --wide --program-headers "$library" | grep -qE '^ +TLS ' || complain "has thread-locals (a TLS segment)"
! readelf --wide --program-headers "$library" | grep -E '^ +GNU_STACK' | grep -q 'RWE' || complain "wants an executable stack"
exit "$bad"

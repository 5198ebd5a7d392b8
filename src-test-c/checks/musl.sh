#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# musl.sh LIBRARY [LOADER...]: musl's loader, run by that command, finds all that the library takes from the C library.
#
# Exit 77: the loader of this machine is not installed. SMP_TOOLS=required: it must be there.
set -euo pipefail

library=$(realpath "${1:?usage: musl.sh LIBRARY [LOADER...]}")
shift
loader=("$@")
if [ $# = 0 ]; then
    loader=("/lib/ld-musl-$(uname -m).so.1")
    if [ ! -x "${loader[0]}" ]; then
        echo "musl.sh: musl is missing: whether it loads the library is not checked; on Debian: apt-get install musl"
        [ "${SMP_TOOLS:-}" = required ] && exit 1
        exit 77
    fi
fi
# As ldd does: it resolves all symbols and runs nothing.
"${loader[@]}" --list "$library"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# musl.sh LIBRARY [LOADER...]: musl's loader, run by this command, finds all functions that the library imports from libc.
#
# Exit 77: the loader of this machine is not installed. SMP_TOOLS=required: it must be installed.
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
# Like ldd: resolves all symbols and runs nothing.
"${loader[@]}" --list "$library"

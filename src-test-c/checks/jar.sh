#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# jar.sh JAR JDK: the jar contains a library for each platform, built for the right processor, with the allowed exports and
# dependencies; its manifest contains no property that the build did not replace.
set -euo pipefail

usage="usage: jar.sh JAR JDK"
jar=$(realpath "${1:?$usage}")
jdk=${2:?$usage}
checks=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
    echo "jar.sh: $*" >&2
    bad=1
}

# check PLATFORM MACHINE: as readelf names it.
check() {
    local library=$work/META-INF/native/$1/libthreads-sampler.so check
    if [ ! -f "$library" ]; then
        fail "$jar has no library for $1"
        return
    fi
    readelf --file-header "$library" | grep -qE "^ *Machine: +.*$2" || fail "the library for $1 is one for another processor"
    for check in exports needed glibc; do
        "$checks/$check.sh" "$library" || bad=1
    done
}

(cd "$work" && "$jdk/bin/jar" --extract --file "$jar" META-INF/native/ META-INF/MANIFEST.MF)
check linux-x86_64 X86-64
check linux-aarch64 AArch64
if grep -F '${' "$work/META-INF/MANIFEST.MF" >&2; then fail "$jar has a property without a value in its manifest"; fi
[ "$(find "$work/META-INF/native" -type f | wc -l)" -le 2 ] || fail "$jar carries more than two libraries"
exit "$bad"

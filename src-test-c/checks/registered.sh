#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# registered.sh ROOT: native/CMakeLists.txt names the C files there are, and src-test-c/CMakeLists.txt the tests.
set -euo pipefail

root=${1:?usage: registered.sh ROOT}
bad=0

# differ FILE: complains about lines that are not in both $listed and $found.
differ() {
    local only
    only=$(comm -13 <(sort <<<"$listed") <(sort <<<"$found"))
    if [ -n "$only" ]; then
        printf 'registered.sh: %s does not name:\n%s\n' "$1" "$only" >&2
        bad=1
    fi
    only=$(comm -23 <(sort <<<"$listed") <(sort <<<"$found"))
    if [ -n "$only" ]; then
        printf 'registered.sh: %s names, but there is not:\n%s\n' "$1" "$only" >&2
        bad=1
    fi
}

# set(SMP_LAYER_FILES a b) -> layer/a layer/b
listed=$(tr '\n' ' ' <"$root/native/CMakeLists.txt" | grep -oE 'set\(SMP_[A-Z]+_FILES[^)]*\)' |
    sed -E 's/^set\(SMP_([A-Z]+)_FILES +([^)]*)\)$/\1 \2/' |
    awk '{ for (i = 2; i <= NF; i++) print tolower($1) "/" $i }')
found=$(cd "$root/native/src" && find . -name '*.c' | sed -E 's|^\./||; s|\.c$||')
differ native/CMakeLists.txt

listed=$(sed -nE 's/^smp_test\(([a-z0-9_/]+).*/\1/p' "$root/src-test-c/CMakeLists.txt")
found=$(cd "$root/src-test-c" && find . -name 'test_*.c' | sed -E 's|^\./||; s|\.c$||')
differ src-test-c/CMakeLists.txt

exit "$bad"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# exports.sh LIBRARY: the library exports only the symbols that the JVM looks up by name.
set -euo pipefail

library=${1:?usage: exports.sh LIBRARY}

symbols=$(nm -D --defined-only "$library" | awk '{ print $NF }')
if others=$(grep -vE '^(JNI_On(Load|Unload)|Agent_[A-Za-z]+|Java_[A-Za-z0-9_]+_NativeBridge_(abi|join))$' <<<"$symbols"); then
    printf 'exports.sh: %s also exports:\n%s\n' "$library" "$others" >&2
    exit 1
fi
grep -q '^JNI_OnLoad$' <<<"$symbols" && grep -q '^Java_' <<<"$symbols" || {
    echo "exports.sh: $library exports no JNI_OnLoad or no native method" >&2
    exit 1
}
echo "exports.sh: $(wc -l <<<"$symbols") symbols"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# reproducible.sh ROOT: two builds of the files git knows, in two folders of different length, give the same
# jars byte for byte, the native library among them. Takes two builds without tests.
set -euo pipefail

root=$(realpath "${1:?usage: reproducible.sh ROOT}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

for folder in one another/much/longer; do
    mkdir -p "$work/$folder"
    (cd "$root" && git ls-files -z | tar --null --files-from=- --ignore-failed-read -cf - 2>/dev/null) |
        tar -xf - -C "$work/$folder"
    (cd "$work/$folder" && mvn --batch-mode --no-transfer-progress --quiet -Dmaven.test.skip package)
done

count=0
for jar in "$work"/one/target/*.jar; do
    count=$((count + 1))
    if ! cmp "$jar" "$work/another/much/longer/target/$(basename "$jar")"; then
        bad=1
        for folder in one another/much/longer; do
            (cd "$work/$folder" && mkdir -p seen && cd seen && unzip -qo "../target/$(basename "$jar")")
        done
        diff -rq "$work/one/seen" "$work/another/much/longer/seen" >&2 || true
    fi
done
[ "$count" -gt 0 ] || bad=1
echo "reproducible.sh: $count jars compared"
exit "$bad"

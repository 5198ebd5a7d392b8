#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# reproducible.sh ROOT [BUILT]: two builds of the files that git knows, in folders of different length, give identical
# jars, including those of the modules and the native library. BUILT is the folder with the jars of an earlier build, if
# there is one. The script builds without tests.
set -euo pipefail
shopt -s inherit_errexit

root=$(realpath "${1:?usage: reproducible.sh ROOT [BUILT]}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# build FOLDER: builds and prints the folder with the jars.
build() {
    local folder=$work/$1
    mkdir -p "$folder"
    (cd "$root" && git ls-files -z | tar --null --files-from=- --ignore-failed-read -cf - 2>/dev/null) |
        tar -xf - -C "$folder"
    (cd "$folder" && mvn --batch-mode --no-transfer-progress --quiet -Dmaven.test.skip package >&2)
    echo "$folder/target"
}

if [ -n "${2:-}" ]; then
    first=$(realpath "$2")
else
    first=$(build one)
fi
second=$(build another/much/longer)

count=0
for jar in "$second"/*.jar "$second"/modules/*/*.jar; do
    name=${jar#"$second/"}
    count=$((count + 1))
    if ! cmp "$first/$name" "$jar"; then
        bad=1
        mkdir -p "$work/seen/first" "$work/seen/second"
        unzip -qo "$first/$name" -d "$work/seen/first" || true
        unzip -qo "$jar" -d "$work/seen/second"
        diff -rq "$work/seen/first" "$work/seen/second" >&2 || true
        rm -rf "$work/seen"
    fi
done
[ "$count" -gt 0 ] || bad=1
echo "reproducible.sh: $count jars compared"
exit "$bad"

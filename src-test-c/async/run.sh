#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh JDK LIBRARY [MILLIS [WORKLOAD...]]: the asynchronous walker on programs whose hot place is known. LIBRARY
# is the build's libasync_driver.so. JVM options: JAVA_OPTIONS.
set -euo pipefail

jdk=${1:?usage: run.sh JDK LIBRARY [MILLIS [WORKLOAD...]]}
library=${2:?usage: run.sh JDK LIBRARY [MILLIS [WORKLOAD...]]}
millis=${3:-1000}
shift $(($# < 3 ? $# : 3))
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$jdk/bin/javac" -nowarn --release 17 -d "$work" "$here"/*.java
options=(${JAVA_OPTIONS:-})
! "$jdk/bin/java" --enable-native-access=ALL-UNNAMED -version >/dev/null 2>&1 || options+=(--enable-native-access=ALL-UNNAMED)
"$jdk/bin/java" "${options[@]}" -cp "$work" "${DRIVER:-AsyncDriver}" "$library" "$millis" "$@"

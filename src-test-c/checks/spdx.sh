#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# spdx.sh ROOT: every source file names its licence in one of its first lines.
set -euo pipefail

root=${1:?usage: spdx.sh ROOT}
bad=0

while read -r file; do
    if ! head -3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0'; then
        echo "spdx.sh: $file does not name its licence" >&2
        bad=1
    fi
done < <(find "$root" -path "$root/target" -prune -o -path "$root/.git" -prune -o -path '*/target' -prune -o \
    \( -name '*.[ch]' -o -name '*.java' -o -name '*.sh' -o -name CMakeLists.txt -o -name pom.xml \) -print)
exit "$bad"

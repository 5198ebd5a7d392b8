#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# spdx.sh ROOT: every source file names its licence in one of its first lines.
set -euo pipefail

root=${1:?usage: spdx.sh ROOT}
bad=0

while read -r file; do
    echo "spdx.sh: $file does not name its licence" >&2
    bad=1
done < <(find "$root" -path "$root/target" -prune -o -path "$root/.git" -prune -o -path '*/target' -prune -o \
    \( -name '*.[ch]' -o -name '*.java' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name pom.xml \) -print0 |
    xargs -0 -r awk '
        function end() { if (file != "" && !named) print file }
        FNR == 1 { end(); file = FILENAME; named = 0 }
        FNR <= 3 && /SPDX-License-Identifier: Apache-2.0/ { named = 1 }
        FNR == 4 { nextfile }
        END { end() }')
exit "$bad"

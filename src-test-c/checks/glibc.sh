#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# glibc.sh LIBRARY: each function that the library imports from the C library exists in glibc 2.17, in the same version. A
# newer function would prevent the library from being loaded on older systems.
set -euo pipefail

library=${1:?usage: glibc.sh LIBRARY}
floor=2.17

# NAME@VERSION, one per line. Weak symbols without a version are optional imports of gcc's start files.
taken=$(readelf --wide --dyn-syms "$library" | awk '$7 == "UND" && $8 != "" && ($5 != "WEAK" || $8 ~ /@/) { print $8 }')
newer=$(awk -F '@+GLIBC_' -v floor="$floor" '
    BEGIN { split(floor, most, ".") }
    { if (NF != 2 || $2 !~ /^[0-9.]+$/) { print; next }
      split($2, wanted, ".")
      if (wanted[1] + 0 > most[1] + 0 || (wanted[1] + 0 == most[1] + 0 && wanted[2] + 0 > most[2] + 0)) print }
    ' <<<"$taken" | grep . || true)
if [ -n "$newer" ]; then
    printf 'glibc.sh: %s takes what glibc %s does not have:\n%s\n' "$library" "$floor" "$newer" >&2
    exit 1
fi
echo "glibc.sh: $(grep -c . <<<"$taken" || true) symbols"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# debian_mirror.sh: prints the mirror of Debian that this machine's apt uses. Fails, with the reason, where apt knows none.
set -euo pipefail

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
[ -n "$mirror" ] || {
    echo "apt knows no mirror of Debian: apt-get update" >&2
    exit 1
}
echo "$mirror"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# format.sh ROOT: every C file is as clang-format 14 would write it. Exit 77: the tool is not installed.
set -euo pipefail

root=${1:?usage: format.sh ROOT}

if ! command -v clang-format-14 >/dev/null; then
    echo "format.sh: skipped, clang-format-14 is not installed"
    exit 77
fi
exec "$root/native/build.sh" format --check

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# format.sh ROOT: every C file is formatted by clang-format 14. Exit 77: the tool is not installed.
# SMP_TOOLS=required: it must be installed.
set -euo pipefail

root=${1:?usage: format.sh ROOT}

if ! command -v clang-format-14 >/dev/null; then
    echo "format.sh: clang-format-14 is missing: the format of C files not checked"
    [ "${SMP_TOOLS:-}" != required ] || exit 1
    exit 77
fi
exec "$root/native/build.sh" format --check

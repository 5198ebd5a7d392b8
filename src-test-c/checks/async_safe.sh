#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# async_safe.sh OBJECT...: code that runs in the signal handler calls only the functions listed below and has no
# thread-locals. The objects may call each other. The script does not see calls through pointers; the first comment of
# each file names them.
set -euo pipefail

[ $# -gt 0 ] || { echo "usage: async_safe.sh OBJECT..." >&2; exit 2; }
bad=0

# Async-signal-safe, or a plain system call, or no call at all.
allowed='^(__errno_location|clock_gettime|syscall|memchr|memcmp|memcpy|memmem|memset|strcmp|strstr|smp_safe_read|smp_safe_read_parts|_GLOBAL_OFFSET_TABLE_|smp_code_table)$'

# These files also have functions that allocate and free data for handlers; code in the handler does not call them.
makers='/(frame_cache|code_copies|method_table)\.c\.o$'

undefined() {
    local object

    for object in "$@"; do
        if [[ $object =~ $makers ]]; then
            nm --undefined-only --format=posix "$object" | grep -vE '^(smp_alloc|smp_free|madvise) '
        else
            nm --undefined-only --format=posix "$object"
        fi
    done | awk 'NF > 1 { print $1 }' | sort -u
}

defined=$(nm --defined-only --format=posix "$@" | awk 'NF > 1 { print $1 }' | sort -u)
while read -r symbol; do
    [ -n "$symbol" ] || continue
    [[ $symbol =~ $allowed ]] && continue
    grep -qxF -- "$symbol" <<<"$defined" && continue
    echo "async_safe.sh: calls or reads $symbol" >&2
    bad=1
done < <(undefined "$@")

for object in "$@"; do
    if readelf --wide --sections "$object" | grep -qE ' \.t(bss|data)'; then
        echo "async_safe.sh: $object has thread-locals" >&2
        bad=1
    fi
    [ "$(nm --defined-only "$object" | wc -l)" -gt 0 ] || { echo "async_safe.sh: $object is empty" >&2; bad=1; }
done
exit "$bad"

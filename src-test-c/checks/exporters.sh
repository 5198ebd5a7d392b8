#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# exporters.sh EXPORT_EXAMPLES PART: the users' tools can read the exporters' output, and find the same sums.
#
#   collapsed            perl             FlameGraph's input rules for COLLAPSED
#   pprof                go tool pprof    PPROF: sums, merging, differences
#   json                 node             JSON: sums; names of frames in each format
#   speedscope           chromium         SPEEDSCOPE opened by speedscope itself; SMP_NODE_MODULES names a node_modules
#                                         folder, made by "npm ci" in a copy of checks/node
#
# Exit 77: a tool of the part is not installed; its name is printed. SMP_TOOLS=required: it must be there.
set -euo pipefail

usage="usage: exporters.sh EXPORT_EXAMPLES collapsed|pprof|json|speedscope"
examples=$(realpath "${1:?$usage}")
part=${2:?$usage}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
lacking=0

fail() {
    echo "exporters.sh: $*" >&2
    bad=1
}

# same WHAT OURS THEIRS
same() {
    [ "$2" = "$3" ] || fail "$1: ours $2, theirs $3"
}

# has TOOL WHAT: returns whether the tool for this check is installed. Perl comes with Debian.
has() {
    command -v "$1" >/dev/null && return
    lacks "$@"
}

lacks() {
    echo "exporters.sh: $1 is missing: $2 not checked"
    lacking=1
    [ "${SMP_TOOLS:-}" != required ] || fail "$1 is required"
    return 1
}

# ours NAME COLUMN: prints a sum over all groups; 1 wall, 2 CPU, 3 samples, 4 calls.
ours() {
    awk -v column="$2" 'NR == 1 { print $column }' "$work/$1.sums"
}

# ---------------------------------------------------------------------------------------- COLLAPSED

# The rules of flamegraph.pl: the last blanks separate the stack from a number, ';' separates frames, and a stack that itself
# ends in blanks and a number is taken for a difference. Prints the sum, the lines, and the lines that it would refuse.
collapsed_sum() {
    perl -e 'my ($sum, $lines, $wrong) = (0, 0, 0);
        while (<STDIN>) {
            $lines++;
            if (!/\n\z/) { $wrong++; next }
            chomp;
            my ($stack, $count) = /^(.*)\s+(\d+(?:\.\d*)?)$/;
            if (!defined $count || $count == 0 || $stack =~ /\s+\d+(?:\.\d*)?$/ || $stack eq "") { $wrong++; next }
            my @frames = split /;/, $stack, -1;
            if (@frames < 2 || grep { $_ eq "" } @frames) { $wrong++; next }
            $sum += $count;
        }
        print "$sum $lines $wrong\n"'
}

# flamegraph.pl --color=java and async-profiler's converter colour a frame that ends in "_[j]", and do not show this
# suffix. Prints how many frames of methods (a ")" at the end) would not be coloured, and how many frames in brackets
# would.
collapsed_colours() {
    perl -e 'my ($bare, $odd) = (0, 0);
        while (<STDIN>) {
            chomp;
            my ($stack) = /^(.*)\s+\d+$/;
            my ($group, @frames) = split /;/, $stack, -1;
            for my $frame (@frames) {
                my $is_java = $frame =~ s/_\[j\]$//;
                if ($frame =~ /^\[.*\]$/) { $odd++ if $is_java }
                else { $bare++ unless $is_java && $frame =~ /\)$/ }
            }
        }
        print "$bare $odd\n"'
}

check_collapsed() {
    local name sum lines wrong
    has perl COLLAPSED || return 0
    for name in plain counted nasty; do
        read -r sum lines wrong < <(collapsed_sum <"$work/$name.wall.collapsed")
        same "$name: collapsed wall time" "$(ours $name 1)" "$sum"
        same "$name: collapsed lines out of order" 0 "$wrong"
        read -r sum lines wrong < <(collapsed_sum <"$work/$name.typed.collapsed")
        same "$name: collapsed wall time of typed frames" "$(ours $name 1)" "$sum"
        same "$name: typed lines out of order" 0 "$wrong"
        same "$name: Java frames without a type, other frames with one" "0 0" \
            "$(collapsed_colours <"$work/$name.typed.collapsed")"
        read -r sum lines wrong < <(collapsed_sum <"$work/$name.cpu.collapsed")
        same "$name: collapsed CPU time" "$(ours $name 2)" "$sum"
        read -r sum lines wrong < <(collapsed_sum <"$work/$name.samples.collapsed")
        same "$name: collapsed samples" "$(ours $name 3)" "$sum"
        read -r sum lines wrong < <(collapsed_sum <"$work/$name.calls.collapsed")
        same "$name: collapsed calls" "$(ours $name 4)" "$sum"
    done
    [ "$(ours counted 4)" -gt 0 ] || fail "no calls were counted"
    read -r sum lines wrong < <(cat "$work"/plain{,2}.samples.collapsed | collapsed_sum)
    same "two collapsed files as one" "$(($(ours plain 3) + $(ours plain2 3)))" "$sum"
    grep -q ';java/lang/Thread.run(Thread.java:' "$work/plain.typed.collapsed" || fail "no slashes"
}

# -------------------------------------------------------------------------------------------- PPROF

# [OPTION] PROFILE: prints the values of all samples, one line each: samples wall cpu thread.
pprof_samples() {
    go tool pprof -raw "$@" 2>"$work/pprof.err" | awk '
        /^Samples:/ { inside = 1; next }
        /^Locations/ { inside = 0 }
        inside && /^ +-?[0-9]+ +-?[0-9]+ +-?[0-9]+:/ { sub(":", "", $3); values = $1 " " $3 " " $2; next }
        inside && /thread:\[/ { print values, substr($0, index($0, "thread:[")) }'
}

# [OPTION] PROFILE COLUMN: prints the sum; 1 samples, 2 wall, 3 CPU.
pprof_sum() {
    pprof_samples "${@:1:$#-1}" | awk -v column="${!#}" '{ sum += $column } END { printf "%.0f\n", sum }'
}

# Prints the sums of each group, without names, in order: wall CPU samples.
pprof_groups() {
    pprof_samples "$1" | awk '{ values[0] = $1; values[1] = $2; values[2] = $3; $1 = $2 = $3 = ""
        samples[$0] += values[0]; wall[$0] += values[1]; cpu[$0] += values[2] }
        END { for (name in wall) printf "%.0f %.0f %.0f\n", wall[name], cpu[name], samples[name] }' | sort
}

# Prints the sum that pprof computes, from "Showing nodes accounting for 1ns, 100% of 1ns total".
pprof_top_total() {
    go tool pprof -top -nodecount=100000 -nodefraction=0 -unit=ns -sample_index="$2" "$1" 2>/dev/null |
        sed -nE 's/^Showing nodes accounting for (-?[0-9]+)(ns)?, .* of (-?[0-9]+)(ns)? total$/\1/p'
}

# The expected value in NAME.sums.
column_of() {
    case $1 in wall) echo 1 ;; cpu) echo 2 ;; samples) echo 3 ;; calls) echo 4 ;; esac
}

check_pprof() {
    local name
    has go PPROF || return 0
    for name in plain plain2 nasty; do
        same "$name: pprof wall time" "$(ours $name 1)" "$(pprof_sum "$work/$name.pprof" 2)"
        same "$name: pprof CPU time" "$(ours $name 2)" "$(pprof_sum "$work/$name.pprof" 3)"
        same "$name: pprof samples" "$(ours $name 3)" "$(pprof_sum "$work/$name.pprof" 1)"
        same "$name: pprof -top" "$(ours $name 1)" "$(pprof_top_total "$work/$name.pprof" wall)"
        same "$name: pprof groups" "$(sed -nE 's/^group (.*) [0-9]+$/\1/p' "$work/$name.sums" | sort)" \
            "$(pprof_groups "$work/$name.pprof")"
        go tool pprof -traces "$work/$name.pprof" >"$work/traces" 2>&1 || fail "$name: pprof -traces"
    done
    for name in wall cpu samples calls; do
        same "counted: pprof -top of $name" "$(ours counted "$(column_of $name)")" "$(pprof_top_total "$work/counted.pprof" $name)"
    done
    same "default type" wall "$(go tool pprof -top "$work/plain.pprof" 2>/dev/null | sed -n 's/^Type: //p')"
    go tool pprof -proto "$work/plain.pprof" "$work/plain2.pprof" >"$work/both.pprof" 2>/dev/null
    same "merged by pprof" $(($(ours plain 1) + $(ours plain2 1))) "$(pprof_sum "$work/both.pprof" 2)"
    same "difference by pprof" $(($(ours plain 1) - $(ours plain2 1))) \
        "$(pprof_sum -diff_base="$work/plain2.pprof" "$work/plain.pprof" 2)"
}

# ------------------------------------------------------------------------------- SPEEDSCOPE and JSON

has_module() {
    node -e "require.resolve('$1/package.json')" 2>/dev/null || lacks "$1 in SMP_NODE_MODULES" "$2"
}

check_json() {
    has node "JSON, names" || return 0
    ! command -v go >/dev/null || go tool pprof -raw "$work/nasty.pprof" >"$work/nasty.pprof.raw" 2>/dev/null
    node "$here/exporters.js" "$work" plain plain2 counted nasty || bad=1
}

check_speedscope() {
    has node SPEEDSCOPE || return 0
    has_module speedscope SPEEDSCOPE || return 0
    has chromium "how speedscope opens SPEEDSCOPE" || return 0
    node "$here/speedscope.js" "$work" plain nasty || bad=1
}

export NODE_PATH=${SMP_NODE_MODULES:-}
case $part in
    collapsed | pprof | json | speedscope) ;;
    *)
        echo "$usage" >&2
        exit 1
        ;;
esac
"$examples" "$work"
"check_$part"
[ "$bad" = 0 ] || exit 1
[ "$lacking" = 0 ] || exit 77

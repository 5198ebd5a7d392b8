#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# documents.sh ROOT: README stays a front door, links lead somewhere, contents and options in the table are complete.
#
#   README.md        at most 2,400 words; the summary in it is at most 25 lines of 130 columns; links java/README, native/README, bench/README
#   *.md             a relative link names a file of the tree, and a heading of it where it has an anchor
#   java/README.md   its contents link each part; the table of options has a row for each setter of ThreadsSampler, and no other
set -euo pipefail

root=${1:?usage: documents.sh ROOT}
bench=src-test-java/com/incapsula/sampler/bench/README.md
bad=0

fail() {
    echo "documents.sh: $*" >&2
    bad=1
}

check_front_door() {
    local words link report
    words=$(wc -w <"$root/README.md")
    [ "$words" -le 2400 ] || fail "README.md has $words words, 2400 are allowed"
    for link in java/README.md native/README.md "$bench"; do
        grep -qF "($link)" "$root/README.md" || fail "README.md does not link $link"
    done
    report=$(awk '/^```/ { inside = !inside; kept = ""; next } inside { kept = kept $0 "\n" }
                  inside && /^Summary\.$/ { wanted = 1 }
                  wanted && inside { text = kept } wanted && !inside { exit }
                  END { printf "%s", text }' "$root/README.md")
    [ -n "$report" ] || fail "README.md shows no summary"
    [ "$(wc -l <<<"$report")" -le 25 ] || fail "README.md: the summary has more than 25 lines"
    [ "$(wc -L <<<"$report")" -le 130 ] || fail "README.md: the summary is wider than 130 columns"
}

# anchors FILE: of its headings, as GitHub makes them.
anchors() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9_ -]//g; s/ /-/g'
}

# check_link FILE TARGET
check_link() {
    local path=${2%%#*} anchor= to
    case $2 in *'#'*) anchor=${2#*#} ;; esac
    to=$(dirname "$1")/$path
    [ -n "$path" ] || to=$1
    if [ ! -e "$to" ]; then
        fail "${1#"$root"/}: $2 does not exist"
    elif [ -n "$anchor" ] && ! anchors "$to" | grep -qxF -- "$anchor"; then
        fail "${1#"$root"/}: $2 is not a heading there"
    fi
}

check_links() {
    local file target
    while read -r file; do
        while read -r target; do
            check_link "$file" "$target"
        done < <(grep -oE '\]\([^)[:space:]]+\)' "$file" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' || true)
    done < <(find "$root" \( -name target -o -name .git -o -name node_modules \) -prune -o -name '*.md' -print)
}

# What stands before the first part is the list of contents.
check_contents() {
    local part contents
    contents=$(sed '/^## /,$d' "$root/java/README.md")
    while read -r part; do
        grep -qF "(#$part)" <<<"$contents" || fail "java/README.md: its contents lack #$part"
    done < <(anchors <(grep '^## ' "$root/java/README.md"))
}

check_options() {
    local setters rows
    # A setter with a Duration stands beside one with a number.
    setters=$(sed -nE '/\(Duration /d; s/^    public (synchronized )?void set([A-Z][A-Za-z]*)\(.*/\2/p' \
        "$root/java/com/incapsula/sampler/ThreadsSampler.java" | sed -E 's/^./\L&/' | sort)
    rows=$(awk '/^## /{ inside = ($0 == "## Options") } inside' "$root/java/README.md" |
        sed -nE 's/^\| `([A-Za-z]+)` \|.*/\1/p' | sort)
    [ -n "$setters" ] || fail "ThreadsSampler has no setters"
    [ "$setters" = "$rows" ] || fail "the table of options in java/README.md is not that of ThreadsSampler:" \
        "$(diff <(echo "$setters") <(echo "$rows") | sed -n 's/^< /without /p; s/^> /with /p' | tr '\n' ' ')"
}

check_front_door
check_links
check_contents
check_options
exit "$bad"

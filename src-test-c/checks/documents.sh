#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# documents.sh ROOT: the targets of links exist, and the table of options is complete.
#
#   *.md        a relative link names a file of the tree, and a heading of that file if the link has an anchor
#   java/*.md   the table under "## Options" has a row for each setter of ThreadsSampler, and no other row
set -euo pipefail

root=${1:?usage: documents.sh ROOT}
bad=0

fail() {
    echo "documents.sh: $*" >&2
    bad=1
}

# anchors FILE: the anchors that GitHub makes of its headings.
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

check_options() {
    local setters rows
    # A setter with a Duration also exists with a number; only the latter needs a row.
    setters=$(sed -nE '/\(Duration /d; s/^    public (synchronized )?void set([A-Z][A-Za-z]*)\(.*/\2/p' \
        "$root/java/com/incapsula/sampler/ThreadsSampler.java" | sed -E 's/^./\L&/' | sort)
    rows=$(awk '/^## /{ inside = ($0 == "## Options") } inside' "$root"/java/*.md |
        sed -nE 's/^\| `([A-Za-z]+)` \|.*/\1/p' | sort)
    [ -n "$setters" ] || fail "ThreadsSampler has no setters"
    [ "$setters" = "$rows" ] || fail "the table of options in java/*.md does not match the setters of ThreadsSampler:" \
        "$(diff <(echo "$setters") <(echo "$rows") | sed -n 's/^< /without /p; s/^> /with /p' | tr '\n' ' ')"
}

check_links
check_options
exit "$bad"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# assemble.sh D3_HIERARCHY_FOLDER OUT.html: the page from its parts, with nothing left to fetch. The data of a report stand
# between OUT.html and OUT-end.html.
# The content security policy names the style and the script by their hashes, so nothing else runs.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
d3=$1
out=$2
marker=@@THREADS-SAMPLER-DATA@@
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

scripts=(format model calls filters downloads colours flame columns grid groups describe outcomes account locks strip summary live input address app)

{
    echo "/*! d3-hierarchy, $(sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' "$d3/package.json" | head -n 1)"
    sed 's/^\(.*\)$/ * \1/; s/ *$//' "$d3/LICENSE"
    echo " */"
    grep -v '^//# sourceMappingURL' "$d3/dist/d3-hierarchy.min.js"
    echo "(() => {"
    echo "'use strict';"
    for script in "${scripts[@]}"; do
        # Without the comments that tell tsc the types: each report would carry them.
        sed -e '/^ *\/\*\*.*\*\/$/d' -e '/^ *\/\*\*$/,/\*\/$/d' "$here/$script.js"
    done
    echo "})();"
} >"$work/script"
cp "$here/page.css" "$work/style"

# The browser hashes what stands between the tags: not the newline that ends the file.
for part in script style; do
    printf '%s' "$(cat "$work/$part")" >"$work/$part.text"
    if grep -qiE '</(script|style)|<!--|@@THREADS-SAMPLER' "$work/$part.text"; then
        echo "$part: would end its own element, or holds a marker" >&2
        exit 1
    fi
done

hash_of() {
    # sha256sum prints hexadecimal; a policy wants base64 of the bytes.
    printf "$(sha256sum "$1" | cut -c 1-64 | sed 's/../\\x&/g')" | base64
}

# HtmlPage lets a live page fetch from its own server; no other page fetches anything.
policy="default-src 'none'; script-src 'sha256-$(hash_of "$work/script.text")'"
policy+="; style-src 'sha256-$(hash_of "$work/style.text")'; img-src data:; connect-src 'none'"
policy+="; base-uri 'none'; form-action 'none'"

mkdir -p "$(dirname "$out")"
awk -v policy="$policy" -v style="$work/style.text" -v script="$work/script.text" '
    function put(file,   line, first) {
        first = 1
        while ((getline line < file) > 0) {
            printf "%s%s", first ? "" : "\n", line
            first = 0
        }
    }
    function around(marker, file,   at) {
        at = index($0, marker)
        printf "%s", substr($0, 1, at - 1)
        put(file)
        print substr($0, at + length(marker))
    }
    index($0, "@CSP@") { sub(/@CSP@/, policy); print; next }
    index($0, "@STYLE@") { around("@STYLE@", style); next }
    index($0, "@SCRIPT@") { around("@SCRIPT@", script); next }
    { print }
' "$here/index.html" >"$work/page"

if [ "$(grep -c "^$marker\$" "$work/page")" != 1 ]; then
    echo "index.html: must have $marker once, on a line of its own" >&2
    exit 1
fi
sed "/^$marker\$/,\$d" "$work/page" >"$out"
{
    echo
    sed "1,/^$marker\$/d" "$work/page"
} >"${out%.html}-end.html"

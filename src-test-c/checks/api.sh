#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# api.sh check|write JAR FILE JDK
#
# The public API of a jar: the public and protected members of the public classes outside of internal packages, class by class.
# check compares them with FILE, the frozen API; write creates FILE. So a change of the API is visible as a change of FILE.
set -euo pipefail

action=$1 jar=$2 file=$3 jdk=$4
export LC_ALL=C

classes() {
    "$jdk/bin/jar" --list --file "$jar" |
        sed -n '/\/internal\//d; /-info\.class$/d; s/\.class$//p' | grep '^com/incapsula/sampler/' | sort
}

# javap's members in alphabetical order: moving one within its class changes nothing.
members() {
    local classes
    mapfile -t classes < <(classes)
    "$jdk/bin/javap" -protected -constants -cp "$jar" "${classes[@]}" |
        awk '/^Compiled from/ { next }
            / \{$/ { is_public = /^(public|protected) /; if (is_public) print; next }
            /^\}$/ { close("sort"); if (is_public) print; next }
            is_public { print | "sort" }'
}

case $action in
check)
    if ! diff -u "$file" <(members); then
        echo "api: the public API is not that of $file; \"src-test-c/checks/api.sh write\" writes it anew" >&2
        exit 1
    fi
    ;;
write) members >"$file" ;;
*)
    echo "usage: api.sh check|write JAR FILE JDK" >&2
    exit 2
    ;;
esac

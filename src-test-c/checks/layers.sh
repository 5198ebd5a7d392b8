#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# layers.sh ROOT: every C file includes only files that its room may include, and there are no circular includes.
# A folder is a room; the first part of its path is its layer.
set -euo pipefail

root=${1:?usage: layers.sh ROOT}
sources=$root/native/src/
mapfile -t files < <(find "$sources" "$root/src-test-c" -name '*.[ch]' -not -path '*/checks/*' 2>/dev/null | sort)
[ ${#files[@]} -gt 0 ] || { echo "layers.sh: no C file under $root" >&2; exit 1; }

exec awk -v sources="$sources" -v count=${#files[@]} '
# room NAME, the rooms or single headers that it may include besides itself
function room(name, includes,    i, n, list) {
    may[name, name] = 1
    n = split(includes, list, " ")
    for (i = 1; i <= n; i++)
        may[name, list[i]] = 1
    known[name] = 1
}

# The layers, lowest first.
BEGIN {
    room("base", "")
    room("model", "base")
    room("classfile", "base")
    room("counting", "classfile model base")
    room("export", "model base")

    engine = "engine export counting model base" # engine itself is jvm.h, call_counter.h
    room("engine", engine)
    room("engine/threads", engine)
    room("engine/attribution", engine " engine/threads")
    room("engine/sources", engine " engine/threads engine/attribution")
    room("engine/session", engine " engine/threads engine/attribution engine/sources")

    jvm = "base engine/jvm.h model/sample.h model/walk_answer.h"
    room("hotspot", "base")
    room("jvm/agent", "base hotspot/exports.h")
    room("jvm/check", "base jvm/agent hotspot")
    room("jvm/code", jvm " classfile jvm/agent hotspot handler jvm/check")
    room("handler", "base model/sample.h model/walk_answer.h hotspot")
    room("jvm/threads", jvm " jvm/agent hotspot handler")
    room("jvm/walk", jvm " jvm/agent hotspot jvm/check jvm/code handler jvm/threads")
    room("jvm/locks", jvm " jvm/agent hotspot jvm/threads")
    room("jvm/calls", jvm " model/counting_account.h engine/session/worker.h classfile counting jvm/agent hotspot jvm/code jvm/threads")
    all = jvm " counting jvm/agent jvm/calls hotspot jvm/check jvm/code handler jvm/threads jvm/locks jvm/walk"
    room("jvm", all)

    all = all " jvm export model classfile counting engine engine/threads engine/attribution engine/sources engine/session"
    room("jni", all)
    room("tests", all)

    # System headers that a layer must not see.
    hidden["base"] = "^(jni|jvmti)[.]h$|^com_incapsula_"
    hidden["model"] = "^(jni|jvmti|pthread)[.]h$|^com_incapsula_"
    hidden["classfile"] = hidden["model"]
    hidden["counting"] = hidden["export"] = hidden["engine"] = hidden["hotspot"] = hidden["base"]
    hidden["handler"] = "^jvmti[.]h$|^com_incapsula_"
    hidden["jvm"] = hidden["tests"] = "^com_incapsula_"
    hidden["jni"] = "^jvmti[.]h$"
}

function complain(what) {
    print "layers.sh: " what > "/dev/stderr"
    bad = 1
}

function folder(path) {
    sub("/?[^/]*$", "", path)
    return path
}

FNR == 1 {
    unit = here = layer = "tests"
    if (index(FILENAME, sources) == 1) {
        unit = substr(FILENAME, length(sources) + 1)
        here = folder(unit)
        layer = here
        sub("/.*", "", layer)
        sub("[.][ch]$", "", unit)
        if (!(here in known))
            complain(FILENAME ": there is no room \"" here "\"")
    }
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
    split($0, parts, "[\"<>]")
    header = parts[2]
    if (header ~ hidden[layer])
        complain(FILENAME ": " layer " must not include <" header ">")
    if (header !~ "^(base|model|classfile|counting|export|engine|hotspot|handler|jvm|jni)/")
        next
    target = header
    sub("[.]h$", "", header)
    if (!((here, folder(target)) in may) && !((here, target) in may))
        complain(FILENAME ": " here " must not include \"" target "\"")
    if (header != unit && unit != "tests" && !((unit, header) in edge)) {
        edge[unit, header] = 1
        from[++edges] = unit
        to[edges] = header
    }
}

# A file that includes none of the remaining files, or that none of them includes, is in no circle. Remaining files are.
END {
    do {
        split("", includes)
        split("", included)
        for (i = 1; i <= edges; i++)
            includes[from[i]] = included[to[i]] = 1
        left = 0
        for (i = 1; i <= edges; i++) {
            if ((to[i] in includes) && (from[i] in included)) {
                from[++left] = from[i]
                to[left] = to[i]
            }
        }
        changed = left < edges
        edges = left
    } while (changed)
    for (i = 1; i <= edges; i++)
        complain("in a circle: " from[i] " includes " to[i])
    print "layers.sh: " count " files"
    exit bad
}
' "${files[@]}"

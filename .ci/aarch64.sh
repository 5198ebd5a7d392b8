#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# aarch64.sh [c|java|musl]...: what is tested of the library for AArch64 on x86-64, with the processor emulated (qemu-user); by
# default all of it. After "mvn package", in the root of the repository.
#
#   c      the C tests but the slow ones
#   java   SmokeProgram, with the jar, on JDK 17 and 25
#   musl   musl's loader finds all that the library needs
#
# The emulator lacks a system call by which the library reads memory, so that is preloaded (emulated_reads.c).
#
# An emulator shows what crashes, hangs or walks no stack. It delivers signals between blocks of instructions only, and its
# times are its own: which line a sample is on, what a walk costs, and how the processor orders what threads share is not tested.
#
# All of it has ten minutes. When they are over, it ends and fails.
#
# AARCH64_FOLDER: a folder for what it unpacks, to keep; otherwise it is taken away. Nothing is installed: the packages of the
# C tests and of both JDKs come from the mirror that this machine's apt uses.
set -euo pipefail
shopt -s inherit_errexit

cd "$(dirname "${BASH_SOURCE[0]}")/.."
limit_seconds=600
if [ "${AARCH64_WITHIN_LIMIT:-}" != true ]; then
    status=0
    # In the background: a signal ends this wait, and timeout passes it on to all that it has started.
    AARCH64_WITHIN_LIMIT=true timeout --kill-after=30 "$limit_seconds" .ci/aarch64.sh "$@" &
    trap 'kill $! 2>/dev/null || true' EXIT
    wait $! || status=$?
    trap - EXIT
    case $status in
        124 | 137) echo "aarch64.sh: stopped: it was not done after $limit_seconds seconds" >&2 ;;
    esac
    exit "$status"
fi

folder=${AARCH64_FOLDER:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
folder=$(realpath --canonicalize-missing "$folder")
qemu=qemu-aarch64-static

die() {
    echo "aarch64.sh: $*" >&2
    exit 1
}

# jdk VERSION SUITE: its home.
jdk() {
    .ci/other_jdk.sh "$folder/$1" "$2" "$1" jre arm64
}

# Prints the file that is preloaded.
emulated_reads() {
    local library=$folder/emulated_reads.so
    aarch64-linux-gnu-gcc -O1 -shared -fPIC -o "$library" src-test-java/com/incapsula/sampler/testing/emulated_reads.c
    echo "$library"
}

# unpack PACKAGE...: of the suite of JDK 17, which is this machine's, into FOLDER/root.
unpack() {
    local package
    [ -d "$folder/17/jdk" ] || jdk 17 bookworm >/dev/null
    mkdir -p "$folder/root" "$folder/packages"
    rm -f "$folder"/packages/*
    (cd "$folder/packages" && APT_CONFIG=$folder/17/apt.conf apt-get download -qq "$@") >&2 || die "no packages $*"
    for package in "$folder"/packages/*.deb; do
        dpkg-deb --extract "$package" "$folder/root"
    done
}

c_tests() {
    local reads
    [ -d "$folder/root/usr/include" ] || unpack libcmocka0 libcmocka-dev
    reads=$(emulated_reads)
    # The C library is the cross compiler's.
    cmocka_ROOT=$folder/root/usr native/build.sh test --preset aarch64 --label memory \
        --launcher "$qemu -L /usr/aarch64-linux-gnu -E LD_PRELOAD=$reads"
}

# smoke VERSION SUITE
smoke() {
    local home jar reads
    jar=$(find target -maxdepth 1 -name 'threads-sampler-*.jar' ! -name '*-sources.jar' ! -name '*-javadoc.jar')
    [ -f "$jar" ] || die "there is no jar in target: mvn package"
    home=$(jdk "$1" "$2")
    reads=$(emulated_reads)
    "$qemu" -L "$folder/$1/libraries" -E LD_PRELOAD="$reads" \
        "$home/bin/java" --enable-native-access=ALL-UNNAMED -Xmx256m \
        -cp "$jar:target/test-classes" com.incapsula.sampler.testing.SmokeProgram HYBRID
}

java_tests() {
    smoke 17 bookworm
    smoke 25 trixie
}

musl_test() {
    unpack musl
    src-test-c/checks/musl.sh target/classes/META-INF/native/linux-aarch64/libthreads-sampler.so \
        "$qemu" "$folder/root/lib/ld-musl-aarch64.so.1"
}

[ "$(uname -m)" = x86_64 ] || die "only on x86-64"
command -v "$qemu" >/dev/null || die "$qemu is missing; on Debian: apt-get install qemu-user-static"
[ $# -gt 0 ] || set -- musl java c
for part in "$@"; do
    case $part in
        c) c_tests ;;
        java) java_tests ;;
        musl) musl_test ;;
        *) die "usage: aarch64.sh [c|java|musl]..." ;;
    esac
done

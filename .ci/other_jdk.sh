#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# other_jdk.sh FOLDER SUITE [VERSION [jdk|jre [amd64|arm64]]]: unpacks a JDK of another suite of Debian's below FOLDER, by default
# the newest one there, or only what runs programs (jre), and prints its home. Nothing is installed: lists and packages stay in
# FOLDER, and come from the mirror that this machine's apt uses. Such a JDK may need another C library than this Debian has, so its
# programs get the suite's. One for arm64 is run by "qemu-aarch64-static -L FOLDER/libraries".
#
# Fails, with the reason on a line "other_jdk.sh: REASON", where the suite or the JDK is not available.
set -euo pipefail

usage="usage: other_jdk.sh FOLDER SUITE [VERSION [jdk|jre [amd64|arm64]]]"
folder=$(realpath --canonicalize-missing "${1:?$usage}")
suite=${2:?$usage}
version=${3:-}
parts=(jre-headless)
[ "${4:-}" = jre ] || parts+=(jdk-headless)
architecture=${5:-amd64}

die() {
    echo "other_jdk.sh: $*" >&2
    exit 1
}

# What apt reads and writes instead of the machine's own.
write_configuration() {
    local mirror
    mirror=$("$(dirname "${BASH_SOURCE[0]}")/debian_mirror.sh" 2>&1) || die "$mirror"
    mkdir -p "$folder"/{lists/partial,cache/archives/partial,packages}
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$folder/sources.list"
    cat >"$folder/apt.conf" <<TEXT
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$folder/lists";
Dir::State::status "/dev/null";
Dir::Cache "$folder/cache";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
TEXT
}

# unpack TO PACKAGE...: of the suite, or before APT_CONFIG is set of the machine's own
unpack() {
    local to=$1 package
    shift
    mkdir -p "$to"
    rm -f "$folder"/packages/*
    (cd "$folder/packages" && apt-get download -qq "$@") >&2 || die "no packages $*"
    for package in "$folder"/packages/*.deb; do
        dpkg-deb --extract "$package" "$to"
    done
}

newest() {
    apt-cache pkgnames openjdk- | sed -n 's/^openjdk-\([0-9]*\)-jdk-headless$/\1/p' | sort -n | tail -1
}

# The package keeps its settings below /etc.
mend_links() {
    local link
    find "$1" -type l -lname '/etc/*' | while read -r link; do
        ln -sfn "$1$(readlink "$link")" "$link"
    done
}

# Programs begin with the suite's loader, and find its libraries.
mend_programs() {
    local libraries=$folder/libraries triplet=x86_64-linux-gnu program interpreter
    # Up to Debian 12 some of them are in /lib, which is a link on a system, and not in a package.
    interpreter=$(find "$libraries" -path "*/$triplet/ld-linux-x86-64.so.2")
    for program in "$1"/bin/* "$1/lib/jspawnhelper"; do
        if [ -f "$program" ] && head -c 4 "$program" | grep -q ELF; then
            "$folder/tools/usr/bin/patchelf" --set-interpreter "$interpreter" --force-rpath \
                --set-rpath "\$ORIGIN:\$ORIGIN/../lib:$libraries/usr/lib/$triplet:$libraries/lib/$triplet" "$program"
        fi
    done
}

[ "$(uname -m)" = x86_64 ] || die "only on x86-64"
run=()
case $architecture in
    amd64) ;;
    arm64)
        run=(qemu-aarch64-static -L "$folder/libraries")
        command -v qemu-aarch64-static >/dev/null || die "qemu-aarch64-static is missing; on Debian: apt-get install qemu-user-static"
        ;;
    *) die "$usage" ;;
esac
unpacked=$folder/jdk
if [ ! -d "$unpacked" ]; then
    write_configuration
    [ "$architecture" != amd64 ] || unpack "$folder/tools" patchelf
    export APT_CONFIG=$folder/apt.conf
    apt-get update -qq >&2 || die "no lists of the suite $suite"
    version=${version:-$(newest)}
    [ -n "$version" ] || die "no JDK in the suite $suite"
    unpack "$folder/libraries" libc6 libgcc-s1 libstdc++6 zlib1g
    unpack "$unpacked.part" "${parts[@]/#/openjdk-$version-}"
    mv "$unpacked.part" "$unpacked"
    mend_links "$unpacked"
    if [ "$architecture" = amd64 ]; then
        mend_programs "$unpacked/usr/lib/jvm/java-$version-openjdk-amd64"
    elif [ ! -e "$folder/libraries/lib" ]; then
        ln -s usr/lib "$folder/libraries/lib"
    fi
fi
home=$(echo "$unpacked"/usr/lib/jvm/java-[0-9][0-9]-openjdk-"$architecture")
"${run[@]}" "$home/bin/java" -version >&2 || die "$home does not run"
echo "$home"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bare_debian.sh SUITE: the commands by which README sets up a bare Debian, word for word as they stand there, on a new one of that
# suite, with what is committed here. A warning of the C compiler is an error; with Maven 3.9 or later one of javac is, too.
#
# Needs root and debootstrap; the packages come from the mirror that this machine's apt uses. The new system is in a temporary folder;
# its processes and mounts are in namespaces of their own, so none is left. Of this machine it has the names of hosts, the
# certificates that are trusted beside Debian's, and Maven's settings.
set -euo pipefail
shopt -s inherit_errexit

suite=${1:?usage: bare_debian.sh SUITE}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
namespaces=(unshare --mount --pid --fork --kill-child)
if ! "${namespaces[@]}" true; then
    echo "left out: this machine allows no mounts"
    exit
fi
apt-get update -qq # there may be no lists yet
mirror=$(.ci/debian_mirror.sh)
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
chmod 755 "$root"
debootstrap --variant=minbase "$suite" "$root" "$mirror"
git clone --quiet . "$root/root/clone"
cp --dereference /etc/hosts /etc/resolv.conf "$root/etc"
[ ! -d /usr/local/share/ca-certificates ] || cp --recursive /usr/local/share/ca-certificates "$root/usr/local/share"
[ ! -f ~/.m2/settings.xml ] || install -D --mode 600 ~/.m2/settings.xml "$root/root/.m2/settings.xml"
# Each as one line with a status: a member of an && list that fails does not end a shell by itself.
commands=$(awk '/^On a bare Debian/ { wanted = 1 } /^```/ && wanted { if (inside++) exit; next } inside' "$root/root/clone/README.md" |
    sed -e ':more' -e '/\\$/N' -e 's/\\\n//' -e 't more' -e 's/$/ || exit/')
echo "${commands:?README has no commands for a bare Debian}"

"${namespaces[@]}" bash -euc '
    mount -t proc proc "$0/proc"
    mount --rbind /sys "$0/sys"
    mount --rbind /dev "$0/dev"
    exec chroot "$0" env --ignore-environment HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        SMP_WERROR=ON MAVEN_ARGS="--no-transfer-progress -Djava.warnings.fail=true" \
        bash -exc "cd /root/clone; $1"' "$root" "$commands" &
# It ends at no other signal; its children end with it.
trap 'kill -KILL $! 2>/dev/null && wait $! || true; rm -rf --one-file-system "$root"' EXIT
wait $!

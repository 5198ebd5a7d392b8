#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bundle.sh ROOT: makes the bundle for Maven Central of a copy of the files git knows, as version 1.0.0, with a key that is
# thrown away, and checks it: each module has its pom and its jars, each file its checksums and a signature that is good, and
# each pom what Central wants. Nothing is uploaded and nothing is installed.
set -euo pipefail
shopt -s inherit_errexit

root=$(realpath "${1:?usage: bundle.sh ROOT}")
work=$(mktemp -d)
version=1.0.0
bad=0

# gpg's agent ends with its folder.
trap 'gpgconf --kill gpg-agent 2>/dev/null || true; rm -rf "$work"' EXIT

fail() {
    echo "bundle.sh: $*" >&2
    bad=1
}

make_key() {
    export GNUPGHOME=$work/gnupg
    mkdir -m 700 "$GNUPGHOME"
    gpg --batch --quiet --pinentry-mode loopback --passphrase '' \
        --quick-generate-key 'bundle check <nobody@example.invalid>' rsa2048 sign never
}

copy_tree() {
    mkdir "$work/tree"
    (cd "$root" && git ls-files -z | tar --null --files-from=- --ignore-failed-read -cf - 2>/dev/null) |
        tar -xf - -C "$work/tree"
    find "$work/tree" -name pom.xml -exec sed -i "s/1\.0\.0-SNAPSHOT/$version/" {} +
}

# As CONTRIBUTING.md has it.
make_bundle() {
    (cd "$work/tree" && mvn --batch-mode --no-transfer-progress --quiet -Prelease -Dmaven.test.skip -Dmaven.install.skip \
        deploy >&2)
    find "$work/tree/target/bundle" -name 'maven-metadata*' -delete
    jar --create --no-manifest --file "$work/central-bundle.zip" -C "$work/tree/target/bundle" com
    mkdir "$work/bundle"
    unzip -q "$work/central-bundle.zip" -d "$work/bundle"
}

# check_file FILE: its checksums and its signature.
check_file() {
    local file=$1 sum name=${1#"$work/bundle/"}
    for sum in md5 sha1; do
        if [ ! -f "$file.$sum" ]; then
            fail "$name has no $sum"
        elif [ "$("${sum}sum" <"$file" | cut -d ' ' -f 1)" != "$(cut -d ' ' -f 1 "$file.$sum")" ]; then
            fail "$name is not what its $sum says"
        fi
    done
    gpg --batch --quiet --verify "$file.asc" "$file" 2>/dev/null || fail "$name has no good signature"
}

# check_module ARTIFACT SUFFIX...: files of the module that have to be there.
check_module() {
    local artifact=$1 suffix file
    shift
    for suffix in .pom "$@"; do
        file=$work/bundle/com/incapsula/sampler/$artifact/$version/$artifact-$version$suffix
        if [ -f "$file" ]; then
            check_file "$file"
        else
            fail "no $artifact-$version$suffix"
        fi
    done
}

# What Central wants of a pom may stand in the parent.
check_pom() {
    local pom=$work/bundle/com/incapsula/sampler/threads-sampler-parent/$version/threads-sampler-parent-$version.pom part
    for part in name description url licenses developers scm; do
        grep -q "^  <$part[ >]" "$pom" || fail "the parent's pom has no $part"
    done
}

make_key
copy_tree
make_bundle
jars=(.jar -sources.jar -javadoc.jar)
check_module threads-sampler-parent
check_module threads-sampler "${jars[@]}"
for pom in "$root"/java/modules/*/pom.xml; do
    artifact=$(sed -n 's/^  <artifactId>\(.*\)<\/artifactId>/\1/p' "$pom")
    if grep -q '^  <packaging>pom<' "$pom"; then
        check_module "$artifact"
    else
        check_module "$artifact" "${jars[@]}"
    fi
done
check_pom
files=$(find "$work/bundle" -name '*.jar' -o -name '*.pom' | wc -l)
echo "bundle.sh: $files files signed and checked"
exit "$bad"

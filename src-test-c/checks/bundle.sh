#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bundle.sh ROOT [ZIP]: checks the bundle for Maven Central. Without ZIP the script builds the bundle from a copy of the files
# that git knows, with the snapshot's release version and a temporary key; nothing is uploaded or installed. Each module must
# have its pom and its jars, each file its checksums and a valid signature, and each pom the entries that Central requires.
set -euo pipefail
shopt -s inherit_errexit

root=$(realpath "${1:?usage: bundle.sh ROOT [ZIP]}")
zip=${2:+$(realpath "$2")}
work=$(mktemp -d)
snapshot=$(sed -n 's/^  <version>\(.*\)<\/version>$/\1/p' "$root/pom.xml")
version=${snapshot%-SNAPSHOT}
folder=$work/bundle/com/incapsula/sampler
bad=0

# gpg's agent ends with its folder.
end() {
    [ -n "$zip" ] || gpgconf --kill gpg-agent 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT

fail() {
    echo "bundle.sh: $*" >&2
    bad=1
}

make_key() {
    export GNUPGHOME=$work/gnupg
    mkdir -m 700 "$GNUPGHOME"
    gpg --batch --quiet --pinentry-mode loopback --passphrase '' \
        --quick-generate-key 'bundle check <bundle@example.invalid>' rsa2048 sign never
}

copy_tree() {
    mkdir "$work/tree"
    (cd "$root" && git ls-files -z | tar --null --files-from=- --ignore-failed-read -cf - 2>/dev/null) |
        tar -xf - -C "$work/tree"
    find "$work/tree" -name pom.xml -exec sed -i "s/>${snapshot//./\\.}</>$version</" {} +
}

# Builds the bundle as described in CONTRIBUTING.md. Prints its file name.
make_bundle() {
    (cd "$work/tree" && mvn --batch-mode --no-transfer-progress --quiet -Prelease -Dmaven.test.skip -Dmaven.install.skip \
        deploy >&2)
    find "$work/tree/target/bundle" -name 'maven-metadata*' -delete
    jar --create --no-manifest --file "$work/central-bundle.zip" -C "$work/tree/target/bundle" com
    echo "$work/central-bundle.zip"
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
    local artifact=$1 suffix
    shift
    for suffix in .pom "$@"; do
        [ -f "$folder/$artifact/$version/$artifact-$version$suffix" ] || fail "no $artifact-$version$suffix"
    done
}

# check_pom FILE PART...: the pom itself contains these parts.
check_pom() {
    local file=$1 part
    shift
    for part in "$@"; do
        grep -q "^  <$part[ >]" "$file" || fail "${file##*/} has no $part"
    done
    ! grep -q -- '-SNAPSHOT<' "$file" || fail "${file##*/} names a snapshot"
}

check_modules() {
    local pom artifact
    local jars=(.jar -sources.jar -javadoc.jar)
    check_module threads-sampler-parent
    check_module threads-sampler "${jars[@]}"
    for pom in "$root"/java/modules/*/pom.xml; do
        artifact=$(sed -n 's/^  <artifactId>\(.*\)<\/artifactId>$/\1/p' "$pom")
        if grep -q '^  <packaging>pom<' "$pom"; then
            check_module "$artifact"
        else
            check_module "$artifact" "${jars[@]}"
        fi
    done
}

# All files are checked, including those that no module must have.
check_files() {
    local file count=0
    while read -r file; do
        count=$((count + 1))
        check_file "$file"
        case $file in
            # Other entries that Central requires are inherited.
            */threads-sampler-parent-*.pom) check_pom "$file" name description url licenses developers scm ;;
            *.pom) check_pom "$file" name description ;;
            *.jar) ;;
            *) fail "${file#"$work/bundle/"} does not belong there" ;;
        esac
    done < <(find "$work/bundle" -type f ! -name '*.md5' ! -name '*.sha1' ! -name '*.sha256' ! -name '*.sha512' \
        ! -name '*.asc' | sort)
    echo "bundle.sh: $count files checked, with their checksums and signatures"
}

if [ -z "$zip" ]; then
    make_key
    copy_tree
    bundle=$(make_bundle)
else
    bundle=$zip
fi
mkdir "$work/bundle"
(cd "$work/bundle" && jar --extract --file "$bundle")
check_modules
check_files
exit "$bad"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradle.sh ROOT [REPOSITORY]: the Gradle on the path builds and runs a program with the library, as java/README.md describes.
# Run by hand, after "mvn install": the library is taken from Maven's repository (~/.m2/repository).
set -euo pipefail

root=$(realpath "${1:?usage: gradle.sh ROOT [REPOSITORY]}")
repository=${2:-$HOME/.m2/repository}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=$(sed -n 's/^  <version>\(.*\)<\/version>/\1/p' "$root/pom.xml")
dependency="implementation 'com.incapsula.sampler:threads-sampler:$version'"

fail() {
    echo "gradle.sh: $*" >&2
    exit 1
}

command -v gradle >/dev/null || fail "gradle is missing; apt-get install gradle"
grep -qF "$dependency" "$root/java/README.md" || fail "java/README.md does not have: $dependency"
mkdir -p "$work/src/main/java"
cat >"$work/build.gradle" <<END
apply plugin: 'java'
repositories {
    maven { url '$repository' }
}
dependencies {
    $dependency
}
task runProgram(type: JavaExec, dependsOn: classes) {
    // Gradle 6.4 brought the first, 8 removed the second.
    if (it.hasProperty('mainClass')) { mainClass = 'Program' } else { main = 'Program' }
    classpath = sourceSets.main.runtimeClasspath
    jvmArgs '--enable-native-access=ALL-UNNAMED'
}
END
cat >"$work/src/main/java/Program.java" <<'END'
import com.incapsula.sampler.ThreadsSampler;

public class Program {
    public static void main(String[] args) throws Exception {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setReportFrequencySeconds(0);
            sampler.setRequired(true);
            sampler.init();
            while (sampler.getStatistics().getPolls() == 0) {
                Thread.sleep(10);
            }
        }
    }
}
END
gradle --version
(cd "$work" && gradle --offline --no-daemon --project-cache-dir "$work/cache" --gradle-user-home "$work/home" runProgram) |
    tee "$work/output"
grep -q '^Report interval: from ' "$work/output" || fail "the program has printed no report"
grep -q '^Sampler account\.' "$work/output" || fail "the report has no account"
echo "gradle.sh: the program has printed its report"

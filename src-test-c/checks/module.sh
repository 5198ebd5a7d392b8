#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# module.sh JAR JDK [JDK_TO_RUN]: the jar works as a named module: a small module that requires it is compiled
# with JDK, and run on the module path with JDK_TO_RUN. And its manifest makes it a program and an agent.
set -euo pipefail

jar=$(realpath "${1:?usage: module.sh JAR JDK [JDK_TO_RUN]}")
jdk=${2:?usage: module.sh JAR JDK [JDK_TO_RUN]}
run=${3:-$jdk}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/src/user" "$work/classes"
cat >"$work/src/module-info.java" <<'JAVA'
module user.of.sampler {
    requires com.incapsula.sampler;
}
JAVA
cat >"$work/src/user/Main.java" <<'JAVA'
package user;

import com.incapsula.sampler.ThreadsSampler;

public final class Main {
    public static void main(String[] args) {
        if (!ThreadsSampler.class.getModule().isNamed()) {
            throw new AssertionError("not on the module path");
        }
        if (!ThreadsSampler.isAvailable()) {
            throw new AssertionError("not available", ThreadsSampler.unavailabilityCause());
        }
        System.out.println("module " + ThreadsSampler.class.getModule().getName() + " is available on Java "
                + Runtime.version().feature());
    }
}
JAVA

"$jdk/bin/javac" --release 17 --module-path "$jar" -d "$work/classes" "$work/src/module-info.java" \
    "$work/src/user/Main.java"
"$run/bin/java" -Xcheck:jni --module-path "$jar:$work/classes" --enable-native-access=com.incapsula.sampler \
    -Dcom.incapsula.sampler.workdir="$work" --module user.of.sampler/user.Main | tee "$work/out"
# The JVM prints its complaints to standard output.
[ "$(wc -l <"$work/out")" -eq 1 ]

"$run/bin/java" -jar "$jar" --version | grep -q '^threads-sampler [0-9]'

# A report every second, because at its exit a JVM waits at most two seconds for the last one, which a busy machine may miss.
cat >"$work/Plain.java" <<'JAVA'
import java.nio.file.Files;
import java.nio.file.Path;

public final class Plain {
    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 12_000 && !Files.exists(Path.of(args[0])); i++) {
            Thread.sleep(10);
        }
    }
}
JAVA
"$jdk/bin/javac" --release 17 -d "$work/plain" "$work/Plain.java"
"$run/bin/java" -Xcheck:jni --enable-native-access=ALL-UNNAMED -Dcom.incapsula.sampler.workdir="$work" \
    "-javaagent:$jar=interval=5ms,every=1s,file=$work/agent-%n.collapsed" -cp "$work/plain" Plain \
    "$work/agent-1.collapsed"
grep -q '^main;' "$work/agent-1.collapsed"

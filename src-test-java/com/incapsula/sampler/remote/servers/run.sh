#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh JAR [JDK]: what is pushed is taken by other people's code: an OpenTelemetry collector with profiles, and
# Pyroscope's published interface (its Go module has the interface, not the server). Both are built here from Go
# modules, so this needs go, a network, and some minutes at first; no other test runs it. WORK= names a folder that
# keeps what was built.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
jar=$(realpath "${1:?usage: run.sh JAR [JDK]}")
jdk=${2:-${JAVA_HOME:-$(dirname "$(dirname "$(realpath "$(command -v java)")")")}}
work=${WORK:-$(mktemp -d)}
started=()

finish() {
    [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
    [ -n "${WORK:-}" ] || rm -rf "$work"
}
trap finish EXIT

fail() {
    echo "run.sh: $1" >&2
    [ -z "${2:-}" ] || tail -20 "$2" >&2
    exit 1
}

build() {
    mkdir -p "$work/$1"
    cp "$here/$1"/* "$work/$1/"
    (cd "$work/$1" && go mod tidy && go build -o "$1" .) >"$work/$1.build" 2>&1 || fail "$1 was not built" "$work/$1.build"
}

# wait_for PORT LOG
wait_for() {
    for _ in $(seq 600); do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null || return 0
        sleep 0.1
    done
    fail "nothing listens at port $1" "$2"
}

# push URL LOG LINE: a program with the agent, until its reports are there.
push() {
    OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES=service.version=1.2,service.instance.id=one \
        "$jdk/bin/java" --enable-native-access=ALL-UNNAMED "-javaagent:$jar=interval=5ms,every=1s,push=$1" \
        -cp "$work/classes" Plain 2>"$work/agent.err" &
    started+=($!)
    for _ in $(seq 600); do
        ! grep -qF -- "$3" "$2" || return 0
        sleep 0.1
    done
    fail "no report came from $1" "$work/agent.err"
}

# expect LOG LINE
expect() {
    grep -qF -- "$2" "$1" || fail "\"$2\" is missing" "$1"
}

build collector
build pyroscope
mkdir -p "$work/classes"
cat >"$work/Plain.java" <<'JAVA'
public final class Plain {
    public static void main(String[] args) throws InterruptedException {
        Thread.sleep(600_000);
    }
}
JAVA
"$jdk/bin/javac" --release 17 -d "$work/classes" "$work/Plain.java"

(cd "$work/collector" && exec ./collector --config=file:config.yaml --feature-gates=service.profilesSupport) \
    >"$work/collector.log" 2>&1 &
started+=($!)
"$work/pyroscope/pyroscope" 127.0.0.1:14040 >"$work/pyroscope.log" 2>&1 &
started+=($!)
wait_for 14318 "$work/collector.log"
wait_for 14040 "$work/pyroscope.log"

push otlp+http://127.0.0.1:14318 "$work/collector.log" 'service.name: Str(shop)'
push pyroscope+http://127.0.0.1:14040 "$work/pyroscope.log" ': wall/nanoseconds '
kill "${started[@]}"
wait || true
started=()

expect "$work/collector.log" 'service.name: Str(shop)'
expect "$work/collector.log" 'service.instance.id: Str(one)'
expect "$work/collector.log" 'java.lang.Thread.sleep'
expect "$work/pyroscope.log" 'label __name__=wall'
expect "$work/pyroscope.log" 'label service_name=shop'
expect "$work/pyroscope.log" ': wall/nanoseconds '
echo "run.sh: a collector and Pyroscope's interface took the reports"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# take.sh: makes the pictures of the library's documents anew. It builds the library and the order service, runs the
# service, attaches to it, and opens the page in Chromium (PicturesIT). pngquant, if it is installed, makes the files small.
# SMP_BUILT=1: the library in target/ is taken as it is.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
service=$root/examples/order-service
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$work"' EXIT

[ "${SMP_BUILT:-}" = 1 ] || mvn -B -q -f "$root" -DskipTests -Dnative.cross.skip install
jar=$(find "$root/target" -maxdepth 1 -name 'threads-sampler-*.jar' ! -name '*-sources.jar' ! -name '*-javadoc.jar')
mvn -B -q -f "$service" compile dependency:build-classpath -Dmdep.outputFile="$work/classpath"

# profile DATABASE FILE: 20 seconds of a service that has run for ten.
profile() {
    java -cp "$jar:$service/target/classes:$(cat "$work/classpath")" com.example.orders.OrderService 60 "$1" >"$work/log" 2>&1 &
    pid=$!
    sleep 10
    java -jar "$jar" "$pid" -d 20s -o "$2"
    kill "$pid"
    wait "$pid" || true # killed
    pid=
}

profile "jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1" "$work/report.html"
profile "jdbc:h2:file:$work/orders" "$work/file.html"
java -jar "$jar" diff "$work/report.html" "$work/file.html" -o "$work/diff.html"
SMP_BROWSER=required mvn -B -q -f "$root" -pl java -Dtest=PicturesIT -Dpage.reports="$work" -Dpage.pictures="$here" \
    exec:exec@jni-check-prepare surefire:test@default-test
if command -v pngquant >/dev/null; then
    pngquant --force --strip --ext .png 128 "$here"/*.png
fi

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# All commands of the native side, for Maven and for people. Without arguments it prints its usage.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
    cat <<'TEXT'
usage: native/build.sh COMMAND [options]

  build     the shared library; with --out also copies it where the jar takes it from
  test      the C tests and the checks, under ctest
  bench     the benchmarks, in the release preset
  fuzz      every fuzz target for --seconds, in the fuzz preset
  format    clang-format over all C files; with --check it only says what it would change
  tidy      clang-tidy over the layers; a finding is an error
  tables    writes the tables that documents and the page have from lists in C
  cppcheck  cppcheck over the layers; a finding is an error

options
  --preset NAME      dev, release, asan, tsan, fuzz, aarch64: see native/CMakePresets.json
  --build DIR        the build folder; default target/native/PRESET. Without --preset: plain release,
                     warnings are no errors unless SMP_WERROR=ON is in the environment
  --jdk DIR          the JDK whose headers are used; default JAVA_HOME, else the one javac belongs to
  --headers DIR      where javac -h wrote the JNI header; default: the build makes its own
  --processor NAME   x86_64, aarch64, or other: that of the two which this machine is not; default this machine's
  --out DIR          build: writes DIR/META-INF/native/linux-PROCESSOR/libthreads-sampler.so; if that is this machine's
                     processor, removes the libraries of others
  --only REGEX       test, bench, fuzz: only the names that match
  --label NAME       test: only those with the label: program (not the checks), threads (several threads),
                     memory (quick enough for valgrind); see src-test-c/CMakeLists.txt
  --built            test: what is there, as another command has built it
  --launcher "CMD"   test: runs each test program under CMD
  --seconds N        fuzz: time for each target, default 60
  --check            format: change nothing, fail where something would change
  --quick            tidy: without clang's static analyzer

environment
  SMP_TEST_ROUNDS=N  random tests make N rounds
  SMP_TEST_SHARE=N   random tests make the Nth part of their rounds; default 4
TEXT
}

die() {
    echo "native/build.sh: $*" >&2
    exit 1
}

# need TOOL PACKAGES: stops with the cure where the tool is missing.
need() {
    command -v "$1" >/dev/null 2>&1 || die "$1 is missing; on Debian: apt-get install $2"
}

need_cmocka() {
    need cc "gcc libc6-dev"
    printf '#include <%s.h>\n' stdarg stddef stdint setjmp cmocka | cc -E - >/dev/null 2>&1 ||
        die "cmocka is missing; on Debian: apt-get install libcmocka-dev"
}

preset=
build=
jdk=
headers=
processor=
out=
only=.
label=
launcher=
seconds=60
check=no
built=no
quick=no

parse_options() {
    while [ $# -gt 0 ]; do
        case $1 in
            --build | --jdk | --headers | --out)
                [ $# -ge 2 ] || die "$1 needs a value"
                # cmake and ctest are run in other folders.
                printf -v "${1#--}" '%s' "$(realpath --canonicalize-missing "$2")"
                shift 2
                ;;
            --preset | --processor | --only | --label | --launcher | --seconds)
                [ $# -ge 2 ] || die "$1 needs a value"
                printf -v "${1#--}" '%s' "$2"
                shift 2
                ;;
            --check | --built | --quick)
                printf -v "${1#--}" yes
                shift
                ;;
            *)
                usage >&2
                die "unknown option '$1'"
                ;;
        esac
    done
}

# Says which processor is built for, once the preset is known.
choose_processor() {
    local own
    own=$(uname -m)
    [ "$preset" != aarch64 ] || processor=aarch64
    case ${processor:=$own} in
        other)
            case $own in
                x86_64) processor=aarch64 ;;
                aarch64) processor=x86_64 ;;
                *) die "--processor other: for x86_64 and aarch64 only, this is $own" ;;
            esac
            ;;
        x86_64 | aarch64 | "$own") ;;
        *) die "--processor $processor: x86_64, aarch64 or other" ;;
    esac
}

is_cross() {
    [ "$processor" != "$(uname -m)" ]
}

need_cross_compiler() {
    local packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
    [ "$processor" != x86_64 ] || packages="gcc-x86-64-linux-gnu libc6-dev-amd64-cross"
    command -v "$processor-linux-gnu-gcc" >/dev/null ||
        die "the compiler of the library for linux-$processor, $processor-linux-gnu-gcc, is missing; on Debian: apt-get" \
            "install $packages; a jar without that platform: mvn -Dnative.cross.skip"
}

need_compiler() {
    need cmake cmake
    if is_cross; then
        need_cross_compiler
    elif [ "$preset" = fuzz ]; then
        need clang-14 "clang-14 libclang-rt-14-dev"
    else
        need cc "gcc libc6-dev"
    fi
    # A build folder keeps the generator it was made with.
    if [ -z "${CMAKE_GENERATOR:-}" ] && [ ! -f "$build/Makefile" ] && command -v ninja >/dev/null; then
        export CMAKE_GENERATOR=Ninja
    fi
    [ "${CMAKE_GENERATOR:-}" = Ninja ] || need make make
}

configure() {
    local flags=()
    if [ -z "$preset" ] && [ -z "$build" ]; then
        preset=dev
    fi
    build=${build:-$root/target/native/$preset}
    choose_processor
    need_compiler
    if [ -n "$preset" ]; then
        flags+=(--preset "$preset")
    else
        flags+=(-DCMAKE_BUILD_TYPE=Release "-DSMP_WERROR=${SMP_WERROR:-OFF}")
        ! is_cross || flags+=(-DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$processor"
            "-DCMAKE_C_COMPILER=$processor-linux-gnu-gcc")
    fi
    flags+=("-DSMP_JAVA_HOME=$jdk" "-DSMP_JNI_HEADERS=$headers" "-DSMP_TEST_LAUNCHER=${launcher// /;}")
    mkdir -p "$build"
    # Configuring is silent unless it fails or warns.
    (cd "$root/native" && cmake -S . -B "$build" "${flags[@]}") >"$build/configure.log" 2>&1 || {
        cat "$build/configure.log" >&2
        die "cmake could not configure $build"
    }
    grep -A4 '^CMake Warning' "$build/configure.log" >&2 || true
}

# make_targets TARGET...
make_targets() {
    cmake --build "$build" --parallel "$(nproc)" --target "$@"
}

# The newest glibc symbol that the library needs is the oldest glibc it loads on.
glibc_floor() {
    objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1
}

cmd_build() {
    configure
    make_targets threads-sampler
    local library=$build/libthreads-sampler.so
    echo "built $library, needs $(glibc_floor "$library") or newer"
    if [ -n "$out" ]; then
        local libraries=$out/META-INF/native folder
        folder=$libraries/linux-$processor
        mkdir -p "$folder"
        # This machine's is built first: what is there for another processor is of an earlier build.
        is_cross || find "$libraries" -mindepth 1 -maxdepth 1 ! -name "linux-$processor" -exec rm -r {} +
        # A running JVM may have the old file mapped: replace it, never write into it.
        cp "$library" "$folder/.libthreads-sampler.so.new"
        mv "$folder/.libthreads-sampler.so.new" "$folder/libthreads-sampler.so"
    fi
}

cmd_test() {
    need_cmocka
    local select=(--tests-regex "$only")
    # An empty pattern would leave out what has no label.
    [ -z "$label" ] || select+=(--label-regex "$label")
    if [ "$built" = yes ]; then
        build=${build:-$root/target/native/${preset:-dev}}
        export SMP_TEST_LAUNCHER=$launcher
    else
        configure
        make_targets "${label:+tests_}${label:-all}"
    fi
    # ctest --test-dir needs cmake 3.20.
    cd "$build"
    ctest --output-on-failure --no-tests=error --parallel "$(nproc)" "${select[@]}"
    # What ctest only calls skipped: which tool was not there.
    grep -h ' is missing: ' Testing/Temporary/LastTest.log || true
}

# programs KIND: prints those of that kind which --only selects.
programs() {
    find "$build/tests" -maxdepth 1 -type f -executable -name "$1_*" | sort | grep -E "$only" ||
        die "no $1 program matches '$only'"
}

cmd_bench() {
    preset=${preset:-release}
    need_cmocka
    configure
    make_targets benches
    local program
    for program in $(programs bench); do
        echo "== $(basename "$program")"
        "$program"
    done
}

# fuzz_program PROGRAM
fuzz_program() {
    local program=$1 name corpus seeds
    name=$(basename "$program")
    corpus=$build/corpus/$name
    seeds=$root/src-test-c/fuzz/seeds/${name#fuzz_}
    mkdir -p "$corpus"
    local folders=("$corpus")
    [ ! -d "$seeds" ] || folders+=("$seeds")
    "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/$name-" "${folders[@]}" 2>"$build/$name.log" || {
        tail -40 "$build/$name.log" >&2
        die "$name found a failing input, kept in $build/$name-*"
    }
    echo "== $name for $seconds s"$'\n'"$(grep -E 'number_of_executed_units|DONE' "$build/$name.log")"
}

cmd_fuzz() {
    preset=${preset:-fuzz}
    configure
    make_targets fuzzers
    export root build seconds
    export -f fuzz_program die
    # As many at once as there are cores: each runs for a time, and is to have a core for all of it.
    programs fuzz | xargs -r -P "$(nproc)" -n 1 bash -euo pipefail -c 'fuzz_program "$0"'
}

c_files() {
    find "$root/native/src" "$root/src-test-c" -name '*.[ch]' | sort
}

cmd_format() {
    need clang-format-14 clang-format-14
    if [ "$check" = yes ]; then
        c_files | xargs clang-format-14 --dry-run --Werror
    else
        c_files | xargs clang-format-14 -i
    fi
}

cmd_tables() {
    need cc "gcc libc6-dev"
    "$root/src-test-c/checks/tables.sh" "$root" cc --write
}

cmd_tidy() {
    need clang-tidy-14 clang-tidy-14
    configure
    # The JNI header must be there for jni/ to be parsed.
    make_targets smp_jni_headers
    local checks=()
    # The analyzer takes more than four fifths of the time.
    [ "$quick" = no ] || checks=('--checks=-clang-analyzer-*')
    find "$root/native/src" -name '*.c' | sort |
        xargs -P "$(nproc)" -n 1 clang-tidy-14 --quiet --warnings-as-errors='*' "${checks[@]}" -p "$build"
}

# run_cppcheck PROCESSOR FILE...
run_cppcheck() {
    # ctunullpointer: across functions it does not see that a pointer and the tag beside it belong together.
    cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,performance,portability \
        --suppress=missingIncludeSystem --suppress=ctunullpointer -D_GNU_SOURCE "-D__$1__" \
        -I "$root/native/src" "${@:2}"
}

cmd_cppcheck() {
    need cppcheck cppcheck
    local headers
    run_cppcheck x86_64 "$root/native/src"
    # For the other processor, only the files that differ: those that name it, or include a header that does.
    headers=$(cd "$root/native/src" && grep -rl --include='*.h' __aarch64__ . | sed 's|^\./||' | paste -sd '|')
    grep -rlE --include='*.c' "__aarch64__|\"($headers)\"" "$root/native/src" | sort |
        { mapfile -t files && run_cppcheck aarch64 "${files[@]}"; }
}

main() {
    [ $# -gt 0 ] || {
        usage
        exit 2
    }
    local command=$1
    shift
    parse_options "$@"
    case $command in
        build | test | bench | fuzz | format | tidy | tables | cppcheck) "cmd_$command" ;;
        *)
            usage >&2
            die "unknown command '$command'"
            ;;
    esac
}

main "$@"

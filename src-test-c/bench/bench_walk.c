/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_walk.c - the cost of our own stack walk by the kind of frame, without a JVM, on a stack
 * that looks like a JVM's.
 *
 * Warm: the fastest of many rounds of many walks. Swept: one walk after 8 MB have been read, the
 * lower quartile. Both can be compared with another build on the same machine, even if the machine
 * is busy. The cost of one clock reading is shown for comparing machines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/safe_read.h"
#include "hotspot/frames.h"
#include "support/fake_code.h"
#include "support/must.h"

enum {
    METHODS = 6,
    DEPTH = 48,
    CAPACITY = 256,
    CALL_PC = 20,
    WALKS = 200, /* in a round */
    ROUNDS = 200,
    SWEPT_BYTES = 8 * 1024 * 1024,
    LINE_BYTES = 64
};

struct program {
    struct fake_code *code;
    struct smp_frames_cache *cache;
    uintptr_t methods[METHODS];
    uintptr_t words[METHODS]; /* the addresses of these words are ids, as up to JDK 25 */
    uintptr_t plain[METHODS];
    uintptr_t inlined[METHODS];
};

static void open_program(struct program *program, int version)
{
    static const char *const names[METHODS] = { "a", "b", "c", "d", "e", "f" };
    struct fake_code *const code = fake_code_create(version);

    program->code = code;
    must(smp_frames_cache_create(&program->cache) == SMP_OK, "memory");
    for (size_t i = 0; i < METHODS; i++) {
        program->methods[i] = fake_code_method(code, "app/Main", names[i], 0);
        program->words[i] = program->methods[i];
        fake_code_set_id(code, program->methods[i], (uintptr_t)&program->words[i]);
    }
    for (size_t i = 0; i < METHODS; i++) {
        struct fake_record record = { .pc = CALL_PC, .count = 1, .frames = { { 0 } } };
        for (size_t j = 0; j < 4; j++)
            record.frames[j] =
                (struct smp_raw_frame){ program->methods[(i + j) % METHODS], 20 + (int32_t)j };
        program->plain[i] = fake_code_compile(code, program->methods[i], 6, &record, 1) + CALL_PC;
        record.count = 4;
        program->inlined[i] =
            fake_code_compile(code, program->methods[i], 10, &record, 1) + CALL_PC;
    }
}

static void close_program(struct program *program)
{
    smp_frames_cache_destroy(program->cache);
    fake_code_destroy(program->code);
}

enum kind { INTERPRETED, COMPILED, INLINED, MIXED, KINDS };

static const char *const kind_names[KINDS] = { "interpreted", "compiled, none inlined",
                                               "compiled, four in one", "in turn" };

/* frames: frames of the JVM; one physical frame may contain several. */
static void push(struct program *program, enum kind kind, size_t at)
{
    const size_t method = at % METHODS;

    if (kind == INTERPRETED)
        fake_stack_interpreted(program->code, program->methods[method], 7, at % 3 == 0 ? 2 : 0);
    else if (kind == COMPILED)
        fake_stack_compiled(program->code, program->plain[method]);
    else if (kind == INLINED)
        fake_stack_compiled(program->code, program->inlined[method]);
    else
        push(program, at % 2 == 0 ? INTERPRETED : COMPILED, at / 2);
}

static size_t walk_once(const struct program *program, bool keeps_words)
{
    static struct smp_raw_frame raw[CAPACITY];
    static uint64_t ids[CAPACITY];
    static struct smp_frames_word read[8 * CAPACITY];
    struct smp_frames_words words = { .read = read, .capacity = 8 * CAPACITY };
    struct smp_frames out = {
        .raw = raw, .ids = ids, .capacity = CAPACITY, .words = keeps_words ? &words : NULL
    };

    smp_frames_walk(fake_code_layout(program->code), program->cache,
                    fake_stack_start(program->code), fake_stack_high(program->code), &out);
    must(out.end == SMP_FRAMES_ROOT, "the root is reached");
    return out.count;
}

static int64_t least_ns(const struct program *program, bool keeps_words)
{
    int64_t least = INT64_MAX;

    for (int round = 0; round < ROUNDS; round++) {
        const int64_t start_ns = smp_clock_ns();
        for (int i = 0; i < WALKS; i++)
            (void)walk_once(program, keeps_words);
        const int64_t ns = (smp_clock_ns() - start_ns) / WALKS;
        least = ns < least ? ns : least;
    }
    return least;
}

static unsigned sweep(void)
{
    static unsigned char swept[SWEPT_BYTES] = { 1 };
    unsigned sum = 0;

    for (size_t i = 0; i < SWEPT_BYTES; i += LINE_BYTES)
        sum += ++swept[i];
    return sum;
}

static int compare_ns(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;

    return left < right ? -1 : left > right;
}

static int64_t swept_ns(const struct program *program)
{
    int64_t times[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        must(sweep() != 0, "the memory was read");
        const int64_t start_ns = smp_clock_ns();
        (void)walk_once(program, false);
        times[round] = smp_clock_ns() - start_ns;
    }
    qsort(times, ROUNDS, sizeof(times[0]), compare_ns);
    return times[ROUNDS / 4];
}

static int64_t least_clock_ns(void)
{
    int64_t least = INT64_MAX;

    for (int round = 0; round < ROUNDS; round++) {
        const int64_t start_ns = smp_clock_ns();
        for (int i = 0; i < WALKS; i++)
            (void)smp_clock_ns();
        const int64_t ns = (smp_clock_ns() - start_ns) / WALKS;
        least = ns < least ? ns : least;
    }
    return least;
}

int main(void)
{
    static const int versions[] = { 17, 25 };
    static struct program program;

    must(smp_safe_read_refusal() == NULL, "this machine permits reading memory safely");
    (void)printf("a read of the clock: %" PRId64 " ns\n", least_clock_ns());
    for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
        open_program(&program, versions[v]);
        for (enum kind kind = INTERPRETED; kind < KINDS; kind++) {
            fake_stack_begin(program.code);
            fake_stack_enter(program.code);
            for (size_t i = 0; i < DEPTH / (kind == INLINED ? 4 : 1); i++)
                push(&program, kind, i);
            const size_t frames = walk_once(&program, false);
            (void)printf("JDK %d, %zu frames, %s: warm %" PRId64 " ns, with its words %" PRId64
                         " ns, swept %" PRId64 " ns\n",
                         versions[v], frames, kind_names[kind], least_ns(&program, false),
                         least_ns(&program, true), swept_ns(&program));
        }
        close_program(&program);
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/safe_read.h"
#include "hotspot/frames.h"
#include "hotspot/method_table.h"
#include "support/failing_alloc.h"
#include "support/fake_code.h"

static const int versions[] = { 17, 21, 25 };
enum {
    VERSION_COUNT = sizeof(versions) / sizeof(versions[0]),
    CAPACITY = 64,
    WORDS = 1024,
    CALL_PC = 20, /* pc offset at which every compiled method here has its record */
    ROUNDS = 300,
    READERS = 2
};

/* A program with three methods, in all forms of code. */
struct program {
    struct fake_code *code;
    const struct smp_layout *layout;
    uintptr_t methods[3];
    uintptr_t compiled; /* methods[0], which has inlined methods[1] */
    uintptr_t plain;    /* methods[1] */
    uintptr_t native;   /* methods[2] */
    uintptr_t stub;
    struct smp_raw_frame raw[CAPACITY];
    uint64_t ids[CAPACITY];
    struct smp_frames_word read[WORDS];
    struct smp_frames_words words;
    struct smp_frames out;
};

static int allow_reads(void **state)
{
    (void)state;
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

static void program_open(struct program *program, int version)
{
    static const char *const names[] = { "outer", "inner", "wait" };
    struct fake_code *code = fake_code_create(version);

    memset(program, 0, sizeof(*program));
    program->code = code;
    program->layout = fake_code_layout(code);
    for (size_t i = 0; i < 3; i++)
        program->methods[i] = fake_code_method(code, "app/Main", names[i], 100 + i);
    fake_code_set_native(code, program->methods[2]);
    const struct fake_record both = { .pc = CALL_PC,
                                      .count = 2,
                                      .frames = { { program->methods[1], 33 },
                                                  { program->methods[0], 44 } } };
    const struct fake_record one = { .pc = CALL_PC,
                                     .count = 1,
                                     .frames = { { program->methods[1], 55 } } };
    program->compiled = fake_code_compile(code, program->methods[0], 10, &both, 1) + CALL_PC;
    program->plain = fake_code_compile(code, program->methods[1], 4, &one, 1) + CALL_PC;
    program->native = fake_code_native(code, program->methods[2], 8) + 17;
    program->stub = fake_code_stub(code, "wait_stub", 6) + 3;
}

static void walk_with(struct program *program, struct smp_frames_cache *cache, size_t capacity)
{
    program->words = (struct smp_frames_words){ .read = program->read, .capacity = WORDS };
    program->out = (struct smp_frames){
        .raw = program->raw, .ids = program->ids, .capacity = capacity, .words = &program->words
    };
    smp_frames_walk(program->layout, cache, fake_stack_start(program->code),
                    fake_stack_high(program->code), &program->out);
}

static void walk(struct program *program)
{
    walk_with(program, NULL, CAPACITY);
}

static void expect(const struct program *program, size_t at, size_t method, int32_t bci)
{
    assert_true(at < program->out.count);
    assert_int_equal(program->out.raw[at].method, program->methods[method]);
    assert_int_equal(program->out.raw[at].bci, bci);
    assert_int_equal(program->out.ids[at], 100 + method);
}

static void expect_end(const struct program *program, enum smp_frames_end end, size_t count)
{
    assert_int_equal(program->out.end, end);
    assert_int_equal(program->out.count, count);
    assert_int_equal(program->out.leaf_count, count);
    assert_int_equal(program->out.omitted, end == SMP_FRAMES_FULL ? 1 : 0);
}

/* Every kind of frame above every other kind that it can call. */
static void make_mixed_stack(struct program *program)
{
    struct fake_code *code = program->code;

    fake_stack_begin(code);
    fake_stack_enter(code);
    fake_stack_interpreted(code, program->methods[0], 7, 0);
    fake_stack_compiled(code, program->compiled);
    fake_stack_interpreted(code, program->methods[1], 8, 3); /* extends a compiled frame */
    fake_stack_interpreted(code, program->methods[2], -1, 0);
    fake_stack_enter(code); /* native code calls Java */
    fake_stack_compiled(code, program->plain);
    fake_stack_compiled(code, program->compiled);
    fake_stack_deoptimise(code, false);
    fake_stack_compiled(code, program->plain);
    fake_stack_deoptimise(code, true);
    fake_stack_compiled(code, program->native);
}

static void expect_mixed_stack(const struct program *program)
{
    expect_end(program, SMP_FRAMES_ROOT, 10);
    expect(program, 0, 2, -1);
    expect(program, 1, 1, 55);
    expect(program, 2, 1, 33);
    expect(program, 3, 0, 44);
    expect(program, 4, 1, 55);
    expect(program, 5, 2, -1);
    expect(program, 6, 1, 8);
    expect(program, 7, 1, 33);
    expect(program, 8, 0, 44);
    expect(program, 9, 0, 7);
}

static void test_every_kind_of_frame(void **state)
{
    struct program program;

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct smp_frames_cache *cache = NULL;
        program_open(&program, versions[v]);
        make_mixed_stack(&program);
        walk(&program);
        expect_mixed_stack(&program);
        assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
        for (int round = 0; round < 3; round++) {
            walk_with(&program, cache, CAPACITY);
            expect_mixed_stack(&program);
        }
        smp_frames_cache_renew(cache);
        walk_with(&program, cache, CAPACITY);
        expect_mixed_stack(&program);
        smp_frames_cache_destroy(cache);
        fake_code_destroy(program.code);
    }
}

/* A walk may happen before the JVM has created its interpreter. Later the interpreter's address is
 * kept. */
static void test_an_interpreter_created_later(void **state)
{
    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct program program;
        struct smp_frames_cache *cache = NULL;
        program_open(&program, versions[v]);
        fake_stack_enter(program.code);
        fake_stack_interpreted(program.code, program.methods[0], 7, 0);
        assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
        uintptr_t *const variable = (uintptr_t *)program.layout->interpreter.code;
        const uintptr_t made = *variable;
        *variable = 0;
        walk_with(&program, cache, CAPACITY);
        assert_int_equal(program.out.end, SMP_FRAMES_UNWALKABLE);
        *variable = made;
        walk_with(&program, cache, CAPACITY);
        expect_end(&program, SMP_FRAMES_ROOT, 1);
        *variable = 0;
        walk_with(&program, cache, CAPACITY);
        expect_end(&program, SMP_FRAMES_ROOT, 1);
        walk(&program);
        assert_int_equal(program.out.end, SMP_FRAMES_UNWALKABLE);
        *variable = made;
        smp_frames_cache_destroy(cache);
        fake_code_destroy(program.code);
    }
}

static void test_a_leaf_in_a_stub_and_a_start_without_pc(void **state)
{
    struct program program;
    struct smp_frames_start start;

    (void)state;
    program_open(&program, 17);
    fake_stack_enter(program.code);
    fake_stack_compiled(program.code, program.plain);
    fake_stack_compiled(program.code, program.stub);
    walk(&program);
    expect_end(&program, SMP_FRAMES_ROOT, 1);
    expect(&program, 0, 1, 55);
    /* The pc is in the word below sp. */
    start = fake_stack_start(program.code);
    ((uintptr_t *)start.sp)[-1] = start.pc;
    start.pc = 0;
    smp_frames_walk(program.layout, NULL, start, fake_stack_high(program.code), &program.out);
    expect_end(&program, SMP_FRAMES_ROOT, 1);
    fake_code_destroy(program.code);
}

/* The byte code pointer of a leaf is in a register, if that points into its method: the slot in
 * the frame belongs to its last call. Callers have it in their slots. */
static void test_the_byte_code_of_an_interpreted_leaf(void **state)
{
    struct program program;
    struct smp_frames_start start;

    (void)state;
    program_open(&program, 17);
    fake_stack_enter(program.code);
    fake_stack_interpreted(program.code, program.methods[0], 7, 0);
    fake_stack_interpreted(program.code, program.methods[0], 8, 0);
    walk(&program);
    expect(&program, 0, 0, 8);
    start = fake_stack_start(program.code);
    start.bcp = fake_code_bcp(program.code, program.methods[0], 21);
    smp_frames_walk(program.layout, NULL, start, fake_stack_high(program.code), &program.out);
    expect_end(&program, SMP_FRAMES_ROOT, 2);
    expect(&program, 0, 0, 21);
    expect(&program, 1, 0, 7);
    start.bcp = fake_code_bcp(program.code, program.methods[1], 21); /* of another method */
    smp_frames_walk(program.layout, NULL, start, fake_stack_high(program.code), &program.out);
    expect_end(&program, SMP_FRAMES_ROOT, 2);
    expect(&program, 0, 0, 8);
    fake_code_destroy(program.code);
}

/* Its id was read just when another class was at the address of its own class. */
static void test_the_id_of_an_unloaded_class_is_dropped_at_the_next_renewal(void **state)
{
    static uintptr_t ids[2]; /* words that contain a Method* */
    struct program program;
    struct smp_frames_cache *cache = NULL;

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        program_open(&program, versions[v]);
        assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
        ids[0] = program.methods[1];
        fake_code_set_id(program.code, program.methods[1], (uintptr_t)&ids[0]);
        fake_stack_enter(program.code);
        fake_stack_compiled(program.code, program.plain);
        walk_with(&program, cache, CAPACITY);
        assert_int_equal(program.ids[0], (uintptr_t)&ids[0]);

        ids[0] = 0;
        ids[1] = program.methods[1];
        fake_code_set_id(program.code, program.methods[1], (uintptr_t)&ids[1]);
        smp_frames_cache_renew(cache);
        walk_with(&program, cache, CAPACITY);
        expect_end(&program, SMP_FRAMES_ROOT, 1);
        if (program.layout->version <= SMP_METHOD_TABLE_LAST_JDK)
            assert_int_equal(program.ids[0], (uintptr_t)&ids[1]);
        smp_frames_cache_destroy(cache);
        fake_code_destroy(program.code);
        smp_method_table_empty();
    }
}

/* A compiled leaf at any pc: found by the first record at or after that pc. */
static void test_a_compiled_leaf_is_kept_in_the_cache(void **state)
{
    struct program program;
    struct smp_frames_cache *cache = NULL;
    struct smp_frames_start start;

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        program_open(&program, versions[v]);
        assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
        fake_stack_enter(program.code);
        fake_stack_compiled(program.code, program.compiled);
        walk(&program);
        start = fake_stack_start(program.code);
        start.pc -= 7;
        start.line_pc = start.pc + 1;
        for (int round = 0; round < 3; round++) {
            smp_frames_walk(program.layout, cache, start, fake_stack_high(program.code),
                            &program.out);
            expect_end(&program, SMP_FRAMES_ROOT, 2);
            expect(&program, 0, 1, 33);
            expect(&program, 1, 0, 44);
            if (round == 1)
                smp_frames_cache_renew(cache);
        }
        /* The entry of a leaf does not serve a return address. */
        start.pc = start.line_pc;
        start.line_pc = 0;
        smp_frames_walk(program.layout, cache, start, fake_stack_high(program.code), &program.out);
        assert_int_equal(program.out.end, SMP_FRAMES_UNWALKABLE);
        /* Now another method is there. */
        start.pc -= 1;
        start.line_pc = start.pc + 1;
        fake_code_set_compile_id(program.code, program.compiled, 4711);
        smp_frames_walk(program.layout, cache, start, fake_stack_high(program.code), &program.out);
        expect_end(&program, SMP_FRAMES_ROOT, 2);
        smp_frames_cache_destroy(cache);
        fake_code_destroy(program.code);
    }
}

/* The replaced frame remains until the interpreted frames, which are not filled yet, are
 * complete. */
static void test_a_frame_that_is_being_replaced(void **state)
{
    struct program program;

    (void)state;
    program_open(&program, 17);
    const uintptr_t deopt = fake_code_stub(program.code, "DeoptimizationBlob", 6) + 3;
    fake_stack_enter(program.code);
    fake_stack_interpreted(program.code, program.methods[0], 7, 0);
    fake_stack_compiled(program.code, program.plain);
    fake_stack_compiled(program.code, deopt);
    walk(&program);
    expect_end(&program, SMP_FRAMES_ROOT, 2);
    fake_stack_begin(program.code);
    fake_stack_enter(program.code);
    fake_stack_interpreted(program.code, program.methods[0], 7, 0);
    fake_stack_interpreted(program.code, program.methods[1], 9, 0);
    fake_stack_compiled(program.code, deopt);
    walk(&program);
    expect_end(&program, SMP_FRAMES_UNWALKABLE, 0);
    fake_code_destroy(program.code);
}

static void test_native_code_that_calls_java_by_an_upcall(void **state)
{
    struct program program;

    (void)state;
    program_open(&program, 25);
    const uintptr_t upcall = fake_code_upcall(program.code, 20) + 9;
    fake_stack_upcall(program.code, upcall); /* the thread's first entry into Java */
    fake_stack_compiled(program.code, program.plain);
    fake_stack_compiled(program.code, program.stub); /* native code is called by a stub */
    fake_stack_upcall(program.code, upcall);
    fake_stack_compiled(program.code, program.compiled);
    walk(&program);
    expect_end(&program, SMP_FRAMES_ROOT, 3);
    expect(&program, 0, 1, 33);
    expect(&program, 2, 1, 55);
    fake_code_destroy(program.code);
}

static void test_ends_of_virtual_threads(void **state)
{
    struct program program;

    (void)state;
    program_open(&program, 25);
    const uintptr_t barrier =
        fake_code_stub(program.code, "StubRoutines (continuationstubs)", 0) + 30;
    const uintptr_t enter = fake_code_native(
        program.code,
        fake_code_method(program.code, "jdk/internal/vm/Continuation", "enterSpecial", 0), 8);
    const uintptr_t other = fake_code_native(
        program.code, fake_code_method(program.code, "app/Continuation", "enterSpecial", 103), 8);
    fake_stack_enter(program.code);
    fake_stack_compiled(program.code, program.plain); /* the carrier's */
    fake_stack_compiled(program.code, enter);
    fake_stack_compiled(program.code, program.compiled);
    walk(&program);
    expect_end(&program, SMP_FRAMES_VIRTUAL_ROOT, 2);

    fake_stack_begin(program.code);
    fake_stack_enter(program.code);
    fake_stack_compiled(program.code, other);
    fake_stack_compiled(program.code, program.compiled);
    walk(&program);
    expect_end(&program, SMP_FRAMES_ROOT, 3);

    fake_stack_begin(program.code);
    fake_stack_enter(program.code);
    fake_stack_compiled(program.code, barrier); /* zero bytes: the code that returns into it */
    fake_stack_compiled(program.code, program.compiled);
    walk(&program);
    expect_end(&program, SMP_FRAMES_BARRIER, 2);
    fake_code_destroy(program.code);
}

/* JDK 28, value classes: a method that ends in "add disp(%rsp), %rsp; pop %rbp". */
static void set_end_of_method(struct program *program, size_t disp, bool is_wide)
{
    const uint8_t narrow[] = { 0x48, 0x03, 0x64, 0x24, (uint8_t)disp, 0x5d };
    const uint8_t wide[] = {
        0x48, 0x03, 0xa4, 0x24, (uint8_t)disp, (uint8_t)(disp >> 8), 0, 0, 0x5d
    };
    char *at = (char *)program->compiled + 200;

    memset(at, 0x48, 100); /* the same byte, which begins no known instruction */
    memcpy(at + 80, is_wide ? wide : narrow, is_wide ? sizeof(wide) : sizeof(narrow));
}

static void test_frames_that_contain_their_size(void **state)
{
    enum { FRAME_BYTES = 80 };
    struct program program;
    struct smp_frames_cache *cache = NULL;

    (void)state;
    program_open(&program, 28);
    assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
    for (int round = 0; round < 4; round++) {
        set_end_of_method(&program, FRAME_BYTES - 24, round % 2 == 1);
        for (uint32_t extra = 0; extra < 20; extra += 2) {
            fake_stack_begin(program.code);
            fake_stack_enter(program.code);
            fake_stack_interpreted(program.code, program.methods[0], 7, 0);
            fake_stack_larger(program.code, program.compiled, extra);
            fake_stack_compiled(program.code, program.plain);
            walk_with(&program, round < 2 ? NULL : cache, CAPACITY);
            expect_end(&program, SMP_FRAMES_ROOT, 4);
            expect(&program, 1, 1, 33);
            expect(&program, 3, 0, 7);
        }
    }
    /* An impossible size: below the minimum, or beyond the stack. */
    for (size_t i = 0; i < 3; i++) {
        static const uintptr_t wrong[] = { FRAME_BYTES - 24, 1 << 19, FRAME_BYTES + 1 };
        fake_stack_begin(program.code);
        fake_stack_enter(program.code);
        fake_stack_larger(program.code, program.compiled, 0);
        memcpy((char *)fake_stack_start(program.code).sp + FRAME_BYTES - 24, &wrong[i],
               sizeof(wrong[i]));
        walk(&program);
        expect_end(&program, SMP_FRAMES_UNWALKABLE, 2);
    }
    /* The size is in another word than expected. */
    set_end_of_method(&program, FRAME_BYTES - 32, false);
    walk(&program);
    expect_end(&program, SMP_FRAMES_UNWALKABLE, 0);
    smp_frames_cache_destroy(cache);
    fake_code_destroy(program.code);
}

static void test_both_ends_of_deep_stacks(void **state)
{
    struct program program;

    (void)state;
    program_open(&program, 25);
    for (size_t depth = 1; depth < 40; depth++) {
        fake_stack_begin(program.code);
        fake_stack_enter(program.code);
        for (size_t i = 0; i < depth; i++) /* the root's bci is 0 */
            fake_stack_interpreted(program.code, program.methods[0], (int32_t)i, 0);
        for (size_t capacity = 2; capacity < 45; capacity++) {
            const size_t kept = depth < capacity ? depth : capacity;
            const size_t leaves = depth <= capacity ? depth : capacity - capacity / 2;
            walk_with(&program, NULL, capacity);
            assert_int_equal(program.out.end, SMP_FRAMES_ROOT);
            assert_int_equal(program.out.count, kept);
            assert_int_equal(program.out.leaf_count, leaves);
            assert_int_equal(program.out.omitted, depth - kept);
            for (size_t i = 0; i < kept; i++)
                expect(&program, i, 0, (int32_t)(i < leaves ? depth - 1 - i : kept - 1 - i));
        }
    }
    walk_with(&program, NULL, 1);
    expect_end(&program, SMP_FRAMES_UNWALKABLE, 0);
    fake_code_destroy(program.code);
}

static bool was_read(const struct smp_frames_words *words, const uintptr_t *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (words->read[i].address == (uintptr_t)word)
            return true;
    }
    return false;
}

/* Each word of the stack is changed in turn. The walk ends, with the same result if the word is
 * not among those that it has reported as read. */
static void test_any_damaged_word_of_a_stack_ends_the_walk(void **state)
{
    static const uintptr_t wrong[] = { 0, 1, 8, UINTPTR_MAX, UINTPTR_MAX - 7 };
    struct program program;
    struct program whole;
    size_t read = 0;

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        size_t count = 0;
        program_open(&program, versions[v]);
        make_mixed_stack(&program);
        walk(&program);
        whole = program;
        assert_in_range(whole.words.count, 1, WORDS);
        uintptr_t *words = fake_stack_words(program.code, &count);
        for (size_t i = 0; i < count; i++) {
            const uintptr_t saved = words[i];
            const bool counts = was_read(&whole.words, &words[i]);
            read += counts;
            for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]) + 1; k++) {
                /* Finally a word that points back: walks must not loop. */
                words[i] = k < 5 ? wrong[k] : fake_stack_start(program.code).sp;
                walk(&program);
                if (!counts)
                    expect_mixed_stack(&program);
                words[i] = saved;
            }
        }
        walk(&program);
        expect_mixed_stack(&program);
        assert_int_equal(program.words.count, whole.words.count);
        for (size_t i = 0; i < program.words.count; i++) {
            assert_int_equal(program.read[i].address, whole.read[i].address);
            assert_int_equal(program.read[i].value, *(uintptr_t *)program.read[i].address);
        }
        fake_code_destroy(program.code);
    }
    assert_true(read > VERSION_COUNT * 10);
}

/* The walk ends before it reads a word that it cannot keep; each frame has two words. */
static void test_no_room_for_more_words(void **state)
{
    enum { DEPTH = 60 };
    struct program program;
    size_t all = 0;

    (void)state;
    program_open(&program, 25);
    fake_stack_begin(program.code);
    fake_stack_enter(program.code);
    for (int32_t i = 0; i < DEPTH; i++)
        fake_stack_interpreted(program.code, program.methods[0], i, 0);
    walk(&program);
    expect_end(&program, SMP_FRAMES_ROOT, DEPTH);
    all = program.words.count;
    for (size_t capacity = all / 2; capacity < all + 60; capacity++) {
        program.words.capacity = capacity;
        smp_frames_walk(program.layout, NULL, fake_stack_start(program.code),
                        fake_stack_high(program.code), &program.out);
        assert_true(program.words.count <= capacity);
        if (program.out.end == SMP_FRAMES_ROOT)
            continue;
        assert_true(program.out.count > 0 && program.out.count <= DEPTH);
        expect_end(&program, SMP_FRAMES_FULL, program.out.count);
        for (size_t i = 0; i < program.out.count; i++)
            expect(&program, i, 0, DEPTH - 1 - (int32_t)i);
    }
    assert_int_equal(program.out.end, SMP_FRAMES_ROOT);
    program.words.capacity = all / 2; /* and no room for all frames */
    program.out.capacity = 5;
    smp_frames_walk(program.layout, NULL, fake_stack_start(program.code),
                    fake_stack_high(program.code), &program.out);
    assert_int_equal(program.out.end, SMP_FRAMES_FULL);
    assert_int_equal(program.out.count, 3);
    assert_int_equal(program.out.leaf_count, 3);
    assert_in_range(program.out.omitted, 1, DEPTH - 4);
    fake_code_destroy(program.code);
}

static void test_starting_points_that_are_no_frames(void **state)
{
    struct program program;
    struct smp_frames_start start;

    (void)state;
    program_open(&program, 17);
    make_mixed_stack(&program);
    const struct smp_frames_start right = fake_stack_start(program.code);
    const uintptr_t high = fake_stack_high(program.code);
    const struct smp_frames_start wrong[] = {
        { .sp = 0, .fp = right.fp, .pc = right.pc },
        { .sp = right.sp + 1, .fp = right.fp, .pc = right.pc },
        { .sp = high, .fp = right.fp, .pc = right.pc },
        { .sp = UINTPTR_MAX - 7, .fp = right.fp, .pc = right.pc },
        { .sp = right.sp, .fp = right.fp, .pc = 1 },
        { .sp = right.sp, .fp = right.fp, .pc = right.sp },
        { .sp = right.sp, .fp = 0, .pc = fake_code_interpreter(program.code) },
        { .sp = right.sp, .fp = UINTPTR_MAX - 7, .pc = fake_code_interpreter(program.code) },
        { .sp = right.sp, .fp = high, .pc = fake_code_interpreter(program.code) },
        { .sp = right.sp, .fp = right.fp, .pc = program.plain + 1 },
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        start = wrong[i];
        smp_frames_walk(program.layout, NULL, start, high, &program.out);
        expect_end(&program, SMP_FRAMES_UNWALKABLE, 0);
    }
    fake_code_destroy(program.code);
}

static void test_random_stacks(void **state)
{
    uint64_t random = 11;
    struct program program;

    (void)state;
    program_open(&program, 25);
    const uintptr_t pcs[] = { program.compiled, program.plain, program.native, program.stub,
                              fake_code_interpreter(program.code) };
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = 0;
        make_mixed_stack(&program);
        uintptr_t *words = fake_stack_words(program.code, &count);
        for (size_t i = 0; i < count; i++) {
            const uint64_t dice = smp_random_next(&random) % 16;
            if (dice < 5)
                words[i] = pcs[dice];
            else if (dice < 9)
                words[i] = (uintptr_t)&words[smp_random_next(&random) % count];
            else if (dice == 9)
                words[i] = smp_random_next(&random);
        }
        walk(&program);
        assert_true(program.out.count <= CAPACITY);
    }
    fake_code_destroy(program.code);
}

/* Code is freed, and other code takes its place. */
static void test_the_cache_notices_other_code(void **state)
{
    struct program program;
    struct smp_frames_cache *cache = NULL;

    (void)state;
    program_open(&program, 25);
    assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
    fake_stack_enter(program.code);
    fake_stack_compiled(program.code, program.plain);
    walk_with(&program, cache, CAPACITY);
    expect(&program, 0, 1, 55);
    /* The same bytes with another compile id are decoded again, as the current method. */
    uint32_t *data = NULL;
    const uintptr_t blob = fake_code_blob(program.code, program.plain);
    memcpy(&data, (const char *)blob + program.layout->nmethod.mutable_data, sizeof(data));
    memcpy((char *)data + 40, &program.methods[0], sizeof(uintptr_t));
    walk_with(&program, cache, CAPACITY);
    expect(&program, 0, 1, 55); /* nothing shows that it is other code */
    fake_code_set_compile_id(program.code, program.plain, 99);
    walk_with(&program, cache, CAPACITY);
    expect(&program, 0, 0, 55);
    /* After it was freed, other code may be there while its compile id is still in the header. */
    ((char *)blob)[(int64_t)program.layout->heap.block_used - program.layout->heap.block_bytes] = 0;
    walk_with(&program, cache, CAPACITY);
    expect_end(&program, SMP_FRAMES_UNWALKABLE, 0);
    ((char *)blob)[(int64_t)program.layout->heap.block_used - program.layout->heap.block_bytes] = 1;
    walk_with(&program, cache, CAPACITY);
    expect(&program, 0, 0, 55);
    /* After a renewal the remaining id is not enough, because there is no blob any more. */
    smp_frames_cache_renew(cache);
    size_t segments = 0;
    uint8_t *map = fake_code_segment_map(program.code, &segments);
    memset(map, 255, segments);
    walk_with(&program, cache, CAPACITY);
    expect_end(&program, SMP_FRAMES_UNWALKABLE, 0);
    smp_frames_cache_destroy(cache);
    fake_code_destroy(program.code);
}

static void test_ids_created_later(void **state)
{
    struct program program;
    struct smp_frames_cache *cache = NULL;

    (void)state;
    program_open(&program, 21);
    assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
    const uintptr_t method = fake_code_method(program.code, "app/Main", "young", 0);
    const struct fake_record record = { .pc = CALL_PC, .count = 1, .frames = { { method, 3 } } };
    const uintptr_t compiled = fake_code_compile(program.code, method, 6, &record, 1) + CALL_PC;
    fake_stack_enter(program.code);
    fake_stack_interpreted(program.code, method, 9, 0);
    fake_stack_compiled(program.code, compiled);
    for (uint64_t id = 0; id < 2; id++) {
        for (int i = 0; i < 2; i++) {
            walk_with(&program, cache, CAPACITY);
            expect_end(&program, SMP_FRAMES_ROOT, 2);
            assert_int_equal(program.ids[0], id);
            assert_int_equal(program.ids[1], id);
        }
        fake_code_set_id(program.code, method, 1);
    }
    smp_frames_cache_destroy(cache);
    fake_code_destroy(program.code);
}

/* More frames at one pc than an entry can hold, and more methods than the table can hold. */
static void test_the_cache_with_many_entries(void **state)
{
    enum { METHODS = 400, CALLS = 150 };
    struct program program;
    struct smp_frames_cache *cache = NULL;
    struct fake_record records[CALLS];
    uintptr_t methods[METHODS];
    uint64_t random = 5;

    (void)state;
    program_open(&program, 25);
    assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
    for (size_t i = 0; i < METHODS; i++)
        methods[i] = fake_code_method(program.code, "app/Main", "many", 1000 + i);
    for (int32_t i = 0; i < CALLS; i++) {
        records[i] =
            (struct fake_record){ .pc = 2 * i,
                                  .count = 1 + smp_random_next(&random) % FAKE_RECORD_FRAMES };
        for (size_t k = 0; k < records[i].count; k++)
            records[i].frames[k] =
                (struct smp_raw_frame){ methods[smp_random_next(&random) % METHODS], (int32_t)k };
    }
    const uintptr_t code = fake_code_compile(program.code, methods[0], 6, records, CALLS);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < CALLS; i++) {
            fake_stack_begin(program.code);
            fake_stack_enter(program.code);
            fake_stack_compiled(program.code, code + 2 * i);
            walk_with(&program, cache, CAPACITY);
            expect_end(&program, SMP_FRAMES_ROOT, records[i].count);
            for (size_t k = 0; k < records[i].count; k++) {
                assert_int_equal(program.raw[k].method, records[i].frames[k].method);
                assert_int_equal(program.raw[k].bci, records[i].frames[k].bci);
            }
        }
    }
    smp_frames_cache_destroy(cache);
    fake_code_destroy(program.code);
}

struct readers {
    struct program *program;
    struct smp_frames_cache *cache;
    _Atomic bool stops;
};

static void *walk_and_compare(void *self)
{
    struct readers *readers = self;
    struct program own = *readers->program;
    size_t walks = 0;

    while (!atomic_load(&readers->stops) || walks == 0) {
        walk_with(&own, readers->cache, CAPACITY);
        expect_mixed_stack(&own);
        walks++;
    }
    return NULL;
}

static void test_the_cache_may_be_filled_while_it_is_read(void **state)
{
    struct program program;
    struct readers readers = { .program = &program };
    pthread_t threads[READERS];

    (void)state;
    program_open(&program, 25);
    make_mixed_stack(&program);
    assert_int_equal(smp_frames_cache_create(&readers.cache), SMP_OK);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, walk_and_compare, &readers), 0);
    for (int round = 0; round < ROUNDS; round++)
        smp_frames_cache_renew(readers.cache);
    atomic_store(&readers.stops, true);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    smp_frames_cache_destroy(readers.cache);
    fake_code_destroy(program.code);
}

static enum smp_status make_cache(void *self)
{
    struct smp_frames_cache *cache = NULL;
    const enum smp_status status = smp_frames_cache_create(&cache);

    (void)self;
    assert_int_equal(cache != NULL, status == SMP_OK);
    smp_frames_cache_destroy(cache);
    return status;
}

static void test_no_memory_for_the_cache(void **state)
{
    const struct failing_alloc_steps steps = failing_alloc_each_step(make_cache, NULL);

    (void)state;
    assert_int_equal(steps.refused, 2);
    assert_int_equal(steps.survived, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_frame),
        cmocka_unit_test(test_an_interpreter_created_later),
        cmocka_unit_test(test_a_leaf_in_a_stub_and_a_start_without_pc),
        cmocka_unit_test(test_the_byte_code_of_an_interpreted_leaf),
        cmocka_unit_test(test_a_compiled_leaf_is_kept_in_the_cache),
        cmocka_unit_test(test_the_id_of_an_unloaded_class_is_dropped_at_the_next_renewal),
        cmocka_unit_test(test_a_frame_that_is_being_replaced),
        cmocka_unit_test(test_native_code_that_calls_java_by_an_upcall),
        cmocka_unit_test(test_ends_of_virtual_threads),
        cmocka_unit_test(test_frames_that_contain_their_size),
        cmocka_unit_test(test_both_ends_of_deep_stacks),
        cmocka_unit_test(test_any_damaged_word_of_a_stack_ends_the_walk),
        cmocka_unit_test(test_no_room_for_more_words),
        cmocka_unit_test(test_starting_points_that_are_no_frames),
        cmocka_unit_test(test_random_stacks),
        cmocka_unit_test(test_the_cache_notices_other_code),
        cmocka_unit_test(test_ids_created_later),
        cmocka_unit_test(test_the_cache_with_many_entries),
        cmocka_unit_test(test_the_cache_may_be_filled_while_it_is_read),
        cmocka_unit_test(test_no_memory_for_the_cache),
    };

    return cmocka_run_group_tests(tests, allow_reads, NULL);
}

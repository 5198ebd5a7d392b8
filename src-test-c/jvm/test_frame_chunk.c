/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/safe_read.h"
#include "handler/walk_data.h"
#include "hotspot/chunks.h"
#include "hotspot/frames.h"
#include "hotspot/machine_code.h"
#include "support/fake_code.h"
#include "support/fake_libjvm.h"

enum {
    CAPACITY = 128,
    CALL_PC = 20, /* pc offset at which every compiled method here has its record */
    MAX_FRAMES = 40,
    HEAP_BYTES = 64 * 1024,
    REFERENCE_SHIFT = 3,
    MAX_CHUNKS = 4,
    ENTRY_WORDS = 10, /* size of the frame of enterSpecial, including the JVM's own words */
    SAVED_WORDS = 2,
    YIELD = 200 /* a method id */
};

enum shape { PLAIN, INLINED, DEOPTIMISED, INTERPRETED, EXTENDING /* its caller's frame */ };

/* The layout of this JVM. */
struct variant {
    int version;
    bool is_compressed;
    uint32_t continuation_at; /* offset in an entry */
};

static const struct variant variants[] = {
    { 21, true, 8 }, { 21, false, 8 }, { 25, true, 16 }, { 25, false, 16 }
};
enum { VARIANT_COUNT = sizeof(variants) / sizeof(variants[0]) };

struct chunk_memory {
    uintptr_t object;
    uintptr_t words;
    size_t count;
};

struct program {
    const struct variant *variant;
    struct fake_code *code;
    struct smp_chunks chunks;
    uintptr_t methods[3];
    uintptr_t inlined; /* pc in compiled methods[0], which has inlined methods[1] */
    uintptr_t plain;   /* pc in compiled methods[1] */
    uintptr_t parks;   /* pc in a method with the id YIELD */
    uintptr_t enter_special;
    uintptr_t barrier;
    char *heap;
    size_t used;
    uintptr_t continuation;
    struct chunk_memory made[MAX_CHUNKS]; /* newest first */
    size_t made_count;
    /* The virtual thread's frames, oldest first; [0] is the frame below them. */
    struct smp_frames_start tops[MAX_FRAMES];
    struct smp_raw_frame raw[CAPACITY];
    uint64_t ids[CAPACITY];
    struct smp_frames out;
};

static int allow_reads(void **state)
{
    (void)state;
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

/* ------------------------------------------------------------------------------------ the heap */

static void poke(uintptr_t address, uintptr_t value)
{
    memcpy((char *)address, &value, sizeof(value));
}

static void poke_u32(uintptr_t address, uint32_t value)
{
    memcpy((char *)address, &value, sizeof(value));
}

static uintptr_t new_object(struct program *program, size_t bytes)
{
    const uintptr_t object = (uintptr_t)program->heap + program->used;

    program->used += (bytes + 7) / 8 * 8;
    assert_true(program->used < HEAP_BYTES);
    return object;
}

static void set_reference(struct program *program, uintptr_t address, uintptr_t to)
{
    const struct smp_chunks *chunks = &program->chunks;

    if (!chunks->reference.is_compressed)
        poke(address, to);
    else
        poke_u32(address,
                 to == 0 ? 0
                         : (uint32_t)((to - chunks->reference.base) >> chunks->reference.shift));
}

static void program_open(struct program *program, const struct variant *variant)
{
    struct fake_code *code = fake_code_create(variant->version);

    memset(program, 0, sizeof(*program));
    program->variant = variant;
    program->code = code;
    program->methods[0] = fake_code_method(code, "app/Main", "outer", 100);
    program->methods[1] = fake_code_method(code, "app/Main", "inner", 101);
    program->methods[2] = fake_code_method(code, "jdk/internal/vm/Continuation", "yield0", YIELD);
    const struct fake_record both = { .pc = CALL_PC,
                                      .count = 2,
                                      .frames = { { program->methods[1], 33 },
                                                  { program->methods[0], 44 } } };
    const struct fake_record one = { .pc = CALL_PC,
                                     .count = 1,
                                     .frames = { { program->methods[1], 55 } } };
    const struct fake_record yield = { .pc = CALL_PC,
                                       .count = 1,
                                       .frames = { { program->methods[2], 66 } } };
    program->inlined = fake_code_compile(code, program->methods[0], 10, &both, 1) + CALL_PC;
    program->plain = fake_code_compile(code, program->methods[1], 4, &one, 1) + CALL_PC;
    program->parks = fake_code_compile(code, program->methods[2], 6, &yield, 1) + CALL_PC;
    program->enter_special =
        fake_code_native(code,
                         fake_code_method(code, "jdk/internal/vm/Continuation", "enterSpecial", 0),
                         ENTRY_WORDS) +
        7;
    program->barrier = fake_code_stub(code, "StubRoutines (continuationstubs)", 0) + 30;
    program->heap = calloc(1, HEAP_BYTES);
    assert_non_null(program->heap);
    program->chunks = (struct smp_chunks){
        .reference = { .is_compressed = variant->is_compressed,
                       .shift = REFERENCE_SHIFT,
                       .base = (uintptr_t)program->heap - 4096 },
        .tail = 24,
        .parent = 16,
        .size = 24,
        .sp = 28,
        .bottom = 32,
        .is_bottom_from_end = variant->version == 21,
        .frames = 48,
        .yields = { YIELD, 0 },
    };
    program->continuation = new_object(program, 40);
}

static void program_close(struct program *program)
{
    free(program->heap);
    fake_code_destroy(program->code);
}

/* ----------------------------------------------------------------------------------- the frames */

static void push(struct program *program, enum shape shape, int32_t bci)
{
    struct fake_code *code = program->code;

    switch (shape) {
    case PLAIN:
        fake_stack_compiled(code, program->plain);
        break;
    case INLINED:
        fake_stack_compiled(code, program->inlined);
        break;
    case DEOPTIMISED:
        fake_stack_compiled(code, program->inlined);
        fake_stack_deoptimise(code, false);
        break;
    default:
        fake_stack_interpreted(code, program->methods[0], bci, shape == EXTENDING ? 3 : 0);
        break;
    }
}

static bool is_interpreted(enum shape shape)
{
    return shape == INTERPRETED || shape == EXTENDING;
}

static void begin_carrier(struct program *program)
{
    fake_stack_begin(program->code);
    fake_stack_enter(program->code);
    fake_stack_compiled(program->code, program->plain);
    fake_stack_compiled(program->code, program->enter_special);
    /* The JVM aligns it. */
    const uintptr_t sp = fake_stack_start(program->code).sp;
    if (sp % 16 != 0) {
        fake_stack_begin(program->code);
        fake_stack_enter(program->code);
        fake_stack_leave(program->code, 1);
        fake_stack_compiled(program->code, program->plain);
        fake_stack_compiled(program->code, program->enter_special);
    }
}

/* Writes the number of words between the frame pointer at an address and its target. */
static void make_relative(uintptr_t at, uintptr_t base, uintptr_t to)
{
    poke(at, (uintptr_t)((intptr_t)(to - base) / (intptr_t)sizeof(uintptr_t)));
}

/* Freezes the frames first .. first + count into a chunk as the JVM does. The caller has pushed
 * them on a separate stack. The chunk has this size and some room. */
static void freeze(struct program *program, const enum shape *shapes, size_t count,
                   uint32_t argument_words)
{
    enum { ROOM = 7 };
    const uintptr_t low = program->tops[count].sp - SAVED_WORDS * sizeof(uintptr_t);
    const size_t words = (program->tops[0].sp - low) / sizeof(uintptr_t);
    const uint32_t size = (uint32_t)(ROOM + words) + argument_words;
    const uintptr_t object = new_object(program, program->chunks.frames + size * sizeof(uintptr_t));
    const uintptr_t start = object + program->chunks.frames;
    const uintptr_t to = start + ROOM * sizeof(uintptr_t);
    const uintptr_t up = to - low;

    memcpy((char *)to, (const char *)low, words * sizeof(uintptr_t));
    poke(to + sizeof(uintptr_t), program->tops[count].pc);
    if (is_interpreted(shapes[count - 1]))
        make_relative(to, to, program->tops[count].fp + up);
    for (size_t i = 1; i <= count; i++) {
        const uintptr_t caller_sp = program->tops[i - 1].sp + up;
        uintptr_t link = caller_sp - SAVED_WORDS * sizeof(uintptr_t);
        if (is_interpreted(shapes[i - 1])) {
            link = program->tops[i].fp + up;
            make_relative(link + (uintptr_t)(SMP_SLOT_SENDER_SP * (int)sizeof(uintptr_t)), link,
                          caller_sp);
        }
        if (i > 1 && is_interpreted(shapes[i - 2]))
            make_relative(link, link, program->tops[i - 1].fp + up);
        if (i == 1) /* this chunk contains nothing else */
            poke(link + sizeof(uintptr_t), 0);
    }
    poke_u32(object + program->chunks.size, size);
    poke_u32(object + program->chunks.sp, ROOM + SAVED_WORDS);
    poke_u32(object + program->chunks.bottom,
             program->chunks.is_bottom_from_end ? argument_words : size - argument_words);
    memmove(&program->made[1], &program->made[0], (MAX_CHUNKS - 1) * sizeof(program->made[0]));
    program->made[0] = (struct chunk_memory){ object, to, words };
    program->made_count++;
    set_reference(program, object + program->chunks.parent,
                  program->made_count > 1 ? program->made[1].object : 0);
    set_reference(program, object + 40, program->continuation);
    set_reference(program, program->continuation + program->chunks.tail, object);
}

/* Builds a thread from these frames, oldest first. Each chunk of the program gets some of them;
 * the remaining ones stay on the stack. */
static void make_thread(struct program *program, const enum shape *shapes, size_t count,
                        const size_t *split, size_t chunk_count, uint32_t argument_words)
{
    struct fake_code *code = program->code;
    const uint32_t aligned = (argument_words + 1) / 2 * 2;
    size_t at = 0;

    program->made_count = 0;
    program->used = (program->continuation - (uintptr_t)program->heap) + 40;
    for (size_t c = 0; c < chunk_count; c++) {
        begin_carrier(program);
        program->tops[0] = fake_stack_start(code);
        for (size_t i = 0; i < split[c]; i++) {
            push(program, shapes[at + i], (int32_t)(at + i));
            program->tops[i + 1] = fake_stack_start(code);
        }
        freeze(program, shapes + at, split[c], c == 0 ? 0 : argument_words);
        at += split[c];
    }
    begin_carrier(program);
    if (chunk_count > 0) {
        const uintptr_t entry = fake_stack_start(code).sp;
        const uint32_t words = is_interpreted(shapes[at]) ? 0 : argument_words;
        poke(entry + program->variant->continuation_at, program->continuation);
        poke_u32(entry + program->variant->continuation_at + 16, 1);
        poke_u32(entry + program->variant->continuation_at + 20, words);
        fake_stack_leave(code, words == 0 ? 0 : aligned);
        fake_stack_compiled(code, program->barrier);
    }
    for (; at < count; at++)
        push(program, shapes[at], (int32_t)at);
}

static void walk_with(struct program *program, struct smp_frames_cache *cache, size_t capacity)
{
    struct smp_frames_start start = fake_stack_start(program->code);

    start.chunks = &program->chunks;
    program->out =
        (struct smp_frames){ .raw = program->raw, .ids = program->ids, .capacity = capacity };
    smp_frames_walk(fake_code_layout(program->code), cache, start, fake_stack_high(program->code),
                    &program->out);
}

static void walk(struct program *program)
{
    walk_with(program, NULL, CAPACITY);
}

static const enum shape mixed[] = { PLAIN,       INLINED,     INTERPRETED, INTERPRETED, EXTENDING,
                                    PLAIN,       EXTENDING,   PLAIN,       INTERPRETED, DEOPTIMISED,
                                    INTERPRETED, DEOPTIMISED, PLAIN,       PLAIN,       INLINED };
enum { MIXED = sizeof(mixed) / sizeof(mixed[0]) };

/* Expects the same frames as on one stack. */
static void expect_same_walk(struct program *program, const enum shape *shapes, size_t count,
                             size_t capacity)
{
    struct program *other = calloc(1, sizeof(*other));
    struct smp_frames found = program->out;

    assert_non_null(other);
    *other = *program;
    make_thread(other, shapes, count, NULL, 0, 0);
    walk_with(other, NULL, capacity);
    assert_int_equal(other->out.end, SMP_FRAMES_VIRTUAL_ROOT);
    assert_int_equal(found.end, SMP_FRAMES_VIRTUAL_ROOT);
    assert_int_equal(found.count, other->out.count);
    assert_int_equal(found.leaf_count, other->out.leaf_count);
    assert_int_equal(found.omitted, other->out.omitted);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(program->raw[i].method, other->raw[i].method);
        assert_int_equal(program->raw[i].bci, other->raw[i].bci);
        assert_int_equal(program->ids[i], other->ids[i]);
    }
    free(other);
}

/* ---------------------------------------------------------------------------------------- tests */

static void test_one_chunk_of_every_length(void **state)
{
    struct program program;
    struct smp_frames_cache *cache = NULL;

    (void)state;
    for (size_t v = 0; v < VARIANT_COUNT; v++) {
        program_open(&program, &variants[v]);
        assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
        for (size_t frozen = 1; frozen < MIXED; frozen++) {
            for (uint32_t words = 0; words < 6; words++) {
                make_thread(&program, mixed, MIXED, &frozen, 1, words);
                walk(&program);
                expect_same_walk(&program, mixed, MIXED, CAPACITY);
                make_thread(&program, mixed, MIXED, &frozen, 1, words);
                walk_with(&program, cache, CAPACITY);
                expect_same_walk(&program, mixed, MIXED, CAPACITY);
            }
        }
        smp_frames_cache_destroy(cache);
        program_close(&program);
    }
}

static void test_several_chunks(void **state)
{
    struct program program;

    (void)state;
    for (size_t v = 0; v < VARIANT_COUNT; v++) {
        program_open(&program, &variants[v]);
        for (size_t first = 1; first < MIXED - 2; first++) {
            for (size_t second = 1; first + second < MIXED - 1; second++) {
                const size_t split[] = { first, second, 1 };
                make_thread(&program, mixed, MIXED, split, 3, (uint32_t)second % 3);
                walk(&program);
                expect_same_walk(&program, mixed, MIXED, CAPACITY);
            }
        }
        program_close(&program);
    }
}

static void test_an_empty_chunk_is_skipped(void **state)
{
    static const size_t split[] = { 4, 3 };
    struct program program;

    (void)state;
    for (size_t v = 0; v < VARIANT_COUNT; v++) {
        program_open(&program, &variants[v]);
        make_thread(&program, mixed, 7, split, 1, 0);
        /* A newer chunk, all of whose frames are on the stack again. */
        const uintptr_t empty = new_object(&program, program.chunks.frames + 80);
        poke_u32(empty + program.chunks.size, 10);
        poke_u32(empty + program.chunks.sp, 10);
        poke_u32(empty + program.chunks.bottom, program.chunks.is_bottom_from_end ? 0 : 10);
        set_reference(&program, empty + program.chunks.parent, program.made[0].object);
        set_reference(&program, empty + 40, program.continuation);
        set_reference(&program, program.continuation + program.chunks.tail, empty);
        walk(&program);
        expect_same_walk(&program, mixed, 7, CAPACITY);
        program_close(&program);
    }
}

static void test_both_ends_of_a_deep_thread(void **state)
{
    static const size_t split[] = { 9, 3 };
    struct program program;

    (void)state;
    program_open(&program, &variants[2]);
    for (size_t capacity = 2; capacity < 30; capacity++) {
        make_thread(&program, mixed, MIXED, split, 2, 0);
        walk_with(&program, NULL, capacity);
        expect_same_walk(&program, mixed, MIXED, capacity);
    }
    program_close(&program);
}

/* Two frames are on the stack, of which the first is the only one of its kind. */
static void expect_cut(const struct program *program)
{
    assert_int_equal(program->out.end, SMP_FRAMES_BARRIER);
    assert_int_equal(program->out.count, 3);
    assert_int_equal(program->out.leaf_count, 3);
    assert_int_equal(program->out.omitted, 0);
    assert_int_equal(program->raw[0].bci, 55);
    assert_int_equal(program->raw[2].bci, 44);
}

static const enum shape cut[] = { PLAIN, INTERPRETED, PLAIN, INLINED, PLAIN };
static const size_t cut_split[] = { 2, 1 };
enum { CUT = sizeof(cut) / sizeof(cut[0]) };

static void make_cut(struct program *program)
{
    make_thread(program, cut, CUT, cut_split, 2, 2);
}

static void test_the_heap_is_read_only_if_that_is_allowed(void **state)
{
    struct program program;

    (void)state;
    program_open(&program, &variants[2]);
    make_cut(&program);
    program.out =
        (struct smp_frames){ .raw = program.raw, .ids = program.ids, .capacity = CAPACITY };
    smp_frames_walk(fake_code_layout(program.code), NULL, fake_stack_start(program.code),
                    fake_stack_high(program.code), &program.out);
    expect_cut(&program);
    program_close(&program);
}

static void test_a_thread_that_parks_or_returns_is_cut(void **state)
{
    struct program program;

    (void)state;
    program_open(&program, &variants[2]);
    for (size_t n = 0; n < 6; n++) {
        const size_t above = n % 3; /* frames, in either of the two methods */
        program.chunks.yields[0] = n < 3 ? YIELD : 0;
        program.chunks.yields[1] = n < 3 ? 0 : YIELD;
        make_thread(&program, cut, 4, cut_split, 2, 0);
        fake_stack_compiled(program.code, program.parks);
        for (size_t i = 0; i < above; i++)
            fake_stack_compiled(program.code, program.plain);
        walk(&program);
        assert_int_equal(program.out.end, above < 2 ? SMP_FRAMES_BARRIER : SMP_FRAMES_VIRTUAL_ROOT);
    }
    /* The barrier itself is running. */
    make_thread(&program, cut, 3, cut_split, 2, 0);
    walk(&program);
    assert_int_equal(program.out.end, SMP_FRAMES_BARRIER);
    assert_int_equal(program.out.count, 0);
    program_close(&program);
}

static void test_other_objects_are_not_read_as_chunks(void **state)
{
    struct program program;

    (void)state;
    for (size_t v = 0; v < VARIANT_COUNT; v++) {
        program_open(&program, &variants[v]);
        for (size_t c = 0; c < 2; c++) {
            make_cut(&program);
            set_reference(&program, program.made[c].object + 40, program.made[c].object);
            walk(&program);
            expect_cut(&program);
            make_cut(&program);
            poke_u32(program.made[c].object + program.chunks.sp, UINT32_MAX);
            walk(&program);
            expect_cut(&program);
            make_cut(&program);
            poke_u32(program.made[c].object + program.chunks.sp, 1);
            walk(&program);
            expect_cut(&program);
            make_cut(&program);
            poke_u32(program.made[c].object + program.chunks.size, 1U << 30);
            walk(&program);
            expect_cut(&program);
            make_cut(&program);
            poke_u32(program.made[c].object + program.chunks.bottom, 1U << 20);
            walk(&program);
            expect_cut(&program);
        }
        make_cut(&program);
        set_reference(&program, program.continuation + program.chunks.tail, 0);
        walk(&program);
        expect_cut(&program);
        /* A reference to memory that is not mapped. */
        make_cut(&program);
        program.chunks.reference.base += (uintptr_t)1 << 46;
        poke(program.continuation + program.chunks.tail, 8);
        walk(&program);
        expect_cut(&program);
        program_close(&program);
    }
}

static void test_circular_chunks_end_the_walk(void **state)
{
    struct program program;

    (void)state;
    program_open(&program, &variants[2]);
    make_cut(&program);
    set_reference(&program, program.made[1].object + program.chunks.parent, program.made[0].object);
    walk(&program);
    assert_true(program.out.end == SMP_FRAMES_BARRIER || program.out.end == SMP_FRAMES_UNWALKABLE);
    program_close(&program);
}

/* Whatever a word of the entry, of a chunk or of the stack is, the walk ends and returns the whole
 * thread or the part on the stack. */
static void test_any_damaged_word_ends_the_walk(void **state)
{
    static const uintptr_t wrong[] = { 0, 1, 8, UINTPTR_MAX, UINTPTR_MAX - 7, 1ULL << 33 };
    struct program program;
    size_t cuts = 0;

    (void)state;
    for (size_t v = 0; v < VARIANT_COUNT; v++) {
        program_open(&program, &variants[v]);
        make_cut(&program);
        uintptr_t *words = (uintptr_t *)(void *)program.heap;
        for (size_t i = 0; i < program.used / sizeof(uintptr_t); i++) {
            const uintptr_t saved = words[i];
            for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
                words[i] = wrong[k];
                walk(&program);
                assert_true(program.out.end == SMP_FRAMES_VIRTUAL_ROOT ||
                            program.out.end == SMP_FRAMES_BARRIER);
                if (program.out.end == SMP_FRAMES_BARRIER) {
                    expect_cut(&program);
                    cuts++;
                }
            }
            words[i] = saved;
        }
        walk(&program);
        expect_same_walk(&program, cut, CUT, CAPACITY);
        program_close(&program);
    }
    assert_true(cuts > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_chunk_of_every_length),
        cmocka_unit_test(test_several_chunks),
        cmocka_unit_test(test_an_empty_chunk_is_skipped),
        cmocka_unit_test(test_both_ends_of_a_deep_thread),
        cmocka_unit_test(test_the_heap_is_read_only_if_that_is_allowed),
        cmocka_unit_test(test_a_thread_that_parks_or_returns_is_cut),
        cmocka_unit_test(test_other_objects_are_not_read_as_chunks),
        cmocka_unit_test(test_circular_chunks_end_the_walk),
        cmocka_unit_test(test_any_damaged_word_ends_the_walk),
    };

    return cmocka_run_group_tests(tests, allow_reads, NULL);
}

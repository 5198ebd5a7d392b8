/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/safe_read.h"
#include "hotspot/code.h"
#include "support/fake_code.h"

static const int versions[] = { 17, 21, 25 };
enum { VERSION_COUNT = sizeof(versions) / sizeof(versions[0]), MANY = 200, METHODS = 300 };

static int allow_reads(void **state)
{
    (void)state;
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

static struct fake_record random_record(uint64_t *random, int32_t pc, const uintptr_t *methods)
{
    struct fake_record record = { .pc = pc };

    record.count = 1 + smp_random_next(random) % FAKE_RECORD_FRAMES;
    for (size_t i = 0; i < record.count; i++) {
        const uint64_t width = smp_random_next(random) % 17;
        record.frames[i].method = methods[smp_random_next(random) % METHODS];
        record.frames[i].bci = (int32_t)(smp_random_next(random) & ((UINT64_C(1) << width) - 1));
    }
    return record;
}

static void check_record(const struct smp_layout *layout, uintptr_t code,
                         const struct fake_record *record)
{
    struct smp_raw_frame frames[SMP_CODE_MAX_FRAMES];
    struct smp_blob blob;
    const uintptr_t pc = code + (uintptr_t)record->pc;

    assert_true(smp_blob_find(layout, pc, &blob));
    assert_int_equal(smp_code_frames(layout, &blob, pc, frames, SMP_CODE_MAX_FRAMES),
                     record->count);
    for (size_t i = 0; i < record->count; i++) {
        assert_int_equal(frames[i].method, record->frames[i].method);
        assert_int_equal(frames[i].bci, record->frames[i].bci);
    }
    /* If one frame has no room, none is returned. */
    assert_int_equal(smp_code_frames(layout, &blob, pc, frames, record->count - 1), 0);
    /* A record belongs to exactly one pc. */
    assert_int_equal(smp_code_frames(layout, &blob, pc + 1, frames, SMP_CODE_MAX_FRAMES), 0);
    assert_int_equal(smp_code_frames(layout, &blob, pc - 1, frames, SMP_CODE_MAX_FRAMES), 0);
}

static void test_frames_match_the_records(void **state)
{
    uint64_t random = 7;
    struct fake_record records[MANY];
    uintptr_t methods[METHODS];

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        for (size_t i = 0; i < METHODS; i++)
            methods[i] = fake_code_method(code, "app/Main", "run", i + 1);
        for (size_t count = 0; count < MANY; count = count * 3 / 2 + 1) {
            for (size_t i = 0; i < count; i++)
                records[i] = random_record(&random, (int32_t)(2 * i + 1), methods);
            const uintptr_t start = fake_code_compile(code, methods[0], 8, records, count);
            for (size_t i = 0; i < count; i++)
                check_record(fake_code_layout(code), start, &records[i]);
        }
        fake_code_destroy(code);
    }
}

static void test_records_without_a_scope_and_native_methods(void **state)
{
    struct smp_raw_frame frames[2];
    struct smp_blob blob;

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        const uintptr_t method = fake_code_method(code, "app/Main", "run", 1);
        const struct fake_record records[] = {
            { .pc = 3 },                                          /* no scope: the method itself */
            { .pc = 9, .count = 1, .frames = { { method, -1 } } } /* at its entry */
        };
        const uintptr_t start = fake_code_compile(code, method, 8, records, 2);
        const uintptr_t native = fake_code_native(code, method, 6);
        for (int i = 0; i < 2; i++) {
            const uintptr_t pc = start + (uintptr_t)records[i].pc;
            assert_true(smp_blob_find(fake_code_layout(code), pc, &blob));
            assert_int_equal(smp_code_frames(fake_code_layout(code), &blob, pc, frames, 2), 1);
            assert_int_equal(frames[0].method, method);
            assert_int_equal(frames[0].bci, 0);
        }
        assert_true(smp_blob_find(fake_code_layout(code), native + 5, &blob));
        assert_int_equal(blob.kind, SMP_BLOB_NATIVE);
        assert_int_equal(blob.frame_bytes, 6 * sizeof(uintptr_t));
        assert_int_equal(smp_code_frames(fake_code_layout(code), &blob, native + 5, frames, 2), 1);
        assert_int_equal(frames[0].method, method);
        assert_int_equal(frames[0].bci, -1);
        fake_code_destroy(code);
    }
}

/* As the JVM writes them: one record below all pcs of the code, and one above. */
static void test_the_end_record_belongs_to_no_pc(void **state)
{
    struct smp_raw_frame frames[3];
    struct smp_blob blob;

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        const struct smp_layout *layout = fake_code_layout(code);
        const uintptr_t method = fake_code_method(code, "app/Main", "run", 1);
        const uintptr_t inlined = fake_code_method(code, "app/Main", "sum", 2);
        const struct fake_record records[] = {
            { .pc = -1 },
            { .pc = 9, .count = 1, .frames = { { method, 4 } } },
            { .pc = 30, .count = 2, .frames = { { inlined, 7 }, { method, 5 } } },
            { .pc = INT32_MAX },
        };
        const uintptr_t start = fake_code_compile(code, method, 8, records, 4);
        assert_true(smp_blob_find(layout, start, &blob));
        assert_int_equal(smp_code_frames_near(layout, &blob, start, frames, 3), 1);
        assert_int_equal(frames[0].bci, 4);
        assert_int_equal(smp_code_frames_near(layout, &blob, start + 10, frames, 3), 2);
        assert_int_equal(smp_code_frames_near(layout, &blob, start + 31, frames, 3), 2);
        assert_int_equal(frames[0].method, inlined);
        assert_int_equal(frames[0].bci, 7);
        assert_int_equal(smp_code_frames(layout, &blob, start + 31, frames, 3), 0);
        /* A method without records: only the method itself. */
        const uintptr_t bare = fake_code_compile(code, method, 8, records + 3, 1);
        assert_true(smp_blob_find(layout, bare, &blob));
        assert_int_equal(smp_code_frames_near(layout, &blob, bare + 31, frames, 3), 1);
        assert_int_equal(frames[0].method, method);
        fake_code_destroy(code);
    }
}

static void test_blobs_are_found_by_any_of_their_pcs(void **state)
{
    struct smp_blob blob;

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        const struct smp_layout *layout = fake_code_layout(code);
        const uintptr_t method = fake_code_method(code, "app/Main", "run", 1);
        /* So much debug data that the start is more than one step away in the map. */
        struct fake_record *records = calloc(2000, sizeof(*records));
        assert_non_null(records);
        for (size_t i = 0; i < 2000; i++)
            records[i] =
                (struct fake_record){ .pc = (int32_t)i, .count = 1, .frames = { { method, 5 } } };
        const uintptr_t start = fake_code_compile(code, method, 8, records, 2000);
        const uintptr_t stub = fake_code_stub(code, "checkcast", 4);
        free(records);
        for (uintptr_t at = 0; at < FAKE_CODE_BYTES; at++) {
            assert_true(smp_blob_find(layout, start + at, &blob));
            assert_int_equal(blob.code, start);
            assert_int_equal(blob.end, start + FAKE_CODE_BYTES);
            assert_int_equal(blob.kind, SMP_BLOB_COMPILED);
            assert_int_equal(blob.method, method);
            assert_int_equal(blob.compile_id, 1);
            assert_int_equal(blob.frame_complete, 12);
        }
        /* The header and the debug data are no code. */
        assert_false(smp_blob_find(layout, start - 1, &blob));
        assert_false(smp_blob_find(layout, start + FAKE_CODE_BYTES, &blob));
        assert_true(smp_blob_find(layout, stub, &blob));
        assert_int_equal(blob.kind, SMP_BLOB_STUB);
        assert_int_equal(blob.compile_id, 0);
        assert_true(smp_blob_find(layout, fake_code_interpreter(code) + 7, &blob));
        assert_int_equal(blob.kind, SMP_BLOB_INTERPRETER);
        assert_false(smp_blob_find(layout, 0, &blob));
        assert_false(smp_blob_find(layout, UINTPTR_MAX, &blob));
        assert_false(smp_blob_find(layout, (uintptr_t)&blob, &blob));
        fake_code_destroy(code);
    }
}

static void test_blobs_that_are_not_compiled_methods(void **state)
{
    struct fake_code *code = fake_code_create(25);
    const struct smp_layout *layout = fake_code_layout(code);
    struct smp_blob blob;

    (void)state;
    assert_true(smp_blob_find(layout, fake_code_upcall(code, 20), &blob));
    assert_int_equal(blob.kind, SMP_BLOB_UPCALL);
    assert_true(
        smp_blob_find(layout, fake_code_stub(code, "StubRoutines (continuationstubs)", 0), &blob));
    assert_int_equal(blob.kind, SMP_BLOB_BARRIER);
    assert_true(smp_blob_find(layout, fake_code_stub(code, "DeoptimizationBlob", 8), &blob));
    assert_int_equal(blob.kind, SMP_BLOB_DEOPT);
    assert_true(smp_blob_find(layout, fake_code_stub(code, "UncommonTrapBlob", 8), &blob));
    assert_int_equal(blob.kind, SMP_BLOB_DEOPT);
    assert_true(smp_blob_find(layout, fake_code_stub(code, "nmethods", 3), &blob));
    assert_int_equal(blob.kind, SMP_BLOB_STUB);
    fake_code_destroy(code);
}

static void test_handlers_of_deoptimised_frames_are_found(void **state)
{
    struct smp_blob blob;
    uint32_t offset = 0;

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        const struct smp_layout *layout = fake_code_layout(code);
        const uintptr_t method = fake_code_method(code, "app/Main", "run", 1);
        const uintptr_t start = fake_code_compile(code, method, 8, NULL, 0);
        assert_true(smp_blob_find(layout, start, &blob));
        for (uintptr_t at = 0; at < FAKE_CODE_BYTES; at++) {
            const bool is = at == FAKE_DEOPT_OFFSET || at == FAKE_DEOPT_MH_OFFSET;
            assert_int_equal(smp_code_deoptimised_pc_offset(layout, &blob, start + at, &offset),
                             is);
            assert_int_equal(offset, is ? FAKE_ORIGINAL_PC : 0);
        }
        /* A native method's wrapper is never deoptimised. */
        const uintptr_t native = fake_code_native(code, method, 8);
        assert_true(smp_blob_find(layout, native, &blob));
        assert_false(
            smp_code_deoptimised_pc_offset(layout, &blob, native + FAKE_DEOPT_OFFSET, &offset));
        fake_code_destroy(code);
    }
}

/* The results for damaged memory do not matter as long as nothing beyond it is read; the sanitizer
 * would report that. */
static void read_everything(const struct smp_layout *layout, uintptr_t from, size_t bytes)
{
    struct smp_raw_frame frames[SMP_CODE_MAX_FRAMES];
    struct smp_blob blob;
    uint32_t offset = 0;

    for (uintptr_t pc = from; pc < from + bytes; pc += 61) {
        if (!smp_blob_find(layout, pc, &blob))
            continue;
        (void)smp_code_deoptimised_pc_offset(layout, &blob, pc, &offset);
        for (uintptr_t at = 0; at < 8; at++)
            (void)smp_code_frames(layout, &blob, blob.code + at, frames, SMP_CODE_MAX_FRAMES);
    }
}

static void test_damaged_memory_causes_no_read_beyond_it(void **state)
{
    uint64_t random = 3;
    struct fake_record records[8];
    uintptr_t methods[METHODS];

    (void)state;
    for (int round = 0; round < 40; round++) {
        struct fake_code *code = fake_code_create(versions[round % VERSION_COUNT]);
        size_t heap_bytes = 0;
        size_t map_bytes = 0;
        for (size_t i = 0; i < METHODS; i++)
            methods[i] = (uintptr_t)(i * 8 + 4096);
        for (int i = 0; i < 8; i++)
            records[i] = random_record(&random, i, methods);
        for (int i = 0; i < 4; i++)
            (void)fake_code_compile(code, 8, 4, records, 8);
        uint8_t *heap = fake_code_heap(code, &heap_bytes);
        uint8_t *map = fake_code_segment_map(code, &map_bytes);
        for (int i = 0; i < 200; i++) {
            heap[smp_random_next(&random) % heap_bytes] = (uint8_t)smp_random_next(&random);
            if (round % 2 == 0)
                map[smp_random_next(&random) % map_bytes] = (uint8_t)smp_random_next(&random);
        }
        read_everything(fake_code_layout(code), (uintptr_t)heap, heap_bytes);
        fake_code_destroy(code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_match_the_records),
        cmocka_unit_test(test_records_without_a_scope_and_native_methods),
        cmocka_unit_test(test_the_end_record_belongs_to_no_pc),
        cmocka_unit_test(test_blobs_are_found_by_any_of_their_pcs),
        cmocka_unit_test(test_blobs_that_are_not_compiled_methods),
        cmocka_unit_test(test_handlers_of_deoptimised_frames_are_found),
        cmocka_unit_test(test_damaged_memory_causes_no_read_beyond_it),
    };

    return cmocka_run_group_tests(tests, allow_reads, NULL);
}

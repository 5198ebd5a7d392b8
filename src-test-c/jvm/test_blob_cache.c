/* SPDX-License-Identifier: Apache-2.0 */
/* A code blob that was found once is taken from the cache as long as it exists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/frame_cache.h"
#include "hotspot/frames.h"
#include "support/fake_code.h"

enum { PC = 20, ROUNDS = 20000, METHODS = 8 };

static const int versions[] = { 17, 21, 25 };
enum { VERSION_COUNT = sizeof(versions) / sizeof(versions[0]) };

struct program {
    struct fake_code *code;
    const struct smp_layout *layout;
    struct smp_frames_cache *cache;
    uintptr_t compiled[METHODS];
    uintptr_t native;
    uintptr_t stub;
};

static void open_program(struct program *program, int version)
{
    program->code = fake_code_create(version);
    program->layout = fake_code_layout(program->code);
    assert_int_equal(smp_frames_cache_create(&program->cache), SMP_OK);
    const uintptr_t method = fake_code_method(program->code, "app/Main", "run", 7);
    for (size_t i = 0; i < METHODS; i++) {
        const struct fake_record record = { .pc = PC, .count = 1, .frames = { { method, 3 } } };
        program->compiled[i] =
            fake_code_compile(program->code, method, 6 + (uint32_t)i, &record, 1) + PC;
    }
    program->native = fake_code_native(program->code, method, 8) + PC;
    program->stub = fake_code_stub(program->code, "a_stub", 6) + PC;
}

static void close_program(struct program *program)
{
    smp_frames_cache_destroy(program->cache);
    fake_code_destroy(program->code);
}

static bool is_equal(const struct smp_blob *a, const struct smp_blob *b)
{
    return a->start == b->start && a->code == b->code && a->end == b->end &&
           a->data_end == b->data_end && a->kind == b->kind && a->frame_bytes == b->frame_bytes &&
           a->frame_complete == b->frame_complete && a->compile_id == b->compile_id &&
           a->method == b->method && a->is_data_mapped == b->is_data_mapped;
}

static void assert_as_found(const struct program *program, uintptr_t pc)
{
    struct smp_blob expected;
    struct smp_blob found;

    memset(&found, 0xee, sizeof(found));
    assert_true(smp_blob_find(program->layout, pc, &expected));
    assert_true(smp_blob_cache_find(program->cache, program->layout, pc, &found));
    assert_true(is_equal(&expected, &found));
}

static void the_cache_finds_every_kind_of_blob(void **state)
{
    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct program program;
        struct smp_blob found;
        open_program(&program, versions[v]);
        for (int round = 0; round < 3; round++) {
            for (size_t i = 0; i < METHODS; i++) {
                assert_as_found(&program, program.compiled[i]);
                assert_as_found(&program, program.compiled[i] - PC); /* its first and last bytes */
                assert_as_found(&program, program.compiled[i] - PC + FAKE_CODE_BYTES - 1);
            }
            assert_as_found(&program, program.native);
            assert_as_found(&program, program.stub);
            assert_as_found(&program, fake_code_interpreter(program.code));
            assert_false(smp_blob_cache_find(program.cache, program.layout, 1, &found));
            assert_false(smp_blob_cache_find(program.cache, program.layout, 0, &found));
            assert_true(smp_blob_cache_find(NULL, program.layout, program.native, &found));
            smp_frames_cache_renew(program.cache);
        }
        close_program(&program);
    }
}

/* If its block is free, its compile id has changed, or a class was unloaded, the blob is looked up
 * again. */
static void freed_blobs_are_looked_up_again(void **state)
{
    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct program program;
        struct smp_blob found;
        open_program(&program, versions[v]);
        const uintptr_t pc = program.compiled[0];
        const uintptr_t blob = fake_code_blob(program.code, pc);
        uint8_t *const used =
            (uint8_t *)(blob - program.layout->heap.block_bytes + program.layout->heap.block_used);
        assert_as_found(&program, pc);
        *used = 0;
        assert_false(smp_blob_cache_find(program.cache, program.layout, pc, &found));
        *used = 1;
        assert_as_found(&program, pc);
        fake_code_set_compile_id(program.code, pc, 4711);
        assert_as_found(&program, pc);
        /* If the header of the block is unchanged, only a renewal of the cache notices. */
        const uint32_t words = 3;
        memcpy((void *)(blob + program.layout->blob.frame_words), &words, sizeof(words));
        assert_true(smp_blob_cache_find(program.cache, program.layout, pc, &found));
        assert_int_not_equal(found.frame_bytes, words * sizeof(uintptr_t));
        smp_frames_cache_renew(program.cache);
        assert_as_found(&program, pc);
        assert_as_found(&program, pc);
        close_program(&program);
    }
}

/* All methods share entries that other threads overwrite. */
static void *look_up(void *argument)
{
    struct program *program = argument;

    for (size_t i = 0; i < ROUNDS; i++) {
        struct smp_blob found;
        const uintptr_t pc = program->compiled[i % METHODS] + i / METHODS % 64;
        if (!smp_blob_cache_find(program->cache, program->layout, pc, &found) || pc < found.code ||
            pc >= found.end || found.frame_bytes != (6 + i % METHODS) * sizeof(uintptr_t))
            return argument;
        if (i % 16 == 0)
            smp_frames_cache_renew(program->cache);
    }
    return NULL;
}

static void several_threads_find_only_existing_blobs(void **state)
{
    struct program program;
    pthread_t threads[2];
    void *failed = NULL;

    (void)state;
    open_program(&program, 17);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, &program), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    close_program(&program);
}

static int allow_reads(void **state)
{
    (void)state;
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cache_finds_every_kind_of_blob),
        cmocka_unit_test(freed_blobs_are_looked_up_again),
        cmocka_unit_test(several_threads_find_only_existing_blobs),
    };

    return cmocka_run_group_tests(tests, allow_reads, NULL);
}

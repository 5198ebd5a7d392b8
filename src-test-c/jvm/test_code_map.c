/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "jvm/code/code_map.h"
#include "support/failing_alloc.h"

/* Returns the id of the code at pc; 0: none. */
static uint64_t id_at(uintptr_t pc)
{
    const struct smp_code_piece *piece = smp_code_find(smp_code_enter(), pc);
    const uint64_t id = piece != NULL ? piece->id : 0;

    smp_code_leave();
    return id;
}

static const char *name_at(uintptr_t pc)
{
    return smp_code_map_name(id_at(pc));
}

static int open_code(void **state)
{
    (void)state;
    return smp_code_map_open() == SMP_OK ? 0 : -1;
}

static int close_code(void **state)
{
    (void)state;
    smp_code_map_close();
    return smp_alloc_live_bytes() == 0 ? 0 : -1;
}

static void test_a_method_is_found_by_its_addresses(void **state)
{
    (void)state;
    smp_code_map_add_method(0x1000, 0x100, 7);
    smp_code_map_add_method(0x2000, 0x10, 8);
    assert_int_equal(id_at(0xfff), 0);
    assert_int_equal(id_at(0x1000), 7);
    assert_int_equal(id_at(0x10ff), 7);
    assert_int_equal(id_at(0x1100), 0);
    assert_int_equal(id_at(0x200f), 8);
    assert_int_equal(id_at(UINTPTR_MAX), 0);
}

static void test_an_unloaded_method_is_gone(void **state)
{
    (void)state;
    smp_code_map_add_method(0x1000, 0x100, 7);
    smp_code_map_remove_method(0x1000, 8); /* not the current method */
    assert_int_equal(id_at(0x1000), 7);
    smp_code_map_remove_method(0x1000, 7);
    assert_int_equal(id_at(0x1000), 0);
}

/* The unload event may come late: the current method at these addresses remains. */
static void test_addresses_may_be_reused(void **state)
{
    (void)state;
    smp_code_map_add_method(0x1000, 0x100, 7);
    smp_code_map_add_method(0x1100, 0x100, 8);
    smp_code_map_add_method(0x1200, 0x100, 9);
    smp_code_map_add_method(0x1080, 0x100, 10);
    assert_int_equal(id_at(0x1000), 0);
    assert_int_equal(id_at(0x1080), 10);
    assert_int_equal(id_at(0x117f), 10);
    assert_int_equal(id_at(0x1180), 0);
    assert_int_equal(id_at(0x1200), 9);
    smp_code_map_remove_method(0x1000, 7);
    assert_int_equal(id_at(0x1080), 10);
}

static void test_the_innermost_stub_is_found(void **state)
{
    (void)state;
    smp_code_map_add_stub(0x5010, 0x10, "small");
    smp_code_map_add_stub(0x5000, 0x1000, "StubRoutines");
    smp_code_map_add_stub(0x5040, 0x10, "other");
    for (uintptr_t i = 0; i < 2 * SMP_CODE_RECENT; i++) { /* twice: recent, then sorted */
        assert_string_equal(name_at(0x5010), "[small]");
        assert_string_equal(name_at(0x5020), "[StubRoutines]");
        assert_string_equal(name_at(0x504f), "[other]");
        assert_string_equal(name_at(0x5fff), "[StubRoutines]");
        assert_null(name_at(0x6000));
        smp_code_map_add_method(0x10000 + i * 0x100, 0x100, i + 1);
    }
}

static void test_names_are_kept_once_and_cut(void **state)
{
    char name[2 * SMP_CODE_NAME_BYTES];
    struct smp_code_map_stats stats;

    (void)state;
    for (uintptr_t i = 0; i < 300; i++)
        smp_code_map_add_stub(0x1000 + i * 0x10, 0x10, "vtable stub");
    smp_code_map_get_stats(&stats);
    assert_int_equal(stats.names, 1);
    assert_int_equal(stats.pieces, 300);
    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = 'n';
    name[sizeof(name) - 1] = '\0';
    smp_code_map_add_stub(0x9000, 0x10, name);
    assert_int_equal(strlen(name_at(0x9000)), SMP_CODE_NAME_BYTES - 1);
    assert_int_equal(name_at(0x9000)[SMP_CODE_NAME_BYTES - 2], ']');
    assert_null(smp_code_map_name(0));
    assert_null(smp_code_map_name(3));
}

static void test_the_interpreter_is_recognized(void **state)
{
    (void)state;
    smp_code_map_add_stub(0x1000, 0x100, "Interpreter");
    smp_code_map_add_stub(0x2000, 0x100, "itable stub");
    const struct smp_code_view *view = smp_code_enter();
    assert_int_equal(smp_code_find(view, 0x1000)->kind, SMP_CODE_INTERPRETER);
    assert_int_equal(smp_code_find(view, 0x2000)->kind, SMP_CODE_STUB);
    smp_code_leave();
}

/* Ten thousand methods take less than half a megabyte, and every method is found. */
static void test_many_methods_take_little_memory(void **state)
{
    enum { COUNT = 10000 };
    struct smp_code_map_stats stats;

    (void)state;
    for (uintptr_t i = 0; i < COUNT; i++) {
        const uintptr_t at = i * 7919 % COUNT; /* unordered */
        smp_code_map_add_method(0x100000 + at * 0x40, 0x40, at + 1);
    }
    for (uintptr_t i = 0; i < COUNT; i++)
        assert_int_equal(id_at(0x100000 + i * 0x40 + 0x3f), i + 1);
    smp_code_map_get_stats(&stats);
    assert_int_equal(stats.pieces, COUNT);
    assert_int_equal(stats.refused, 0);
    assert_true(stats.bytes < 512 * 1024);
}

static void test_entries_over_the_limit_are_refused_and_counted(void **state)
{
    struct smp_code_map_stats stats;

    (void)state;
    for (uintptr_t i = 0; i < SMP_CODE_MAX_PIECES + 100; i++)
        smp_code_map_add_method(0x100000 + i * 0x10, 0x10, i + 1);
    smp_code_map_get_stats(&stats);
    assert_true(stats.pieces <= SMP_CODE_MAX_PIECES);
    assert_int_equal(stats.pieces + stats.refused, SMP_CODE_MAX_PIECES + 100);
    assert_int_equal(id_at(0x100000), 1);
    for (uintptr_t i = 0; i < SMP_CODE_RECENT; i++) /* unloading frees memory */
        smp_code_map_remove_method(0x100000 + i * 0x10, i + 1);
    smp_code_map_add_method(0x10, 0x10, 99);
    assert_int_equal(id_at(0x10), 99);
}

static void test_nothing_is_kept_while_closed(void **state)
{
    (void)state;
    smp_code_map_add_method(0x1000, 0x100, 7);
    smp_code_map_close();
    smp_code_map_add_method(0x3000, 0x100, 9);
    smp_code_map_add_stub(0x4000, 0x100, "late");
    smp_code_map_remove_method(0x1000, 7);
    assert_int_equal(id_at(0x1000), 0);
    assert_int_equal(id_at(0x3000), 0);
    assert_int_equal(smp_code_map_open(), SMP_OK);
    assert_int_equal(id_at(0x1000), 0);
}

static enum smp_status open_and_fill(void *self)
{
    enum smp_status status = smp_code_map_open();

    (void)self;
    if (status != SMP_OK)
        return status;
    for (uintptr_t i = 0; i < 300; i++) {
        smp_code_map_add_method(0x1000 + i * 0x100, 0x100, i + 1);
        smp_code_map_add_stub(0x90000 + i * 0x100, 0x100, i % 2 == 0 ? "even" : "odd");
    }
    struct smp_code_map_stats stats;
    smp_code_map_get_stats(&stats);
    smp_code_map_close();
    return stats.refused > 0 ? SMP_ENOMEM : SMP_OK;
}

static void test_no_memory_at_any_step(void **state)
{
    (void)state;
    smp_code_map_close();
    assert_true(failing_alloc_each_step(open_and_fill, NULL).refused > 5);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    assert_int_equal(smp_code_map_open(), SMP_OK);
}

/* ------------------------------------------------------------------------ concurrent readers */

enum { SLOT_COUNT = 400, SLOT_BYTES = 0x100, BASE = 0x100000 };

struct race {
    _Atomic bool stop;
    _Atomic uint64_t found;
    _Atomic uint64_t wrong;
};

/* A method's id contains its address, so a torn or freed entry would be noticed. */
static void *read_on(void *self)
{
    struct race *race = self;
    uint64_t random = 1;

    while (!atomic_load(&race->stop)) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        const uintptr_t slot = (uintptr_t)((random >> 33) % SLOT_COUNT);
        const struct smp_code_view *view = smp_code_enter();
        const struct smp_code_piece *piece = smp_code_find(view, BASE + slot * SLOT_BYTES + 5);
        if (piece != NULL) {
            atomic_fetch_add(&race->found, 1);
            if (piece->id / 1000 != slot || piece->start != BASE + slot * SLOT_BYTES)
                atomic_fetch_add(&race->wrong, 1);
        }
        smp_code_leave();
    }
    return NULL;
}

static void test_readers_see_complete_entries(void **state)
{
    struct race race = { .stop = false };
    pthread_t readers[2];

    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &race), 0);
    for (uint64_t round = 1; round < 40 || (atomic_load(&race.found) == 0 && round < 100000);
         round++) {
        for (uintptr_t slot = 0; slot < SLOT_COUNT; slot++) {
            const uint64_t id = slot * 1000 + round % 1000;
            smp_code_map_add_method(BASE + slot * SLOT_BYTES, SLOT_BYTES, id);
            if (slot % 3 == round % 3)
                smp_code_map_remove_method(BASE + slot * SLOT_BYTES, id);
        }
    }
    atomic_store(&race.stop, true);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(readers[i], NULL), 0);
    assert_int_equal(race.wrong, 0);
    assert_true(race.found > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_method_is_found_by_its_addresses, open_code,
                                        close_code),
        cmocka_unit_test_setup_teardown(test_an_unloaded_method_is_gone, open_code, close_code),
        cmocka_unit_test_setup_teardown(test_addresses_may_be_reused, open_code, close_code),
        cmocka_unit_test_setup_teardown(test_the_innermost_stub_is_found, open_code, close_code),
        cmocka_unit_test_setup_teardown(test_names_are_kept_once_and_cut, open_code, close_code),
        cmocka_unit_test_setup_teardown(test_the_interpreter_is_recognized, open_code, close_code),
        cmocka_unit_test_setup_teardown(test_many_methods_take_little_memory, open_code,
                                        close_code),
        cmocka_unit_test_setup_teardown(test_entries_over_the_limit_are_refused_and_counted,
                                        open_code, close_code),
        cmocka_unit_test_setup_teardown(test_nothing_is_kept_while_closed, open_code, close_code),
        cmocka_unit_test_setup_teardown(test_no_memory_at_any_step, open_code, close_code),
        cmocka_unit_test_setup_teardown(test_readers_see_complete_entries, open_code, close_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

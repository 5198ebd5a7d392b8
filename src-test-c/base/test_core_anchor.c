/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/stay_mapped.h"
#include "support/core_copy.h"
#include "support/library_copies.h"

enum { ROUNDS = 20000 };

static const struct smp_core_identity version_7 = { .abi = 7, .seam = 70 };
static const struct smp_core_identity version_8 = { .abi = 8, .seam = 80 };

static struct {
    struct library_copies files;
    const struct core_copy_functions *functions[LIBRARY_COPIES];
} fixture;

static void load(size_t i)
{
    library_copy_load(&fixture.files.copies[i]);
    fixture.functions[i] = library_copy_symbol(&fixture.files.copies[i], CORE_COPY_ENTRY);
}

static void unload(size_t i)
{
    library_copy_unload(&fixture.files.copies[i]);
    fixture.functions[i] = NULL;
}

static int load_copies(void **state)
{
    (void)state;
    library_copies_init(&fixture.files, SMP_TEST_CORE_COPY);
    for (size_t i = 0; i < LIBRARY_COPIES; i++)
        load(i);
    return 0;
}

static int unload_copies(void **state)
{
    (void)state;
    library_copies_fini(&fixture.files);
    return 0;
}

static void only_published_cores_are_found(void **state)
{
    (void)state;
    assert_null(smp_core_anchor_find((struct smp_core_identity){ 0 }));
    assert_null(fixture.functions[0]->find(version_7));
}

static void all_copies_find_the_published_one(void **state)
{
    static const int functions;

    (void)state;
    fixture.functions[1]->publish(version_7, &functions);
    for (size_t i = 0; i < LIBRARY_COPIES; i++)
        assert_ptr_equal(fixture.functions[i]->find(version_7), &functions);
    assert_ptr_equal(smp_core_anchor_find(version_7), &functions);
}

static void another_version_is_not_found(void **state)
{
    static const int functions_of_7;
    static const int functions_of_8;
    const struct smp_core_identity other_seam = { .abi = 7, .seam = 71 };

    (void)state;
    fixture.functions[0]->publish(version_7, &functions_of_7);
    assert_null(smp_core_anchor_find(version_8));
    assert_null(smp_core_anchor_find(other_seam));
    fixture.functions[1]->publish(version_8, &functions_of_8);
    assert_ptr_equal(smp_core_anchor_find(version_7), &functions_of_7);
    assert_ptr_equal(smp_core_anchor_find(version_8), &functions_of_8);
}

static void a_copy_that_is_unmapped_is_gone(void **state)
{
    static const int functions;

    (void)state;
    fixture.functions[0]->publish(version_7, &functions);
    unload(0);
    assert_null(smp_core_anchor_find(version_7));
    load(0);
    assert_null(smp_core_anchor_find(version_7));
}

static void one_version_samples_at_a_time(void **state)
{
    const struct core_copy_functions *const old = fixture.functions[0];
    const struct core_copy_functions *const new = fixture.functions[1];
    struct smp_core_rival rival = { 0 };

    (void)state;
    old->publish(version_7, old);
    new->publish(version_8, new);
    assert_true(old->begin_sampling(&rival));
    assert_true(old->begin_sampling(&rival));
    assert_false(new->begin_sampling(&rival));
    assert_int_equal(rival.abi, 7);
    assert_string_equal(rival.path, fixture.files.copies[0].path);
    old->end_sampling();
    assert_false(new->begin_sampling(&rival));
    old->end_sampling();
    assert_true(new->begin_sampling(&rival));
    assert_false(old->begin_sampling(&rival));
    assert_int_equal(rival.abi, 8);
    new->end_sampling();
}

static void a_long_path_is_cut(void **state)
{
    struct library_copy *const file = &fixture.files.copies[0];
    struct smp_core_rival rival = { 0 };
    char path[LIBRARY_PATH_BYTES];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/%0*d.so", fixture.files.folder, 200, 0);
    unload(0);
    assert_int_equal(rename(file->path, path), 0);
    (void)strcpy(file->path, path);
    load(0);
    fixture.functions[0]->publish(version_7, file);
    fixture.functions[1]->publish(version_8, file);
    assert_true(fixture.functions[0]->begin_sampling(&rival));
    assert_false(fixture.functions[1]->begin_sampling(&rival));
    assert_int_equal(strlen(rival.path), SMP_CORE_RIVAL_PATH_BYTES - 1);
    assert_memory_equal(rival.path, path, SMP_CORE_RIVAL_PATH_BYTES - 1);
    fixture.functions[0]->end_sampling();
}

static _Atomic int inside[2];

static void *begin_and_end(void *argument)
{
    const size_t me = (size_t)(uintptr_t)argument;
    const struct core_copy_functions *const mine = fixture.functions[me];
    struct smp_core_rival rival;
    uintptr_t both = 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (!mine->begin_sampling(&rival))
            continue;
        atomic_store(&inside[me], 1);
        both += atomic_load(&inside[1 - me]) != 0;
        atomic_store(&inside[me], 0);
        mine->end_sampling();
    }
    return (void *)both;
}

static void two_versions_that_start_at_once_are_never_both_in(void **state)
{
    pthread_t threads[2];

    (void)state;
    fixture.functions[0]->publish(version_7, fixture.files.folder);
    fixture.functions[1]->publish(version_8, fixture.files.folder);
    for (uintptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, begin_and_end, (void *)i), 0);
    for (size_t i = 0; i < 2; i++) {
        void *both = NULL;
        assert_int_equal(pthread_join(threads[i], &both), 0);
        assert_null(both);
    }
}

static void a_library_may_stay_mapped(void **state)
{
    static const int functions;

    (void)state;
    fixture.functions[2]->publish(version_7, &functions);
    assert_true(smp_stay_mapped(fixture.functions[2]));
    unload(2);
    assert_ptr_equal(smp_core_anchor_find(version_7), &functions);
    assert_true(smp_stay_mapped(&fixture)); /* the test program itself */
    assert_false(smp_stay_mapped(NULL));
}

/* Its name is in another namespace, so the dynamic linker does not find it by name. */
static void a_library_that_cannot_stay_mapped_is_refused(void **state)
{
    void *library = dlmopen(LM_ID_NEWLM, "libresolv.so.2", RTLD_NOW);

    (void)state;
    assert_non_null(library);
    assert_false(smp_stay_mapped(dlsym(library, "ns_initparse")));
    assert_int_equal(dlclose(library), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, load_copies, unload_copies)
        T(only_published_cores_are_found),
        T(all_copies_find_the_published_one),
        T(another_version_is_not_found),
        T(a_copy_that_is_unmapped_is_gone),
        T(one_version_samples_at_a_time),
        T(a_long_path_is_cut),
        T(two_versions_that_start_at_once_are_never_both_in),
        T(a_library_may_stay_mapped),
        T(a_library_that_cannot_stay_mapped_is_refused),
#undef T
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

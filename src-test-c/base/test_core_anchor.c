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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stay_mapped.h"
#include "support/core_copy.h"

enum { COPIES = 3, FILE_BYTES = 1 << 20, ROUNDS = 20000, PATH_BYTES = 512 };

static const struct smp_core_identity version_7 = { .abi = 7, .seam = 70 };
static const struct smp_core_identity version_8 = { .abi = 8, .seam = 80 };

struct copy {
    char path[PATH_BYTES];
    void *handle;
    const struct core_copy_functions *functions;
};

static struct {
    char folder[64];
    struct copy copies[COPIES];
} fixture;

static void copy_file(const char *from, const char *to)
{
    static char bytes[FILE_BYTES];
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    size_t count;

    assert_non_null(in);
    assert_non_null(out);
    while ((count = fread(bytes, 1, sizeof(bytes), in)) > 0)
        assert_int_equal(fwrite(bytes, 1, count, out), count);
    (void)fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void load(struct copy *copy)
{
    copy->handle = dlopen(copy->path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(copy->handle);
    copy->functions = dlsym(copy->handle, CORE_COPY_ENTRY);
    assert_non_null(copy->functions);
}

static void unload(struct copy *copy)
{
    assert_int_equal(dlclose(copy->handle), 0);
    copy->handle = NULL;
}

static int load_copies(void **state)
{
    (void)state;
    (void)strcpy(fixture.folder, "/tmp/test_core_anchor.XXXXXX");
    assert_non_null(mkdtemp(fixture.folder));
    for (size_t i = 0; i < COPIES; i++) {
        struct copy *const copy = &fixture.copies[i];
        (void)snprintf(copy->path, sizeof(copy->path), "%s/copy-%zu.so", fixture.folder, i);
        copy_file(SMP_TEST_CORE_COPY, copy->path);
        load(copy);
    }
    return 0;
}

static int unload_copies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COPIES; i++) {
        if (fixture.copies[i].handle != NULL)
            unload(&fixture.copies[i]);
        (void)unlink(fixture.copies[i].path);
    }
    return rmdir(fixture.folder);
}

static void what_is_not_published_is_not_found(void **state)
{
    (void)state;
    assert_null(smp_core_anchor_find((struct smp_core_identity){ 0 }));
    assert_null(fixture.copies[0].functions->find(version_7));
}

static void all_copies_find_the_published_one(void **state)
{
    static const int functions;

    (void)state;
    fixture.copies[1].functions->publish(version_7, &functions);
    for (size_t i = 0; i < COPIES; i++)
        assert_ptr_equal(fixture.copies[i].functions->find(version_7), &functions);
    assert_ptr_equal(smp_core_anchor_find(version_7), &functions);
}

static void another_version_is_not_found(void **state)
{
    static const int functions_of_7;
    static const int functions_of_8;
    const struct smp_core_identity other_seam = { .abi = 7, .seam = 71 };

    (void)state;
    fixture.copies[0].functions->publish(version_7, &functions_of_7);
    assert_null(smp_core_anchor_find(version_8));
    assert_null(smp_core_anchor_find(other_seam));
    fixture.copies[1].functions->publish(version_8, &functions_of_8);
    assert_ptr_equal(smp_core_anchor_find(version_7), &functions_of_7);
    assert_ptr_equal(smp_core_anchor_find(version_8), &functions_of_8);
}

static void a_copy_that_is_unmapped_is_gone(void **state)
{
    static const int functions;

    (void)state;
    fixture.copies[0].functions->publish(version_7, &functions);
    unload(&fixture.copies[0]);
    assert_null(smp_core_anchor_find(version_7));
    load(&fixture.copies[0]);
    assert_null(smp_core_anchor_find(version_7));
}

static void one_version_samples_at_a_time(void **state)
{
    const struct core_copy_functions *const old = fixture.copies[0].functions;
    const struct core_copy_functions *const new = fixture.copies[1].functions;
    struct smp_core_rival rival = { 0 };

    (void)state;
    old->publish(version_7, old);
    new->publish(version_8, new);
    assert_true(old->begin_sampling(&rival));
    assert_true(old->begin_sampling(&rival));
    assert_false(new->begin_sampling(&rival));
    assert_int_equal(rival.abi, 7);
    assert_string_equal(rival.path, fixture.copies[0].path);
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
    struct copy *const copy = &fixture.copies[0];
    const struct core_copy_functions *const other = fixture.copies[1].functions;
    struct smp_core_rival rival = { 0 };
    char path[PATH_BYTES];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/%0*d.so", fixture.folder, 200, 0);
    unload(copy);
    assert_int_equal(rename(copy->path, path), 0);
    (void)strcpy(copy->path, path);
    load(copy);
    copy->functions->publish(version_7, copy);
    other->publish(version_8, other);
    assert_true(copy->functions->begin_sampling(&rival));
    assert_false(other->begin_sampling(&rival));
    assert_int_equal(strlen(rival.path), SMP_CORE_RIVAL_PATH_BYTES - 1);
    assert_memory_equal(rival.path, path, SMP_CORE_RIVAL_PATH_BYTES - 1);
    copy->functions->end_sampling();
}

static _Atomic int inside[2];

static void *begin_and_end(void *argument)
{
    const size_t me = (size_t)(uintptr_t)argument;
    const struct core_copy_functions *const mine = fixture.copies[me].functions;
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
    fixture.copies[0].functions->publish(version_7, fixture.folder);
    fixture.copies[1].functions->publish(version_8, fixture.folder);
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
    fixture.copies[2].functions->publish(version_7, &functions);
    assert_true(smp_stay_mapped(fixture.copies[2].functions));
    unload(&fixture.copies[2]);
    assert_ptr_equal(smp_core_anchor_find(version_7), &functions);
    assert_true(smp_stay_mapped(&fixture)); /* the program's own */
    assert_false(smp_stay_mapped(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, load_copies, unload_copies)
        T(what_is_not_published_is_not_found),
        T(all_copies_find_the_published_one),
        T(another_version_is_not_found),
        T(a_copy_that_is_unmapped_is_gone),
        T(one_version_samples_at_a_time),
        T(a_long_path_is_cut),
        T(two_versions_that_start_at_once_are_never_both_in),
        T(a_library_may_stay_mapped),
#undef T
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

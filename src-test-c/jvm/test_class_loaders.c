/* SPDX-License-Identifier: Apache-2.0 */
/* Class loaders have unique numbers, whatever their hashes. Numbers are not reused, and loaders
 * are not kept alive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>

#include "base/alloc.h"
#include "jvm/calls/class_loaders.h"
#include "support/failing_alloc.h"
#include "support/fake_classes.h"

enum { LOADERS = 3000, HASHES = 700, THREADS = 4 };

static struct smp_class_loaders loaders;
static struct fake_loader fakes[LOADERS];
static uint64_t gone_numbers[LOADERS];
static size_t gone_count;

static uint64_t number_of(struct fake_loader *loader)
{
    return smp_class_loaders_number(&loaders, fake_classes_jvmti(), fake_classes_jni(),
                                    (jobject)(void *)loader);
}

static void note_gone(void *self, uint64_t number)
{
    (void)self;
    gone_numbers[gone_count++] = number;
}

static int setup(void **state)
{
    (void)state;
    fake_classes_reset();
    gone_count = 0;
    for (jint i = 0; i < LOADERS; i++)
        fakes[i] = fake_loader(i % HASHES * (i % 2 == 0 ? 1 : SMP_CLASS_LOADERS_BUCKETS));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    smp_class_loaders_close(&loaders, fake_classes_jni());
    fake_classes_check();
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

static void each_loader_has_one_number(void **state)
{
    uint64_t last = 0;

    (void)state;
    assert_int_equal(number_of(NULL), 0);
    for (size_t i = 0; i < LOADERS; i++) {
        const uint64_t number = number_of(&fakes[i]);
        assert_true(number > last && number != SMP_CLASS_LOADERS_UNKNOWN);
        last = number;
    }
    const uint64_t first = last - LOADERS + 1;
    for (size_t i = 0; i < LOADERS; i++)
        assert_int_equal(number_of(&fakes[i]), first + i);
    assert_int_equal(fake_classes.weak_refs, LOADERS);
}

static uint64_t numbers_of[THREADS][LOADERS];

static void *number_all(void *numbers)
{
    for (size_t i = 0; i < LOADERS; i++)
        ((uint64_t *)numbers)[i] = number_of(&fakes[i]);
    return NULL;
}

static void simultaneous_threads_give_a_loader_one_number(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, number_all, numbers_of[i]), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_memory_equal(numbers_of[i], numbers_of[0], sizeof(numbers_of[0]));
    assert_int_equal(fake_classes.weak_refs, LOADERS);
}

static void a_collected_loader_is_reported_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < LOADERS; i++)
        (void)number_of(&fakes[i]);
    const uint64_t first = number_of(&fakes[0]);
    for (size_t i = 0; i < LOADERS; i += 3)
        fakes[i].is_gone = true;
    smp_class_loaders_purge(&loaders, fake_classes_jni(), note_gone, NULL);
    assert_int_equal(gone_count, (LOADERS + 2) / 3);
    for (size_t i = 0; i < gone_count; i++)
        assert_int_equal((gone_numbers[i] - first) % 3, 0);
    assert_int_equal(fake_classes.weak_refs, LOADERS); /* another thread may have numbered them */
    smp_class_loaders_free_deferred(&loaders, fake_classes_jni());
    assert_int_equal(fake_classes.weak_refs, LOADERS - (long)gone_count);
    smp_class_loaders_purge(&loaders, fake_classes_jni(), note_gone, NULL);
    assert_int_equal(gone_count, (LOADERS + 2) / 3);
    for (size_t i = 1; i < LOADERS; i += 3)
        assert_int_equal(number_of(&fakes[i]), first + i);
    /* Another loader at the same address, with the same hash. */
    fakes[0].is_gone = false;
    assert_true(number_of(&fakes[0]) > first + LOADERS - 1);
}

static enum smp_status number_and_forget(void *self)
{
    const uint64_t number = number_of(self);

    smp_class_loaders_close(&loaders, fake_classes_jni());
    return number != SMP_CLASS_LOADERS_UNKNOWN ? SMP_OK : SMP_ENOMEM;
}

static void without_memory_a_loader_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(failing_alloc_each_step(number_and_forget, &fakes[0]).refused, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_loader_has_one_number, setup, teardown),
        cmocka_unit_test_setup_teardown(simultaneous_threads_give_a_loader_one_number, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_collected_loader_is_reported_once, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_a_loader_is_unknown, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

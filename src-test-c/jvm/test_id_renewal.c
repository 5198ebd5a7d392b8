/* SPDX-License-Identifier: Apache-2.0 */
/* Classes are loaded, called and unloaded at random, beside threads that remain inside roots. Each
 * call is counted for the class that was called, and ids become free again. */
#include "jvm/calls/counted_classes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "counting/call_arena.h"
#include "counting/call_path.h"
#include "counting/call_reader.h"
#include "counting/call_shared.h"
#include "support/class_builder.h"
#include "support/fake_classes.h"

enum {
    MAJOR = 61,
    STATIC = 8,
    METHODS = 64, /* the limit; the ninth waiting id starts a renewal */
    NODES = 512,
    MOST_CLASSES = 4000,
    THREADS = 4,
    LIVE = 20, /* classes at the same time */
    FIRST_LOADER = 100,
    MEGABYTE = 1 << 20
};

static struct smp_counted_classes counted = SMP_COUNTED_CLASSES_INIT;

/* Indexed by the number in the class's name. */
static int64_t called[MOST_CLASSES];
static int64_t found[MOST_CLASSES];

static int setup(void **state)
{
    struct smp_counting_plan *plan = NULL;
    const struct smp_call_options calls = { .max_bytes = 16 * MEGABYTE,
                                            .nodes = NODES,
                                            .depth = SMP_CALL_DEFAULT_DEPTH };

    (void)state;
    fake_classes_reset();
    memset(called, 0, sizeof(called));
    memset(found, 0, sizeof(found));
    assert_int_equal(smp_counting_plan_create(NULL, "app.*.*", "", &plan), SMP_OK);
    plan->max_methods = METHODS;
    counted.id_base = SMP_CALL_METHODS - METHODS; /* there are only these ids */
    plan->look_ahead = 1;
    assert_int_equal(smp_counted_classes_open(&counted, plan), SMP_OK);
    smp_counting_plan_release(plan); /* the counter holds a reference */
    assert_int_equal(smp_call_arena_open(&calls), SMP_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    smp_call_arena_close();
    for (int64_t tid = 1; tid <= THREADS; tid++)
        smp_call_arena_retire(tid);
    smp_counted_classes_close(&counted);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

/* "app.C12.run" */
static int number_in(const char *text)
{
    return (int)strtol(text + strlen("app.C"), NULL, 10);
}

/* Returns the id that its probe pushes; -1: it has none. */
static int32_t id_of_class(int number)
{
    const struct smp_method_ids *const ids = smp_call_graph_ids(counted.graph);
    char text[64];

    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);
        if (record == NULL || record->state != SMP_METHOD_INSTRUMENTED)
            continue;
        smp_method_text(text, sizeof(text), smp_method_ids_name(ids, id).class_name,
                        smp_method_ids_name(ids, id).method_name);
        if (number_in(text) == number)
            return id + counted.id_base;
    }
    return -1;
}

/* Loads a class with a root, which gets its probe. */
static int32_t load_class(int number)
{
    const uint8_t code[] = { 0xb1 }; /* return */
    struct smp_loading_class loading = { .loader = (uint64_t)(FIRST_LOADER + number) };
    struct smp_class_bytes probed = { 0 };
    struct class_builder builder;
    uint8_t *bytes = NULL;
    char name[32];

    (void)snprintf(name, sizeof(name), "app/C%d", number);
    class_builder_init(&builder, MAJOR, name, "java/lang/Object");
    class_builder_method(&builder, STATIC, "run", "()V",
                         &(struct built_code){ .bytes = code, .length = sizeof(code) });
    loading.file.size = class_builder_finish(&builder, &bytes);
    loading.file.bytes = bytes;
    if (smp_counted_classes_load(&counted, fake_classes_jvmti(), &loading, &probed))
        (void)(*fake_classes_jvmti())
            ->Deallocate(fake_classes_jvmti(), (unsigned char *)(uintptr_t)probed.bytes);
    free(bytes);
    return id_of_class(number);
}

static void unload_class(int number)
{
    smp_call_graph_unload_loader(counted.graph, (uint64_t)(FIRST_LOADER + number));
}

static void call_class(int64_t tid, int number, int32_t id)
{
    smp_call_enter_root(tid, false, 0, id);
    called[number]++;
    smp_call_exit_root(smp_call_state_find(tid), id);
}

static void count_delta(void *self, const struct smp_call_delta *delta)
{
    const int64_t number = smp_counted_classes_number(&counted, (int32_t)delta->call.method);
    const int32_t pushed = smp_counted_classes_pushed(&counted, number);
    const struct smp_method_ids *const ids = smp_call_graph_ids(counted.graph);
    const int32_t id = smp_counted_classes_id(&counted, pushed);
    char text[64];

    (void)self;
    assert_int_equal(delta->call.loss, 0);
    assert_int_equal(pushed, delta->call.method);
    smp_method_text(text, sizeof(text), smp_method_ids_name(ids, id).class_name,
                    smp_method_ids_name(ids, id).method_name);
    found[number_in(text)] += delta->call.calls;
}

static void keep_id(void *self, int32_t pushed)
{
    (void)self;
    smp_counted_classes_keep_id(&counted, pushed);
}

/* Reads as call_counter.c does. Returns true if it was a renewal. */
static bool read_all(void)
{
    struct smp_call_visitor visitor = { .on_delta = count_delta };
    const bool renews = smp_counted_classes_begin_renewal(&counted);

    if (renews)
        visitor.on_kept = keep_id;
    smp_call_read(&visitor);
    if (renews)
        smp_counted_classes_end_renewal(&counted);
    return renews;
}

static struct smp_call_graph_figures figures(void)
{
    struct smp_call_graph_figures now;

    smp_call_graph_figures(counted.graph, &now);
    return now;
}

static void ids_of_unloaded_classes_become_free(void **state)
{
    int64_t first = 0;

    (void)state;
    for (int number = 0; number < 10 * METHODS; number++) {
        const int32_t id = load_class(number);
        assert_in_range(id - counted.id_base, 0, METHODS - 1);
        if (number == 0)
            first = smp_counted_classes_number(&counted, id);
        call_class(1, number, id);
        unload_class(number);
        (void)read_all();
    }
    assert_memory_equal(found, called, sizeof(found));
    assert_true(figures().ids <= METHODS / SMP_RENEWAL_SHARE + 1);
    /* The first one's number belongs to no method any more, although its id now belongs to another
     * one. */
    assert_int_equal(smp_counted_classes_pushed(&counted, first), -1);
}

/* Its own id is kept; the others become free and do not start a renewal each time. */
static void a_thread_inside_of_a_root_keeps_its_ids_and_no_others(void **state)
{
    int renewals = 0;

    (void)state;
    for (int number = 0; number < METHODS; number++) {
        const int32_t id = load_class(number);
        if (number < 5) {
            smp_call_enter_root(2 + number % 2, false, 0, id);
            called[number]++;
        } else {
            call_class(1, number, id);
        }
        unload_class(number);
        renewals += read_all();
    }
    assert_in_range(renewals, 2, METHODS / (METHODS / SMP_RENEWAL_SHARE));
    assert_in_range(figures().retired, 5, 5 + METHODS / SMP_RENEWAL_SHARE);
    for (int number = METHODS; number < METHODS + 20; number++) {
        call_class(1, number, load_class(number));
        unload_class(number);
    }
    (void)read_all();
    assert_memory_equal(found, called, sizeof(found));
}

/* With these ids in use, the limit leaves no room for as many others as start a renewal. */
static void ids_become_free_when_the_thread_that_kept_them_leaves(void **state)
{
    enum { KEPT = METHODS - METHODS / SMP_RENEWAL_SHARE };
    int32_t ids[KEPT];
    int renewals = 0;

    (void)state;
    for (int number = 0; number < KEPT; number++) {
        ids[number] = load_class(number);
        smp_call_enter_root(1, false, 0, ids[number]);
        called[number]++;
        unload_class(number);
        (void)read_all();
    }
    assert_int_equal(figures().retired, KEPT);
    for (int i = 0; i < 10 * SMP_RENEWAL_READS; i++)
        renewals += read_all();
    assert_in_range(renewals, 1, 10); /* although each would be useless */
    for (int number = KEPT; number > 0; number--)
        smp_call_exit_root(smp_call_state_find(1), ids[number - 1]);
    for (int i = 0; i < SMP_RENEWAL_READS; i++)
        (void)read_all();
    assert_int_equal(figures().retired, 0);
    for (int number = KEPT; number < KEPT + METHODS; number++)
        call_class(1, number, load_class(number));
    (void)read_all();
    assert_memory_equal(found, called, sizeof(found));
}

/* The call is in a root that began earlier, so the class cannot have been unloaded. */
static void calls_are_counted_for_the_right_class(void **state)
{
    int numbers[LIVE];
    int32_t ids[LIVE];
    int32_t inside[THREADS] = { 0 }; /* the id of the thread's root + 1 */
    int next = LIVE;
    uint64_t random = 7;

    (void)state;
    for (int i = 0; i < LIVE; i++)
        ids[i] = load_class(numbers[i] = i);
    for (int step = 0; step < 20000 && next < MOST_CLASSES; step++) {
        const int at = (int)(smp_random_next(&random) % LIVE);
        const int64_t tid = 1 + (int64_t)(smp_random_next(&random) % THREADS);
        int32_t *const root = &inside[tid - 1];
        switch (smp_random_next(&random) % 12) {
        case 0:
            unload_class(numbers[at]);
            ids[at] = load_class(numbers[at] = next++);
            break;
        case 1:
            (void)read_all();
            break;
        case 2: /* enters or leaves a root for a while */
            if (*root == 0 && ids[at] >= 0) {
                smp_call_enter_root(tid, false, 0, ids[at]);
                called[numbers[at]]++;
                *root = ids[at] + 1;
            } else if (*root != 0) {
                smp_call_exit_root(smp_call_state_find(tid), *root - 1);
                *root = 0;
            }
            break;
        default:
            if (ids[at] >= 0)
                call_class(tid, numbers[at], ids[at]);
        }
    }
    (void)read_all();
    assert_memory_equal(found, called, sizeof(found));
    assert_in_range(next, 1000, MOST_CLASSES);
    for (int i = 0; i < LIVE; i++)
        /* the limit was never reached */
        assert_in_range(ids[i] - counted.id_base, 0, METHODS - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ids_of_unloaded_classes_become_free),
        TEST(a_thread_inside_of_a_root_keeps_its_ids_and_no_others),
        TEST(ids_become_free_when_the_thread_that_kept_them_leaves),
        TEST(calls_are_counted_for_the_right_class),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

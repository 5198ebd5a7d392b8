/* SPDX-License-Identifier: Apache-2.0 */
/* Classes get probes when they are loaded or in batches, and lose them again. Whatever the JVM
 * refuses, each class keeps valid bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "counting/call_arena.h"
#include "counting/call_layout.h"
#include "counting/worklist.h"
#include "jvm/calls/class_batches.h"
#include "jvm/calls/reflected_calls.h"
#include "support/class_builder.h"
#include "support/failing_alloc.h"
#include "support/fake_classes.h"

enum { MAJOR = 61, STATIC = 8, CODE_BYTES = 4, MANY = 200, LOADERS = 4, LOADS = 50000 };

static struct smp_counted_classes counted = SMP_COUNTED_CLASSES_INIT;
static struct smp_class_loaders loaders;
static struct smp_class_batches batches;
static struct fake_loader loader;
static struct fake_loaded root;         /* run calls Callee.go */
static struct fake_loaded callee;       /* go calls Leaf.end */
static struct fake_loaded leaf;         /* end calls Root.run */
static struct fake_loaded newer_callee; /* the class as changed by another agent; never loaded */
static struct fake_loaded many[MANY];
static uint32_t max_methods;

/* --- a JVM --- */

static uint64_t loader_number(struct fake_loader *of)
{
    return smp_class_loaders_number(&loaders, fake_classes_jvmti(), fake_classes_jni(),
                                    (jobject)(void *)of);
}

static bool hook_as(bool is_foreign, const struct fake_loaded *type, const uint8_t *bytes,
                    size_t size, uint8_t **out, size_t *out_size)
{
    const struct smp_loading_class loading = { .file = { bytes, size },
                                               .name = { type->signature + 1,
                                                         strlen(type->signature) - 2 },
                                               .loader = loader_number(type->loader),
                                               .is_foreign = is_foreign };
    struct smp_class_bytes changed = { 0 };

    if (!smp_counted_classes_load(&counted, fake_classes_jvmti(), &loading, &changed))
        return false;
    *out = (uint8_t *)(uintptr_t)changed.bytes;
    *out_size = changed.size;
    return true;
}

static bool load_hook(struct fake_loaded *type, bool is_retransformed, const uint8_t *bytes,
                      size_t size, uint8_t **out, size_t *out_size)
{
    (void)is_retransformed;
    return hook_as(false, type, bytes, size, out, out_size);
}

static void meet(struct fake_loaded *type)
{
    const struct smp_loaded_class loaded = {
        .type = (jclass)(void *)type,
        .name = { type->signature + 1, strlen(type->signature) - 2 },
        .loader = loader_number(type->loader),
    };

    smp_counted_classes_meet(&counted, fake_classes_jvmti(), fake_classes_jni(), &loaded);
}

static void prepare(struct fake_loaded *type)
{
    type->is_prepared = true;
    meet(type);
}

static bool run_batch(void)
{
    return smp_class_batches_run(&batches, fake_classes_jvmti(), fake_classes_jni());
}

static void give_back(void)
{
    fake_classes.hook = NULL;
    smp_class_batches_remove_probes(&batches, fake_classes_jvmti(), fake_classes_jni());
}

/* Adds a class with one static method that calls another one. */
static void add_class(struct fake_loaded *type, const char *name, const char *method,
                      const char *called_class, const char *called)
{
    struct class_builder builder;
    uint8_t code[CODE_BYTES] = { 0xb8, 0, 0, 0xb1 }; /* invokestatic, return */
    uint8_t *bytes = NULL;

    class_builder_init(&builder, MAJOR, name, "java/lang/Object");
    const uint16_t member = class_builder_member(&builder, 10, called_class, called, "()V");
    code[1] = (uint8_t)(member >> 8);
    code[2] = (uint8_t)member;
    class_builder_method(&builder, STATIC, method, "()V",
                         &(struct built_code){ .bytes = code, .length = CODE_BYTES });
    const size_t size = class_builder_finish(&builder, &bytes);
    fake_classes_add(type, name, &loader, bytes, size);
}

static bool has_probes(const struct fake_loaded *type)
{
    return memmem(type->bytes, type->size, "ThreadsSamplerHook", 18) != NULL;
}

static bool is_original(const struct fake_loaded *type)
{
    return type->size == type->original_size &&
           memcmp(type->bytes, type->original, type->size) == 0;
}

static struct smp_call_graph_figures figures(void)
{
    struct smp_call_graph_figures now;

    smp_call_graph_figures(counted.graph, &now);
    return now;
}

static bool is_pending(void)
{
    return smp_call_graph_has_pending(counted.graph);
}

/* Reports that the method's probe has run. */
static void enter(const char *method)
{
    const struct smp_method_ids *ids = smp_call_graph_ids(counted.graph);

    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_slice name = smp_method_ids_name(ids, id).method_name;
        if (name.length == strlen(method) && memcmp(name.bytes, method, name.length) == 0)
            smp_call_arena_mark_seen(counted.id_base + id);
    }
    smp_counted_classes_note_entries(&counted);
}

static enum smp_status open_with(struct smp_quota *quota, const char *roots,
                                 enum smp_instrumentation scheme)
{
    struct smp_counting_plan *plan = NULL;
    enum smp_status status = smp_counting_plan_create(quota, roots, "app", &plan);

    smp_call_arena_forget_seen();
    if (status == SMP_OK) {
        plan->instrumentation = scheme;
        plan->max_methods = max_methods;
        plan->look_ahead = 1;
        status = smp_counted_classes_open(&counted, plan);
        smp_counting_plan_release(plan); /* the counter holds a reference */
    }
    smp_class_batches_init(&batches, &counted, &loaders);
    fake_classes.hook = load_hook;
    return status;
}

static void close_counting(void)
{
    fake_classes.hook = NULL;
    smp_counted_classes_close(&counted);
}

static void add_classes(void)
{
    add_class(&root, "app/Root", "run", "app/Callee", "go");
    add_class(&callee, "app/Callee", "go", "app/Leaf", "end");
    add_class(&leaf, "app/Leaf", "end", "app/Root", "run");
    add_class(&newer_callee, "app/Callee", "go", "app/Root", "run");
}

static int setup(void **state)
{
    (void)state;
    fake_classes_reset();
    loader = fake_loader(17);
    max_methods = 1000;
    add_classes();
    assert_int_equal(open_with(NULL, "app.Root.run", SMP_INSTRUMENTATION_LAZY), SMP_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close_counting();
    smp_class_loaders_close(&loaders, fake_classes_jni());
    counted.leftovers.class_count = 0;
    counted.id_base = 0;
    smp_leftovers_clear_methods(&counted.leftovers);
    fake_classes_check();
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

static void load_all(void)
{
    fake_classes_load(&callee, true);
    fake_classes_load(&leaf, true);
    fake_classes_load(&root, true);
}

/* --- probes --- */

static void a_root_has_probes_from_the_start(void **state)
{
    (void)state;
    load_all();
    assert_true(has_probes(&root));
    assert_true(is_original(&callee) && is_original(&leaf));
    assert_false(is_pending());
    assert_int_equal(fake_classes.batches, 0);
}

static void a_loaded_class_is_changed_in_a_batch(void **state)
{
    (void)state;
    root.is_loaded = root.is_prepared = true;
    meet(&root);
    assert_true(is_pending());
    assert_true(run_batch());
    assert_true(has_probes(&root));
    assert_false(is_pending());
    assert_false(run_batch());
    assert_int_equal(fake_classes.batches, 1);
}

static void entering_a_method_instruments_its_callees(void **state)
{
    (void)state;
    load_all();
    enter("run");
    assert_true(run_batch());
    assert_true(has_probes(&callee) && is_original(&leaf));
    enter("go");
    assert_true(run_batch());
    assert_true(has_probes(&leaf));
    enter("end");
    assert_false(run_batch());
    assert_int_equal(figures().methods, 3);
    assert_int_equal(root.changes, 0);
}

static void a_class_loaded_later_has_probes_at_once(void **state)
{
    (void)state;
    fake_classes_load(&root, true);
    enter("run");
    fake_classes_load(&callee, false);
    assert_true(has_probes(&callee));
    assert_int_equal(fake_classes.batches, 0);
}

/* --- preparation --- */

/* Retransforming an unprepared class links it on the sampler thread. */
static void a_class_that_is_not_prepared_waits(void **state)
{
    (void)state;
    fake_classes_load(&callee, false);
    fake_classes_load(&root, true);
    enter("run");
    assert_false(run_batch());
    assert_false(is_pending()); /* it is not tried repeatedly */
    assert_int_equal(callee.changes, 0);
    prepare(&callee);
    assert_true(run_batch());
    assert_true(has_probes(&callee));
    prepare(&callee); /* has no effect now */
    assert_false(run_batch());
}

static void a_class_that_is_not_defined_yet_waits(void **state)
{
    (void)state;
    fake_classes_load(&callee, false);
    callee.is_loaded = false;
    fake_classes_load(&root, true);
    enter("run");
    assert_false(run_batch());
    callee.is_loaded = true;
    prepare(&callee);
    assert_true(run_batch());
    assert_true(has_probes(&callee));
}

static void prepare_callee(void)
{
    fake_classes.while_listed = NULL;
    prepare(&callee);
}

static void a_class_prepared_during_a_batch_is_not_missed(void **state)
{
    (void)state;
    fake_classes_load(&callee, false);
    fake_classes_load(&root, true);
    enter("run");
    fake_classes.while_listed = prepare_callee;
    while (run_batch())
        continue;
    assert_true(has_probes(&callee));
}

/* --- refusals --- */

static void a_refused_class_is_unchanged_and_the_others_are_changed(void **state)
{
    (void)state;
    close_counting();
    assert_int_equal(open_with(NULL, "app.*.*", SMP_INSTRUMENTATION_LAZY), SMP_OK);
    callee.is_loaded = callee.is_prepared = true;
    leaf.is_loaded = leaf.is_prepared = true;
    root.is_loaded = root.is_prepared = true;
    meet(&callee);
    meet(&leaf);
    meet(&root);
    callee.refusal = JVMTI_ERROR_FAILS_VERIFICATION;
    assert_true(run_batch());
    assert_true(has_probes(&root) && has_probes(&leaf) && is_original(&callee));
    assert_false(is_pending());
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     1);
    assert_string_equal(
        smp_counting_account_name_at(counted.graph->account, SMP_COUNTING_LEFT_ALONE, 0),
        "its class did not pass the verifier, JVMTI error FAILS_VERIFICATION: app.Callee.go");
    assert_int_equal(figures().methods, 2);
}

/* The JVM read the old bytes for this batch before it waited for the other agent's batch. */
static void bytes_from_before_a_redefinition_are_tried_again(void **state)
{
    struct class_builder builder;
    uint8_t *newer = NULL;
    uint8_t *out = NULL;
    size_t out_size = 0;

    (void)state;
    load_all();
    enter("run");
    class_builder_init(&builder, MAJOR, "app/Callee", "java/lang/Object");
    class_builder_method(
        &builder, STATIC, "go", "()V",
        &(struct built_code){ .bytes = (const uint8_t[]){ 0, 0xb1 }, .length = 2 });
    const size_t size = class_builder_finish(&builder, &newer);
    assert_true(hook_as(true, &callee, newer, size, &out, &out_size));
    (void)(*fake_classes_jvmti())->Deallocate(fake_classes_jvmti(), out);
    free(newer);
    assert_true(run_batch());
    assert_true(is_original(&callee) && is_pending());
    assert_true(run_batch());
    assert_true(has_probes(&callee));
    assert_false(is_pending());
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     0);
}

/* The method must have an id. */
static int64_t since_of(const char *method)
{
    const struct smp_method_ids *ids = smp_call_graph_ids(counted.graph);

    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_slice name = smp_method_ids_name(ids, id).method_name;
        if (name.length == strlen(method) && memcmp(name.bytes, method, name.length) == 0)
            return smp_method_ids_at(ids, id)->since_ms;
    }
    fail_msg("no id of %s", method);
    return 0;
}

/* Another agent changes it: the bytes differ from those that the JVM hands in later. */
static void change_callee(void)
{
    uint8_t *out = NULL;
    size_t size = 0;

    if (hook_as(true, &callee, newer_callee.original, newer_callee.original_size, &out, &size))
        (void)(*fake_classes_jvmti())->Deallocate(fake_classes_jvmti(), out);
}

static void expect_probes_at_the_second_try(void)
{
    assert_true(run_batch());
    assert_true(is_original(&callee) && is_pending());
    fake_classes.hook = load_hook;
    while (is_pending())
        assert_true(run_batch());
    assert_true(has_probes(&callee));
    assert_int_equal(counted.malformed, 0);
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     0);
}

static bool replace_ours(struct fake_loaded *type, bool is_retransformed, const uint8_t *bytes,
                         size_t size, uint8_t **out, size_t *out_size)
{
    if (!load_hook(type, is_retransformed, bytes, size, out, out_size))
        return false;
    (void)(*fake_classes_jvmti())->Deallocate(fake_classes_jvmti(), *out);
    return false;
}

/* So the JVM refuses nothing. */
static void a_later_agent_that_replaces_outdated_bytes_is_noticed(void **state)
{
    (void)state;
    load_all();
    enter("run");
    change_callee();
    fake_classes.hook = replace_ours;
    expect_probes_at_the_second_try();
    assert_int_equal(callee.changes, 2);
    assert_true(since_of("go") > 0);
}

static bool give_freed_bytes(struct fake_loaded *type, bool is_retransformed, const uint8_t *bytes,
                             size_t size, uint8_t **out, size_t *out_size)
{
    (void)bytes;
    return load_hook(type, is_retransformed, (const uint8_t *)"\xca\xfe\xba\xbe and more",
                     size < 12 ? size : 12, out, out_size);
}

static bool give_bytes_of_leaf(struct fake_loaded *type, bool is_retransformed,
                               const uint8_t *bytes, size_t size, uint8_t **out, size_t *out_size)
{
    (void)bytes;
    (void)size;
    return load_hook(type, is_retransformed, leaf.original, leaf.original_size, out, out_size);
}

/* Bytes from before a redefinition may have been freed and contain anything. */
static void freed_bytes_are_tried_again(void **state)
{
    (void)state;
    load_all();
    enter("run");
    change_callee();
    fake_classes.hook = give_freed_bytes;
    expect_probes_at_the_second_try();
}

static void freed_bytes_of_another_class_are_tried_again(void **state)
{
    (void)state;
    load_all();
    enter("run");
    change_callee();
    fake_classes.hook = give_bytes_of_leaf;
    expect_probes_at_the_second_try();
    assert_true(is_original(&leaf));
}

/* The JVM gives no class the bytes of another one. */
static void bytes_of_another_class_are_left_unchanged(void **state)
{
    (void)state;
    load_all();
    enter("run");
    fake_classes.hook = give_bytes_of_leaf;
    assert_true(run_batch());
    assert_true(is_original(&callee));
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     1);
}

static bool change_meanwhile(struct fake_loaded *type, bool is_retransformed, const uint8_t *bytes,
                             size_t size, uint8_t **out, size_t *out_size)
{
    if (type == &callee)
        change_callee();
    return load_hook(type, is_retransformed, bytes, size, out, out_size);
}

static void a_class_that_is_changed_continually_is_left_unchanged(void **state)
{
    (void)state;
    load_all();
    enter("run");
    fake_classes.hook = change_meanwhile;
    assert_true(run_batch());
    assert_true(is_pending());
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     0);
    for (int i = 0; i < 3 && is_pending(); i++)
        (void)run_batch();
    assert_false(is_pending());
    assert_true(is_original(&callee));
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     1);
}

static uint64_t unfollowed(void)
{
    struct smp_counting_account *account = NULL;

    assert_int_equal(smp_counting_account_create(NULL, &account), SMP_OK);
    smp_reflected_calls_account(&counted, account);
    const uint64_t figure = smp_counting_account_figure(account, SMP_COUNTING_LEFT_ALONE);
    if (figure > 0)
        assert_string_equal(smp_counting_account_name_at(account, SMP_COUNTING_LEFT_ALONE, 0),
                            "calls by reflection are not found: java.lang.reflect.Method");
    smp_counting_account_destroy(account);
    return figure;
}

/* This JVM has other fields than the expected ones, or does not allow a class of reflection to be
 * changed. */
static void reflection_that_cannot_be_followed_is_in_the_account(void **state)
{
    static struct fake_loaded method;

    (void)state;
    counted.follows_reflection = false;
    assert_int_equal(unfollowed(), 0); /* there is no root yet */
    load_all();
    assert_int_equal(unfollowed(), 2);
    counted.follows_reflection = true;
    assert_int_equal(unfollowed(), 0);
    add_class(&method, "java/lang/reflect/Method", "invoke", "app/Leaf", "end");
    method.loader = NULL;
    method.is_loaded = method.is_prepared = true;
    method.refusal = JVMTI_ERROR_UNMODIFIABLE_CLASS;
    meet(&method);
    smp_reflected_calls_follow(&counted);
    assert_true(is_pending());
    (void)run_batch();
    assert_int_equal(unfollowed(), 1);
    counted.follows_reflection = false;
}

static void a_class_without_memory_is_tried_again(void **state)
{
    (void)state;
    load_all();
    callee.refusal = JVMTI_ERROR_OUT_OF_MEMORY;
    callee.refused = 2;
    enter("run");
    while (is_pending())
        (void)run_batch();
    assert_true(has_probes(&callee));
    assert_int_equal(fake_classes.stops, 1);
}

/* Its bytes were made, but the JVM has not accepted them: it has no probe yet. */
static void a_method_is_counted_from_the_change_of_its_class(void **state)
{
    (void)state;
    load_all();
    callee.refusal = JVMTI_ERROR_OUT_OF_MEMORY;
    callee.refused = 1;
    enter("run");
    assert_true(run_batch());
    assert_true(is_original(&callee) && is_pending());
    assert_int_equal(since_of("go"), SMP_METHOD_SINCE_SOON);
    assert_int_equal(batches.batches, 1);
    while (is_pending())
        (void)run_batch();
    assert_true(has_probes(&callee));
    assert_true(since_of("go") > 0);
}

static void a_class_without_memory_is_not_tried_for_ever(void **state)
{
    (void)state;
    load_all();
    callee.refusal = JVMTI_ERROR_OUT_OF_MEMORY;
    enter("run");
    while (is_pending())
        (void)run_batch();
    assert_true(is_original(&callee));
    assert_int_equal(fake_classes.batches, 5);
    assert_true(has_probes(&leaf)); /* its callees cannot be found by its entry */
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     1);
}

static void a_class_without_a_reference_is_tried_again(void **state)
{
    (void)state;
    load_all();
    enter("run");
    fake_classes.refused_globals = 2;
    while (is_pending())
        (void)run_batch();
    assert_true(has_probes(&callee));
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     0);
    give_back();
    assert_true(is_original(&callee));
}

static void a_jvm_that_dies_is_not_called_again(void **state)
{
    (void)state;
    load_all();
    enter("run");
    fake_classes.is_dying = true;
    (void)run_batch();
    assert_int_equal(fake_classes.batches, 1);
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     0);
    assert_false(is_pending());
    give_back();
    assert_int_equal(fake_classes.batches, 2);
}

/* They were already removed from the list of pending classes. */
static void a_failed_list_of_classes_loses_no_batch(void **state)
{
    (void)state;
    load_all();
    enter("run");
    fake_classes.failed_lists = SMP_BATCH_FAILED_LISTS - 1;
    for (int i = 1; i < SMP_BATCH_FAILED_LISTS; i++) {
        assert_false(run_batch());
        assert_true(is_pending());
    }
    assert_true(run_batch());
    assert_true(has_probes(&callee));
    enter("go");
    fake_classes.failed_lists = 1; /* one failure at a time */
    assert_false(run_batch());
    assert_true(run_batch());
    assert_true(has_probes(&leaf));
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     0);
}

/* One local frame has the references of the list, another one those of a single class. */
static void a_refused_local_frame_loses_no_batch(void **state)
{
    (void)state;
    load_all();
    enter("run");
    for (int frame = 1; frame <= 2; frame++) {
        fake_classes.refused_frame = frame;
        assert_false(run_batch());
        assert_int_equal(fake_classes.refused_frame, 0);
        assert_true(is_pending());
    }
    fake_classes.refused_frame = 3; /* there is no third frame */
    assert_true(run_batch());
    assert_int_equal(fake_classes.refused_frame, 3);
    assert_true(has_probes(&callee));
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     0);
}

static void classes_are_left_unchanged_if_their_list_always_fails(void **state)
{
    int rounds = 0;

    (void)state;
    load_all();
    enter("run");
    fake_classes.failed_lists = UINT32_MAX;
    for (; is_pending(); rounds++)
        assert_false(run_batch());
    assert_int_equal(rounds, SMP_BATCH_FAILED_LISTS + 1); /* then the leaf, which it calls */
    assert_true(is_original(&callee) && is_original(&leaf));
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     2);
    assert_string_equal(
        smp_counting_account_name_at(counted.graph->account, SMP_COUNTING_LEFT_ALONE, 0),
        "the JVM has no memory for the list of its classes: app.Callee.go");
    assert_int_equal(figures().methods, 1);
}

static void lose_the_root(void)
{
    const struct smp_slice name = { "app/Root", 8 };
    const uint64_t number = loader_number(&loader);
    const uint32_t index = smp_call_graph_find(counted.graph, number, name);

    smp_lock_acquire(&counted.lock);
    smp_call_graph_unload(counted.graph, index);
    smp_lock_release(&counted.lock);
    leaf.is_loaded = leaf.is_prepared = true;
    meet(&leaf);
    const struct smp_slice other = { "app/Leaf", 8 };
    assert_int_equal(smp_call_graph_find(counted.graph, number, other), index);
}

/* Another thread may forget a class, for lack of memory, while this thread rewrites it. */
static void an_index_reused_by_another_class_is_not_refused(void **state)
{
    (void)state;
    close_counting();
    assert_int_equal(open_with(NULL, "app.*.*", SMP_INSTRUMENTATION_LAZY), SMP_OK);
    fake_classes.while_allocated = lose_the_root;
    fake_classes.refuses_allocate = true;
    fake_classes_load(&root, true);
    fake_classes.refuses_allocate = false;
    assert_true(is_original(&root));
    assert_int_equal(smp_counting_account_figure(counted.graph->account, SMP_COUNTING_LEFT_ALONE),
                     0);
    assert_true(run_batch());
    assert_true(has_probes(&leaf));
}

/* The other agent's change may fail after our hook ran: then our probes are missing. */
static void a_class_changed_by_another_agent_is_changed_again(void **state)
{
    uint8_t *out = NULL;
    size_t size = 0;

    (void)state;
    load_all();
    assert_true(hook_as(true, &root, root.original, root.original_size, &out, &size));
    fake_classes_jvmti()[0]->Deallocate(fake_classes_jvmti(), out);
    assert_false(is_pending()); /* they had been there already */
    enter("run");
    assert_true(hook_as(true, &callee, callee.original, callee.original_size, &out, &size));
    fake_classes_jvmti()[0]->Deallocate(fake_classes_jvmti(), out);
    assert_true(is_pending());
    assert_true(run_batch());
    assert_true(has_probes(&callee));
    assert_false(is_pending());
}

/* The JVM calls the hooks before it compares the methods: these differ, so the change is
 * refused. */
static void a_failed_change_by_another_agent_does_not_disturb_counting(void **state)
{
    static struct fake_loaded other; /* never loaded */
    uint8_t *out = NULL;
    size_t size = 0;

    (void)state;
    load_all();
    assert_true(has_probes(&root));
    add_class(&other, "app/Root", "walk", "app/Leaf", "end");
    assert_false(hook_as(true, &root, other.original, other.original_size, &out, &size));
    assert_int_equal(figures().methods, 0);
    assert_true(is_pending());
    while (is_pending())
        (void)
            /* the first batch takes the bytes for those from before the other change */
            run_batch();
    assert_true(has_probes(&root));
    assert_int_equal(figures().methods, 1);
    enter("run");
    assert_true(run_batch());
    assert_true(has_probes(&callee));
}

static void bytes_that_are_not_understood_are_unchanged(void **state)
{
    static const uint8_t broken[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 9 };
    uint8_t *out = NULL;
    size_t size = 0;

    (void)state;
    assert_false(hook_as(false, &root, broken, sizeof(broken), &out, &size));
    assert_int_equal(counted.malformed, 1);
}

static pthread_barrier_t all_are_there;

static void *load_unusable(void *self)
{
    static const uint8_t broken[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 9 };
    const struct smp_class_bytes *const bytes = self;
    const struct smp_class_bytes file =
        bytes != NULL ? *bytes : (struct smp_class_bytes){ broken, sizeof(broken) };
    const struct smp_loading_class loading = { .file = file };
    struct smp_class_bytes changed = { 0 };

    (void)pthread_barrier_wait(&all_are_there);
    for (int i = 0; i < LOADS; i++)
        assert_false(smp_counted_classes_load(&counted, NULL, &loading, &changed));
    return NULL;
}

static void load_side_by_side(struct smp_class_bytes *bytes)
{
    pthread_t threads[LOADERS];

    assert_int_equal(pthread_barrier_init(&all_are_there, NULL, LOADERS), 0);
    for (int i = 0; i < LOADERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load_unusable, bytes), 0);
    for (int i = 0; i < LOADERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    (void)pthread_barrier_destroy(&all_are_there);
}

/* They are counted without a lock. */
static void malformed_files_of_many_threads_are_all_counted(void **state)
{
    struct smp_class_bytes file = { root.original, root.original_size };
    struct failing_alloc all = { 0 };

    (void)state;
    load_side_by_side(NULL);
    assert_int_equal(counted.malformed, LOADERS * LOADS);
    failing_alloc_arm(&all, 1, SIZE_MAX);
    load_side_by_side(&file);
    (void)failing_alloc_disarm(&all);
    assert_int_equal(counted.malformed, LOADERS * LOADS);
}

/* --- restoring classes --- */

static void all_classes_are_restored(void **state)
{
    (void)state;
    load_all();
    enter("run");
    assert_true(run_batch());
    give_back();
    assert_true(is_original(&root) && is_original(&callee) && is_original(&leaf));
    assert_int_equal(leaf.changes, 0);
    assert_int_equal(counted.leftovers.class_count, 0);
    close_counting();
    assert_int_equal(counted.id_base, 0);
}

static bool refuse_outdated(struct fake_loaded *type, bool is_retransformed, const uint8_t *bytes,
                            size_t size, uint8_t **out, size_t *out_size)
{
    const struct smp_loading_class loading = { .file = { bytes, size },
                                               .name = { type->signature + 1,
                                                         strlen(type->signature) - 2 },
                                               .loader = loader_number(type->loader) };
    struct smp_class_bytes changed = { 0 };

    (void)is_retransformed;
    if (!smp_counted_classes_refuse_outdated(&counted, fake_classes_jvmti(), &loading, &changed))
        return false;
    *out = (uint8_t *)(uintptr_t)changed.bytes;
    *out_size = changed.size;
    return true;
}

/* The JVM hands in bytes from before another agent's change, and the right ones at the next
 * try. */
static void outdated_bytes_are_not_restored(void **state)
{
    (void)state;
    load_all();
    enter("run");
    assert_true(run_batch());
    assert_true(has_probes(&callee));
    change_callee();
    const unsigned before = callee.changes;
    fake_classes.hook = refuse_outdated;
    smp_class_batches_remove_probes(&batches, fake_classes_jvmti(), fake_classes_jni());
    assert_int_equal(callee.changes, before + 1); /* the first try was refused */
    assert_true(is_original(&root) && is_original(&callee));
    assert_int_equal(counted.leftovers.class_count, 0);
}

/* Ids in a class that keeps its probes must not mean other methods at the next start. */
static void leftover_probes_do_not_disturb_later_counts(void **state)
{
    (void)state;
    load_all();
    root.refusal = JVMTI_ERROR_INTERNAL;
    give_back();
    assert_true(has_probes(&root));
    assert_int_equal(counted.leftovers.class_count, 1);
    close_counting();
    assert_int_equal(counted.id_base, 1);
    root.refusal = JVMTI_ERROR_NONE;
    max_methods = SMP_CALL_METHODS;
    assert_int_equal(open_with(NULL, "app.Leaf.end", SMP_INSTRUMENTATION_LAZY), SMP_OK);
    assert_int_equal(counted.max_ids, SMP_CALL_METHODS - 1); /* no id is beyond the last one */
    meet(&root);
    meet(&leaf);
    assert_true(run_batch());
    assert_true(is_original(&root) && has_probes(&leaf));
    assert_int_equal(counted.leftovers.class_count, 0);
    assert_int_equal(smp_counted_classes_id(&counted, 0), -1);
    assert_int_equal(smp_counted_classes_id(&counted, 1), 0);
    give_back();
    close_counting();
    assert_int_equal(counted.id_base, 0);
}

static bool is_slice(struct smp_slice slice, const char *text)
{
    return slice.length == strlen(text) && memcmp(slice.bytes, text, slice.length) == 0;
}

/* Returns whether an id pushed by a leftover probe of an earlier counting has this name. */
static bool is_leftover_method(int32_t pushed, const char *class_name, const char *method_name)
{
    const struct smp_method_name *const name = smp_leftovers_find(&counted.leftovers, pushed);

    return name != NULL && is_slice(name->class_name, class_name) &&
           is_slice(name->method_name, method_name);
}

static void count_anew(const char *roots)
{
    close_counting();
    assert_int_equal(open_with(NULL, roots, SMP_INSTRUMENTATION_LAZY), SMP_OK);
    meet(&root);
    meet(&callee);
    meet(&leaf);
    (void)run_batch();
}

/* Another agent adds members to the class. */
static void leftover_probes_keep_their_names(void **state)
{
    (void)state;
    load_all();
    root.refusal = JVMTI_ERROR_UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED;
    give_back();
    count_anew("app.Leaf.end");
    assert_true(has_probes(&root) && has_probes(&leaf));
    assert_true(is_leftover_method(0, "app/Root", "run"));
    assert_false(is_leftover_method(1, "app/Leaf", "end"));
    give_back();
    assert_int_equal(counted.leftovers.class_count, 1);
    count_anew("app.Callee.go");
    assert_int_equal(counted.id_base, 2);
    assert_true(is_leftover_method(0, "app/Root", "run"));
    root.refusal = JVMTI_ERROR_NONE;
    give_back();
    assert_true(is_original(&root));
    assert_int_equal(counted.leftovers.class_count, 0);
    close_counting();
    assert_false(is_leftover_method(0, "app/Root", "run"));
}

/* The other agent came after the probe. */
static void a_probe_that_cannot_be_removed_is_a_leftover(void **state)
{
    (void)state;
    load_all();
    enter("run");
    assert_true(run_batch());
    assert_true(has_probes(&callee));
    assert_true(smp_call_graph_drop(counted.graph, 1, 0));
    callee.refusal = JVMTI_ERROR_UNSUPPORTED_REDEFINITION_METHOD_ADDED;
    assert_true(run_batch());
    give_back();
    assert_true(has_probes(&callee));
    assert_int_equal(counted.leftovers.class_count, 1);
    assert_true(is_leftover_method(1, "app/Callee", "go"));
}

static void without_memory_names_of_leftovers_are_lost(void **state)
{
    struct failing_alloc refusing;

    (void)state;
    load_all();
    for (size_t i = 0; i < counted.mark_count; i++)
        counted.marks[i].flags |= SMP_COUNTED_KEPT;
    for (size_t step = 1; step <= 2; step++) {
        failing_alloc_arm(&refusing, step, step);
        smp_counted_classes_keep_leftovers(&counted);
        assert_int_equal(failing_alloc_disarm(&refusing), 1);
        assert_false(is_leftover_method(0, "app/Root", "run"));
    }
    smp_counted_classes_keep_leftovers(&counted);
    assert_true(is_leftover_method(0, "app/Root", "run"));
}

static void a_class_without_a_reference_at_the_end_keeps_its_names(void **state)
{
    (void)state;
    load_all();
    enter("run");
    (void)run_batch();
    fake_classes.refused_globals = MANY;
    give_back();
    fake_classes.refused_globals = 0;
    assert_true(has_probes(&root) && has_probes(&callee));
    assert_int_equal(counted.leftovers.class_count, 2);
    assert_true(is_leftover_method(0, "app/Root", "run"));
    assert_true(is_leftover_method(1, "app/Callee", "go"));
}

static void a_class_that_is_never_prepared_is_remembered(void **state)
{
    (void)state;
    fake_classes_load(&root, false);
    assert_true(has_probes(&root));
    give_back();
    assert_int_equal(root.changes, 0);
    assert_int_equal(counted.leftovers.class_count, 1);
    assert_false(is_leftover_method(0, "app/Root", "run"));
}

/* --- size --- */

static size_t classes_with_probes(void)
{
    size_t count = 0;

    for (size_t i = 0; i < MANY; i++)
        count += has_probes(&many[i]);
    return count;
}

/* The clock advances only when it is read. */
static int64_t advance_clock(void *self)
{
    int64_t *const clock_ns = self;

    clock_ns[0] += clock_ns[1];
    return clock_ns[0];
}

/* Adds many classes to be changed and counts those with probes after each of the first batches. A
 * batch reads the clock at least twice, and each reading advances it by step_ns. */
static void run_batches(int64_t step_ns, size_t *changed, size_t count)
{
    int64_t clock_ns[] = { 1000000000, step_ns };
    const struct smp_clock_fake clock = { .ns = advance_clock, .self = clock_ns };
    char name[32];

    close_counting();
    assert_int_equal(open_with(NULL, "", SMP_INSTRUMENTATION_TOTAL), SMP_OK);
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "app/Many%zu", i);
        add_class(&many[i], name, "go", "app/Leaf", "end");
        many[i].is_loaded = many[i].is_prepared = true;
        meet(&many[i]);
    }
    smp_clock_set_fake(&clock);
    for (size_t i = 0; i < count; i++) {
        (void)run_batch();
        changed[i] = classes_with_probes();
    }
    smp_clock_set_fake(NULL);
}

static void batches_grow_while_safepoints_are_short(void **state)
{
    size_t changed[3];

    (void)state;
    run_batches(SMP_BATCH_STOP_NS / 100, changed, 3);
    assert_int_equal(changed[0], SMP_BATCH_FIRST);
    assert_int_equal(changed[1], 3 * SMP_BATCH_FIRST);
    assert_int_equal(changed[2], MANY);
    assert_false(run_batch());
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(many[i].changes, 1);
    give_back();
    for (size_t i = 0; i < MANY; i++)
        assert_true(is_original(&many[i]) && many[i].changes == 2);
}

static void batches_shrink_while_safepoints_are_long(void **state)
{
    size_t changed[4];

    (void)state;
    run_batches(2 * SMP_BATCH_STOP_NS, changed, 4);
    assert_int_equal(changed[0], SMP_BATCH_FIRST);
    assert_int_equal(changed[1] - changed[0], SMP_BATCH_FIRST / 2);
    assert_int_equal(changed[2] - changed[1], SMP_BATCH_LEAST);
    assert_int_equal(changed[3] - changed[2], SMP_BATCH_LEAST);
    give_back();
}

/* --- memory --- */

static void without_memory_for_new_bytes_the_jvm_keeps_the_class(void **state)
{
    (void)state;
    fake_classes.refuses_allocate = true;
    fake_classes_load(&root, true);
    assert_true(is_original(&root));
    assert_int_equal(figures().methods, 0);
}

/* As if a thread never leaves a hook: the session ends, and the thread continues in the hook. */
static void the_quota_outlives_its_session(void **state)
{
    struct smp_quota *quota = smp_quota_create(1 << 24);
    char roots[] = "app.Root.run";

    (void)state;
    close_counting();
    assert_non_null(quota);
    assert_int_equal(open_with(quota, roots, SMP_INSTRUMENTATION_LAZY), SMP_OK);
    assert_true(quota->holders >= 2);
    smp_quota_release(quota);
    memset(roots, 'x', sizeof(roots) - 1); /* the session's texts are gone, too */
    load_all();
    enter("run");
    assert_true(run_batch());
    assert_true(has_probes(&root) && has_probes(&callee));
    assert_true(smp_quota_used(quota) > 0);
}

static enum smp_status count_all(void *self)
{
    enum smp_status status = open_with(NULL, "app.Root.run", SMP_INSTRUMENTATION_LAZY);

    (void)self;
    if (status == SMP_OK) {
        root.is_loaded = root.is_prepared = true;
        meet(&root);
        (void)run_batch();
        fake_classes_load(&callee, true);
        enter("run");
        (void)run_batch();
        if (!has_probes(&callee) || !has_probes(&root))
            status = SMP_ENOMEM;
        give_back();
        if (!is_original(&root) || !is_original(&callee))
            status = SMP_EVM; /* must not happen */
    }
    close_counting();
    smp_class_loaders_close(&loaders, fake_classes_jni());
    counted.leftovers.class_count = 0;
    smp_leftovers_clear_methods(&counted.leftovers);
    assert_true(status != SMP_EVM);
    return status;
}

static void refused_memory_only_loses_counts(void **state)
{
    (void)state;
    close_counting();
    assert_true(failing_alloc_each_step(count_all, NULL).refused > 20);
    assert_int_equal(fake_classes.live_pieces, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_root_has_probes_from_the_start),
        TEST(a_loaded_class_is_changed_in_a_batch),
        TEST(entering_a_method_instruments_its_callees),
        TEST(a_class_loaded_later_has_probes_at_once),
        TEST(a_class_that_is_not_prepared_waits),
        TEST(a_class_that_is_not_defined_yet_waits),
        TEST(a_class_prepared_during_a_batch_is_not_missed),
        TEST(a_refused_class_is_unchanged_and_the_others_are_changed),
        TEST(bytes_from_before_a_redefinition_are_tried_again),
        TEST(a_later_agent_that_replaces_outdated_bytes_is_noticed),
        TEST(freed_bytes_are_tried_again),
        TEST(freed_bytes_of_another_class_are_tried_again),
        TEST(bytes_of_another_class_are_left_unchanged),
        TEST(a_class_that_is_changed_continually_is_left_unchanged),
        TEST(reflection_that_cannot_be_followed_is_in_the_account),
        TEST(a_class_without_memory_is_tried_again),
        TEST(a_method_is_counted_from_the_change_of_its_class),
        TEST(a_class_without_memory_is_not_tried_for_ever),
        TEST(a_class_without_a_reference_is_tried_again),
        TEST(a_jvm_that_dies_is_not_called_again),
        TEST(a_failed_list_of_classes_loses_no_batch),
        TEST(a_refused_local_frame_loses_no_batch),
        TEST(classes_are_left_unchanged_if_their_list_always_fails),
        TEST(an_index_reused_by_another_class_is_not_refused),
        TEST(malformed_files_of_many_threads_are_all_counted),
        TEST(a_class_changed_by_another_agent_is_changed_again),
        TEST(a_failed_change_by_another_agent_does_not_disturb_counting),
        TEST(bytes_that_are_not_understood_are_unchanged),
        TEST(all_classes_are_restored),
        TEST(outdated_bytes_are_not_restored),
        TEST(leftover_probes_do_not_disturb_later_counts),
        TEST(leftover_probes_keep_their_names),
        TEST(a_probe_that_cannot_be_removed_is_a_leftover),
        TEST(without_memory_names_of_leftovers_are_lost),
        TEST(a_class_without_a_reference_at_the_end_keeps_its_names),
        TEST(a_class_that_is_never_prepared_is_remembered),
        TEST(batches_grow_while_safepoints_are_short),
        TEST(batches_shrink_while_safepoints_are_long),
        TEST(without_memory_for_new_bytes_the_jvm_keeps_the_class),
        TEST(the_quota_outlives_its_session),
        TEST(refused_memory_only_loses_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

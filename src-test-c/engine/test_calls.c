/* SPDX-License-Identifier: Apache-2.0 */
/* Counted calls: how the source turns a counter's trees and positions into a profile. */
#include "engine/sources/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/random.h"
#include "counting/call_layout.h"
#include "model/profile_merge.h"
#include "support/failing_alloc.h"
#include "support/fake_counter.h"
#include "support/lost_calls.h"
#include "support/option_text.h"
#include "support/sampler_fixture.h"
#include "support/tree_amounts.h"

#define MS FIXTURE_MS
#define S (1000 * MS)
#define TICK (50 * MS)
#define ROOTS "rootMethods=app.Shop.handle\n"

enum { MAX_PATH = 4096, METHODS = 5 };

/* A sampler, a counter, and a thread that both of them see. */
struct setting {
    struct sampler_fixture *f;
    struct fake_counter *counter;
    int64_t methods[METHODS]; /* handle, load, parse, save, get */
};

static int64_t cpu_ns_of_thread; /* CPU time of every thread */
static int64_t cpu_ns_of_reading;

static bool read_cpu(void *self, int32_t tid, int64_t *out)
{
    (void)self;
    (void)tid;
    cpu_ns_of_thread += cpu_ns_of_reading;
    *out = cpu_ns_of_thread;
    return true;
}

static void begin(struct setting *s, const char *options)
{
    static const char *const names[METHODS] = { "handle", "load", "parse", "save", "get" };

    memset(s, 0, sizeof(*s));
    s->counter = fake_counter_create();
    for (int i = 0; i < METHODS; i++)
        s->methods[i] = fake_counter_method(s->counter, "app.Shop", names[i]);
    s->f = sampler_fixture_create_counting(options, fake_counter_interface(s->counter));
    cpu_ns_of_thread = 0;
    cpu_ns_of_reading = 0;
    s->f->clock.seam.thread_cpu_ns = read_cpu;
}

/* Adds a thread that the sampler samples and the counter counts. */
static int add_thread(struct setting *s, const char *name)
{
    struct fake_thread *thread = fake_jvm_start(s->f->vm, name);

    fake_jvm_run(s->f->vm, thread, "java.lang.Thread.run|app.Shop.handle");
    return fake_counter_thread(s->counter, thread->thread.serial, name);
}

/* Starts a sampler with one counted thread. Returns the thread's number. */
static int begin_counted(struct setting *s, const char *options)
{
    begin(s, options);
    const int thread = add_thread(s, "main");
    sampler_fixture_start(s->f);
    return thread;
}

/* As begin_counted; the thread is inside a root. */
static int begin_in_root(struct setting *s, const char *options)
{
    const int thread = begin_counted(s, options);

    fake_counter_enter(s->counter, thread, s->methods[0], true);
    return thread;
}

static void end(struct setting *s)
{
    sampler_fixture_destroy(s->f);
    fake_counter_destroy(s->counter);
}

/* --- reading a profile --- */

static struct smp_group_info *counted_group(const struct smp_profile *profile, const char *name)
{
    for (uint32_t i = 0; i < smp_thread_groups_count(profile->groups); i++) {
        struct smp_group_info *info =
            smp_thread_groups_info(profile->groups, (struct smp_group){ .index = i });
        if (info->kind == SMP_GROUP_COUNTED && strcmp(info->name, name) == 0)
            return info;
    }
    return NULL;
}

static bool is_method(const struct smp_profile *profile, uint32_t location, const char *text)
{
    struct smp_bytes bytes;

    smp_bytes_init(&bytes, NULL, MAX_PATH);
    smp_methods_method_text(profile->methods, location, &bytes);
    const bool is_equal = strcmp(smp_bytes_text(&bytes), text) == 0;
    smp_bytes_fini(&bytes);
    return is_equal;
}

/* path: methods of app.Shop from the root down, "handle|load". Returns 0 if there is no such
 * node. */
static uint32_t node_of_path(const struct setting *s, const char *group, const char *path)
{
    const struct smp_profile *profile = s->f->profile;
    const struct smp_group_info *info = counted_group(profile, group);
    const struct smp_node *nodes = smp_tree_nodes(profile->tree);
    char *copy = strdup(path);
    char *rest = path[0] == '\0' ? NULL : copy;
    uint32_t node = info == NULL ? 0 : info->root;

    for (char *name = strsep(&rest, "|"); name != NULL && node != 0; name = strsep(&rest, "|")) {
        char text[100];
        uint32_t child = nodes[node].last_child;
        (void)snprintf(text, sizeof(text), "%s%s", name[0] == '[' ? "" : "app.Shop.", name);
        while (child != 0 && !is_method(profile, nodes[child].location, text))
            child = smp_tree_next_siblings(profile->tree)[child];
        node = child;
    }
    free(copy);
    return node;
}

static int64_t self_of(const struct setting *s, const char *group, const char *path,
                       enum smp_measure measure)
{
    const uint32_t node = node_of_path(s, group, path);

    return node == 0 ? -1 : smp_tree_self(s->f->profile->tree, node, measure);
}

static int64_t calls_of(const struct setting *s, const char *path)
{
    return self_of(s, "main", path, SMP_MEASURE_CALLS);
}

static int64_t wall_of(const struct setting *s, const char *path)
{
    return self_of(s, "main", path, SMP_MEASURE_WALL);
}

static int64_t all_calls(const struct setting *s)
{
    return smp_profile_total(s->f->profile, SMP_MEASURE_CALLS);
}

/* Returns the calls except those under [over memory limit]. */
static int64_t placed_calls(const struct setting *s)
{
    const struct smp_profile *profile = s->f->profile;
    int64_t calls = all_calls(s);

    for (uint32_t i = 0; i < smp_thread_groups_count(profile->groups); i++) {
        const struct smp_group_info *info =
            smp_thread_groups_info(profile->groups, (struct smp_group){ .index = i });
        if (info->kind == SMP_GROUP_COUNTED &&
            self_of(s, info->name, "[over memory limit]", SMP_MEASURE_CALLS) > 0)
            calls -= self_of(s, info->name, "[over memory limit]", SMP_MEASURE_CALLS);
    }
    return calls;
}

static uint64_t figure(const struct setting *s, enum smp_counting counting)
{
    return s->f->profile->counts.account == NULL
               ? 0
               : smp_counting_account_figure(s->f->profile->counts.account, counting);
}

static uint64_t lost(const struct setting *s, enum smp_call_loss loss)
{
    return lost_calls(s->f->profile->counts.account, loss);
}

static void run(const struct setting *s, int64_t ns)
{
    for (int64_t i = 0; i < ns / TICK; i++)
        sampler_fixture_tick(s->f, TICK);
}

static bool was_logged(const struct setting *s, const char *text)
{
    char message[SMP_LOG_MESSAGE_BYTES];
    enum smp_log_level level;
    bool was = false;

    while (smp_log_take(s->f->log, &level, message))
        was = was || strstr(message, text) != NULL;
    return was;
}

/* --- counts --- */

static void without_roots_the_counter_is_not_started(void **state)
{
    struct setting s;

    (void)state;
    begin(&s, "");
    add_thread(&s, "main");
    sampler_fixture_start(s.f);
    assert_int_equal(smp_sampler_idle_ticks(s.f->sampler) > 0, 0); /* a thread is due */
    run(&s, 3 * S);
    smp_sampler_reset_counts(s.f->sampler);
    sampler_fixture_finish(s.f);
    assert_int_equal(s.counter->starts + s.counter->reads + s.counter->position_calls, 0);
    assert_int_equal(s.counter->resets, 0);
    assert_null(s.f->profile->counts.account);
    assert_false(smp_thread_groups_has(s.f->profile->groups, SMP_GROUP_COUNTED));
    assert_int_equal(smp_tree_column(s.f->profile->tree, SMP_MEASURE_CALLS).step, 0);
    end(&s);
}

static void a_profile_has_the_calls_of_the_counter(void **state)
{
    struct setting s;

    (void)state;
    const int thread =
        begin_counted(&s, ROOTS "maxCountedMethods=7\nmaxCallNodes=100\nmaxCallDepth=9\n"
                                "instrumentation=EAGER\nmethodTiming=NONE\n");
    assert_int_equal(s.counter->starts, 1);
    assert_string_equal(s.counter->roots, "app.Shop.handle");
    assert_int_equal(s.counter->plan.max_methods, 7);
    assert_int_equal(s.counter->plan.max_nodes, 100);
    assert_int_equal(s.counter->plan.max_depth, 9);
    assert_int_equal(s.counter->plan.instrumentation, SMP_INSTRUMENTATION_EAGER);
    assert_int_equal(s.counter->plan.timing, SMP_METHOD_TIMING_NONE);
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    fake_counter_call(s.counter, thread, s.methods[1], 10000000);
    fake_counter_enter(s.counter, thread, s.methods[2], false);
    fake_counter_call(s.counter, thread, s.methods[2], 3); /* a recursion */
    run(&s, 2 * S);
    fake_counter_exit(s.counter, thread);
    fake_counter_exit(s.counter, thread);
    sampler_fixture_finish(s.f);
    assert_int_equal(calls_of(&s, "handle"), 1);
    assert_int_equal(calls_of(&s, "handle|load"), 10000000);
    assert_int_equal(calls_of(&s, "handle|parse"), 1);
    assert_int_equal(calls_of(&s, "handle|parse|parse"), 3);
    assert_int_equal(all_calls(&s), 10000005);
    assert_int_equal(counted_group(s.f->profile, "main")->max_depth, 3);
    assert_int_equal(s.counter->position_calls, 0); /* NONE takes no times */
    /* the next interval has only the new calls */
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    fake_counter_call(s.counter, thread, s.methods[1], 4);
    sampler_fixture_finish(s.f);
    assert_int_equal(calls_of(&s, "handle"), 1);
    assert_int_equal(calls_of(&s, "handle|load"), 4);
    assert_int_equal(all_calls(&s), 5);
    /* a callee is found below its callers although these did not change */
    fake_counter_call(s.counter, thread, s.methods[1], 2);
    sampler_fixture_finish(s.f);
    assert_int_equal(calls_of(&s, "handle"), 0);
    assert_int_equal(calls_of(&s, "handle|load"), 2);
    assert_int_equal(counted_group(s.f->profile, "main")->max_depth, 2);
    end(&s);
    assert_true(true);
}

/* Random programs; the reference adds calls by path. */
enum { REFERENCE_PATHS = 400, PROGRAM_THREADS = 4, DEEPEST = 5 };

struct reference {
    char paths[REFERENCE_PATHS][128];
    int64_t calls[REFERENCE_PATHS];
    size_t count;
};

static void reference_add(struct reference *reference, const char *path)
{
    size_t i = 0;

    while (i < reference->count && strcmp(reference->paths[i], path) != 0)
        i++;
    assert_true(i < REFERENCE_PATHS);
    if (i == reference->count)
        (void)snprintf(reference->paths[reference->count++], 128, "%s", path);
    reference->calls[i]++;
}

struct program_thread {
    int thread;
    size_t depth;
    char path[128];          /* of the call that is running */
    size_t lengths[DEEPEST]; /* of the paths of its callers */
};

static void step_program(struct setting *s, struct program_thread *program,
                         struct reference *reference, uint64_t *random)
{
    static const char *const names[METHODS] = { "handle", "load", "parse", "save", "get" };
    const uint64_t what = smp_random_next(random) % 8;
    const size_t method = program->depth == 0 ? 0 : 1 + smp_random_next(random) % (METHODS - 1);

    if (program->depth > 0 && (what < 4 || program->depth == DEEPEST)) {
        fake_counter_exit(s->counter, program->thread);
        program->path[program->lengths[--program->depth]] = '\0';
        return;
    }
    const size_t length = strlen(program->path);
    program->lengths[program->depth] = length;
    (void)snprintf(program->path + length, sizeof(program->path) - length, "%s%s",
                   program->depth == 0 ? "" : "|", names[method]);
    program->depth++;
    fake_counter_enter(s->counter, program->thread, s->methods[method], program->depth == 1);
    reference_add(reference, program->path);
}

static void random_programs_are_counted_to_the_last_call(void **state)
{
    struct setting s;
    struct program_thread programs[PROGRAM_THREADS] = { 0 };
    struct reference *reference = calloc(1, sizeof(*reference));
    uint64_t random = 7;

    (void)state;
    begin(&s, ROOTS);
    for (int i = 0; i < PROGRAM_THREADS; i++)
        programs[i].thread = add_thread(&s, "main");
    sampler_fixture_start(s.f);
    for (int interval = 0; interval < 30; interval++) {
        int64_t sum = 0;
        memset(reference, 0, sizeof(*reference));
        for (int i = 0; i < 300; i++) {
            step_program(&s, &programs[smp_random_next(&random) % PROGRAM_THREADS], reference,
                         &random);
            if (i % 50 == 0)
                sampler_fixture_tick(s.f, TICK * (int64_t)(1 + smp_random_next(&random) % 30));
        }
        sampler_fixture_finish(s.f);
        for (size_t i = 0; i < reference->count; i++) {
            assert_int_equal(calls_of(&s, reference->paths[i]), reference->calls[i]);
            sum += reference->calls[i];
        }
        assert_int_equal(all_calls(&s), sum);
    }
    free(reference);
    end(&s);
}

static void threads_of_a_group_share_a_tree(void **state)
{
    struct setting s;

    (void)state;
    begin(&s, ROOTS);
    for (int i = 0; i < 3; i++) {
        char name[20];
        (void)snprintf(name, sizeof(name), "pool-%d", i);
        const int thread = add_thread(&s, strdup(name));
        fake_counter_enter(s.counter, thread, s.methods[0], true);
        fake_counter_call(s.counter, thread, s.methods[1], 2);
    }
    sampler_fixture_start(s.f);
    sampler_fixture_finish(s.f);
    assert_int_equal(self_of(&s, "pool-", "handle", SMP_MEASURE_CALLS), 3);
    assert_int_equal(self_of(&s, "pool-", "handle|load", SMP_MEASURE_CALLS), 6);
    assert_int_equal(counted_group(s.f->profile, "pool-")->thread_count, 3);
    for (int i = 0; i < 3; i++)
        free((char *)(uintptr_t)s.counter->threads[i].thread.name);
    end(&s);
}

static void calls_of_ended_threads_stay_with_their_group(void **state)
{
    struct smp_sampler_figures live;
    struct setting s;

    (void)state;
    begin(&s, ROOTS);
    struct fake_thread *ending = fake_jvm_start(s.f->vm, "main");
    fake_jvm_run(s.f->vm, ending, "java.lang.Thread.run|app.Shop.handle");
    const int known = fake_counter_thread(s.counter, ending->thread.serial, "main");
    const int unknown = fake_counter_thread(s.counter, 0, "short-"); /* a virtual thread */
    const int nameless = fake_counter_thread(s.counter, 0, NULL);
    sampler_fixture_start(s.f);
    fake_counter_enter(s.counter, known, s.methods[0], true);
    run(&s, S); /* this read learns its group */
    fake_counter_call(s.counter, known, s.methods[1], 5);
    fake_counter_exit(s.counter, known);
    fake_counter_enter(s.counter, unknown, s.methods[0], true);
    fake_counter_enter(s.counter, nameless, s.methods[0], true);
    fake_counter_enter(s.counter, known, s.methods[0], true);
    run(&s, 2 * TICK);
    fake_jvm_end(s.f->vm, ending);
    run(&s, 2 * TICK);
    fake_counter_end(s.counter, known);
    fake_counter_end(s.counter, unknown);
    fake_counter_end(s.counter, nameless);
    sampler_fixture_finish(s.f);
    assert_int_equal(calls_of(&s, "handle|load"), 5);
    assert_int_equal(calls_of(&s, "handle"), 2);
    assert_int_equal(wall_of(&s, "handle"), S + 2 * TICK);
    assert_int_equal(self_of(&s, "short-", "handle", SMP_MEASURE_CALLS), 1);
    assert_int_equal(self_of(&s, "[virtual threads]", "handle", SMP_MEASURE_CALLS), 1);
    assert_int_equal(all_calls(&s), 9);
    /* its trees were freed */
    smp_sampler_get_figures(s.f->sampler, &live);
    const size_t before = live.source.counting_bytes;
    for (int i = 0; i < 200; i++) {
        const int more = fake_counter_thread(s.counter, 0, "short-18");
        fake_counter_enter(s.counter, more, s.methods[0], true);
        fake_counter_end(s.counter, more);
        run(&s, S);
    }
    smp_sampler_get_figures(s.f->sampler, &live);
    assert_in_range(live.source.counting_bytes, 1, before + 1000);
    end(&s);
}

static void a_thread_that_ends_before_the_first_read_is_known_from_a_tick(void **state)
{
    struct setting s;

    (void)state;
    begin(&s, ROOTS);
    struct fake_thread *ending = fake_jvm_start(s.f->vm, "main");
    fake_jvm_run(s.f->vm, ending, "java.lang.Thread.run|app.Shop.handle");
    const int thread = fake_counter_thread(s.counter, ending->thread.serial, NULL);
    sampler_fixture_start(s.f);
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    run(&s, 2 * TICK);
    fake_jvm_end(s.f->vm, ending);
    fake_counter_end(s.counter, thread);
    run(&s, 2 * TICK);
    assert_int_equal(s.counter->reads, 0);
    sampler_fixture_finish(s.f);
    assert_int_equal(calls_of(&s, "handle"), 1);
    assert_int_equal(wall_of(&s, "handle"), 2 * TICK);
    end(&s);
}

/* It has a record, but its name cannot be read any more. */
static void calls_of_a_thread_that_ends_before_it_is_named_are_counted(void **state)
{
    struct setting s;

    (void)state;
    begin_counted(&s, ROOTS);
    run(&s, TICK);
    for (int i = 0; i < 3; i++) {
        struct fake_thread *ending = fake_jvm_start(s.f->vm, "child-1");
        const int thread = fake_counter_thread(s.counter, ending->thread.serial, NULL);
        fake_counter_enter(s.counter, thread, s.methods[0], true);
        fake_counter_call(s.counter, thread, s.methods[1], 2);
        fake_counter_exit(s.counter, thread);
        if (i == 1)
            fake_jvm_fail_name(s.f->vm, ending, SMP_EGONE); /* it is about to end */
        else
            fake_jvm_end(s.f->vm, ending);
        fake_counter_end(s.counter, thread);
        if (i == 2)
            run(&s, S); /* the read comes after its record was freed */
        sampler_fixture_finish(s.f);
        assert_int_equal(self_of(&s, "[ended threads]", "handle", SMP_MEASURE_CALLS), 1);
        assert_int_equal(self_of(&s, "[ended threads]", "handle|load", SMP_MEASURE_CALLS), 2);
        assert_int_equal(all_calls(&s), 3);
    }
    end(&s);
}

/* Runs more threads than an interval remembers. */
static void run_a_crowd(struct setting *s)
{
    enum { TICKS = 300, AT_A_TIME = 20 };
    struct fake_thread *threads[AT_A_TIME];

    for (int i = 0; i < TICKS; i++) {
        for (size_t k = 0; k < AT_A_TIME; k++) {
            threads[k] = fake_jvm_start(s->f->vm, "request");
            fake_jvm_run(s->f->vm, threads[k], "java.lang.Thread.run");
        }
        run(s, TICK);
        for (size_t k = 0; k < AT_A_TIME; k++)
            fake_jvm_end(s->f->vm, threads[k]);
    }
}

static void count_root(const struct setting *s, int thread)
{
    fake_counter_enter(s->counter, thread, s->methods[0], true);
    fake_counter_exit(s->counter, thread);
}

/* It starts after the last tick of an interval and ends before the next one: calls of both
 * intervals are counted, and it is counted as one thread. */
static void a_thread_that_no_tick_has_seen_is_counted_once(void **state)
{
    const struct smp_merge_limits limits[] = { { 1 << 20, 1 << 19, 1 << 19 }, { 0, 0, 0 } };
    struct smp_profile *parts[2];
    struct setting s;

    (void)state;
    begin_counted(&s, ROOTS "memoryLimitBytes=4194304\n");
    run(&s, TICK);
    struct fake_thread *const unseen = fake_jvm_start(s.f->vm, "child-1");
    const int thread = fake_counter_thread(s.counter, unseen->thread.serial, NULL);
    count_root(&s, thread);
    parts[0] = smp_profile_hold(sampler_fixture_finish(s.f));
    count_root(&s, thread);
    fake_jvm_end(s.f->vm, unseen);
    fake_counter_end(s.counter, thread);
    run_a_crowd(&s);
    parts[1] = smp_profile_hold(sampler_fixture_finish(s.f));
    for (size_t i = 0; i < 2; i++) {
        struct smp_profile *merged = NULL;
        assert_int_equal(counted_group(parts[i], "[ended threads]")->thread_count, 1);
        assert_int_equal(smp_profile_merge_within(NULL, (const struct smp_profile *const *)parts, 2,
                                                  limits[i], &merged),
                         SMP_OK);
        assert_int_equal(counted_group(merged, "[ended threads]")->thread_count, 1);
        smp_profile_release(merged);
    }
    smp_profile_release(parts[0]);
    smp_profile_release(parts[1]);
    end(&s);
}

static enum smp_naming name_by_rule(void *self, const struct fake_thread *thread, char *out,
                                    size_t size)
{
    (void)self;
    if (strcmp(thread->name, "secret") == 0)
        return SMP_NAMING_SKIP;
    (void)snprintf(out, size, "by rule");
    return SMP_NAMING_NAMED;
}

static void counted_groups_follow_the_name_rule(void **state)
{
    struct setting s;

    (void)state;
    begin(&s, ROOTS "defaultThreadNameRule=false\n");
    fake_jvm_set_rule(s.f->vm, name_by_rule, NULL);
    const int thread = add_thread(&s, "main");
    const int secret = add_thread(&s, "secret");
    sampler_fixture_start(s.f);
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    fake_counter_enter(s.counter, secret, s.methods[0], true);
    run(&s, S);
    sampler_fixture_finish(s.f);
    assert_int_equal(self_of(&s, "by rule", "handle", SMP_MEASURE_CALLS), 1);
    assert_int_equal(all_calls(&s), 1);
    end(&s);
}

static void calls_go_to_the_current_group_of_the_thread(void **state)
{
    struct setting s;

    (void)state;
    begin(&s, ROOTS);
    struct fake_thread *renamed = fake_jvm_start(s.f->vm, "main");
    fake_jvm_run(s.f->vm, renamed, "java.lang.Thread.run");
    const int thread = fake_counter_thread(s.counter, renamed->thread.serial, "main");
    sampler_fixture_start(s.f);
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    fake_counter_call(s.counter, thread, s.methods[1], 3);
    run(&s, 2 * S);
    fake_jvm_rename(s.f->vm, renamed, "other");
    run(&s, 20 * S);
    fake_counter_call(s.counter, thread, s.methods[1], 4);
    run(&s, 2 * S);
    sampler_fixture_finish(s.f);
    assert_int_equal(calls_of(&s, "handle|load"), 3);
    assert_int_equal(self_of(&s, "other", "handle|load", SMP_MEASURE_CALLS), 4);
    assert_int_equal(self_of(&s, "other", "handle", SMP_MEASURE_CALLS), 0);
    end(&s);
}

static void threads_that_are_not_sampled_are_not_counted(void **state)
{
    struct setting s;

    (void)state;
    begin(&s, ROOTS "skipDaemonThreads=true\n");
    struct fake_thread *daemon = fake_jvm_start_as(s.f->vm, "daemon", true, false);
    fake_jvm_run(s.f->vm, daemon, "java.lang.Thread.run");
    const int left_out = fake_counter_thread(s.counter, daemon->thread.serial, "daemon");
    const int is_virtual = fake_counter_thread(s.counter, 0, "virtual");
    const int thread = add_thread(&s, "main");
    sampler_fixture_start(s.f);
    fake_counter_enter(s.counter, left_out, s.methods[0], true);
    fake_counter_enter(s.counter, is_virtual, s.methods[0], true);
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    run(&s, 2 * S);
    sampler_fixture_finish(s.f);
    assert_int_equal(all_calls(&s), 1);
    assert_int_equal(calls_of(&s, "handle"), 1);
    assert_int_equal(lost(&s, SMP_LOST_OVER_MEMORY), 0);
    end(&s);
}

/* --- times --- */

/* Adds a thread for the sampler and the counter, whose clock the test advances. */
static struct fake_thread *add_running_thread(struct setting *s, int *counted)
{
    struct fake_thread *thread = fake_jvm_start(s->f->vm, "main");

    fake_jvm_identify(thread, 77);
    *counted = fake_counter_thread(s->counter, thread->thread.serial, "main");
    return thread;
}

/* Starts a sampler with such a thread and this stack. */
static struct fake_thread *begin_running(struct setting *s, const char *options, const char *stack,
                                         int *counted)
{
    struct fake_thread *thread = NULL;

    begin(s, options);
    thread = add_running_thread(s, counted);
    fake_jvm_run(s->f->vm, thread, stack);
    sampler_fixture_start(s->f);
    return thread;
}

/* Lets the thread run in this stack for this time. */
static void run_in(struct setting *s, struct fake_thread *thread, const char *stack, int64_t ns)
{
    fake_jvm_run(s->f->vm, thread, stack);
    cpu_ns_of_reading = 1; /* it also runs while it is polled */
    for (int64_t i = 0; i < ns / TICK; i++) {
        cpu_ns_of_thread += TICK;
        run(s, TICK);
    }
    cpu_ns_of_reading = 0;
}

/* Frames without counted calls between frames with counted calls are passed over. */
static void counted_calls_have_the_time_of_the_stacks_that_lead_to_them(void **state)
{
    struct setting s;
    int thread = 0;

    (void)state;
    struct fake_thread *const sampled =
        begin_running(&s, ROOTS "reportJvmThreads=false\n", "java.lang.Thread.run", &thread);
    run_in(&s, sampled, "java.lang.Thread.run", S); /* outside all roots */
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    run_in(&s, sampled, "java.lang.Thread.run|app.Shop.handle@1", 4 * TICK);
    fake_counter_enter(s.counter, thread, s.methods[1], false);
    run_in(&s, sampled, "java.lang.Thread.run|app.Shop.handle@2|lib.Proxy.call|app.Shop.load", S);
    run_in(&s, sampled, "java.lang.Thread.run|app.Shop.handle@2|app.Shop.load@3|lib.Io.read", S);
    run_in(&s, sampled, "java.lang.Thread.run|app.Shop.load|app.Shop.handle|app.Other.load", S);
    fake_counter_exit(s.counter, thread);
    fake_counter_exit(s.counter, thread);
    run_in(&s, sampled, "java.lang.Thread.run", TICK);
    sampler_fixture_finish(s.f);
    assert_int_equal(wall_of(&s, "handle"), S + 4 * TICK);
    assert_int_equal(wall_of(&s, "handle|load"), 2 * S);
    for (int i = 0; i < 2; i++) {
        const enum smp_measure of[] = { SMP_MEASURE_CPU, SMP_MEASURE_RUNNING };
        assert_in_range(self_of(&s, "main", "handle|load", of[i]), 2 * S - 1000, 2 * S + 1000);
        assert_in_range(self_of(&s, "main", "handle", of[i]), S + 4 * TICK - 1000,
                        S + 4 * TICK + 1000);
    }
    end(&s);
}

/* A stack may lack inlined frames; the thread itself reports its call. A sample in a probe belongs
 * to no counted row. Sampled rows are the same as without counting. */
static void time_goes_to_the_call_that_the_thread_reports(void **state)
{
    struct setting s;
    int thread = 0;

    (void)state;
    struct fake_thread *const sampled =
        begin_running(&s, ROOTS "reportJvmThreads=false\n", "app.Shop.handle", &thread);
    const struct fake_counted_thread *const counted = &s.counter->threads[thread];
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    fake_counter_enter(s.counter, thread, s.methods[1], false);
    run(&s, 2 * S); /* a read, so that the following calls are known */
    sampler_fixture_finish(s.f);
    for (int i = 0; i < 2; i++) {
        sampled->spot =
            (struct smp_call_spot){ .tree = counted->thread.tree, .ordinal = counted->position };
        run_in(&s, sampled, "app.Shop.handle", S);
        sampled->spot.is_in_hook = true;
        run_in(&s, sampled, "app.Shop.handle", 4 * TICK);
        sampled->spot = (struct smp_call_spot){ 0 };
        run_in(&s, sampled, "app.Shop.handle", 3 * TICK);
        sampler_fixture_finish(s.f);
        assert_int_equal(wall_of(&s, "handle|load"), S);
        assert_int_equal(wall_of(&s, "handle"), 3 * TICK);
        assert_int_equal(counted_group(s.f->profile, "main")->hook_ns, 4 * TICK);
        assert_int_equal(sampler_fixture_self(s.f, "main", "app.Shop.handle(F.java:1)"),
                         S + 7 * TICK);
        assert_in_range(self_of(&s, "main", "handle|load", SMP_MEASURE_CPU), S - 1000, S + 1000);
    }
    end(&s);
}

static void counted_calls_have_times_by_state(void **state)
{
    struct setting s;
    int thread = 0;

    (void)state;
    (void)begin_running(&s, ROOTS "reportJvmThreads=false\n",
                        "java.lang.Thread.run|app.Shop.handle|java.lang.Thread.sleep", &thread);
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    run(&s, 2 * S);
    sampler_fixture_finish(s.f);
    assert_int_equal(wall_of(&s, "handle"), 2 * S);
    assert_int_equal(self_of(&s, "main", "handle", SMP_MEASURE_WAITING), 2 * S);
    assert_int_equal(self_of(&s, "main", "handle", SMP_MEASURE_CPU), 0);
    end(&s);
}

static void with_the_clock_cpu_all_times_are_cpu_times(void **state)
{
    struct setting s;
    int thread = 0;

    (void)state;
    struct fake_thread *const sampled =
        begin_running(&s, ROOTS "clock=CPU\n", "java.lang.Thread.run|app.Shop.handle", &thread);
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    run(&s, 10 * TICK); /* the thread waits */
    fake_jvm_run(s.f->vm, sampled, "java.lang.Thread.run|app.Shop.handle|app.Shop.load");
    fake_counter_enter(s.counter, thread, s.methods[1], false);
    fake_jvm_expire(s.f->vm, sampled, 3);
    run(&s, TICK);
    sampler_fixture_finish(s.f);
    assert_int_equal(wall_of(&s, "handle"), 0);
    assert_int_equal(wall_of(&s, "handle|load"), 3 * TICK);
    end(&s);
}

/* The counter's times include the times of callees. */
static void exact_times_become_own_times(void **state)
{
    struct setting s;
    int64_t sum = 0;

    (void)state;
    const int thread = begin_counted(&s, ROOTS "methodTiming=EXACT\n");
    for (int i = 0; i < 3; i++) {
        fake_counter_enter(s.counter, thread, s.methods[0], true);
        fake_clock_advance(&s.f->clock, 7 * MS);
        fake_counter_enter(s.counter, thread, s.methods[1], false);
        fake_clock_advance(&s.f->clock, 11 * MS);
        fake_counter_enter(s.counter, thread, s.methods[1], false);
        fake_clock_advance(&s.f->clock, 2 * MS);
        run(&s, TICK); /* time goes to no node at this tick */
        fake_counter_exit(s.counter, thread);
        fake_counter_exit(s.counter, thread);
        if (i < 2) {
            fake_clock_advance(&s.f->clock, 1 * MS);
            fake_counter_exit(s.counter, thread);
        }
    }
    sampler_fixture_finish(s.f);
    assert_int_equal(wall_of(&s, "handle"), 3 * 7 * MS + 2 * MS);
    assert_int_equal(wall_of(&s, "handle|load"), 3 * 11 * MS);
    assert_int_equal(wall_of(&s, "handle|load|load"), 3 * (2 * MS + TICK));
    sum = wall_of(&s, "handle") + wall_of(&s, "handle|load") + wall_of(&s, "handle|load|load");
    /* the running call continues in the next interval */
    fake_clock_advance(&s.f->clock, 5 * MS);
    fake_counter_exit(s.counter, thread);
    sampler_fixture_finish(s.f);
    assert_int_equal(wall_of(&s, "handle"), 5 * MS);
    assert_int_equal(sum + 5 * MS, 3 * (20 * MS + TICK) + 2 * MS + 5 * MS);
    assert_int_equal(self_of(&s, "main", "handle", SMP_MEASURE_CPU), 0);
    end(&s);
}

/* Ticks measure how long threads are in probes around calls; this time is subtracted from callers
 * according to their calls. */
static void exact_times_exclude_the_time_in_probes(void **state)
{
    struct setting s;

    (void)state;
    const int thread = begin_in_root(&s, ROOTS "methodTiming=EXACT\n");
    run(&s, 10 * TICK);
    for (int i = 0; i < 9; i++) {
        fake_counter_enter(s.counter, thread, s.methods[1], false);
        fake_clock_advance(&s.f->clock, MS);
        fake_counter_exit(s.counter, thread);
    }
    s.counter->threads[thread].is_in_hook = true;
    run(&s, 5 * TICK);
    s.counter->threads[thread].is_in_hook = false;
    sampler_fixture_finish(s.f);
    /* The tick after the callees includes their time, too. */
    const int64_t hook_ns = counted_group(s.f->profile, "main")->hook_ns;
    assert_int_equal(hook_ns, 5 * TICK + 9 * MS);
    assert_int_equal(wall_of(&s, "handle|load"), 9 * MS);
    assert_int_equal(wall_of(&s, "handle"), 15 * TICK - hook_ns * 9 / 10);
    run(&s, 2 * TICK);
    fake_counter_enter(s.counter, thread, s.methods[1], false);
    fake_counter_exit(s.counter, thread);
    sampler_fixture_finish(s.f);
    assert_int_equal(wall_of(&s, "handle"), 2 * TICK);
    end(&s);
}

/* Time of a probe between the stamps of its call is part of the call's time, but not for roots:
 * all of the counter's time in a root's probe is outside its stamps. */
static void the_cost_of_probes_is_subtracted_from_their_calls(void **state)
{
    struct setting s;

    (void)state;
    const int thread = begin_in_root(&s, ROOTS "methodTiming=EXACT\n");
    run(&s, 10 * TICK);
    for (int i = 0; i < 9; i++) {
        fake_counter_enter(s.counter, thread, s.methods[1], false);
        s.counter->threads[thread].is_in_hook = true;
        s.counter->threads[thread].is_between_stamps = true;
        run(&s, TICK);
        s.counter->threads[thread].is_in_hook = false;
        s.counter->threads[thread].is_between_stamps = false;
        run(&s, 2 * TICK);
        fake_counter_exit(s.counter, thread);
    }
    sampler_fixture_finish(s.f);
    assert_int_equal(counted_group(s.f->profile, "main")->hook_ns, 9 * TICK);
    assert_int_equal(wall_of(&s, "handle"), 10 * TICK);
    assert_int_equal(wall_of(&s, "handle|load"), 9 * 2 * TICK);
    end(&s);
}

/* A caller is read before its callees, which continue to run until they are read: its own time
 * becomes negative, and later reads make up for it. */
static void times_of_reads_that_take_time_add_up(void **state)
{
    struct setting s;
    int64_t sum_ns = 0;
    int64_t began_ns;

    (void)state;
    const int thread = begin_counted(&s, ROOTS "methodTiming=EXACT\n");
    began_ns = sampler_fixture_now(s.f);
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    fake_counter_enter(s.counter, thread, s.methods[1], false);
    fake_counter_enter(s.counter, thread, s.methods[2], false);
    for (int i = 0; i < 20; i++) {
        fake_clock_advance(&s.f->clock, MS);
        atomic_store(&s.f->clock.step_ns, i < 19 ? 1000 : 0);
        sampler_fixture_finish(s.f);
        sum_ns += tree_wall(s.f->profile->tree, counted_group(s.f->profile, "main")->root);
    }
    /* The root's last reading is at most a few steps older than those of its callees. */
    assert_in_range(sum_ns, 20 * MS, sampler_fixture_now(s.f) - began_ns + 3000);
    assert_int_equal(wall_of(&s, "handle") > 0, false);
    end(&s);
}

/* The counter has already applied the name rule. */
static void virtual_threads_are_in_the_group_named_by_the_counter(void **state)
{
    struct setting s;

    (void)state;
    begin(&s, ROOTS);
    add_thread(&s, "main");
    sampler_fixture_start(s.f);
    for (int i = 0; i < 3; i++) {
        const int thread = fake_counter_thread(s.counter, 0, "order-1");
        fake_counter_enter(s.counter, thread, s.methods[0], true);
    }
    fake_counter_enter(s.counter, fake_counter_thread(s.counter, 0, NULL), s.methods[0], true);
    run(&s, 2 * S);
    sampler_fixture_finish(s.f);
    assert_int_equal(self_of(&s, "order-1", "handle", SMP_MEASURE_CALLS), 3);
    assert_int_equal(self_of(&s, "[virtual threads]", "handle", SMP_MEASURE_CALLS), 1);
    const struct smp_group_info *info = counted_group(s.f->profile, "order-1");
    assert_int_equal(info->thread_count, 1);
    assert_string_equal(info->names[0], "virtual threads");
    end(&s);
}

static void roots_have_their_shortest_and_longest_call(void **state)
{
    static const int64_t took_ms[] = { 5, 1, 9 };
    struct setting s;

    (void)state;
    const int thread = begin_counted(&s, ROOTS);
    for (int i = 0; i < 3; i++) {
        fake_counter_enter(s.counter, thread, s.methods[0], true);
        fake_clock_advance(&s.f->clock, took_ms[i] * MS);
        fake_counter_exit(s.counter, thread);
        run(&s, 2 * S); /* a read in the meantime */
    }
    sampler_fixture_finish(s.f);
    const struct smp_root_time *time =
        smp_root_times_find(s.f->profile->counts.root_times, node_of_path(&s, "main", "handle"));
    assert_non_null(time);
    assert_int_equal(time->calls, 3);
    assert_int_equal(time->total_ns, 15 * MS);
    assert_int_equal(time->min_ns, 1 * MS);
    assert_int_equal(time->max_ns, 9 * MS);
    sampler_fixture_finish(s.f);
    assert_int_equal(smp_root_times_count(s.f->profile->counts.root_times), 0);
    end(&s);
}

static void with_exact_timing_each_method_has_its_shortest_and_longest_call(void **state)
{
    static const int64_t took_ms[] = { 7, 2, 4 };
    struct setting s;

    (void)state;
    const int thread = begin_counted(&s, ROOTS "methodTiming=EXACT\n");
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    for (int i = 0; i < 3; i++) {
        fake_counter_enter(s.counter, thread, s.methods[1], false);
        fake_clock_advance(&s.f->clock, took_ms[i] * MS);
        fake_counter_exit(s.counter, thread);
        run(&s, 2 * S); /* a read in the meantime */
    }
    sampler_fixture_finish(s.f);
    const struct smp_root_times *const times = s.f->profile->counts.root_times;
    const struct smp_root_time *const time =
        smp_root_times_find(times, node_of_path(&s, "main", "handle|load"));
    assert_non_null(time);
    assert_int_equal(time->calls, 3);
    assert_int_equal(time->total_ns, 13 * MS);
    assert_int_equal(time->min_ns, 2 * MS);
    assert_int_equal(time->max_ns, 7 * MS);
    /* it is still running */
    assert_null(smp_root_times_find(times, node_of_path(&s, "main", "handle")));
    end(&s);
}

/* Above the limit each tick polls only a part of the threads, with the inverse weight. */
static void many_threads_are_polled_in_part(void **state)
{
    struct setting s;
    int64_t all_ns = 0;

    (void)state;
    begin(&s, ROOTS "overheadLimitPerMille=1\nmethodTiming=EXACT\n");
    add_thread(&s, "main");
    for (int i = 0; i < 2000; i++) {
        const int thread = fake_counter_thread(s.counter, 0, "virtual");
        fake_counter_enter(s.counter, thread, s.methods[0], true);
        s.counter->threads[thread].is_in_hook = true;
    }
    sampler_fixture_start(s.f);
    run(&s, 200 * TICK);
    sampler_fixture_finish(s.f);
    all_ns = 2000 * 200 * TICK;
    /* the fake clock reports no cost */
    assert_int_equal(counted_group(s.f->profile, "virtual")->hook_ns, all_ns);
    s.counter->clock = &s.f->clock;
    s.counter->place_cost_ns = 10000;
    run(&s, 20 * TICK);
    sampler_fixture_finish(s.f);
    run(&s, 200 * TICK);
    sampler_fixture_finish(s.f);
    const int64_t in_part_ns = counted_group(s.f->profile, "virtual")->hook_ns;
    assert_in_range(in_part_ns, all_ns - all_ns / 30, all_ns + all_ns / 30);
    assert_int_not_equal(in_part_ns, all_ns);
    end(&s);
}

/* --- reset --- */

static void a_reset_restarts_counts_at_zero(void **state)
{
    struct setting s;

    (void)state;
    const int thread = begin_in_root(&s, ROOTS);
    fake_counter_call(s.counter, thread, s.methods[1], 100);
    s.counter->threads[thread].uncounted = 9;
    run(&s, 3 * S); /* credited partly */
    fake_counter_call(s.counter, thread, s.methods[1], 50);
    run(&s, 2 * TICK);
    smp_sampler_reset_counts(s.f->sampler);
    fake_counter_call(s.counter, thread, s.methods[1], 7);
    run(&s, 3 * TICK);
    sampler_fixture_finish(s.f);
    assert_int_equal(calls_of(&s, "handle"), 0);
    assert_int_equal(calls_of(&s, "handle|load"), 7);
    assert_int_equal(wall_of(&s, "handle"), 3 * TICK);
    assert_int_equal(lost(&s, SMP_LOST_OVER_NODES), 0);
    assert_null(s.f->profile->counts.root_times);
    /* sampled time is kept */
    assert_int_equal(sampler_fixture_total(s.f, "main", ""), 3 * S + 5 * TICK);
    end(&s);
}

/* No counted row exists yet, and rows that appear later do not contain the time sampled before. */
static void a_reset_before_the_first_read_discards_times_too(void **state)
{
    struct setting s;

    (void)state;
    (void)begin_in_root(&s, ROOTS);
    run(&s, 2 * TICK);
    assert_int_equal(s.counter->reads, 0);
    smp_sampler_reset_counts(s.f->sampler);
    run(&s, 3 * TICK);
    sampler_fixture_finish(s.f);
    assert_int_equal(wall_of(&s, "handle"), 3 * TICK);
    assert_int_equal(sampler_fixture_total(s.f, "main", ""), 5 * TICK);
    end(&s);
}

static void warm_up_is_discarded_once_no_new_method_appears(void **state)
{
    struct setting s;

    (void)state;
    const int thread = begin_counted(&s, ROOTS "discardWarmUp=true\n");
    run(&s, 10 * S); /* no root was entered, so nothing is warm */
    assert_int_equal(s.counter->resets, 0);
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    for (int i = 0; i < 5; i++) {
        s.counter->figures.batches++;
        run(&s, 2 * S);
    }
    assert_int_equal(s.counter->resets, 0);
    s.counter->figures.has_work = true;
    run(&s, 10 * S);
    assert_int_equal(s.counter->resets, 0);
    s.counter->figures.has_work = false;
    run(&s, 4 * S);
    assert_int_equal(s.counter->resets, 1);
    s.counter->figures.batches++;
    run(&s, 10 * S);
    assert_int_equal(s.counter->resets, 1); /* only once */
    end(&s);
}

static void calls_of_a_pause_are_not_counted(void **state)
{
    struct setting s;

    (void)state;
    const int thread = begin_in_root(&s, ROOTS);
    fake_counter_call(s.counter, thread, s.methods[1], 3);
    run(&s, S);
    sampler_fixture_pause(s.f);
    fake_counter_call(s.counter, thread, s.methods[1], 1000);
    fake_clock_advance(&s.f->clock, 100 * S);
    sampler_fixture_start(s.f);
    fake_counter_call(s.counter, thread, s.methods[1], 4);
    run(&s, S);
    sampler_fixture_finish(s.f);
    assert_int_equal(calls_of(&s, "handle|load"), 7);
    assert_int_equal(wall_of(&s, "handle"), 2 * S);
    assert_int_equal(s.counter->starts, 1);
    end(&s);
}

/* --- what goes wrong --- */

static void a_refusal_of_the_counter_is_reported_and_sampling_continues(void **state)
{
    struct setting s;

    (void)state;
    begin(&s, ROOTS);
    add_thread(&s, "main");
    s.counter->start_status = SMP_ESTATE;
    sampler_fixture_start(s.f);
    run(&s, S);
    assert_true(was_logged(&s, "rootMethods has no effect: a fake counter refuses"));
    sampler_fixture_pause(s.f);
    sampler_fixture_start(s.f);
    run(&s, S);
    assert_false(was_logged(&s, "rootMethods"));
    sampler_fixture_finish(s.f);
    assert_int_equal(s.counter->starts, 1);
    assert_int_equal(s.counter->reads + s.counter->stops, 0);
    assert_int_equal(sampler_fixture_total(s.f, "main", ""), 2 * S);
    assert_null(s.f->profile->counts.account);
    end(&s);
}

/* The refusal is reported in the same tick. */
static void a_refusal_is_reported_beside_that_of_another_source(void **state)
{
    char message[SMP_LOG_MESSAGE_BYTES];
    enum smp_log_level level;
    struct setting s;

    (void)state;
    begin(&s, ROOTS "sampleUnmountedVirtualThreads=true\n");
    s.counter->start_status = SMP_ESTATE;
    sampler_fixture_start(s.f);
    assert_true(smp_log_take(s.f->log, &level, message));
    assert_string_equal(message, "rootMethods has no effect: a fake counter refuses");
    assert_true(was_logged(&s, "sampleUnmountedVirtualThreads has no effect: a fake JVM"));
    end(&s);
}

static void a_jvm_without_a_counter_is_reported(void **state)
{
    struct setting s = { 0 };

    (void)state;
    s.f = sampler_fixture_create(ROOTS);
    sampler_fixture_start(s.f);
    assert_true(was_logged(&s, "rootMethods has no effect: this JVM does not let methods be"));
    sampler_fixture_finish(s.f);
    sampler_fixture_destroy(s.f);
}

static void counting_stops_with_the_session(void **state)
{
    struct setting s;

    (void)state;
    begin(&s, ROOTS);
    sampler_fixture_start(s.f);
    sampler_fixture_destroy(s.f);
    assert_int_equal(s.counter->stops, 1);
    fake_counter_destroy(s.counter);
}

static void short_methods_that_are_called_often_lose_their_probes(void **state)
{
    struct setting s;

    (void)state;
    const int thread = begin_counted(&s, ROOTS);
    for (int i = 0; i < 10; i++) {
        fake_counter_enter(s.counter, thread, s.methods[0], true);
        /* 0.5 s of probes per second */
        fake_counter_call(s.counter, thread, s.methods[4], 50000000);
        fake_counter_call(s.counter, thread, s.methods[3], 5);
        s.counter->threads[thread].nodes[s.counter->threads[thread].position].calls += 60000000;
        run(&s, S);
        fake_counter_exit(s.counter, thread);
    }
    assert_int_equal(s.counter->dropped_count > 0, 1);
    assert_int_equal(s.counter->dropped[0], s.methods[4]);
    for (size_t i = 0; i < s.counter->dropped_count; i++)
        assert_int_not_equal(s.counter->dropped[i], s.methods[0]); /* no root loses its probe */
    end(&s);
}

/* 50 million calls per second of two roots below the outermost one, which is long. */
static void short_roots_lose_their_probes_unless_they_are_kept(void **state)
{
    struct setting s;

    (void)state;
    const int thread = begin_counted(&s, ROOTS);
    s.counter->methods[s.methods[3]].is_kept = true;
    for (int i = 0; i < 10; i++) {
        fake_counter_enter(s.counter, thread, s.methods[0], true);
        for (int m = 3; m <= 4; m++) {
            fake_counter_enter(s.counter, thread, s.methods[m], true);
            struct fake_call_node *const root =
                &s.counter->threads[thread].nodes[s.counter->threads[thread].position];
            fake_counter_exit(s.counter, thread);
            root->calls += 50000000;
            root->ended += 50000000;
        }
        s.counter->threads[thread].nodes[s.counter->threads[thread].position].calls += 60000000;
        run(&s, S);
        fake_counter_exit(s.counter, thread);
    }
    assert_true(s.counter->dropped_count > 0);
    for (size_t i = 0; i < s.counter->dropped_count; i++)
        assert_int_equal(s.counter->dropped[i], s.methods[4]);
    end(&s);
}

static bool drops_with(int64_t without_a_node)
{
    struct setting s;

    begin(&s, ROOTS);
    const int thread = add_thread(&s, "main");
    sampler_fixture_start(s.f);
    for (int i = 0; i < 10; i++) {
        fake_counter_enter(s.counter, thread, s.methods[0], true);
        fake_counter_call(s.counter, thread, s.methods[4], 1000);
        s.counter->threads[thread].uncounted = without_a_node;
        run(&s, S);
        fake_counter_exit(s.counter, thread);
    }
    const bool has_dropped = s.counter->dropped_count > 0;
    if (has_dropped)
        assert_int_equal(s.counter->dropped[0], s.methods[4]);
    end(&s);
    return has_dropped;
}

/* These calls run probes like others; if a tree is full they may be nearly all calls. */
static void calls_without_a_node_count_for_the_limit(void **state)
{
    (void)state;
    assert_false(drops_with(0));
    assert_true(drops_with(50000000));
    assert_true(drops_with(INT64_MAX / 64));
}

static void lost_calls_are_in_the_account(void **state)
{
    struct setting s;

    (void)state;
    const int thread = begin_counted(&s, ROOTS);
    s.counter->figures.batches = 3;
    s.counter->figures.methods = 17;
    fake_counter_enter(s.counter, thread, s.methods[0], true);
    s.counter->threads[thread].uncounted = 12345;
    run(&s, S);
    s.counter->threads[thread].uncounted = 5;
    sampler_fixture_finish(s.f);
    assert_int_equal(lost(&s, SMP_LOST_OVER_NODES), 12350);
    assert_int_equal(figure(&s, SMP_COUNTING_INSTRUMENTED), 17);
    assert_int_equal(figure(&s, SMP_COUNTING_BATCHES), 3);
    sampler_fixture_finish(s.f);
    assert_int_equal(lost(&s, SMP_LOST_OVER_NODES), 0);
    assert_int_equal(figure(&s, SMP_COUNTING_INSTRUMENTED), 17);
    assert_int_equal(figure(&s, SMP_COUNTING_BATCHES), 0);
    end(&s);
}

/* They are passed on repeatedly; below a method that still waits for its probe no method counts as
 * called. */
static void sampled_methods_are_reported_to_the_counter(void **state)
{
    static const char SHOWN[] = "java.lang.Thread.run app.Shop.root +java.util.List.sort "
                                "+app.Order.compare +app.Order.waits "
                                "app.Order.late ";
    struct setting s;

    (void)state;
    begin(&s, ROOTS);
    struct fake_thread *thread = fake_jvm_start(s.f->vm, "main");
    fake_jvm_run(s.f->vm, thread,
                 "java.lang.Thread.run|app.Shop.root|java.util.List.sort|app.Order.compare|"
                 "app.Order.waits|app.Order.late");
    sampler_fixture_start(s.f);
    run(&s, 3 * S);
    assert_memory_equal(s.counter->sampled, SHOWN, strlen(SHOWN));
    assert_memory_equal(s.counter->sampled + strlen(SHOWN), SHOWN, strlen(SHOWN));
    sampler_fixture_finish(s.f);
    s.counter->sampled[0] = '\0';
    run(&s, 3 * S);
    assert_memory_equal(s.counter->sampled, SHOWN, strlen(SHOWN));
    end(&s);
}

static void without_sampled_times_the_account_says_why_there_is_no_cpu_time(void **state)
{
    static const struct {
        const char *options;
        uint64_t methods;
    } cases[] = { { ROOTS, 0 },
                  { ROOTS "methodTiming=EXACT\n", 17 },
                  { ROOTS "methodTiming=NONE\n", 17 } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct setting s;

        (void)begin_in_root(&s, cases[i].options);
        s.counter->figures.methods = 17;
        run(&s, S);
        sampler_fixture_finish(s.f);
        assert_int_equal(figure(&s, SMP_COUNTING_NO_CPU_TIME), cases[i].methods);
        end(&s);
    }
}

/* If memory is refused, each call is in the tree or in the account. */
static void every_lost_call_is_accounted_for(void **state)
{
    size_t most = 0;

    (void)state;
    for (size_t first = 1;; first++) {
        struct failing_alloc failing = { 0 };
        struct setting s;
        int64_t calls = 0;
        size_t refused;

        begin(&s, ROOTS);
        for (int i = 0; i < 20; i++) {
            const int thread = add_thread(&s, "main");
            fake_counter_enter(s.counter, thread, s.methods[0], true);
            for (int method = 1; method < METHODS; method++) {
                fake_counter_enter(s.counter, thread, s.methods[method], false);
                fake_counter_call(s.counter, thread, s.methods[METHODS - method], 10);
            }
            calls += 1 + (METHODS - 1) * 11;
        }
        sampler_fixture_start(s.f);
        failing_alloc_arm(&failing, first, first + first % 3);
        run(&s, 2 * S);
        refused = failing_alloc_disarm(&failing);
        sampler_fixture_finish(s.f);
        assert_int_equal(placed_calls(&s) + (int64_t)lost(&s, SMP_LOST_OVER_MEMORY), calls);
        end(&s);
        most = first;
        if (refused == 0)
            break;
    }
    assert_true(most > 10);
}

static void a_full_tree_counts_its_lost_calls(void **state)
{
    enum { THREADS = 80, CALLS = 398 };
    struct setting s;
    int64_t calls = 0;

    (void)state;
    begin(&s, ROOTS "memoryLimitBytes=4194304\nmethodTiming=NONE\n");
    for (int i = 0; i < THREADS; i++) {
        char name[8] = { 't', (char)('a' + i / 26), (char)('a' + i % 26), '\0' };
        char *copy = strdup(name);
        const int thread = add_thread(&s, copy);
        free(copy);
        s.counter->threads[thread].thread.name = NULL;
        fake_counter_enter(s.counter, thread, s.methods[0], true);
        for (int call = 1; call < CALLS; call++)
            fake_counter_enter(s.counter, thread, s.methods[call % METHODS], false);
        calls += CALLS;
    }
    sampler_fixture_start(s.f);
    run(&s, 2 * S);
    sampler_fixture_finish(s.f);
    assert_true(lost(&s, SMP_LOST_OVER_MEMORY) > 1000);
    assert_true(lost(&s, SMP_LOST_OVER_MEMORY) < (uint64_t)calls / 2);
    assert_int_equal(placed_calls(&s) + (int64_t)lost(&s, SMP_LOST_OVER_MEMORY), calls);
    assert_true(placed_calls(&s) < all_calls(&s)); /* some calls are under [over memory limit] */
    assert_true(was_logged(&s, "memory limit of 4194304 bytes reached"));
    end(&s);
}

static enum smp_status create_and_destroy(void *self)
{
    struct smp_options options;
    struct smp_source source = { 0 };
    const struct smp_jvm jvm = { 0 };
    const struct smp_source_setup setup = { .jvm = &jvm, .options = &options };
    enum smp_status status = option_text_try(NULL, self, &options, NULL);

    if (status != SMP_OK)
        return status;
    status = smp_calls_create(&setup, &source);
    if (source.destroy != NULL)
        source.destroy(source.self);
    smp_options_fini(&options);
    return status;
}

static void create_without_memory(void **state)
{
    (void)state;
    assert_true(failing_alloc_each_step(create_and_destroy, (char *)ROOTS).refused > 5);
}

/* It is reported once, at the level of an ordinary message. */
static void discarded_code_is_announced(void **state)
{
    char message[SMP_LOG_MESSAGE_BYTES];
    enum smp_log_level level;
    struct setting s;

    (void)state;
    for (int discards = 0; discards <= 1; discards++) {
        begin(&s, ROOTS);
        s.counter->figures.has_discarded_code = discards == 1;
        sampler_fixture_start(s.f);
        run(&s, 2 * S);
        assert_int_equal(smp_log_take_news(s.f->log), discards);
        assert_int_equal(smp_log_take(s.f->log, &level, message), discards);
        if (discards == 1) {
            assert_int_equal(level, SMP_LOG_INFO);
            assert_non_null(strstr(message, "the JVM has discarded its compiled code, as JDKs "));
            assert_non_null(strstr(message, "at the program's start"));
        }
        assert_false(smp_log_take(s.f->log, &level, message));
        end(&s);
    }
}

static void without_roots_there_is_no_source(void **state)
{
    struct failing_alloc counted = { 0 };
    struct smp_options options;
    struct smp_source source = { 0 };
    const struct smp_jvm jvm = { 0 };
    const struct smp_source_setup setup = { .jvm = &jvm, .options = &options };

    (void)state;
    option_text_read(NULL, "instrumentationFilter=com.acme\n", &options);
    failing_alloc_arm(&counted, 0, 0);
    assert_int_equal(smp_calls_create(&setup, &source), SMP_OK);
    (void)failing_alloc_disarm(&counted);
    assert_int_equal(counted.requests, 0);
    assert_null(source.destroy);
    smp_options_fini(&options);
}

/* The first entry of each method is recorded. */
static void entries_of_as_many_methods_as_possible_are_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < SMP_OPTION_COUNT; i++) {
        const struct smp_option *option = smp_option_at(i);
        if (strcmp(option->name, "maxCountedMethods") != 0)
            continue;
        assert_int_equal(option->max, SMP_CALL_METHODS);
        assert_int_equal(option->max, SMP_PLAN_METHODS_LIMIT);
        return;
    }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_roots_the_counter_is_not_started),
        cmocka_unit_test(without_roots_there_is_no_source),
        cmocka_unit_test(discarded_code_is_announced),
        cmocka_unit_test(entries_of_as_many_methods_as_possible_are_recorded),
        cmocka_unit_test(a_profile_has_the_calls_of_the_counter),
        cmocka_unit_test(random_programs_are_counted_to_the_last_call),
        cmocka_unit_test(threads_of_a_group_share_a_tree),
        cmocka_unit_test(calls_of_ended_threads_stay_with_their_group),
        cmocka_unit_test(a_thread_that_ends_before_the_first_read_is_known_from_a_tick),
        cmocka_unit_test(calls_of_a_thread_that_ends_before_it_is_named_are_counted),
        cmocka_unit_test(a_thread_that_no_tick_has_seen_is_counted_once),
        cmocka_unit_test(counted_groups_follow_the_name_rule),
        cmocka_unit_test(calls_go_to_the_current_group_of_the_thread),
        cmocka_unit_test(threads_that_are_not_sampled_are_not_counted),
        cmocka_unit_test(counted_calls_have_the_time_of_the_stacks_that_lead_to_them),
        cmocka_unit_test(time_goes_to_the_call_that_the_thread_reports),
        cmocka_unit_test(counted_calls_have_times_by_state),
        cmocka_unit_test(with_the_clock_cpu_all_times_are_cpu_times),
        cmocka_unit_test(exact_times_become_own_times),
        cmocka_unit_test(exact_times_exclude_the_time_in_probes),
        cmocka_unit_test(the_cost_of_probes_is_subtracted_from_their_calls),
        cmocka_unit_test(times_of_reads_that_take_time_add_up),
        cmocka_unit_test(virtual_threads_are_in_the_group_named_by_the_counter),
        cmocka_unit_test(roots_have_their_shortest_and_longest_call),
        cmocka_unit_test(with_exact_timing_each_method_has_its_shortest_and_longest_call),
        cmocka_unit_test(many_threads_are_polled_in_part),
        cmocka_unit_test(a_reset_restarts_counts_at_zero),
        cmocka_unit_test(a_reset_before_the_first_read_discards_times_too),
        cmocka_unit_test(warm_up_is_discarded_once_no_new_method_appears),
        cmocka_unit_test(calls_of_a_pause_are_not_counted),
        cmocka_unit_test(a_refusal_of_the_counter_is_reported_and_sampling_continues),
        cmocka_unit_test(a_refusal_is_reported_beside_that_of_another_source),
        cmocka_unit_test(a_jvm_without_a_counter_is_reported),
        cmocka_unit_test(counting_stops_with_the_session),
        cmocka_unit_test(short_methods_that_are_called_often_lose_their_probes),
        cmocka_unit_test(short_roots_lose_their_probes_unless_they_are_kept),
        cmocka_unit_test(calls_without_a_node_count_for_the_limit),
        cmocka_unit_test(lost_calls_are_in_the_account),
        cmocka_unit_test(sampled_methods_are_reported_to_the_counter),
        cmocka_unit_test(without_sampled_times_the_account_says_why_there_is_no_cpu_time),
        cmocka_unit_test(every_lost_call_is_accounted_for),
        cmocka_unit_test(a_full_tree_counts_its_lost_calls),
        cmocka_unit_test(create_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

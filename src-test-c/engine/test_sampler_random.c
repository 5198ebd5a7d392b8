/* SPDX-License-Identifier: Apache-2.0 */
/* The whole sampler on random input. With random stacks, its tree is compared with a reference
 * tree and the frame rule. With random threads, all time is attributed and every poll is counted.
 * SMP_TEST_SEED selects another seed. */
#include "engine/session/sampler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/reference_tree.h"
#include "support/sampler_fixture.h"
#include "support/tally_sum.h"
#include "support/tree_amounts.h"

#define MS FIXTURE_MS

enum { MAX_TEXT = 64 };

static uint64_t random_state;

static void seed_random(void)
{
    const char *seed = getenv("SMP_TEST_SEED");

    random_state = seed != NULL ? strtoull(seed, NULL, 0) : 20240229;
    random_state = random_state * 2 + 1;
}

/* Returns a number in 0 .. below - 1. */
static size_t random_below(size_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(random_state >> 33) % below;
}

/* --- the frame rule --- */

enum {
    RULE_STACKS = 100000,
    RULE_THREADS = 20,
    RULE_REPORTS = 20, /* number of intervals */
    RULE_CLASSES = 12,
    RULE_DEPTH = 40
};

struct rule_reference {
    struct sampler_fixture *f;
    struct reference_tree *tree;
    struct fake_thread *threads[RULE_THREADS];
    uint64_t methods[RULE_CLASSES];
    char texts[RULE_CLASSES][MAX_TEXT];
    bool monitored[RULE_CLASSES]; /* by "app" */
    bool filter_is_empty;
    size_t stack[RULE_THREADS][RULE_DEPTH]; /* classes, leaf first */
    size_t depth[RULE_THREADS];
};

static void make_classes(struct rule_reference *reference)
{
    static const char *const packages[] = { "app", "app.sub", "apple", "java.lang" };

    for (size_t i = 0; i < RULE_CLASSES; i++) {
        char class_name[MAX_TEXT / 2];
        (void)snprintf(class_name, sizeof(class_name), "%s.C%c", packages[i % 4],
                       (char)('A' + i / 4));
        reference->methods[i] = fake_jvm_method(reference->f->vm, class_name, "m");
        reference->monitored[i] = i % 4 < 2;
        (void)snprintf(reference->texts[i], MAX_TEXT, "%s.m(F.java:1)", class_name);
    }
}

/* Mostly library code, so that every branch of the rule is taken; one stack in four is
 * unchanged. */
static void change_stack(struct rule_reference *reference, size_t thread)
{
    struct smp_frame frames[RULE_DEPTH] = { { 0 } };

    if (reference->depth[thread] > 0 && random_below(4) == 0)
        return;
    reference->depth[thread] = 1 + random_below(RULE_DEPTH);
    const size_t odds = 1 + random_below(20);
    for (size_t i = 0; i < reference->depth[thread]; i++) {
        size_t class = random_below(RULE_CLASSES);
        while (reference->monitored[class] && random_below(odds) != 0)
            class = random_below(RULE_CLASSES);
        reference->stack[thread][i] = class;
        frames[i].method = reference->methods[class];
    }
    fake_jvm_run_frames(reference->f->vm, reference->threads[thread], frames,
                        reference->depth[thread]);
}

/* Returns the index of the first frame that is kept, counted from the leaf: the library's frame
 * that the user's innermost frame has called, or the root if no frame is the user's. */
static size_t first_kept(const bool *monitored, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        if (monitored[i])
            return i > 0 ? i - 1 : 0;
    }
    return depth - 1;
}

static void expect(struct rule_reference *reference, size_t thread, int64_t span_ns)
{
    const char *texts[RULE_DEPTH];
    bool monitored[RULE_DEPTH];
    char group[2] = { (char)('a' + thread), '\0' };
    const size_t depth = reference->depth[thread];

    for (size_t i = 0; i < depth; i++) {
        texts[i] = reference->texts[reference->stack[thread][i]];
        monitored[i] = reference->monitored[reference->stack[thread][i]];
    }
    const size_t first = reference->filter_is_empty ? 0 : first_kept(monitored, depth);
    struct reference_node *leaf =
        reference_tree_add(reference->tree, group, texts + first, depth - first);
    leaf->self_wall_ns += span_ns;
    leaf->samples++;
}

/* references: the references of the nodes before this one. */
static struct reference_node *find_reference(const struct rule_reference *reference, uint32_t node,
                                             struct reference_node *const *references)
{
    const struct smp_profile *profile = reference->f->profile;
    const struct smp_node *at = &smp_tree_nodes(profile->tree)[node];
    struct reference_node *found;
    struct smp_bytes text;

    if ((at->location & SMP_LOCATION_GROUP) != 0) {
        const struct smp_group group = { .index = at->location & ~SMP_LOCATION_GROUP };
        return reference_tree_find(reference->tree, NULL,
                                   smp_thread_groups_info(profile->groups, group)->name);
    }
    assert_non_null(references[at->parent]);
    smp_bytes_init(&text, NULL, 1024);
    smp_methods_frame_text(profile->methods, at->location, &text);
    found = reference_tree_find(reference->tree, references[at->parent], smp_bytes_text(&text));
    smp_bytes_fini(&text);
    return found;
}

/* Ends the interval and begins a new one, in the sampler and in the reference. */
static void compare(struct rule_reference *reference)
{
    const struct smp_profile *profile = sampler_fixture_finish(reference->f);
    const size_t count = smp_tree_node_count(profile->tree);
    struct reference_node **references = calloc(count, sizeof(struct reference_node *));
    size_t used = 0;

    assert_non_null(references);
    assert_int_equal(profile->tally.outcomes[SMP_OUTCOME_WALKED], RULE_STACKS / RULE_REPORTS);
    reference_tree_totals(reference->tree);
    for (uint32_t i = 1; i < count; i++) {
        if (tree_wall(profile->tree, i) == 0 || /* room for time that never came */
            smp_profile_node_kind(profile, i) != SMP_GROUP_SAMPLED)
            continue;
        references[i] = find_reference(reference, i, references);
        assert_non_null(references[i]);
        assert_int_equal(tree_wall(profile->tree, i), references[i]->total_wall_ns);
        assert_int_equal(tree_own_samples(profile->tree, i), references[i]->samples);
        used++;
    }
    assert_int_equal(used, reference_tree_count(reference->tree));
    free(references);
    reference_tree_destroy(reference->tree);
    reference->tree = reference_tree_create();
}

static void set_filter(struct rule_reference *reference, bool is_empty)
{
    reference->filter_is_empty = is_empty;
    sampler_fixture_configure(reference->f,
                              is_empty ? "monitoredPackages=\n" : "monitoredPackages= app ,\n");
}

static void frames_are_kept_by_the_naive_rule(void **state)
{
    static struct rule_reference reference;

    (void)state;
    seed_random();
    reference =
        (struct rule_reference){ .f = sampler_fixture_create(""), .tree = reference_tree_create() };
    make_classes(&reference);
    for (size_t i = 0; i < RULE_THREADS; i++) {
        const char name[2] = { (char)('a' + i), '\0' };
        reference.threads[i] = fake_jvm_start(reference.f->vm, name);
    }
    set_filter(&reference, false);
    sampler_fixture_start(reference.f);
    for (int tick = 1; tick <= RULE_STACKS / RULE_THREADS; tick++) {
        const int64_t span_ns = 40 * MS + (int64_t)random_below(20 * MS);
        if (random_below(100) == 0)
            set_filter(&reference, random_below(4) == 0);
        for (size_t i = 0; i < RULE_THREADS; i++) {
            change_stack(&reference, i);
            expect(&reference, i, span_ns);
        }
        sampler_fixture_tick(reference.f, span_ns);
        if (tick % (RULE_STACKS / RULE_THREADS / RULE_REPORTS) == 0)
            compare(&reference);
    }
    reference_tree_destroy(reference.tree);
    sampler_fixture_destroy(reference.f);
}

/* --- random lives --- */

enum { MAX_ALIVE = 60, ROUNDS = 6000, LIFE_METHODS = 3000 };

struct life {
    struct fake_thread *thread; /* NULL: the thread is not alive */
    int64_t started_ns;
    bool is_known;       /* it was alive at a tick while sampling was on */
    int64_t expected_ns; /* start of the current period */
};

struct chaos {
    struct sampler_fixture *f;
    struct life lives[MAX_ALIVE];
    uint64_t methods[LIFE_METHODS];
    bool is_running;
    int64_t expected_ns; /* expected time */
    int64_t credited_ns; /* time in finished intervals */
    uint64_t polls;
    uint64_t over_limit;
    uint64_t folded;
};

static int64_t now(const struct chaos *chaos)
{
    return sampler_fixture_now(chaos->f);
}

static void give_stack(struct chaos *chaos, struct fake_thread *thread, size_t methods)
{
    struct smp_frame frames[30];
    const size_t depth = random_below(30);

    for (size_t i = 0; i < depth; i++)
        frames[i] = (struct smp_frame){ .method = chaos->methods[random_below(methods)],
                                        .bci = (int64_t)random_below(3) };
    fake_jvm_run_frames(chaos->f->vm, thread, frames, depth);
}

static void start_life(struct chaos *chaos, struct life *life)
{
    static const char *const names[] = { "main", "worker-12", "http-1-exec-2", "4711", "" };

    *life = (struct life){
        .thread = fake_jvm_start(chaos->f->vm, names[random_below(5)]),
        .started_ns = now(chaos),
        .expected_ns = now(chaos),
    };
    give_stack(chaos, life->thread, 20);
}

static void end(struct chaos *chaos, struct life *life)
{
    /* A thread that started and ended between two ticks was never seen. */
    if (chaos->is_running && life->is_known)
        chaos->expected_ns += now(chaos) - life->expected_ns;
    fake_jvm_end(chaos->f->vm, life->thread);
    life->thread = NULL;
}

static void change(struct chaos *chaos, struct life *life, size_t methods)
{
    static const enum smp_status failures[] = { SMP_EPHASE, SMP_ENOMEM, SMP_EVM, SMP_EGONE };

    switch (random_below(12)) {
    case 0:
        end(chaos, life);
        break;
    case 1:
        fake_jvm_rename(chaos->f->vm, life->thread, random_below(2) == 0 ? "main" : "other-1");
        break;
    case 2:
        fake_jvm_fail(chaos->f->vm, life->thread, failures[random_below(4)]);
        break;
    case 3:
    case 4:
        fake_jvm_fail(chaos->f->vm, life->thread, SMP_OK);
        break;
    default:
        give_stack(chaos, life->thread, methods);
    }
}

static void know_all(struct chaos *chaos)
{
    for (size_t i = 0; i < MAX_ALIVE; i++)
        chaos->lives[i].is_known = chaos->lives[i].thread != NULL;
}

static void stop_or_go(struct chaos *chaos)
{
    if (chaos->is_running) {
        know_all(chaos);
        sampler_fixture_pause(chaos->f);
    } else {
        sampler_fixture_start(chaos->f);
    }
    for (size_t i = 0; i < MAX_ALIVE; i++) {
        struct life *life = &chaos->lives[i];
        if (chaos->is_running && life->thread != NULL)
            chaos->expected_ns += now(chaos) - life->expected_ns;
        life->expected_ns = now(chaos);
    }
    chaos->is_running = !chaos->is_running;
    know_all(chaos);
}

static void report(struct chaos *chaos)
{
    const struct smp_profile *profile = sampler_fixture_finish(chaos->f);

    chaos->credited_ns += sampler_fixture_sum(chaos->f);
    chaos->polls += profile->tally.polls;
    chaos->over_limit += profile->tally.outcomes[SMP_OUTCOME_OVER_MEMORY_LIMIT];
    chaos->folded += profile->counters[SMP_COUNTER_FOLDED_ROWS];
}

/* Makes a report about every `reports` rounds. */
static void live(struct chaos *chaos, size_t methods, size_t reports)
{
    for (int round = 0; round < ROUNDS; round++) {
        const size_t chosen = random_below(MAX_ALIVE);
        for (size_t i = 0; i <= chosen % 7; i++) {
            struct life *life = &chaos->lives[random_below(MAX_ALIVE)];
            if (life->thread == NULL)
                start_life(chaos, life);
            else
                change(chaos, life, methods);
            fake_clock_advance(&chaos->f->clock, (int64_t)random_below(MS));
        }
        if (random_below(100) == 0)
            stop_or_go(chaos);
        sampler_fixture_tick(chaos->f, (int64_t)random_below(50 * MS));
        if (chaos->is_running)
            know_all(chaos);
        if (random_below(reports) == 0)
            report(chaos);
    }
    if (chaos->is_running)
        stop_or_go(chaos);
    report(chaos);
}

static void begin(struct chaos *chaos, const char *options)
{
    char name[MAX_TEXT];

    seed_random();
    *chaos = (struct chaos){ .f = sampler_fixture_create(options) };
    for (size_t i = 0; i < LIFE_METHODS; i++) {
        (void)snprintf(name, sizeof(name), "app.c%c%c.Class", (char)('a' + i % 26),
                       (char)('a' + i / 26 % 26));
        chaos->methods[i] = fake_jvm_method(chaos->f->vm, name, i % 2 == 0 ? "even" : "odd");
    }
}

static void check_end(struct chaos *chaos)
{
    struct smp_sampler_figures stats;

    smp_sampler_get_figures(chaos->f->sampler, &stats);
    assert_int_equal(chaos->credited_ns, chaos->expected_ns);
    assert_int_equal(stats.total_tally.polls, chaos->polls);
    assert_int_equal(tally_sum(&stats.total_tally), chaos->polls);
}

static void all_time_is_attributed_once(void **state)
{
    static struct chaos chaos;

    (void)state;
    begin(&chaos, "");
    live(&chaos, 20, 500);
    check_end(&chaos);
    assert_int_equal(chaos.over_limit, 0);
    assert_int_equal(chaos.folded, 0);
    assert_true(chaos.polls > ROUNDS);
    sampler_fixture_destroy(chaos.f);
}

/* So many different stacks that tree, names and copies of stacks have no room for them. */
static void all_time_is_attributed_once_without_enough_memory(void **state)
{
    static struct chaos chaos;

    (void)state;
    begin(&chaos, "memoryLimitBytes=4194304\n");
    live(&chaos, LIFE_METHODS, 100000);
    check_end(&chaos);
    print_message("%d polls over the limit, %d rows folded\n", (int)chaos.over_limit,
                  (int)chaos.folded);
    assert_true(chaos.folded > 0);
    assert_in_range(chaos.f->quota.peak, 2 << 20, 4 << 20);
    sampler_fixture_destroy(chaos.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_kept_by_the_naive_rule),
        cmocka_unit_test(all_time_is_attributed_once),
        cmocka_unit_test(all_time_is_attributed_once_without_enough_memory),
    };
    return cmocka_run_group_tests_name("sampler, random", tests, NULL, NULL);
}

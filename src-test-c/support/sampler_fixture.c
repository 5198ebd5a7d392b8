/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sampler_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/option_text.h"
#include "support/tally_sum.h"
#include "support/tree_amounts.h"

enum { MAX_PATH_BYTES = 64 * 1024 };

struct sampler_fixture *sampler_fixture_create(const char *options)
{
    return sampler_fixture_create_counting(options, (struct smp_call_counter){ 0 });
}

struct sampler_fixture *sampler_fixture_create_counting(const char *options,
                                                        struct smp_call_counter calls)
{
    struct sampler_fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    fixture->live_before = smp_alloc_live_bytes();
    fake_clock_install(&fixture->clock);
    fixture->vm = fake_jvm_create();
    smp_quota_init(&fixture->quota, (size_t)1 << 40);
    option_text_read(&fixture->quota, options, &fixture->options);
    fixture->quota.limit_bytes = (size_t)fixture->options.memory_limit_bytes;
    assert_int_equal(smp_log_create(&fixture->quota, &fixture->log), SMP_OK);
    struct smp_jvm vm = fake_jvm_interface(fixture->vm);
    vm.calls = calls;
    assert_int_equal(smp_sampler_create(&fixture->quota, fixture->log, &vm, &fixture->options,
                                        &fixture->sampler),
                     SMP_OK);
    return fixture;
}

void sampler_fixture_destroy(struct sampler_fixture *fixture)
{
    smp_profile_release(fixture->profile);
    smp_sampler_destroy(fixture->sampler);
    smp_options_fini(&fixture->options);
    smp_log_destroy(fixture->log);
    fake_jvm_destroy(fixture->vm);
    fake_clock_remove();
    assert_int_equal(smp_quota_used(&fixture->quota), 0);
    assert_int_equal(smp_alloc_live_bytes(), fixture->live_before);
    free(fixture);
}

int64_t sampler_fixture_now(const struct sampler_fixture *fixture)
{
    return atomic_load(&fixture->clock.ns);
}

void sampler_fixture_start(struct sampler_fixture *fixture)
{
    smp_sampler_mark(fixture->sampler, smp_clock_ns(), smp_clock_wall_ms());
    smp_sampler_tick(fixture->sampler, smp_clock_ns(), false);
}

void sampler_fixture_tick(struct sampler_fixture *fixture, int64_t ns)
{
    fake_clock_advance(&fixture->clock, ns);
    smp_sampler_tick(fixture->sampler, smp_clock_ns(), false);
}

void sampler_fixture_pause(struct sampler_fixture *fixture)
{
    smp_sampler_tick(fixture->sampler, smp_clock_ns(), false);
    smp_sampler_pause(fixture->sampler);
}

void sampler_fixture_configure(struct sampler_fixture *fixture, const char *options)
{
    struct smp_prepared_options *prepared = NULL;
    struct smp_options wanted;

    option_text_read(&fixture->quota, options, &wanted);
    assert_int_equal(smp_prepared_options_create(&fixture->quota, &wanted, &prepared), SMP_OK);
    smp_sampler_set_options(fixture->sampler, prepared);
    smp_options_fini(&fixture->options);
    fixture->options = wanted;
}

static struct smp_group_info *info_at(const struct smp_profile *profile, size_t index)
{
    return smp_thread_groups_info(profile->groups, (struct smp_group){ .index = (uint32_t)index });
}

/* The time in each state of a group is found again in its seconds, except for less than a
 * millisecond. */
static void check_seconds(const struct smp_profile *profile)
{
    if (profile->seconds == NULL || smp_second_times_lost(profile->seconds) > 0)
        return;
    for (uint32_t row = 1; row < smp_second_times_rows(profile->seconds); row++) {
        const uint32_t root = info_at(profile, smp_second_times_group(profile->seconds, row))->root;
        for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
            const enum smp_thread_state state = (enum smp_thread_state)i;
            const struct smp_column column =
                smp_tree_column(profile->tree, smp_measure_of_state(state));
            size_t count = 0;
            const uint32_t *const slots =
                smp_second_times_slots(profile->seconds, row, state, &count);
            int64_t ms = 0;
            for (size_t slot = 0; slot < count; slot++)
                ms += slots[slot];
            assert_int_equal(ms, smp_column_at(column, root) / INT64_C(1000000));
        }
    }
}

/* In every profile each poll has one outcome, and all time belongs to a group. */
static void check_sums(const struct smp_profile *profile)
{
    const size_t count = smp_thread_groups_count(profile->groups);
    struct smp_tally tally = { 0 };
    int64_t wall_ns = 0;
    uint64_t samples = 0;

    for (size_t i = 0; i < count; i++) {
        const struct smp_group_info *info = info_at(profile, i);
        assert_int_equal(info->tally.polls, tally_sum(&info->tally));
        smp_tally_add(&tally, &info->tally);
        if (info->root != 0)
            wall_ns += tree_wall(profile->tree, info->root);
        else
            assert_int_equal(info->tally.polls, 0);
    }
    for (uint32_t i = 0; i < smp_tree_node_count(profile->tree); i++)
        samples += tree_own_samples(profile->tree, i);
    assert_memory_equal(&tally, &profile->tally, sizeof(tally));
    assert_int_equal(smp_tally_samples(&tally), samples);
    assert_int_equal(wall_ns, tree_wall(profile->tree, 0));
    check_seconds(profile);
}

struct smp_profile *sampler_fixture_finish(struct sampler_fixture *fixture)
{
    smp_profile_release(fixture->profile);
    fixture->profile = NULL;
    assert_int_equal(smp_sampler_finish_interval(fixture->sampler, smp_clock_ns(),
                                                 smp_clock_wall_ms(), &fixture->profile),
                     SMP_OK);
    check_sums(fixture->profile);
    return fixture->profile;
}

/* --- reading a snapshot --- */

const struct smp_group_info *sampler_fixture_group(const struct sampler_fixture *fixture,
                                                   const char *group)
{
    const struct smp_profile *profile = fixture->profile;

    for (size_t i = 0; i < smp_thread_groups_count(profile->groups); i++) {
        if (strcmp(info_at(profile, i)->name, group) == 0)
            return info_at(profile, i);
    }
    return NULL;
}

static bool has_text(const struct smp_profile *profile, uint32_t location, const char *text)
{
    struct smp_bytes bytes;

    smp_bytes_init(&bytes, NULL, MAX_PATH_BYTES);
    smp_methods_frame_text(profile->methods, location, &bytes);
    const bool equal = strcmp(smp_bytes_text(&bytes), text) == 0;
    smp_bytes_fini(&bytes);
    return equal;
}

static uint32_t find_child(const struct smp_profile *profile, uint32_t parent, const char *text)
{
    const uint32_t *siblings = smp_tree_next_siblings(profile->tree);
    const struct smp_node *nodes = smp_tree_nodes(profile->tree);
    uint32_t child = nodes[parent].last_child;

    while (child != 0 && !has_text(profile, nodes[child].location, text))
        child = siblings[child];
    return child;
}

/* Returns 0 if there is no such node. */
static uint32_t find_node(const struct sampler_fixture *fixture, const char *group,
                          const char *path)
{
    const struct smp_group_info *info = sampler_fixture_group(fixture, group);
    char *copy = strdup(path);
    char *rest = path[0] == '\0' ? NULL : copy;
    uint32_t node = info == NULL ? 0 : info->root;

    assert_non_null(copy);
    for (char *frame = strsep(&rest, "|"); frame != NULL && node != 0; frame = strsep(&rest, "|"))
        node = find_child(fixture->profile, node, frame);
    free(copy);
    return node;
}

int64_t sampler_fixture_total(const struct sampler_fixture *fixture, const char *group,
                              const char *path)
{
    const uint32_t node = find_node(fixture, group, path);

    return node == 0 ? -1 : tree_wall(fixture->profile->tree, node);
}

int64_t sampler_fixture_self(const struct sampler_fixture *fixture, const char *group,
                             const char *path)
{
    const uint32_t node = find_node(fixture, group, path);

    return node == 0 ? -1 : smp_tree_self(fixture->profile->tree, node, SMP_MEASURE_WALL);
}

double sampler_fixture_variance(const struct sampler_fixture *fixture, const char *group,
                                const char *path)
{
    const uint32_t node = find_node(fixture, group, path);

    return node == 0 ? -1 : smp_tree_variance(fixture->profile->tree, node);
}

int64_t sampler_fixture_sum(const struct sampler_fixture *fixture)
{
    return smp_profile_total(fixture->profile, SMP_MEASURE_WALL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/thread_groups.h"
#include "support/failing_alloc.h"

enum { AMPLE_BYTES = 64 * 1024 * 1024, SMALL_BYTES = 256 * 1024 };

static struct smp_thread_groups *groups_of(struct smp_quota *quota, size_t max_bytes)
{
    struct smp_thread_groups *groups = NULL;

    assert_int_equal(smp_thread_groups_create(quota, max_bytes, &groups), SMP_OK);
    return groups;
}

static const struct smp_group_info *info_of(struct smp_thread_groups *groups, const char *name)
{
    return smp_thread_groups_info(
        groups, smp_thread_groups_find(groups, (struct smp_group_key){ .name = name }));
}

static void test_a_name_is_one_group(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    const struct smp_group first =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker-" });
    const struct smp_group second =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "main" });
    const struct smp_group prefix =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker" });
    char copy[] = "worker-";

    (void)state;
    assert_int_not_equal(first.index, 0);
    assert_int_not_equal(first.index, second.index);
    assert_int_not_equal(first.index, prefix.index);
    assert_int_equal(smp_thread_groups_find(groups, (struct smp_group_key){ .name = copy }).index,
                     first.index);
    assert_int_equal(smp_thread_groups_count(groups), 4);
    assert_string_equal(smp_thread_groups_info(groups, first)->name, "worker-");
    assert_string_equal(smp_thread_groups_info(groups, (struct smp_group){ 0 })->name,
                        "[over group limit]");
    smp_thread_groups_destroy(groups);
}

static void test_a_thread_is_counted_once_per_group(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    const struct smp_group workers =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker-" });
    const struct smp_group mains =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "main" });
    const struct smp_group_info *info = smp_thread_groups_info(groups, workers);

    (void)state;
    smp_thread_groups_see(groups, workers, 7, "worker-7");
    smp_thread_groups_see(groups, workers, 7, "worker-7");
    smp_thread_groups_see(groups, workers, 8, "worker-8");
    smp_thread_groups_see(groups, mains, 7, "main");
    smp_thread_groups_see(groups, workers, 7, "renamed-7");
    assert_int_equal(info->thread_count, 2);
    assert_int_equal(info->listed, 2);
    assert_string_equal(info->names[0], "worker-7");
    assert_string_equal(info->names[1], "worker-8");
    assert_int_equal(smp_thread_groups_info(groups, mains)->thread_count, 1);
    assert_int_equal(info->names_lost, 0);
    smp_thread_groups_destroy(groups);
}

static void test_twenty_thousand_threads_in_one_group(void **state)
{
    enum { THREADS = 20000 };
    struct smp_quota quota;
    struct smp_thread_groups *groups = NULL;
    const struct smp_group_info *info = NULL;
    char name[32];

    (void)state;
    smp_quota_init(&quota, AMPLE_BYTES);
    groups = groups_of(&quota, AMPLE_BYTES);
    for (unsigned i = 0; i < THREADS; i++) {
        (void)snprintf(name, sizeof(name), "worker-%u", i);
        smp_thread_groups_see(
            groups, smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker-" }), i,
            name);
    }
    info = info_of(groups, "worker-");
    assert_int_equal(info->thread_count, THREADS);
    assert_int_equal(info->listed, SMP_MAX_LISTED_NAMES);
    assert_string_equal(info->names[SMP_MAX_LISTED_NAMES - 1], "worker-19");
    assert_true(smp_quota_used(&quota) < 1024 * 1024);
    smp_thread_groups_destroy(groups);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void test_too_many_groups_share_the_overflow_group(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    char name[32];

    (void)state;
    for (unsigned i = 1; i <= SMP_MAX_GROUPS; i++) {
        (void)snprintf(name, sizeof(name), "g%u", i);
        assert_int_equal(
            smp_thread_groups_find(groups, (struct smp_group_key){ .name = name }).index, i);
    }
    assert_int_equal(
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "one too many" }).index, 0);
    assert_int_equal(smp_thread_groups_find(groups, (struct smp_group_key){ .name = "g1" }).index,
                     1);
    assert_int_equal(smp_thread_groups_count(groups), SMP_MAX_GROUPS + 1);
    smp_thread_groups_destroy(groups);
}

static void test_group_infos_do_not_move(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    struct smp_group_info *info = smp_thread_groups_info(
        groups, smp_thread_groups_find(groups, (struct smp_group_key){ .name = "first" }));
    char name[32];

    (void)state;
    info->max_depth = 17;
    for (unsigned i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof(name), "g%u", i);
        (void)smp_thread_groups_find(groups, (struct smp_group_key){ .name = name });
    }
    assert_ptr_equal(info_of(groups, "first"), info);
    assert_int_equal(info->max_depth, 17);
    smp_thread_groups_destroy(groups);
}

/* Returns a text of length bytes. The caller frees it. */
static char *repeat(char byte, size_t length)
{
    char *text = malloc(length + 1);

    assert_non_null(text);
    memset(text, byte, length);
    text[length] = '\0';
    return text;
}

static void test_long_names_end_in_an_ellipsis(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    char *fits = repeat('a', SMP_MAX_GROUP_NAME_BYTES);
    char *longer = repeat('a', SMP_MAX_GROUP_NAME_BYTES + 1);
    const struct smp_group kept =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = fits });
    const struct smp_group cut =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = longer });
    const struct smp_group_info *info = smp_thread_groups_info(groups, cut);

    (void)state;
    assert_string_equal(smp_thread_groups_info(groups, kept)->name, fits);
    assert_int_not_equal(kept.index, cut.index);
    assert_int_equal(strlen(info->name), SMP_MAX_GROUP_NAME_BYTES);
    assert_string_equal(info->name + SMP_MAX_GROUP_NAME_BYTES - 3, "\xe2\x80\xa6");
    assert_int_equal(smp_thread_groups_find(groups, (struct smp_group_key){ .name = longer }).index,
                     cut.index);
    smp_thread_groups_see(groups, cut, 1, longer);
    assert_int_equal(strlen(info->names[0]), SMP_MAX_LISTED_NAME_BYTES);
    assert_string_equal(info->names[0] + SMP_MAX_LISTED_NAME_BYTES - 3, "\xe2\x80\xa6");
    free(fits);
    free(longer);
    smp_thread_groups_destroy(groups);
}

/* Long enough to use up a small maximum soon, and different in the first byte. */
static void long_name(char out[1000], unsigned number)
{
    memset(out, 'n', 999);
    out[999] = '\0';
    (void)snprintf(out, 16, "%u", number);
    out[strlen(out)] = '-';
}

static void test_over_the_maximum_names_go_to_the_overflow_group(void **state)
{
    struct smp_quota quota;
    struct smp_thread_groups *groups = NULL;
    struct smp_group group = { 1 };
    char name[1000];
    unsigned made = 0;

    (void)state;
    smp_quota_init(&quota, AMPLE_BYTES);
    groups = groups_of(&quota, SMALL_BYTES);
    while (group.index != 0) {
        long_name(name, made++);
        group = smp_thread_groups_find(groups, (struct smp_group_key){ .name = name });
    }
    assert_true(made > 50);
    assert_int_equal(smp_thread_groups_count(groups), made);
    assert_true(smp_quota_used(&quota) <= SMALL_BYTES + 1024);
    long_name(name, 0);
    assert_int_equal(smp_thread_groups_find(groups, (struct smp_group_key){ .name = name }).index,
                     1);
    smp_thread_groups_destroy(groups);
}

static void test_sightings_over_the_maximum_are_counted(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, SMALL_BYTES);
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker-" });
    const struct smp_group_info *info = smp_thread_groups_info(groups, group);

    (void)state;
    for (uint64_t serial = 0; serial < 50000; serial++)
        smp_thread_groups_see(groups, group, serial, "worker-1");
    assert_true(info->thread_count > 1000);
    assert_true(info->names_lost > 0);
    assert_int_equal(info->thread_count + info->names_lost, 50000);
    smp_thread_groups_destroy(groups);
}

static void test_groups_are_added_again_when_memory_is_free(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    struct failing_alloc failing;
    char name[1000];
    unsigned number = 0;
    size_t count = 0;

    (void)state;
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    do
        long_name(name, number++);
    while (smp_thread_groups_find(groups, (struct smp_group_key){ .name = name }).index != 0);
    count = smp_thread_groups_count(groups);
    assert_true(failing_alloc_disarm(&failing) > 0);
    assert_int_equal(smp_thread_groups_find(groups, (struct smp_group_key){ .name = name }).index,
                     count);
    assert_string_equal(info_of(groups, name)->name, name);
    assert_int_equal(smp_thread_groups_count(groups), count + 1);
    smp_thread_groups_destroy(groups);
}

/* --- counted groups --- */

static struct smp_group counted(struct smp_thread_groups *groups, const char *name)
{
    return smp_thread_groups_find(
        groups, (struct smp_group_key){ .name = name, .kind = SMP_GROUP_COUNTED });
}

static void test_a_name_has_one_group_of_each_kind(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    const struct smp_group sampled =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker-" });
    struct smp_group found = { .index = 77 };

    (void)state;
    assert_false(smp_thread_groups_has(groups, SMP_GROUP_COUNTED));
    assert_false(smp_thread_groups_peek(
        groups, (struct smp_group_key){ .name = "worker-", .kind = SMP_GROUP_COUNTED }, &found));
    assert_int_equal(found.index, 77);
    assert_int_equal(smp_thread_groups_count(groups), 2);
    const struct smp_group other = counted(groups, "worker-");
    assert_true(smp_thread_groups_has(groups, SMP_GROUP_COUNTED));
    assert_int_not_equal(other.index, sampled.index);
    assert_int_equal(counted(groups, "worker-").index, other.index);
    assert_int_equal(info_of(groups, "worker-") - smp_thread_groups_info(groups, sampled), 0);
    assert_true(smp_thread_groups_kind(groups, other) == SMP_GROUP_COUNTED);
    assert_false(smp_thread_groups_kind(groups, sampled) == SMP_GROUP_COUNTED);
    assert_true(smp_thread_groups_peek(
        groups, (struct smp_group_key){ .name = "worker-", .kind = SMP_GROUP_COUNTED }, &found));
    assert_int_equal(found.index, other.index);
    assert_int_equal(smp_thread_groups_count(groups), 4); /* including the two overflow groups */
    assert_false(smp_thread_groups_is_jvm(groups, counted(groups, SMP_JVM_THREADS_NAME)));
    smp_thread_groups_destroy(groups);
}

/* Counted time must not go to a sampled group. */
static void test_too_many_counted_groups_share_their_own_overflow_group(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    char name[32];
    struct smp_group group = { 0 };

    (void)state;
    for (unsigned i = 0; i < SMP_MAX_GROUPS + 10; i++) {
        (void)snprintf(name, sizeof(name), "%u", i);
        group = smp_thread_groups_find(groups, (struct smp_group_key){ .name = name });
    }
    assert_int_equal(group.index, 0);
    group = counted(groups, "late"); /* there was no counted group before the limit */
    assert_true(smp_thread_groups_kind(groups, group) == SMP_GROUP_COUNTED);
    assert_string_equal(smp_thread_groups_info(groups, group)->name, "[over group limit]");
    assert_int_equal(counted(groups, "later").index, group.index);
    assert_int_equal(counted(groups, "[over group limit]").index, group.index);
    assert_int_equal(smp_thread_groups_overflow(groups, SMP_GROUP_COUNTED).index, group.index);
    assert_int_equal(smp_thread_groups_overflow(groups, SMP_GROUP_SAMPLED).index, 0);
    smp_thread_groups_destroy(groups);
}

static void test_without_memory_a_counted_key_gets_no_counted_group(void **state)
{
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    struct failing_alloc failing;
    char name[32];
    unsigned number = 0;

    (void)state;
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    do
        (void)snprintf(name, sizeof(name), "%u", number++);
    while (smp_thread_groups_find(groups, (struct smp_group_key){ .name = name }).index != 0);
    assert_false(smp_thread_groups_kind(groups, counted(groups, "worker-")) == SMP_GROUP_COUNTED);
    assert_false(smp_thread_groups_has(groups, SMP_GROUP_COUNTED));
    assert_true(failing_alloc_disarm(&failing) > 0);
    assert_true(smp_thread_groups_kind(groups, counted(groups, "worker-")) == SMP_GROUP_COUNTED);
    smp_thread_groups_destroy(groups);
}

static void keep_living(struct smp_thread_groups *groups, const struct smp_thread_groups *last)
{
    smp_thread_groups_copy_living(groups, last);
    smp_thread_groups_forget_ended(groups, 0);
}

static enum smp_status add_group(struct smp_thread_groups *to, const struct smp_thread_groups *from,
                                 size_t index, struct smp_group *out)
{
    struct smp_thread_groups *const groups = (struct smp_thread_groups *)(uintptr_t)from;
    const char *const name =
        smp_thread_groups_info(groups, (struct smp_group){ .index = (uint32_t)index })->name;

    return smp_thread_groups_add_group(to, from, index, name, out);
}

static void test_added_groups_keep_their_kind(void **state)
{
    struct smp_thread_groups *from = groups_of(NULL, AMPLE_BYTES);
    struct smp_thread_groups *to = groups_of(NULL, AMPLE_BYTES);
    struct smp_group added = { 0 };

    (void)state;
    (void)smp_thread_groups_find(from, (struct smp_group_key){ .name = "worker-" });
    smp_thread_groups_info(from, counted(from, "worker-"))->hook_ns = 30;
    smp_thread_groups_info(to, counted(to, "worker-"))->hook_ns = 12;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < smp_thread_groups_count(from); i++) {
            const struct smp_group source = { .index = (uint32_t)i };
            assert_int_equal(add_group(to, from, i, &added), SMP_OK);
            assert_int_equal(smp_thread_groups_kind(to, added) == SMP_GROUP_COUNTED,
                             smp_thread_groups_kind(from, source) == SMP_GROUP_COUNTED);
            assert_string_equal(smp_thread_groups_info(to, added)->name,
                                smp_thread_groups_info(from, source)->name);
        }
    }
    assert_int_equal(smp_thread_groups_count(to), 4);
    assert_int_equal(smp_thread_groups_info(to, counted(to, "worker-"))->hook_ns, 72);
    smp_thread_groups_destroy(from);
    smp_thread_groups_destroy(to);
}

/* Adds all groups of from. Returns the new group of the last one. */
static struct smp_group add_all(struct smp_thread_groups *to, const struct smp_thread_groups *from)
{
    struct smp_group places[8];
    const size_t count = smp_thread_groups_count(from);

    assert_in_range(count, 1, sizeof(places) / sizeof(places[0]));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(add_group(to, from, i, &places[i]), SMP_OK);
    assert_true(smp_thread_groups_add_threads(to, from, places));
    return places[count - 1];
}

/* A thread renamed beyond the maximum of groups is one thread of the overflow group. */
static void test_threads_of_merged_groups_are_counted_once(void **state)
{
    static const char *const names[] = { "request-1", "request-2", "request-3" };
    struct smp_thread_groups *from = groups_of(NULL, AMPLE_BYTES);
    struct smp_thread_groups *to = groups_of(NULL, AMPLE_BYTES);
    char name[32];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct smp_group_key key = { .name = names[i] };
        smp_thread_groups_see(from, smp_thread_groups_find(from, key), 7, names[i]);
        smp_thread_groups_see(from, smp_thread_groups_find(from, key), 8 + i, names[i]);
    }
    for (unsigned i = 0; i < SMP_MAX_GROUPS; i++) {
        (void)snprintf(name, sizeof(name), "%u", i);
        (void)smp_thread_groups_find(to, (struct smp_group_key){ .name = name });
    }
    for (int round = 0; round < 3; round++) {
        assert_int_equal(add_all(to, from).index, 0);
        assert_int_equal(info_of(to, "[over group limit]")->thread_count, 4);
    }
    smp_thread_groups_destroy(from);
    smp_thread_groups_destroy(to);
}

/* --- threads that have ended --- */

enum { POOL = 100, LATER = 1000 };

static void see_pool(struct smp_thread_groups *groups, uint64_t living[POOL])
{
    const struct smp_group pool =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "pool-" });

    for (uint64_t i = 0; i < POOL; i++) {
        smp_thread_groups_see(groups, pool, 1 + i, "pool-1");
        living[i] = 1 + i;
    }
}

static void test_short_lived_threads_are_counted_in_little_memory(void **state)
{
    enum { THREADS = 1000000 };
    struct smp_quota quota;
    uint64_t living[POOL];
    size_t most = 0;
    unsigned crowds = 0;

    (void)state;
    smp_quota_init(&quota, AMPLE_BYTES);
    struct smp_thread_groups *groups = groups_of(&quota, 1 << 20);
    const struct smp_group requests =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "request" });
    see_pool(groups, living);
    for (uint64_t serial = LATER; serial < LATER + THREADS; serial++) {
        smp_thread_groups_see(groups, requests, serial, "request");
        smp_thread_groups_see(groups, requests, serial, "request");
        if (!smp_thread_groups_is_crowded(groups))
            continue;
        crowds++;
        smp_thread_groups_set_living(groups, living, POOL, UINT64_MAX);
        smp_thread_groups_forget_ended(groups, 0);
        assert_false(smp_thread_groups_is_crowded(groups));
        most = smp_quota_used(&quota) > most ? smp_quota_used(&quota) : most;
    }
    see_pool(groups, living);
    assert_int_equal(smp_thread_groups_info(groups, requests)->thread_count, THREADS);
    assert_int_equal(info_of(groups, "request")->names_lost, 0);
    assert_int_equal(info_of(groups, "pool-")->thread_count, POOL);
    assert_in_range(crowds, 10, 1000);
    assert_in_range(most, 1, 256 * 1024);
    smp_thread_groups_destroy(groups);
    assert_int_equal(smp_quota_used(&quota), 0);
}

/* A thread that an earlier interval has seen comes again, and so does one that is no Java
 * thread. */
static void test_only_threads_that_cannot_return_are_forgotten(void **state)
{
    static const uint64_t serials[] = { 5, 6, 7, SMP_SERIAL_OTHER | 7 };
    static const uint64_t living[] = { 6 };
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker-" });
    const struct smp_group_info *info = smp_thread_groups_info(groups, group);

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof(serials) / sizeof(serials[0]); i++)
            smp_thread_groups_see(groups, group, serials[i], "worker-1");
        assert_int_equal(info->thread_count, 4 + round);
        /* Before set_living all threads may live. */
        if (round == 0)
            smp_thread_groups_forget_ended(groups, 0);
        smp_thread_groups_see(groups, group, 7, "worker-1");
        assert_int_equal(info->thread_count, 4 + round);
        smp_thread_groups_set_living(groups, living, 1, UINT64_MAX);
        smp_thread_groups_forget_ended(groups, 5); /* 7 is new and has ended */
    }
    smp_thread_groups_destroy(groups);
}

/* The list of living threads is as old as the last check for started threads. */
static void test_threads_newer_than_the_list_of_living_ones_are_kept(void **state)
{
    static const uint64_t living[] = { 6 };
    struct smp_thread_groups *groups = groups_of(NULL, AMPLE_BYTES);
    struct smp_thread_groups *last = groups_of(NULL, AMPLE_BYTES);
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker-" });
    const struct smp_group_info *info = smp_thread_groups_info(groups, group);

    (void)state;
    assert_int_equal(smp_thread_groups_newest(groups), 0);
    smp_thread_groups_see(groups, group, SMP_SERIAL_OTHER | 1, "compiler");
    for (uint64_t serial = 9; serial >= 5; serial--)
        smp_thread_groups_see(groups, group, serial, "worker-1");
    assert_int_equal(smp_thread_groups_newest(groups), 9);
    smp_thread_groups_set_living(last, living, 1, 8);
    keep_living(groups, last); /* 5, 7 and 8 have ended */
    for (uint64_t serial = 5; serial <= 9; serial++)
        smp_thread_groups_see(groups, group, serial, "worker-1");
    assert_int_equal(info->thread_count, 6 + 3);
    smp_thread_groups_destroy(groups);
    smp_thread_groups_destroy(last);
}

static enum smp_status forget_ended_threads(void *self)
{
    static const uint64_t living[] = { 1 };
    struct smp_thread_groups *groups = NULL;
    enum smp_status status = smp_thread_groups_create(self, SMALL_BYTES, &groups);

    if (status != SMP_OK)
        return status;
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker-" });
    const struct smp_group_info *info = smp_thread_groups_info(groups, group);
    for (uint64_t serial = 1; serial <= 100; serial++)
        smp_thread_groups_see(groups, group, serial, "worker-1");
    const uint64_t count = info->thread_count;
    if (info->names_lost > 0)
        status = SMP_ENOMEM;
    smp_thread_groups_set_living(groups, living, 1, UINT64_MAX);
    smp_thread_groups_forget_ended(groups, 0);
    smp_thread_groups_see(groups, group, 1, "worker-1"); /* always known */
    if (status == SMP_OK)
        assert_int_equal(info->thread_count, count);
    smp_thread_groups_see(groups, group, 100, "worker-1");
    if (info->thread_count == count) /* nothing was forgotten */
        status = SMP_ENOMEM;
    smp_thread_groups_destroy(groups);
    return status;
}

static void test_without_memory_nothing_is_forgotten(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, AMPLE_BYTES);
    assert_true(failing_alloc_each_step(forget_ended_threads, &quota).refused > 10);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static enum smp_status use(void *self)
{
    struct smp_thread_groups *groups = NULL;
    const enum smp_status status = smp_thread_groups_create(self, SMALL_BYTES, &groups);

    assert_true((status == SMP_OK) == (groups != NULL));
    if (status == SMP_OK) {
        const struct smp_group group =
            smp_thread_groups_find(groups, (struct smp_group_key){ .name = "worker-" });
        const struct smp_group_info *info = smp_thread_groups_info(groups, group);

        smp_thread_groups_see(groups, group, 1, "worker-1");
        assert_int_equal(info->thread_count + info->names_lost, 1);
    }
    smp_thread_groups_destroy(groups);
    return status;
}

static void test_no_memory_at_any_step(void **state)
{
    struct smp_quota quota;
    struct failing_alloc_steps steps;

    (void)state;
    smp_quota_init(&quota, AMPLE_BYTES);
    steps = failing_alloc_each_step(use, &quota);
    /* Only the table of threads is optional. */
    assert_int_equal(steps.survived, 1);
    assert_int_equal(steps.refused, 9);
    assert_int_equal(smp_quota_used(&quota), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_name_is_one_group),
        cmocka_unit_test(test_a_thread_is_counted_once_per_group),
        cmocka_unit_test(test_twenty_thousand_threads_in_one_group),
        cmocka_unit_test(test_too_many_groups_share_the_overflow_group),
        cmocka_unit_test(test_group_infos_do_not_move),
        cmocka_unit_test(test_long_names_end_in_an_ellipsis),
        cmocka_unit_test(test_over_the_maximum_names_go_to_the_overflow_group),
        cmocka_unit_test(test_sightings_over_the_maximum_are_counted),
        cmocka_unit_test(test_groups_are_added_again_when_memory_is_free),
        cmocka_unit_test(test_a_name_has_one_group_of_each_kind),
        cmocka_unit_test(test_too_many_counted_groups_share_their_own_overflow_group),
        cmocka_unit_test(test_without_memory_a_counted_key_gets_no_counted_group),
        cmocka_unit_test(test_added_groups_keep_their_kind),
        cmocka_unit_test(test_threads_of_merged_groups_are_counted_once),
        cmocka_unit_test(test_short_lived_threads_are_counted_in_little_memory),
        cmocka_unit_test(test_only_threads_that_cannot_return_are_forgotten),
        cmocka_unit_test(test_threads_newer_than_the_list_of_living_ones_are_kept),
        cmocka_unit_test(test_without_memory_nothing_is_forgotten),
        cmocka_unit_test(test_no_memory_at_any_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

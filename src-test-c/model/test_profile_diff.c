/* SPDX-License-Identifier: Apache-2.0 */
/* Random profiles with one names table and with two, compared with a plain list of the paths of
 * the same stacks. SMP_TEST_ROUNDS sets the number of rounds. */
#include "model/profile_diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/next_random.h"
#include "support/rounds.h"

enum {
    PART_BYTES = 1 << 22,
    KEYS = 30,
    LINES = 4,
    MAX_DEPTH = 8,
    MAX_STACKS = 60,
    MAX_PATHS = 4000,
    TEXT_BYTES = 64,
    PATH_BYTES = 1024,
    MEASURES = 3,
    ROUNDS = 60
};

/* --- methods: key k is class c.K<k>; every third has no file, every seventh is native --- */

struct generated_frame {
    uint64_t key; /* 0: a pseudo-frame */
    uint32_t line;
};

static bool is_native(uint64_t key)
{
    return key % 7 == 1;
}

static bool has_file(uint64_t key)
{
    return key % 3 != 0;
}

/* Frames of the current names table. The texts of native methods do not show their files. */
static bool native_methods_have_files;

static bool is_file_known(uint64_t key)
{
    return is_native(key) ? native_methods_have_files : has_file(key);
}

static enum smp_status resolve(void *self, uint64_t key, struct smp_method_info *info)
{
    static const struct smp_line lines[LINES] = { { 0, 10 }, { 1, 11 }, { 2, 12 }, { 3, 13 } };
    static char class_name[TEXT_BYTES];

    (void)self;
    (void)snprintf(class_name, sizeof(class_name), "c.K%c%c", (char)('a' + key / 10),
                   (char)('a' + key % 10));
    *info = (struct smp_method_info){ .class_name = class_name,
                                      .method_name = "run",
                                      .file = is_file_known(key) ? "K.java" : NULL,
                                      .is_native = is_native(key),
                                      .lines = lines,
                                      .line_count = LINES };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

static void text_of(const struct generated_frame *frame, bool by_line, char text[TEXT_BYTES])
{
    char place[32] = "";

    if (frame->key == 0) {
        (void)snprintf(text, TEXT_BYTES, "[thread ended]");
        return;
    }
    if (by_line && is_native(frame->key))
        (void)snprintf(place, sizeof(place), "(Native Method)");
    else if (by_line && !has_file(frame->key))
        (void)snprintf(place, sizeof(place), "(Unknown Source)");
    else if (by_line)
        (void)snprintf(place, sizeof(place), "(K.java:%u)", (unsigned)(10 + frame->line));
    (void)snprintf(text, TEXT_BYTES, "c.K%c%c.run%s", (char)('a' + frame->key / 10),
                   (char)('a' + frame->key % 10), place);
}

/* --- generated profiles --- */

static const char *const group_names[] = { "main", "worker", "pool", "a;b" };
enum { GROUP_NAMES = sizeof(group_names) / sizeof(group_names[0]) };

struct generated_stack {
    size_t group;
    size_t depth;
    struct generated_frame frames[MAX_DEPTH]; /* leaf first */
    int64_t amounts[MEASURES];
};

struct generated_profile {
    struct generated_stack stacks[MAX_STACKS];
    size_t count;
    bool seen[GROUP_NAMES];
    struct smp_profile *profile; /* NULL: there is no profile */
};

static struct smp_methods *make_names(void)
{
    struct smp_methods *names = NULL;

    assert_int_equal(smp_methods_create(NULL, PART_BYTES, NULL, &names), SMP_OK);
    return names;
}

static struct generated_stack random_stack(unsigned *seed)
{
    struct generated_stack stack = { .group = next_random(seed) % GROUP_NAMES,
                                     .depth = 1 + next_random(seed) % MAX_DEPTH };

    for (size_t i = 0; i < stack.depth; i++) {
        if (next_random(seed) % 9 == 0)
            continue;
        stack.frames[i] = (struct generated_frame){ .key = 1 + next_random(seed) % KEYS,
                                                    .line = next_random(seed) % LINES };
        /* Frames near the root are few, so that stacks share a part of their paths. */
        if (i + 2 >= stack.depth)
            stack.frames[i].key = 1 + stack.frames[i].key % 3;
    }
    for (size_t i = 0; i < MEASURES; i++)
        stack.amounts[i] = next_random(seed) % 4 == 0 ? 0 : next_random(seed) % 100000;
    return stack;
}

static void add_stack(struct smp_tree *tree, struct smp_thread_groups *groups,
                      struct smp_methods *names, const struct generated_stack *stack)
{
    const struct smp_name_source source = { .resolve = resolve, .release = release };
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = group_names[stack->group] });
    struct smp_group_info *const info = smp_thread_groups_info(groups, group);
    uint32_t locations[MAX_DEPTH];
    uint32_t leaf = 0;

    for (size_t i = 0; i < stack->depth; i++) {
        const struct generated_frame *const from = &stack->frames[i];
        const struct smp_frame frame = { .method = from->key,
                                         .bci = is_native(from->key) ? -1 : (int64_t)from->line };
        locations[i] = from->key == 0 ? smp_methods_pseudo(names, "[thread ended]")
                                      : smp_methods_locate(names, &source, &frame);
    }
    assert_int_equal(smp_tree_root(tree, group.index, &info->root), SMP_OK);
    assert_int_equal(smp_tree_add(tree, info->root, locations, stack->depth, &leaf), SMP_OK);
    for (int i = 0; i < MEASURES; i++)
        smp_tree_credit(tree, leaf, (enum smp_measure)i, stack->amounts[i]);
}

static void make_profile(struct generated_profile *made, struct smp_methods *names, size_t count,
                         unsigned *seed)
{
    struct smp_tree *tree = NULL;
    struct smp_thread_groups *groups = NULL;

    assert_int_equal(smp_tree_create(NULL, SMP_SAMPLED_MEASURES, PART_BYTES, &tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
    /* A poll without a stack. */
    (void)smp_thread_groups_find(
        groups, (struct smp_group_key){ .name = group_names[count % GROUP_NAMES] });
    made->seen[count % GROUP_NAMES] = true;
    for (made->count = 0; made->count < count; made->count++) {
        made->stacks[made->count] = random_stack(seed);
        made->seen[made->stacks[made->count].group] = true;
        add_stack(tree, groups, names, &made->stacks[made->count]);
    }
    assert_int_equal(smp_profile_create(NULL, tree, groups, names, &made->profile), SMP_OK);
}

/* --- the reference implementation: a list of all paths --- */

struct path {
    char text[PATH_BYTES]; /* "main|c.Kaa.run(K.java:10)|..." */
    int64_t amounts[SMP_DIFF_SIDES][MEASURES];
    bool seen;
};

struct paths {
    struct path *list;
    size_t count;
};

static struct path *path_of(struct paths *paths, const char *text)
{
    for (size_t i = 0; i < paths->count; i++) {
        if (strcmp(paths->list[i].text, text) == 0)
            return &paths->list[i];
    }
    return NULL;
}

static struct path *need_path(struct paths *paths, const char *text)
{
    struct path *known = path_of(paths, text);

    if (known != NULL)
        return known;
    assert_true(paths->count < MAX_PATHS);
    known = &paths->list[paths->count++];
    (void)snprintf(known->text, sizeof(known->text), "%s", text);
    return known;
}

static void append(char path[PATH_BYTES], const char *frame)
{
    const size_t length = strlen(path);

    (void)snprintf(path + length, PATH_BYTES - length, "|%s", frame);
}

static void note_stack(struct paths *paths, int side, const struct generated_stack *stack,
                       bool by_line)
{
    struct path *at = NULL;
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s", group_names[stack->group]);
    for (size_t i = stack->depth; i > 0; i--) {
        char text[TEXT_BYTES];
        text_of(&stack->frames[i - 1], by_line, text);
        append(path, text);
        at = need_path(paths, path);
    }
    for (size_t i = 0; i < MEASURES; i++)
        at->amounts[side][i] += stack->amounts[i];
}

static struct paths reference_of(const struct generated_profile made[SMP_DIFF_SIDES], bool by_line)
{
    struct paths paths = { .list = calloc(MAX_PATHS, sizeof(struct path)) };

    assert_non_null(paths.list);
    for (int side = 0; side < SMP_DIFF_SIDES; side++) {
        if (made[side].profile == NULL)
            continue;
        (void)need_path(&paths, "[over group limit]"); /* every profile has this group */
        for (size_t i = 0; i < GROUP_NAMES; i++) {
            if (made[side].seen[i])
                (void)need_path(&paths, group_names[i]);
        }
        for (size_t i = 0; i < made[side].count; i++)
            note_stack(&paths, side, &made[side].stacks[i], by_line);
    }
    return paths;
}

/* --- comparing --- */

static void write_path(const struct smp_profile_diff *diff, uint32_t place, bool by_line,
                       char path[PATH_BYTES])
{
    const uint32_t parent = smp_profile_diff_parent(diff, place);
    const uint32_t location = smp_profile_diff_location(diff, place);
    struct smp_location_view view;
    struct smp_bytes text;

    assert_true(parent < place);
    smp_bytes_init(&text, NULL, PATH_BYTES);
    smp_methods_view(smp_profile_diff_names(diff), location, &view);
    assert_true(view.is_pseudo || by_line || (view.file == NULL && view.line == -1));
    if (by_line)
        smp_methods_frame_text(smp_profile_diff_names(diff), location, &text);
    else
        smp_methods_method_text(smp_profile_diff_names(diff), location, &text);
    if (parent == 0) {
        (void)snprintf(path, PATH_BYTES, "%s", smp_bytes_text(&text));
    } else {
        write_path(diff, parent, by_line, path);
        append(path, smp_bytes_text(&text));
    }
    smp_bytes_fini(&text);
}

static void assert_sums(const struct smp_profile_diff *diff, struct paths *paths, bool by_line)
{
    const size_t count = smp_profile_diff_count(diff);
    int64_t *const sums = calloc(count, sizeof(*sums));

    assert_non_null(sums);
    for (int side = 0; side < SMP_DIFF_SIDES; side++) {
        for (size_t m = 0; m < MEASURES; m++) {
            memset(sums, 0x55, count * sizeof(*sums));
            smp_profile_diff_sum(diff, (enum smp_diff_side)side, (enum smp_measure)m, sums);
            for (uint32_t place = 1; place < count; place++) {
                char text[PATH_BYTES];
                write_path(diff, place, by_line, text);
                assert_int_equal(sums[place], path_of(paths, text)->amounts[side][m]);
            }
        }
    }
    free(sums);
}

/* Each path has exactly one place, and each place belongs to one path. */
static void assert_places(const struct smp_profile_diff *diff, struct paths *paths, bool by_line)
{
    const size_t count = smp_profile_diff_count(diff);

    assert_int_equal(count, paths->count + 1);
    for (uint32_t place = 1; place < count; place++) {
        char text[PATH_BYTES];
        write_path(diff, place, by_line, text);
        struct path *const path = path_of(paths, text);
        assert_non_null(path);
        assert_false(path->seen);
        path->seen = true;
    }
}

static void assert_groups(const struct smp_profile_diff *diff, enum smp_diff_side side,
                          const struct smp_profile *profile)
{
    for (uint32_t i = 0; profile != NULL && i < smp_thread_groups_count(profile->groups); i++) {
        const struct smp_group_info *const info =
            smp_thread_groups_info(profile->groups, (struct smp_group){ .index = i });
        const uint32_t place = smp_profile_diff_group(diff, side, i);
        char text[PATH_BYTES];
        write_path(diff, place, true, text);
        assert_string_equal(text, info->name);
        assert_int_equal(smp_profile_diff_parent(diff, place), 0);
        if (info->root != 0)
            assert_int_equal(smp_profile_diff_place(diff, side, info->root), place);
    }
}

static void check(const struct generated_profile made[SMP_DIFF_SIDES], bool by_line)
{
    const struct smp_profile *const profiles[] = { made[0].profile, made[1].profile };
    struct paths paths = reference_of(made, by_line);
    struct smp_profile_diff *diff = NULL;

    assert_int_equal(smp_profile_diff_create(NULL, profiles, by_line, &diff), SMP_OK);
    assert_places(diff, &paths, by_line);
    assert_sums(diff, &paths, by_line);
    for (int side = 0; side < SMP_DIFF_SIDES; side++)
        assert_groups(diff, (enum smp_diff_side)side, profiles[side]);
    smp_profile_diff_destroy(diff);
    free(paths.list);
}

static void make_both(struct generated_profile made[SMP_DIFF_SIDES], bool one_table, unsigned seed)
{
    struct smp_methods *const first = make_names();
    struct smp_methods *const second = one_table ? smp_methods_hold(first) : make_names();

    native_methods_have_files = false;
    make_profile(&made[0], first, next_random(&seed) % MAX_STACKS, &seed);
    native_methods_have_files = !one_table;
    make_profile(&made[1], second, next_random(&seed) % MAX_STACKS, &seed);
    smp_methods_release(first);
    smp_methods_release(second);
}

static void release_both(struct generated_profile made[SMP_DIFF_SIDES])
{
    smp_profile_release(made[0].profile);
    smp_profile_release(made[1].profile);
}

/* --- the tests --- */

static void a_difference_has_the_stacks_of_both_sides(void **state)
{
    (void)state;
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        struct generated_profile made[SMP_DIFF_SIDES] = { 0 };
        make_both(made, round % 2 == 0, (unsigned)round * 7919 + 1);
        check(made, true);
        check(made, false);
        release_both(made);
    }
}

static void a_side_may_be_absent(void **state)
{
    struct generated_profile made[SMP_DIFF_SIDES] = { 0 };

    (void)state;
    check(made, true);
    make_both(made, true, 5);
    smp_profile_release(made[0].profile);
    made[0] = (struct generated_profile){ 0 };
    check(made, true);
    made[0] = made[1];
    made[1] = (struct generated_profile){ 0 };
    check(made, false);
    release_both(made);
}

static void sums_saturate_at_their_maximum(void **state)
{
    struct generated_profile made[SMP_DIFF_SIDES] = { 0 };
    struct smp_methods *const names = make_names();
    struct smp_tree *tree = NULL;
    struct smp_thread_groups *groups = NULL;
    struct smp_profile_diff *diff = NULL;
    int64_t sums[4];

    (void)state;
    assert_int_equal(smp_tree_create(NULL, SMP_SAMPLED_MEASURES, PART_BYTES, &tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
    for (uint32_t line = 0; line < 2; line++) {
        const struct generated_stack stack = { .depth = 1,
                                               .frames = { { .key = 2, .line = line } },
                                               .amounts = { INT64_MAX - 5, 0, 0 } };
        add_stack(tree, groups, names, &stack);
    }
    assert_int_equal(smp_profile_create(NULL, tree, groups, names, &made[0].profile), SMP_OK);
    const struct smp_profile *const profiles[] = { made[0].profile, made[0].profile };
    assert_int_equal(smp_profile_diff_create(NULL, profiles, false, &diff), SMP_OK);
    assert_int_equal(smp_profile_diff_count(diff), 4); /* the common root, two groups, one frame */
    smp_profile_diff_sum(diff, SMP_DIFF_AFTER, SMP_MEASURE_WALL, sums);
    assert_int_equal(sums[3], INT64_MAX);
    smp_profile_diff_destroy(diff);
    smp_profile_release(made[0].profile);
    smp_methods_release(names);
}

/* --- measures --- */

static struct smp_profile *make_bare(struct smp_methods *names, uint32_t measures)
{
    struct smp_tree *tree = NULL;
    struct smp_thread_groups *groups = NULL;
    struct smp_profile *profile = NULL;

    assert_int_equal(smp_tree_create(NULL, measures, PART_BYTES, &tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
    assert_int_equal(smp_profile_create(NULL, tree, groups, names, &profile), SMP_OK);
    return profile;
}

static uint32_t measures_of(struct smp_methods *names, uint32_t before, uint32_t after)
{
    struct smp_profile_diff *diff = NULL;
    struct smp_profile *first = make_bare(names, before);
    struct smp_profile *second = make_bare(names, after);
    const struct smp_profile *const profiles[] = { first, second };

    assert_int_equal(smp_profile_diff_create(NULL, profiles, true, &diff), SMP_OK);
    const uint32_t measures = smp_profile_diff_measures(diff);
    smp_profile_diff_destroy(diff);
    smp_profile_release(first);
    smp_profile_release(second);
    return measures;
}

static void states_are_compared_if_both_sides_have_them(void **state)
{
    const uint32_t with_states = SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES;
    struct smp_methods *names = NULL;

    (void)state;
    assert_int_equal(smp_methods_create(NULL, PART_BYTES, NULL, &names), SMP_OK);
    assert_int_equal(measures_of(names, with_states, with_states), with_states);
    assert_int_equal(measures_of(names, SMP_SAMPLED_MEASURES, with_states), SMP_SAMPLED_MEASURES);
    assert_int_equal(measures_of(names, with_states, SMP_SAMPLED_MEASURES), SMP_SAMPLED_MEASURES);
    smp_methods_release(names);
}

/* --- size --- */

enum { MANY_GROUPS = 4000, MANY_FRAMES = 20000 };

/* The two sides have no frame in common. */
static struct smp_profile *make_large(struct smp_methods *names, char side)
{
    struct smp_tree *tree = NULL;
    struct smp_thread_groups *groups = NULL;
    struct smp_profile *profile = NULL;
    char text[TEXT_BYTES];
    uint32_t leaf = 0;

    assert_int_equal(smp_tree_create(NULL, SMP_SAMPLED_MEASURES, PART_BYTES, &tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
    for (uint32_t i = 0; i < MANY_FRAMES; i++) {
        (void)snprintf(text, sizeof(text), "%c group %c%c%c", side,
                       (char)('a' + i % MANY_GROUPS / 676), (char)('a' + i % MANY_GROUPS / 26 % 26),
                       (char)('a' + i % MANY_GROUPS % 26));
        const struct smp_group group =
            smp_thread_groups_find(groups, (struct smp_group_key){ .name = text });
        (void)snprintf(text, sizeof(text), "[%c frame %u]", side, (unsigned)i);
        const uint32_t location = smp_methods_pseudo(names, text);
        struct smp_group_info *const info = smp_thread_groups_info(groups, group);
        assert_int_equal(smp_tree_root(tree, group.index, &info->root), SMP_OK);
        assert_int_equal(smp_tree_add(tree, info->root, &location, 1, &leaf), SMP_OK);
        smp_tree_credit(tree, leaf, SMP_MEASURE_WALL, 1);
    }
    assert_int_equal(smp_tree_node_count(tree), 1 + MANY_GROUPS + MANY_FRAMES);
    assert_int_equal(smp_profile_create(NULL, tree, groups, names, &profile), SMP_OK);
    return profile;
}

static void large_profiles_are_compared_completely(void **state)
{
    struct smp_methods *names = NULL;
    struct smp_profile_diff *diff = NULL;

    (void)state;
    assert_int_equal(smp_methods_create(NULL, 2 * PART_BYTES, NULL, &names), SMP_OK);
    struct smp_profile *before = make_large(names, 'b');
    struct smp_profile *after = make_large(names, 'a');
    const struct smp_profile *const profiles[] = { before, after };
    assert_int_equal(smp_profile_diff_create(NULL, profiles, true, &diff), SMP_OK);
    /* Also the overflow group, which both sides have. */
    assert_int_equal(smp_profile_diff_count(diff), 2 + 2 * (MANY_GROUPS + MANY_FRAMES));
    assert_int_equal(smp_profile_diff_measures(diff), SMP_SAMPLED_MEASURES);
    smp_profile_diff_destroy(diff);
    smp_profile_release(before);
    smp_profile_release(after);
    smp_methods_release(names);
}

/* --- memory --- */

struct attempt {
    const struct smp_profile *profiles[SMP_DIFF_SIDES];
    struct smp_quota *quota;
};

static enum smp_status compare(void *self)
{
    const struct attempt *const attempt = self;
    struct smp_profile_diff *diff = NULL;
    const enum smp_status status =
        smp_profile_diff_create(attempt->quota, attempt->profiles, true, &diff);

    assert_true((status == SMP_OK) == (diff != NULL));
    smp_profile_diff_destroy(diff);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    struct generated_profile made[SMP_DIFF_SIDES] = { 0 };

    (void)state;
    make_both(made, false, 77);
    struct attempt attempt = { .profiles = { made[0].profile, made[1].profile } };
    assert_true(failing_alloc_each_step(compare, &attempt).refused >= 10);
    assert_int_equal(failing_alloc_each_step(compare, &attempt).survived, 0);
    release_both(made);
}

static void the_quota_limits_the_memory_of_a_difference(void **state)
{
    struct generated_profile made[SMP_DIFF_SIDES] = { 0 };
    struct smp_quota quota;

    (void)state;
    make_both(made, false, 78);
    struct attempt attempt = { .profiles = { made[0].profile, made[1].profile }, .quota = &quota };
    for (size_t limit = 1 << 10; limit <= 1 << 24; limit *= 2) {
        smp_quota_init(&quota, limit);
        const enum smp_status status = compare(&attempt);
        assert_true(status == SMP_OK || status == SMP_ENOMEM || status == SMP_EQUOTA);
        assert_true(status != SMP_OK || limit >= SMP_METHODS_MIN_BYTES);
        assert_int_equal(smp_quota_used(&quota), 0);
    }
    assert_int_equal(compare(&attempt), SMP_OK);
    release_both(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_has_the_stacks_of_both_sides),
        cmocka_unit_test(a_side_may_be_absent),
        cmocka_unit_test(sums_saturate_at_their_maximum),
        cmocka_unit_test(states_are_compared_if_both_sides_have_them),
        cmocka_unit_test(large_profiles_are_compared_completely),
        cmocka_unit_test(each_allocation_may_be_refused),
        cmocka_unit_test(the_quota_limits_the_memory_of_a_difference),
    };
    return cmocka_run_group_tests_name("profile_diff", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Hot spots of random profiles, compared with sums over stacks as texts; and each detail of a hot
 * spot. SMP_TEST_ROUNDS sets the number of rounds. */
#include "export/hot_spots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/hot_groups.h"
#include "support/failing_alloc.h"
#include "support/random_profile.h"
#include "support/rounds.h"

enum { ROUNDS = 400, MAX_STACKS = 120, MAX_DEPTH = 6, STACK_BYTES = 512, FRAME_BYTES = 128 };

/* --- the reference implementation: stacks are texts, and each sum searches all of them --- */

struct stack_time {
    const char *group;
    char stack[STACK_BYTES];
    enum smp_thread_state state;
    int64_t ns;
    bool is_used;
    bool is_apart; /* a wait in a group that only waits for other threads */
    /* Spots found by the reference implementation. */
    bool waits_for_others;
    char place[FRAME_BYTES];
    char callee[FRAME_BYTES];
};

struct stack_times {
    struct stack_time list[MAX_STACKS];
    size_t count;
};

/* The frames to choose from. */
static bool is_code(const char *frame)
{
    return frame[0] == 'a' || frame[0] == 'u';
}

/* Frames are separated by '|'. callee: the method only. */
static void find_place(struct stack_time *time)
{
    char copy[STACK_BYTES];
    char *rest = copy;
    const char *last = "";
    bool is_below = false;

    strcpy(copy, time->stack);
    for (char *frame = strsep(&rest, "|"); frame != NULL; frame = strsep(&rest, "|")) {
        last = frame;
        if (is_code(frame)) {
            strcpy(time->place, frame);
            time->callee[0] = '\0';
            time->waits_for_others = false;
        } else if (is_below) {
            strcpy(time->callee, frame);
        }
        if (strncmp(frame, "java.lang.Thread.join(", 22) == 0 && time->place[0] != '\0')
            time->waits_for_others = time->state == SMP_STATE_WAITING;
        is_below = is_code(frame);
    }
    if (time->place[0] == '\0')
        strcpy(time->callee, last);
    time->callee[strcspn(time->callee, "(")] = '\0';
}

/* Running and runnable are one. */
static enum smp_thread_state computing(enum smp_thread_state state)
{
    return state == SMP_STATE_RUNNABLE ? SMP_STATE_RUNNING : state;
}

static bool is_same_spot(const struct stack_time *a, const struct stack_time *b)
{
    if (strcmp(a->place, b->place) != 0)
        return false;
    return a->place[0] == '\0' || computing(a->state) == computing(b->state);
}

static bool is_counted(const struct stack_time *time)
{
    return time->state != SMP_STATE_IDLE && !time->is_apart &&
           strcmp(time->group, SMP_JVM_THREADS_NAME) != 0;
}

/* Marks the waits of groups that spend nine tenths of their active time in them. */
static int64_t set_waits_apart(struct stack_times *times)
{
    int64_t apart_ns = 0;

    for (size_t i = 0; i < times->count; i++) {
        struct stack_time *const time = &times->list[i];
        int64_t active_ns = 0;
        int64_t waits_ns = 0;
        for (size_t other = 0; other < times->count; other++) {
            const struct stack_time *const more = &times->list[other];
            if (strcmp(more->group, time->group) != 0 || more->state == SMP_STATE_IDLE)
                continue;
            active_ns += more->ns;
            waits_ns += more->waits_for_others ? more->ns : 0;
        }
        time->is_apart = time->waits_for_others && waits_ns * 10 >= active_ns * 9 &&
                         strcmp(time->group, SMP_JVM_THREADS_NAME) != 0;
        apart_ns += time->is_apart ? time->ns : 0;
    }
    return apart_ns;
}

/* Returns the spot's time with this callee and group; NULL: any. */
static int64_t sum_of(const struct stack_times *times, const struct stack_time *spot,
                      const char *callee, const char *group)
{
    int64_t sum = 0;

    for (size_t i = 0; i < times->count; i++) {
        const struct stack_time *const time = &times->list[i];
        if (is_counted(time) && is_same_spot(time, spot) &&
            (callee == NULL || strcmp(callee, time->callee) == 0) &&
            (group == NULL || strcmp(group, time->group) == 0))
            sum += time->ns;
    }
    return sum;
}

/* --- comparing the spots with the reference --- */

static char *text_of(const struct smp_profile *profile, uint32_t location, bool with_place)
{
    struct smp_bytes bytes;
    char *text;

    smp_bytes_init(&bytes, NULL, 1 << 20);
    if (location != 0 && with_place)
        smp_methods_frame_text(profile->methods, location, &bytes);
    else if (location != 0)
        smp_methods_method_text(profile->methods, location, &bytes);
    text = strdup(smp_bytes_text(&bytes));
    smp_bytes_fini(&bytes);
    return text;
}

static struct stack_time spot_as_time(const struct smp_profile *profile,
                                      const struct smp_hot_spot *spot)
{
    struct stack_time time = { .state = SMP_STATE_IDLE };
    char *const place = text_of(profile, spot->place, true);

    strcpy(time.place, place);
    free(place);
    if (spot->measure != SMP_MEASURE_WALL)
        time.state = (enum smp_thread_state)(spot->measure - SMP_TABLE_MEASURE_COUNT);
    return time;
}

static void assert_most(const struct stack_times *times, const struct stack_time *spot,
                        const char *callee, const char *group)
{
    const int64_t of_callee = sum_of(times, spot, callee, NULL);
    const int64_t of_group = sum_of(times, spot, NULL, group);

    assert_true(of_callee > 0);
    assert_true(of_group > 0);
    for (size_t i = 0; i < times->count; i++) {
        const struct stack_time *const time = &times->list[i];
        if (!is_counted(time) || !is_same_spot(time, spot))
            continue;
        const int64_t other_callee = sum_of(times, spot, time->callee, NULL);
        const int64_t other_group = sum_of(times, spot, NULL, time->group);
        assert_true(other_callee <= of_callee);
        if (other_callee == of_callee)
            assert_true(strcmp(callee, time->callee) <= 0);
        assert_true(other_group <= of_group);
        if (other_group == of_group)
            assert_true(strcmp(group, time->group) <= 0);
    }
}

static void assert_spot(const struct smp_profile *profile, struct stack_times *times,
                        const struct smp_hot_spot *spot)
{
    const struct stack_time as_time = spot_as_time(profile, spot);
    char *const callee = text_of(profile, spot->callee, false);

    assert_int_equal(spot->ns, sum_of(times, &as_time, NULL, NULL));
    assert_most(times, &as_time, callee, smp_profile_group_info(profile, spot->group)->name);
    for (size_t i = 0; i < times->count; i++) {
        if (is_same_spot(&times->list[i], &as_time))
            times->list[i].is_used = true;
    }
    free(callee);
}

/* Each spot has its position, and no spot that is left out has more time than the last one. */
static void assert_order(const struct smp_profile *profile, const struct smp_hot_spots *spots)
{
    for (size_t i = 1; i < spots->count; i++) {
        const struct stack_time a = spot_as_time(profile, &spots->list[i - 1]);
        const struct stack_time b = spot_as_time(profile, &spots->list[i]);
        const int order = strcmp(a.place, b.place);
        assert_true(spots->list[i - 1].ns >= spots->list[i].ns);
        if (spots->list[i - 1].ns == spots->list[i].ns)
            assert_true(order < 0 || (order == 0 && computing(a.state) < computing(b.state)));
    }
}

static void assert_rest(const struct smp_hot_spots *spots, struct stack_times *times)
{
    int64_t others_ns = 0;
    size_t others = 0;

    for (size_t i = 0; i < times->count; i++) {
        struct stack_time *const time = &times->list[i];
        if (time->is_used || !is_counted(time) || time->place[0] == '\0' || time->ns == 0)
            continue;
        const int64_t ns = sum_of(times, time, NULL, NULL);
        assert_true(
            ns < spots->active_ns / SMP_HOT_SPOT_SHARE ||
            (spots->count == SMP_SUMMARY_SPOTS && ns <= spots->list[SMP_SUMMARY_SPOTS - 1].ns));
        others_ns += ns;
        others++;
        for (size_t other = i; other < times->count; other++) {
            if (is_same_spot(&times->list[other], time))
                times->list[other].is_used = true;
        }
    }
    assert_int_equal(spots->others_ns, others_ns);
    assert_int_equal(spots->others, others);
}

static void assert_spots(const struct smp_profile *profile, struct stack_times *times)
{
    struct smp_hot_spots spots;
    const int64_t apart_ns = set_waits_apart(times);
    int64_t all_ns = apart_ns;
    int64_t active_ns = apart_ns;

    assert_int_equal(smp_hot_spots_init(&spots, NULL, profile), SMP_OK);
    assert_true(spots.has_states);
    for (size_t i = 0; i < times->count; i++)
        active_ns += is_counted(&times->list[i]) ? times->list[i].ns : 0;
    assert_int_equal(spots.active_ns, active_ns);
    for (size_t i = 0; i < spots.count; i++) {
        assert_true(spots.count <= SMP_SUMMARY_SPOTS);
        assert_true(spots.list[i].ns >= active_ns / SMP_HOT_SPOT_SHARE);
        assert_true(spots.list[i].place != 0);
        assert_spot(profile, times, &spots.list[i]);
        all_ns += spots.list[i].ns;
    }
    assert_int_equal(spots.waits.ns, apart_ns);
    if (spots.outside.ns > 0)
        assert_spot(profile, times, &spots.outside);
    assert_int_equal(all_ns + spots.others_ns + spots.outside.ns, active_ns);
    assert_order(profile, &spots);
    assert_rest(&spots, times);
}

static void draw_stacks(struct report_fixture *fixture, struct stack_times *times, size_t stacks,
                        unsigned *seed)
{
    static const char *const frames[] = {
        "a.A.run(A.java:1)",
        "a.A.run(A.java:2)",
        "a.A.walk(A.java:2)",
        "u.U.u(Unknown Source)",
        "java.util.B$1.x(B.java)",
        "java.util.B$1.x(B.java:7)",
        "java.util.N.n(Native Method)",
        "org.springframework.S.s(S.java:3)",
        "[thread ended]",
        "java.lang.Thread.run(Thread.java:840)",
    };
    static const char *const joins[] = {
        "a.A.run(A.java:1)|java.lang.Thread.join(Thread.java:9)|java.util.N.n(Native Method)",
        "u.U.u(Unknown Source)|java.util.N.n(Native Method)|java.lang.Thread.join(Thread.java:9)",
    };
    static const char *const groups[] = { "main", "pool", "x", SMP_JVM_THREADS_NAME };
    enum { FRAMES = sizeof(frames) / sizeof(frames[0]) };

    times->count = stacks;
    for (size_t i = 0; i < stacks; i++) {
        struct stack_time *const time = &times->list[i];
        const unsigned depth = 1 + next_random(seed) % MAX_DEPTH;
        *time = (struct stack_time){ .group = groups[next_random(seed) % 4] };
        for (unsigned at = 0; at < depth; at++) {
            strcat(time->stack, at > 0 ? "|" : "");
            strcat(time->stack, frames[next_random(seed) % FRAMES]);
        }
        time->state = (enum smp_thread_state)(next_random(seed) % SMP_THREAD_STATE_COUNT);
        if (strcmp(time->group, "x") == 0 && next_random(seed) % 16 != 0) {
            strcpy(time->stack, joins[next_random(seed) % 2]);
            time->state = SMP_STATE_WAITING;
        }
        time->ns = next_random(seed) % (next_random(seed) % 3 == 0 ? 10000 : 4);
        (void)report_fixture_wait(fixture, time->group, "t", time->stack, time->state, time->ns);
        find_place(time);
    }
}

/* --- the tests --- */

static void hot_spots_match_sums_over_stacks(void **state)
{
    static struct stack_times times;

    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        unsigned seed = (unsigned)round * 104729 + 1;
        const size_t stacks = next_random(&seed) % MAX_STACKS;
        draw_stacks(*state, &times, stacks, &seed);
        assert_spots(report_fixture_finish(*state), &times);
        report_fixture_begin_with(*state, REPORT_FIXTURE_STATES);
    }
}

static struct smp_hot_spots spots_of(struct report_fixture *fixture)
{
    struct smp_hot_spots spots;

    assert_int_equal(smp_hot_spots_init(&spots, NULL, report_fixture_finish(fixture)), SMP_OK);
    return spots;
}

static void assert_location(struct report_fixture *fixture, uint32_t location, const char *expected)
{
    char *const text = text_of(report_fixture_finish(fixture), location, true);

    assert_string_equal(text, expected);
    free(text);
}

static void each_state_of_a_row_is_a_separate_hot_spot(void **state)
{
    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:1)|java.lang.Thread.sleep(Thread.java:9)",
                        SMP_STATE_WAITING, 30);
    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:1)", SMP_STATE_BLOCKED, 20);
    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:1)", SMP_STATE_IDLE, 500);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.active_ns, 50);
    assert_int_equal(spots.count, 2);
    assert_int_equal(spots.list[0].measure, SMP_MEASURE_WAITING);
    assert_location(*state, spots.list[0].callee, "java.lang.Thread.sleep(Thread.java:9)");
    assert_int_equal(spots.list[1].measure, SMP_MEASURE_BLOCKED);
    assert_int_equal(spots.list[1].callee, 0);
    assert_int_equal(spots.list[1].lock, 0);
    assert_true(spots.list[0].error.variance < 0);
    assert_int_equal(spots.outside.ns, 0);
}

static void running_and_runnable_are_one_hot_spot(void **state)
{
    static const char place[] = "a.A.run(A.java:1)";

    report_fixture_wait(*state, "g", "g", place, SMP_STATE_RUNNING, 30);
    report_fixture_wait(*state, "h", "h", "a.A.run(A.java:1)|java.util.B.x(B.java)",
                        SMP_STATE_RUNNABLE, 40);
    report_fixture_wait(*state, "g", "g", place, SMP_STATE_IO, 60);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.count, 2);
    assert_int_equal(spots.list[0].ns, 70);
    assert_int_equal(spots.list[0].measure, SMP_MEASURE_RUNNABLE);
    assert_int_equal(spots.list[0].amounts.of[SMP_MEASURE_RUNNING], 30);
    assert_int_equal(spots.list[0].group_count, 2);
    assert_location(*state, spots.list[0].callee, "java.util.B.x(B.java)");
    assert_int_equal(spots.list[1].measure, SMP_MEASURE_IO);
    assert_int_equal(spots.list[1].group_count, 1);
    assert_int_equal(spots.list[1].callee, 0);
}

#define JOIN "a.A.main(A.java:1)|java.lang.Thread.join(Thread.java:9)|java.lang.Object.wait(O.java)"
#define GET                                                                                      \
    "a.B.take(B.java:2)|java.util.concurrent.FutureTask.get(F.java:1)|jdk.internal.misc.Unsafe." \
    "park(Native Method)"

static void a_group_that_only_waits_for_others_has_no_hot_spot(void **state)
{
    report_fixture_wait(*state, "main", "main", JOIN, SMP_STATE_WAITING, 900);
    report_fixture_wait(*state, "main", "main", "a.A.main(A.java:7)", SMP_STATE_RUNNING, 100);
    report_fixture_wait(*state, "main", "main", GET, SMP_STATE_WAITING, 30);
    report_fixture_wait(*state, "http", "http", GET, SMP_STATE_WAITING, 500);
    report_fixture_wait(*state, "http", "http", "a.A.main(A.java:1)", SMP_STATE_RUNNING, 60);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.active_ns, 1590);
    assert_int_equal(spots.waits.ns, 930);
    assert_int_equal(spots.waits.group_count, 1);
    assert_location(*state, spots.waits.callee, "a.A.main(A.java:1)");
    /* includes a wait for a result in a group that also does other work */
    assert_int_equal(spots.count, 3);
    assert_location(*state, spots.list[0].place, "a.B.take(B.java:2)");
    assert_int_equal(spots.list[0].ns, 500);
    assert_int_equal(spots.package_count, 1);
    /* packages of such waits count as the user's packages */
    assert_int_equal(spots.packages[0].ns, 1590);
}

static void a_group_that_also_works_keeps_its_waits(void **state)
{
    report_fixture_wait(*state, "main", "main", JOIN, SMP_STATE_WAITING, 899);
    report_fixture_wait(*state, "main", "main", "a.A.main(A.java:7)", SMP_STATE_RUNNING, 101);
    report_fixture_wait(*state, "main", "main", JOIN, SMP_STATE_BLOCKED, 1);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.waits.ns, 0);
    assert_int_equal(spots.list[0].ns, 899);
}

static void a_join_in_a_caller_is_no_wait(void **state)
{
    report_fixture_wait(*state, "main", "main",
                        "a.A.main(A.java:1)|java.lang.Thread.join(T.java:9)|a.T.toString(T.java:3)",
                        SMP_STATE_WAITING, 900);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.waits.ns, 0);
    assert_int_equal(spots.list[0].ns, 900);
}

static void by_group_waits_for_others_are_hot_spots(void **state)
{
    const struct smp_spot_choice choice = { .most = 3, .share = 50, .by_group = true };
    struct smp_hot_spots spots;

    report_fixture_wait(*state, "main", "main", JOIN, SMP_STATE_WAITING, 900);
    assert_int_equal(smp_hot_spots_choose(&spots, NULL, report_fixture_finish(*state), &choice),
                     SMP_OK);
    assert_int_equal(spots.count, 1);
    assert_int_equal(spots.waits.ns, 0);
}

static void monitored_packages_define_the_users_code(void **state)
{
    report_fixture_monitor(*state, "java.util");
    report_fixture_wait(*state, "g", "g", "java.util.M.get(M.java:1)|a.A.run(A.java:1)",
                        SMP_STATE_RUNNING, 30);
    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:1)", SMP_STATE_RUNNING, 20);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.count, 1);
    assert_location(*state, spots.list[0].place, "java.util.M.get(M.java:1)");
    assert_location(*state, spots.list[0].callee, "a.A.run(A.java:1)");
    assert_int_equal(spots.outside.ns, 20);
    report_fixture_monitor(*state, "");
}

static void a_blocked_hot_spot_names_the_lock_with_most_of_its_time(void **state)
{
    static const char waiting[] = "a.A.put(A.java:5)";

    report_fixture_wait(*state, "g", "g", waiting, SMP_STATE_BLOCKED, 100);
    report_fixture_wait(*state, "g", "g", waiting, SMP_STATE_WAITING, 50);
    report_fixture_hold(*state, "a.B", waiting, "few", "a.A.get(A.java:9)", 40);
    report_fixture_hold(*state, "a.C", waiting, "some", "a.D.hold(D.java:7)", 50);
    report_fixture_hold(*state, "a.C", "a.A.other(A.java:6)", "most",
                        "java.lang.Thread.run(Thread.java:1)|a.D.hold(D.java:7)", 60);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.count, 2);
    assert_location(*state, spots.list[0].lock, "a.C");
    assert_location(*state, spots.list[0].holding, "a.D.hold(D.java:7)");
    assert_true(spots.list[0].has_holder);
    assert_string_equal(
        smp_profile_group_info(report_fixture_finish(*state), spots.list[0].holder)->name, "most");
    assert_int_equal(spots.list[1].lock, 0);
    assert_false(spots.list[1].has_holder);
    assert_int_equal(spots.active_ns, 150); /* the time of holders does not count */
}

static void a_hot_spot_has_the_calls_of_its_method(void **state)
{
    report_fixture_begin_with(*state, REPORT_FIXTURE_STATES | SMP_MEASURE_BIT(SMP_MEASURE_CALLS));
    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:1)|a.B.b(B.java:1)", SMP_STATE_RUNNING,
                        10);
    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:1)|a.C.c(C.java:1)", SMP_STATE_RUNNING,
                        5);
    report_fixture_count(*state, "g", "a.A.run(A.java)|a.B.b(B.java)", 7, 10, 0);
    report_fixture_count(*state, "h", "a.B.b(B.java)", 4, 10, 0);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.count, 2);
    assert_int_equal(spots.active_ns, 15);
    assert_location(*state, spots.list[0].place, "a.B.b(B.java:1)");
    assert_int_equal(spots.list[0].calls, 11);
    assert_int_equal(spots.list[1].calls, 0);
}

static void without_states_a_hot_spot_is_a_row(void **state)
{
    report_fixture_begin(*state);
    report_fixture_credit(*state, "g", "g", "a.A.run(A.java:1)|java.B.b(B.java:1)", 10);
    report_fixture_credit(*state, "h", "h", "a.A.run(A.java:1)", 5);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_false(spots.has_states);
    assert_int_equal(spots.count, 1);
    assert_int_equal(spots.list[0].measure, SMP_MEASURE_WALL);
    assert_int_equal(spots.list[0].ns, 15);
    assert_int_equal(spots.list[0].group_count, 2);
    assert_int_equal(spots.active_ns, 15);
}

static void packages_are_cut_to_two_parts(void **state)
{
    report_fixture_wait(*state, "g", "g", "com.acme.shop.A.a(A.java:1)", SMP_STATE_RUNNING, 10);
    report_fixture_wait(*state, "g", "g", "com.acme.cart.B.b(B.java:1)", SMP_STATE_RUNNING, 10);
    report_fixture_wait(*state, "g", "g", "one.C.c(C.java:1)", SMP_STATE_RUNNING, 30);
    report_fixture_wait(*state, "g", "g", "D.d(D.java:1)", SMP_STATE_RUNNING, 5);
    report_fixture_wait(*state, "g", "g", "e.e.E.e(E.java:1)", SMP_STATE_RUNNING, 1);
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.package_count, 3);
    assert_int_equal(spots.other_packages, 1);
    assert_memory_equal(spots.packages[0].class_name, "one", spots.packages[0].length);
    assert_int_equal(spots.packages[1].ns, 20);
    assert_int_equal(spots.packages[1].length, strlen("com.acme"));
    assert_int_equal(spots.packages[2].length, 0);
}

static void the_package_of_the_main_class_is_first(void **state)
{
    report_fixture_wait(*state, "g", "g", "one.C.c(C.java:1)", SMP_STATE_RUNNING, 30);
    report_fixture_wait(*state, "g", "g", "com.acme.cart.B.b(B.java:1)", SMP_STATE_RUNNING, 10);
    report_fixture_wait(*state, "g", "g", "e.e.E.e(E.java:1)", SMP_STATE_RUNNING, 20);
    report_fixture_wait(*state, "g", "g", "com.acmes.E.e(E.java:1)", SMP_STATE_IDLE, 20);
    strcpy(report_fixture_finish(*state)->main_package, "com.acme.shop");
    struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.package_count, 3);
    assert_memory_equal(spots.packages[0].class_name, "com.acme.", 9);
    assert_memory_equal(spots.packages[1].class_name, "one", 3);
    /* A package without active time */
    strcpy(report_fixture_finish(*state)->main_package, "com.acmes");
    spots = spots_of(*state);
    assert_memory_equal(spots.packages[0].class_name, "one", 3);
    strcpy(report_fixture_finish(*state)->main_package, "one");
    spots = spots_of(*state);
    assert_memory_equal(spots.packages[0].class_name, "one", 3);
}

static void an_error_covers_the_row_and_its_share(void **state)
{
    const struct smp_hot_spot *spot;

    report_fixture_begin_with(*state, REPORT_FIXTURE_STATES | SMP_WITH_ERRORS);
    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:1)", SMP_STATE_WAITING, 100 * MS);
    report_fixture_wait(*state, "g", "g", "a.B.run(B.java:1)", SMP_STATE_RUNNING, 50 * MS);
    report_fixture_wait(*state, "g", "g", "a.B.run(B.java:1)", SMP_STATE_BLOCKED, 50 * MS);
    report_fixture_finish(*state)->period_ns = 10 * MS;
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.count, 3);
    assert_true(spots.list[0].error.variance == 0); /* all polls found the same stack */
    spot = &spots.list[1];
    assert_int_equal(spot->measure, SMP_MEASURE_RUNNING);
    assert_true(spot->error.variance == 10.0 * MS * 50 * MS / 2);
    assert_true(spot->error.find_ns == 10.0 * MS);
}

static void by_group_each_hot_spot_belongs_to_one_group(void **state)
{
    const struct smp_spot_choice choice = { .most = 3, .share = 50, .by_group = true };
    struct smp_hot_spots spots;

    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:1)|java.util.B.x(B.java)",
                        SMP_STATE_WAITING, 50);
    report_fixture_wait(*state, "h", "h", "a.A.run(A.java:1)|java.util.B.x(B.java)",
                        SMP_STATE_WAITING, 40);
    report_fixture_wait(*state, "h", "h", "a.A.run(A.java:1)", SMP_STATE_WAITING, 30);
    report_fixture_wait(*state, "h", "h", "a.A.run(A.java:1)", SMP_STATE_RUNNING, 20);
    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:2)", SMP_STATE_RUNNING, 1);
    report_fixture_wait(*state, "g", "g", "java.lang.T.t(T.java)", SMP_STATE_RUNNING, 3);
    report_fixture_wait(*state, "h", "h", "java.lang.T.t(T.java)", SMP_STATE_RUNNING, 4);
    const struct smp_profile *const profile = report_fixture_finish(*state);

    assert_int_equal(smp_hot_spots_choose(&spots, NULL, profile, &choice), SMP_OK);
    assert_int_equal(spots.count, 3);
    assert_int_equal(spots.list[0].ns, 70);
    assert_string_equal(smp_profile_group_info(profile, spots.list[0].group)->name, "h");
    assert_int_equal(spots.list[0].group_count, 1);
    assert_location(*state, spots.list[0].callee, "java.util.B.x(B.java)");
    assert_int_equal(spots.list[1].ns, 50);
    assert_string_equal(smp_profile_group_info(profile, spots.list[1].group)->name, "g");
    assert_int_equal(spots.list[2].measure, SMP_MEASURE_RUNNING);
    assert_int_equal(spots.others, 1);
    assert_int_equal(spots.others_ns, 1);
    assert_int_equal(spots.outside.ns, 7);
    assert_int_equal(spots.outside.group_count, 2);
}

/* The error of a spot of one group is that of its rows there alone. */
static void by_group_an_error_covers_the_rows_of_the_group(void **state)
{
    const struct smp_spot_choice choice = { .most = 8, .share = 100, .by_group = true };
    struct smp_hot_spots spots;

    report_fixture_begin_with(*state, REPORT_FIXTURE_STATES | SMP_WITH_ERRORS);
    report_fixture_wait(*state, "g", "g", "a.A.run(A.java:1)", SMP_STATE_WAITING, 100 * MS);
    report_fixture_wait(*state, "h", "h", "a.A.run(A.java:1)", SMP_STATE_WAITING, 50 * MS);
    report_fixture_wait(*state, "h", "h", "a.A.run(A.java:1)", SMP_STATE_RUNNING, 50 * MS);
    report_fixture_finish(*state)->period_ns = 10 * MS;
    assert_int_equal(smp_hot_spots_choose(&spots, NULL, report_fixture_finish(*state), &choice),
                     SMP_OK);
    assert_int_equal(spots.count, 3);
    assert_true(spots.list[0].error.variance == 0);
    assert_int_equal(spots.list[0].all_ns, 100 * MS);
    assert_true(spots.list[1].error.variance == 10.0 * MS * 50 * MS / 2);
    assert_int_equal(spots.list[1].all_ns, 100 * MS);
}

static void an_empty_profile_has_no_hot_spots(void **state)
{
    const struct smp_hot_spots spots = spots_of(*state);

    assert_int_equal(spots.count, 0);
    assert_int_equal(spots.active_ns, 0);
    assert_int_equal(spots.outside.ns, 0);
}

static enum smp_status find_spots(void *self)
{
    struct smp_hot_spots spots;

    return smp_hot_spots_init(&spots, NULL, self);
}

static void each_allocation_may_be_refused(void **state)
{
    static struct stack_times times;
    unsigned seed = 9;

    draw_stacks(*state, &times, MAX_STACKS, &seed);
    report_fixture_wait(*state, "g", "g", "a.A.put(A.java:5)", SMP_STATE_BLOCKED, 100000);
    report_fixture_wait(*state, "g", "g", "a.A.get(A.java:5)", SMP_STATE_BLOCKED, 100000);
    report_fixture_hold(*state, "a.B", "a.A.put(A.java:5)", "h", "a.A.get(A.java:9)", 40);
    const struct failing_alloc_steps steps =
        failing_alloc_each_step(find_spots, report_fixture_finish(*state));

    assert_true(steps.refused >= 8);
    assert_int_equal(steps.survived, 0);
}

static void a_small_quota_is_not_exceeded(void **state)
{
    static struct stack_times times;
    struct smp_hot_spots spots;
    struct smp_quota quota;
    unsigned seed = 3;

    draw_stacks(*state, &times, MAX_STACKS, &seed);
    smp_quota_init(&quota, 4096);
    assert_int_equal(smp_hot_spots_init(&spots, &quota, report_fixture_finish(*state)), SMP_ENOMEM);
    assert_int_equal(smp_quota_used(&quota), 0);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup_states, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(hot_spots_match_sums_over_stacks),
        TEST(each_state_of_a_row_is_a_separate_hot_spot),
        TEST(running_and_runnable_are_one_hot_spot),
        TEST(a_group_that_only_waits_for_others_has_no_hot_spot),
        TEST(a_group_that_also_works_keeps_its_waits),
        TEST(a_join_in_a_caller_is_no_wait),
        TEST(by_group_waits_for_others_are_hot_spots),
        TEST(monitored_packages_define_the_users_code),
        TEST(a_blocked_hot_spot_names_the_lock_with_most_of_its_time),
        TEST(a_hot_spot_has_the_calls_of_its_method),
        TEST(without_states_a_hot_spot_is_a_row),
        TEST(packages_are_cut_to_two_parts),
        TEST(the_package_of_the_main_class_is_first),
        TEST(an_error_covers_the_row_and_its_share),
        TEST(by_group_each_hot_spot_belongs_to_one_group),
        TEST(by_group_an_error_covers_the_rows_of_the_group),
        TEST(an_empty_profile_has_no_hot_spots),
        TEST(each_allocation_may_be_refused),
        TEST(a_small_quota_is_not_exceeded),
    };
#undef TEST
    return cmocka_run_group_tests_name("hot_spots", tests, NULL, NULL);
}

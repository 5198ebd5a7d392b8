/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls, exceptions and lost exits compared with a naive version; caught exceptions;
 * times. */
#include "counting/call_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "counting/call_arena.h"
#include "counting/call_clock.h"
#include "counting/call_reader.h"
#include "counting/call_shared.h"
#include "support/call_counts.h"
#include "support/fake_clock.h"

enum {
    TID = 4711,
    ROOTS = 2,   /* methods 0 and 1 */
    METHODS = 4, /* methods 0 to 3 may be called as ordinary methods */
    MAX_STACK = 64,
    MAX_PATHS = 4000,
    STEPS = 2000,
    DEPTH = 6
};

/* ---- the naive version: a stack of calls, and a list of paths with their counts ---- */

struct call {
    int method;
    bool is_root;
};

struct path {
    int parent; /* index; -1: none */
    struct call call;
    int64_t count;
    int64_t before; /* at the last reset */
};

static struct {
    struct call stack[MAX_STACK]; /* calls that have a node */
    int paths_of_stack[MAX_STACK];
    int count;
    struct call deep[MAX_STACK]; /* calls deeper than the limit */
    int below;
    struct path paths[MAX_PATHS];
    int path_count;
    int64_t uncounted;
    int64_t uncounted_before;
} naive;

static int naive_path(int parent, struct call call)
{
    for (int i = 0; i < naive.path_count; i++) {
        const struct path *path = &naive.paths[i];
        if (path->parent == parent && path->call.method == call.method &&
            path->call.is_root == call.is_root)
            return i;
    }
    assert_true(naive.path_count < MAX_PATHS);
    naive.paths[naive.path_count] = (struct path){ .parent = parent, .call = call };
    return naive.path_count++;
}

static void naive_enter(struct call call)
{
    if (naive.count == 0 && !call.is_root)
        return;
    if (naive.below > 0 || naive.count == DEPTH) {
        naive.deep[naive.below++] = call;
        naive.uncounted++;
        return;
    }
    const int parent = naive.count == 0 ? -1 : naive.paths_of_stack[naive.count - 1];
    naive.paths_of_stack[naive.count] = naive_path(parent, call);
    naive.paths[naive.paths_of_stack[naive.count]].count++;
    naive.stack[naive.count++] = call;
}

static void naive_exit(struct call call)
{
    for (int i = naive.below - 1; i >= 0; i--) {
        if (naive.deep[i].method == call.method && naive.deep[i].is_root == call.is_root) {
            naive.below = i;
            return;
        }
        if (naive.deep[i].is_root && !call.is_root)
            return;
    }
    for (int i = naive.count - 1; i >= 0; i--) {
        if (naive.stack[i].method == call.method && naive.stack[i].is_root == call.is_root) {
            naive.count = i;
            naive.below = 0;
            return;
        }
        if (naive.stack[i].is_root && !call.is_root)
            return;
    }
}

/* An exception was caught in the method. running: the number of calls of the method that are
 * running, counted from the outermost one; 0: all of them. */
static void naive_caught(int method, int running)
{
    int seen = 0;
    int found = -1;

    for (int i = 0; i < naive.count + naive.below; i++) {
        const struct call *call = i < naive.count ? &naive.stack[i] : &naive.deep[i - naive.count];
        if (call->method == method && (running == 0 || seen++ < running))
            found = i;
    }
    if (found < 0)
        return;
    naive.below = found < naive.count ? 0 : found + 1 - naive.count;
    naive.count = found < naive.count ? found + 1 : naive.count;
}

static void naive_reset(void)
{
    for (int i = 0; i < naive.path_count; i++)
        naive.paths[i].before = naive.paths[i].count;
    naive.uncounted_before = naive.uncounted;
}

/* ---- both ---- */

/* Does what the hook in Java does. */
static void end_hook(struct smp_call_state *state)
{
    atomic_store(&state->phase, SMP_CALL_NO_HOOK);
}

static void enter(struct call call)
{
    if (call.is_root) {
        smp_call_enter_root(TID, false, 0, call.method);
    } else if (smp_call_state_find(TID) != NULL) {
        smp_call_enter(smp_call_state_find(TID), call.method);
        end_hook(smp_call_state_find(TID));
    }
    naive_enter(call);
}

static void leave(struct call call)
{
    struct smp_call_state *state = smp_call_state_find(TID);

    if (state != NULL && call.is_root) {
        smp_call_exit_root(state, call.method);
    } else if (state != NULL) {
        smp_call_exit(state, call.method);
        end_hook(state);
    }
    naive_exit(call);
}

/* The running calls that the stack shows, and the number of stack walks. */
static int32_t running_calls;
static int walks;

static int32_t count_walks(void)
{
    walks++;
    return running_calls;
}

static const struct smp_call_view view = { .count_calls = count_walks };

/* doubt: the stack decides; it shows how many calls of this method are running, or nothing. */
static void catch_in(int method, bool doubt, int running)
{
    struct smp_call_state *state = smp_call_state_find(TID);

    running_calls = running;
    if (state != NULL) {
        smp_call_caught(state, method, doubt ? SMP_CALL_DOUBT : SMP_CALL_NO_DOUBT);
        end_hook(state);
    }
    naive_caught(method, doubt ? running : 0);
}

/* Returns the naive version's path of a row. */
static int path_of_row(const struct call_counts *counts, const struct smp_call_delta *row)
{
    const int parent =
        row->call.parent == 0
            ? -1
            : path_of_row(counts, call_counts_row(counts, row->tree, row->call.parent));

    return naive_path(parent, (struct call){ (int)row->call.method, row->call.is_root });
}

static void compare(struct call_counts *counts)
{
    const int paths = naive.path_count;
    int64_t sum = 0;

    call_counts_read(counts);
    for (size_t i = 0; i < counts->count; i++) {
        const struct path *path = &naive.paths[path_of_row(counts, &counts->rows[i])];
        assert_int_equal(counts->rows[i].call.calls, path->count - path->before);
        sum += path->count - path->before;
    }
    assert_int_equal(naive.path_count, paths); /* the naive version has all of these paths */
    for (int i = 0; i < naive.path_count; i++)
        sum -= naive.paths[i].count - naive.paths[i].before;
    assert_int_equal(sum, 0);
    assert_int_equal(counts->uncounted, naive.uncounted - naive.uncounted_before);
}

static void compare_position(const struct call_counts *counts)
{
    struct smp_call_position position;
    const bool is_inside = smp_call_position_of(TID, &position);

    assert_int_equal(is_inside, naive.count > 0);
    if (!is_inside)
        return;
    assert_int_equal(position.method, naive.stack[naive.count - 1].method);
    assert_int_equal(position.is_root, naive.stack[naive.count - 1].is_root);
    assert_false(position.is_in_hook);
    const struct smp_call_delta *row = call_counts_row(counts, position.tree, position.ordinal);
    if (row != NULL)
        assert_int_equal(path_of_row(counts, row), naive.paths_of_stack[naive.count - 1]);
}

/* The calls that are really running. The hooks may miss some of them. */
struct real {
    struct call stack[MAX_STACK];
    int count;
};

static struct call random_call(uint64_t *random)
{
    const bool is_root = smp_random_next(random) % 4 == 0;
    const int methods = is_root ? ROOTS : METHODS;

    return (struct call){ (int)(smp_random_next(random) % (uint64_t)methods), is_root };
}

static int real_calls(const struct real *real, int method)
{
    int calls = 0;

    for (int i = 0; i < real->count; i++)
        calls += real->stack[i].method == method;
    return calls;
}

static void random_step(struct real *real, uint64_t *random)
{
    const uint64_t kind = smp_random_next(random) % 100;

    if (kind < 48 && real->count < 30) {
        real->stack[real->count] = random_call(random);
        enter(real->stack[real->count++]);
    } else if (kind < 50 && real->count < 30) {
        real->stack[real->count++] = random_call(random); /* its entry is lost */
    } else if (kind < 92 && real->count > 0) {
        leave(real->stack[--real->count]);
    } else if (kind < 96 && real->count > 0) {
        real->count--; /* its exit is lost */
    } else if (kind < 97) {
        leave(random_call(random)); /* from a method that was running before it was counted */
    } else if (kind < 99 && real->count > 0) {
        const int method = real->stack[real->count - 1].method;
        const bool doubt = smp_random_next(random) % 2 == 0;
        catch_in(method, doubt, doubt ? real_calls(real, method) : 0);
    } else {
        while (real->count > 0) /* an exception ends all frames */
            leave(real->stack[--real->count]);
    }
}

static void run_random(uint64_t seed)
{
    static struct call_counts counts;
    const struct smp_call_options options = { .max_bytes = 64 << 20,
                                              .nodes = 1000000,
                                              .depth = DEPTH };
    struct real real = { .count = 0 };
    uint64_t random = seed;

    memset(&naive, 0, sizeof(naive));
    memset(&counts, 0, sizeof(counts));
    assert_int_equal(smp_call_arena_open(&options), SMP_OK);
    for (int step = 0; step < STEPS; step++) {
        random_step(&real, &random);
        compare_position(&counts);
        if (smp_random_next(&random) % 500 == 0)
            compare(&counts);
        if (smp_random_next(&random) % 1000 == 0) {
            smp_call_reset();
            naive_reset();
            for (size_t i = 0; i < counts.count; i++)
                counts.rows[i].call.calls = 0;
            counts.uncounted = 0;
        }
    }
    compare(&counts);
    smp_call_arena_close();
    smp_call_arena_retire(TID);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void random_calls_match_the_naive_version(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        run_random(seed);
}

/* ---- lost exits of calls that throw ---- */

enum { MANY = 3000, PATHS = 8 };

static struct call_counts counts_so_far;

/* Calls below a call that caught an exception have the right path, however many calls were lost
 * below it. */
static void assert_path(const int *methods, int count)
{
    struct call_counts *const counts = &counts_so_far;
    const struct smp_call_delta *row = NULL;
    struct smp_call_position position;

    call_counts_read(counts);
    assert_true(smp_call_position_of(TID, &position));
    row = call_counts_row(counts, position.tree, position.ordinal);
    for (int i = count - 1; i >= 0; i--) {
        assert_non_null(row);
        assert_int_equal(row->call.method, methods[i]);
        row = row->call.parent == 0 ? NULL : call_counts_row(counts, row->tree, row->call.parent);
    }
    assert_null(row);
}

static struct smp_call_state *open_deep(int32_t depth)
{
    const struct smp_call_options options = { .max_bytes = 1 << 24,
                                              .nodes = 100000,
                                              .depth = depth };

    memset(&naive, 0, sizeof(naive));
    memset(&counts_so_far, 0, sizeof(counts_so_far));
    assert_int_equal(smp_call_arena_open(&options), SMP_OK);
    smp_call_enter_root(TID, false, 0, 1);
    return smp_call_state_find(TID);
}

static void close_deep(void)
{
    smp_call_arena_close();
    smp_call_arena_retire(TID);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* A constructor that fails before super() in a loop, with and without nodes. */
static void calls_after_a_failed_constructor_have_the_right_path(void **state)
{
    static const int path[] = { 1, 2, 4 };

    (void)state;
    for (int32_t depth = 3; depth < 100; depth += 96) {
        struct smp_call_state *own = open_deep(depth);
        smp_call_enter(own, 2);
        for (int i = 0; i < MANY; i++) {
            smp_call_enter(own, 3); /* the constructor, which does not exit */
            smp_call_enter(own, 5);
            catch_in(2, false, 0);
        }
        smp_call_enter(own, 4);
        assert_path(path, 3);
        close_deep();
    }
}

/* In a recursion of constructors the innermost one fails: each one catches, and the next one
 * continues. */
static void a_recursion_of_constructors_loses_only_its_innermost_call(void **state)
{
    static const int path[PATHS] = { 1, 3, 3, 3, 3, 3, 3, 3 };

    (void)state;
    for (int32_t depth = 4; depth <= 100; depth += 96) {
        struct smp_call_state *own = open_deep(depth);
        for (int i = 1; i < PATHS + 1; i++)
            smp_call_enter(own, 3);
        for (int running = PATHS - 1; running > 0; running--) {
            catch_in(3, true, running);
            if (running < depth)
                assert_path(path, running + 1);
            smp_call_exit(own, 3);
        }
        assert_path(path, 1);
        close_deep();
    }
}

/* The same error passes through a recursion that catches it in each call: the stack is walked
 * once, and once more for the next error. */
static void one_error_needs_one_stack_walk(void **state)
{
    enum { CALLS = 50, LOST = 3, ERROR = 77 };

    (void)state;
    struct smp_call_state *own = open_deep(CALLS / 2);
    for (int error = 0; error < 2; error++) {
        walks = 0;
        for (int i = 0; i < CALLS + LOST; i++)
            smp_call_enter(own, 2);
        for (running_calls = CALLS; running_calls > 0; running_calls--) {
            smp_call_caught(own, 2, ERROR + error);
            end_hook(own);
            smp_call_exit(own, 2);
        }
        assert_int_equal(walks, 1);
        assert_path((const int[]){ 1 }, 1);
    }
    close_deep();
}

/* A stack that is too deep is walked not for each call that catches the error, but once for each
 * half of it. */
static void a_stack_that_is_too_deep_is_walked_again_at_half_its_depth(void **state)
{
    enum { CALLS = 64, LOST = 2, ERROR = 5, FITS = 20 };

    (void)state;
    struct smp_call_state *own = open_deep(CALLS / 4);
    for (int i = 0; i < CALLS + LOST; i++)
        smp_call_enter(own, 2);
    walks = 0;
    for (int running = CALLS; running > 0; running--) {
        running_calls = running <= FITS ? running : 0;
        smp_call_caught(own, 2, ERROR);
        end_hook(own);
        smp_call_exit(own, 2);
    }
    assert_int_equal(walks, 3); /* of 64, 32 and 16 */
    assert_path((const int[]){ 1 }, 1);
    close_deep();
}

/* Without memory for keys, deep calls are counted but not known. Then only the stack decides. */
static void without_keys_the_stack_decides_whether_a_call_has_a_node(void **state)
{
    const struct smp_call_options options = { .max_bytes = 10000, .nodes = 64, .depth = 2 };

    (void)state;
    memset(&naive, 0, sizeof(naive));
    memset(&counts_so_far, 0, sizeof(counts_so_far));
    assert_int_equal(smp_call_arena_open(&options), SMP_OK);
    smp_call_enter_root(TID, false, 0, 1);
    struct smp_call_state *own = smp_call_state_find(TID);
    for (int i = 0; i < MANY; i++)
        smp_call_enter(own, 2);
    catch_in(2, false, MANY);
    assert_int_equal(atomic_load(&own->top[SMP_CALL_OVERFLOW_NODE].count), MANY - 1);
    running_calls = 1;
    smp_call_caught(own, 2, SMP_CALL_NO_DOUBT);
    assert_path((const int[]){ 1, 2 }, 2);
    close_deep();
}

/* ---- times, by a clock that the test sets; stamps are odd, so never 0 ---- */

static int64_t now_ns;

static int64_t read_now(void *self)
{
    (void)self;
    return now_ns;
}

static const struct smp_clock_fake set_clock = { .ns = read_now };

static void open_timed(bool is_exact)
{
    const struct smp_call_options options = {
        .max_bytes = 1 << 20, .nodes = 4000, .depth = 100, .is_exact = is_exact
    };

    now_ns = 1001;
    smp_call_clock_without_counter(true);
    smp_clock_set_fake(&set_clock);
    assert_int_equal(smp_call_arena_open(&options), SMP_OK);
}

/* Exact times are on, and the thread is inside root 1. */
static struct smp_call_state *open_in_root(void)
{
    open_timed(true);
    smp_call_enter_root(TID, false, 0, 1);
    return smp_call_state_find(TID);
}

static void close_timed(void)
{
    smp_call_arena_close();
    smp_call_arena_retire(TID);
    smp_clock_set_fake(NULL);
    smp_call_clock_without_counter(false);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static int64_t time_of_method(const struct call_counts *counts, int32_t method)
{
    int64_t time_ns = 0;

    for (size_t i = 0; i < counts->count; i++)
        time_ns += counts->rows[i].call.method == method ? counts->rows[i].call.time_ns : 0;
    return time_ns;
}

static void exact_times_are_inclusive(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    struct smp_call_state *own = open_in_root();
    for (int i = 0; i < 3; i++) {
        now_ns += 10;
        smp_call_enter(own, 2);
        now_ns += 100;
        smp_call_enter(own, 3);
        now_ns += 1000;
        smp_call_exit(own, 3);
        smp_call_exit(own, 2);
    }
    smp_call_exit_root(own, 1);
    call_counts_read(&counts);
    assert_int_equal(time_of_method(&counts, 3), 3 * 1000);
    assert_int_equal(time_of_method(&counts, 2), 3 * 1100);
    assert_int_equal(time_of_method(&counts, 1), 3 * 1110);
    close_timed();
}

static void assert_phase(bool is_in_hook, bool is_between_stamps)
{
    struct smp_call_position position;

    assert_true(smp_call_position_of(TID, &position));
    assert_int_equal(position.is_in_hook, is_in_hook);
    assert_int_equal(position.is_between_stamps, is_between_stamps);
}

/* Time after the stamp of an entry belongs to the call, time after the stamp of an exit to its
 * caller; the hook ends both. A root's hook has no return part that it could end. */
static void the_time_of_a_hook_belongs_to_the_call_or_its_caller(void **state)
{
    (void)state;
    struct smp_call_state *own = open_in_root();
    assert_phase(false, false);
    smp_call_enter(own, 2);
    assert_phase(true, true);
    end_hook(own);
    assert_phase(false, false);
    atomic_store(&own->phase, SMP_CALL_BETWEEN_STAMPS);
    assert_phase(true, true);
    smp_call_exit(own, 2);
    assert_phase(true, false);
    end_hook(own);
    assert_phase(false, false);
    smp_call_exit_root(own, 1);
    assert_int_equal(own->phase, SMP_CALL_NO_HOOK);
    close_timed();
}

/* While a call is running, a reader gets its time up to now, once. */
static void running_calls_have_time(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    struct smp_call_state *own = open_in_root();
    smp_call_enter(own, 2);
    for (int i = 1; i <= 4; i++) {
        now_ns += 500;
        call_counts_read(&counts);
        assert_int_equal(time_of_method(&counts, 2), i * 500);
        assert_int_equal(call_counts_of(&counts, 2), 1);
    }
    smp_call_reset();
    now_ns += 30;
    smp_call_exit(own, 2);
    now_ns += 1000;
    call_counts_read(&counts);
    assert_int_equal(time_of_method(&counts, 2), 4 * 500 + 30);
    smp_call_exit_root(own, 1);
    close_timed();
}

/* An exception has ended two calls without their exits. */
static void a_lost_exit_ends_with_its_caller(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    struct smp_call_state *own = open_in_root();
    smp_call_enter(own, 2);
    smp_call_enter(own, 3);
    smp_call_enter(own, 4);
    now_ns += 100;
    smp_call_exit(own, 2);
    now_ns += 10000;
    smp_call_exit(own, 3); /* too late */
    call_counts_read(&counts);
    for (int32_t method = 2; method <= 4; method++)
        assert_int_equal(time_of_method(&counts, method), 100);
    smp_call_exit_root(own, 1);
    close_timed();
}

static void only_roots_have_times_without_exact_timing(void **state)
{
    struct call_counts counts = { 0 };
    static const int64_t lengths[] = { 300, 100, 500 };

    (void)state;
    open_timed(false);
    for (int i = 0; i < 3; i++) {
        smp_call_enter_root(TID, false, 0, 1);
        smp_call_enter(smp_call_state_find(TID), 2);
        now_ns += lengths[i];
        smp_call_exit(smp_call_state_find(TID), 2);
        smp_call_exit_root(smp_call_state_find(TID), 1);
    }
    call_counts_read(&counts);
    assert_int_equal(time_of_method(&counts, 1), 900);
    assert_int_equal(time_of_method(&counts, 2), 0);
    assert_int_equal(counts.rows[0].call.least_ns, 100);
    assert_int_equal(counts.rows[0].call.most_ns, 500);
    smp_call_enter_root(TID, false, 0, 1);
    call_counts_read(&counts);
    assert_int_equal(counts.rows[0].call.most_ns, 0); /* none has ended since */
    now_ns += 200;
    smp_call_exit_root(smp_call_state_find(TID), 1);
    call_counts_read(&counts);
    assert_int_equal(counts.rows[0].call.least_ns, 200);
    assert_int_equal(counts.rows[0].call.most_ns, 200);
    close_timed();
}

static void call_for(struct smp_call_state *own, int32_t method, int64_t ns)
{
    smp_call_enter(own, method);
    now_ns += ns;
    smp_call_exit(own, method);
}

static void assert_extremes(const struct call_counts *counts, int32_t method, int64_t least_ns,
                            int64_t most_ns)
{
    for (size_t i = 0; i < counts->count; i++) {
        if (counts->rows[i].call.method == method) {
            assert_int_equal(counts->rows[i].call.least_ns, least_ns);
            assert_int_equal(counts->rows[i].call.most_ns, most_ns);
        }
    }
}

static void with_exact_times_each_node_has_its_shortest_and_longest_call(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    struct smp_call_state *own = open_in_root();
    call_for(own, 2, 300);
    call_for(own, 2, 100);
    call_for(own, 2, 500);
    call_counts_read(&counts);
    assert_extremes(&counts, 2, 100, 500);
    call_for(own, 2, 200);
    call_counts_read(&counts);
    assert_extremes(&counts, 2, 200, 200);
    call_for(own, 2, 900);
    smp_call_reset();
    call_for(own, 2, 50);
    call_counts_read(&counts);
    assert_extremes(&counts, 2, 50, 50);
    /* A call that began before the reset, and one whose exit was lost. */
    smp_call_enter(own, 2);
    smp_call_enter(own, 3);
    now_ns += 70;
    smp_call_reset();
    now_ns += 30;
    smp_call_exit(own, 2);
    call_counts_read(&counts);
    assert_extremes(&counts, 2, 100, 100);
    assert_extremes(&counts, 3, 100, 100);
    smp_call_exit_root(own, 1);
    close_timed();
}

/* Each depth has its own node, and each call counts. */
static void each_call_of_a_recursion_has_its_time(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    struct smp_call_state *own = open_in_root();
    for (int i = 1; i <= 2; i++) {
        for (int depth = 0; depth < 3; depth++) {
            smp_call_enter(own, 2);
            now_ns += 10 * i;
        }
        for (int depth = 0; depth < 3; depth++)
            smp_call_exit(own, 2);
    }
    call_counts_read(&counts);
    assert_int_equal(counts.count, 4);
    for (int depth = 1; depth <= 3; depth++) {
        assert_int_equal(counts.rows[depth].call.ended, 2);
        assert_int_equal(counts.rows[depth].call.least_ns, 10 * (4 - depth));
        assert_int_equal(counts.rows[depth].call.most_ns, 20 * (4 - depth));
    }
    smp_call_exit_root(own, 1);
    close_timed();
}

/* A caller with more callees than it has cache entries, in any order: each callee has one node. */
static void a_caller_may_have_any_number_of_callees(void **state)
{
    struct call_counts counts = { 0 };
    enum { CALLEES = 3 * SMP_CALL_HINTS };

    (void)state;
    struct smp_call_state *own = open_in_root();
    for (int i = 0; i < 40 * CALLEES; i++) {
        const int32_t method = 2 + i * 7 % CALLEES;
        smp_call_enter(own, method);
        smp_call_enter(own, 2 + i % 5);
        smp_call_exit(own, 2 + i % 5);
        smp_call_exit(own, method);
    }
    smp_call_exit_root(own, 1);
    call_counts_read(&counts);
    assert_int_equal(call_counts_sum(&counts), 1 + 80 * CALLEES);
    assert_int_equal(counts.count, 1 + CALLEES + 5 * CALLEES);
    for (size_t i = 1; i < counts.count; i++)
        assert_int_equal(counts.rows[i].call.calls,
                         counts.rows[i].call.parent == counts.rows[0].call.ordinal ? 40 : 8);
    close_timed();
}

/* Ticks are converted to the time that has passed, within the readings around them. */
static void ticks_become_nanoseconds(void **state)
{
    struct smp_call_clock clock;
    const int64_t outer_start_ns = smp_clock_ns();

    (void)state;
    smp_call_clock_start(&clock);
    const int64_t start_ticks = smp_call_clock_ticks();
    const int64_t inner_start_ns = smp_clock_ns();
    while (smp_clock_ns() < inner_start_ns + 20000000)
        ;
    const int64_t inner_ns = smp_clock_ns() - inner_start_ns;
    const int64_t ticks = smp_call_clock_ticks() - start_ticks;
    const int64_t outer_ns = smp_clock_ns() - outer_start_ns;
    const double ns = (double)ticks * smp_call_clock_tick_ns(&clock);
    assert_true(ns > 0.99 * (double)inner_ns);
    assert_true(ns < 1.01 * (double)outer_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            ticks_become_nanoseconds), /* before a test may fail with a clock that does not move */
        cmocka_unit_test(random_calls_match_the_naive_version),
        cmocka_unit_test(calls_after_a_failed_constructor_have_the_right_path),
        cmocka_unit_test(a_recursion_of_constructors_loses_only_its_innermost_call),
        cmocka_unit_test(one_error_needs_one_stack_walk),
        cmocka_unit_test(a_stack_that_is_too_deep_is_walked_again_at_half_its_depth),
        cmocka_unit_test(without_keys_the_stack_decides_whether_a_call_has_a_node),
        cmocka_unit_test(exact_times_are_inclusive),
        cmocka_unit_test(the_time_of_a_hook_belongs_to_the_call_or_its_caller),
        cmocka_unit_test(running_calls_have_time),
        cmocka_unit_test(a_lost_exit_ends_with_its_caller),
        cmocka_unit_test(only_roots_have_times_without_exact_timing),
        cmocka_unit_test(with_exact_times_each_node_has_its_shortest_and_longest_call),
        cmocka_unit_test(each_call_of_a_recursion_has_its_time),
        cmocka_unit_test(a_caller_may_have_any_number_of_callees),
    };

    smp_call_set_view(&view);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/attribution/wait_state.h"

#include <stdbool.h>

/* A stack whose state is being determined. */
struct judged {
    const struct smp_methods *methods;
    const uint32_t *locations;
    size_t count;
};

static enum smp_wait_kind kind_at(const struct judged *stack, size_t at)
{
    return at < stack->count ? smp_methods_wait_kind(stack->methods, stack->locations[at])
                             : SMP_WAIT_OTHER;
}

static size_t pass(const struct judged *stack, size_t at, enum smp_wait_kind kind)
{
    while (kind_at(stack, at) == kind && at < stack->count)
        at++;
    return at;
}

static bool has_application(const struct judged *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        if (smp_methods_is_application(stack->methods, stack->locations[i]))
            return true;
    }
    return false;
}

/* Returns the kind of the innermost method named by the user, or OTHER without one. */
static enum smp_wait_kind kind_by_user(const struct judged *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        const enum smp_wait_kind kind = kind_at(stack, i);
        if (kind == SMP_WAIT_USER_IO || kind == SMP_WAIT_USER_IDLE)
            return kind;
    }
    return SMP_WAIT_OTHER;
}

/* The method at `at` does I/O. If accept() or select() calls it, it may be a part of that call.
 * Callers further out, such as the loop of a timer or of a pool, are not why the thread waits. */
static enum smp_thread_state state_of_io(const struct judged *stack, size_t at)
{
    enum smp_wait_kind kind = kind_at(stack, at);

    while (kind == SMP_WAIT_IO || kind == SMP_WAIT_PASS)
        kind = kind_at(stack, ++at);
    return kind == SMP_WAIT_ACCEPT || kind == SMP_WAIT_WORK ? SMP_STATE_IDLE : SMP_STATE_IO;
}

/* The frames up to `at` only park. Their callers show what the thread waits for. */
static enum smp_thread_state state_of_parked(const struct judged *stack, size_t at)
{
    size_t above = pass(stack, at, SMP_WAIT_ACQUIRE);

    switch (kind_at(stack, above)) {
    case SMP_WAIT_LOCK:
        return SMP_STATE_BLOCKED;
    case SMP_WAIT_SHARED:
        above = pass(stack, above, SMP_WAIT_SHARED);
        return kind_at(stack, above) == SMP_WAIT_LOCK ? SMP_STATE_BLOCKED : SMP_STATE_WAITING;
    case SMP_WAIT_CONDITION:
        if (above > at)
            return SMP_STATE_BLOCKED; /* notified, and waits to lock the monitor again */
        above = pass(stack, above, SMP_WAIT_CONDITION);
        break;
    case SMP_WAIT_IO:
        return state_of_io(stack, above);
    case SMP_WAIT_ACCEPT:
        return SMP_STATE_IDLE;
    default:
        if (above > at)
            return SMP_STATE_BLOCKED; /* a synchronizer of the user */
    }
    if (kind_at(stack, above) != SMP_WAIT_WORK)
        return SMP_STATE_WAITING;
    above = pass(stack, above, SMP_WAIT_WORK);
    return kind_at(stack, above) == SMP_WAIT_RESULT ? SMP_STATE_WAITING : SMP_STATE_IDLE;
}

static enum smp_thread_state state_by_rules(const struct judged *stack)
{
    switch (kind_at(stack, 0)) {
    case SMP_WAIT_PASS:
        return state_of_parked(stack, pass(stack, 0, SMP_WAIT_PASS));
    case SMP_WAIT_IO:
        return state_of_io(stack, 0);
    case SMP_WAIT_WORK:
    case SMP_WAIT_ACCEPT:
        return SMP_STATE_IDLE;
    default:
        return SMP_STATE_WAITING;
    }
}

/* Returns whether a virtual thread is in Thread.yield, whose frame calls frames that park. */
static bool is_yielding(const struct judged *stack)
{
    return kind_at(stack, pass(stack, 0, SMP_WAIT_PASS)) == SMP_WAIT_YIELD;
}

static enum smp_thread_state state_of_frames(const struct judged *stack)
{
    enum smp_thread_state state = SMP_STATE_RUNNABLE;

    if (is_yielding(stack))
        return state;
    state = state_by_rules(stack);
    if (state == SMP_STATE_WAITING || state == SMP_STATE_IDLE || state == SMP_STATE_IO) {
        const enum smp_wait_kind kind = kind_by_user(stack);
        if (kind != SMP_WAIT_OTHER)
            return kind == SMP_WAIT_USER_IO ? SMP_STATE_IO : SMP_STATE_IDLE;
    }
    if (state == SMP_STATE_WAITING && !has_application(stack))
        state = SMP_STATE_IDLE;
    return state;
}

struct smp_wait_verdict smp_wait_verdict_find(const struct smp_methods *methods,
                                              const struct smp_sample *sample,
                                              const uint32_t *locations, size_t count)
{
    const struct judged stack = { .methods = methods, .locations = locations, .count = count };
    struct smp_wait_verdict verdict = { .state = state_of_frames(&stack), .leaf = SMP_LEAF_KNOWN };

    /* These are frames of the virtual thread that is mounted on the carrier. */
    if (kind_at(&stack, 0) == SMP_WAIT_CARRIER)
        return (struct smp_wait_verdict){ .state = SMP_STATE_WAITING, .leaf = SMP_LEAF_NATIVE };
    if (sample->count > 0 && kind_at(&stack, 0) == SMP_WAIT_OTHER)
        verdict.leaf = sample->frames[0].bci < 0 ? SMP_LEAF_NATIVE : SMP_LEAF_JAVA;
    /* Methods named by the user take precedence over a system call. */
    if (verdict.leaf == SMP_LEAF_NATIVE && kind_by_user(&stack) != SMP_WAIT_OTHER)
        verdict.leaf = SMP_LEAF_KNOWN;
    return verdict;
}

enum smp_thread_state smp_wait_state(struct smp_wait_verdict verdict, enum smp_wait_word word)
{
    switch (word) {
    case SMP_WORD_RUNS:
        return SMP_STATE_RUNNING;
    case SMP_WORD_AT_MONITOR:
        return SMP_STATE_BLOCKED;
    case SMP_WORD_RUNNABLE:
        return verdict.leaf == SMP_LEAF_JAVA ? SMP_STATE_RUNNING : verdict.state;
    case SMP_WORD_STOPPED: /* a native method of the JVM may also wait like this */
        return verdict.leaf == SMP_LEAF_JAVA ? SMP_STATE_RUNNABLE : verdict.state;
    case SMP_WORD_IN_IO:
        return verdict.leaf == SMP_LEAF_NATIVE ? SMP_STATE_IO : verdict.state;
    case SMP_WORD_UNKNOWN:
        return verdict.leaf == SMP_LEAF_JAVA ? SMP_STATE_BLOCKED : verdict.state;
    case SMP_WORD_WAITS: /* Java code also waits like this: an allocation for the GC */
        return verdict.leaf == SMP_LEAF_JAVA ? SMP_STATE_RUNNABLE : verdict.state;
    case SMP_WORD_IN_NATIVE:
    default:
        return verdict.state;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/by_signal.h"

#include <limits.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/agent/agent.h"
#include "jvm/code/method_ids.h"
#include "jvm/threads/stack_bounds.h"
#include "jvm/threads/thread_name.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/by_jvmti.h"
#include "jvm/walk/signals.h"
#include "jvm/walk/walk_target.h"
#include "jvm/walk/walked_sample.h"

#define NS_PER_MS 1000000LL

struct buffer {
    struct smp_jvm_frame *frames;
    uint32_t capacity;
};

struct request {
    uint64_t token;
    uint64_t cookie; /* 0: no look is under way */
    struct smp_thread *thread;
    struct buffer buffer;
    unsigned looks;
    bool is_last;           /* there is no time for another look */
    enum smp_answer answer; /* of the last look */
    jobject mounted;        /* local reference: the virtual thread on it when it was asked */
};

/* A request that was told UNANSWERED. */
struct late {
    uint64_t cookie;
    uint64_t serial;      /* of its thread, which may be gone */
    struct buffer buffer; /* the handler's until DONE */
    unsigned looks;       /* before this one */
    jobject mounted;
    int64_t since_ns;
};

struct smp_by_signal {
    size_t capacity;
    int signal;
    struct smp_signal_mailbox *mailbox;               /* NULL until the first request */
    struct request requests[SMP_ASYNC_IN_FLIGHT + 1]; /* the last one: a late one, being read */
    size_t count;
    struct late late[SMP_ASYNC_LATE];
    size_t late_count;
    /* What was used last is used next. */
    struct buffer spare[SMP_ASYNC_IN_FLIGHT + 1 + SMP_ASYNC_LATE];
    size_t spare_count;
    uint32_t room;          /* of buffers from now on */
    struct smp_frame *cure; /* room for a stack told by JVMTI, made when first needed */
    size_t cure_capacity;
    int64_t cure_credit_ns;   /* time that may be spent on cures */
    int64_t cure_credited_ns; /* up to here */
    int64_t stacks_due_ns;    /* when stacks may be looked for again */
    char name[SMP_ASYNC_NAME_BYTES];
    struct smp_by_signal_stats stats;
};

/* Whom collect tells. */
struct listener {
    void (*answered)(void *context, uint64_t token, enum smp_answer answer,
                     const struct smp_sample *sample, const struct smp_mounted_thread *mounted);
    void *context;
};

/* -------------------------------------------------------------------------------------- buffers */

static void give_buffer(struct smp_by_signal *walker, struct buffer buffer)
{
    if (buffer.frames != NULL)
        walker->spare[walker->spare_count++] = buffer;
}

static bool take_buffer(struct smp_by_signal *walker, struct buffer *out)
{
    struct buffer buffer = { 0 };

    if (walker->spare_count > 0)
        buffer = walker->spare[--walker->spare_count];
    if (buffer.capacity < walker->room) {
        smp_free(NULL, buffer.frames);
        buffer.frames = smp_alloc(NULL, walker->room * sizeof(*buffer.frames));
        buffer.capacity = walker->room;
    }
    *out = buffer;
    return buffer.frames != NULL;
}

/* --------------------------------------------------------------------------------------- asking */

static jobject mounted_on(JNIEnv *env, const struct smp_thread *thread,
                          const struct smp_walk_info *info)
{
    return info->is_carrier ? smp_virtual_threads_mounted(env, smp_threads_ref(thread)) : NULL;
}

/* Without an env the JVM dies, and its references with it. */
static void forget_ref(JNIEnv *env, jobject ref)
{
    if (ref != NULL && env != NULL)
        (*env)->DeleteLocalRef(env, ref);
}

static void forget_mounted(JNIEnv *env, struct request *request)
{
    forget_ref(env, request->mounted);
    request->mounted = NULL;
}

/* The signal has been sent, so the next thing it does is to answer: a virtual thread that was on it
 * before and is on it now is the one it answers for, however late that is. */
static void confirm_mounted(JNIEnv *env, struct request *request, const struct smp_walk_info *info)
{
    if (request->mounted == NULL)
        return;
    jobject now = mounted_on(env, request->thread, info);
    if (now == NULL || !(*env)->IsSameObject(env, now, request->mounted))
        forget_mounted(env, request);
    forget_ref(env, now);
}

static bool is_outstanding(uint64_t cookie)
{
    const enum smp_slot_state at = cookie != 0 ? smp_signal_state(cookie) : SMP_SLOT_FREE;

    return at != SMP_SLOT_FREE && at != SMP_SLOT_DONE;
}

/* The thread's memory of its requests holds this one, too. Other sessions' requests are no
 * obstacle: with one at a time for all of them, the session that looks more often would leave none
 * to the others where an answer takes as long as the wait for a CPU. False: there is no room. */
static bool note_request(struct smp_walk_info *info, uint64_t cookie)
{
    for (size_t i = 0; i < SMP_WALK_INFO_REQUESTS; i++) {
        uint64_t other = info->requests[i];
        if (!is_outstanding(other) &&
            atomic_compare_exchange_strong(&info->requests[i], &other, cookie))
            return true;
    }
    return false;
}

/* One look. SMP_ESTATE, SMP_EQUOTA, SMP_EGONE, SMP_EVM: nothing was asked. */
static enum smp_status ask(struct smp_by_signal *walker, struct request *request, JNIEnv *env)
{
    const struct smp_async *async = smp_async_get();
    struct smp_walk_info *info = smp_threads_walk_info(request->thread);
    uint64_t cookie = 0;
    struct smp_signal_slot *slot = smp_signal_take(&cookie);

    if (slot == NULL)
        return SMP_EQUOTA;
    slot->target = smp_walk_target_of(info, async, env, smp_threads_ref(request->thread));
    slot->mailbox = walker->mailbox;
    slot->frames = request->buffer.frames;
    slot->capacity = request->buffer.capacity;
    if (!note_request(info, cookie)) {
        smp_signal_release(cookie);
        return SMP_ESTATE;
    }
    forget_mounted(env, request);
    request->mounted = mounted_on(env, request->thread, info);
    const enum smp_status status =
        smp_signals_request(smp_async_signal(walker->signal), request->thread, slot, cookie);
    if (status == SMP_OK) {
        request->cookie = cookie;
        confirm_mounted(env, request, info);
    }
    return status;
}

static struct late *late_of(struct smp_by_signal *walker, const struct smp_thread *thread)
{
    for (size_t i = 0; i < walker->late_count; i++) {
        if (walker->late[i].serial == thread->serial)
            return &walker->late[i];
    }
    return NULL;
}

static void drop_late(struct smp_by_signal *walker, JNIEnv *env, struct late *late)
{
    smp_signal_release(late->cookie);
    give_buffer(walker, late->buffer);
    forget_ref(env, late->mounted);
    *late = walker->late[--walker->late_count];
}

/* Drops answers that were not fetched in time: their threads have ended, or are not sampled. */
static void sweep_late(struct smp_by_signal *walker, JNIEnv *env)
{
    const int64_t now_ns = smp_clock_ns();

    for (size_t i = walker->late_count; i > 0; i--) {
        struct late *late = &walker->late[i - 1];
        const enum smp_slot_state at = smp_signal_state(late->cookie);
        const bool is_old = now_ns - late->since_ns > SMP_ASYNC_LATE_MS * NS_PER_MS;
        if (at == SMP_SLOT_FREE || (at == SMP_SLOT_DONE && is_old))
            drop_late(walker, env, late);
    }
}

/* Each request may become a late one: without room for that its answer would be lost. SMP_ESTATE:
 * later. */
static enum smp_status find_room(struct smp_by_signal *walker, JNIEnv *env,
                                 const struct smp_thread *thread)
{
    struct late *late = late_of(walker, thread);

    if (late != NULL) {
        if (is_outstanding(late->cookie))
            return SMP_ESTATE;
        drop_late(walker, env, late); /* not fetched: it is of a time that is over */
    }
    if (walker->late_count + walker->count >= SMP_ASYNC_LATE)
        sweep_late(walker, env);
    return walker->late_count + walker->count < SMP_ASYNC_LATE ? SMP_OK : SMP_ESTATE;
}

static enum smp_status check(struct smp_by_signal *walker, const struct smp_thread *thread)
{
    if (!smp_async_is_usable())
        return SMP_EUNSUPPORTED;
    if (thread->os_tid == 0)
        return smp_virtual_threads_in_use() ? SMP_EINVAL : SMP_EUNSUPPORTED;
    if (thread->ended_ns != 0)
        return SMP_EGONE;
    if (walker->count == SMP_ASYNC_IN_FLIGHT)
        return SMP_EQUOTA;
    if (walker->mailbox == NULL)
        walker->mailbox = smp_signals_take_mailbox();
    return walker->mailbox != NULL ? SMP_OK : SMP_EQUOTA;
}

/* The request goes on as a late one; there is room for it. */
static void keep_late(struct smp_by_signal *walker, struct request *request)
{
    walker->late[walker->late_count++] = (struct late){ .cookie = request->cookie,
                                                        .serial = request->thread->serial,
                                                        .buffer = request->buffer,
                                                        .looks = request->looks,
                                                        .mounted = request->mounted,
                                                        .since_ns = smp_clock_ns() };
    request->buffer = (struct buffer){ 0 };
    request->mounted = NULL;
}

static enum smp_status request_walk(void *self, struct smp_thread *thread, uint64_t token)
{
    struct smp_by_signal *walker = self;
    struct request request = { .token = token, .thread = thread };
    JNIEnv *env = smp_agent_env();
    enum smp_status status = check(walker, thread);

    if (status != SMP_OK)
        return status;
    if (env == NULL)
        return SMP_EVM;
    status = find_room(walker, env, thread);
    if (status != SMP_OK)
        return status;
    if (!take_buffer(walker, &request.buffer))
        return SMP_EQUOTA;
    status = ask(walker, &request, env);
    if (status != SMP_OK) {
        forget_mounted(env, &request);
        give_buffer(walker, request.buffer);
        return status;
    }
    walker->stats.requests++;
    walker->requests[walker->count++] = request;
    return SMP_OK;
}

/* ----------------------------------------------------------------------------------- method ids */

static bool may_cure(struct smp_by_signal *walker, int64_t now_ns)
{
    const int64_t earned_ns =
        (now_ns - walker->cure_credited_ns) / 100 * SMP_ASYNC_HANDSHAKE_PERCENT;

    walker->cure_credited_ns = now_ns;
    if (earned_ns >= SMP_ASYNC_HANDSHAKE_SAVED_NS - walker->cure_credit_ns)
        walker->cure_credit_ns = SMP_ASYNC_HANDSHAKE_SAVED_NS;
    else
        walker->cure_credit_ns += earned_ns;
    return walker->cure_credit_ns > 0;
}

static bool has_cure_room(struct smp_by_signal *walker, size_t frames)
{
    if (frames <= walker->cure_capacity)
        return true;
    smp_free(NULL, walker->cure);
    walker->cure = smp_alloc(NULL, frames * sizeof(*walker->cure));
    walker->cure_capacity = walker->cure != NULL ? frames : 0;
    return walker->cure != NULL;
}

/* What a cure cost is taken from what may be spent, all of it: while the sampler waits for a thread
 * without a CPU it polls no other. */
static void pay(struct smp_by_signal *walker, int64_t start_ns)
{
    walker->stats.cures++;
    walker->cure_credit_ns -= smp_clock_ns() - start_ns;
}

/* One handshake, for a stack of about so many frames. False: none, or a deeper stack. */
static bool shake_hands(struct smp_by_signal *walker, jobject thread, size_t frames, size_t *count)
{
    const int64_t start_ns = smp_clock_ns();
    const size_t room = SMP_ASYNC_HANDSHAKE_FRAMES + 2 * frames;

    if (smp_virtual_threads_in_use() || !may_cure(walker, start_ns) || !has_cure_room(walker, room))
        return false;
    const enum smp_status status = smp_by_jvmti_fetch(thread, walker->cure, room, count);
    pay(walker, start_ns);
    return status == SMP_OK && *count < room;
}

/* What a handshake told: all of the stack. */
static struct smp_sample told_by_handshake(const struct smp_by_signal *walker, size_t count)
{
    return (struct smp_sample){
        .frames = walker->cure, .capacity = count, .count = count, .leaf_count = count
    };
}

/* Makes the ids that are missing, and names the frames in which the thread still is. True: no frame
 * is without a name. */
static bool cure(struct smp_by_signal *walker, jobject thread, struct smp_sample *sample)
{
    size_t count = 0;

    return shake_hands(walker, thread, sample->count, &count) &&
           smp_walked_sample_fill(sample, walker->cure, count);
}

/* Without a handshake: for the next look. */
static bool cure_all(struct smp_by_signal *walker, JNIEnv *env)
{
    const int64_t start_ns = smp_clock_ns();

    if (!smp_virtual_threads_in_use() || !may_cure(walker, start_ns))
        return false;
    const enum smp_status status = smp_method_ids_make_all(env);
    pay(walker, start_ns);
    return status == SMP_OK;
}

static bool is_missing(const struct request *request, const struct smp_walk_answer *walked)
{
    const struct smp_jvm_frame *frames = request->buffer.frames + walked->first;
    bool missing = false;

    for (uint32_t i = 0; i < walked->count; i++)
        missing = missing || frames[i].method == NULL;
    return missing;
}

/* ------------------------------------------------------------------------------ virtual threads */

static struct smp_mounted_thread guest_of(struct smp_by_signal *walker, JNIEnv *env,
                                          const struct request *request)
{
    struct smp_mounted_thread mounted = { .ref = request->mounted };
    void *seen = NULL;
    bool changed = false;

    if (mounted.ref == NULL)
        return mounted;
    const enum smp_status status = smp_jvm_thread_name_read(env, mounted.ref, &seen, walker->name,
                                                            sizeof(walker->name), &changed);
    if (seen != NULL)
        smp_jvm_thread_name_forget(env, seen);
    if (status == SMP_OK && walker->name[0] != '\0')
        mounted.name = walker->name;
    return mounted;
}

/* ---------------------------------------------------------------------------------- the answers */

static void end_request(struct smp_by_signal *walker, JNIEnv *env, size_t index)
{
    struct request *request = &walker->requests[index];

    forget_mounted(env, request);
    give_buffer(walker, request->buffer);
    *request = walker->requests[--walker->count];
}

static void tell(struct smp_by_signal *walker, JNIEnv *env, const struct listener *listener,
                 size_t index, enum smp_answer answer)
{
    const struct smp_sample nothing = { 0 };

    listener->answered(listener->context, walker->requests[index].token, answer, &nothing, NULL);
    end_request(walker, env, index);
}

static void tell_sample(struct smp_by_signal *walker, JNIEnv *env, const struct listener *listener,
                        const struct request *request, const struct smp_walk_answer *walked)
{
    jobject thread = smp_threads_ref(request->thread);
    enum smp_answer answer = walked->answer;
    struct smp_mounted_thread mounted = { 0 };
    struct smp_sample sample;

    if (answer == SMP_ANSWER_WHOLE && request->looks > 1)
        answer = SMP_ANSWER_RETRIED;
    smp_walked_sample_make(request->buffer.frames, walked, &sample);
    const enum smp_virtual_cut cut = smp_virtual_threads_trim(&sample);
    if (cut != SMP_VIRTUAL_NONE) {
        smp_threads_walk_info(request->thread)->is_carrier = true;
        mounted = guest_of(walker, env, request);
    }
    if (cut == SMP_VIRTUAL_CUT)
        answer = SMP_ANSWER_VIRTUAL_CUT;
    if (sample.count == 0)
        answer = SMP_ANSWER_EMPTY;
    if (smp_walked_sample_is_missing(&sample) && !cure(walker, thread, &sample)) {
        smp_walked_sample_keep_nameless(&sample);
        answer = SMP_ANSWER_NO_METHOD;
    }
    smp_walked_sample_cut(&sample, walker->capacity);
    listener->answered(listener->context, request->token, answer, &sample,
                       cut != SMP_VIRTUAL_NONE ? &mounted : NULL);
}

static void tell_stack(struct smp_by_signal *walker, JNIEnv *env, const struct listener *listener,
                       size_t index, const struct smp_walk_answer *walked)
{
    tell_sample(walker, env, listener, &walker->requests[index], walked);
    end_request(walker, env, index);
}

static bool may_look_again(const struct request *request)
{
    return request->looks < SMP_ASYNC_TRIES && !request->is_last;
}

/* Another moment may be a better one. */
static bool is_worth_another_look(enum smp_answer answer)
{
    switch (answer) {
    case SMP_ANSWER_UNKNOWN_NOT_JAVA:
    case SMP_ANSWER_NOT_WALKABLE_NOT_JAVA:
    case SMP_ANSWER_UNKNOWN_JAVA:
    case SMP_ANSWER_NOT_WALKABLE_JAVA:
    case SMP_ANSWER_UNKNOWN_STATE:
    case SMP_ANSWER_DEOPT:
        return true;
    default:
        return false;
    }
}

/* The answer that a handshake helped to. */
static void answer_cured(struct smp_by_signal *walker, JNIEnv *env, const struct listener *listener,
                         size_t index, struct smp_sample *sample)
{
    smp_walked_sample_cut(sample, walker->capacity);
    listener->answered(listener->context, walker->requests[index].token, SMP_ANSWER_RETRIED, sample,
                       NULL);
    end_request(walker, env, index);
}

/*
 * A thread that waits inside the JVM, on a frame that cannot be walked asynchronously: JVMTI can,
 * and its stack is the same for as long as it waits. True: told.
 */
static bool tell_waiting(struct smp_by_signal *walker, JNIEnv *env, const struct listener *listener,
                         size_t index, const struct smp_walk_answer *walked)
{
    const struct request *request = &walker->requests[index];
    struct smp_sample sample = { 0 };
    size_t count = 0;

    if (walked->state != SMP_JVM_BLOCKED && walked->state != SMP_JVM_IN_NATIVE)
        return false;
    if (!shake_hands(walker, smp_threads_ref(request->thread), 0, &count) || count == 0)
        return false;
    sample = told_by_handshake(walker, count);
    answer_cured(walker, env, listener, index, &sample);
    return true;
}

/*
 * A stack of which the root is missing: the JVM does not follow frames that are to be deoptimised.
 * A handshake tells what lies below; where the thread has gone elsewhere meanwhile, that stack is
 * the answer, a little later. True: that was the answer.
 */
static bool tell_with_root(struct smp_by_signal *walker, JNIEnv *env,
                           const struct listener *listener, size_t index,
                           const struct smp_walk_answer *walked)
{
    const struct request *request = &walker->requests[index];
    struct smp_walk_answer top = *walked;
    struct smp_sample sample = { 0 };
    size_t count = 0;

    /* A thread whose answer came late has no CPU to shake hands with. */
    if (walked->rootless == 0 || request->is_last ||
        !shake_hands(walker, smp_threads_ref(request->thread), walked->rootless, &count) ||
        count == 0)
        return false;
    smp_walk_target_set_root(smp_threads_walk_info(request->thread),
                             walker->cure[count - 1].method);
    top.first = 1;
    top.count = walked->rootless;
    smp_walked_sample_make(request->buffer.frames, &top, &sample);
    if (smp_walked_sample_take_root(&sample, walker->cure, count, request->buffer.capacity - 1))
        smp_walked_sample_keep_nameless(&sample);
    else
        sample = told_by_handshake(walker, count);
    answer_cured(walker, env, listener, index, &sample);
    return true;
}

/* Answers by a handshake where another look would not help. True: that was the answer. */
static bool tell_by_handshake(struct smp_by_signal *walker, JNIEnv *env,
                              const struct listener *listener, size_t index,
                              const struct smp_walk_answer *walked)
{
    if (tell_with_root(walker, env, listener, index, walked))
        return true;
    return is_worth_another_look(walked->answer) && !may_look_again(&walker->requests[index]) &&
           tell_waiting(walker, env, listener, index, walked);
}

/* Without its stack's bounds nothing is recovered: they are looked for when that is missed. */
static void find_stack(struct smp_by_signal *walker, struct smp_walk_info *info,
                       const struct smp_walk_answer *walked)
{
    struct smp_stack_bounds bounds = { 0 };
    const int64_t now_ns = smp_clock_ns();

    if (smp_walk_target_knows_stack(info) || now_ns < walker->stacks_due_ns)
        return;
    smp_stack_bounds_find(&walked->sp, &bounds, 1);
    info->stack_low = bounds.low;
    info->stack_high = bounds.high;
    /* It reads the process's whole map: hundreds of threads in a row would stop the sampler. */
    const int64_t end_ns = smp_clock_ns();
    walker->stacks_due_ns = bounds.high == 0 ? end_ns + SMP_ASYNC_STACKS_GAP_MS * NS_PER_MS
                                             : end_ns + SMP_ASYNC_STACKS_REST * (end_ns - now_ns);
}

/* More room, for this stack and all later ones. */
static bool grow(struct smp_by_signal *walker, struct request *request)
{
    if (request->buffer.capacity >= SMP_ASYNC_MAX_FRAMES)
        return false;
    if (walker->room < 2 * request->buffer.capacity)
        walker->room = 2 * request->buffer.capacity;
    give_buffer(walker, request->buffer);
    request->buffer = (struct buffer){ 0 };
    return take_buffer(walker, &request->buffer);
}

/* Reads the answer of a look. True: that was it. */
static bool read_answer(struct smp_by_signal *walker, JNIEnv *env, const struct listener *listener,
                        size_t index)
{
    struct request *request = &walker->requests[index];
    struct smp_walk_info *info = smp_threads_walk_info(request->thread);
    const struct smp_walk_answer walked = smp_signal_slot_of(request->cookie)->answer;

    smp_signal_release(request->cookie);
    request->cookie = 0;
    request->looks++;
    request->answer = walked.answer;
    smp_walk_target_learn_root(info, &walked);
    if (walked.lacks_stack)
        find_stack(walker, info, &walked);
    if (request->looks == 1 && walked.raw <= 0)
        walker->stats.raw_failures++;
    if (walked.count + 1 >= request->buffer.capacity) {
        request->answer = SMP_ANSWER_NOT_WALKABLE_JAVA; /* where there is no more room */
        if (grow(walker, request))
            return false;
    } else if (walked.count > 0 && may_look_again(request) && is_missing(request, &walked) &&
               cure_all(walker, env)) {
        request->answer = SMP_ANSWER_NO_METHOD;
        return false;
    } else if (walked.count > 0) {
        tell_stack(walker, env, listener, index, &walked);
        return true;
    } else if (tell_by_handshake(walker, env, listener, index, &walked)) {
        return true;
    } else if (is_worth_another_look(walked.answer) && may_look_again(request)) {
        find_stack(walker, info, &walked);
        return false;
    }
    tell(walker, env, listener, index, request->answer);
    return true;
}

/* From the last on, because one that is told makes room for the last. */
static size_t read_answers(struct smp_by_signal *walker, JNIEnv *env,
                           const struct listener *listener)
{
    size_t again = 0;

    for (size_t i = walker->count; i > 0; i--) {
        const uint64_t cookie = walker->requests[i - 1].cookie;
        if (cookie != 0 && smp_signal_state(cookie) == SMP_SLOT_DONE &&
            !read_answer(walker, env, listener, i - 1))
            again++;
    }
    return again;
}

static void look_again(struct smp_by_signal *walker, JNIEnv *env, const struct listener *listener)
{
    const struct timespec gap = { .tv_nsec = SMP_ASYNC_TRY_GAP_NS };

    (void)nanosleep(&gap, NULL);
    for (size_t i = walker->count; i > 0; i--) {
        struct request *request = &walker->requests[i - 1];
        if (request->cookie != 0)
            continue;
        walker->stats.retries++;
        if (ask(walker, request, env) != SMP_OK)
            tell(walker, env, listener, i - 1, request->answer);
    }
}

/* Time is up: what has not begun will come too late; what has is waited for, some microseconds. */
static void give_up(struct smp_by_signal *walker, JNIEnv *env, const struct listener *listener)
{
    for (size_t i = walker->count; i > 0; i--) {
        struct request *request = &walker->requests[i - 1];
        if (request->cookie == 0) {
            /* There was no time for another look: the next request is that. */
            tell(walker, env, listener, i - 1,
                 is_worth_another_look(request->answer) ? SMP_ANSWER_UNANSWERED : request->answer);
        } else if (smp_signal_give_up(request->cookie)) {
            /* A thread that has ended answers no more. */
            if (request->thread->ended_ns != 0)
                smp_signal_release(request->cookie);
            else
                keep_late(walker, request);
            tell(walker, env, listener, i - 1, SMP_ANSWER_UNANSWERED);
        } else {
            smp_signals_let_finish(request->cookie);
            request->is_last = true;
            if (!read_answer(walker, env, listener, i - 1))
                tell(walker, env, listener, i - 1, walker->requests[i - 1].answer);
        }
    }
}

static void collect(void *self, int64_t deadline_ns,
                    void (*answered)(void *context, uint64_t token, enum smp_answer answer,
                                     const struct smp_sample *sample,
                                     const struct smp_mounted_thread *mounted),
                    void *context)
{
    struct smp_by_signal *walker = self;
    const struct listener listener = { .answered = answered, .context = context };
    JNIEnv *env = smp_agent_env();
    int64_t pause_ns = SMP_SIGNAL_FIRST_PAUSE_NS;

    while (walker->count > 0) {
        /* Step by step: whoever needs another look does not wait for those who have no CPU. */
        (void)smp_signals_pause(walker->mailbox, deadline_ns, &pause_ns);
        const size_t again = read_answers(walker, env, &listener);
        if (walker->count == 0)
            break;
        if (smp_clock_ns() + SMP_ASYNC_TRY_GAP_NS >= deadline_ns) {
            give_up(walker, env, &listener);
            break;
        }
        if (again > 0) {
            look_again(walker, env, &listener);
            pause_ns = SMP_SIGNAL_FIRST_PAUSE_NS;
        }
    }
}

/* Its thread lives. There is no second look: the thread has moved on. */
static bool take_late(void *self, struct smp_thread *thread, uint64_t token,
                      void (*answered)(void *context, uint64_t token, enum smp_answer answer,
                                       const struct smp_sample *sample,
                                       const struct smp_mounted_thread *mounted),
                      void *context)
{
    struct smp_by_signal *walker = self;
    const struct listener listener = { .answered = answered, .context = context };
    struct late *late = late_of(walker, thread);
    JNIEnv *env = smp_agent_env();
    const size_t index = walker->count;

    if (late == NULL || env == NULL || smp_signal_state(late->cookie) != SMP_SLOT_DONE)
        return false;
    walker->requests[walker->count++] = (struct request){ .token = token,
                                                          .cookie = late->cookie,
                                                          .thread = thread,
                                                          .buffer = late->buffer,
                                                          .looks = late->looks,
                                                          .is_last = true,
                                                          .mounted = late->mounted };
    *late = walker->late[--walker->late_count];
    if (!read_answer(walker, env, &listener, index))
        tell(walker, env, &listener, index, walker->requests[index].answer);
    return true;
}

bool smp_by_signal_deliver(struct smp_by_signal *walker, struct smp_thread *thread,
                           struct smp_jvm_frame *frames, uint32_t capacity,
                           const struct smp_walk_answer *walked, uint64_t token,
                           void (*answered)(void *context, uint64_t token, enum smp_answer answer,
                                            const struct smp_sample *sample,
                                            const struct smp_mounted_thread *mounted),
                           void *context)
{
    const struct listener listener = { .answered = answered, .context = context };
    const struct request request = { .token = token,
                                     .thread = thread,
                                     .buffer = { .frames = frames, .capacity = capacity } };
    struct smp_walk_info *info = smp_threads_walk_info(thread);
    const struct smp_sample nothing = { 0 };
    const bool fits = walked->count + 1 < capacity;
    JNIEnv *env = smp_agent_env();
    enum smp_answer answer = walked->answer;

    smp_walk_target_learn_root(info, walked);
    if (walked->lacks_stack || (walked->count == 0 && is_worth_another_look(answer)))
        find_stack(walker, info, walked);
    if (fits && walked->count > 0 && env != NULL) {
        if (is_missing(&request, walked))
            (void)cure_all(walker, env); /* for the next one */
        tell_sample(walker, env, &listener, &request, walked);
        return true;
    }
    if (walked->count > 0) /* a stack, but there was no room for it */
        answer = SMP_ANSWER_NOT_WALKABLE_JAVA;
    answered(context, token, answer, &nothing, NULL);
    return fits;
}

/* ------------------------------------------------------------------------------ create, destroy */

enum smp_status smp_by_signal_create(size_t capacity, int signal, struct smp_by_signal **out)
{
    struct smp_by_signal *walker = NULL;

    if (capacity < 2)
        return SMP_EINVAL;
    walker = smp_alloc(NULL, sizeof(*walker));
    if (walker == NULL)
        return SMP_ENOMEM;
    walker->capacity = capacity;
    walker->signal = signal;
    walker->room = SMP_ASYNC_FIRST_FRAMES;
    walker->cure_credit_ns = SMP_ASYNC_HANDSHAKE_SAVED_NS;
    walker->cure_credited_ns = smp_clock_ns();
    *out = walker;
    return SMP_OK;
}

/* No handler writes into its buffer any more. */
static void end(uint64_t cookie, struct buffer buffer)
{
    if (cookie != 0 && smp_signals_end(cookie))
        smp_signal_release(cookie);
    smp_free(NULL, buffer.frames);
}

/* A handler writes only into the buffer of a request that has not been told, or is late. */
static void end_all(struct smp_by_signal *walker)
{
    for (size_t i = 0; i < walker->count; i++)
        end(walker->requests[i].cookie, walker->requests[i].buffer);
    for (size_t i = 0; i < walker->late_count; i++)
        end(walker->late[i].cookie, walker->late[i].buffer);
}

void smp_by_signal_destroy(struct smp_by_signal *walker)
{
    if (walker == NULL)
        return;
    end_all(walker);
    for (size_t i = 0; i < walker->spare_count; i++)
        smp_free(NULL, walker->spare[i].frames);
    smp_signals_give_mailbox(walker->mailbox);
    smp_free(NULL, walker->cure);
    smp_free(NULL, walker);
}

struct smp_async_walker smp_by_signal_functions(struct smp_by_signal *walker)
{
    return (struct smp_async_walker){
        .name = smp_async_get()->no_made_up_registers ? "HYBRID (no recovery: JDK 28 or later)"
                                                      : "HYBRID",
        .request = request_walk,
        .collect = collect,
        .take_late = take_late,
        .self = walker,
    };
}

void smp_by_signal_get_stats(const struct smp_by_signal *walker, struct smp_by_signal_stats *out)
{
    *out = walker->stats;
}

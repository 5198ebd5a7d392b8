/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/by_signal.h"

#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/by_jvmti.h"
#include "jvm/walk/delivery.h"
#include "jvm/walk/native_walk.h"
#include "jvm/walk/proven_walk.h"
#include "jvm/walk/signals.h"
#include "jvm/walk/walk_target.h"

#define NS_PER_MS 1000000LL

enum { TAKER_BYTES = 256, TAKER_FILE_BYTES = 208 };

struct buffer {
    struct smp_jvm_frame *frames;
    uint32_t capacity;
};

struct request {
    uint64_t token;
    uint64_t cookie; /* 0: no signal is pending */
    struct smp_thread *thread;
    int64_t cpu_ns; /* its CPU clock if that does not move; negative: it may move */
    struct buffer buffer;
    unsigned tries;
    bool is_late;           /* there is no time for another try */
    enum smp_answer answer; /* of the last try */
    jobject mounted;        /* local reference to the virtual thread on it at the request */
};

/* A request that was delivered as UNANSWERED. */
struct late {
    uint64_t cookie;
    uint64_t serial;      /* of the thread, which may have ended */
    struct buffer buffer; /* owned by the handler until DONE */
    unsigned tries;       /* tries before this one */
    jobject mounted;
    int64_t since_ns;
    int64_t cpu_ns; /* CPU clock when the thread was first found late; negative: unknown */
};

struct smp_by_signal {
    int signal;
    struct smp_signal_mailbox *mailbox;               /* NULL until the first request */
    struct request requests[SMP_ASYNC_IN_FLIGHT + 1]; /* the last entry is for a late one */
    size_t count;
    struct late late[SMP_ASYNC_LATE];
    size_t late_count;
    struct buffer spare[SMP_ASYNC_IN_FLIGHT + 1 + SMP_ASYNC_LATE]; /* last in, first out */
    size_t spare_count;
    uint32_t room;                 /* capacity of new buffers */
    struct smp_frames_words words; /* read by a walk in native code */
    struct smp_delivery delivery;
    char taker[TAKER_BYTES]; /* result of the last check_handler */
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

/* ------------------------------------------------------------------------------------- requests */

static jobject mounted_on(JNIEnv *env, const struct smp_thread *thread,
                          const struct smp_walk_info *info)
{
    return info->is_carrier ? smp_virtual_threads_mounted(env, smp_threads_ref(thread)) : NULL;
}

/* Without an env the JVM is shutting down, and references do not matter. */
static void drop_ref(JNIEnv *env, jobject ref)
{
    if (ref != NULL && env != NULL)
        (*env)->DeleteLocalRef(env, ref);
}

static void drop_mounted(JNIEnv *env, struct request *request)
{
    drop_ref(env, request->mounted);
    request->mounted = NULL;
}

/* Called after the signal was sent. The handler runs before anything else on the thread. So if a
 * virtual thread was mounted before and still is, the walk is of its stack. */
static void confirm_mounted(JNIEnv *env, struct request *request, const struct smp_walk_info *info)
{
    if (request->mounted == NULL)
        return;
    jobject now = mounted_on(env, request->thread, info);
    if (now == NULL || !(*env)->IsSameObject(env, now, request->mounted))
        drop_mounted(env, request);
    drop_ref(env, now);
}

static bool is_outstanding(uint64_t cookie)
{
    const enum smp_slot_state at = cookie != 0 ? smp_signal_state(cookie) : SMP_SLOT_FREE;

    return at != SMP_SLOT_FREE && at != SMP_SLOT_DONE;
}

/*
 * Records the request with its thread. Returns false if the thread has no free entry. Each session
 * may have one entry: with a single shared entry the session that polls most often would block the
 * others when threads wait long for a CPU.
 */
static bool record_request(struct smp_walk_info *info, uint64_t cookie)
{
    for (size_t i = 0; i < SMP_WALK_INFO_REQUESTS; i++) {
        uint64_t other = info->requests[i];
        if (!is_outstanding(other) &&
            atomic_compare_exchange_strong(&info->requests[i], &other, cookie))
            return true;
    }
    return false;
}

/* Sends a signal to a thread that runs Java code; walks a thread in native code at once. */
static enum smp_status ask_thread(struct smp_by_signal *walker, const struct request *request,
                                  struct smp_signal_slot *slot, uint64_t cookie)
{
    struct smp_thread *const thread = request->thread;
    const enum smp_status status = smp_native_walk(smp_threads_walk_info(thread), thread->os_tid,
                                                   request->cpu_ns, &walker->words, slot);

    if (status == SMP_ESTATE)
        return smp_signals_request(smp_async_signal(walker->signal), thread, slot, cookie);
    if (status == SMP_OK)
        smp_signal_spare(cookie);
    else
        smp_signal_release(cookie);
    return status;
}

/* Makes one try. Only after SMP_OK will there be an answer. */
static enum smp_status send_request(struct smp_by_signal *walker, struct request *request,
                                    JNIEnv *env)
{
    struct smp_walk_info *info = smp_threads_walk_info(request->thread);
    uint64_t cookie = 0;
    struct smp_signal_slot *slot = smp_signal_take(&cookie);

    if (slot == NULL)
        return SMP_EQUOTA;
    slot->target = smp_walk_target_of(request->thread, smp_async_get(), env);
    slot->mailbox = walker->mailbox;
    slot->frames = request->buffer.frames;
    slot->capacity = request->buffer.capacity;
    const bool is_walkable = slot->target.own == NULL || slot->target.stack_high != 0;
    if (!is_walkable || !record_request(info, cookie)) {
        smp_signal_release(cookie);
        if (is_walkable)
            return SMP_ESTATE;
        return smp_virtual_threads_in_use() ? SMP_EINVAL : SMP_EUNSUPPORTED;
    }
    drop_mounted(env, request);
    request->mounted = mounted_on(env, request->thread, info);
    const enum smp_status status = ask_thread(walker, request, slot, cookie);

    request->cpu_ns = -1; /* it may have moved before another try */
    if (status == SMP_OK) {
        request->cookie = cookie;
        confirm_mounted(env, request, info);
    }
    return status;
}

static struct late *find_late(struct smp_by_signal *walker, const struct smp_thread *thread)
{
    for (size_t i = 0; i < walker->late_count; i++) {
        if (walker->late[i].serial == thread->serial)
            return &walker->late[i];
    }
    return NULL;
}

/* Reads the signal mask of the thread, unless a session has read it recently. */
static bool thread_blocks_signal(const struct smp_by_signal *walker, struct smp_thread *thread)
{
    struct smp_walk_info *info = smp_threads_walk_info(thread);
    const int64_t now_ns = smp_clock_ns();
    const int64_t read_ns = info->mask_read_ns;

    if (read_ns == 0 || now_ns - read_ns >= SMP_ASYNC_MASK_MS * NS_PER_MS) {
        info->blocked = smp_signal_mask_of_tid(thread->os_tid);
        info->mask_read_ns = now_ns;
    }
    return (info->blocked & smp_signal_mask_bit(smp_async_signal(walker->signal))) != 0;
}

/* Returns whether a thread that was known to block the signal still does. */
static bool has_blocked_signal(const struct smp_by_signal *walker, struct smp_thread *thread)
{
    return smp_threads_walk_info(thread)->blocked != 0 && thread_blocks_signal(walker, thread);
}

static void drop_late(struct smp_by_signal *walker, JNIEnv *env, struct late *late)
{
    smp_signal_release(late->cookie);
    give_buffer(walker, late->buffer);
    drop_ref(env, late->mounted);
    *late = walker->late[--walker->late_count];
}

/* Drops late walks that were not taken in time, and abandons old requests without an answer: their
 * threads have ended, are not sampled any more, or still have no CPU. */
static void sweep_late(struct smp_by_signal *walker, JNIEnv *env)
{
    const int64_t now_ns = smp_clock_ns();

    for (size_t i = walker->late_count; i > 0; i--) {
        struct late *late = &walker->late[i - 1];
        const enum smp_slot_state at = smp_signal_state(late->cookie);
        const bool is_old = now_ns - late->since_ns > SMP_ASYNC_LATE_MS * NS_PER_MS;
        if (at == SMP_SLOT_FREE ||
            (is_old && (at == SMP_SLOT_DONE || smp_signal_abandon(late->cookie))))
            drop_late(walker, env, late);
    }
}

/* Abandons a late request if the thread blocks the signal by now. */
static bool give_up_late(struct smp_by_signal *walker, JNIEnv *env, struct late *late,
                         struct smp_thread *thread)
{
    if (!thread_blocks_signal(walker, thread) || !smp_signal_abandon(late->cookie))
        return false;
    drop_late(walker, env, late);
    return true;
}

/* Abandons a late request of a thread that has run since without an answer. A running thread
 * receives its signals, so the handler of another library has taken this one. */
static bool drop_taken(struct smp_by_signal *walker, JNIEnv *env, struct late *late, int32_t tid)
{
    const int64_t most_ns = SMP_ASYNC_TAKEN_MS * NS_PER_MS;
    int64_t cpu_ns = 0;

    if ((late->cpu_ns >= 0 && smp_clock_ns() - late->since_ns < most_ns) ||
        !smp_clock_thread_cpu_ns(tid, &cpu_ns))
        return false;
    if (late->cpu_ns < 0)
        late->cpu_ns = cpu_ns;
    if (cpu_ns - late->cpu_ns < most_ns || !smp_signal_abandon(late->cookie))
        return false;
    drop_late(walker, env, late);
    return true;
}

/* Reserves an entry in case the request becomes late, or its walk would be lost. SMP_ESTATE: try
 * later. SMP_EUNSUPPORTED: the thread blocks the signal. */
static enum smp_status reserve_late(struct smp_by_signal *walker, JNIEnv *env,
                                    struct smp_thread *thread)
{
    struct late *late = find_late(walker, thread);

    if (late != NULL) {
        if (!is_outstanding(late->cookie))
            drop_late(walker, env, late); /* the walk was not taken, and is outdated */
        else if (!drop_taken(walker, env, late, thread->os_tid))
            return give_up_late(walker, env, late, thread) ? SMP_EUNSUPPORTED : SMP_ESTATE;
    }
    if (walker->late_count + walker->count >= SMP_ASYNC_LATE)
        sweep_late(walker, env);
    return walker->late_count + walker->count < SMP_ASYNC_LATE ? SMP_OK : SMP_ESTATE;
}

static enum smp_status check_thread(struct smp_by_signal *walker, struct smp_thread *thread)
{
    if (!smp_async_is_usable() || smp_signals_is_lost(smp_async_signal(walker->signal)))
        return SMP_EUNSUPPORTED;
    if (thread->os_tid == 0)
        return smp_virtual_threads_in_use() ? SMP_EINVAL : SMP_EUNSUPPORTED;
    if (smp_async_walks_by_itself())
        smp_by_jvmti_confirm_life(thread);
    if (thread->ended_ns != 0)
        return SMP_EGONE;
    if (has_blocked_signal(walker, thread))
        return SMP_EUNSUPPORTED;
    if (walker->count == SMP_ASYNC_IN_FLIGHT)
        return SMP_EQUOTA;
    if (walker->mailbox == NULL)
        walker->mailbox = smp_signals_take_mailbox();
    return walker->mailbox != NULL ? SMP_OK : SMP_EQUOTA;
}

/* Moves the request to the late ones. The caller has reserved an entry. */
static void keep_late(struct smp_by_signal *walker, struct request *request)
{
    walker->late[walker->late_count++] = (struct late){ .cookie = request->cookie,
                                                        .serial = request->thread->serial,
                                                        .buffer = request->buffer,
                                                        .tries = request->tries,
                                                        .mounted = request->mounted,
                                                        .since_ns = smp_clock_ns(),
                                                        .cpu_ns = -1 };
    request->buffer = (struct buffer){ 0 };
    request->mounted = NULL;
}

static enum smp_status request_by_signal(void *self, struct smp_thread *thread, int64_t cpu_ns,
                                         uint64_t token)
{
    struct smp_by_signal *walker = self;
    struct request request = { .token = token, .thread = thread, .cpu_ns = cpu_ns };
    JNIEnv *env = smp_agent_env();
    enum smp_status status = check_thread(walker, thread);

    if (status != SMP_OK)
        return status;
    if (env == NULL)
        return SMP_EVM;
    status = reserve_late(walker, env, thread);
    if (status != SMP_OK)
        return status;
    if (!take_buffer(walker, &request.buffer))
        return SMP_EQUOTA;
    status = send_request(walker, &request, env);
    if (status != SMP_OK) {
        drop_mounted(env, &request);
        give_buffer(walker, request.buffer);
        return status;
    }
    walker->requests[walker->count++] = request;
    return SMP_OK;
}

/* ----------------------------------------------------------------------------------- deliveries */

static void end_request(struct smp_by_signal *walker, JNIEnv *env, size_t index)
{
    struct request *request = &walker->requests[index];

    drop_mounted(env, request);
    give_buffer(walker, request->buffer);
    *request = walker->requests[--walker->count];
}

static void end_without_stack(struct smp_by_signal *walker, JNIEnv *env, struct smp_delivery_to to,
                              size_t index, enum smp_answer answer)
{
    smp_delivery_none(walker->requests[index].token, answer, to);
    end_request(walker, env, index);
}

static bool may_try_again(const struct request *request)
{
    return request->tries < SMP_ASYNC_TRIES && !request->is_late;
}

/* Returns whether the thread may be walkable a moment later. */
static bool is_worth_another_try(enum smp_answer answer)
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

uint32_t smp_by_signal_more_room(const struct smp_by_signal *walker, uint32_t room)
{
    const size_t most = SMP_OWN_WALK_ROOM * (walker->delivery.capacity + SMP_WALK_EXTRA);

    return 2 * (size_t)room < most ? 2 * room : (uint32_t)most;
}

/* Enlarges the buffers of this and all later requests. Returns false if not this one's. */
static bool grow_frame_buffer(struct smp_by_signal *walker, struct request *request)
{
    const uint32_t room = smp_by_signal_more_room(walker, request->buffer.capacity);
    struct buffer larger;

    if (request->buffer.capacity >= room)
        return false;
    if (walker->room < room)
        walker->room = room;
    if (request->is_late || !take_buffer(walker, &larger))
        return false;
    give_buffer(walker, request->buffer);
    request->buffer = larger;
    return true;
}

/* Reads the result of a try. Returns true if the request has ended. */
static bool read_walk(struct smp_by_signal *walker, JNIEnv *env, struct smp_delivery_to to,
                      size_t index)
{
    struct request *request = &walker->requests[index];
    const struct smp_walk_answer answer = smp_signal_slot_of(request->cookie)->answer;

    smp_signal_release(request->cookie);
    request->cookie = 0;
    request->tries++;
    request->answer = answer.answer;
    const struct smp_walked walked = { .thread = request->thread,
                                       .token = request->token,
                                       .frames = request->buffer.frames,
                                       .capacity = request->buffer.capacity,
                                       .answer = &answer,
                                       .mounted = request->mounted,
                                       .is_retried = request->tries > 1,
                                       .is_late = request->is_late };
    smp_walk_target_learn(request->thread, env, &answer);
    if (answer.cut.omitted > 0 && grow_frame_buffer(walker, request)) {
        request->answer = SMP_ANSWER_NOT_WALKABLE_JAVA; /* the outcome if there is no other try */
        return false;
    }
    const bool is_worth_it = is_worth_another_try(answer.answer);
    if (answer.count > 0)
        smp_delivery_stack(&walker->delivery, env, &walked, to);
    else if (is_worth_it && may_try_again(request))
        return false;
    else if (!is_worth_it || !smp_delivery_waiting(&walker->delivery, &walked, to))
        smp_delivery_none(request->token, request->answer, to);
    end_request(walker, env, index);
    return true;
}

/* Returns the number of requests that need another try. Iterates backwards, because the last
 * request replaces one that ends. */
static size_t read_walks(struct smp_by_signal *walker, JNIEnv *env, struct smp_delivery_to to)
{
    size_t again = 0;

    for (size_t i = walker->count; i > 0; i--) {
        const uint64_t cookie = walker->requests[i - 1].cookie;
        if (cookie != 0 && smp_signal_state(cookie) == SMP_SLOT_DONE &&
            !read_walk(walker, env, to, i - 1))
            again++;
    }
    return again;
}

static void try_again(struct smp_by_signal *walker, JNIEnv *env, struct smp_delivery_to to)
{
    const struct timespec gap = { .tv_nsec = SMP_ASYNC_TRY_GAP_NS };

    (void)nanosleep(&gap, NULL);
    for (size_t i = walker->count; i > 0; i--) {
        struct request *request = &walker->requests[i - 1];
        if (request->cookie == 0 && send_request(walker, request, env) != SMP_OK)
            end_without_stack(walker, env, to, i - 1, request->answer);
    }
}

/* Called if the walk has not begun. Abandons the request if the thread has ended and will not
 * answer, or blocks the signal and must be walked in another way. */
static enum smp_answer keep_or_abandon(struct smp_by_signal *walker, struct request *request)
{
    const bool has_ended = request->thread->ended_ns != 0;
    const bool is_blocked = !has_ended && thread_blocks_signal(walker, request->thread);

    if ((has_ended || is_blocked) && smp_signal_abandon(request->cookie))
        return is_blocked ? SMP_ANSWER_BLOCKED : SMP_ANSWER_UNANSWERED;
    keep_late(walker, request);
    return SMP_ANSWER_UNANSWERED;
}

/* Called at the deadline. A walk that has not begun becomes late. A walk that has begun ends
 * within microseconds and is awaited. */
static void give_up_requests(struct smp_by_signal *walker, JNIEnv *env, struct smp_delivery_to to)
{
    for (size_t i = walker->count; i > 0; i--) {
        struct request *request = &walker->requests[i - 1];
        if (request->cookie == 0) {
            /* A try has failed, and there was no time for another one. */
            end_without_stack(walker, env, to, i - 1,
                              is_worth_another_try(request->answer) ? SMP_ANSWER_UNANSWERED
                                                                    : request->answer);
        } else if (smp_signal_give_up(request->cookie)) {
            const enum smp_answer answer = keep_or_abandon(walker, request);
            end_without_stack(walker, env, to, i - 1, answer);
        } else {
            smp_signal_let_finish(request->cookie);
            request->is_late = true;
            if (!read_walk(walker, env, to, i - 1))
                end_without_stack(walker, env, to, i - 1, walker->requests[i - 1].answer);
        }
    }
}

static void collect_walks(void *self, int64_t deadline_ns, smp_on_answer *answered, void *context)
{
    struct smp_by_signal *walker = self;
    const struct smp_delivery_to to = { .answered = answered, .context = context };
    JNIEnv *env = smp_agent_env();
    int64_t pause_ns = SMP_SIGNAL_FIRST_PAUSE_NS;
    bool is_longer = false;

    while (walker->count > 0) {
        /* Pauses are short, so that retries do not wait for threads that have no CPU. */
        (void)smp_signals_pause(walker->mailbox, deadline_ns, &pause_ns);
        const size_t again = read_walks(walker, env, to);
        if (walker->count == 0)
            break;
        /* Extends the deadline once: walks collected at the deadline are also retried. */
        if (again > 0 && !is_longer) {
            const int64_t tries_ns = smp_clock_ns() + 2 * SMP_ASYNC_TRIES * SMP_ASYNC_TRY_GAP_NS;
            deadline_ns = deadline_ns > tries_ns ? deadline_ns : tries_ns;
            is_longer = true;
        }
        if (smp_clock_ns() + SMP_ASYNC_TRY_GAP_NS >= deadline_ns) {
            give_up_requests(walker, env, to);
            break;
        }
        if (again > 0) {
            try_again(walker, env, to);
            pause_ns = SMP_SIGNAL_FIRST_PAUSE_NS;
        }
    }
}

/* The thread must be alive. There is no retry, because the thread would be somewhere else. */
static enum smp_status take_late_walk(void *self, struct smp_thread *thread, uint64_t token,
                                      smp_on_answer *answered, void *context)
{
    struct smp_by_signal *walker = self;
    const struct smp_delivery_to to = { .answered = answered, .context = context };
    struct late *late = find_late(walker, thread);
    JNIEnv *env = smp_agent_env();
    const size_t index = walker->count;

    if (late == NULL)
        return SMP_EGONE;
    if (env == NULL)
        return SMP_ESTATE;
    if (is_outstanding(late->cookie) && give_up_late(walker, env, late, thread)) {
        smp_delivery_none(token, SMP_ANSWER_BLOCKED, to);
        return SMP_OK;
    }
    if (is_outstanding(late->cookie)) /* it has not answered meanwhile */
        return SMP_ESTATE;
    if (smp_signal_state(late->cookie) != SMP_SLOT_DONE) {
        drop_late(walker, env, late);
        return SMP_EGONE;
    }
    walker->requests[walker->count++] = (struct request){ .token = token,
                                                          .cookie = late->cookie,
                                                          .thread = thread,
                                                          .buffer = late->buffer,
                                                          .tries = late->tries,
                                                          .is_late = true,
                                                          .mounted = late->mounted };
    *late = walker->late[--walker->late_count];
    if (!read_walk(walker, env, to, index))
        end_without_stack(walker, env, to, index, walker->requests[index].answer);
    return SMP_OK;
}

static const char *check_handler(void *self, bool *is_lost)
{
    struct smp_by_signal *walker = self;
    const int number = smp_async_signal(walker->signal);
    char file[TAKER_FILE_BYTES];
    enum smp_signals_hold hold = SMP_SIGNALS_HELD;

    if (smp_async_is_usable())
        hold = smp_signals_check(number, file, sizeof(file));
    *is_lost = hold == SMP_SIGNALS_LOST;
    if (hold == SMP_SIGNALS_HELD)
        return NULL;
    (void)snprintf(walker->taker, sizeof(walker->taker), "%s (signal %d, %s)", file, number,
                   *is_lost ? "not taken back" : "taken back");
    return walker->taker;
}

bool smp_by_signal_deliver(struct smp_by_signal *walker, JNIEnv *env,
                           const struct smp_walked *walked, struct smp_delivery_to to)
{
    const struct smp_walk_answer *answer = walked->answer;

    smp_walk_target_learn(walked->thread, env, answer);
    if (answer->count == 0 && env != NULL && smp_async_walks_by_itself())
        smp_by_jvmti_confirm_life(walked->thread); /* so that its next samples are walked */
    if (answer->count > 0 && env != NULL)
        smp_delivery_stack(&walker->delivery, env, walked, to);
    else
        smp_delivery_none(walked->token, answer->answer, to);
    return answer->cut.omitted == 0;
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
    walker->signal = signal;
    walker->room = SMP_ASYNC_FIRST_FRAMES;
    walker->delivery.capacity = capacity;
    walker->delivery.states = smp_async_get()->layout.jvm.states;
    walker->words = (struct smp_frames_words){
        .read = smp_alloc(NULL, SMP_PROVEN_WORDS * sizeof(*walker->words.read)),
        .capacity = SMP_PROVEN_WORDS
    };
    if (walker->words.read == NULL) {
        smp_free(NULL, walker);
        return SMP_ENOMEM;
    }
    smp_handshakes_init(&walker->delivery.handshakes);
    *out = walker;
    return SMP_OK;
}

void smp_by_signal_name_by(struct smp_by_signal *walker, struct smp_named_methods *named)
{
    walker->delivery.named = named;
}

/* After this call no handler writes into the buffer. */
static void free_request(uint64_t cookie, struct buffer buffer)
{
    if (cookie != 0 && smp_signals_end(cookie))
        smp_signal_release(cookie);
    smp_free(NULL, buffer.frames);
}

/* Handlers write only into buffers of late or undelivered requests. */
static void free_requests(struct smp_by_signal *walker)
{
    for (size_t i = 0; i < walker->count; i++)
        free_request(walker->requests[i].cookie, walker->requests[i].buffer);
    for (size_t i = 0; i < walker->late_count; i++)
        free_request(walker->late[i].cookie, walker->late[i].buffer);
}

void smp_by_signal_destroy(struct smp_by_signal *walker)
{
    if (walker == NULL)
        return;
    free_requests(walker);
    for (size_t i = 0; i < walker->spare_count; i++)
        smp_free(NULL, walker->spare[i].frames);
    smp_signals_give_mailbox(walker->mailbox);
    smp_handshakes_fini(&walker->delivery.handshakes);
    smp_mounted_check_fini(&walker->delivery.mounted_check);
    smp_free(NULL, walker->words.read);
    smp_free(NULL, walker);
}

struct smp_async_walker smp_by_signal_functions(struct smp_by_signal *walker)
{
    return (struct smp_async_walker){
        .request = request_by_signal,
        .collect = collect_walks,
        .take_late = take_late_walk,
        .check_signal = check_handler,
        .self = walker,
    };
}

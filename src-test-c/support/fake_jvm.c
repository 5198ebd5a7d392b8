/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_jvm.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

enum { MAX_METHODS = 4096, MAX_FRAMES_IN_TEXT = 4096, MAX_NAME = 1024 };

/* A reader's memory of a name or of a call's answer. */
struct memory {
    uint64_t name_version;
    char answer[MAX_NAME];
    enum smp_naming naming;
};

struct fake_method {
    char class_name[256];
    char method_name[64];
    bool is_unloaded;
};

struct fake_jvm {
    pthread_mutex_t mutex; /* guards all fields below */
    struct fake_thread *first;
    struct fake_thread *last;
    struct smp_start_listener *listen;
    void (*watch_hook)(void *self);
    void *watch_hook_self;
    /* the last thread that was offered; the next poll may start with it */
    struct fake_thread *offered;
    uint64_t serial;
    struct fake_method methods[MAX_METHODS];
    size_t method_count;
    fake_jvm_rule *rule;
    void *rule_self;
    enum smp_status rule_status;
    void (*hook)(void *self);
    void *hook_self;
    const char *refused_name;
    enum smp_status refused_status;
    enum smp_status timer_status;
    size_t timers;
    struct smp_virtual_threads virtual_threads; /* set by the test */
    size_t memories;                            /* not released yet */
    size_t infos;                               /* not released yet */
    size_t held;
    size_t inside; /* threads that have entered and not left */
    struct fake_jvm_counts counts;
};

static void *must(void *piece)
{
    if (piece == NULL)
        abort();
    return piece;
}

static void lock(struct fake_jvm *vm)
{
    pthread_mutex_lock(&vm->mutex);
}

static void unlock(struct fake_jvm *vm)
{
    pthread_mutex_unlock(&vm->mutex);
}

/* --- threads --- */

void fake_jvm_add(struct fake_jvm *vm, struct fake_thread *thread, const char *name)
{
    lock(vm);
    thread->thread.serial = ++vm->serial;
    thread->thread.started_ns = smp_clock_ns();
    thread->name = must(strdup(name));
    thread->name_version = 1;
    if (vm->last == NULL)
        vm->first = thread;
    else
        vm->last->next = thread;
    vm->last = thread;
    if (vm->listen != NULL)
        smp_event_call(vm->listen->event);
    vm->listen = NULL;
    unlock(vm);
}

struct fake_thread *fake_jvm_start_as(struct fake_jvm *vm, const char *name, bool is_daemon,
                                      bool is_hidden)
{
    struct fake_thread *thread = must(calloc(1, sizeof(*thread)));

    thread->thread.is_daemon = is_daemon;
    thread->thread.is_hidden = is_hidden;
    fake_jvm_add(vm, thread, name);
    return thread;
}

struct fake_thread *fake_jvm_start(struct fake_jvm *vm, const char *name)
{
    return fake_jvm_start_as(vm, name, false, false);
}

void fake_jvm_identify(struct fake_thread *thread, int32_t tid)
{
    atomic_store(&thread->thread.os_tid, tid);
}

void fake_jvm_end(struct fake_jvm *vm, struct fake_thread *thread)
{
    lock(vm);
    atomic_store(&thread->thread.ended_ns, smp_clock_ns());
    thread->walk_status = SMP_EGONE;
    thread->name_status = SMP_EGONE;
    unlock(vm);
}

void fake_jvm_rename(struct fake_jvm *vm, struct fake_thread *thread, const char *name)
{
    lock(vm);
    free(thread->name);
    thread->name = must(strdup(name));
    thread->name_version++;
    unlock(vm);
}

void fake_jvm_fail(struct fake_jvm *vm, struct fake_thread *thread, enum smp_status status)
{
    lock(vm);
    thread->walk_status = status;
    unlock(vm);
}

void fake_jvm_fail_name(struct fake_jvm *vm, struct fake_thread *thread, enum smp_status status)
{
    lock(vm);
    thread->name_status = status;
    unlock(vm);
}

size_t fake_jvm_threads_held(struct fake_jvm *vm)
{
    lock(vm);
    const size_t held = vm->held;
    unlock(vm);
    return held;
}

static enum smp_status poll(void *self, uint64_t *cursor, uint64_t *unseen,
                            bool (*started)(void *context, struct smp_thread *thread),
                            void *context)
{
    struct fake_jvm *vm = self;

    lock(vm);
    struct fake_thread *at = vm->first;
    if (vm->offered != NULL && vm->offered->thread.serial <= *cursor)
        at = vm->offered;
    for (; at != NULL; at = at->next) {
        if (at->thread.serial <= *cursor)
            continue;
        if (atomic_load(&at->thread.ended_ns) != 0) {
            (*unseen)++;
        } else {
            if (!started(context, &at->thread))
                break;
            at->is_held = true;
            vm->held++;
        }
        *cursor = at->thread.serial;
        vm->offered = at;
    }
    unlock(vm);
    return SMP_OK;
}

static void drop(void *self, struct smp_thread *thread)
{
    struct fake_jvm *vm = self;
    struct fake_thread *fake = (struct fake_thread *)thread;

    lock(vm);
    if (!fake->is_held)
        abort();
    fake->is_held = false;
    vm->held--;
    unlock(vm);
}

static bool listen_for_starts(void *self, uint64_t cursor, struct smp_start_listener *listen)
{
    struct fake_jvm *vm = self;
    bool is_none_new;
    void (*hook)(void *self) = NULL;

    lock(vm);
    is_none_new = vm->last == NULL || vm->last->thread.serial <= cursor;
    if (is_none_new) {
        vm->listen = listen; /* there is one reader */
        vm->counts.listeners++;
        hook = vm->watch_hook;
        vm->watch_hook = NULL;
    }
    unlock(vm);
    if (hook != NULL)
        hook(vm->watch_hook_self);
    return is_none_new;
}

static void stop_listening(void *self, struct smp_start_listener *listen)
{
    struct fake_jvm *vm = self;

    lock(vm);
    if (vm->listen == listen)
        vm->listen = NULL;
    vm->counts.unwatches++;
    unlock(vm);
}

static struct memory *memory_of(struct fake_jvm *vm, void **kept)
{
    if (*kept == NULL) {
        *kept = must(calloc(1, sizeof(struct memory)));
        vm->memories++;
    }
    return *kept;
}

static void forget(void *self, void *kept)
{
    struct fake_jvm *vm = self;

    lock(vm);
    if (kept == NULL || vm->memories == 0)
        abort();
    vm->memories--;
    free(kept);
    unlock(vm);
}

static enum smp_status name(void *self, struct smp_thread *thread, void **seen, char *out,
                            size_t size, bool *changed)
{
    struct fake_jvm *vm = self;
    struct fake_thread *fake = (struct fake_thread *)thread;

    lock(vm);
    const enum smp_status status = fake->name_status;
    vm->counts.name_reads++;
    if (status == SMP_OK) {
        struct memory *memory = memory_of(vm, seen);
        *changed = memory->name_version != fake->name_version;
        if (*changed) {
            (void)snprintf(out, size, "%s", fake->name);
            memory->name_version = fake->name_version;
            vm->counts.names_read++;
        }
    }
    unlock(vm);
    return status;
}

/* --- stacks --- */

uint64_t fake_jvm_method(struct fake_jvm *vm, const char *class_name, const char *method_name)
{
    size_t i = 0;

    lock(vm);
    while (i < vm->method_count && (strcmp(vm->methods[i].class_name, class_name) != 0 ||
                                    strcmp(vm->methods[i].method_name, method_name) != 0))
        i++;
    if (i == vm->method_count) {
        if (i == MAX_METHODS)
            abort();
        (void)snprintf(vm->methods[i].class_name, sizeof(vm->methods[i].class_name), "%s",
                       class_name);
        (void)snprintf(vm->methods[i].method_name, sizeof(vm->methods[i].method_name), "%s",
                       method_name);
        vm->method_count++;
    }
    unlock(vm);
    return i + 1;
}

void fake_jvm_unload(struct fake_jvm *vm, uint64_t method)
{
    lock(vm);
    vm->methods[method - 1].is_unloaded = true;
    unlock(vm);
}

void fake_jvm_run_frames(struct fake_jvm *vm, struct fake_thread *thread,
                         const struct smp_frame *frames, size_t count)
{
    struct smp_frame *copy = must(malloc((count + 1) * sizeof(*copy)));

    if (count > 0)
        memcpy(copy, frames, count * sizeof(*copy));
    lock(vm);
    free(thread->frames);
    thread->frames = copy;
    thread->frame_count = count;
    unlock(vm);
}

void fake_jvm_run(struct fake_jvm *vm, struct fake_thread *thread, const char *stack)
{
    struct smp_frame frames[MAX_FRAMES_IN_TEXT];
    char *text = must(strdup(stack));
    size_t first = MAX_FRAMES_IN_TEXT;
    char *rest = text;

    for (char *frame = strsep(&rest, "|"); frame != NULL; frame = strsep(&rest, "|")) {
        char *index = strchr(frame, '@');
        if (index != NULL)
            *index = '\0';
        char *dot = strrchr(frame, '.');
        if (first == 0 || dot == NULL)
            abort();
        *dot = '\0';
        frames[--first] = (struct smp_frame){
            .method = fake_jvm_method(vm, frame, dot + 1),
            .bci = index != NULL ? atoi(index + 1) : 0,
        };
    }
    free(text);
    fake_jvm_run_frames(vm, thread, frames + first, MAX_FRAMES_IN_TEXT - first);
}

/* Cuts as a walker does: half of the room for frames from the leaf, half for frames from the
 * root. */
static void fill(struct smp_sample *sample, const struct smp_frame *frames, size_t count)
{
    const size_t kept = count < sample->capacity ? count : sample->capacity;

    sample->count = kept;
    sample->omitted = count - kept;
    sample->leaf_count = sample->omitted == 0 ? kept : kept / 2;
    if (kept == 0)
        return;
    memcpy(sample->frames, frames, sample->leaf_count * sizeof(*frames));
    memcpy(sample->frames + sample->leaf_count, frames + sample->leaf_count + sample->omitted,
           (kept - sample->leaf_count) * sizeof(*frames));
}

static enum smp_status walk(void *self, struct smp_thread *thread, struct smp_sample *sample)
{
    struct fake_jvm *vm = self;
    struct fake_thread *fake = (struct fake_thread *)thread;

    lock(vm);
    void (*hook)(void *) = vm->hook;
    void *hook_self = vm->hook_self;
    unlock(vm);
    if (hook != NULL)
        hook(hook_self);
    lock(vm);
    const enum smp_status status = fake->walk_status;
    vm->counts.walks++;
    if (status == SMP_OK)
        fill(sample, fake->frames, fake->frame_count);
    sample->spot = fake->spot;
    unlock(vm);
    return status;
}

static enum smp_status resolve(void *self, uint64_t method, struct smp_method_info *info)
{
    static const struct smp_line lines[] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 },
                                             { 4, 5 }, { 5, 6 }, { 6, 7 }, { 7, 8 } };
    struct fake_jvm *vm = self;
    enum smp_status status = SMP_EGONE;

    lock(vm);
    vm->counts.resolves++;
    if (method == 0 || method > vm->method_count)
        abort();
    const struct fake_method *at = &vm->methods[method - 1];
    if (!at->is_unloaded) {
        *info = (struct smp_method_info){
            .class_name = at->class_name,
            .method_name = at->method_name,
            .file = "F.java",
            .lines = lines,
            .line_count = sizeof(lines) / sizeof(lines[0]),
        };
        vm->infos++;
        status = SMP_OK;
    }
    unlock(vm);
    return status;
}

static void release(void *self, struct smp_method_info *info)
{
    struct fake_jvm *vm = self;

    (void)info;
    lock(vm);
    vm->infos--;
    unlock(vm);
}

/* --- names by a user's rule --- */

void fake_jvm_set_rule(struct fake_jvm *vm, fake_jvm_rule *rule, void *self)
{
    lock(vm);
    vm->rule = rule;
    vm->rule_self = self;
    unlock(vm);
}

void fake_jvm_fail_rule(struct fake_jvm *vm, enum smp_status status)
{
    lock(vm);
    vm->rule_status = status;
    unlock(vm);
}

static enum smp_naming call_rule(struct fake_jvm *vm, const struct fake_thread *thread, void **kept,
                                 char answer[MAX_NAME])
{
    const enum smp_naming naming = vm->rule(vm->rule_self, thread, answer, MAX_NAME);
    struct memory *memory = memory_of(vm, kept);
    const bool is_same = memory->naming == naming && strcmp(memory->answer, answer) == 0;

    memory->naming = naming;
    memcpy(memory->answer, answer, MAX_NAME);
    return is_same && naming != SMP_NAMING_FAILED ? SMP_NAMING_SAME : naming;
}

static void group_names(void *self, const struct smp_thread_to_name *threads, size_t count,
                        smp_on_name *result, void *context)
{
    struct fake_jvm *vm = self;
    char answer[MAX_NAME];
    enum smp_status status;

    lock(vm);
    vm->counts.rule_calls += count > 0;
    vm->counts.rule_rests += count == 0;
    status = vm->rule_status;
    for (size_t i = 0; status == SMP_OK && i < count; i++) {
        const struct fake_thread *fake = (const struct fake_thread *)threads[i].thread;
        memset(answer, 0, sizeof(answer));
        const enum smp_naming naming = call_rule(vm, fake, threads[i].memory, answer);
        result(context, threads[i].record, naming, naming == SMP_NAMING_NAMED ? answer : NULL);
    }
    unlock(vm);
}

/* --- thread filters --- */

struct thread_filter {
    struct fake_thread *const *threads;
    size_t count;
    unsigned *destroyed;
};

static bool contains(void *self, struct smp_thread *thread)
{
    const struct thread_filter *thread_filter = self;

    if (atomic_load(&thread->ended_ns) != 0)
        return false;
    for (size_t i = 0; i < thread_filter->count; i++) {
        if (&thread_filter->threads[i]->thread == thread)
            return true;
    }
    return false;
}

static void destroy_selection(void *self)
{
    struct thread_filter *thread_filter = self;

    (*thread_filter->destroyed)++;
    free(thread_filter);
}

struct smp_thread_filter fake_jvm_filter(struct fake_jvm *vm, struct fake_thread *const *threads,
                                         size_t count, unsigned *destroyed)
{
    struct thread_filter *thread_filter = must(malloc(sizeof(*thread_filter)));

    (void)vm;
    *thread_filter = (struct thread_filter){ threads, count, destroyed };
    return (struct smp_thread_filter){
        .contains = contains,
        .destroy = destroy_selection,
        .self = thread_filter,
    };
}

/* --- attaching, hooks --- */

static enum smp_status enter(void *self, const char *thread_name)
{
    struct fake_jvm *vm = self;
    enum smp_status status = SMP_OK;

    lock(vm);
    vm->counts.enters++;
    if (vm->refused_name != NULL && strcmp(vm->refused_name, thread_name) == 0)
        status = vm->refused_status;
    else
        vm->inside++;
    unlock(vm);
    return status;
}

static void leave(void *self)
{
    struct fake_jvm *vm = self;

    lock(vm);
    vm->inside--;
    unlock(vm);
}

void fake_jvm_on_listen(struct fake_jvm *vm, void (*hook)(void *self), void *self)
{
    lock(vm);
    vm->watch_hook = hook;
    vm->watch_hook_self = self;
    unlock(vm);
}

void fake_jvm_on_walk(struct fake_jvm *vm, void (*hook)(void *self), void *self)
{
    lock(vm);
    vm->hook = hook;
    vm->hook_self = self;
    unlock(vm);
}

void fake_jvm_fail_enter(struct fake_jvm *vm, const char *thread_name, enum smp_status status)
{
    lock(vm);
    vm->refused_name = thread_name;
    vm->refused_status = status;
    unlock(vm);
}

struct fake_jvm_counts fake_jvm_get_counts(struct fake_jvm *vm)
{
    lock(vm);
    const struct fake_jvm_counts counts = vm->counts;
    unlock(vm);
    return counts;
}

/* --- the fake JVM --- */

struct fake_jvm *fake_jvm_create(void)
{
    struct fake_jvm *vm = must(calloc(1, sizeof(*vm)));

    pthread_mutex_init(&vm->mutex, NULL);
    return vm;
}

void fake_jvm_destroy(struct fake_jvm *vm)
{
    assert_int_equal(vm->held, 0);
    assert_int_equal(vm->memories, 0);
    assert_int_equal(vm->infos, 0);
    assert_int_equal(vm->inside, 0);
    while (vm->first != NULL) {
        struct fake_thread *next = vm->first->next;
        free(vm->first->name);
        free(vm->first->frames);
        free(vm->first);
        vm->first = next;
    }
    pthread_mutex_destroy(&vm->mutex);
    free(vm);
}

/* --- timers on CPU time --- */

void fake_jvm_expire(struct fake_jvm *vm, struct fake_thread *thread, uint64_t weight)
{
    lock(vm);
    assert_true(thread->has_timer);
    assert_true(thread->sample_count < FAKE_MAX_SAMPLES);
    thread->weights[thread->sample_count++] = weight + thread->carried;
    thread->carried = 0;
    unlock(vm);
}

void fake_jvm_expire_without_room(struct fake_jvm *vm, struct fake_thread *thread, uint64_t weight)
{
    lock(vm);
    assert_true(thread->has_timer);
    thread->carried += weight;
    thread->dropped++;
    unlock(vm);
}

void fake_jvm_fail_timers(struct fake_jvm *vm, enum smp_status status)
{
    lock(vm);
    vm->timer_status = status;
    unlock(vm);
}

size_t fake_jvm_timers(struct fake_jvm *vm)
{
    lock(vm);
    const size_t timers = vm->timers;
    unlock(vm);
    return timers;
}

int64_t fake_jvm_timers_apart_ns;

static enum smp_status start_timer(void *self, struct smp_thread *thread, int64_t interval_ns,
                                   int64_t from_cpu_ns, uint64_t random, uint64_t token,
                                   void **timer)
{
    struct fake_jvm *vm = self;
    struct fake_thread *fake = (struct fake_thread *)(void *)thread;

    (void)random;
    assert_true(interval_ns > 0);
    lock(vm);
    const enum smp_status status = vm->timer_status;
    vm->counts.timer_starts++;
    assert_false(fake->has_timer);
    if (status == SMP_OK) {
        fake->has_timer = true;
        fake->timer_from_ns = from_cpu_ns;
        fake->token = token;
        vm->timers++;
        *timer = fake;
    }
    unlock(vm);
    return status;
}

static void hand_out_samples(struct fake_thread *thread, struct smp_cpu_sampled receiver)
{
    const struct smp_sample nothing = { 0 };
    const struct smp_sample sample = { .frames = thread->frames,
                                       .capacity = thread->frame_count,
                                       .count = thread->frame_count,
                                       .leaf_count = thread->frame_count };

    for (size_t i = 0; i < thread->sample_count; i++)
        receiver.sampled(receiver.context, thread->token, SMP_ANSWER_WHOLE, &sample, NULL,
                         thread->weights[i]);
    thread->sample_count = 0;
    for (; thread->dropped > 0; thread->dropped--)
        receiver.sampled(receiver.context, thread->token, SMP_ANSWER_DROPPED, &nothing, NULL, 0);
}

/* Without the mutex, because the receiver reads names. */
static void drain_timers(void *self, struct smp_cpu_sampled receiver)
{
    struct fake_jvm *vm = self;

    for (struct fake_thread *thread = vm->first; thread != NULL; thread = thread->next) {
        if (thread->has_timer)
            hand_out_samples(thread, receiver);
    }
}

static void stop_timer(void *self, void *timer, struct smp_cpu_sampled receiver)
{
    struct fake_jvm *vm = self;
    struct fake_thread *thread = timer;
    const struct smp_sample nothing = { 0 };

    hand_out_samples(thread, receiver);
    if (thread->carried > 0)
        receiver.sampled(receiver.context, thread->token, SMP_ANSWER_DROPPED, &nothing, NULL,
                         thread->carried);
    lock(vm);
    thread->carried = 0;
    thread->has_timer = false;
    vm->timers--;
    unlock(vm);
}

/* --- virtual threads --- */

void fake_jvm_set_virtual_threads(struct fake_jvm *vm, struct smp_virtual_threads threads)
{
    vm->virtual_threads = threads;
}

static enum smp_status draw_virtual_threads(void *self, double wanted, uint64_t *random,
                                            uint64_t *population, smp_on_drawn_thread *drawn,
                                            void *context)
{
    const struct smp_virtual_threads *threads = &((struct fake_jvm *)self)->virtual_threads;

    if (threads->draw == NULL)
        return SMP_EUNSUPPORTED;
    return threads->draw(threads->self, wanted, random, population, drawn, context);
}

static const char *virtual_thread_refusal(const void *self)
{
    (void)self;
    return "a fake JVM";
}

struct smp_jvm fake_jvm_interface(struct fake_jvm *vm)
{
    return (struct smp_jvm){
        .threads = { .poll = poll,
                     .drop = drop,
                     .listen = listen_for_starts,
                     .unlisten = stop_listening,
                     .name = name,
                     .forget = forget,
                     .self = vm },
        .walker = { .walk = walk, .self = vm },
        .cpu = { .start = start_timer,
                 .stop = stop_timer,
                 .drain = drain_timers,
                 .samples_per_cpu = FAKE_SAMPLES_PER_CPU,
                 .least_apart_ns = fake_jvm_timers_apart_ns,
                 .self = vm },
        .names = { .resolve = resolve, .release = release, .self = vm },
        .name_callback = { .group_names = group_names, .forget = forget, .self = vm },
        .virtual_threads = { .draw = draw_virtual_threads,
                             .refusal = virtual_thread_refusal,
                             .self = vm },
    };
}

struct smp_attach fake_jvm_attach(struct fake_jvm *vm)
{
    return (struct smp_attach){ .enter = enter, .leave = leave, .self = vm };
}

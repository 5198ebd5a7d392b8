/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_jvm.h - a JVM that does what the test says: threads that start, run, fail and end.
 *
 *   struct fake_jvm *vm = fake_jvm_create();
 *   struct fake_thread *thread = fake_jvm_start(vm, "worker-1");
 *   fake_jvm_run(vm, thread, "app.Main.main|app.Work.loop");       root first
 *   ... fake_jvm_interface(vm) goes to the code under test ...
 *   fake_jvm_destroy(vm);                        fails the test if something was not released
 *
 * Byte code index i of a method is on line i + 1, up to line 8. Threads' times are those of
 * base/clock.h.
 *
 * Owns     its threads and methods, from malloc, so that no allocation of it is counted or refused.
 * Threads  any; one mutex. Hooks are called without it.
 * Errors   fail the test.
 * Cost     small inputs.
 */
#ifndef SMP_SUPPORT_FAKE_JVM_H
#define SMP_SUPPORT_FAKE_JVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/jvm.h"
#include "engine/session/sampler.h"

struct fake_jvm;

enum { FAKE_MAX_SAMPLES = 16 };

/* Tests only read it. */
struct fake_thread {
    struct smp_thread thread; /* first: the code under test sees this part */
    struct fake_thread *next; /* in order of start */
    char *name;
    uint64_t name_version;
    struct smp_frame *frames;
    size_t frame_count;
    struct smp_call_spot spot; /* its call position; set by the test */
    enum smp_status walk_status;
    enum smp_status name_status;
    bool is_held;
    bool has_timer;
    int64_t timer_from_ns; /* start of its last timer's time */
    uint64_t token;
    uint64_t weights[FAKE_MAX_SAMPLES]; /* weights of the samples that wait for a drain */
    size_t sample_count;
    uint64_t carried; /* weight of the dropped samples */
    uint64_t dropped;
};

struct fake_jvm *fake_jvm_create(void);
/* Fails the test unless every thread, name and answer was released and every attached thread
 * left. */
void fake_jvm_destroy(struct fake_jvm *vm);
struct smp_jvm fake_jvm_interface(struct fake_jvm *vm);
struct smp_attach fake_jvm_attach(struct fake_jvm *vm);

/* --- threads --- */

struct fake_thread *fake_jvm_start(struct fake_jvm *vm, const char *name);
struct fake_thread *fake_jvm_start_as(struct fake_jvm *vm, const char *name, bool is_daemon,
                                      bool is_hidden);
/* Adds a thread that the caller allocated with calloc; struct fake_thread must be its first
 * member. fake_jvm_destroy frees it. */
void fake_jvm_add(struct fake_jvm *vm, struct fake_thread *thread, const char *name);
/* Sets its tid, and so its CPU clock, which is that of base/clock.h. Call it before the thread is
 * handed out. */
void fake_jvm_identify(struct fake_thread *thread, int32_t tid);
void fake_jvm_end(struct fake_jvm *vm, struct fake_thread *thread);
void fake_jvm_rename(struct fake_jvm *vm, struct fake_thread *thread, const char *name);
/* Sets the result of walks of this thread. SMP_OK: its stack. */
void fake_jvm_fail(struct fake_jvm *vm, struct fake_thread *thread, enum smp_status status);
/* Sets the result of reading its name. */
void fake_jvm_fail_name(struct fake_jvm *vm, struct fake_thread *thread, enum smp_status status);
size_t fake_jvm_threads_held(struct fake_jvm *vm); /* by the code under test */

/* --- stacks --- */

/* Returns the key of a method; the same for the same names. */
uint64_t fake_jvm_method(struct fake_jvm *vm, const char *class_name, const char *method_name);
/* Unloads the class of the method. */
void fake_jvm_unload(struct fake_jvm *vm, uint64_t method);
/* leaf first; copied */
void fake_jvm_run_frames(struct fake_jvm *vm, struct fake_thread *thread,
                         const struct smp_frame *frames, size_t count);
/* root first, '|' between methods, '@' before a byte code index:
 * "app.Main.main|app.Work.loop@3". */
void fake_jvm_run(struct fake_jvm *vm, struct fake_thread *thread, const char *stack);

/* --- timers on CPU time --- */

enum { FAKE_SAMPLES_PER_CPU = 8 };

/* The least_apart_ns of interfaces that are created from now on. */
extern int64_t fake_jvm_timers_apart_ns;

/* The thread has used this many more intervals of CPU time and walked itself. The next drain
 * delivers the sample. */
void fake_jvm_expire(struct fake_jvm *vm, struct fake_thread *thread, uint64_t weight);
/* As fake_jvm_expire, but the sample is dropped because there is no room. */
void fake_jvm_expire_without_room(struct fake_jvm *vm, struct fake_thread *thread, uint64_t weight);
/* Sets the result of starting a timer. */
void fake_jvm_fail_timers(struct fake_jvm *vm, enum smp_status status);
size_t fake_jvm_timers(struct fake_jvm *vm); /* running ones */

/* --- names by a user's rule --- */

/* Called for each thread at each tick; out has size bytes. Required if the options say
 * !default_name_rule. */
typedef enum smp_naming fake_jvm_rule(void *self, const struct fake_thread *thread, char *out,
                                      size_t size);
void fake_jvm_set_rule(struct fake_jvm *vm, fake_jvm_rule *rule, void *self);
/* Makes the call itself fail. */
void fake_jvm_fail_rule(struct fake_jvm *vm, enum smp_status status);

/* --- virtual threads --- */

/* Sets the virtual-thread functions, copied. Without them, this JVM has no virtual threads: "a
 * fake JVM". */
void fake_jvm_set_virtual_threads(struct fake_jvm *vm, struct smp_virtual_threads threads);

/* --- thread filters --- */

/* threads are borrowed until destroy, which increments *destroyed. */
struct smp_thread_filter fake_jvm_filter(struct fake_jvm *vm, struct fake_thread *const *threads,
                                         size_t count, unsigned *destroyed);

/* --- hooks --- */

/* Called at the start of each walk. */
void fake_jvm_on_walk(struct fake_jvm *vm, void (*hook)(void *self), void *self);
/* Called once, right after the next listen() has begun. */
void fake_jvm_on_listen(struct fake_jvm *vm, void (*hook)(void *self), void *self);
/* Lets the thread of that name fail to attach, with this status; NULL: no thread fails. */
void fake_jvm_fail_enter(struct fake_jvm *vm, const char *thread_name, enum smp_status status);

struct fake_jvm_counts {
    size_t walks;
    size_t name_reads;
    size_t names_read; /* names among them that had changed */
    size_t rule_calls; /* calls of group_names with threads */
    size_t rule_rests; /* calls of group_names without threads */
    size_t resolves;
    size_t enters;
    size_t listeners; /* started */
    size_t unwatches;
    size_t timer_starts; /* attempts to start one */
};
struct fake_jvm_counts fake_jvm_get_counts(struct fake_jvm *vm);

#endif

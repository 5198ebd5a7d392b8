/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_jvm.h - a JVM that does what the test says: threads that start, run, fail and end.
 *
 *   struct fake_jvm *vm = fake_jvm_create();
 *   struct fake_thread *thread = fake_jvm_start(vm, "worker-1");
 *   fake_jvm_run(vm, thread, "app.Main.main|app.Work.loop");       root first
 *   ... fake_jvm_interface(vm) goes to the code under test ...
 *   fake_jvm_destroy(vm);                        fails the test where something was not given back
 *
 * A method's byte code index i stands on line i + 1, up to line 8. Threads' times are those of
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

/* Read only. */
struct fake_thread {
    struct smp_thread thread; /* first: the code under test has this */
    struct fake_thread *next; /* in order of start */
    char *name;
    uint64_t name_version;
    struct smp_frame *frames;
    size_t frame_count;
    struct smp_call_spot spot; /* what it says itself; the test sets it */
    enum smp_status walk_status;
    enum smp_status name_status;
    bool is_held;
    bool has_timer;
    int64_t timer_from_ns; /* where the time of its last timer began */
    uint64_t token;
    uint64_t weights[FAKE_MAX_SAMPLES]; /* of samples that wait for a drain */
    size_t sample_count;
    uint64_t carried; /* weight of the dropped ones */
    uint64_t dropped;
};

struct fake_jvm *fake_jvm_create(void);
/* Fails the test unless every thread, name and answer was given back, and hosts were left. */
void fake_jvm_destroy(struct fake_jvm *vm);
struct smp_jvm fake_jvm_interface(struct fake_jvm *vm);
struct smp_attach fake_jvm_attach(struct fake_jvm *vm);

/* --- threads --- */

struct fake_thread *fake_jvm_start(struct fake_jvm *vm, const char *name);
struct fake_thread *fake_jvm_start_as(struct fake_jvm *vm, const char *name, bool is_daemon,
                                      bool is_hidden);
/* Adds a thread of the caller's, the first member of a piece from calloc. Freed by destroy. */
void fake_jvm_add(struct fake_jvm *vm, struct fake_thread *thread, const char *name);
/* Its tid is known: it has a CPU clock, that of the clock's seam. Before it is handed out. */
void fake_jvm_identify(struct fake_thread *thread, int32_t tid);
void fake_jvm_end(struct fake_jvm *vm, struct fake_thread *thread);
void fake_jvm_rename(struct fake_jvm *vm, struct fake_thread *thread, const char *name);
/* What walks of it say from now on. SMP_OK: its stack. */
void fake_jvm_fail(struct fake_jvm *vm, struct fake_thread *thread, enum smp_status status);
/* And what reading its name says. */
void fake_jvm_fail_name(struct fake_jvm *vm, struct fake_thread *thread, enum smp_status status);
size_t fake_jvm_threads_held(struct fake_jvm *vm); /* by the code under test */

/* --- stacks --- */

/* A method's key, the same for the same names. */
uint64_t fake_jvm_method(struct fake_jvm *vm, const char *class_name, const char *method_name);
/* Its class is unloaded from now on. */
void fake_jvm_unload(struct fake_jvm *vm, uint64_t method);
/* leaf first, copied. */
void fake_jvm_run_frames(struct fake_jvm *vm, struct fake_thread *thread,
                         const struct smp_frame *frames, size_t count);
/* root first, '|' between methods, an index behind '@': "app.Main.main|app.Work.loop@3". */
void fake_jvm_run(struct fake_jvm *vm, struct fake_thread *thread, const char *stack);

/* --- timers on CPU time --- */

enum { FAKE_SAMPLES_PER_CPU = 8 };

/* least_apart_ns of the interfaces that are made from now on. */
extern int64_t fake_jvm_timers_apart_ns;

/* The thread has used so many intervals more and walked itself; the next drain has the sample. */
void fake_jvm_expire(struct fake_jvm *vm, struct fake_thread *thread, uint64_t weight);
/* And there was no room for its walk. */
void fake_jvm_expire_without_room(struct fake_jvm *vm, struct fake_thread *thread, uint64_t weight);
/* What starting a timer says from now on. */
void fake_jvm_fail_timers(struct fake_jvm *vm, enum smp_status status);
size_t fake_jvm_timers(struct fake_jvm *vm); /* that run */

/* --- names by a user's rule --- */

/* Called for each thread at each tick; out has size bytes. Needed where options say
 * !default_name_rule. */
typedef enum smp_naming fake_jvm_rule(void *self, const struct fake_thread *thread, char *out,
                                      size_t size);
void fake_jvm_set_rule(struct fake_jvm *vm, fake_jvm_rule *rule, void *self);
/* The call itself fails from now on. */
void fake_jvm_fail_rule(struct fake_jvm *vm, enum smp_status status);

/* --- virtual threads --- */

/* What draws them: the test's, copied. Without it, this JVM refuses: "a fake JVM". */
void fake_jvm_set_virtual_threads(struct fake_jvm *vm, struct smp_virtual_threads threads);

/* --- selections --- */

/* threads are borrowed until destroy, which adds one to *destroyed. */
struct smp_thread_filter fake_jvm_filter(struct fake_jvm *vm, struct fake_thread *const *threads,
                                         size_t count, unsigned *destroyed);

/* --- what happens meanwhile --- */

/* Called at the start of each walk. */
void fake_jvm_on_walk(struct fake_jvm *vm, void (*hook)(void *self), void *self);
/* Called once, right after the next listen has begun. */
void fake_jvm_on_listen(struct fake_jvm *vm, void (*hook)(void *self), void *self);
/* Entering fails with this status for the thread of that name; NULL: for none. */
void fake_jvm_fail_enter(struct fake_jvm *vm, const char *thread_name, enum smp_status status);

struct fake_jvm_counts {
    size_t walks;
    size_t name_reads;
    size_t names_read; /* of these, of a name that had changed */
    size_t rule_calls; /* of group_names, with threads */
    size_t rule_rests; /* and without */
    size_t resolves;
    size_t enters;
    size_t listeners; /* begun */
    size_t unwatches;
    size_t timer_starts; /* tried */
};
struct fake_jvm_counts fake_jvm_get_counts(struct fake_jvm *vm);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_vm.h - a JVM that does what the test says: threads that are born, run, fail and end.
 *
 *   struct fake_vm *vm = fake_vm_create();
 *   struct fake_thread *thread = fake_vm_born(vm, "worker-1");
 *   fake_vm_run(vm, thread, "app.Main.main|app.Work.loop");       root first
 *   ... fake_vm_interface(vm) goes to the code under test ...
 *   fake_vm_destroy(vm);                        fails the test where something was not given back
 *
 * A method's byte code index i stands on line i + 1, up to line 8. Threads' times are those of
 * base/clock.h.
 *
 * Owns     its threads and methods, from malloc, so that no allocation of it is counted or refused.
 * Threads  any; one mutex. Hooks are called without it.
 * Errors   fail the test.
 * Cost     small inputs.
 */
#ifndef SMP_SUPPORT_FAKE_VM_H
#define SMP_SUPPORT_FAKE_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/jvm.h"
#include "engine/session/sampler.h"

struct fake_vm;
struct fake_thread;

struct fake_vm *fake_vm_create(void);
/* Fails the test unless every thread, name and answer was given back, and hosts were left. */
void fake_vm_destroy(struct fake_vm *vm);
struct smp_jvm fake_vm_interface(struct fake_vm *vm);
struct smp_attach fake_vm_host(struct fake_vm *vm);

/* --- threads --- */

struct fake_thread *fake_vm_born(struct fake_vm *vm, const char *name);
struct fake_thread *fake_vm_born_as(struct fake_vm *vm, const char *name, bool is_daemon,
                                    bool is_hidden);
/* Its tid is known: it has a CPU clock, that of the clock's seam. Before it is handed out. */
void fake_vm_identify(struct fake_thread *thread, int32_t tid);
void fake_vm_end(struct fake_vm *vm, struct fake_thread *thread);
void fake_vm_rename(struct fake_vm *vm, struct fake_thread *thread, const char *name);
/* What walks of it say from now on. SMP_OK: its stack. */
void fake_vm_fail(struct fake_vm *vm, struct fake_thread *thread, enum smp_status status);
/* And what reading its name says. */
void fake_vm_fail_name(struct fake_vm *vm, struct fake_thread *thread, enum smp_status status);
size_t fake_vm_threads_held(struct fake_vm *vm); /* by the code under test */

/* --- stacks --- */

/* A method's key, the same for the same names. */
uint64_t fake_vm_method(struct fake_vm *vm, const char *class_name, const char *method_name);
/* Its class is unloaded from now on. */
void fake_vm_unload(struct fake_vm *vm, uint64_t method);
/* leaf first, copied. */
void fake_vm_run_frames(struct fake_vm *vm, struct fake_thread *thread,
                        const struct smp_frame *frames, size_t count);
/* root first, '|' between methods, an index behind '@': "app.Main.main|app.Work.loop@3". */
void fake_vm_run(struct fake_vm *vm, struct fake_thread *thread, const char *stack);

/* --- timers on CPU time --- */

/* The thread has used so many intervals more and walked itself; told with the next drain. */
void fake_vm_expire(struct fake_vm *vm, struct fake_thread *thread, uint64_t weight);
/* And there was no room for its walk. */
void fake_vm_expire_without_room(struct fake_vm *vm, struct fake_thread *thread, uint64_t weight);
/* What starting a timer says from now on. */
void fake_vm_fail_timers(struct fake_vm *vm, enum smp_status status);
size_t fake_vm_timers(struct fake_vm *vm); /* that run */

/* --- names by a user's rule --- */

/* Called for each thread at each tick; out has size bytes. Needed where options say
 * !default_name_rule. */
typedef enum smp_naming fake_vm_rule(void *self, const char *thread_name, char *out, size_t size);
void fake_vm_set_rule(struct fake_vm *vm, fake_vm_rule *rule, void *self);
/* The call itself fails from now on. */
void fake_vm_fail_rule(struct fake_vm *vm, enum smp_status status);

/* --- selections --- */

/* threads are borrowed until destroy, which adds one to *destroyed. */
struct smp_thread_filter fake_vm_selection(struct fake_vm *vm, struct fake_thread *const *threads,
                                           size_t count, unsigned *destroyed);

/* --- what happens meanwhile --- */

/* Called at the start of each walk. */
void fake_vm_on_walk(struct fake_vm *vm, void (*hook)(void *self), void *self);
/* Called once, right after the next watch for births has begun. */
void fake_vm_on_watch(struct fake_vm *vm, void (*hook)(void *self), void *self);
/* Entering fails with this status for the thread of that name; NULL: for none. */
void fake_vm_fail_enter(struct fake_vm *vm, const char *thread_name, enum smp_status status);

struct fake_vm_counts {
    size_t walks;
    size_t names_read; /* that had changed */
    size_t rule_calls; /* of group_names */
    size_t resolves;
    size_t enters;
    size_t listeners; /* begun */
    size_t unwatches;
};
struct fake_vm_counts fake_vm_get_counts(struct fake_vm *vm);

#endif

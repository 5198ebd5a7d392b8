/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_rules.h - the rules about names that states need, as data: what a method tells about a
 * thread that waits in it, and which classes are the application's.
 *
 * A method is judged once, when its name is read. engine/attribution/wait_state.h combines the
 * methods of a stack into a state.
 *
 * The application's classes are those of the monitored packages, if these are set. Otherwise they
 * are guessed: the packages of the main class and of Start-Class in the manifest, and all classes
 * that belong neither to the JDK nor to a well-known framework.
 *
 * Owns     the user's additions.
 * Threads  immutable after create.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA; SMP_EINVAL: too many or too long prefixes.
 * Cost     kind_of, is_application: O(rules).
 */
#ifndef SMP_MODEL_WAIT_RULES_H
#define SMP_MODEL_WAIT_RULES_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/filter.h"

enum smp_wait_kind {
    SMP_WAIT_OTHER,     /* says nothing */
    SMP_WAIT_PASS,      /* part of parking, waiting, sleeping: its caller says why */
    SMP_WAIT_ACQUIRE,   /* of a synchronizer: exclusive, so a lock */
    SMP_WAIT_SHARED,    /* of a synchronizer: a result, unless its caller is a lock */
    SMP_WAIT_CONDITION, /* of a lock's condition: the caller says what the thread waits for */
    SMP_WAIT_LOCK,
    SMP_WAIT_IO,
    SMP_WAIT_ACCEPT,  /* its I/O is a wait for connections */
    SMP_WAIT_WORK,    /* a queue, a pool's worker, a selector, a timer */
    SMP_WAIT_RESULT,  /* it reads a queue of results */
    SMP_WAIT_YIELD,   /* the thread wants a CPU */
    SMP_WAIT_CARRIER, /* runs a virtual thread, whose frames are not here */
    SMP_WAIT_USER_IO,
    SMP_WAIT_USER_IDLE
};

struct smp_wait_rules;

/*
 * Comma-separated lists of methods: com.acme.Driver.read, com.acme.Driver.* . own: packages that
 * belong to the application even if they are in the list of frameworks. All may be "".
 */
SMP_CHECKED enum smp_status smp_wait_rules_create(struct smp_quota *quota, const char *io_methods,
                                                  const char *idle_methods, const char *own,
                                                  struct smp_wait_rules **out);
void smp_wait_rules_destroy(struct smp_wait_rules *rules); /* NULL is fine */

/* rules NULL: without additions. */
enum smp_wait_kind smp_wait_rules_kind_of(const struct smp_wait_rules *rules,
                                          const char *class_name, const char *method_name);
/* Returns whether the method waits for other threads to finish, by join() or for their results. */
bool smp_wait_rules_is_for_others(const char *class_name, const char *method_name);
/* Returns whether this is a class of the JDK, by the first parts of its name. */
bool smp_wait_rules_is_jdk(const char *class_name);
/* filter: the monitored packages; NULL or empty: the application is guessed. */
bool smp_wait_rules_is_application(const struct smp_wait_rules *rules,
                                   const struct smp_filter *filter, const char *class_name);

#endif

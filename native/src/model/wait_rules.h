/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_rules.h - what a method says about a thread that waits in it, and which classes are the
 * application's: all that states need of names, as data.
 *
 * A method is judged once, when its name is read. How the methods of a stack make a state is in
 * engine/attribution/wait_state.h.
 *
 * Application: the monitored packages where they are set. Else it is guessed: the packages of the
 * main class and of Start-Class in the manifest, and all that is neither the JDK's nor a well-known
 * framework's.
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
    SMP_WAIT_ACQUIRE,   /* of a synchronizer: exclusive, a lock */
    SMP_WAIT_SHARED,    /* of a synchronizer: a result, unless its caller is a lock */
    SMP_WAIT_CONDITION, /* of a lock: what its caller waits for */
    SMP_WAIT_LOCK,
    SMP_WAIT_IO,
    SMP_WAIT_ACCEPT,  /* I/O that it does is a wait for connections */
    SMP_WAIT_WORK,    /* a queue, a pool's worker, a selector, a timer */
    SMP_WAIT_RESULT,  /* a queue that it reads is one of results */
    SMP_WAIT_YIELD,   /* wants a CPU */
    SMP_WAIT_CARRIER, /* runs a virtual thread, whose frames are not here */
    SMP_WAIT_USER_IO,
    SMP_WAIT_USER_IDLE
};

struct smp_wait_rules;

/*
 * Lists of methods, comma-separated: com.acme.Driver.read, com.acme.Driver.* . own: packages that
 * are the application's whatever the list of frameworks says. All may be "".
 */
SMP_CHECKED enum smp_status smp_wait_rules_create(struct smp_quota *quota, const char *io_methods,
                                                  const char *idle_methods, const char *own,
                                                  struct smp_wait_rules **out);
void smp_wait_rules_destroy(struct smp_wait_rules *rules); /* NULL is fine */

/* rules NULL: without additions. */
enum smp_wait_kind smp_wait_rules_kind_of(const struct smp_wait_rules *rules,
                                          const char *class_name, const char *method_name);
/* Does a thread in this method wait for others to finish: by join(), or for their results? */
bool smp_wait_rules_is_for_others(const char *class_name, const char *method_name);
/* Is it a class of the JDK, by the first parts of its name? */
bool smp_wait_rules_is_jdk(const char *class_name);
/* filter: of the monitored packages; NULL or empty: it is guessed. */
bool smp_wait_rules_is_application(const struct smp_wait_rules *rules,
                                   const struct smp_filter *filter, const char *class_name);

#endif

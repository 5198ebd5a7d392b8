/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_key.h - which tree a piece of time belongs to. Threads with equal keys are one group.
 *
 *   made      threads/thread_table.h (a thread), sources/roster.c (a virtual thread),
 *             sources/jvm_threads.c
 *   compared  thread_groups.c: find, which keeps a copy in the group's info
 *
 * A label of a request or of a tenant would be one more field, made and compared there: all others
 * hand a key on as it is.
 *
 * Owns     plain data; its texts are the maker's.
 * Threads  any.
 */
#ifndef SMP_MODEL_GROUP_KEY_H
#define SMP_MODEL_GROUP_KEY_H

struct smp_group_key {
    const char *name; /* of the thread group; NULL: no group, or none that there is memory for */
};

#endif

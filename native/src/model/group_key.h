/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_key.h - the tree that a piece of time belongs to. Threads with equal keys are one group.
 *
 *   made      threads/thread_table.h (a thread), sources/sampled_threads.c (a virtual thread),
 *             sources/jvm_threads.c
 *   compared  thread_groups.c: find, which keeps a copy in the group's info
 *
 * A label of a request or a tenant would be one more field, made and compared there; all other code
 * passes a key on unchanged.
 *
 * Owns     plain data; its texts are the maker's.
 * Threads  any.
 */
#ifndef SMP_MODEL_GROUP_KEY_H
#define SMP_MODEL_GROUP_KEY_H

#include <stdint.h>

/*
 * The kinds of trees. Threads whose calls are counted have two: one of the stacks that polls found,
 * and one of the calls from root methods down, whose frames are methods without lines. The time of
 * a counted tree is also in the sampled tree of the same name, so never add the two. Do not add a
 * holders' tree either: it has the time that threads of any group were blocked, at the stacks of
 * this group's threads that held the locks.
 */
enum smp_group_kind { SMP_GROUP_SAMPLED, SMP_GROUP_COUNTED, SMP_GROUP_HOLDERS, SMP_GROUP_KINDS };

/* Two rows of the group of the JVM's own threads (thread_groups.h). */
#define SMP_JVM_GC_NAME "[GC]"
#define SMP_JVM_JIT_NAME "[JIT compiler]"

struct smp_group_key {
    const char *name; /* of the thread group; NULL: no group, or no memory for one */
    enum smp_group_kind kind;
};

/* Threads of a group are counted by their serial numbers. Serials of Java threads rise from start
 * to start and are never reused in this process. This bit is set in numbers of other threads, which
 * may have ended unnoticed. */
#define SMP_SERIAL_OTHER (UINT64_C(1) << 63)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_groups.h - the thread groups of one interval: their threads, and how their polls ended.
 *
 * Owns     names, the set of (group, thread) pairs already counted, and the list of living threads.
 * Threads  one writer; readers only after the interval has ended.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. find never fails: beyond SMP_MAX_GROUPS groups, or
 *          without memory, it returns the overflow group [over group limit] of the key's kind. The
 *          overflow group of counted groups is made with the first counted group. If there is no
 *          memory even for that, a counted key gets group 0, which is a sampled group: then nothing
 *          counted may be credited (is_counted tells), or its time would be there twice. Without
 *          memory see may lose a raw name or undercount; names_lost counts that.
 * Cost     find: one hash of the name; see: one probe. Both are called only if a thread's group
 *          differs from the one it had before in this interval. A pair takes 26 to 51 bytes, until
 *          it is forgotten after its thread has ended.
 */
#ifndef SMP_MODEL_THREAD_GROUPS_H
#define SMP_MODEL_THREAD_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/status.h"
#include "model/error_sums.h"
#include "model/group_key.h"
#include "model/outcome.h"
#include "model/tree.h"

enum {
    SMP_MAX_GROUPS = 20000,
    SMP_MAX_GROUP_NAME_BYTES = 64 * 1024, /* longer names end in an ellipsis */
    SMP_MAX_LISTED_NAMES = 20,            /* raw thread names kept per group */
    SMP_MAX_LISTED_NAME_BYTES = 100       /* of each of them */
};

/* The group of the JVM's own threads, whose time is measured, not sampled. */
#define SMP_JVM_THREADS_NAME "[JVM]"
/* The group of threads that a report has no room for (group_limit.h). */
#define SMP_OTHER_THREADS_NAME "[other threads]"

struct smp_group {
    uint32_t index; /* 0 is the overflow group, printed only if it was used */
};

/* A group and the root of its tree; valid for one interval. */
struct smp_group_tree {
    struct smp_group group;
    uint32_t root;
};

struct smp_group_info {
    const char *name;
    enum smp_group_kind kind;
    uint32_t root;         /* the group's root in the tree, 0 before the first stack */
    uint64_t max_depth;    /* frames of the deepest stack, before any filter or cut */
    uint64_t thread_count; /* distinct threads; in a group of holders, those that were blocked */
    uint64_t lock_count;   /* in a group of holders: distinct classes of locks */
    uint32_t listed;       /* how many of names are set; in order of first sight */
    const char *names[SMP_MAX_LISTED_NAMES]; /* in a group of holders: classes of locks */
    uint64_t names_lost; /* threads without a name or a count, for lack of memory */
    struct smp_tally tally;
    struct smp_tree_unseen unseen; /* time that gets its nodes at the end of the interval */
    struct smp_error_sum running;  /* errors of the time in which its threads were found running */
    uint32_t second_row;           /* of second_times.h; 0: none of its own */
    int64_t hook_ns; /* counted groups: time inside the hooks, which no node has; 0: unknown */
    /* The number of groups in [other threads]. After a merge it is the largest number of one
     * interval, because the names of the groups are not kept. */
    uint64_t joined_groups;
};

struct smp_thread_groups;

/* Memory of the groups, their names and threads. */
size_t smp_thread_groups_bytes(const struct smp_thread_groups *groups);
/* max_bytes bounds all memory, and is at least two steps of an arena. */
SMP_CHECKED enum smp_status smp_thread_groups_create(struct smp_quota *quota, size_t max_bytes,
                                                     struct smp_thread_groups **out);
void smp_thread_groups_destroy(struct smp_thread_groups *groups);

struct smp_group smp_thread_groups_find(struct smp_thread_groups *groups, struct smp_group_key key);
/* Returns the overflow group of this kind. */
struct smp_group smp_thread_groups_overflow(struct smp_thread_groups *groups,
                                            enum smp_group_kind kind);
bool smp_thread_groups_is_overflow(const struct smp_thread_groups *groups, struct smp_group group);
/* Finds the group with this key. Returns false without one. */
bool smp_thread_groups_peek(const struct smp_thread_groups *groups, struct smp_group_key key,
                            struct smp_group *out);
/* Finds the group of this kind with the name of another group. Returns false without one. */
bool smp_thread_groups_of_same_name(const struct smp_thread_groups *groups, struct smp_group other,
                                    enum smp_group_kind kind, struct smp_group *out);
/* Counts the thread with this serial in the group, once per interval. In a group of holders it is a
 * thread that was blocked, and raw_name is not used. */
void smp_thread_groups_see(struct smp_thread_groups *groups, struct smp_group group,
                           uint64_t serial, const char *raw_name);
/* Counts a lock, by its class, that a group of holders has held. */
void smp_thread_groups_see_lock(struct smp_thread_groups *groups, struct smp_group group,
                                const char *class_name);
/* Returns the highest serial of a Java thread passed to see; 0 if there is none. */
uint64_t smp_thread_groups_newest(const struct smp_thread_groups *groups);
/*
 * Sets the serials of all living Java threads, in any order, up to the serial newest. Threads with
 * a higher serial may live; others never come again. Without memory for the list all may live.
 */
void smp_thread_groups_set_living(struct smp_thread_groups *groups, const uint64_t *serials,
                                  size_t count, uint64_t newest);
/* Returns whether pairs take much of the memory and are twice as many as forget_ended left. */
bool smp_thread_groups_is_crowded(const struct smp_thread_groups *groups);
/*
 * Forgets the pairs of threads that have ended, according to the last set_living, and have a serial
 * above since, so that no earlier interval knows them. They stay counted. Does nothing without
 * memory. O(pairs).
 */
void smp_thread_groups_forget_ended(struct smp_thread_groups *groups, uint64_t since);
/* Borrowed; writable for the one writer. Never moves. */
struct smp_group_info *smp_thread_groups_info(struct smp_thread_groups *groups,
                                              struct smp_group group);
size_t smp_thread_groups_count(const struct smp_thread_groups *groups);
enum smp_group_kind smp_thread_groups_kind(const struct smp_thread_groups *groups,
                                           struct smp_group group);
/* Returns the kind of the group whose tree has the node, which is not 0. O(depth). */
enum smp_group_kind smp_thread_groups_kind_of_node(const struct smp_thread_groups *groups,
                                                   const struct smp_node *nodes, uint32_t node);
/* Returns whether find was ever called for a group of this kind. */
bool smp_thread_groups_has(const struct smp_thread_groups *groups, enum smp_group_kind kind);
/* Called after a fold of the tree: references to nodes become references to their places
 * (tree_fold.h). */
void smp_thread_groups_renumber(struct smp_thread_groups *groups, const uint32_t *places);
/* Sets the time inside hooks to 0 in all groups. */
void smp_thread_groups_forget_hook_time(struct smp_thread_groups *groups);

/*
 * Adds from's group of this index to the group of this name and of the same kind in to, which keeps
 * its root; *out is that group. All threads of from count as new. SMP_EQUOTA: for lack of memory
 * *out is the overflow group, or names_lost counts unlisted names. SMP_ENOMEM: there is not even an
 * overflow group of the kind, and to can only be destroyed.
 */
SMP_CHECKED enum smp_status smp_thread_groups_add_group(struct smp_thread_groups *to,
                                                        const struct smp_thread_groups *from,
                                                        size_t index, const char *name,
                                                        struct smp_group *out);
/*
 * Called once after all groups, if equal serials mean one thread: corrects the count of threads
 * that to has already. groups[i] is the group in to of from's group i. Returns false without
 * memory; threads of from are then counted again if they come again.
 */
SMP_CHECKED bool smp_thread_groups_add_threads(struct smp_thread_groups *to,
                                               const struct smp_thread_groups *from,
                                               const struct smp_group *groups);
/*
 * Copies the list of living threads from last. Together with forget_ended it keeps an interval that
 * grows with the process, and to which only later ones are added, from knowing more threads than
 * the process has.
 */
void smp_thread_groups_copy_living(struct smp_thread_groups *groups,
                                   const struct smp_thread_groups *last);

/* Returns whether this is the group of the JVM's own threads. */
bool smp_thread_groups_is_jvm(struct smp_thread_groups *groups, struct smp_group group);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_pools.h - virtual threads share trees if the default rule for names puts them into one
 * group. A pool has as many trees as its threads were inside of roots at one time.
 *
 *   "order-17" ──rule──► "order-" ──► pool 41     for as long as the process lives
 *   no name, or no room for another pool ──► pool 0
 *
 * Owns     the names, static; a pool keeps its name for ever.
 * Threads  any, without a lock. Two threads that bring the same new name at once may make two pools
 *          for it, which does no harm.
 * Cost     find: a pass over the name, a hash, a comparison or two.
 */
#ifndef SMP_COUNTING_CALL_POOLS_H
#define SMP_COUNTING_CALL_POOLS_H

#include <stdint.h>

/* name: UTF-8; NULL or empty: no name. */
uint32_t smp_call_pool_find(const char *name);
/* Returns the name of the group. NULL: pool 0, or no pool. */
const char *smp_call_pool_name(uint32_t pool);

#endif

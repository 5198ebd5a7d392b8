/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_pools.h - which virtual threads share trees: those whose names give one group by the default
 * rule for names. Their trees are as many as of them are inside of roots at one time.
 *
 *   "order-17" ──rule──► "order-" ──► pool 41     the same for as long as the process lives
 *   no name, or no room for another pool ──► pool 0
 *
 * Owns     the names, static; a pool keeps its name for ever.
 * Threads  any, without a lock. Two threads that bring a new name at the same time may make two
 *          pools of it, which does no harm.
 * Cost     find: a pass over the name, a hash, a comparison or two.
 */
#ifndef SMP_COUNTING_CALL_POOLS_H
#define SMP_COUNTING_CALL_POOLS_H

#include <stdint.h>

/* name: UTF-8, NULL or empty: none. */
uint32_t smp_call_pool_find(const char *name);
/* The name of the group. NULL: of pool 0, or of none. */
const char *smp_call_pool_name(uint32_t pool);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_key.h - whose tree a piece of time belongs to: a thread group of one interval, and the root
 * of its tree.
 *
 * Owns     plain data; valid as long as the interval.
 * Threads  any.
 */
#ifndef SMP_MODEL_GROUP_KEY_H
#define SMP_MODEL_GROUP_KEY_H

#include <stdint.h>

#include "model/thread_groups.h"

struct smp_group_key {
    struct smp_group group;
    uint32_t root;
};

#endif

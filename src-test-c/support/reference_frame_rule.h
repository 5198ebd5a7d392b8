/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_frame_rule.h - the frame rule in the plainest form: a reference for tests to compare
 * with.
 *
 * Threads  any.
 * Cost     O(count).
 */
#ifndef SMP_SUPPORT_REFERENCE_FRAME_RULE_H
#define SMP_SUPPORT_REFERENCE_FRAME_RULE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * monitored[0] is the top frame (leaf), monitored[count - 1] the root. Returns the index of the
 * first frame that is kept, seen from the leaf: kept are [result, count). 0 for an empty stack.
 */
size_t reference_frame_rule_first_kept(const bool *monitored, size_t count, bool filter_is_empty);

#endif

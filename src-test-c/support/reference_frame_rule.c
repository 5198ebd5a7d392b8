/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reference_frame_rule.h"

size_t reference_frame_rule_first_kept(const bool *monitored, size_t count, bool filter_is_empty)
{
    /* No prefixes, or no frames: nothing is cut away. */
    if (filter_is_empty || count == 0)
        return 0;

    /* The top frame is the user's own: all of the stack is kept. */
    if (monitored[0])
        return 0;

    /* One library frame stays below the topmost monitored one; it gets the time. */
    for (size_t k = 1; k < count; k++) {
        if (monitored[k])
            return k - 1;
    }

    /* Nothing of it is the user's: the root frame alone, with all the time. */
    return count - 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/id_renewal.h"

#include <stddef.h>

#include "base/alloc.h"
#include "counting/call_arena.h"
#include "counting/call_renewal.h"

enum { USE_SHIFT = 32 };

/* For callbacks. */
struct renewing {
    struct smp_id_renewal *renewal;
    struct smp_counted_classes *counted;
    uint32_t due;
};

void smp_id_renewal_fini(struct smp_id_renewal *renewal)
{
    smp_free(renewal->quota, renewal->uses);
    *renewal = (struct smp_id_renewal){ 0 };
}

/* NULL: it has never come back. */
static struct smp_id_use *use_of(const struct smp_id_renewal *renewal, int32_t pushed)
{
    const int32_t id = pushed - renewal->id_base;

    return id >= 0 && (uint32_t)id < renewal->count ? &renewal->uses[id] : NULL;
}

int64_t smp_id_renewal_number(const struct smp_id_renewal *renewal, int32_t pushed)
{
    const struct smp_id_use *const use = use_of(renewal, pushed);

    return (int64_t)(use != NULL ? use->count : 0) << USE_SHIFT | pushed;
}

int32_t smp_id_renewal_pushed(const struct smp_id_renewal *renewal, int64_t number)
{
    const int32_t pushed = (int32_t)(number & INT32_MAX);

    return smp_id_renewal_number(renewal, pushed) == number ? pushed : -1;
}

/* --- begin --- */

/* Those that trees have kept would make each read begin one. After some reads they count, too: the
 * trees may be gone, and the limit of methods may leave no room for enough others. */
static bool wait_enough(struct smp_id_renewal *renewal, const struct smp_counted_classes *counted)
{
    const uint32_t share = counted->max_methods / SMP_RENEWAL_SHARE;
    const uint32_t wanted = share < SMP_RENEWAL_IDS ? share + 1 : SMP_RENEWAL_IDS;
    struct smp_reach_figures figures;

    smp_reach_figures(counted->reach, &figures);
    if (renewal->reads < SMP_RENEWAL_READS)
        renewal->reads++;
    return figures.retired >= wanted + (renewal->reads < SMP_RENEWAL_READS ? renewal->held : 0);
}

static bool has_uses(struct smp_id_renewal *renewal, const struct smp_counted_classes *counted)
{
    if (renewal->uses != NULL)
        return true;
    renewal->uses = smp_alloc(counted->quota, counted->max_ids * sizeof(*renewal->uses));
    if (renewal->uses == NULL)
        return false;
    renewal->quota = counted->quota;
    renewal->count = counted->max_ids;
    renewal->id_base = counted->id_base;
    return true;
}

/* What no probe has pushed is in no tree. */
static bool mark_due_id(void *self, int32_t id)
{
    struct renewing *const renewing = self;

    if (renewing->counted->planned[id] == 0)
        return false;
    renewing->renewal->uses[id].is_due = true;
    renewing->due++;
    return true;
}

bool smp_id_renewal_begin(struct smp_id_renewal *renewal, struct smp_counted_classes *counted)
{
    struct renewing renewing = { .renewal = renewal, .counted = counted };
    bool has_any = false;

    smp_lock_acquire(&counted->lock);
    if (wait_enough(renewal, counted) && has_uses(renewal, counted))
        (void)smp_reach_recycle(counted->reach, mark_due_id, &renewing);
    smp_lock_release(&counted->lock);
    has_any = renewing.due > 0;
    if (has_any)
        smp_call_renewal_begin();
    return has_any;
}

/* --- end --- */

static void keep_waiting(void *self, int32_t pushed)
{
    struct smp_id_use *const use = use_of(self, pushed);

    if (use != NULL)
        use->is_due = false;
}

static bool is_in_a_tree(void *self, int32_t id)
{
    struct renewing *const renewing = self;
    struct smp_id_use *const use = &renewing->renewal->uses[id];

    if (renewing->counted->planned[id] != 0 && !use->is_due)
        return true;
    use->is_due = false;
    use->count++;
    renewing->counted->planned[id] = 0;
    smp_call_arena_forget_method(renewing->counted->id_base + id);
    return false;
}

void smp_id_renewal_end(struct smp_id_renewal *renewal, struct smp_counted_classes *counted)
{
    struct renewing renewing = { .renewal = renewal, .counted = counted };
    struct smp_reach_figures figures;

    smp_call_renewal_each(keep_waiting, renewal);
    smp_lock_acquire(&counted->lock);
    (void)smp_reach_recycle(counted->reach, is_in_a_tree, &renewing);
    smp_reach_figures(counted->reach, &figures);
    smp_lock_release(&counted->lock);
    renewal->held = figures.retired;
    renewal->reads = 0;
}

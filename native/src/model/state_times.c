/* SPDX-License-Identifier: Apache-2.0 */
#include "model/state_times.h"

enum { WORD_BYTES = 8 };

#define SET_MASK ((1u << SMP_THREAD_STATE_COUNT) - 1)

/* A plan is the set of states of a node's total, and above these bits: */
#define PLAN_PART \
    (1u << SMP_THREAD_STATE_COUNT) /* counts the parts of the total: the node, its children */
#define PLAN_PARTS (3u << SMP_THREAD_STATE_COUNT)
#define PLAN_MANY (2u << SMP_THREAD_STATE_COUNT)
#define PLAN_BEGUN (4u << SMP_THREAD_STATE_COUNT) /* the total has its own place, if it needs one */

static uint32_t words_of(uint32_t set)
{
    return set == 0 ? 0 : (uint32_t)__builtin_popcount(set) - 1;
}

static void set_ref(struct smp_state_times *times, uint32_t node, uint32_t set, uint32_t place)
{
    times->refs[node] = place << SMP_THREAD_STATE_COUNT | set;
}

static uint32_t state_place(const struct smp_state_times *times, uint32_t node)
{
    return times->refs[node] >> SMP_THREAD_STATE_COUNT;
}

/* --- places --- */

/* Returns 0 without memory. */
static uint32_t new_place(struct smp_state_times *times, uint32_t words)
{
    const size_t used = smp_arena_used(times->word_arena) / WORD_BYTES;
    const size_t first = used == 0; /* word 0 is skipped, because place 0 means none */

    if (used + words + first > SMP_STATE_TIMES_MAX_WORDS ||
        smp_arena_alloc(times->word_arena, (words + first) * WORD_BYTES, WORD_BYTES) == NULL)
        return 0;
    return (uint32_t)(used + first);
}

static void free_place(struct smp_state_times *times, uint32_t place, uint32_t words)
{
    if (words == 0)
        return;
    times->words[place] = times->free[words];
    times->free[words] = place;
}

/* Takes the smallest free place that is large enough; its rest stays free. Returns 0 if none is. */
static uint32_t take_place(struct smp_state_times *times, uint32_t words)
{
    uint32_t size = words;

    while (size < SMP_THREAD_STATE_COUNT && times->free[size] == 0)
        size++;
    if (size == SMP_THREAD_STATE_COUNT)
        return 0;
    const uint32_t place = times->free[size];
    times->free[size] = (uint32_t)times->words[place];
    free_place(times, place + words, size - words);
    return place;
}

/* Writes the node's times for a larger set of states to another place, which becomes the node's
 * place. */
static void move_times(struct smp_state_times *times, uint32_t node, int64_t wall_ns, uint32_t set,
                       uint32_t place)
{
    int64_t *to = &times->words[place];

    for (int i = 0; set >> i > 1; i++) {
        if ((set >> i & 1) != 0)
            *to++ = smp_state_times_at(times, node, (enum smp_thread_state)i, wall_ns);
    }
    set_ref(times, node, set, place);
}

/* --- life --- */

static size_t most_words(size_t max_nodes)
{
    const size_t words = max_nodes * SMP_STATE_TIMES_NODE_WORDS + SMP_STATE_TIMES_STEP_WORDS;

    return words < SMP_STATE_TIMES_MAX_WORDS ? words : SMP_STATE_TIMES_MAX_WORDS;
}

enum smp_status smp_state_times_init(struct smp_state_times *times, struct smp_quota *quota,
                                     size_t max_nodes)
{
    enum smp_status status =
        smp_arena_create(quota, max_nodes * SMP_STATE_TIMES_NODE_BYTES, &times->ref_arena);

    if (status == SMP_OK)
        status = smp_arena_create(quota, most_words(max_nodes) * WORD_BYTES, &times->word_arena);
    if (status != SMP_OK)
        return status;
    times->refs = smp_arena_base(times->ref_arena);
    times->words = smp_arena_base(times->word_arena);
    return SMP_OK;
}

void smp_state_times_fini(struct smp_state_times *times)
{
    smp_arena_destroy(times->ref_arena);
    smp_arena_destroy(times->word_arena);
}

size_t smp_state_times_word_bytes(const struct smp_state_times *times)
{
    return times->word_arena == NULL ? 0 : smp_arena_committed(times->word_arena);
}

size_t smp_state_times_bytes(const struct smp_state_times *times)
{
    return smp_arena_committed(times->ref_arena) + smp_state_times_word_bytes(times);
}

bool smp_state_times_grow(struct smp_state_times *times, size_t count)
{
    return smp_arena_alloc(times->ref_arena, count * SMP_STATE_TIMES_NODE_BYTES,
                           SMP_STATE_TIMES_NODE_BYTES) != NULL;
}

/* --- a node's own times --- */

/* Adds a state to the node, without time. */
static bool add_state(struct smp_state_times *times, uint32_t node, enum smp_thread_state state,
                      int64_t wall_ns, bool has_room)
{
    const uint32_t old_set = smp_state_times_set(times, node);
    const uint32_t old_place = state_place(times, node);
    const uint32_t set = old_set | 1u << state;
    uint32_t place = 0;

    if (words_of(set) > 0) {
        place = take_place(times, words_of(set));
        if (place == 0 && has_room)
            place = new_place(times, words_of(set));
        if (place == 0)
            return false;
    }
    move_times(times, node, wall_ns, set, place);
    free_place(times, old_place, words_of(old_set));
    return true;
}

bool smp_state_times_add(struct smp_state_times *times, uint32_t node, enum smp_thread_state state,
                         int64_t wall_ns, int64_t ns, bool has_room)
{
    uint32_t set = smp_state_times_set(times, node);

    if ((set >> state & 1) == 0 && !add_state(times, node, state, wall_ns, has_room))
        return false;
    set = smp_state_times_set(times, node);
    if (set >> state != 1) {
        int64_t *const at = &times->words[state_place(times, node) +
                                          (uint32_t)__builtin_popcount(set & ((1u << state) - 1))];
        *at = smp_add_clamped(*at, ns);
    }
    return true;
}

int64_t smp_state_times_take(struct smp_state_times *times, uint32_t node,
                             enum smp_thread_state state, int64_t wall_ns, int64_t ns)
{
    const uint32_t set = smp_state_times_set(times, node);
    const int64_t has_ns = smp_state_times_at(times, node, state, wall_ns);
    const int64_t taken_ns = ns < has_ns ? ns : has_ns;

    if (taken_ns > 0 && set >> state != 1)
        times->words[state_place(times, node) +
                     (uint32_t)__builtin_popcount(set & ((1u << state) - 1))] -= taken_ns;
    return taken_ns;
}

void smp_state_times_clear(struct smp_state_times *times, uint32_t node)
{
    free_place(times, state_place(times, node), words_of(smp_state_times_set(times, node)));
    times->refs[node] = 0;
}

/* --- totals --- */

uint32_t smp_state_times_plan_node(uint32_t plan, uint32_t *parent_plan)
{
    if ((plan & SET_MASK) != 0) {
        *parent_plan |= plan & SET_MASK;
        if ((*parent_plan & PLAN_PARTS) < PLAN_MANY)
            *parent_plan += PLAN_PART;
    }
    return (plan & PLAN_PARTS) == PLAN_MANY ? words_of(plan & SET_MASK) : 0;
}

bool smp_state_times_reserve(struct smp_state_times *times, size_t words)
{
    const size_t used = smp_arena_used(times->word_arena) / WORD_BYTES;

    return words == 0 ||
           (words < SMP_STATE_TIMES_MAX_WORDS - used &&
            smp_arena_reserve(times->word_arena, (words + 1) * WORD_BYTES, WORD_BYTES));
}

void smp_state_times_add_up(struct smp_state_times *times, uint32_t node, int64_t wall_ns,
                            uint32_t parent, int64_t parent_wall_ns, uint32_t *parent_plan)
{
    const uint32_t more = smp_state_times_set(times, node);
    const uint32_t set = *parent_plan & SET_MASK;
    int64_t *to;

    if (more == 0)
        return;
    if ((*parent_plan & PLAN_BEGUN) == 0) {
        *parent_plan |= PLAN_BEGUN;
        if ((*parent_plan & PLAN_PARTS) == PLAN_MANY && words_of(set) > 0)
            move_times(times, parent, parent_wall_ns, set, new_place(times, words_of(set)));
    }
    if (smp_state_times_set(times, parent) == 0) {
        times->refs[parent] = times->refs[node];
        return;
    }
    to = &times->words[state_place(times, parent)];
    for (int i = 0; set >> i > 1; i++) {
        if ((set >> i & 1) == 0)
            continue;
        *to = smp_add_clamped(*to,
                              smp_state_times_at(times, node, (enum smp_thread_state)i, wall_ns));
        to++;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/frames.h"

#include "hotspot/frame_cache_entry.h"
#include "hotspot/frame_walk.h"
#include "hotspot/machine_code.h"
#include "hotspot/safepoint_count.h"

enum {
    WORDS_BELOW_SP = 2,
    WORDS_OF_STEP = 32, /* more than a step reads */
    LINE_BYTES = 64,
    MIN_CAPACITY = 2 /* one frame of each end */
};

static void reverse(struct smp_frames *frames, size_t from, size_t to)
{
    while (from + 1 < to) {
        const struct smp_raw_frame raw = frames->raw[from];
        const uint64_t id = frames->ids[from];
        to--;
        frames->raw[from] = frames->raw[to];
        frames->ids[from] = frames->ids[to];
        frames->raw[to] = raw;
        frames->ids[to] = id;
        from++;
    }
}

/* Puts the frames of the root's end in order. Drops them if the root is not known. */
static void finish(struct smp_frame_walk *walk)
{
    struct smp_frames *out = walk->out;
    const size_t leaves = out->capacity - out->capacity / 2;

    if (walk->added <= out->capacity) {
        out->count = out->leaf_count = walk->added;
        out->omitted = out->end == SMP_FRAMES_FULL ? 1 : 0;
        return;
    }
    out->leaf_count = leaves;
    if (out->end == SMP_FRAMES_FULL) {
        out->count = leaves;
        out->omitted = walk->added - leaves;
        return;
    }
    const size_t oldest = leaves + (walk->added - leaves) % (out->capacity - leaves);
    reverse(out, leaves, oldest);
    reverse(out, oldest, out->capacity);
    reverse(out, leaves, out->capacity);
    out->count = out->capacity;
    out->omitted = walk->added - out->capacity;
}

/* Returns whether a step's words may not all fit. A walk keeps all words of its frames. */
static bool has_no_word_room(const struct smp_frames_words *words)
{
    return words != NULL && words->count + WORDS_OF_STEP > words->capacity;
}

static bool begin(struct smp_frame_walk *walk, const struct smp_frames_start *start)
{
    for (uintptr_t ahead = 0; ahead < SMP_FRAME_AHEAD_BYTES; ahead += LINE_BYTES)
        __builtin_prefetch((const void *)(start->sp + ahead)); /* NOLINT */
    walk->sp = start->sp;
    walk->fp = start->fp;
    walk->pc = start->pc;
    walk->leaf_bcp = start->bcp;
    return walk->out->capacity >= MIN_CAPACITY && start->sp > walk->low && start->sp < walk->high &&
           start->sp % sizeof(uintptr_t) == 0 &&
           (start->pc != 0 || smp_frame_read(walk, start->sp - sizeof(uintptr_t), &walk->pc));
}

static struct smp_jvm_code read_jvm_code(const struct smp_layout *layout)
{
    return (struct smp_jvm_code){
        .interpreter = smp_code_interpreter(layout),
        .entry_pc = smp_load_word(layout->entry.return_pc),
        .barrier_pc = layout->barrier_pc == 0 ? 0 : smp_load_word(layout->barrier_pc),
    };
}

/* The cache keeps the result once the JVM has created all of this code. */
static struct smp_jvm_code jvm_code_of(const struct smp_layout *layout,
                                       struct smp_frames_cache *cache)
{
    if (cache != NULL && atomic_load_explicit(&cache->has_jvm_code, memory_order_acquire))
        return cache->jvm_code;
    const struct smp_jvm_code read = read_jvm_code(layout);
    if (cache != NULL && read.interpreter.low < read.interpreter.high && read.entry_pc != 0 &&
        (layout->barrier_pc == 0 || read.barrier_pc != 0) && smp_cache_begin_writing(cache)) {
        if (!atomic_load_explicit(&cache->has_jvm_code, memory_order_relaxed))
            cache->jvm_code = read;
        atomic_store_explicit(&cache->has_jvm_code, true, memory_order_release);
        smp_cache_end_writing(cache);
    }
    return read;
}

/* --- where native code called Java --- */

/* Goes to the Java frame that called the native code which called this Java code. */
static bool go_to_anchor(struct smp_frame_walk *walk, uintptr_t anchor)
{
    uintptr_t sp = 0;
    uintptr_t fp = 0;
    uintptr_t pc = 0;

    if (anchor < walk->sp || !smp_frame_read(walk, anchor + walk->layout->anchor.sp, &sp) ||
        !smp_frame_read(walk, anchor + walk->layout->anchor.fp, &fp) ||
        !smp_frame_read(walk, anchor + walk->layout->anchor.pc, &pc))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    if (sp == 0)
        return smp_frame_end(walk, SMP_FRAMES_ROOT);
    if (pc == 0 && !smp_frame_read(walk, sp - sizeof(uintptr_t), &pc))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    return smp_frame_go(walk, sp, fp, pc);
}

bool smp_frame_step_entry(struct smp_frame_walk *walk)
{
    uintptr_t wrapper = 0;

    if (walk->fp < walk->sp ||
        !smp_frame_read(walk, smp_frame_slot(walk->fp, SMP_SLOT_CALL_WRAPPER), &wrapper))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    return go_to_anchor(walk, wrapper + walk->layout->entry.anchor);
}

bool smp_frame_step_upcall(struct smp_frame_walk *walk, const struct smp_blob *blob)
{
    const uint32_t data = smp_load_u32(blob->start + walk->layout->upcall.anchor);

    return go_to_anchor(walk, walk->sp + data + walk->layout->upcall.frame_anchor);
}

/* --- the walk --- */

/* Most entries are plain: at most four Java frames, all with ids, and a known size. */
static bool is_plain_entry(const struct smp_entry_head *head)
{
    return (head->shape & SMP_ENTRY_FLAGS) == SMP_ENTRY_ALL_IDS && smp_entry_part(head) == 0 &&
           smp_entry_count(head) <= SMP_ENTRY_FRAMES;
}

/* Steps over most frames, with one entry of the cache. Returns false, having done nothing, if this
 * frame needs more. */
static inline bool step_plain(struct smp_frame_walk *walk, bool *goes_on)
{
    struct smp_frames_cache *const cache = walk->cache;
    const struct smp_frames *const out = walk->out;
    struct smp_entry_head head;

    if (cache == NULL || walk->added >= out->capacity ||
        out->capacity - walk->added < SMP_ENTRY_FRAMES)
        return false;
    const uint32_t epoch = atomic_load_explicit(&cache->epoch, memory_order_acquire);
    const struct smp_code_entry *const pair =
        &cache->codes[smp_entry_pair_of(walk->pc, SMP_FRAMES_CACHE)];
    if ((!smp_entry_read(&pair[0], walk->pc, &head, out->raw + walk->added,
                         out->ids + walk->added) &&
         !smp_entry_read(&pair[1], walk->pc, &head, out->raw + walk->added,
                         out->ids + walk->added)) ||
        !is_plain_entry(&head) || smp_entry_epoch(&head) != epoch ||
        !smp_code_is_in_place(walk->layout, head.blob, smp_entry_compile_id(&head)))
        return false;
    walk->added += smp_entry_count(&head);
    *goes_on = smp_frame_go_over(walk, smp_entry_frame_bytes(&head));
    return true;
}

void smp_frames_walk(const struct smp_layout *layout, struct smp_frames_cache *cache,
                     struct smp_frames_start start, uintptr_t stack_high, struct smp_frames *out)
{
    const struct smp_jvm_code jvm = jvm_code_of(layout, cache);
    struct smp_frame_walk walk = { .layout = layout,
                                   .cache = cache,
                                   .low = start.sp - WORDS_BELOW_SP * sizeof(uintptr_t),
                                   .high = stack_high,
                                   .out = out,
                                   .chunks = start.chunks };
    bool goes_on = true;

    out->count = out->leaf_count = out->omitted = out->unsure = 0;
    if (out->words != NULL)
        out->words->count = 0;
    out->safepoints = smp_safepoint_count(layout->safepoints);
    out->end = SMP_FRAMES_UNWALKABLE;
    goes_on =
        begin(&walk, &start) && (start.line_pc == 0 || smp_frame_step_leaf(&walk, start.line_pc));
    for (size_t i = 0; goes_on; i++) {
        bool is_known = false;
        if (i == SMP_FRAMES_MOST || has_no_word_room(out->words)) {
            goes_on = smp_frame_end(&walk, SMP_FRAMES_FULL);
        } else if (smp_frame_is_at_bottom(&walk)) {
            goes_on = smp_frame_next_chunk(&walk);
        } else if (walk.pc >= jvm.interpreter.low && walk.pc < jvm.interpreter.high) {
            goes_on = smp_frame_step_interpreted(&walk);
        } else if (walk.pc == jvm.entry_pc) {
            goes_on = smp_frame_step_entry(&walk);
        } else if (jvm.barrier_pc != 0 && walk.pc == jvm.barrier_pc) {
            goes_on = smp_frame_step_barrier(&walk);
        } else if (!step_plain(&walk, &goes_on)) {
            goes_on = smp_frame_step_known(&walk, &is_known);
            if (!is_known)
                goes_on = smp_frame_step_blob(&walk);
        }
    }
    smp_frame_leave_heap(&walk);
    finish(&walk);
}

/* --- names --- */

/* Returns the mark of an equal frame (same method, same place) shortly before this one, or 0. */
static uint64_t find_equal_frame(const struct smp_frames *frames, size_t at)
{
    const struct smp_raw_frame *wanted = &frames->raw[at];

    for (size_t back = 1; back <= at && back <= SMP_FRAME_NAMES_LOOK_BACK; back++) {
        const struct smp_raw_frame *raw = &frames->raw[at - back];
        if (raw->method == wanted->method && raw->bci == wanted->bci)
            return frames->ids[at - back];
    }
    return 0;
}

void smp_frame_names_copy(const struct smp_layout *layout, struct smp_frames *frames, char *room,
                          size_t bytes)
{
    size_t used = 0;
    size_t copies = 0;

    for (size_t i = 0; i < frames->count; i++) {
        size_t taken = 0;
        if (frames->ids[i] != 0)
            continue;
        frames->ids[i] = find_equal_frame(frames, i);
        if (frames->ids[i] != 0 || copies == SMP_FRAME_NAMES_MOST)
            continue;
        copies++;
        taken = smp_method_copy(layout, frames->raw[i].method, frames->raw[i].bci, room + used,
                                bytes - used);
        if (taken > 0)
            frames->ids[i] = SMP_FRAME_NAME_BIT | (uintptr_t)(room + used);
        used += taken;
    }
}

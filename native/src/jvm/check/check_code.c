/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/check/check_code.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/code.h"
#include "hotspot/machine_code.h"
#include "hotspot/memory.h"
#include "hotspot/method.h"
#include "jvm/check/inline_record.h"

enum {
    MAX_HEAPS = 16,
    MIN_SHIFT = 5, /* log2 of the bytes of a segment */
    MAX_SHIFT = 16,
    MAX_PCS = 64 * 1024, /* of one method */
    KNOWN_IDS = 2048,
    MACHINE_SLACK_BYTES = 512,
    MANY_ENTRIES = 28,   /* JDK: several entry points may set up a method's frame */
    JVMTI_ENTRY_BCI = 0, /* JVMTI reports this for the negative bci of a method's entry */
    RECENT_IDS = 32,     /* compilations that are remembered */
    NAME_BYTES = 64,
    HANDLER_BYTES = 24,          /* size of the code that a deoptimised frame returns to */
    ORIGINAL_PC_LEAST_WORDS = 2, /* distance to the end of the frame */
    ORIGINAL_PC_MOST_WORDS = 4,
    BELOW_ALL_PCS = -1
};

/* --- where the code is --- */

static bool read_record_word(uintptr_t address, uintptr_t *out)
{
    return address % sizeof(*out) == 0 && smp_safe_read(out, address, sizeof(*out));
}

static bool read_record_number(uintptr_t address, uint32_t *out)
{
    return address % sizeof(*out) == 0 && smp_safe_read(out, address, sizeof(*out));
}

struct space {
    uintptr_t low;
    uintptr_t high;
};

/* Reads a range. Its first and last bytes must be readable. */
static bool read_space(const struct smp_layout *layout, uintptr_t at, struct space *out)
{
    char byte = 0;

    return read_record_word(at + layout->heap.low, &out->low) &&
           read_record_word(at + layout->heap.high, &out->high) && out->low != 0 &&
           out->low < out->high && smp_safe_read(&byte, out->low, 1) &&
           smp_safe_read(&byte, out->high - 1, 1);
}

/* The segment map has a byte for each segment. It is committed in pages, so it may be longer. */
static bool is_heap_sane(const struct smp_layout *layout, uintptr_t heap, uintptr_t pc,
                         bool *has_pc)
{
    struct space memory = { 0 };
    struct space map = { 0 };
    uint32_t shift = 0;

    if (!read_space(layout, heap + layout->heap.memory, &memory) ||
        !read_space(layout, heap + layout->heap.map, &map) ||
        !read_record_number(heap + layout->heap.shift, &shift) || shift < MIN_SHIFT ||
        shift > MAX_SHIFT || (memory.high - memory.low) >> shift > map.high - map.low)
        return false;
    *has_pc = *has_pc || (pc >= memory.low && pc < memory.high);
    return true;
}

static bool is_interpreter_sane(const struct smp_layout *layout)
{
    uintptr_t code = 0;
    uintptr_t start = 0;
    uint32_t bytes = 0;
    char byte = 0;

    return read_record_word(layout->interpreter.code, &code) &&
           read_record_word(code + layout->interpreter.start, &start) &&
           read_record_number(code + layout->interpreter.bytes, &bytes) && bytes > 0 &&
           smp_safe_read(&byte, start, 1) && smp_safe_read(&byte, start + bytes - 1, 1);
}

/* One of the heaps must contain the call stub, through which the JVM calls Java. */
const char *smp_check_heaps(const struct smp_layout *layout)
{
    uintptr_t entry = 0;
    uintptr_t list = 0;
    uintptr_t data = 0;
    uint32_t count = 0;
    bool has_entry = false;

    if (!read_record_word(layout->entry.return_pc, &entry) ||
        !read_record_word(layout->heap.list, &list) ||
        !read_record_number(list + layout->heap.length, &count) || count == 0 ||
        count > MAX_HEAPS || !read_record_word(list + layout->heap.data, &data))
        return "the list of code heaps is not where it should be";
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t heap = 0;
        if (!read_record_word(data + i * sizeof(heap), &heap) ||
            !is_heap_sane(layout, heap, entry, &has_entry))
            return "a code heap is not what it should be";
    }
    if (!has_entry)
        return "the entry into Java is in no code heap";
    return is_interpreter_sane(layout) ? NULL : "the interpreter is not where it should be";
}

/* --- what the JVM records of a compiled method --- */

/*
 * A cache of method ids. The JVM may reuse the address of a method, so an id that differs from the
 * cache is read again. Readers check both words, so a torn pair does not match.
 */
static struct {
    _Atomic uintptr_t method;
    _Atomic uint64_t sum; /* of the method and the id */
} known_ids[KNOWN_IDS];

static bool is_method_of(const struct smp_layout *layout, uintptr_t method, uint64_t id)
{
    const size_t at = (method >> 4) % KNOWN_IDS;

    if (atomic_load(&known_ids[at].method) == method &&
        atomic_load(&known_ids[at].sum) == method + id)
        return true;
    if (smp_method_id(layout, method) != id)
        return false;
    atomic_store(&known_ids[at].method, 0);
    atomic_store(&known_ids[at].sum, method + id);
    atomic_store(&known_ids[at].method, method);
    return true;
}

static jint counted_bci(jint bci)
{
    return bci < 0 ? JVMTI_ENTRY_BCI : bci;
}

static const char *compare_pc(const struct smp_layout *layout, const struct smp_blob *blob,
                              const PCStackInfo *info, uint64_t *frames)
{
    struct smp_raw_frame ours[SMP_CODE_MAX_FRAMES];
    const jint count = info->numstackframes;

    if (count <= 0 || count > SMP_CODE_MAX_FRAMES)
        return NULL;
    const size_t found =
        smp_code_frames(layout, blob, (uintptr_t)info->pc, ours, SMP_CODE_MAX_FRAMES);
    if (found == 0)
        return "the frames of a compiled method are not found";
    if (found != (size_t)count)
        return "a compiled method has another number of frames";
    for (jint i = 0; i < count; i++) {
        if (counted_bci(ours[i].bci) != counted_bci(info->bcis[i]))
            return "a frame of a compiled method is at another byte code";
        if (!is_method_of(layout, ours[i].method, (uint64_t)(uintptr_t)info->methods[i]))
            return "a frame of a compiled method is of another method";
    }
    *frames += (uint64_t)count;
    return NULL;
}

/* The JVM does not free the methods during its event. */
static const char *compare_record(const struct smp_layout *layout, const struct smp_blob *blob,
                                  const jvmtiCompiledMethodLoadInlineRecord *record,
                                  uint64_t *frames)
{
    const char *reason = NULL;

    for (jint i = 0; reason == NULL && i < record->numpcs && i < MAX_PCS; i++)
        reason = compare_pc(layout, blob, &record->pcinfo[i], frames);
    return reason;
}

/* The code that sets up the frame, if it can be decoded, must give the frame size of the blob. */
static const char *compare_scope(const struct smp_layout *layout, const struct smp_blob *blob,
                                 size_t size)
{
    /* The event has passed this address and size, so the bytes are mapped. */
    const struct smp_code_frame made = smp_machine_code_frame(
        (const void *)blob->code, size); /* NOLINT(performance-no-int-to-ptr) */

    if (made.bytes == 0)
        return NULL;
    if (made.bytes != blob->frame_bytes)
        return "the frame of a compiled method has another size";
    const int32_t most = layout->version >= MANY_ENTRIES
                             ? (int32_t)size
                             : (int32_t)made.lowered_at + MACHINE_SLACK_BYTES;
    if (blob->frame_complete < (int32_t)made.lowered_at || blob->frame_complete > most)
        return "the frame of a compiled method is complete elsewhere";
    return NULL;
}

static bool is_named(const struct smp_layout *layout, const struct smp_blob *blob, const char *name)
{
    char text[NAME_BYTES] = "";
    const uintptr_t at = smp_load_word(blob->start + layout->blob.name);

    return smp_safe_read(text, at, strlen(name) + 1) && strcmp(text, name) == 0;
}

/* The handler must jump to the JVM's deoptimisation code. It may begin before its address. */
static bool leads_to_deoptimisation(const struct smp_layout *layout, const struct smp_blob *blob,
                                    uintptr_t handler)
{
    struct smp_blob target;
    uintptr_t at = handler - blob->code < HANDLER_BYTES ? blob->code : handler - HANDLER_BYTES;

    for (; at < handler + HANDLER_BYTES && at + HANDLER_BYTES < blob->end + HANDLER_BYTES; at++) {
        const uintptr_t to = smp_machine_code_jump_target(at);
        if (to != 0 && smp_blob_find(layout, to, &target) &&
            is_named(layout, &target, "DeoptimizationBlob"))
            return true;
    }
    return false;
}

/* If a method has a second handler, for method handle calls, it must follow the first one. */
static bool is_second_handler_sane(const struct smp_layout *layout, const struct smp_blob *blob,
                                   uintptr_t handler)
{
    uintptr_t second = 0;

    if (layout->nmethod.deopt_mh != 0) {
        second = smp_load_word(blob->start + layout->nmethod.deopt_mh);
    } else if (layout->nmethod.deopt_mh_offset != 0) {
        const uint32_t offset = smp_load_u32(blob->start + layout->nmethod.deopt_mh_offset);
        second = offset == UINT32_MAX ? 0 : blob->start + offset;
    }
    return second == 0 || (second > handler && second - handler <= 2 * HANDLER_BYTES);
}

/*
 * The slot of the original pc is at the top of the frame, below the return address, the caller's
 * frame pointer and padding; since JDK 28 also below the frame size and one more word. A wrong
 * field that is equal in all methods can pass this check only in small frames.
 */
static bool is_original_pc_sane(const struct smp_layout *layout, const struct smp_blob *blob)
{
    const uint32_t at = smp_load_u32(blob->start + layout->nmethod.original_pc);
    const uint32_t word = sizeof(uintptr_t);
    const uint32_t most = ORIGINAL_PC_MOST_WORDS + (layout->version >= MANY_ENTRIES ? 2 : 0);

    return at <= blob->frame_bytes && at % word == 0 &&
           blob->frame_bytes - at >= ORIGINAL_PC_LEAST_WORDS * word &&
           blob->frame_bytes - at <= most * word;
}

/* Checks what only deoptimised frames use: the handler in their method, and the slot of the
 * original pc in their frame. */
static const char *check_deopt(const struct smp_layout *layout, const struct smp_blob *blob)
{
    const bool is_pointer = layout->nmethod.deopt != 0;
    const uintptr_t handler =
        is_pointer ? smp_load_word(blob->start + layout->nmethod.deopt)
                   : blob->start + smp_load_u32(blob->start + layout->nmethod.deopt_offset);

    if (handler < blob->code || handler >= blob->end)
        return "the handler of deoptimised frames is not in its method";
    if (!leads_to_deoptimisation(layout, blob, handler) ||
        !is_second_handler_sane(layout, blob, handler))
        return "the handler of deoptimised frames is another one";
    return is_original_pc_sane(layout, blob)
               ? NULL
               : "the original pc of deoptimised frames is elsewhere in the frame";
}

/* The first record must have a pc below all pcs of the method, and the last one above them. */
static const char *check_records(const struct smp_layout *layout, const struct smp_blob *blob)
{
    const bool is_outside = layout->nmethod.outside != 0;
    const uintptr_t data =
        is_outside ? smp_load_word(blob->start + layout->nmethod.outside) : blob->start;
    const uintptr_t first =
        data + smp_load_u32(blob->start + (is_outside ? layout->nmethod.outside_pcs
                                                      : layout->nmethod.scopes_end));
    const uintptr_t end =
        data + smp_load_u32(blob->start + (is_outside ? layout->nmethod.outside_scopes
                                                      : layout->nmethod.pcs_end));
    int32_t below = 0;
    int32_t above = 0;

    if (!smp_safe_read(&below, first + layout->pc_record.pc, sizeof(below)) ||
        !smp_safe_read(&above, end - layout->pc_record.bytes + layout->pc_record.pc,
                       sizeof(above)) ||
        below != BELOW_ALL_PCS || above < (int64_t)(blob->end - blob->code) ||
        above > (int64_t)(blob->end - blob->start) + 1)
        return "the records of a compiled method have other bounds";
    return NULL;
}

/* Recent compilations. Readers check both words, so a torn pair does not match. */
static struct {
    _Atomic uint64_t method;
    _Atomic uint64_t sum; /* of the method and the id */
} recent[RECENT_IDS];
static _Atomic uint32_t next_recent;

/* Two methods never share a compile id. The same method may have it twice, because JDK 26 and
 * later may copy the code of a method. */
static const char *check_compile_id(const struct smp_blob *blob)
{
    const uint64_t id = blob->compile_id;

    if (id == 0 || id > INT32_MAX)
        return "a compiled method has no compile id";
    for (size_t i = 0; i < RECENT_IDS; i++) {
        const uint64_t method = atomic_load(&recent[i].method);
        if (method != 0 && method != blob->method && atomic_load(&recent[i].sum) == method + id)
            return "two compiled methods have one compile id";
    }
    const uint32_t at = atomic_fetch_add(&next_recent, 1) % RECENT_IDS;
    atomic_store(&recent[at].method, 0);
    atomic_store(&recent[at].sum, blob->method + id);
    atomic_store(&recent[at].method, blob->method);
    return NULL;
}

static const char *compare_blob(const struct smp_layout *layout,
                                const struct smp_check_method *method, struct smp_blob *blob)
{
    if (!smp_blob_find(layout, method->start, blob))
        return "a compiled method is not found";
    if (smp_load_u8(blob->start - layout->heap.block_bytes + layout->heap.block_used) != 1)
        return "a compiled method is not in use";
    if (blob->code != method->start || blob->end - blob->code < method->size)
        return "a compiled method has other bounds";
    if (blob->kind != SMP_BLOB_COMPILED && blob->kind != SMP_BLOB_NATIVE)
        return "a compiled method is of another kind";
    if (!is_method_of(layout, blob->method, (uint64_t)(uintptr_t)method->method))
        return "compiled code is of another method";
    return check_compile_id(blob);
}

const char *smp_check_method(const struct smp_layout *layout, const struct smp_check_method *method,
                             uint64_t *frames)
{
    const jvmtiCompiledMethodLoadInlineRecord *record = smp_inline_record_find(method->info);
    struct smp_blob blob;
    const char *reason = compare_blob(layout, method, &blob);

    if (reason == NULL && blob.kind == SMP_BLOB_COMPILED) {
        reason = compare_scope(layout, &blob, method->size);
        if (reason == NULL)
            reason = check_records(layout, &blob);
        if (reason == NULL)
            reason = check_deopt(layout, &blob);
        if (reason == NULL && !smp_code_map_data(layout, &blob))
            reason = "the records of a compiled method cannot be read";
        if (reason == NULL && record != NULL)
            reason = compare_record(layout, &blob, record, frames);
    }
    return reason;
}

enum smp_check_use smp_check_use(const struct smp_layout *layout, uintptr_t start)
{
    struct smp_blob blob;

    if (layout->nmethod.state == 0 || !smp_blob_find(layout, start, &blob))
        return SMP_CHECK_USE_UNKNOWN;
    const int8_t use = (int8_t)smp_load_u8(blob.start + layout->nmethod.state);
    return use > 0 ? SMP_CHECK_GIVEN_UP : use == 0 ? SMP_CHECK_IN_USE : SMP_CHECK_USE_UNKNOWN;
}

const char *smp_check_interpreter(const struct smp_layout *layout, uintptr_t start, size_t size)
{
    const struct smp_code_range range = smp_code_interpreter(layout);

    return range.low == start && range.high - range.low == size
               ? NULL
               : "the interpreter has other bounds";
}

void smp_check_forget(void)
{
    for (size_t i = 0; i < KNOWN_IDS; i++)
        atomic_store(&known_ids[i].method, 0);
    for (size_t i = 0; i < RECENT_IDS; i++)
        atomic_store(&recent[i].method, 0);
}

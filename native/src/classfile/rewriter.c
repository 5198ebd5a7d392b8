/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/rewriter.h"

#include "base/alloc.h"
#include "classfile/moved_code.h"
#include "classfile/moved_tables.h"
#include "classfile/super_call.h"

_Static_assert((int)SMP_PROBE_HAND_STACK == 2, "HANDLER_STACK");

enum {
    POOL_COUNT_AT = 8,
    HANDLER_STACK = 2, /* the exception, and what the probe pushes; what is handed out as well */
    MOST_STACK = 65535,
    MOST_COMPILED = 8000 /* bytes of code that the JIT compilers take (HugeMethodLimit) */
};

/* A method that gets probes. */
struct method_work {
    struct smp_moved_code moved;
    struct smp_probe probe;
};

struct rewriting {
    const struct smp_class_file *file;
    struct smp_rewriter_method *methods;
    struct method_work *work; /* of all methods */
    struct smp_probe_pool pool;
    struct smp_moved_names names;
    struct smp_byte_writer writer;
    size_t places;        /* catches there may be at most */
    uint32_t ready_count; /* methods that nothing has ruled out so far */
};

static void *allocate_uncharged(void *self, size_t bytes)
{
    (void)self;
    return smp_alloc(NULL, bytes);
}

static void release_uncharged(void *self, void *piece)
{
    (void)self;
    smp_free(NULL, piece);
}

static const struct smp_rewriter_memory uncharged = { .allocate = allocate_uncharged,
                                                      .release = release_uncharged };

/* Which methods are to be looked at, and how much memory that takes. */
static size_t choose_methods(struct rewriting *rewriting, struct smp_probe_needs *needs)
{
    const struct smp_class_file *file = rewriting->file;
    size_t offsets = 0;

    *needs = (struct smp_probe_needs){ 0 };
    for (uint32_t i = 0; i < file->method_count; i++) {
        struct smp_rewriter_method *method = &rewriting->methods[i];
        method->has_handler = false;
        method->result = SMP_REWRITE_NOT_PLANNED;
        if (method->id < 0 && method->hands == SMP_HANDS_NOTHING)
            continue;
        method->result = SMP_REWRITE_NATIVE_OR_ABSTRACT;
        if (file->methods[i].code.attribute == 0)
            continue;
        method->result = SMP_REWRITE_DONE;
        needs->roots |= method->id >= 0 && method->is_root;
        needs->hands |= method->hands != SMP_HANDS_NOTHING;
        offsets += 2 * (size_t)file->methods[i].code.length + 1; /* map and points */
        if (method->id >= 0)
            rewriting->places += smp_catch_places_most(&file->methods[i].code);
    }
    needs->catches = rewriting->places > 0;
    if (offsets == 0)
        return 0;
    return file->method_count * sizeof(struct method_work) +
           rewriting->places * sizeof(struct smp_catch_place) + offsets * sizeof(uint16_t);
}

static bool is_constructor(const struct smp_class_method *method)
{
    return smp_class_text_is(method->name, "<init>");
}

/* Of a constructor with probes; 0 otherwise, or where it is not known. */
static uint32_t super_end_of(const struct smp_class_file *file,
                             const struct smp_class_method *method,
                             const struct smp_rewriter_method *plan)
{
    return plan->id >= 0 && is_constructor(method) ? smp_super_call_end(file, method) : 0;
}

static uint32_t handler_start(const struct smp_class_method *method,
                              const struct smp_moved_code *moved, uint32_t super_end)
{
    if (!is_constructor(method))
        return moved->map[0];
    return super_end != 0 ? moved->map[super_end] : 0;
}

/* One that is not compiled any more would be interpreted for as long as it has probes. */
static bool fits(uint32_t before, uint32_t after)
{
    return after <= SMP_CLASS_MAX_CODE && (after <= MOST_COMPILED || before > MOST_COMPILED);
}

static uint32_t stack_of_probes(const struct method_work *work)
{
    return work->moved.catch_count > 0 ? SMP_PROBE_CAUGHT_STACK : SMP_PROBE_STACK;
}

static enum smp_rewrite measure_method(struct rewriting *rewriting, uint32_t i)
{
    const struct smp_class_method *method = &rewriting->file->methods[i];
    const struct smp_rewriter_method *plan = &rewriting->methods[i];
    struct method_work *work = &rewriting->work[i];

    if (plan->id >= 0 && !smp_probe_make(&rewriting->pool, plan->id, plan->is_root, &work->probe))
        return SMP_REWRITE_NO_ROOM_IN_POOL;
    smp_probe_add_hands(&rewriting->pool, plan->hands, &work->probe);
    if (work->moved.catch_count > 0)
        smp_probe_add_caught(&rewriting->pool, &work->probe);
    if (method->code.max_stack + stack_of_probes(work) > MOST_STACK)
        return SMP_REWRITE_TOO_LARGE;
    const uint32_t super_end = super_end_of(rewriting->file, method, plan);
    /* A root that lost its exit would keep its thread inside. */
    if (plan->is_root && plan->hands == SMP_HANDS_NOTHING)
        work->moved.entry = super_end;
    const enum smp_rewrite result = smp_moved_code_measure(&work->moved, &work->probe);
    if (result != SMP_REWRITE_DONE)
        return result;
    if (plan->id >= 0)
        work->moved.handler_from = handler_start(method, &work->moved, super_end);
    return fits(method->code.length, smp_moved_code_size(&work->moved, &work->probe))
               ? SMP_REWRITE_DONE
               : SMP_REWRITE_TOO_LARGE;
}

/* A frame that was left behind by a constructor may be one of the same constructor: so the hook is
 * to look closely, as it does without an exception. */
static uint32_t find_catches(const struct smp_class_file *file,
                             const struct smp_class_method *method, struct smp_catch_place *places)
{
    const uint32_t count = smp_catch_places_find(file, &method->code, places);

    for (uint32_t i = 0; i < count && is_constructor(method); i++)
        places[i].has_exception = false;
    return count;
}

/* Before any probe is made: it says what a method needs. Returns what lies behind the places. */
static uint16_t *find_all_catches(struct rewriting *rewriting)
{
    const struct smp_class_file *file = rewriting->file;
    struct smp_catch_place *const all =
        (struct smp_catch_place *)(void *)(rewriting->work + file->method_count);
    struct smp_catch_place *places = all;

    for (uint32_t i = 0; i < file->method_count; i++) {
        struct smp_moved_code *moved = &rewriting->work[i].moved;
        if (rewriting->methods[i].result != SMP_REWRITE_DONE || rewriting->methods[i].id < 0)
            continue;
        moved->catches = places;
        moved->catch_count = find_catches(file, &file->methods[i], places);
        places += moved->catch_count;
    }
    return (uint16_t *)(void *)(all + rewriting->places);
}

static void measure_methods(struct rewriting *rewriting)
{
    const struct smp_class_file *file = rewriting->file;
    uint16_t *offsets = find_all_catches(rewriting);

    for (uint32_t i = 0; i < file->method_count; i++) {
        struct smp_rewriter_method *plan = &rewriting->methods[i];
        const struct smp_class_code *code = &file->methods[i].code;
        if (plan->result != SMP_REWRITE_DONE)
            continue;
        struct smp_moved_code *moved = &rewriting->work[i].moved;
        moved->code = file->bytes + code->bytes;
        moved->length = code->length;
        moved->map = offsets;
        moved->points = offsets + code->length + 1;
        offsets += 2 * (size_t)code->length + 1;
        plan->result = measure_method(rewriting, i);
        rewriting->ready_count += plan->result == SMP_REWRITE_DONE ? 1 : 0;
    }
}

static size_t most_bytes(const struct rewriting *rewriting)
{
    const struct smp_class_file *file = rewriting->file;
    size_t bytes = file->size + smp_probe_pool_bytes(&rewriting->pool);

    for (uint32_t i = 0; i < file->method_count; i++) {
        const struct method_work *work = &rewriting->work[i];
        if (rewriting->methods[i].result != SMP_REWRITE_DONE)
            continue;
        bytes += smp_moved_code_size(&work->moved, &work->probe) - work->moved.length +
                 smp_moved_tables_growth(file, &file->methods[i].code);
    }
    return bytes;
}

/* Up to the first method. */
static void write_head(struct rewriting *rewriting)
{
    const struct smp_class_file *file = rewriting->file;
    struct smp_byte_writer *writer = &rewriting->writer;
    const uint32_t methods = file->method_count > 0 ? file->methods[0].start : file->methods_end;

    smp_byte_writer_put(writer, file->bytes, POOL_COUNT_AT);
    smp_byte_writer_u2(writer, rewriting->pool.end);
    smp_byte_writer_put(writer, file->bytes + POOL_COUNT_AT + 2,
                        file->pool_end - (POOL_COUNT_AT + 2));
    smp_probe_pool_write(&rewriting->pool, writer);
    for (uint32_t i = 0; i < file->method_count; i++) {
        /* Those with a number were given one in this order. */
        if (rewriting->work[i].probe.enter_length != 0 &&
            smp_probe_is_number(rewriting->methods[i].id))
            smp_probe_number_write(rewriting->methods[i].id, writer);
    }
    smp_byte_writer_put(writer, file->bytes + file->pool_end, methods - file->pool_end);
}

static enum smp_rewrite write_code(struct rewriting *rewriting, uint32_t i)
{
    const struct smp_class_code *code = &rewriting->file->methods[i].code;
    const struct method_work *work = &rewriting->work[i];
    struct smp_byte_writer *writer = &rewriting->writer;
    const size_t start = writer->length;
    const uint32_t stack = code->max_stack + stack_of_probes(work);

    smp_byte_writer_put(writer, rewriting->file->bytes + code->attribute, 2);
    smp_byte_writer_u4(writer, 0); /* its length comes last */
    smp_byte_writer_u2(writer, stack < HANDLER_STACK ? HANDLER_STACK : stack);
    smp_byte_writer_u2(writer, code->max_locals);
    smp_byte_writer_u4(writer, smp_moved_code_size(&work->moved, &work->probe));
    enum smp_rewrite result = smp_moved_code_write(&work->moved, &work->probe, writer);
    if (result == SMP_REWRITE_DONE)
        result = smp_moved_tables_write(rewriting->file, code, &work->moved, &work->probe,
                                        &rewriting->names, writer);
    if (result != SMP_REWRITE_DONE || writer->is_full)
        return result != SMP_REWRITE_DONE ? result : SMP_REWRITE_UNKNOWN_CODE;
    smp_byte_writer_set_u4(writer->bytes + start + 2, (uint32_t)(writer->length - start - 6));
    return SMP_REWRITE_DONE;
}

static void write_method(struct rewriting *rewriting, uint32_t i)
{
    const struct smp_class_method *method = &rewriting->file->methods[i];
    struct smp_rewriter_method *plan = &rewriting->methods[i];
    struct smp_byte_writer *writer = &rewriting->writer;
    const uint8_t *bytes = rewriting->file->bytes;
    const size_t start = writer->length;

    if (plan->result == SMP_REWRITE_DONE) {
        smp_byte_writer_put(writer, bytes + method->start, method->code.attribute - method->start);
        plan->result = write_code(rewriting, i);
        smp_byte_writer_put(writer, bytes + method->code.end, method->end - method->code.end);
    }
    if (plan->result == SMP_REWRITE_DONE) {
        plan->has_handler = rewriting->work[i].moved.handler_from != 0;
        return;
    }
    writer->length = start;
    writer->is_full = false;
    smp_byte_writer_put(writer, bytes + method->start, method->end - method->start);
}

static enum smp_status write_class_file(struct rewriting *rewriting,
                                        const struct smp_rewriter_memory *memory,
                                        struct smp_rewritten *out)
{
    const struct smp_class_file *file = rewriting->file;
    struct smp_byte_writer *writer = &rewriting->writer;
    uint32_t count = 0;

    writer->capacity = most_bytes(rewriting);
    writer->bytes = memory->allocate(memory->self, writer->capacity);
    if (writer->bytes == NULL)
        return SMP_ENOMEM;
    write_head(rewriting);
    for (uint32_t i = 0; i < file->method_count; i++) {
        write_method(rewriting, i);
        count += rewriting->methods[i].result == SMP_REWRITE_DONE ? 1 : 0;
    }
    smp_byte_writer_put(writer, file->bytes + file->methods_end, file->size - file->methods_end);
    if (count == 0) {
        memory->release(memory->self, writer->bytes);
        return SMP_OK;
    }
    *out = (struct smp_rewritten){ .bytes = writer->bytes,
                                   .size = writer->length,
                                   .method_count = count };
    return SMP_OK;
}

static void leave_all(struct rewriting *rewriting, enum smp_rewrite result)
{
    for (uint32_t i = 0; i < rewriting->file->method_count; i++) {
        if (rewriting->methods[i].result == SMP_REWRITE_DONE)
            rewriting->methods[i].result = result;
    }
}

enum smp_status smp_rewriter_run(const struct smp_class_file *file,
                                 const struct smp_probe_hook *hook,
                                 struct smp_rewriter_method *methods,
                                 const struct smp_rewriter_memory *memory,
                                 struct smp_rewritten *out)
{
    struct rewriting rewriting = { .file = file, .methods = methods };
    struct smp_probe_needs needs;
    enum smp_status status = SMP_OK;

    *out = (struct smp_rewritten){ 0 };
    const size_t bytes = choose_methods(&rewriting, &needs);
    if (bytes == 0)
        return SMP_OK;
    if (!smp_probe_pool_init(&rewriting.pool, hook, file->pool_count, needs)) {
        leave_all(&rewriting, SMP_REWRITE_NO_ROOM_IN_POOL);
        return SMP_OK;
    }
    rewriting.names =
        (struct smp_moved_names){ .throwable = smp_probe_pool_throwable(&rewriting.pool),
                                  .stack_map = smp_probe_pool_stack_map(&rewriting.pool) };
    rewriting.work = smp_alloc(NULL, bytes);
    if (rewriting.work == NULL)
        return SMP_ENOMEM;
    measure_methods(&rewriting);
    if (rewriting.ready_count > 0)
        status = write_class_file(&rewriting, memory != NULL ? memory : &uncharged, out);
    smp_free(NULL, rewriting.work);
    return status;
}

const char *smp_rewrite_text(enum smp_rewrite rewrite)
{
    static const char *const texts[] = {
#define X(code, text) text,
        SMP_REWRITE_MAP(X)
#undef X
    };

    return (unsigned)rewrite < SMP_REWRITE_COUNT ? texts[rewrite] : "unknown";
}

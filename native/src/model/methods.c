/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   known {key, bci} ──────────────► location {method, line} ──► method {class, name, file}
 *   known {key, OF_KEY} ──► line table {method, lines} ──────────────┘      └──► texts
 *
 * The four arenas are append-only arrays: what a reader was told of is never written again, but
 * for the monitored flag, which is the writer's alone. The tables are the writer's too.
 */
#include "model/methods.h"

#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "model/class_name.h"
#include "model/escape.h"
#include "model/id_index.h"
#include "model/pair_map.h"
#include "model/room.h"

#define OVER_LIMIT_TEXT "[over memory limit]"
#define UNLOADED_TEXT "[unloaded]"
#define UNKNOWN_TEXT "[unknown method]"

enum {
    FIRST_KEYS = 1000, /* the hot table starts with room for so many pairs */
    /* Room for the names of one method that must be there before the JVM is asked for them. Longer
     * ones may still fail, which costs a resolve for nothing. */
    USUAL_NAME_BYTES = 512,
    OF_KEY = INT32_MIN, /* in place of a byte code index: what is known of the key itself */
    BCI_PSEUDO = INT32_MIN + 1,
    BCI_NATIVE = -1,
    LINE_UNKNOWN = -1,
    LINE_NATIVE = -2,
    MAX_LINES_KEPT = 65536 /* of one method: more do not come out of javac */
};

struct method {
    uint32_t class_name; /* offsets in texts */
    uint32_t method_name;
    uint32_t file; /* 0: unknown */
    bool is_pseudo;
    bool is_monitored;
};

struct location {
    uint32_t method;
    int32_t line; /* > 0, LINE_UNKNOWN or LINE_NATIVE */
};

/* What is known of a key: its method, and the lines to find new places in it. */
struct line_table {
    uint32_t method;
    uint32_t count;
    struct smp_line lines[];
};

struct smp_methods {
    struct smp_quota *quota;
    size_t max_bytes;
    _Atomic unsigned holders;
    const struct smp_filter *filter;

    /* Element 0 of each stands for none. */
    struct smp_arena *texts;
    struct smp_arena *methods;   /* struct method */
    struct smp_arena *locations; /* struct location */
    struct smp_arena *lines;     /* struct line_table, by offset */
    uint32_t method_count;       /* with element 0 */
    uint32_t location_count;

    struct smp_id_index by_text;
    struct smp_id_index by_method;
    struct smp_id_index by_location;
    struct smp_pair_map known;

    uint32_t over_limit; /* location */
    uint32_t unloaded_table;
    uint32_t unknown_table;
    uint64_t unloaded_count;
    uint64_t unresolved_count;
    uint64_t over_limit_count;
    char scratch[SMP_MAX_NAME_BYTES + 1];
};

/* --- elements --- */

static const char *text_at(const struct smp_methods *methods, uint32_t text)
{
    return (const char *)smp_arena_base(methods->texts) + text;
}

static struct method *method_at(const struct smp_methods *methods, uint32_t method)
{
    return (struct method *)smp_arena_base(methods->methods) + method;
}

static const struct location *location_at(const struct smp_methods *methods, uint32_t location)
{
    return (const struct location *)smp_arena_base(methods->locations) + location;
}

static const struct line_table *table_at(const struct smp_methods *methods, uint32_t table)
{
    const char *base = smp_arena_base(methods->lines);

    return (const struct line_table *)(const void *)(base + table);
}

static size_t bytes_of(const struct smp_methods *methods)
{
    return sizeof(*methods) + smp_arena_committed(methods->texts) +
           smp_arena_committed(methods->methods) + smp_arena_committed(methods->locations) +
           smp_arena_committed(methods->lines) + smp_id_index_bytes(&methods->by_text) +
           smp_id_index_bytes(&methods->by_method) + smp_id_index_bytes(&methods->by_location) +
           smp_pair_map_bytes(&methods->known);
}

static size_t room_of(const struct smp_methods *methods)
{
    return smp_room_left(methods->max_bytes, bytes_of(methods));
}

static bool reserve_in(struct smp_methods *methods, struct smp_id_index *index, size_t more)
{
    return smp_id_index_reserve(index, methods->quota, more, room_of(methods));
}

static void *append(struct smp_methods *methods, struct smp_arena *arena, size_t size, size_t align)
{
    return smp_room_alloc(arena, size, align, room_of(methods));
}

/* --- interning: each returns 0 when there is no memory, and then nothing is lost but time --- */

static uint32_t intern_text(struct smp_methods *methods, const char *text)
{
    const size_t length = strlen(text);
    const uint32_t hash = smp_id_hash_bytes(SMP_ID_HASH_START, text, length);
    size_t cursor = 0;

    for (uint32_t id = smp_id_index_first(&methods->by_text, hash, &cursor); id != 0;
         id = smp_id_index_next(&methods->by_text, hash, &cursor)) {
        if (strcmp(text_at(methods, id), text) == 0)
            return id;
    }
    if (!reserve_in(methods, &methods->by_text, 1))
        return 0;

    char *copy = append(methods, methods->texts, length + 1, 1);

    if (copy == NULL)
        return 0;
    memcpy(copy, text, length);

    const uint32_t id = (uint32_t)(copy - (char *)smp_arena_base(methods->texts));

    smp_id_index_put(&methods->by_text, hash, id);
    return id;
}

/* Texts of the JVM are made to fit first. */
static uint32_t intern_name(struct smp_methods *methods, const char *name, bool is_class)
{
    (void)smp_utf8_from_modified(methods->scratch, sizeof(methods->scratch), name, strlen(name));
    if (is_class)
        smp_class_name_simplify(methods->scratch);
    return intern_text(methods, methods->scratch);
}

static bool is_monitored(const struct smp_methods *methods, const struct method *method)
{
    return method->is_pseudo || methods->filter == NULL ||
           smp_filter_monitors(methods->filter, text_at(methods, method->class_name));
}

static uint32_t intern_method(struct smp_methods *methods, const struct method *wanted)
{
    uint32_t hash = smp_id_hash_u32(SMP_ID_HASH_START, wanted->class_name);
    size_t cursor = 0;

    hash = smp_id_hash_u32(smp_id_hash_u32(hash, wanted->method_name), wanted->file);
    for (uint32_t id = smp_id_index_first(&methods->by_method, hash, &cursor); id != 0;
         id = smp_id_index_next(&methods->by_method, hash, &cursor)) {
        const struct method *method = method_at(methods, id);

        if (method->class_name == wanted->class_name &&
            method->method_name == wanted->method_name && method->file == wanted->file)
            return id;
    }
    if (!reserve_in(methods, &methods->by_method, 1))
        return 0;

    struct method *method =
        append(methods, methods->methods, sizeof(*method), _Alignof(struct method));

    if (method == NULL)
        return 0;
    *method = *wanted;
    method->is_monitored = is_monitored(methods, wanted);
    smp_id_index_put(&methods->by_method, hash, methods->method_count);
    return methods->method_count++;
}

static uint32_t intern_location(struct smp_methods *methods, struct location wanted)
{
    const uint32_t hash =
        smp_id_hash_u32(smp_id_hash_u32(SMP_ID_HASH_START, wanted.method), (uint32_t)wanted.line);
    size_t cursor = 0;

    for (uint32_t id = smp_id_index_first(&methods->by_location, hash, &cursor); id != 0;
         id = smp_id_index_next(&methods->by_location, hash, &cursor)) {
        const struct location *location = location_at(methods, id);

        if (location->method == wanted.method && location->line == wanted.line)
            return id;
    }
    if (!reserve_in(methods, &methods->by_location, 1))
        return 0;

    struct location *location =
        append(methods, methods->locations, sizeof(*location), _Alignof(struct location));

    if (location == NULL)
        return 0;
    *location = wanted;
    smp_id_index_put(&methods->by_location, hash, methods->location_count);
    return methods->location_count++;
}

static uint32_t intern_pseudo(struct smp_methods *methods, const char *text)
{
    const struct method wanted = { .class_name = intern_text(methods, text), .is_pseudo = true };
    const uint32_t method = wanted.class_name == 0 ? 0 : intern_method(methods, &wanted);

    return method == 0 ? 0 : intern_location(methods, (struct location){ method, LINE_UNKNOWN });
}

static uint32_t intern_info(struct smp_methods *methods, const struct smp_method_info *info)
{
    struct method wanted = { .class_name = intern_name(methods, info->class_name, true) };

    if (wanted.class_name == 0)
        return 0;
    wanted.method_name = intern_name(methods, info->method_name, false);
    if (wanted.method_name == 0)
        return 0;
    if (info->file != NULL) {
        wanted.file = intern_name(methods, info->file, false);
        if (wanted.file == 0)
            return 0;
    }
    return intern_method(methods, &wanted);
}

/* --- lines --- */

/* The new table's offset; 0 when there is no room. */
static uint32_t keep_lines(struct smp_methods *methods, uint32_t method,
                           const struct smp_line *lines, size_t count)
{
    struct line_table *table = NULL;

    if (count > MAX_LINES_KEPT)
        return 0;
    table = append(methods, methods->lines, sizeof(*table) + count * sizeof(*lines),
                   _Alignof(struct line_table));
    if (table == NULL)
        return 0;
    table->method = method;
    table->count = (uint32_t)count;
    if (count > 0)
        memcpy(table->lines, lines, count * sizeof(*lines));
    return (uint32_t)((char *)table - (char *)smp_arena_base(methods->lines));
}

/* The last line that starts at the highest index up to bci. Tables are in any order, and read once
 * for each place in the code that is ever seen. */
static int32_t line_of(const struct smp_line *lines, size_t count, int32_t bci)
{
    const struct smp_line *best = NULL;

    if (bci == BCI_NATIVE)
        return LINE_NATIVE;
    for (size_t i = 0; i < count; i++) {
        if (lines[i].start_bci <= bci && (best == NULL || lines[i].start_bci >= best->start_bci))
            best = &lines[i];
    }
    return best == NULL || best->line <= 0 ? LINE_UNKNOWN : best->line;
}

/* --- learning --- */

/* Room for two more pairs and a location: what is learnt of a known key can be stored. */
static bool reserve_place(struct smp_methods *methods)
{
    return smp_pair_map_reserve(&methods->known, methods->quota, 2, room_of(methods)) &&
           reserve_in(methods, &methods->by_location, 1) &&
           smp_room_reserve(methods->locations, sizeof(struct location), _Alignof(struct location),
                            room_of(methods));
}

/* Room for the names of one more method, so that they are not asked for in vain. */
static bool reserve_names(struct smp_methods *methods)
{
    return reserve_in(methods, &methods->by_method, 1) &&
           reserve_in(methods, &methods->by_text, 3) &&
           smp_room_reserve(methods->methods, sizeof(struct method), _Alignof(struct method),
                            room_of(methods)) &&
           smp_room_reserve(methods->texts, USUAL_NAME_BYTES, 1, room_of(methods));
}

static void remember(struct smp_methods *methods, uint64_t key, int32_t bci, uint32_t value)
{
    if (value != 0)
        smp_pair_map_put(&methods->known, key, bci, value);
}

static uint32_t locate_known(struct smp_methods *methods, uint32_t known, int32_t bci)
{
    const struct line_table *table = table_at(methods, known);
    const struct location wanted = {
        .method = table->method,
        .line = method_at(methods, table->method)->is_pseudo
                    ? LINE_UNKNOWN
                    : line_of(table->lines, table->count, bci),
    };

    return intern_location(methods, wanted);
}

static uint32_t locate_named(struct smp_methods *methods, const struct smp_method_info *info,
                             uint64_t key, int32_t bci)
{
    const size_t line_count = info->lines == NULL ? 0 : info->line_count;
    const struct location wanted = {
        .method = intern_info(methods, info),
        .line = info->is_native ? LINE_NATIVE : line_of(info->lines, line_count, bci),
    };
    const uint32_t location = wanted.method == 0 ? 0 : intern_location(methods, wanted);

    /* A native method has but one location: nobody will ask for its lines. */
    if (location != 0 && !info->is_native)
        remember(methods, key, OF_KEY, keep_lines(methods, wanted.method, info->lines, line_count));
    return location;
}

/* Asks the JVM. *is_final: the answer will not change. */
static uint32_t locate_new(struct smp_methods *methods, const struct smp_name_source *source,
                           uint64_t key, int32_t bci, bool *is_final)
{
    struct smp_method_info info = { 0 };
    uint32_t location = 0;
    const enum smp_status status = source->resolve(source->self, key, &info);

    *is_final = status != SMP_EPHASE;
    if (status == SMP_OK) {
        location = locate_named(methods, &info, key, bci);
        source->release(source->self, &info);
    } else if (status == SMP_EGONE) {
        methods->unloaded_count++;
        remember(methods, key, OF_KEY, methods->unloaded_table);
        location = locate_known(methods, methods->unloaded_table, bci);
    } else if (status != SMP_ENOMEM && status != SMP_EQUOTA) {
        methods->unresolved_count++;
        if (*is_final)
            remember(methods, key, OF_KEY, methods->unknown_table);
        location = locate_known(methods, methods->unknown_table, bci);
    }
    return location;
}

/* A pseudo-frame: its text is the source's own. */
static uint32_t locate_pseudo(struct smp_methods *methods, const struct smp_name_source *source,
                              uint64_t key)
{
    const char *text = source->pseudo_text == NULL ? NULL : source->pseudo_text(source->self, key);

    if (text != NULL)
        return intern_pseudo(methods, text);
    methods->unresolved_count++;
    return locate_known(methods, methods->unknown_table, BCI_NATIVE);
}

/* Out of line, so that the way of a known pair through smp_methods_locate stays short. */
__attribute__((noinline)) static uint32_t
learn(struct smp_methods *methods, const struct smp_name_source *source, uint64_t key, int32_t bci)
{
    const uint32_t table = smp_pair_map_find(&methods->known, key, OF_KEY);
    uint32_t location = 0;
    bool is_final = true;

    if (!reserve_place(methods))
        goto done;
    if (bci == BCI_PSEUDO)
        location = locate_pseudo(methods, source, key);
    else if (table != 0)
        location = locate_known(methods, table, bci);
    else if (reserve_names(methods))
        location = locate_new(methods, source, key, bci, &is_final);
    if (is_final)
        remember(methods, key, bci, location);
done:
    if (location == 0) {
        methods->over_limit_count++;
        location = methods->over_limit;
    }
    return location;
}

/* --- life --- */

static uint32_t make_table(struct smp_methods *methods, const char *pseudo)
{
    const uint32_t location = intern_pseudo(methods, pseudo);

    return location == 0 ? 0 : keep_lines(methods, location_at(methods, location)->method, NULL, 0);
}

/* Element 0 of each array, and what must be there when memory is not. */
static enum smp_status make_first(struct smp_methods *methods)
{
    if (append(methods, methods->texts, 1, 1) == NULL ||
        append(methods, methods->methods, sizeof(struct method), 1) == NULL ||
        append(methods, methods->locations, sizeof(struct location), 1) == NULL ||
        append(methods, methods->lines, sizeof(struct line_table), 1) == NULL)
        return SMP_EQUOTA;
    methods->method_count = 1;
    methods->location_count = 1;
    methods->over_limit = intern_pseudo(methods, OVER_LIMIT_TEXT);
    methods->unloaded_table = make_table(methods, UNLOADED_TEXT);
    methods->unknown_table = make_table(methods, UNKNOWN_TEXT);
    if (methods->over_limit == 0 || methods->unloaded_table == 0 || methods->unknown_table == 0 ||
        !smp_pair_map_reserve(&methods->known, methods->quota, FIRST_KEYS, room_of(methods)))
        return SMP_EQUOTA;
    return SMP_OK;
}

static enum smp_status make_arenas(struct smp_methods *methods)
{
    /* Offsets have 32 bits. */
    const size_t most = methods->max_bytes < UINT32_MAX ? methods->max_bytes : UINT32_MAX;
    enum smp_status status = smp_arena_create(methods->quota, most, &methods->texts);

    if (status == SMP_OK)
        status = smp_arena_create(methods->quota, most, &methods->methods);
    if (status == SMP_OK)
        status = smp_arena_create(methods->quota, most, &methods->locations);
    if (status == SMP_OK)
        status = smp_arena_create(methods->quota, most / SMP_LINES_SHARE, &methods->lines);
    return status;
}

static void destroy(struct smp_methods *methods)
{
    if (methods == NULL)
        return;
    smp_pair_map_fini(&methods->known, methods->quota);
    smp_id_index_fini(&methods->by_location, methods->quota);
    smp_id_index_fini(&methods->by_method, methods->quota);
    smp_id_index_fini(&methods->by_text, methods->quota);
    smp_arena_destroy(methods->lines);
    smp_arena_destroy(methods->locations);
    smp_arena_destroy(methods->methods);
    smp_arena_destroy(methods->texts);
    smp_free(methods->quota, methods);
}

enum smp_status smp_methods_create(struct smp_quota *quota, size_t max_bytes,
                                   const struct smp_filter *filter, struct smp_methods **out)
{
    enum smp_status status = SMP_EQUOTA;
    struct smp_methods *methods = NULL;

    if (max_bytes < SMP_METHODS_MIN_BYTES)
        goto done;
    status = SMP_ENOMEM;
    methods = smp_alloc(quota, sizeof(*methods));
    if (methods == NULL)
        goto done;
    methods->quota = quota;
    methods->max_bytes = max_bytes;
    methods->filter = filter;
    atomic_init(&methods->holders, 1);
    status = make_arenas(methods);
    if (status != SMP_OK)
        goto done;
    status = make_first(methods);
    if (status != SMP_OK)
        goto done;
    *out = methods;
    methods = NULL;
done:
    destroy(methods);
    return status;
}

struct smp_methods *smp_methods_hold(struct smp_methods *methods)
{
    atomic_fetch_add_explicit(&methods->holders, 1, memory_order_relaxed);
    return methods;
}

void smp_methods_release(struct smp_methods *methods)
{
    if (methods == NULL)
        return;
    /* What the other holders did with it happens before the last one frees it. */
    if (atomic_fetch_sub_explicit(&methods->holders, 1, memory_order_acq_rel) == 1)
        destroy(methods);
}

/* --- the writer's questions --- */

void smp_methods_set_filter(struct smp_methods *methods, const struct smp_filter *filter)
{
    methods->filter = filter;
    for (uint32_t id = 1; id < methods->method_count; id++) {
        struct method *method = method_at(methods, id);

        method->is_monitored = is_monitored(methods, method);
    }
}

static int32_t bci_of(const struct smp_frame *frame)
{
    if (frame->bci == SMP_BCI_PSEUDO)
        return BCI_PSEUDO;
    if (frame->bci < 0)
        return BCI_NATIVE;
    return frame->bci < INT32_MAX ? (int32_t)frame->bci : INT32_MAX;
}

uint32_t smp_methods_locate(struct smp_methods *methods, const struct smp_name_source *source,
                            const struct smp_frame *frame)
{
    const int32_t bci = bci_of(frame);
    const uint32_t location = smp_pair_map_find(&methods->known, frame->method, bci);

    return location != 0 ? location : learn(methods, source, frame->method, bci);
}

uint32_t smp_methods_pseudo(struct smp_methods *methods, const char *text)
{
    const uint32_t location = intern_pseudo(methods, text);

    if (location != 0)
        return location;
    methods->over_limit_count++;
    return methods->over_limit;
}

uint32_t smp_methods_over_limit(const struct smp_methods *methods)
{
    return methods->over_limit;
}

bool smp_methods_monitored(const struct smp_methods *methods, uint32_t location)
{
    return method_at(methods, location_at(methods, location)->method)->is_monitored;
}

void smp_methods_get_stats(const struct smp_methods *methods, struct smp_methods_stats *out)
{
    *out = (struct smp_methods_stats){
        .unloaded = methods->unloaded_count,
        .unresolved = methods->unresolved_count,
        .over_limit = methods->over_limit_count,
        .locations = methods->location_count - 1,
        .methods = methods->method_count - 1,
        .bytes = bytes_of(methods),
    };
}

uint32_t smp_methods_location_count(const struct smp_methods *methods)
{
    return methods->location_count;
}

/* --- compacting --- */

static uint32_t copy_method(struct smp_methods *methods, const struct smp_methods *old,
                            const struct method *method)
{
    struct method wanted = *method;

    wanted.class_name = intern_text(methods, text_at(old, method->class_name));
    if (wanted.class_name == 0)
        return 0;
    if (method->method_name != 0) {
        wanted.method_name = intern_text(methods, text_at(old, method->method_name));
        if (wanted.method_name == 0)
            return 0;
    }
    if (method->file != 0) {
        wanted.file = intern_text(methods, text_at(old, method->file));
        if (wanted.file == 0)
            return 0;
    }
    return intern_method(methods, &wanted);
}

static bool copy_location(struct smp_methods *methods, const struct smp_methods *old,
                          const struct location *location)
{
    const uint32_t method = copy_method(methods, old, method_at(old, location->method));

    return method != 0 &&
           intern_location(methods, (struct location){ method, location->line }) != 0;
}

enum smp_status smp_methods_compact(const struct smp_methods *old, const bool *used, size_t count,
                                    const struct smp_filter *filter, struct smp_methods **out)
{
    struct smp_methods *methods = NULL;
    enum smp_status status = smp_methods_create(old->quota, old->max_bytes, filter, &methods);

    if (status != SMP_OK)
        goto done;
    methods->unloaded_count = old->unloaded_count;
    methods->unresolved_count = old->unresolved_count;
    methods->over_limit_count = old->over_limit_count;
    for (uint32_t id = 1; id < old->location_count; id++) {
        const struct location *location = location_at(old, id);
        const bool is_kept =
            (id < count && used[id]) || method_at(old, location->method)->is_pseudo;

        if (is_kept && !copy_location(methods, old, location)) {
            status = SMP_EQUOTA;
            goto done;
        }
    }
    *out = methods;
    methods = NULL;
done:
    destroy(methods);
    return status;
}

/* --- a reader's questions --- */

void smp_methods_view(const struct smp_methods *methods, uint32_t location,
                      struct smp_location_view *out)
{
    const struct location *at = location_at(methods, location);
    const struct method *method = method_at(methods, at->method);

    *out = (struct smp_location_view){
        .class_name = text_at(methods, method->class_name),
        .method_name = method->method_name == 0 ? NULL : text_at(methods, method->method_name),
        .file = method->file == 0 ? NULL : text_at(methods, method->file),
        .line = at->line > 0 ? at->line : LINE_UNKNOWN,
        .is_native = at->line == LINE_NATIVE,
        .is_pseudo = method->is_pseudo,
    };
}

void smp_methods_frame_text(const struct smp_methods *methods, uint32_t location,
                            struct smp_bytes *out)
{
    struct smp_location_view view;

    smp_methods_view(methods, location, &view);
    smp_escape_put(out, view.class_name);
    if (view.is_pseudo)
        return;
    smp_bytes_puts(out, ".");
    smp_escape_put(out, view.method_name);
    smp_bytes_puts(out, "(");
    if (view.is_native)
        smp_bytes_puts(out, "Native Method");
    else if (view.file == NULL)
        smp_bytes_puts(out, "Unknown Source");
    else
        smp_escape_put(out, view.file);
    if (!view.is_native && view.file != NULL && view.line > 0) {
        smp_bytes_puts(out, ":");
        smp_bytes_put_i64(out, view.line);
    }
    smp_bytes_puts(out, ")");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   known {key, bci} ──────────────► location {method, line} ─┐
 *   known {key, OF_KEY} ──► line table {method, lines} ───────┴─► method {class, name, file, ...}
 *
 * Readers see locations, and the names they refer to (names.h). Everything else is the writer's.
 */
#include "model/methods.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/hash_map.h"
#include "base/memory_budget.h"
#include "base/utf8.h"
#include "model/class_name.h"
#include "model/escape.h"
#include "model/names.h"

enum {
    FIRST_KEYS = 1000,  /* the initial room of the table of known pairs */
    OF_KEY = INT32_MIN, /* in place of a byte code index: the entry of the key itself */
    BCI_PSEUDO = INT32_MIN + 1,
    BCI_NATIVE = -1
};

static _Atomic uint64_t newest_family;

struct smp_methods {
    struct smp_memory_budget budget;
    _Atomic unsigned holders;
    uint64_t family;
    const struct smp_filter *filter;
    const struct smp_wait_rules *rules;
    struct smp_hash_map known;
    struct smp_names names;
    uint32_t over_limit;     /* location */
    uint32_t folded;         /* location */
    uint32_t unloaded_table; /* line table of a pseudo-method */
    uint32_t unknown_table;  /* likewise */
    uint64_t unloaded_count;
    uint64_t unresolved_count;
    uint64_t over_limit_count;
    char scratch[SMP_MAX_NAME_BYTES + 1];
};

/* --- parameters --- */

struct parameters {
    char *out;
    size_t size;
    size_t length; /* more than size if it did not fit */
};

static void put_type_text(struct parameters *parameters, const char *text, size_t length)
{
    if (parameters->length + length <= parameters->size)
        memcpy(parameters->out + parameters->length, text, length);
    parameters->length += length;
}

static void put_word(struct parameters *parameters, const char *text)
{
    put_type_text(parameters, text, strlen(text));
}

static const char *primitive_name(char code)
{
    static const struct {
        char code;
        const char *name;
    } names[] = { { 'B', "byte" }, { 'C', "char" }, { 'D', "double" }, { 'F', "float" },
                  { 'I', "int" },  { 'J', "long" }, { 'S', "short" },  { 'Z', "boolean" } };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code)
            return names[i].name;
    }
    return NULL;
}

/* Writes the type at *at and moves *at behind it. Returns false if there is no type. */
static bool put_type(struct parameters *parameters, const char **at)
{
    const size_t dimensions = strspn(*at, "[");
    const char *const type = *at + dimensions;

    if (*type == 'L') {
        const char *const end = strchr(type, ';');
        const char *const slash = end == NULL ? NULL : memrchr(type, '/', (size_t)(end - type));
        const char *const name = slash == NULL ? type + 1 : slash + 1;
        if (end == NULL)
            return false;
        put_type_text(parameters, name, (size_t)(end - name));
        *at = end + 1;
    } else {
        const char *const name = primitive_name(*type);
        if (name == NULL)
            return false;
        put_word(parameters, name);
        *at = type + 1;
    }
    for (size_t i = 0; i < dimensions; i++)
        put_word(parameters, "[]");
    return true;
}

bool smp_method_parameters(char *out, size_t size, const char *descriptor)
{
    struct parameters parameters = { .out = out, .size = size };
    const char *at = descriptor + 1;

    if (descriptor[0] != '(')
        return false;
    put_word(&parameters, "(");
    while (*at != ')') {
        if (at > descriptor + 1)
            put_word(&parameters, ", ");
        if (!put_type(&parameters, &at))
            return false;
    }
    put_type_text(&parameters, ")", sizeof(")")); /* including the NUL */
    return parameters.length <= size;
}

/* --- names of the JVM --- */

/* is_application must be set. */
static bool monitors(const struct smp_methods *methods, const struct smp_named_method *method)
{
    if (smp_named_method_is_pseudo(method) || methods->filter == NULL)
        return true;
    return smp_filter_is_guessed(methods->filter)
               ? method->is_application
               : smp_filter_monitors(methods->filter,
                                     smp_names_text_at(&methods->names, method->class_name));
}

/* Depends on the filter and the rules. */
static void judge_class(const struct smp_methods *methods, struct smp_named_method *method)
{
    method->is_application =
        !smp_named_method_is_pseudo(method) && !method->is_own &&
        smp_wait_rules_is_application(methods->rules, methods->filter,
                                      smp_names_text_at(&methods->names, method->class_name));
    method->is_monitored = monitors(methods, method);
}

/* Depends only on the rules, and costs a comparison with each rule. */
static void judge_wait(const struct smp_methods *methods, struct smp_named_method *method)
{
    if (!smp_named_method_is_pseudo(method))
        method->wait_kind = (uint8_t)smp_wait_rules_kind_of(
            methods->rules, smp_names_text_at(&methods->names, method->class_name),
            smp_names_text_at(&methods->names, method->method_name));
}

uint32_t smp_methods_try_pseudo(struct smp_methods *methods, const char *text)
{
    const struct smp_named_method wanted = { .class_name = smp_names_text(&methods->names, text),
                                             .is_monitored = true };
    const struct smp_named_location location = {
        .method = wanted.class_name == 0 ? 0 : smp_names_method(&methods->names, &wanted),
        .line = SMP_LINE_UNKNOWN,
    };

    return location.method == 0 ? 0 : smp_names_location(&methods->names, location);
}

/* A line number of a class file has 16 bits. */
static uint16_t start_line_of(const struct smp_method_info *info)
{
    int32_t first = UINT16_MAX + 1;

    for (size_t i = 0; info->lines != NULL && i < info->line_count; i++) {
        if (info->lines[i].line > 0 && info->lines[i].line < first)
            first = info->lines[i].line;
    }
    return first <= UINT16_MAX ? (uint16_t)first : 0;
}

/* Returns the method with these names. Overloads, and classes of the same name, share since_ms,
 * which is the latest of their times. */
static uint32_t name_method(struct smp_methods *methods, const struct smp_named_method *wanted)
{
    const uint32_t id = smp_names_method(&methods->names, wanted);
    struct smp_named_method *const method = smp_names_method_at(&methods->names, id);

    if (id != 0 && wanted->since_ms > method->since_ms)
        method->since_ms = wanted->since_ms;
    return id;
}

/* Cuts a name that is longer than SMP_MAX_NAME_BYTES. */
static uint32_t add_text(struct smp_methods *methods, const char *text, bool is_class)
{
    (void)smp_utf8_from_modified(methods->scratch, sizeof(methods->scratch), text, strlen(text));
    if (is_class)
        smp_class_name_simplify(methods->scratch);
    return smp_names_text(&methods->names, methods->scratch);
}

/* Returns false without memory. Parameters stay unknown if the text is not a descriptor. */
static bool add_parameters(struct smp_methods *methods, const struct smp_method_info *info,
                           struct smp_named_method *wanted)
{
    char *const text = methods->scratch;

    if (info->descriptor == NULL ||
        !smp_method_parameters(text, sizeof(methods->scratch), info->descriptor))
        return true;
    wanted->parameters = smp_names_text(&methods->names, text);
    return wanted->parameters != 0;
}

static uint32_t add_method(struct smp_methods *methods, const struct smp_method_info *info)
{
    struct smp_named_method wanted = { .class_name = add_text(methods, info->class_name, true) };

    if (wanted.class_name == 0)
        return 0;
    wanted.method_name = add_text(methods, info->method_name, false);
    if (wanted.method_name == 0)
        return 0;
    if (info->file != NULL) {
        wanted.file = add_text(methods, info->file, false);
        if (wanted.file == 0)
            return 0;
    }
    if (!add_parameters(methods, info, &wanted))
        return 0;
    wanted.start_line = start_line_of(info);
    wanted.since_ms = info->since_ms;
    wanted.is_own = smp_class_name_is_own(smp_names_text_at(&methods->names, wanted.class_name));
    judge_class(methods, &wanted);
    judge_wait(methods, &wanted);
    return name_method(methods, &wanted);
}

/* --- learning: each function returns location 0 without memory --- */

static void remember(struct smp_methods *methods, uint64_t key, int32_t bci, uint32_t value)
{
    if (value != 0)
        smp_hash_pairs_put(&methods->known, key, bci, value);
}

static uint32_t locate_known(struct smp_methods *methods, uint32_t known, int32_t bci)
{
    const struct smp_line_table *table = smp_names_line_table_at(&methods->names, known);
    const struct smp_named_method *method = smp_names_method_at(&methods->names, table->method);
    const struct smp_named_location wanted = {
        .method = table->method,
        .line = smp_named_method_is_pseudo(method) ? SMP_LINE_UNKNOWN
                                                   : smp_line_find(table->lines, table->count, bci),
    };

    return smp_names_location(&methods->names, wanted);
}

static uint32_t locate_named(struct smp_methods *methods, const struct smp_method_info *info,
                             uint64_t key, int32_t bci)
{
    const size_t count = info->lines == NULL ? 0 : info->line_count;
    const struct smp_named_location wanted = {
        .method = add_method(methods, info),
        .line = info->is_native ? SMP_LINE_NATIVE : smp_line_find(info->lines, count, bci),
    };
    const uint32_t location = wanted.method == 0 ? 0 : smp_names_location(&methods->names, wanted);

    /* A native method has only one location, so its lines are never needed. */
    if (location != 0 && !info->is_native)
        remember(methods, key, OF_KEY,
                 smp_names_line_table(&methods->names, wanted.method, info->lines, count));
    return location;
}

/* Resolves the key. *is_final: the result will not change. */
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

/* The source has the text of a pseudo-frame. */
static uint32_t locate_pseudo(struct smp_methods *methods, const struct smp_name_source *source,
                              uint64_t key)
{
    const char *text = source->pseudo_text == NULL ? NULL : source->pseudo_text(source->self, key);

    if (text != NULL)
        return smp_methods_try_pseudo(methods, text);
    methods->unresolved_count++;
    return locate_known(methods, methods->unknown_table, BCI_NATIVE);
}

/* Out of line, so that smp_methods_locate stays short for known pairs. Memory is reserved before
 * the JVM is called, because every look-up in a full table comes here. */
__attribute__((noinline)) static uint32_t
learn(struct smp_methods *methods, const struct smp_name_source *source, uint64_t key, int32_t bci)
{
    const uint32_t table = smp_hash_pairs_find(&methods->known, key, OF_KEY);
    const bool has_room =
        smp_hash_map_reserve(&methods->known, &smp_hash_pairs, &methods->budget, 2) &&
        smp_names_reserve_location(&methods->names);
    uint32_t location = 0;
    bool is_final = true;

    if (has_room && bci == BCI_PSEUDO)
        location = locate_pseudo(methods, source, key);
    else if (has_room && table != 0)
        location = locate_known(methods, table, bci);
    else if (has_room && smp_names_reserve_method(&methods->names))
        location = locate_new(methods, source, key, bci, &is_final);
    if (location == 0) {
        methods->over_limit_count++;
        return methods->over_limit;
    }
    if (is_final)
        remember(methods, key, bci, location);
    return location;
}

/* --- life --- */

static uint32_t add_pseudo_table(struct smp_methods *methods, const char *text)
{
    const uint32_t location = smp_methods_try_pseudo(methods, text);

    return location == 0
               ? 0
               : smp_names_line_table(&methods->names,
                                      smp_names_location_at(&methods->names, location)->method,
                                      NULL, 0);
}

/* These come first because they are needed when there is no memory. */
static bool add_first(struct smp_methods *methods)
{
    methods->over_limit = smp_methods_try_pseudo(methods, "[over memory limit]");
    methods->folded = smp_methods_try_pseudo(methods, SMP_FOLDED_NAME);
    methods->unloaded_table = add_pseudo_table(methods, "[unloaded]");
    methods->unknown_table = add_pseudo_table(methods, "[unknown method]");
    return methods->over_limit != 0 && methods->folded != 0 && methods->unloaded_table != 0 &&
           methods->unknown_table != 0 &&
           smp_hash_map_reserve(&methods->known, &smp_hash_pairs, &methods->budget, FIRST_KEYS);
}

static void destroy(struct smp_methods *methods)
{
    smp_names_fini(&methods->names);
    smp_hash_map_fini(&methods->known, &smp_hash_pairs, &methods->budget);
    smp_free(methods->budget.quota, methods);
}

enum smp_status smp_methods_create(struct smp_quota *quota, size_t max_bytes,
                                   const struct smp_filter *filter, struct smp_methods **out)
{
    enum smp_status status;
    struct smp_methods *methods = NULL;

    if (max_bytes < SMP_METHODS_MIN_BYTES)
        return SMP_EQUOTA;
    methods = smp_alloc(quota, sizeof(*methods));
    if (methods == NULL)
        return SMP_ENOMEM;
    methods->budget = (struct smp_memory_budget){ .quota = quota,
                                                  .max_bytes = max_bytes,
                                                  .used_bytes = sizeof(*methods) };
    methods->filter = filter;
    methods->family = atomic_fetch_add_explicit(&newest_family, 1, memory_order_relaxed) + 1;
    atomic_init(&methods->holders, 1);
    status = smp_names_init(&methods->names, &methods->budget, max_bytes / SMP_LINES_SHARE);
    if (status == SMP_OK && !add_first(methods))
        status = SMP_EQUOTA;
    if (status == SMP_OK)
        *out = methods;
    else
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
    /* Acquire: the other holders' accesses happen before the last one frees it. */
    if (atomic_fetch_sub_explicit(&methods->holders, 1, memory_order_acq_rel) == 1)
        destroy(methods);
}

/* --- for the writer --- */

static void judge_all(const struct smp_methods *methods,
                      void (*judge)(const struct smp_methods *methods,
                                    struct smp_named_method *method))
{
    for (uint32_t id = 1; id < smp_name_table_count(&methods->names.methods); id++)
        judge(methods, smp_names_method_at(&methods->names, id));
}

void smp_methods_set_filter(struct smp_methods *methods, const struct smp_filter *filter)
{
    methods->filter = filter;
    judge_all(methods, judge_class);
}

void smp_methods_set_wait_rules(struct smp_methods *methods, const struct smp_wait_rules *rules)
{
    methods->rules = rules;
    judge_all(methods, judge_class);
    judge_all(methods, judge_wait);
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
    const uint32_t location = smp_hash_pairs_find(&methods->known, frame->method, bci);

    return location != 0 ? location : learn(methods, source, frame->method, bci);
}

uint32_t smp_methods_pseudo(struct smp_methods *methods, const char *text)
{
    const uint32_t location = smp_methods_try_pseudo(methods, text);

    if (location != 0)
        return location;
    methods->over_limit_count++;
    return methods->over_limit;
}

uint32_t smp_methods_over_limit(const struct smp_methods *methods)
{
    return methods->over_limit;
}

uint32_t smp_methods_folded(const struct smp_methods *methods)
{
    return methods->folded;
}

static const struct smp_named_method *method_of(const struct smp_methods *methods,
                                                uint32_t location)
{
    return smp_names_method_at(&methods->names,
                               smp_names_location_at(&methods->names, location)->method);
}

bool smp_methods_monitored(const struct smp_methods *methods, uint32_t location)
{
    return method_of(methods, location)->is_monitored;
}

void smp_methods_packages(const struct smp_methods *methods, char *out, size_t size)
{
    if (methods->filter == NULL)
        (void)snprintf(out, size, "%s", "");
    else
        smp_filter_describe(methods->filter, out, size);
}

bool smp_methods_own(const struct smp_methods *methods, uint32_t location)
{
    return method_of(methods, location)->is_own;
}

enum smp_wait_kind smp_methods_wait_kind(const struct smp_methods *methods, uint32_t location)
{
    return (enum smp_wait_kind)method_of(methods, location)->wait_kind;
}

bool smp_methods_is_application(const struct smp_methods *methods, uint32_t location)
{
    return method_of(methods, location)->is_application;
}

uint64_t smp_methods_family(const struct smp_methods *methods)
{
    return methods->family;
}

void smp_methods_get_stats(const struct smp_methods *methods, struct smp_methods_stats *out)
{
    *out = (struct smp_methods_stats){
        .unloaded = methods->unloaded_count,
        .unresolved = methods->unresolved_count,
        .over_limit = methods->over_limit_count,
        .locations = smp_name_table_count(&methods->names.locations) - 1,
        .methods = smp_name_table_count(&methods->names.methods) - 1,
        .bytes = methods->budget.used_bytes,
    };
}

uint32_t smp_methods_location_count(const struct smp_methods *methods)
{
    return smp_name_table_count(&methods->names.locations);
}

/* --- compacting --- */

/* Text 0 means none in both tables. */
static bool copy_text(struct smp_names *names, const struct smp_names *old, uint32_t text,
                      uint32_t *copy)
{
    *copy = text == 0 ? 0 : smp_names_text(names, smp_names_text_at(old, text));
    return text == 0 || *copy != 0;
}

/* Copies a method with the given texts. Returns SMP_LOCATION_NONE without memory. Without a filter
 * the new table keeps whether the method is monitored. */
static uint32_t copy_location(struct smp_methods *methods, const struct smp_names *old,
                              const struct smp_named_location *location,
                              const struct smp_named_method *texts)
{
    const struct smp_named_method *method = smp_names_method_at(old, location->method);
    struct smp_named_method wanted = { .method_name = texts->method_name,
                                       .start_line = method->start_line };
    struct smp_named_location copy = { .line = location->line };

    if (!copy_text(&methods->names, old, method->class_name, &wanted.class_name) ||
        !copy_text(&methods->names, old, texts->file, &wanted.file) ||
        !copy_text(&methods->names, old, texts->parameters, &wanted.parameters) ||
        (wanted.method_name == 0 &&
         !copy_text(&methods->names, old, method->method_name, &wanted.method_name)))
        return SMP_LOCATION_NONE;
    wanted.is_own = method->is_own;
    wanted.is_application = method->is_application;
    wanted.is_monitored =
        methods->filter == NULL ? method->is_monitored : monitors(methods, &wanted);
    wanted.wait_kind = method->wait_kind;
    wanted.since_ms = method->since_ms;
    copy.method = name_method(methods, &wanted);
    return copy.method == 0 ? SMP_LOCATION_NONE : smp_names_location(&methods->names, copy);
}

uint32_t smp_methods_adopt(struct smp_methods *methods, const struct smp_methods *from,
                           uint32_t location)
{
    const struct smp_named_location *const at = smp_names_location_at(&from->names, location);
    const struct smp_named_method *const method = smp_names_method_at(&from->names, at->method);

    return copy_location(
        methods, &from->names, at,
        &(struct smp_named_method){ .file = method->file, .parameters = method->parameters });
}

/* The text of a native method does not show its file; a text without a file does not show the
 * line. */
uint32_t smp_methods_adopt_text(struct smp_methods *methods, const struct smp_methods *from,
                                uint32_t location, bool with_place, const char *method_name)
{
    struct smp_named_location shown = *smp_names_location_at(&from->names, location);
    const uint32_t file = smp_names_method_at(&from->names, shown.method)->file;
    struct smp_named_method texts = { .file = 0 };

    if (with_place && shown.line != SMP_LINE_NATIVE)
        texts.file = file;
    if (!with_place || (shown.line != SMP_LINE_NATIVE && file == 0))
        shown.line = SMP_LINE_UNKNOWN;
    if (method_name != NULL) {
        texts.method_name = smp_names_text(&methods->names, method_name);
        if (texts.method_name == 0)
            return SMP_LOCATION_NONE;
    }
    return copy_location(methods, &from->names, &shown, &texts);
}

static bool is_kept(const struct smp_names *names, uint32_t location, const bool *used,
                    size_t count)
{
    const uint32_t method = smp_names_location_at(names, location)->method;

    return (location < count && used[location]) ||
           smp_named_method_is_pseudo(smp_names_method_at(names, method));
}

enum smp_status smp_methods_compact(const struct smp_methods *old, const bool *used, size_t count,
                                    const struct smp_filter *filter, struct smp_methods **out)
{
    struct smp_methods *methods = NULL;
    enum smp_status status =
        smp_methods_create(old->budget.quota, old->budget.max_bytes, filter, &methods);

    if (status != SMP_OK)
        return status;
    methods->family = old->family;
    methods->rules = old->rules;
    methods->unloaded_count = old->unloaded_count;
    methods->unresolved_count = old->unresolved_count;
    methods->over_limit_count = old->over_limit_count;
    for (uint32_t id = 1; id < smp_name_table_count(&old->names.locations); id++) {
        if (is_kept(&old->names, id, used, count) &&
            smp_methods_adopt(methods, old, id) == SMP_LOCATION_NONE) {
            destroy(methods);
            return SMP_EQUOTA;
        }
    }
    *out = methods;
    return SMP_OK;
}

void smp_methods_take_over(struct smp_methods *methods, const struct smp_methods *old,
                           const struct smp_frame *frame)
{
    const int32_t bci = bci_of(frame);
    const uint32_t known = smp_hash_pairs_find(&old->known, frame->method, bci);
    uint32_t location = SMP_LOCATION_NONE;

    if (known == 0 || smp_hash_pairs_find(&methods->known, frame->method, bci) != 0 ||
        !smp_hash_map_reserve(&methods->known, &smp_hash_pairs, &methods->budget, 1))
        return;
    location = smp_methods_adopt(methods, old, known);
    remember(methods, frame->method, bci, location);
}

/* --- for readers --- */

void smp_methods_view(const struct smp_methods *methods, uint32_t location,
                      struct smp_location_view *out)
{
    const struct smp_names *names = &methods->names;
    const struct smp_named_location *at = smp_names_location_at(names, location);
    const struct smp_named_method *method = smp_names_method_at(names, at->method);
    const bool is_pseudo = smp_named_method_is_pseudo(method);

    *out = (struct smp_location_view){
        .class_name = smp_names_text_at(names, method->class_name),
        .method_name = is_pseudo ? NULL : smp_names_text_at(names, method->method_name),
        .file = method->file == 0 ? NULL : smp_names_text_at(names, method->file),
        .line = at->line > 0 ? at->line : SMP_LINE_UNKNOWN,
        .is_native = at->line == SMP_LINE_NATIVE,
        .is_pseudo = is_pseudo,
        .is_monitored = !is_pseudo && method->is_monitored,
        .is_application = method->is_application,
        .start_line = method->start_line,
        .method = method->plain,
        .plain = method->plain,
        .overload = at->method,
        .parameters = method->parameters == 0 ? NULL : smp_names_text_at(names, method->parameters),
        .since_ms = method->since_ms,
    };
}

size_t smp_location_package_length(const struct smp_location_view *view)
{
    const char *const dot = view->is_pseudo ? NULL : strrchr(view->class_name, '.');

    return dot == NULL ? 0 : (size_t)(dot - view->class_name);
}

void smp_location_method_text(const struct smp_location_view *view, struct smp_bytes *out)
{
    smp_escape_put(out, view->class_name);
    if (view->is_pseudo)
        return;
    smp_bytes_puts(out, ".");
    smp_escape_put(out, view->method_name);
}

void smp_methods_method_text(const struct smp_methods *methods, uint32_t location,
                             struct smp_bytes *out)
{
    struct smp_location_view view;

    smp_methods_view(methods, location, &view);
    smp_location_method_text(&view, out);
}

void smp_location_frame_text(const struct smp_location_view *view, struct smp_bytes *out)
{
    smp_location_method_text(view, out);
    if (view->is_pseudo)
        return;
    smp_bytes_puts(out, "(");
    if (view->is_native)
        smp_bytes_puts(out, "Native Method");
    else if (view->file == NULL)
        smp_bytes_puts(out, "Unknown Source");
    else
        smp_escape_put(out, view->file);
    if (!view->is_native && view->file != NULL && view->line > 0) {
        smp_bytes_puts(out, ":");
        smp_bytes_put_i64(out, view->line);
    }
    smp_bytes_puts(out, ")");
}

void smp_methods_frame_text(const struct smp_methods *methods, uint32_t location,
                            struct smp_bytes *out)
{
    struct smp_location_view view;

    smp_methods_view(methods, location, &view);
    smp_location_frame_text(&view, out);
}

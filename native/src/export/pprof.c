/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c - profile.proto of pprof, written field by field as it is streamed.
 *
 * A message stands behind its length, so each one's is added up before it is written. The members
 * of Profile may stand in any order; what others refer to by number is numbered before:
 *
 *   location id   a frame's number + 1
 *   function id   a method's place in the order in which frames name it, + 1
 *   strings       the fixed ones below; the names of the sampled groups, then of the counted
 *                 ones; a name per function; a system name per function; the files
 *
 * A pseudo-frame's system name would be its name: it has the latter's string and leaves the other
 * one empty.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash_map.h"
#include "export/export_writers.h"
#include "export/used_frames.h"
#include "model/escape.h"

#define NS_PER_MS INT64_C(1000000)

/* Field numbers of profile.proto. */
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2 };
enum { MAPPING_ID = 1, MAPPING_FILENAME = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { MAPPING_HAS_FILENAMES = 8, MAPPING_HAS_LINE_NUMBERS = 9 };
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum {
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5
};
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14
};

/* The low bits of a tag: what follows it. */
enum { WIRE_VARINT = 0, WIRE_LENGTH = 2, WIRE_BITS = 3 };

/* A varint has 7 bits in a byte, the eighth says that there are more. Every tag here is one byte.
 */
enum { VARINT_BITS = 7, VARINT_MORE = 0x80, VARINT_MAX_BYTES = 10, TAG_BYTES = 1 };

enum { THE_MAPPING = 1, MAX_STRING_BYTES = 1 << 30 };

/* "", all measures and units, "jvm", "thread". */
enum { STRING_EMPTY, MAX_FIXED_STRINGS = SMP_MEASURE_COUNT + SMP_UNIT_COUNT + 3 };

/* A source file, in its package's folder. */
struct file {
    uint32_t location; /* one in this file */
    uint32_t other;    /* the place + 1 of one of the same name in another package; 0: none */
};

struct function {
    uint32_t location; /* one of the method's */
    uint32_t file;     /* place + 1; 0: unknown */
    uint32_t start_line;
};

/* Strings that are not the profile's, and the numbers of some of them. */
struct fixed_strings {
    const char *texts[MAX_FIXED_STRINGS];
    uint32_t count;
    uint32_t measures[SMP_MEASURE_COUNT];
    uint32_t units[SMP_UNIT_COUNT]; /* 0: no measure that is held has it */
    uint32_t jvm;
    uint32_t thread;
};

struct functions {
    uint32_t *ids;        /* by method id; 0: none */
    struct function *all; /* by function id - 1 */
    uint32_t count;
};

struct files {
    struct file *all;
    uint32_t count;
    struct smp_memory_budget budget;
    struct smp_hash_map places; /* + 1; by the address of a name */
};

struct writer {
    const struct smp_export_job *job;
    struct smp_writer *out;
    struct smp_used_frames frames;
    struct smp_tree_walk walk;
    struct fixed_strings strings;
    enum smp_measure shown[SMP_MEASURE_COUNT]; /* a sample type each, in this order */
    size_t shown_count;
    struct functions functions;
    struct files files;
    struct smp_bytes text; /* one string: readers print them, so each is escaped to one line */
};

/* --- bytes --- */

static size_t varint_bytes(uint64_t value)
{
    return (size_t)(63 - __builtin_clzll(value | 1)) / VARINT_BITS + 1;
}

static void put_varint(struct smp_writer *out, uint64_t value)
{
    char bytes[VARINT_MAX_BYTES];
    size_t count = 0;

    while (value >= VARINT_MORE) {
        bytes[count++] = (char)(unsigned char)(value | VARINT_MORE);
        value >>= VARINT_BITS;
    }
    bytes[count++] = (char)value;
    smp_writer_put(out, bytes, count);
}

static size_t number_bytes(uint64_t value)
{
    return value == 0 ? 0 : TAG_BYTES + varint_bytes(value);
}

/* Readers take a number that is missing for 0. */
static void put_number(struct smp_writer *out, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    put_varint(out, field << WIRE_BITS | WIRE_VARINT);
    put_varint(out, value);
}

/* The head of a message, a string or packed numbers of so many bytes. */
static void put_length(struct smp_writer *out, unsigned field, size_t length)
{
    put_varint(out, field << WIRE_BITS | WIRE_LENGTH);
    put_varint(out, length);
}

static void put_value_type(struct writer *writer, unsigned field, enum smp_measure measure)
{
    const uint64_t type = writer->strings.measures[measure];
    const uint64_t unit = writer->strings.units[smp_measure_info(measure)->unit];
    struct smp_writer *const out = writer->out;

    put_length(out, field, number_bytes(type) + number_bytes(unit));
    put_number(out, VALUE_TYPE_TYPE, type);
    put_number(out, VALUE_TYPE_UNIT, unit);
}

/* --- numbering --- */

static void view_of(const struct writer *writer, uint32_t location, struct smp_location_view *out)
{
    smp_methods_view(writer->job->profile->methods, location, out);
}

static uint32_t add_fixed(struct fixed_strings *strings, const char *text)
{
    strings->texts[strings->count] = text;
    return strings->count++;
}

/* Backwards through the list: readers that know no default show the last sample type, which is the
 * first measure. Number 0 must be the empty string. */
static void number_fixed_strings(struct writer *writer)
{
    struct fixed_strings *const strings = &writer->strings;

    (void)add_fixed(strings, "");
    for (int i = SMP_MEASURE_COUNT - 1; i >= 0; i--) {
        const struct smp_measure_info *const info = smp_measure_info((enum smp_measure)i);
        if (!smp_export_holds(writer->job, (enum smp_measure)i))
            continue;
        strings->measures[i] = add_fixed(strings, info->name);
        if (strings->units[info->unit] == 0)
            strings->units[info->unit] = add_fixed(strings, smp_unit_info(info->unit)->name);
    }
    strings->jvm = add_fixed(strings, "jvm");
    strings->thread = add_fixed(strings, "thread");
}

static uint64_t group_string(const struct writer *writer, size_t rank)
{
    return writer->strings.count + rank;
}

static uint64_t function_string(const struct writer *writer, uint32_t function_id)
{
    return group_string(writer, writer->job->groups->count + writer->job->counted->count) +
           function_id - 1;
}

static uint64_t system_string(const struct writer *writer, uint32_t function_id)
{
    return function_string(writer, function_id) + writer->functions.count;
}

static uint64_t file_string(const struct writer *writer, uint32_t file)
{
    return file == 0 ? (uint64_t)STRING_EMPTY
                     : system_string(writer, writer->functions.count) + file;
}

/* The length of the class's package, with the dot at its end. */
static size_t folder_length(const struct smp_location_view *view)
{
    const char *const dot = strrchr(view->class_name, '.');

    return dot == NULL ? 0 : (size_t)(dot - view->class_name) + 1;
}

/* Texts of one table are the same where their addresses are. */
static bool is_file_of(const struct writer *writer, uint32_t file,
                       const struct smp_location_view *view)
{
    const size_t length = folder_length(view);
    struct smp_location_view other;

    view_of(writer, writer->files.all[file - 1].location, &other);
    return length == folder_length(&other) &&
           memcmp(view->class_name, other.class_name, length) == 0;
}

/* *file: the number of the location's file. */
static enum smp_status number_file(struct writer *writer, uint32_t location,
                                   const struct smp_location_view *view, uint32_t *file)
{
    const uint64_t key = (uint64_t)(uintptr_t)view->file;
    struct files *const files = &writer->files;
    uint32_t first;

    *file = 0;
    if (view->file == NULL)
        return SMP_OK;
    first = smp_hash_pairs_find(&files->places, key, 0);
    for (uint32_t at = first; at != 0; at = files->all[at - 1].other) {
        if (is_file_of(writer, at, view)) {
            *file = at;
            return SMP_OK;
        }
    }
    if (first == 0 && !smp_hash_map_reserve(&files->places, &smp_hash_pairs, &files->budget, 1))
        return SMP_ENOMEM;
    files->all[files->count++] = (struct file){ .location = location };
    *file = files->count;
    if (first == 0) {
        smp_hash_pairs_put(&files->places, key, 0, *file);
    } else {
        files->all[*file - 1].other = files->all[first - 1].other;
        files->all[first - 1].other = *file;
    }
    return SMP_OK;
}

/* Overloads are one method, which knows the first line of one of them only. */
static void see_line(struct function *function, const struct smp_location_view *view)
{
    if (view->line > 0 && (uint32_t)view->line < function->start_line)
        function->start_line = (uint32_t)view->line;
}

static enum smp_status number_functions(struct writer *writer)
{
    struct functions *const functions = &writer->functions;
    enum smp_status status = SMP_OK;

    for (uint32_t i = 0; i < writer->frames.count && status == SMP_OK; i++) {
        const uint32_t location = writer->frames.locations[i];
        struct smp_location_view view;
        struct function *function;
        view_of(writer, location, &view);
        if (functions->ids[view.method] == 0) {
            function = &functions->all[functions->count++];
            *function = (struct function){ .location = location, .start_line = view.start_line };
            functions->ids[view.method] = functions->count;
            status = number_file(writer, location, &view, &function->file);
        }
        see_line(&functions->all[functions->ids[view.method] - 1], &view);
    }
    return status;
}

static uint32_t highest_method(const struct writer *writer)
{
    uint32_t highest = 0;

    for (uint32_t i = 0; i < writer->frames.count; i++) {
        struct smp_location_view view;
        view_of(writer, writer->frames.locations[i], &view);
        if (view.method > highest)
            highest = view.method;
    }
    return highest;
}

static enum smp_status number_all(struct writer *writer)
{
    struct smp_quota *const quota = writer->job->quota;
    const size_t frames = (size_t)writer->frames.count + 1; /* nothing cannot be allocated */
    struct functions *const functions = &writer->functions;

    number_fixed_strings(writer);
    functions->ids =
        smp_alloc(quota, ((size_t)highest_method(writer) + 1) * sizeof(*functions->ids));
    functions->all = smp_alloc(quota, frames * sizeof(*functions->all));
    writer->files.all = smp_alloc(quota, frames * sizeof(*writer->files.all));
    if (functions->ids == NULL || functions->all == NULL || writer->files.all == NULL)
        return SMP_ENOMEM;
    return number_functions(writer);
}

/* --- the profile --- */

/* Backwards through the list, like the fixed strings. By the CPU clock all times are CPU times. */
static void choose_shown(struct writer *writer)
{
    const bool is_cpu_clock = writer->job->profile->is_cpu_clock;

    for (int i = SMP_MEASURE_COUNT - 1; i >= 0; i--) {
        if (smp_export_holds(writer->job, (enum smp_measure)i) &&
            !(is_cpu_clock && i == SMP_MEASURE_WALL))
            writer->shown[writer->shown_count++] = (enum smp_measure)i;
    }
}

static void put_profile_head(struct writer *writer)
{
    const struct smp_profile *const profile = writer->job->profile;
    const int64_t period_ns = writer->job->style->period_ns;
    const enum smp_measure main_time = profile->is_cpu_clock ? SMP_MEASURE_CPU : SMP_MEASURE_WALL;
    struct smp_writer *const out = writer->out;

    for (size_t i = 0; i < writer->shown_count; i++)
        put_value_type(writer, PROFILE_SAMPLE_TYPE, writer->shown[i]);
    put_value_type(writer, PROFILE_PERIOD_TYPE, main_time);
    put_number(out, PROFILE_PERIOD, (uint64_t)(period_ns > 0 ? period_ns : profile->period_ns));
    put_number(out, PROFILE_TIME_NANOS, (uint64_t)(profile->from_wall_ms * NS_PER_MS));
    put_number(out, PROFILE_DURATION_NANOS, (uint64_t)profile->elapsed_ns);
    put_number(out, PROFILE_DEFAULT_SAMPLE_TYPE, writer->strings.measures[main_time]);
}

/* It says that all symbols are here, or readers would look for them. */
static void put_mapping(struct writer *writer)
{
    const uint64_t filename = writer->strings.jvm;
    struct smp_writer *const out = writer->out;

    put_length(out, PROFILE_MAPPING,
               number_bytes(THE_MAPPING) + number_bytes(filename) + 3 * number_bytes(true));
    put_number(out, MAPPING_ID, THE_MAPPING);
    put_number(out, MAPPING_FILENAME, filename);
    put_number(out, MAPPING_HAS_FUNCTIONS, true);
    put_number(out, MAPPING_HAS_FILENAMES, true);
    put_number(out, MAPPING_HAS_LINE_NUMBERS, true);
}

static uint64_t location_id(const struct smp_used_frames *frames, const struct smp_tree_walk *walk,
                            size_t depth)
{
    return (uint64_t)smp_used_frames_number(frames, walk->nodes[walk->path[depth]].location) + 1;
}

/* Leaf first. Walk and frames are copies, so the compiler knows that output does not change
 * them: most of the time goes by here. */
static void put_sample(struct writer *writer, const struct smp_amounts *self, uint64_t group)
{
    const uint64_t key = writer->strings.thread;
    const size_t label = number_bytes(key) + number_bytes(group);
    const struct smp_used_frames frames = writer->frames;
    const struct smp_tree_walk walk = writer->walk;
    struct smp_writer *const out = writer->out;
    const enum smp_measure *const shown = writer->shown;
    const size_t count = writer->shown_count;
    size_t ids = 0;
    size_t figures = 0;

    for (size_t i = 0; i < walk.depth; i++)
        ids += varint_bytes(location_id(&frames, &walk, i));
    for (size_t i = 0; i < count; i++)
        figures += varint_bytes((uint64_t)self->of[shown[i]]);
    put_length(out, PROFILE_SAMPLE,
               TAG_BYTES + varint_bytes(ids) + ids + TAG_BYTES + varint_bytes(figures) + figures +
                   TAG_BYTES + varint_bytes(label) + label);
    put_length(out, SAMPLE_LOCATION_ID, ids);
    for (size_t i = walk.depth; i-- > 0;)
        put_varint(out, location_id(&frames, &walk, i));
    put_length(out, SAMPLE_VALUE, figures);
    for (size_t i = 0; i < count; i++)
        put_varint(out, (uint64_t)self->of[shown[i]]);
    put_length(out, SAMPLE_LABEL, label);
    put_number(out, LABEL_KEY, key);
    put_number(out, LABEL_STR, group);
}

/* Of groups of one kind. A counted one has calls alone: its times are a sampled one's, too.
 * name: of the first's string. */
static void put_group_samples(struct writer *writer, const struct smp_hot_groups *groups,
                              enum smp_group_kind kind, uint64_t name)
{
    struct smp_tree_walk *const walk = &writer->walk;

    for (size_t i = 0; i < groups->count; i++) {
        smp_tree_walk_begin(walk, smp_export_group(writer->job, groups, i)->root);
        while (!writer->out->has_failed && smp_tree_walk_next(walk)) {
            struct smp_amounts self = smp_tree_self_all(walk->tree, smp_tree_walk_node(walk));
            if (kind == SMP_GROUP_COUNTED)
                smp_amounts_keep(&self, SMP_OWN_MEASURES);
            if (smp_amounts_has_any(&self))
                put_sample(writer, &self, name + i);
        }
    }
}

static enum smp_status put_samples(struct writer *writer)
{
    const struct smp_export_job *const job = writer->job;

    put_group_samples(writer, job->groups, SMP_GROUP_SAMPLED, group_string(writer, 0));
    put_group_samples(writer, job->counted, SMP_GROUP_COUNTED,
                      group_string(writer, job->groups->count));
    return writer->walk.status;
}

static void put_locations(struct writer *writer)
{
    struct smp_writer *const out = writer->out;

    for (uint32_t i = 0; i < writer->frames.count && !out->has_failed; i++) {
        struct smp_location_view view;
        view_of(writer, writer->frames.locations[i], &view);
        const uint64_t line = view.line > 0 ? (uint64_t)view.line : 0;
        const uint64_t function = writer->functions.ids[view.method];
        const size_t line_bytes = number_bytes(function) + number_bytes(line);

        put_length(out, PROFILE_LOCATION,
                   number_bytes((uint64_t)i + 1) + number_bytes(THE_MAPPING) + TAG_BYTES +
                       varint_bytes(line_bytes) + line_bytes);
        put_number(out, LOCATION_ID, (uint64_t)i + 1);
        put_number(out, LOCATION_MAPPING_ID, THE_MAPPING);
        put_length(out, LOCATION_LINE, line_bytes);
        put_number(out, LINE_FUNCTION_ID, function);
        put_number(out, LINE_LINE, line);
    }
}

static void put_functions(struct writer *writer)
{
    struct smp_writer *const out = writer->out;

    for (uint32_t id = 1; id <= writer->functions.count && !out->has_failed; id++) {
        const struct function *const function = &writer->functions.all[id - 1];
        struct smp_location_view view;
        view_of(writer, function->location, &view);
        const uint64_t name = function_string(writer, id);
        const uint64_t system_name = view.is_pseudo ? name : system_string(writer, id);
        const uint64_t file = file_string(writer, function->file);

        put_length(out, PROFILE_FUNCTION,
                   number_bytes(id) + number_bytes(name) + number_bytes(system_name) +
                       number_bytes(file) + number_bytes(function->start_line));
        put_number(out, FUNCTION_ID, id);
        put_number(out, FUNCTION_NAME, name);
        put_number(out, FUNCTION_SYSTEM_NAME, system_name);
        put_number(out, FUNCTION_FILENAME, file);
        put_number(out, FUNCTION_START_LINE, function->start_line);
    }
}

static void put_string(struct smp_writer *out, const char *text, size_t length)
{
    put_length(out, PROFILE_STRING_TABLE, length);
    smp_writer_put(out, text, length);
}

/* What is in the writer's text, which is empty afterwards. */
static void put_text(struct writer *writer)
{
    put_string(writer->out, smp_bytes_text(&writer->text), writer->text.length);
    if (writer->text.status == SMP_OK)
        smp_bytes_clear(&writer->text);
}

/* a.b.C as the JVM writes it: a/b/C. Escaping adds no dots and takes none away. */
static void slash(struct smp_bytes *text, size_t from)
{
    for (size_t i = from; i < text->length; i++) {
        if (text->data[i] == '.')
            text->data[i] = '/';
    }
}

static void put_system_names(struct writer *writer)
{
    struct smp_bytes *const text = &writer->text;

    for (uint32_t i = 0; i < writer->functions.count && !writer->out->has_failed; i++) {
        struct smp_location_view view;
        view_of(writer, writer->functions.all[i].location, &view);
        if (!view.is_pseudo) {
            smp_escape_put(text, view.class_name);
            slash(text, 0);
            smp_bytes_puts(text, ".");
            smp_escape_put(text, view.method_name);
        }
        put_text(writer);
    }
}

/* Where a build finds it below its source folders: a/b/C.java. Some compilers write the folders
 * into the class file. */
static void put_files(struct writer *writer)
{
    struct smp_bytes *const text = &writer->text;

    for (uint32_t i = 0; i < writer->files.count && !writer->out->has_failed; i++) {
        struct smp_location_view view;
        view_of(writer, writer->files.all[i].location, &view);
        if (strchr(view.file, '/') == NULL) {
            smp_escape_put(text, view.class_name);
            const char *const dot = strrchr(smp_bytes_text(text), '.');
            if (text->status == SMP_OK)
                smp_bytes_truncate(text, dot == NULL ? 0 : (size_t)(dot - text->data) + 1);
            slash(text, 0);
        }
        smp_escape_put(text, view.file);
        put_text(writer);
    }
}

static void put_group_names(struct writer *writer, const struct smp_hot_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        smp_escape_put(&writer->text,
                       smp_export_group_name(smp_export_group(writer->job, groups, i)));
        put_text(writer);
    }
}

static void put_strings(struct writer *writer)
{
    const struct smp_export_job *const job = writer->job;

    for (size_t i = 0; i < writer->strings.count; i++)
        put_string(writer->out, writer->strings.texts[i], strlen(writer->strings.texts[i]));
    put_group_names(writer, job->groups);
    put_group_names(writer, job->counted);
    for (uint32_t i = 0; i < writer->functions.count && !writer->out->has_failed; i++) {
        smp_methods_method_text(job->profile->methods, writer->functions.all[i].location,
                                &writer->text);
        put_text(writer);
    }
    put_system_names(writer);
    put_files(writer);
}

static enum smp_status put_messages(struct writer *writer)
{
    enum smp_status status = number_all(writer);

    if (status != SMP_OK)
        return status;
    choose_shown(writer);
    put_profile_head(writer);
    put_mapping(writer);
    status = put_samples(writer);
    if (status != SMP_OK)
        return status;
    put_locations(writer);
    put_functions(writer);
    put_strings(writer);
    return writer->text.status;
}

enum smp_status smp_export_pprof(const struct smp_export_job *job)
{
    struct writer writer = { .job = job,
                             .out = job->out,
                             .files.budget = { .quota = job->quota, .max_bytes = SIZE_MAX } };
    enum smp_status status = smp_used_frames_init(&writer.frames, job->quota, job->profile);

    if (status != SMP_OK)
        return status;
    smp_tree_walk_init(&writer.walk, job->quota, job->profile->tree);
    smp_bytes_init(&writer.text, job->quota, MAX_STRING_BYTES);
    status = put_messages(&writer);
    smp_bytes_fini(&writer.text);
    smp_hash_map_fini(&writer.files.places, &smp_hash_pairs, &writer.files.budget);
    smp_free(job->quota, writer.files.all);
    smp_free(job->quota, writer.functions.all);
    smp_free(job->quota, writer.functions.ids);
    smp_tree_walk_fini(&writer.walk);
    smp_used_frames_fini(&writer.frames);
    return status;
}

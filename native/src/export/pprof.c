/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c - profile.proto of pprof, streamed field by field.
 *
 * The length of a message precedes it, so it is computed first. The members of Profile may be in
 * any order, and refer to each other by the numbers of symbol_table.h. The format's own strings are
 * the names of the sampled groups, then those of the counted ones.
 */
#include <string.h>

#include "export/export_writers.h"
#include "export/protobuf.h"
#include "export/symbol_table.h"

#define NS_PER_MS INT64_C(1000000)

/* Field numbers of profile.proto. */
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2 };
enum { MAPPING_ID = 1, MAPPING_FILENAME = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { MAPPING_HAS_FILENAMES = 8, MAPPING_HAS_LINE_NUMBERS = 9 };
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum { FUNCTION_NAME = 2 };
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

enum { THE_MAPPING = 1 };

/* Words of the format. */
enum { WORD_JVM, WORD_THREAD };

static const char *const own_words[SMP_SYMBOL_OWN_WORDS] = {
    [WORD_JVM] = "jvm", [WORD_THREAD] = "thread"
};

struct writer {
    const struct smp_export_job *job;
    struct smp_writer *out;
    struct smp_tree_walk walk;
    struct smp_symbol_table symbols;
    enum smp_measure shown[SMP_MEASURE_COUNT]; /* one sample type each, in this order */
    size_t shown_count;
};

/* In reverse order of the list: readers that know no default show the last sample type, which is
 * the first measure. With the CPU clock all times are CPU times. */
static void choose_shown(struct writer *writer)
{
    const bool is_cpu_clock = writer->job->profile->is_cpu_clock;

    if (writer->job->style->measure_alone) {
        writer->shown[writer->shown_count++] =
            smp_profile_measure(writer->job->profile, writer->job->style->measure);
        return;
    }

    for (int i = SMP_MEASURE_COUNT - 1; i >= 0; i--) {
        if (smp_export_holds(writer->job, (enum smp_measure)i) &&
            !(is_cpu_clock && i == SMP_MEASURE_WALL))
            writer->shown[writer->shown_count++] = (enum smp_measure)i;
    }
}

/* Returns the time in which the period is measured. */
static enum smp_measure main_time_of(const struct writer *writer)
{
    const bool is_cpu = writer->job->profile->is_cpu_clock ||
                        (writer->job->style->measure_alone && writer->shown[0] == SMP_MEASURE_CPU);

    return is_cpu ? SMP_MEASURE_CPU : SMP_MEASURE_WALL;
}

static void put_profile_head(struct writer *writer)
{
    const struct smp_symbol_table *const symbols = &writer->symbols;
    const struct smp_profile *const profile = writer->job->profile;
    const int64_t period_ns = writer->job->style->period_ns;
    const enum smp_measure main_time = main_time_of(writer);
    struct smp_writer *const out = writer->out;

    for (size_t i = 0; i < writer->shown_count; i++)
        smp_symbol_table_put_value_type(symbols, out, PROFILE_SAMPLE_TYPE, writer->shown[i]);
    smp_symbol_table_put_value_type(symbols, out, PROFILE_PERIOD_TYPE, main_time);
    smp_protobuf_put_number(out, PROFILE_PERIOD,
                            (uint64_t)(period_ns > 0 ? period_ns : profile->period_ns));
    smp_protobuf_put_number(out, PROFILE_TIME_NANOS, (uint64_t)(profile->from_wall_ms * NS_PER_MS));
    smp_protobuf_put_number(out, PROFILE_DURATION_NANOS, (uint64_t)profile->elapsed_ns);
    smp_protobuf_put_number(out, PROFILE_DEFAULT_SAMPLE_TYPE,
                            symbols->words.measures[writer->shown[writer->shown_count - 1]]);
}

/* Declares that all symbols are here, or readers would look for them. */
static void put_mapping(struct writer *writer)
{
    const uint64_t filename = writer->symbols.words.own[WORD_JVM];
    struct smp_writer *const out = writer->out;

    smp_protobuf_put_length(out, PROFILE_MAPPING,
                            smp_protobuf_number_bytes(THE_MAPPING) +
                                smp_protobuf_number_bytes(filename) +
                                3 * smp_protobuf_number_bytes(true));
    smp_protobuf_put_number(out, MAPPING_ID, THE_MAPPING);
    smp_protobuf_put_number(out, MAPPING_FILENAME, filename);
    smp_protobuf_put_number(out, MAPPING_HAS_FUNCTIONS, true);
    smp_protobuf_put_number(out, MAPPING_HAS_FILENAMES, true);
    smp_protobuf_put_number(out, MAPPING_HAS_LINE_NUMBERS, true);
}

/* Writes the leaf first. Walk and frames are copies, so that the compiler knows that output does
 * not change them: most of the export's time is spent here. */
static void put_sample(struct writer *writer, const struct smp_amounts *self, uint64_t group)
{
    const uint64_t key = writer->symbols.words.own[WORD_THREAD];
    const size_t label = smp_protobuf_number_bytes(key) + smp_protobuf_number_bytes(group);
    const struct smp_used_frames frames = writer->symbols.frames;
    const struct smp_tree_walk walk = writer->walk;
    struct smp_writer *const out = writer->out;
    const enum smp_measure *const shown = writer->shown;
    const size_t count = writer->shown_count;
    size_t ids = 0;
    size_t figures = 0;

    for (size_t i = 0; i < walk.depth; i++)
        ids += smp_protobuf_varint_bytes(smp_symbol_table_location_at(&frames, &walk, i));
    for (size_t i = 0; i < count; i++)
        figures += smp_protobuf_varint_bytes((uint64_t)self->of[shown[i]]);
    smp_protobuf_put_length(out, PROFILE_SAMPLE,
                            smp_protobuf_field_bytes(ids) + smp_protobuf_field_bytes(figures) +
                                smp_protobuf_field_bytes(label));
    smp_protobuf_put_length(out, SAMPLE_LOCATION_ID, ids);
    for (size_t i = walk.depth; i-- > 0;)
        smp_protobuf_put_varint(out, smp_symbol_table_location_at(&frames, &walk, i));
    smp_protobuf_put_length(out, SAMPLE_VALUE, figures);
    for (size_t i = 0; i < count; i++)
        smp_protobuf_put_varint(out, (uint64_t)self->of[shown[i]]);
    smp_protobuf_put_length(out, SAMPLE_LABEL, label);
    smp_protobuf_put_number(out, LABEL_KEY, key);
    smp_protobuf_put_number(out, LABEL_STR, group);
}

static bool has_any_shown(const struct writer *writer, const struct smp_amounts *amounts)
{
    for (size_t i = 0; i < writer->shown_count; i++) {
        if (amounts->of[writer->shown[i]] != 0)
            return true;
    }
    return false;
}

static void put_shown_sample(void *self, const struct smp_amounts *amounts, size_t group)
{
    struct writer *const writer = self;

    if (has_any_shown(writer, amounts))
        put_sample(writer, amounts, writer->symbols.words.count + group);
}

static void put_locations(struct writer *writer)
{
    const struct smp_symbol_table *const symbols = &writer->symbols;
    struct smp_writer *const out = writer->out;

    for (uint32_t i = 0; i < symbols->frames.count && !out->has_failed; i++) {
        struct smp_location_view view;
        smp_symbol_table_view(symbols, i, &view);
        const uint64_t line = view.line > 0 ? (uint64_t)view.line : 0;
        const uint64_t function = smp_symbol_table_function_of(symbols, &view);
        const size_t line_bytes =
            smp_protobuf_number_bytes(function) + smp_protobuf_number_bytes(line);

        smp_protobuf_put_length(out, PROFILE_LOCATION,
                                smp_protobuf_number_bytes((uint64_t)i + 1) +
                                    smp_protobuf_number_bytes(THE_MAPPING) +
                                    smp_protobuf_field_bytes(line_bytes));
        smp_protobuf_put_number(out, LOCATION_ID, (uint64_t)i + 1);
        smp_protobuf_put_number(out, LOCATION_MAPPING_ID, THE_MAPPING);
        smp_protobuf_put_length(out, LOCATION_LINE, line_bytes);
        smp_protobuf_put_number(out, LINE_FUNCTION_ID, function);
        smp_protobuf_put_number(out, LINE_LINE, line);
    }
}

static void put_group_names(struct writer *writer, enum smp_group_kind kind)
{
    const struct smp_hot_groups *const groups = &writer->job->groups[kind];

    for (size_t i = 0; i < groups->count; i++) {
        const char *const name = smp_symbol_table_group_name(&writer->symbols, groups, i);
        smp_protobuf_put_string(writer->out, PROFILE_STRING_TABLE, name, strlen(name));
    }
}

static enum smp_status put_strings(struct writer *writer)
{
    smp_symbol_table_put_words(&writer->symbols, writer->out, PROFILE_STRING_TABLE);
    put_group_names(writer, SMP_GROUP_SAMPLED);
    put_group_names(writer, SMP_GROUP_COUNTED);
    return smp_symbol_table_put_names(&writer->symbols, writer->out, PROFILE_STRING_TABLE);
}

static enum smp_status put_messages(struct writer *writer)
{
    enum smp_status status;

    choose_shown(writer);
    put_profile_head(writer);
    put_mapping(writer);
    status = smp_symbol_table_each_stack(&writer->symbols, writer->out, &writer->walk,
                                         put_shown_sample, writer);
    if (status != SMP_OK)
        return status;
    put_locations(writer);
    smp_symbol_table_put_functions(&writer->symbols, writer->out, PROFILE_FUNCTION, FUNCTION_NAME);
    return put_strings(writer);
}

enum smp_status smp_export_pprof(const struct smp_export_job *job)
{
    struct writer writer = { .job = job, .out = job->out };
    enum smp_status status = smp_symbol_table_init(&writer.symbols, job, own_words,
                                                   job->groups[SMP_GROUP_SAMPLED].count +
                                                       job->groups[SMP_GROUP_COUNTED].count);

    if (status != SMP_OK)
        return status;
    smp_tree_walk_init(&writer.walk, job->quota, job->profile->tree);
    status = put_messages(&writer);
    smp_tree_walk_fini(&writer.walk);
    smp_symbol_table_fini(&writer.symbols);
    return status;
}

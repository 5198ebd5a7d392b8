/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp.c - ProfilesData of OpenTelemetry (profiles.proto, v1development), streamed. It has the same
 * bytes as the ExportProfilesServiceRequest that a collector accepts.
 *
 *   ProfilesData
 *     resource_profiles ─ scope_profiles ─┬ scope
 *                                         ├ profile of wall time ─ samples ──┐
 *                                         └ profile of CPU time ── samples ──┤
 *     dictionary: stacks, locations, functions, attributes, strings   ◄──────┘ by number
 *
 * The length of a message precedes it, and messages are nested four deep. So each profile and the
 * dictionary are written twice: first to an output that only counts their bytes.
 *
 * A sender needs a resource (service.name), which the core does not know. The document begins with
 * resource_profiles, so that a sender can insert a resource at its beginning and adjust one length.
 *
 * Numbers are those of symbol_table.h. A stack's number is its position, from 1, among the nodes
 * with an amount, group by group. A stack of two groups is twice in the dictionary, which the
 * format permits. Element 0 of each table is the zero value.
 */
#include <string.h>

#include "export/export_writers.h"
#include "export/protobuf.h"
#include "export/symbol_table.h"

#define NS_PER_MS INT64_C(1000000)

/* Field numbers of profiles.proto, common.proto and resource.proto. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY = 2 };
enum { RESOURCE_PROFILES_SCOPE_PROFILES = 2 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLES = 2,
    PROFILE_TIME_UNIX_NANO = 3,
    PROFILE_DURATION_NANO = 4,
    PROFILE_PERIOD_TYPE = 5,
    PROFILE_PERIOD = 6
};
enum { SAMPLE_STACK_INDEX = 1, SAMPLE_ATTRIBUTE_INDICES = 2, SAMPLE_VALUES = 4 };
enum {
    DICTIONARY_MAPPING_TABLE = 1,
    DICTIONARY_LOCATION_TABLE = 2,
    DICTIONARY_FUNCTION_TABLE = 3,
    DICTIONARY_LINK_TABLE = 4,
    DICTIONARY_STRING_TABLE = 5,
    DICTIONARY_ATTRIBUTE_TABLE = 6,
    DICTIONARY_STACK_TABLE = 7
};
enum { LOCATION_LINES = 3, LOCATION_ATTRIBUTE_INDICES = 4 };
enum { LINE_FUNCTION_INDEX = 1, LINE_LINE = 2 };
enum { FUNCTION_NAME_STRINDEX = 1 };
enum { LINK_TRACE_ID = 1, LINK_SPAN_ID = 2, TRACE_ID_BYTES = 16, SPAN_ID_BYTES = 8 };
enum { ATTRIBUTE_KEY_STRINDEX = 1, ATTRIBUTE_VALUE = 2 };
enum { VALUE_STRING = 1 };
enum { STACK_LOCATION_INDICES = 1 };

/* Indices in the table of attributes. */
enum { ATTRIBUTE_NONE, ATTRIBUTE_JAVA_FRAME, ATTRIBUTE_FIRST_GROUP };

/* Words of the format. The group has an attribute of our own, because OpenTelemetry's thread.name
 * is the name of one thread. */
enum { WORD_FRAME_TYPE, WORD_THREAD_GROUP };

static const char *const attribute_keys[SMP_SYMBOL_OWN_WORDS] = {
    [WORD_FRAME_TYPE] = "profile.frame.type", [WORD_THREAD_GROUP] = "threadsampler.thread.group"
};

static const char scope_name[] = "threads-sampler";
static const char scope_version[] = SMP_VERSION; /* the build takes it from pom.xml */

struct document {
    const struct smp_export_job *job;
    struct smp_writer *out; /* the job's output, or one that only counts */
    struct smp_writer counter;
    struct smp_tree_walk walk;
    struct smp_symbol_table symbols;
    enum smp_measure measure; /* of the profile being written */
    uint64_t stack;           /* the number of its last sample's stack */
    /* Bytes of each profile; 0: there is none, because all amounts are 0 */
    size_t lengths[SMP_MEASURE_COUNT];
    size_t dictionary_length;
};

/* --- samples and stacks --- */

static void put_otlp_sample(void *self, const struct smp_amounts *amounts, size_t group)
{
    struct document *const document = self;
    const uint64_t value = (uint64_t)amounts->of[document->measure];
    const uint64_t stack = ++document->stack;
    const uint64_t attribute = ATTRIBUTE_FIRST_GROUP + group;
    const size_t attribute_bytes = smp_protobuf_varint_bytes(attribute);
    const size_t value_bytes = smp_protobuf_varint_bytes(value);
    struct smp_writer *const out = document->out;

    if (value == 0)
        return;
    smp_protobuf_put_length(out, PROFILE_SAMPLES,
                            smp_protobuf_number_bytes(stack) +
                                smp_protobuf_field_bytes(attribute_bytes) +
                                smp_protobuf_field_bytes(value_bytes));
    smp_protobuf_put_number(out, SAMPLE_STACK_INDEX, stack);
    smp_protobuf_put_length(out, SAMPLE_ATTRIBUTE_INDICES, attribute_bytes);
    smp_protobuf_put_varint(out, attribute);
    smp_protobuf_put_length(out, SAMPLE_VALUES, value_bytes);
    smp_protobuf_put_varint(out, value);
}

/* Writes the leaf first. Walk and frames are copies, so that the compiler knows that output does
 * not change them. */
static void put_stack_row(void *self, const struct smp_amounts *amounts, size_t group)
{
    struct document *const document = self;
    const struct smp_used_frames frames = document->symbols.frames;
    const struct smp_tree_walk walk = document->walk;
    struct smp_writer *const out = document->out;
    size_t bytes = 0;

    (void)amounts;
    (void)group;
    for (size_t i = 0; i < walk.depth; i++)
        bytes += smp_protobuf_varint_bytes(smp_symbol_table_location_at(&frames, &walk, i));
    smp_protobuf_put_length(out, DICTIONARY_STACK_TABLE, smp_protobuf_field_bytes(bytes));
    smp_protobuf_put_length(out, STACK_LOCATION_INDICES, bytes);
    for (size_t i = walk.depth; i-- > 0;)
        smp_protobuf_put_varint(out, smp_symbol_table_location_at(&frames, &walk, i));
}

/* --- a profile --- */

static enum smp_status put_measure_profile(struct document *document, enum smp_measure measure)
{
    const struct smp_profile *const profile = document->job->profile;
    const int64_t period_ns = document->job->style->period_ns;
    struct smp_writer *const out = document->out;

    smp_symbol_table_put_value_type(&document->symbols, out, PROFILE_SAMPLE_TYPE, measure);
    smp_protobuf_put_fixed64(out, PROFILE_TIME_UNIX_NANO,
                             (uint64_t)(profile->from_wall_ms * NS_PER_MS));
    smp_protobuf_put_number(out, PROFILE_DURATION_NANO, (uint64_t)profile->elapsed_ns);
    smp_symbol_table_put_value_type(
        &document->symbols, out, PROFILE_PERIOD_TYPE,
        smp_profile_measure(profile, measure == SMP_MEASURE_CPU ? measure : SMP_MEASURE_WALL));
    smp_protobuf_put_number(out, PROFILE_PERIOD,
                            (uint64_t)(period_ns > 0 ? period_ns : profile->period_ns));
    document->measure = measure;
    document->stack = 0;
    return smp_symbol_table_each_stack(&document->symbols, out, &document->walk, put_otlp_sample,
                                       document);
}

/* --- the dictionary --- */

static void put_links_and_mappings(struct document *document)
{
    static const char none[TRACE_ID_BYTES] = { 0 };
    struct smp_writer *const out = document->out;

    smp_protobuf_put_length(out, DICTIONARY_MAPPING_TABLE, 0);
    smp_protobuf_put_length(out, DICTIONARY_LINK_TABLE,
                            smp_protobuf_field_bytes(TRACE_ID_BYTES) +
                                smp_protobuf_field_bytes(SPAN_ID_BYTES));
    smp_protobuf_put_string(out, LINK_TRACE_ID, none, TRACE_ID_BYTES);
    smp_protobuf_put_string(out, LINK_SPAN_ID, none, SPAN_ID_BYTES);
}

/* A pseudo-frame, such as [no Java frames], has no type. */
static void put_location_table(struct document *document)
{
    const struct smp_symbol_table *const symbols = &document->symbols;
    const size_t attribute_bytes = smp_protobuf_varint_bytes(ATTRIBUTE_JAVA_FRAME);
    struct smp_writer *const out = document->out;

    smp_protobuf_put_length(out, DICTIONARY_LOCATION_TABLE, 0);
    for (uint32_t i = 0; i < symbols->frames.count && !out->has_failed; i++) {
        struct smp_location_view view;
        smp_symbol_table_view(symbols, i, &view);
        const uint64_t line = view.line > 0 ? (uint64_t)view.line : 0;
        const uint64_t function = smp_symbol_table_function_of(symbols, &view);
        const size_t line_bytes =
            smp_protobuf_number_bytes(function) + smp_protobuf_number_bytes(line);

        smp_protobuf_put_length(
            out, DICTIONARY_LOCATION_TABLE,
            smp_protobuf_field_bytes(line_bytes) +
                (view.is_pseudo ? 0 : smp_protobuf_field_bytes(attribute_bytes)));
        smp_protobuf_put_length(out, LOCATION_LINES, line_bytes);
        smp_protobuf_put_number(out, LINE_FUNCTION_INDEX, function);
        smp_protobuf_put_number(out, LINE_LINE, line);
        if (!view.is_pseudo) {
            smp_protobuf_put_length(out, LOCATION_ATTRIBUTE_INDICES, attribute_bytes);
            smp_protobuf_put_varint(out, ATTRIBUTE_JAVA_FRAME);
        }
    }
}

static void put_attribute(struct document *document, int word, const char *value, size_t length)
{
    const uint64_t key = document->symbols.words.own[word];
    const size_t value_bytes = smp_protobuf_field_bytes(length);
    struct smp_writer *const out = document->out;

    smp_protobuf_put_length(out, DICTIONARY_ATTRIBUTE_TABLE,
                            smp_protobuf_number_bytes(key) + smp_protobuf_field_bytes(value_bytes));
    smp_protobuf_put_number(out, ATTRIBUTE_KEY_STRINDEX, key);
    smp_protobuf_put_length(out, ATTRIBUTE_VALUE, value_bytes);
    smp_protobuf_put_string(out, VALUE_STRING, value, length);
}

static void put_group_attributes(struct document *document, enum smp_group_kind kind)
{
    const struct smp_hot_groups *const groups = &document->job->groups[kind];

    for (size_t i = 0; i < groups->count; i++) {
        const char *const name = smp_symbol_table_group_name(&document->symbols, groups, i);
        put_attribute(document, WORD_THREAD_GROUP, name, strlen(name));
    }
}

static enum smp_status put_attribute_table(struct document *document)
{
    static const char java[] = "jvm";

    smp_protobuf_put_length(document->out, DICTIONARY_ATTRIBUTE_TABLE, 0);
    put_attribute(document, WORD_FRAME_TYPE, java, strlen(java));
    put_group_attributes(document, SMP_GROUP_SAMPLED);
    put_group_attributes(document, SMP_GROUP_COUNTED);
    return document->symbols.text.status;
}

static enum smp_status put_dictionary(struct document *document)
{
    struct smp_writer *const out = document->out;
    enum smp_status status;

    put_links_and_mappings(document);
    put_location_table(document);
    smp_protobuf_put_length(out, DICTIONARY_FUNCTION_TABLE, 0);
    smp_symbol_table_put_functions(&document->symbols, out, DICTIONARY_FUNCTION_TABLE,
                                   FUNCTION_NAME_STRINDEX);
    smp_symbol_table_put_words(&document->symbols, out, DICTIONARY_STRING_TABLE);
    status = smp_symbol_table_put_names(&document->symbols, out, DICTIONARY_STRING_TABLE);
    if (status == SMP_OK)
        status = put_attribute_table(document);
    if (status != SMP_OK)
        return status;
    smp_protobuf_put_length(out, DICTIONARY_STACK_TABLE, 0);
    return smp_symbol_table_each_stack(&document->symbols, out, &document->walk, put_stack_row,
                                       document);
}

/* --- the document --- */

static bool count_bytes(void *self, const char *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)self += length;
    return true;
}

/* With the CPU clock all times are CPU times, so wall time is not shown. */
static bool is_shown(const struct document *document, enum smp_measure measure)
{
    return smp_export_holds(document->job, measure) &&
           !(document->job->profile->is_cpu_clock && measure == SMP_MEASURE_WALL);
}

static bool has_any_of(const struct document *document, enum smp_group_kind kind,
                       enum smp_measure measure)
{
    const struct smp_hot_groups *const groups = &document->job->groups[kind];

    for (size_t i = 0; i < groups->count; i++) {
        if (smp_profile_group_total(document->job->profile, groups->indices[i], measure) > 0)
            return true;
    }
    return false;
}

/* Counted trees only contribute measures that add up as OWN. */
static bool is_worth_a_profile(const struct document *document, enum smp_measure measure)
{
    return is_shown(document, measure) &&
           (has_any_of(document, SMP_GROUP_SAMPLED, measure) ||
            has_any_of(document, smp_profile_kind_of(measure), measure));
}

/* Counts the bytes that put_measure_profile() and put_dictionary() write. */
static enum smp_status count_lengths(struct document *document)
{
    size_t bytes = 0;
    const struct smp_output output = { .write = count_bytes, .self = &bytes };
    struct smp_writer *const counter = &document->counter;
    enum smp_status status = smp_writer_init(counter, document->job->quota, &output);

    document->out = counter;
    for (int i = 0; i < SMP_MEASURE_COUNT && status == SMP_OK; i++) {
        if (!is_worth_a_profile(document, (enum smp_measure)i))
            continue;
        bytes = 0;
        status = put_measure_profile(document, (enum smp_measure)i);
        if (status == SMP_OK)
            status = smp_writer_finish(counter);
        document->lengths[i] = bytes;
    }
    bytes = 0;
    if (status == SMP_OK)
        status = put_dictionary(document);
    if (status == SMP_OK)
        status = smp_writer_finish(counter);
    document->dictionary_length = bytes;
    document->out = document->job->out;
    smp_writer_fini(counter);
    return status;
}

static enum smp_status put_resource_profiles(struct document *document)
{
    const size_t name_length = strlen(scope_name);
    const size_t version_length = strlen(scope_version);
    const size_t scope_bytes =
        smp_protobuf_field_bytes(name_length) + smp_protobuf_field_bytes(version_length);
    struct smp_writer *const out = document->out;
    size_t length = smp_protobuf_field_bytes(scope_bytes);
    enum smp_status status = SMP_OK;

    for (int i = 0; i < SMP_MEASURE_COUNT; i++) {
        if (document->lengths[i] > 0)
            length += smp_protobuf_field_bytes(document->lengths[i]);
    }
    smp_protobuf_put_length(out, DATA_RESOURCE_PROFILES, smp_protobuf_field_bytes(length));
    smp_protobuf_put_length(out, RESOURCE_PROFILES_SCOPE_PROFILES, length);
    smp_protobuf_put_length(out, SCOPE_PROFILES_SCOPE, scope_bytes);
    smp_protobuf_put_string(out, SCOPE_NAME, scope_name, name_length);
    smp_protobuf_put_string(out, SCOPE_VERSION, scope_version, version_length);
    for (int i = 0; i < SMP_MEASURE_COUNT && status == SMP_OK; i++) {
        if (document->lengths[i] == 0)
            continue;
        smp_protobuf_put_length(out, SCOPE_PROFILES_PROFILES, document->lengths[i]);
        status = put_measure_profile(document, (enum smp_measure)i);
    }
    return status;
}

static enum smp_status put_data(struct document *document)
{
    enum smp_status status = count_lengths(document);

    if (status == SMP_OK)
        status = put_resource_profiles(document);
    if (status != SMP_OK)
        return status;
    smp_protobuf_put_length(document->out, DATA_DICTIONARY, document->dictionary_length);
    return put_dictionary(document);
}

enum smp_status smp_export_otlp(const struct smp_export_job *job)
{
    struct document document = { .job = job, .out = job->out };
    enum smp_status status = smp_symbol_table_init(&document.symbols, job, attribute_keys, 0);

    if (status != SMP_OK)
        return status;
    smp_tree_walk_init(&document.walk, job->quota, job->profile->tree);
    status = put_data(&document);
    smp_tree_walk_fini(&document.walk);
    smp_symbol_table_fini(&document.symbols);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "export/symbol_table.h"

#include <string.h>

#include "export/protobuf.h"
#include "model/escape.h"

/* Field numbers, the same in both formats. */
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };

/* A source file, in its package's folder. */
struct smp_symbol_file {
    uint32_t location; /* a location in this file */
    uint32_t other;    /* index + 1 of a file with the same name in another package; 0: none */
};

struct smp_symbol_row {
    uint32_t location; /* a location of the method */
    uint32_t file;     /* index + 1; 0: unknown */
    uint32_t start_line;
};

/* --- numbering --- */

static void view_location(const struct smp_symbol_table *table, uint32_t location,
                          struct smp_location_view *out)
{
    smp_profile_view(table->job->profile, location, out);
}

static uint32_t add_word(struct smp_symbol_words *words, const char *text)
{
    words->texts[words->count] = text;
    return words->count++;
}

/* In reverse order of the list, like the sample types of pprof. String 0 must be empty. */
static void number_words(struct smp_symbol_table *table, const char *const *own_words)
{
    struct smp_symbol_words *const words = &table->words;

    (void)add_word(words, "");
    for (int i = SMP_MEASURE_COUNT - 1; i >= 0; i--) {
        const struct smp_measure_info *const info = smp_measure_info((enum smp_measure)i);
        if (!smp_export_holds(table->job, (enum smp_measure)i))
            continue;
        words->measures[i] = add_word(words, info->name);
        if (words->units[info->unit] == 0)
            words->units[info->unit] = add_word(words, smp_unit_info(info->unit)->name);
    }
    for (size_t i = 0; i < SMP_SYMBOL_OWN_WORDS; i++)
        words->own[i] = add_word(words, own_words[i]);
}

/* Texts of one table are equal only if their addresses are. */
static bool is_file_of(const struct smp_symbol_table *table, uint32_t file,
                       const struct smp_location_view *view)
{
    const size_t length = smp_location_package_length(view);
    struct smp_location_view other;

    view_location(table, table->files.all[file - 1].location, &other);
    return length == smp_location_package_length(&other) &&
           memcmp(view->class_name, other.class_name, length) == 0;
}

/* Sets *file to the number of the location's file. */
static enum smp_status number_file(struct smp_symbol_table *table, uint32_t location,
                                   const struct smp_location_view *view, uint32_t *file)
{
    const uint64_t key = (uint64_t)(uintptr_t)view->file;
    struct smp_symbol_files *const files = &table->files;
    uint32_t first;

    *file = 0;
    if (view->file == NULL)
        return SMP_OK;
    first = smp_hash_pairs_find(&files->places, key, 0);
    for (uint32_t at = first; at != 0; at = files->all[at - 1].other) {
        if (is_file_of(table, at, view)) {
            *file = at;
            return SMP_OK;
        }
    }
    if (first == 0 && !smp_hash_map_reserve(&files->places, &smp_hash_pairs, &files->budget, 1))
        return SMP_ENOMEM;
    files->all[files->count++] = (struct smp_symbol_file){ .location = location };
    *file = files->count;
    if (first == 0) {
        smp_hash_pairs_put(&files->places, key, 0, *file);
    } else {
        files->all[*file - 1].other = files->all[first - 1].other;
        files->all[first - 1].other = *file;
    }
    return SMP_OK;
}

/* Overloads are one method, which has the first line of only one of them. */
static void see_line(struct smp_symbol_row *function, const struct smp_location_view *view)
{
    if (view->line > 0 && (uint32_t)view->line < function->start_line)
        function->start_line = (uint32_t)view->line;
}

static enum smp_status number_functions(struct smp_symbol_table *table)
{
    struct smp_symbol_methods *const methods = &table->methods;
    enum smp_status status = SMP_OK;

    for (uint32_t i = 0; i < table->frames.count && status == SMP_OK; i++) {
        const uint32_t location = table->frames.locations[i];
        struct smp_location_view view;
        struct smp_symbol_row *row;
        view_location(table, location, &view);
        if (methods->numbers[view.method] == 0) {
            row = &methods->all[methods->count++];
            *row = (struct smp_symbol_row){ .location = location, .start_line = view.start_line };
            methods->numbers[view.method] = methods->count;
            status = number_file(table, location, &view, &row->file);
        }
        see_line(&methods->all[methods->numbers[view.method] - 1], &view);
    }
    return status;
}

static uint32_t highest_method(const struct smp_symbol_table *table)
{
    uint32_t highest = 0;

    for (uint32_t i = 0; i < table->frames.count; i++) {
        struct smp_location_view view;
        view_location(table, table->frames.locations[i], &view);
        if (view.method > highest)
            highest = view.method;
    }
    return highest;
}

static enum smp_status number_all(struct smp_symbol_table *table)
{
    struct smp_quota *const quota = table->job->quota;
    const size_t frames = (size_t)table->frames.count + 1; /* 0 bytes cannot be allocated */
    struct smp_symbol_methods *const methods = &table->methods;

    methods->numbers =
        smp_alloc(quota, ((size_t)highest_method(table) + 1) * sizeof(*methods->numbers));
    methods->all = smp_alloc(quota, frames * sizeof(*methods->all));
    table->files.all = smp_alloc(quota, frames * sizeof(*table->files.all));
    if (methods->numbers == NULL || methods->all == NULL || table->files.all == NULL)
        return SMP_ENOMEM;
    return number_functions(table);
}

enum smp_status smp_symbol_table_init(struct smp_symbol_table *table,
                                      const struct smp_export_job *job,
                                      const char *const *own_words, size_t own_strings)
{
    enum smp_status status;

    *table =
        (struct smp_symbol_table){ .job = job,
                                   .own_strings = own_strings,
                                   .files.budget = { .quota = job->quota, .max_bytes = SIZE_MAX } };
    smp_bytes_init(&table->text, job->quota, SMP_SYMBOL_MAX_TEXT_BYTES);
    number_words(table, own_words);
    status = smp_used_frames_init(&table->frames, job->quota, job->profile);
    if (status == SMP_OK)
        status = number_all(table);
    if (status != SMP_OK)
        smp_symbol_table_fini(table);
    return status;
}

void smp_symbol_table_fini(struct smp_symbol_table *table)
{
    struct smp_quota *const quota = table->job->quota;

    smp_bytes_fini(&table->text);
    smp_hash_map_fini(&table->files.places, &smp_hash_pairs, &table->files.budget);
    smp_free(quota, table->files.all);
    smp_free(quota, table->methods.all);
    smp_free(quota, table->methods.numbers);
    smp_used_frames_fini(&table->frames);
}

/* --- stacks --- */

enum smp_status smp_symbol_table_each_stack(const struct smp_symbol_table *table,
                                            const struct smp_writer *out,
                                            struct smp_tree_walk *walk, smp_symbol_stack *each,
                                            void *self)
{
    const struct smp_export_job *const job = table->job;
    const struct smp_hot_groups *const sampled = &job->groups[SMP_GROUP_SAMPLED];
    const struct smp_hot_groups *const counted = &job->groups[SMP_GROUP_COUNTED];

    for (size_t i = 0; i < sampled->count + counted->count; i++) {
        const struct smp_group_info *const group =
            i < sampled->count ? smp_export_group(job, sampled, i)
                               : smp_export_group(job, counted, i - sampled->count);
        smp_tree_walk_begin(walk, group->root);
        while (!out->has_failed && smp_tree_walk_next(walk)) {
            struct smp_amounts amounts;
            if (smp_export_own_amounts(walk, group->kind, &amounts))
                each(self, &amounts, i);
        }
    }
    return walk->status;
}

/* --- messages --- */

void smp_symbol_table_put_value_type(const struct smp_symbol_table *table, struct smp_writer *out,
                                     unsigned field, enum smp_measure measure)
{
    const uint64_t type = table->words.measures[measure];
    const uint64_t unit = table->words.units[smp_measure_info(measure)->unit];

    smp_protobuf_put_length(out, field,
                            smp_protobuf_number_bytes(type) + smp_protobuf_number_bytes(unit));
    smp_protobuf_put_number(out, VALUE_TYPE_TYPE, type);
    smp_protobuf_put_number(out, VALUE_TYPE_UNIT, unit);
}

/* Writes a function. Unknown numbers are written as 0. */
static void put_function(const struct smp_symbol_table *table, struct smp_writer *out,
                         unsigned field, unsigned name, uint32_t number)
{
    const struct smp_symbol_row *const row = &table->methods.all[number - 1];
    const uint64_t names = table->words.count + table->own_strings;
    const uint64_t count = table->methods.count;
    struct smp_location_view view;

    view_location(table, row->location, &view);
    const uint64_t figures[] = { number, names + number - 1,
                                 names + number - 1 + (view.is_pseudo ? 0 : count),
                                 row->file == 0 ? 0 : names + 2 * count + row->file - 1,
                                 row->start_line };
    const size_t first = name == 1 ? 1 : 0; /* skips the id */
    size_t bytes = 0;

    for (size_t i = first; i < sizeof(figures) / sizeof(figures[0]); i++)
        bytes += smp_protobuf_number_bytes(figures[i]);
    smp_protobuf_put_length(out, field, bytes);
    for (size_t i = first; i < sizeof(figures) / sizeof(figures[0]); i++)
        smp_protobuf_put_number(out, name + (unsigned)i - 1, figures[i]);
}

void smp_symbol_table_put_functions(const struct smp_symbol_table *table, struct smp_writer *out,
                                    unsigned field, unsigned name)
{
    for (uint32_t i = 1; i <= table->methods.count && !out->has_failed; i++)
        put_function(table, out, field, name, i);
}

/* --- strings --- */

/* Writes the table's text and empties it. */
static void put_text(struct smp_symbol_table *table, struct smp_writer *out, unsigned field)
{
    smp_protobuf_put_string(out, field, smp_bytes_text(&table->text), table->text.length);
    if (table->text.status == SMP_OK)
        smp_bytes_clear(&table->text);
}

const char *smp_symbol_table_group_name(struct smp_symbol_table *table,
                                        const struct smp_hot_groups *groups, size_t rank)
{
    smp_bytes_restart(&table->text);
    smp_escape_put(&table->text, smp_hot_group_name(smp_export_group(table->job, groups, rank)));
    return smp_bytes_text(&table->text);
}

/* Turns a.b.C into a/b/C, as the JVM writes it. Escaping neither adds nor removes dots. */
static void slash_names(struct smp_bytes *text)
{
    for (size_t i = 0; i < text->length; i++) {
        if (text->data[i] == '.')
            text->data[i] = '/';
    }
}

static void put_system_name(struct smp_bytes *text, const struct smp_location_view *view)
{
    smp_escape_put(text, view->class_name);
    slash_names(text);
    smp_bytes_puts(text, ".");
    smp_escape_put(text, view->method_name);
}

/* Appends the path below a source folder: a/b/C.java. Some compilers write the folders into the
 * class file. */
static void put_path(struct smp_bytes *text, const struct smp_location_view *view)
{
    if (strchr(view->file, '/') == NULL) {
        smp_escape_put(text, view->class_name);
        const char *const dot = strrchr(smp_bytes_text(text), '.');
        if (text->status == SMP_OK)
            smp_bytes_truncate(text, dot == NULL ? 0 : (size_t)(dot - text->data) + 1);
        slash_names(text);
    }
    smp_escape_put(text, view->file);
}

void smp_symbol_table_put_words(const struct smp_symbol_table *table, struct smp_writer *out,
                                unsigned field)
{
    for (size_t i = 0; i < table->words.count; i++)
        smp_protobuf_put_string(out, field, table->words.texts[i], strlen(table->words.texts[i]));
}

enum smp_status smp_symbol_table_put_names(struct smp_symbol_table *table, struct smp_writer *out,
                                           unsigned field)
{
    const struct smp_symbol_methods *const methods = &table->methods;
    struct smp_location_view view;

    smp_bytes_restart(&table->text);
    for (uint32_t i = 0; i < methods->count && !out->has_failed; i++) {
        smp_profile_method_text(table->job->profile, methods->all[i].location, &table->text);
        put_text(table, out, field);
    }
    for (uint32_t i = 0; i < methods->count && !out->has_failed; i++) {
        view_location(table, methods->all[i].location, &view);
        if (!view.is_pseudo)
            put_system_name(&table->text, &view);
        put_text(table, out, field);
    }
    for (uint32_t i = 0; i < table->files.count && !out->has_failed; i++) {
        view_location(table, table->files.all[i].location, &view);
        put_path(&table->text, &view);
        put_text(table, out, field);
    }
    return table->text.status;
}

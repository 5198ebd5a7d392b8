/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_table.h - numbers the frames, functions and strings of a profile, for formats that refer
 * to them by number (pprof, otlp).
 *
 *   location number   a frame's number + 1
 *   function number   a method's place in the order in which frames name it, + 1
 *   string number     the words: "", the names of measures and units, then words of the format;
 *                     then as many strings of the format's own as it says; then a name per
 *                     function, a system name per function, the files
 *
 * 0 means "none", and string 0 is empty. The system name of a pseudo-frame equals its name, so it
 * uses the string of the name, and its own string is empty.
 *
 * Owns     its tables; borrows the job.
 * Threads  one at a time.
 * Errors   init: SMP_ENOMEM, and there is nothing to fini. put: SMP_ENOMEM, SMP_EQUOTA, after a
 *          part was written.
 * Cost     init: one pass over the nodes, one over the frames. Memory in proportion to the frames.
 */
#ifndef SMP_EXPORT_SYMBOL_TABLE_H
#define SMP_EXPORT_SYMBOL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/hash_map.h"
#include "export/export_writers.h"
#include "export/tree_walk.h"
#include "export/used_frames.h"

enum {
    SMP_SYMBOL_MAX_TEXT_BYTES = 1 << 30, /* the most for one string */
    SMP_SYMBOL_OWN_WORDS = 2,            /* words of the format */
    SMP_SYMBOL_MAX_WORDS = 1 + SMP_MEASURE_COUNT + SMP_UNIT_COUNT + SMP_SYMBOL_OWN_WORDS
};

struct smp_symbol_words {
    const char *texts[SMP_SYMBOL_MAX_WORDS];
    uint32_t count;
    uint32_t measures[SMP_MEASURE_COUNT]; /* string numbers of the held measures */
    uint32_t units[SMP_UNIT_COUNT];       /* 0: no held measure has this unit */
    uint32_t own[SMP_SYMBOL_OWN_WORDS];
};

struct smp_symbol_methods {
    uint32_t *numbers;          /* function numbers by method id; 0: none */
    struct smp_symbol_row *all; /* by function number - 1 */
    uint32_t count;
};

struct smp_symbol_files {
    struct smp_symbol_file *all;
    uint32_t count;
    struct smp_memory_budget budget;
    struct smp_hash_map places; /* indices + 1, by the address of a name */
};

/* Visible so that look-ups can be inlined; use the functions. */
struct smp_symbol_table {
    const struct smp_export_job *job;
    struct smp_used_frames frames;
    struct smp_symbol_words words;
    uint64_t own_strings;
    struct smp_symbol_methods methods;
    struct smp_symbol_files files;
    struct smp_bytes text; /* one string at a time, escaped to one line because readers print it */
};

/* own_words: SMP_SYMBOL_OWN_WORDS words of the format. own_strings: the number of strings that the
 * format itself writes between the words and the others. */
SMP_CHECKED enum smp_status smp_symbol_table_init(struct smp_symbol_table *table,
                                                  const struct smp_export_job *job,
                                                  const char *const *own_words, size_t own_strings);
void smp_symbol_table_fini(struct smp_symbol_table *table);

static inline void smp_symbol_table_view(const struct smp_symbol_table *table, uint32_t frame,
                                         struct smp_location_view *out)
{
    smp_profile_view(table->job->profile, table->frames.locations[frame], out);
}

/* Returns the function number of the method in a frame's view. */
static inline uint32_t smp_symbol_table_function_of(const struct smp_symbol_table *table,
                                                    const struct smp_location_view *view)
{
    return table->methods.numbers[view->method];
}

/* Returns the location number at this depth of the walk's path. */
static inline uint64_t smp_symbol_table_location_at(const struct smp_used_frames *frames,
                                                    const struct smp_tree_walk *walk, size_t depth)
{
    return (uint64_t)smp_used_frames_number(frames, walk->nodes[walk->path[depth]].location) + 1;
}

/* Called with the current stack of the walk, which has own amounts. group: its rank, with sampled
 * groups before counted ones. */
typedef void smp_symbol_stack(void *self, const struct smp_amounts *amounts, size_t group);
/* Calls put for each stack, group by group, until out fails. */
SMP_CHECKED enum smp_status smp_symbol_table_each_stack(const struct smp_symbol_table *table,
                                                        const struct smp_writer *out,
                                                        struct smp_tree_walk *walk,
                                                        smp_symbol_stack *each, void *self);
/* Writes all functions, each as a field of the current message. name: the field number of the name.
 * This field and the following ones are the same in both formats; only pprof has a field before it,
 * the id. */
void smp_symbol_table_put_functions(const struct smp_symbol_table *table, struct smp_writer *out,
                                    unsigned field, unsigned name);
/* Writes a measure and its unit as the message ValueType, which both formats have. */
void smp_symbol_table_put_value_type(const struct smp_symbol_table *table, struct smp_writer *out,
                                     unsigned field, enum smp_measure measure);
/* Returns the escaped name of a group, valid until the next call; "" if table->text has failed. */
const char *smp_symbol_table_group_name(struct smp_symbol_table *table,
                                        const struct smp_hot_groups *groups, size_t rank);
/* Writes each word as a field of the current message. */
void smp_symbol_table_put_words(const struct smp_symbol_table *table, struct smp_writer *out,
                                unsigned field);
/* Writes the names and files; called after the format's own strings. */
SMP_CHECKED enum smp_status smp_symbol_table_put_names(struct smp_symbol_table *table,
                                                       struct smp_writer *out, unsigned field);

#endif

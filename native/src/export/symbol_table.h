/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_table.h - the frames, functions and strings of a profile, numbered for formats that refer
 * to them by number (pprof, otlp).
 *
 *   location number   a frame's number + 1
 *   function number   a method's place in the order in which frames name it, + 1
 *   string number     the words: "", the names of measures and units, then words of the format;
 *                     then as many strings of the format's own as it says; then a name per
 *                     function, a system name per function, the files
 *
 * 0 means "none", and string 0 is empty. A pseudo-frame's system name would be its name: it has the
 * latter's string, and leaves the other one empty.
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
    SMP_SYMBOL_MAX_TEXT_BYTES = 1 << 30, /* of one string */
    SMP_SYMBOL_OWN_WORDS = 2,            /* of the format */
    SMP_SYMBOL_MAX_WORDS = 1 + SMP_MEASURE_COUNT + SMP_UNIT_COUNT + SMP_SYMBOL_OWN_WORDS
};

struct smp_symbol_words {
    const char *texts[SMP_SYMBOL_MAX_WORDS];
    uint32_t count;
    uint32_t measures[SMP_MEASURE_COUNT]; /* string numbers of those that are held */
    uint32_t units[SMP_UNIT_COUNT];       /* 0: no measure that is held has it */
    uint32_t own[SMP_SYMBOL_OWN_WORDS];
};

struct smp_symbol_methods {
    uint32_t *numbers;          /* of functions, by method id; 0: none */
    struct smp_symbol_row *all; /* by function number - 1 */
    uint32_t count;
};

struct smp_symbol_files {
    struct smp_symbol_file *all;
    uint32_t count;
    struct smp_memory_budget budget;
    struct smp_hash_map places; /* + 1; by the address of a name */
};

/* Visible so that look-ups can be inlined; touch it through the functions. */
struct smp_symbol_table {
    const struct smp_export_job *job;
    struct smp_used_frames frames;
    struct smp_symbol_words words;
    uint64_t own_strings;
    struct smp_symbol_methods methods;
    struct smp_symbol_files files;
    struct smp_bytes text; /* one string: readers print them, so each is escaped to one line */
};

/* own_words: SMP_SYMBOL_OWN_WORDS of them. own_strings: how many strings of its own the format
 * writes between the words and the rest. */
SMP_CHECKED enum smp_status smp_symbol_table_init(struct smp_symbol_table *table,
                                                  const struct smp_export_job *job,
                                                  const char *const *own_words, size_t own_strings);
void smp_symbol_table_fini(struct smp_symbol_table *table);

static inline void smp_symbol_table_view(const struct smp_symbol_table *table, uint32_t frame,
                                         struct smp_location_view *out)
{
    smp_profile_view(table->job->profile, table->frames.locations[frame], out);
}

/* The number of the method of a frame's view. */
static inline uint32_t smp_symbol_table_function_of(const struct smp_symbol_table *table,
                                                    const struct smp_location_view *view)
{
    return table->methods.numbers[view->method];
}

/* The number of the location at this depth of the walk's path. */
static inline uint64_t smp_symbol_table_location_at(const struct smp_used_frames *frames,
                                                    const struct smp_tree_walk *walk, size_t depth)
{
    return (uint64_t)smp_used_frames_number(frames, walk->nodes[walk->path[depth]].location) + 1;
}

/* A stack that has amounts of its own, the current one of the walk. group: its rank, sampled groups
 * before counted ones. */
typedef void smp_symbol_stack(void *self, const struct smp_amounts *amounts, size_t group);
/* Group by group, until out has failed. */
SMP_CHECKED enum smp_status smp_symbol_table_each_stack(const struct smp_symbol_table *table,
                                                        const struct smp_writer *out,
                                                        struct smp_tree_walk *walk,
                                                        smp_symbol_stack *each, void *self);
/* All functions, each as a field of the message that is written. name: the field of its name; it
 * and those behind it are the same in both formats, and before it only pprof has one, its id. */
void smp_symbol_table_put_functions(const struct smp_symbol_table *table, struct smp_writer *out,
                                    unsigned field, unsigned name);
/* A measure and its unit: the message ValueType, which both formats have. */
void smp_symbol_table_put_value_type(const struct smp_symbol_table *table, struct smp_writer *out,
                                     unsigned field, enum smp_measure measure);
/* A string, as a field of the message that is written. */
void smp_symbol_table_put_words(const struct smp_symbol_table *table, struct smp_writer *out,
                                unsigned field);
/* After the format's own strings. */
SMP_CHECKED enum smp_status smp_symbol_table_put_names(struct smp_symbol_table *table,
                                                       struct smp_writer *out, unsigned field);

#endif

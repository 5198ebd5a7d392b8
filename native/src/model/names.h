/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - the append-only arrays behind methods.h: texts, methods made of them, and locations,
 * each stored once; and copies of methods' line tables, so that a new byte code index needs no call
 * of the JVM.
 *
 *   location {method, line} ──► method {class, name, file, parameters} ──► text
 *
 * Owns     its arrays and the tables to find things in them.
 * Threads  one writer. An element whose id a reader has is complete and never moves. Only its
 *          is_monitored, is_application and wait_kind may change. Line tables are the writer's.
 * Errors   id 0 if there is no memory. Parts stored until then stay, and the next call finds them.
 * Cost     one hash. A new overload: the hashes of all overloads of its name. A line takes 8 bytes,
 *          and smp_line_find scans a table.
 */
#ifndef SMP_MODEL_NAMES_H
#define SMP_MODEL_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/memory_budget.h"
#include "base/status.h"
#include "model/sample.h"

enum { SMP_LINE_UNKNOWN = -1, SMP_LINE_NATIVE = -2 };

struct smp_named_method {
    uint32_t class_name;  /* the whole text of a pseudo-method */
    uint32_t method_name; /* 0: a pseudo-method */
    uint32_t file;        /* 0: unknown */
    uint32_t parameters;  /* "(int, String)"; 0: unknown */
    /* The id of the first method of this class, name and file; shared by overloads */
    uint32_t plain;
    uint16_t start_line; /* the smallest of its lines; 0: unknown */
    _Atomic bool is_monitored;
    bool is_own;                 /* of this library's own Java classes */
    _Atomic bool is_application; /* wait_rules.h */
    _Atomic uint8_t wait_kind;   /* enum smp_wait_kind */
    _Atomic int64_t since_ms;    /* wall clock: when it got its probe; 0: before its first call */
};

struct smp_named_location {
    uint32_t method;
    int32_t line; /* > 0, SMP_LINE_UNKNOWN or SMP_LINE_NATIVE */
};

/* Items, each stored once. Item 0 means none. */
struct smp_name_table {
    struct smp_arena *items; /* an array by id; texts by their offset */
    struct smp_hash_map by_hash;
    size_t unit; /* bytes of an item; 1 for texts */
    size_t align;
};

struct smp_names {
    struct smp_memory_budget *budget; /* borrowed */
    struct smp_name_table texts;
    struct smp_name_table methods;
    struct smp_name_table locations;
    struct smp_arena *line_tables;
};

/* The copy of a method's line table. */
struct smp_line_table {
    uint32_t method;
    uint32_t count;
    struct smp_line lines[];
};

enum { SMP_MAX_LINES_KEPT = 65536 /* of one method; javac makes no more */ };

/* Line tables get at most max_lines_bytes of the budget. On failure there is nothing to fini. */
SMP_CHECKED enum smp_status
smp_names_init(struct smp_names *names, struct smp_memory_budget *budget, size_t max_lines_bytes);
void smp_names_fini(struct smp_names *names);

uint32_t smp_names_text(struct smp_names *names, const char *text);
/* Does not compare flags, wait_kind and start_line: the first method's values stay. Sets plain. */
uint32_t smp_names_method(struct smp_names *names, const struct smp_named_method *wanted);
/* Lines distinguish overloads, so methods with one plain have one location per line, whether their
 * parameters are known or not. Without a line each method has a location of its own. */
uint32_t smp_names_location(struct smp_names *names, struct smp_named_location wanted);
/* Keeps a copy of a line table and returns its id. lines may be NULL if count is 0. */
uint32_t smp_names_line_table(struct smp_names *names, uint32_t method,
                              const struct smp_line *lines, size_t count);

/* Reserves memory for the next new location. */
bool smp_names_reserve_location(struct smp_names *names);
/* Reserves memory for the next new method, unless its texts are unusually long. */
bool smp_names_reserve_method(struct smp_names *names);

/* Returns the number of ids, including 0. */
static inline uint32_t smp_name_table_count(const struct smp_name_table *table)
{
    return (uint32_t)(smp_arena_used(table->items) / table->unit);
}

static inline const char *smp_names_text_at(const struct smp_names *names, uint32_t text)
{
    return (const char *)smp_arena_base(names->texts.items) + text;
}

static inline struct smp_named_method *smp_names_method_at(const struct smp_names *names,
                                                           uint32_t method)
{
    return (struct smp_named_method *)smp_arena_base(names->methods.items) + method;
}

static inline const struct smp_named_location *smp_names_location_at(const struct smp_names *names,
                                                                     uint32_t location)
{
    return (const struct smp_named_location *)smp_arena_base(names->locations.items) + location;
}

static inline bool smp_named_method_is_pseudo(const struct smp_named_method *method)
{
    return method->method_name == 0;
}

/* id: of a line table. */
static inline const struct smp_line_table *smp_names_line_table_at(const struct smp_names *names,
                                                                   uint32_t id)
{
    const char *const base = smp_arena_base(names->line_tables);

    return (const struct smp_line_table *)(const void *)(base + id);
}

/* Returns the line of bci: the line of the entry with the highest start up to bci, or of the last
 * such entry. The table may be in any order. A negative bci means the method's beginning: the JVM
 * reports it for compiled code at the entry of a method. */
int32_t smp_line_find(const struct smp_line *lines, size_t count, int32_t bci);

#endif

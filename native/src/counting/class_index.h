/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_index.h - the loaded classes: what they extend, which methods they have, and what these
 * call.
 *
 *   class {loader, name} ──► edges to the names of its super class and interfaces
 *                       └──► methods {signature, flags, calls} ──► targets (call_targets.h)
 *   name ──► the loaded classes of that name, the classes that name it as super class or interface
 *
 * Relations go by name: a loader's token says whether two classes are one, but not which class of a
 * name a loader finds, so all of them count. A super class need not be there.
 *
 * Owns     its classes. An index may be used again after remove.
 * Threads  one at a time.
 * Errors   put: SMP_ENOMEM where the budget, the quota or the system refuse memory; a class that
 *          was there keeps what it had.
 * Cost     put: O(size of the class); remove likewise. Each class: 96 bytes, 20 for each super
 *          type, a piece of the heap with 26 bytes for each method and 4 for each target it calls.
 */
#ifndef SMP_COUNTING_CLASS_INDEX_H
#define SMP_COUNTING_CLASS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"
#include "base/status.h"
#include "counting/call_targets.h"
#include "counting/class_summary.h"
#include "counting/pool.h"
#include "counting/symbols.h"

enum { SMP_CLASSES_LIMIT = 1024 * 1024, SMP_EDGES_LIMIT = 8 * 1024 * 1024 };

struct smp_indexed_method {
    uint32_t signature; /* symbol, held */
    uint32_t first_call;
    uint32_t call_count;
    int32_t id; /* -1 at first. Like flags, only the call graph uses it */
    uint16_t access;
    uint16_t flags;
    uint8_t ahead; /* likewise: how many calls are looked ahead from here; 0: not expanded */
    bool is_trivial;
};

/* What goes when a class gets other bytes. */
struct smp_class_body {
    struct smp_indexed_method *methods; /* one piece of the heap with the two behind it */
    uint32_t *calls;                    /* targets, held; those of one method differ */
    uint16_t *by_signature;             /* method numbers in the order of their signatures */
    uint32_t method_count;
    uint32_t call_count;
};

struct smp_indexed_class {
    uint64_t loader;
    uint64_t visited;     /* the last search that came by */
    uint32_t name;        /* symbol, held; 0: there is no class at this index */
    uint32_t source_file; /* symbol among the signatures, held; 0: not known */
    uint32_t next_named;
    uint32_t prior_named;
    uint32_t first_edge; /* the super class', then the interfaces' */
    struct smp_class_body body;
    /* the call graph's: */
    uint32_t next_dirty;
    uint32_t prior_dirty;
    const char *refusal; /* why no method of it may get a probe; NULL: each may */
    bool is_dirty;
    bool is_urgent;  /* dirty, and among the first */
    bool is_allowed; /* by the filter */
    bool passes_on;  /* a proxy, a lambda: its methods only call what is meant */
    bool lacks_calls;
    /* worklist.h, instances: */
    bool is_initialised;
    bool is_changed;   /* its overrides are to be searched for */
    uint8_t instances; /* 0: none are known; else one more than is looked ahead from overrides */
    uint32_t next_changed;
};

struct smp_subtype_edge {
    uint32_t super_name; /* symbol, held */
    uint32_t subtype;    /* class */
    uint32_t next;       /* of the same super_name */
    uint32_t prior;
    uint32_t next_of_subtype;
};

struct smp_class_index {
    struct smp_memory_budget *budget; /* borrowed */
    struct smp_symbols class_names;
    struct smp_symbols signatures; /* `name.descriptor`; source files, too */
    struct smp_call_targets targets;
    struct smp_pool classes;
    struct smp_pool edges;
    uint32_t *scratch; /* for the calls of the class that is being read */
    size_t scratch_count;
    char *text; /* for a signature that is being put together */
    size_t text_bytes;
    uint32_t clinit; /* the signature of static initialisers, held; 0 before the first class */
    uint32_t made;   /* likewise: that of SMP_CALL_OF_NEW */
    uint32_t caller; /* number of the method that is being read */
};

void smp_class_index_init(struct smp_class_index *index, struct smp_memory_budget *budget);
/* All classes go with it. */
void smp_class_index_fini(struct smp_class_index *index);

/* Whether the calls of this method are kept. */
typedef bool smp_keeps_calls(void *self, const struct smp_class_summary *summary, size_t method);

/*
 * Adds the class, or gives the one that is there new methods and super types. *old is what it had,
 * empty for a new class, to be discarded by the caller. SMP_EINVAL: more methods than a class has.
 */
SMP_CHECKED enum smp_status smp_class_index_put(struct smp_class_index *index,
                                                const struct smp_class_summary *summary,
                                                smp_keeps_calls *keeps_calls, void *self,
                                                uint32_t *out, struct smp_class_body *old);
void smp_class_index_discard(struct smp_class_index *index, struct smp_class_body *body);
void smp_class_index_remove(struct smp_class_index *index, uint32_t removed);

/* 0: there is none. */
uint32_t smp_class_index_find(const struct smp_class_index *index, uint64_t loader,
                              struct smp_slice name);
/* The method's number, or -1. */
int32_t smp_class_body_find(const struct smp_class_body *body, uint32_t signature);

static inline struct smp_indexed_class *smp_class_index_at(const struct smp_class_index *index,
                                                           uint32_t class_index)
{
    return smp_pool_at(&index->classes, class_index);
}

static inline struct smp_subtype_edge *smp_class_index_edge(const struct smp_class_index *index,
                                                            uint32_t edge)
{
    return smp_pool_at(&index->edges, edge);
}

#endif

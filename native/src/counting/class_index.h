/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_index.h - the loaded classes, their super types, their methods and the calls of these. A
 * call target is a triple {class, name and descriptor, how}, stored once for all methods that call
 * it. Its class need not be loaded, and several loaded classes may have that name.
 *
 *   class {loader, name} ──► edges to the names of its super class and interfaces
 *                       └──► methods {signature, flags, calls} ──► call targets
 *   name ──► the loaded classes of that name, the classes that name it as super class or interface
 *
 * Classes refer to each other by name. A loader's token tells classes of one name apart, but not
 * which of them another loader finds, so all count. A super class need not be loaded. Equal names
 * in several loaders can form circles, which do no harm: a search visits each class once.
 *
 * Owns     its classes and targets. An index may be used again after remove.
 * Threads  one at a time.
 * Errors   put: SMP_ENOMEM where the budget, the quota or the system refuse memory; a known class
 *          keeps its body. A search never fails.
 * Cost     put: O(size of the class); remove likewise. Each class: 96 bytes, 20 for each super
 *          type, 26 for each method and 4 for each target it calls; each target 44. A search:
 *          O(classes visited and their edges); steps counts the classes visited.
 */
#ifndef SMP_COUNTING_CLASS_INDEX_H
#define SMP_COUNTING_CLASS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"
#include "base/status.h"
#include "counting/class_summary.h"
#include "counting/pool.h"
#include "counting/symbols.h"

enum {
    SMP_CLASSES_LIMIT = 1024 * 1024,
    SMP_EDGES_LIMIT = 8 * 1024 * 1024,
    SMP_CALL_TARGETS_LIMIT = 16 * 1024 * 1024
};

struct smp_indexed_method {
    uint32_t signature; /* symbol, held */
    uint32_t first_call;
    uint32_t call_count;
    int32_t id; /* -1 at first; id and flags are the call graph's */
    uint16_t access;
    uint16_t flags;
    uint8_t ahead; /* the call graph's: the look-ahead from here in calls; 0: not visited */
    bool is_trivial;
};

/* The part of a class that changes with its bytes. */
struct smp_class_body {
    struct smp_indexed_method *methods; /* one allocation with by_signature */
    uint16_t *by_signature;             /* method numbers in the order of their signatures */
    uint32_t *calls;                    /* targets, held; none twice for a method */
    uint32_t method_count;
    uint32_t call_count;
};

struct smp_indexed_class {
    uint64_t loader;
    uint64_t visited;     /* by the search of this number */
    uint32_t name;        /* symbol, held; 0: no class has this index */
    uint32_t source_file; /* symbol, held; 0: not known */
    uint32_t next_named;
    uint32_t first_edge; /* to its super class, then to its interfaces */
    struct smp_class_body body;
    /* the call graph's: */
    uint32_t next_pending;
    uint32_t prior_pending;
    const char *refusal; /* why no method of it may get a probe; NULL: each may */
    bool is_pending;
    bool is_urgent;  /* pending, and among the first */
    bool is_allowed; /* passes the filter */
    bool passes_on;  /* a proxy or lambda: its methods only pass calls on */
    bool lacks_calls;
    /* worklist.h, instances: */
    bool is_initialised;
    bool is_changed;   /* its overrides are to be searched for */
    uint8_t instances; /* 0: none known; else the look-ahead from overrides plus one */
    uint32_t next_changed;
};

struct smp_subtype_edge {
    uint32_t super_name; /* symbol, held */
    uint32_t subtype;    /* class */
    uint32_t next;       /* of the same super_name */
    uint32_t prior;
    uint32_t next_of_subtype;
};

struct smp_call_target {
    uint32_t owner;     /* symbol, held: the name of a class */
    uint32_t signature; /* symbol, held */
    uint32_t holds;     /* methods that call it */
    /* the call graph's: */
    uint32_t visited_callers; /* methods; above 0: the target is reachable */
    uint32_t next_reachable;  /* of the same owner: the symbol's first_reachable */
    uint32_t next_queued;
    uint32_t place; /* its index among the calls that were read last, if it is one of them */
    uint8_t ahead;  /* the look-ahead from the methods it finds, in calls */
    uint8_t how;    /* SMP_TARGET_ flags */
    bool is_queued;
};

enum {
    SMP_TARGET_DISPATCHED = 1, /* an override may be called */
    SMP_TARGET_MADE = 2        /* a new object or a method handle, which other code calls */
};

/* Classes, or names of classes. */
struct smp_class_list {
    struct smp_grown room;
    size_t count;
};

static inline uint32_t smp_class_list_at(const struct smp_class_list *list, size_t i)
{
    return ((const uint32_t *)list->room.items)[i];
}

struct smp_class_index {
    struct smp_memory_budget *budget; /* borrowed */
    struct smp_symbols symbols;
    struct smp_pool targets;
    struct smp_hash_map targets_by_hash;
    struct smp_pool classes;
    struct smp_pool edges;
    struct smp_grown calls; /* of the class that is being read: targets, held */
    uint32_t call_count;
    uint32_t first_call;   /* of the method that is being read */
    struct smp_grown text; /* a signature that is being composed */
    uint32_t clinit; /* the signature of static initialisers, held; 0 before the first class */
    uint32_t made;   /* likewise the signature of SMP_CALL_OF_NEW */
    /* The results of searches; as large as any search needs. */
    struct smp_class_list subtypes; /* classes; those of the name itself come first */
    size_t same_count;              /* the number of classes of the name itself */
    struct smp_class_list supers;   /* names; that of the class itself comes first */
    struct smp_class_list open;     /* classes that a search for a method still has to visit */
    uint64_t search;                /* the number of the last search */
    uint64_t steps;
};

void smp_class_index_init(struct smp_class_index *index, struct smp_memory_budget *budget);
/* Frees all classes. */
void smp_class_index_fini(struct smp_class_index *index);

/* Adds the class, or gives a known class new methods and super types. *old is its former body,
 * empty for a new class; the caller discards it. SMP_EINVAL: more methods than a class can have.
 * keeps_calls false: its methods call nothing. */
SMP_CHECKED enum smp_status smp_class_index_put(struct smp_class_index *index,
                                                const struct smp_class_summary *summary,
                                                bool keeps_calls, uint32_t *out,
                                                struct smp_class_body *old);
void smp_class_index_discard(struct smp_class_index *index, struct smp_class_body *body);
void smp_class_index_remove(struct smp_class_index *index, uint32_t removed);

/* Returns 0 if the class is not known. */
uint32_t smp_class_index_find(const struct smp_class_index *index, uint64_t loader,
                              struct smp_slice name);
/* Returns the number of the method with this signature, or -1. */
int32_t smp_class_body_find(const struct smp_class_body *body, uint32_t signature);

static inline struct smp_indexed_class *smp_class_index_at(const struct smp_class_index *index,
                                                           uint32_t class_index)
{
    return smp_pool_at(&index->classes, class_index);
}

/* The first loaded class of a name; next_named leads to the others. */
static inline uint32_t smp_class_index_first(const struct smp_class_index *index, uint32_t name)
{
    return smp_symbols_at(&index->symbols, name)->first_class;
}

static inline struct smp_slice smp_class_index_name(const struct smp_class_index *index,
                                                    uint32_t class_index)
{
    return smp_symbols_text(&index->symbols, smp_class_index_at(index, class_index)->name);
}

static inline struct smp_call_target *smp_class_index_target(const struct smp_class_index *index,
                                                             uint32_t target)
{
    return smp_pool_at(&index->targets, target);
}

/* Fills subtypes: the loaded classes of this name, then all that extend or implement them. */
void smp_class_index_subtypes(struct smp_class_index *index, uint32_t name);
/* Fills supers: the name of the class, then the names of all its super types. */
void smp_class_index_supers(struct smp_class_index *index, uint32_t of);

typedef void smp_method_found(void *self, uint32_t in_class, uint32_t method);
/* Calls found for each method that a call of this signature finds in the classes: the first
 * declared one on each way upwards. is_override: finds only methods that can override, which are
 * neither static nor private. A search for static initialisers goes on to all super classes. */
void smp_class_index_search(struct smp_class_index *index, uint32_t signature,
                            const uint32_t *classes, size_t count, bool is_override,
                            smp_method_found *found, void *self);

#endif

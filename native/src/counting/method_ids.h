/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_ids.h - the ids that probes push: id ──► class, name, descriptor, state.
 *
 *   take ──► INSTRUMENTED ──► LEFT_ALONE   the rewriter could not give it a probe
 *                 ├─────► DROPPED      short and called often: its probe is removed
 *                 ├─────► WAITING      the limit: other methods are called more often (exchange.c)
 *                 └─────► RETIRED      its class is unloaded; trees may still have the id
 *                            └─► free  recycle: neither a probe nor a tree has it any more
 *
 * An id is not used again before recycle, because frames that still run the old code of its method
 * call the hook with it, and call trees show it.
 *
 * Owns     its records, which hold their symbols: names outlive the class until recycle.
 * Threads  one at a time.
 * Errors   reserve: false at the limit of ids or where there is no memory.
 * Cost     take, retire: constant. recycle: O(ids) where any are retired. Each id: 40 bytes.
 */
#ifndef SMP_COUNTING_METHOD_IDS_H
#define SMP_COUNTING_METHOD_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/pool.h"
#include "counting/symbols.h"

enum smp_method_state {
    SMP_METHOD_FREE,         /* no method has this id */
    SMP_METHOD_INSTRUMENTED, /* it has a probe, or gets one */
    SMP_METHOD_LEFT_ALONE,
    SMP_METHOD_DROPPED,
    SMP_METHOD_WAITING,
    SMP_METHOD_RETIRED
};

struct smp_method_record {
    uint32_t class_name;  /* symbol, held */
    uint32_t signature;   /* symbol, held */
    uint32_t source_file; /* symbol, held; 0: not known */
    uint32_t in_class;    /* its index in class_index; 0: retired */
    uint32_t number;      /* of the method in its class */
    uint8_t state;
    bool is_entered;
    int64_t since_ms; /* wall clock time of its probe; 0: none; or one of the values below */
    uint64_t calls;   /* exchange.c: in this measurement; of a waiting method in its last one, per
                         SMP_PLACES_PRECISION calls of roots */
};

/* The probe was there before the method could run. */
#define SMP_METHOD_SINCE_LOAD INT64_C(-1)
/* Bytes with the probe have been made, but the JVM may not use them yet. */
#define SMP_METHOD_SINCE_SOON INT64_C(-2)

/* The parts of a method's name, in internal form. */
struct smp_method_name {
    struct smp_slice class_name;
    struct smp_slice method_name;
    struct smp_slice descriptor;
    struct smp_slice source_file; /* of its class; length 0: not known */
};

struct smp_method_ids {
    struct smp_pool records;     /* the record of id i is at i + 1 */
    struct smp_symbols *symbols; /* borrowed */
    uint32_t retired;            /* ids that wait for recycle */
};

/* limit: the most ids in use, with the retired ones; 1 to 2^30. */
void smp_method_ids_init(struct smp_method_ids *ids, struct smp_memory_budget *budget,
                         struct smp_symbols *symbols, uint32_t limit);
/* Must come before the symbols' fini. */
void smp_method_ids_fini(struct smp_method_ids *ids);

/* Reserves an id and its memory, so that the next take succeeds. */
bool smp_method_ids_reserve(struct smp_method_ids *ids);
/* Takes the reserved id. The caller fills in the other fields of its record. */
int32_t smp_method_ids_take(struct smp_method_ids *ids, uint32_t class_name, uint32_t signature);
void smp_method_ids_retire(struct smp_method_ids *ids, int32_t id);
/* source_file: a symbol, or 0. */
void smp_method_ids_set_source(struct smp_method_ids *ids, int32_t id, uint32_t source_file);

/* Returns whether a probe or a tree may still have this id. */
typedef bool smp_id_in_use(void *self, int32_t id);
/* Frees the retired ids that are not in use. Returns how many. */
uint32_t smp_method_ids_recycle(struct smp_method_ids *ids, smp_id_in_use *in_use, void *self);

/* Returns NULL if no method has this id. The pointer is valid until the next reserve. */
struct smp_method_record *smp_method_ids_at(const struct smp_method_ids *ids, int32_t id);
/* Returns a number above all ids that were ever taken. */
int32_t smp_method_ids_end(const struct smp_method_ids *ids);

/* Returns the name of the method with this id, valid until the id is recycled. */
struct smp_method_name smp_method_ids_name(const struct smp_method_ids *ids, int32_t id);

/* Write "com.acme.Order" and "com.acme.Order.add" in UTF-8, cut with an ellipsis if they do not
 * fit; size is at least 16. smp_class_name_text returns the length. */
size_t smp_class_name_text(char *out, size_t size, struct smp_slice class_name);
void smp_method_text(char *out, size_t size, struct smp_slice class_name, struct smp_slice method);
/* Returns the name in `name.descriptor`. */
struct smp_slice smp_signature_name(struct smp_slice signature);

#endif

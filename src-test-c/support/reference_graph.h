/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_graph.h - a naive version of counting/call_graph: after each step it computes
 * everything from scratch. Names are small numbers.
 *
 * Only the history that the scheme defines is kept from step to step: the wanted methods (as long
 * as their class is loaded), how far ahead the graph has looked from each of them, and the
 * farthest look-ahead of the callers of each method that is still called.
 */
#ifndef SMP_SUPPORT_REFERENCE_GRAPH_H
#define SMP_SUPPORT_REFERENCE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/call_graph.h"
#include "counting/class_summary.h"

enum {
    REFERENCE_NAMES = 14,
    REFERENCE_SIGNATURES = 7, /* signatures of methods */
    REFERENCE_NEW = 7,        /* a call with this signature creates an object of the owner */
    REFERENCE_BY_NAME = 8,    /* a call of all methods named like the first one */
    REFERENCE_CALLED = 9,     /* signatures of calls */
    REFERENCE_HOWS = 4,       /* kinds of call: virtual or not, with an object created or not */
    REFERENCE_CLINIT = 5,     /* the number of a signature, as is the next constant */
    REFERENCE_INIT = 4,
    REFERENCE_LOADERS = 3,
    REFERENCE_METHODS = 5, /* per class, at most */
    REFERENCE_CALLS = 4,   /* per method, at most */
    REFERENCE_SUPERS = 3
};

struct reference_call {
    unsigned owner;
    unsigned signature;
    bool is_dispatched;
    bool is_made;
};

struct reference_method {
    unsigned signature;
    uint16_t access;
    bool is_trivial;
    unsigned call_count;
    struct reference_call calls[REFERENCE_CALLS];
    bool is_root;
    bool is_named;  /* by a rule without stars */
    bool is_wanted; /* it has an id, or was permanently refused one */
    bool is_left_alone;
    bool is_dropped;
    unsigned ahead;   /* LAZY: look_ahead, if it was entered or cannot be; one less for each call */
    bool was_planned; /* it had a probe in the last plan */
    int32_t id;       /* the id in the real graph; -1: not seen yet */
};

struct reference_class {
    bool is_loaded;
    /* a probe was removed since the last plan, so the class may be pending without need */
    bool may_be_stale;
    unsigned supers[REFERENCE_SUPERS];
    unsigned super_count;
    bool is_initialised; /* a method of it was wanted once, or a subtype has instances */
    /* one more than the look-ahead from its overrides; 0: it has no instances */
    unsigned instances;
    unsigned method_count;
    struct reference_method methods[REFERENCE_METHODS];
};

struct reference_graph {
    enum smp_instrumentation scheme;
    unsigned look_ahead;
    bool has_rules;
    /* The farthest look-ahead of its callers since it was reached; 0: not reached. */
    unsigned reached[REFERENCE_NAMES][REFERENCE_CALLED][REFERENCE_HOWS];
    struct reference_class classes[REFERENCE_LOADERS][REFERENCE_NAMES];
};

const char *reference_class_name(unsigned name);
const char *reference_method_name(unsigned signature);
const char *reference_descriptor(unsigned signature);
/* The rules and the filter that the naive version implements. */
extern const char *const reference_rules;
extern const char *const reference_filter;

/* Reads only the super types, methods and calls of the class. */
void reference_graph_load(struct reference_graph *self, unsigned loader, unsigned name,
                          const struct reference_class *loaded);
void reference_graph_unload(struct reference_graph *self, unsigned loader, unsigned name);
/* Marks the method as entered, or as one that cannot be. Call reference_graph_close afterwards. */
void reference_graph_visit(struct reference_graph *self, unsigned name,
                           struct reference_class *in_class, struct reference_method *method);
/* Recomputes the graph. Call it after the flags of methods have changed. */
void reference_graph_close(struct reference_graph *self);
bool reference_graph_has_probe(const struct reference_method *method);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_graph.h - counting/call_graph once more, naive: after each step everything is computed
 * from scratch, over names that are small numbers.
 *
 * What is kept from step to step is only what the scheme defines as history: which methods are
 * wanted (as long as their class is loaded), how far ahead was looked from them, and the farthest
 * that was looked from the callers of what is still called.
 */
#ifndef SMP_SUPPORT_REFERENCE_GRAPH_H
#define SMP_SUPPORT_REFERENCE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/call_graph.h"
#include "counting/class_summary.h"

enum {
    REFERENCE_NAMES = 14,
    REFERENCE_SIGNATURES = 7, /* that methods have */
    REFERENCE_NEW = 7,        /* a call of it makes an object of the owner */
    REFERENCE_BY_NAME = 8,    /* a call of it is of all that have the name of the first one */
    REFERENCE_CALLED = 9,     /* signatures of calls */
    REFERENCE_HOWS = 4,       /* dispatched or not, made or not */
    REFERENCE_CLINIT = 5,     /* number of a signature, as the one behind it */
    REFERENCE_INIT = 4,
    REFERENCE_LOADERS = 3,
    REFERENCE_METHODS = 5, /* of a class at most */
    REFERENCE_CALLS = 4,   /* of a method at most */
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
    bool is_wanted; /* has an id, or was refused one for good */
    bool is_left_alone;
    bool is_dropped;
    unsigned ahead;   /* LAZY: look_ahead, if it was entered or cannot be; one less for each call */
    bool was_planned; /* it had a probe in the last plan */
    int32_t id;       /* of the real one; -1: not seen yet */
};

struct reference_class {
    bool is_loaded;
    bool may_be_stale; /* a probe was taken since the last plan: it may be pending for nothing */
    unsigned supers[REFERENCE_SUPERS];
    unsigned super_count;
    bool is_initialised; /* a method of it was wanted once, or a subtype has instances */
    unsigned instances;  /* one more than is looked ahead from its overrides; 0: there are none */
    unsigned method_count;
    struct reference_method methods[REFERENCE_METHODS];
};

struct reference_graph {
    enum smp_instrumentation scheme;
    unsigned look_ahead;
    bool has_rules;
    /* How far its callers look ahead, at most since it is reached; 0: it is not. */
    unsigned reached[REFERENCE_NAMES][REFERENCE_CALLED][REFERENCE_HOWS];
    struct reference_class classes[REFERENCE_LOADERS][REFERENCE_NAMES];
};

const char *reference_class_name(unsigned name);
const char *reference_method_name(unsigned signature);
const char *reference_descriptor(unsigned signature);
/* The rules and the filter that the naive version knows by heart. */
extern const char *const reference_rules;
extern const char *const reference_filter;

/* Only super types, methods and calls of the class are read. */
void reference_graph_load(struct reference_graph *self, unsigned loader, unsigned name,
                          const struct reference_class *loaded);
void reference_graph_unload(struct reference_graph *self, unsigned loader, unsigned name);
/* The method was entered, or cannot be. To be closed. */
void reference_graph_visit(struct reference_graph *self, unsigned name,
                           struct reference_class *in_class, struct reference_method *method);
/* After changes to flags of methods. */
void reference_graph_close(struct reference_graph *self);
bool reference_graph_has_probe(const struct reference_method *method);

#endif

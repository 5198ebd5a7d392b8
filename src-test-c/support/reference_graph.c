/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reference_graph.h"

#include <string.h>

/* Names 0 to 2 belong to the JDK, 3 is never instrumented, 4 and 5 are excluded. */
static const char *const NAMES[REFERENCE_NAMES] = {
    "java/lang/Object", "java/util/List",  "java/util/AbstractList",
    "java/lang/Thread", "com/acme/util/U", "com/acme/util/V",
    "com/acme/A",       "com/acme/B",      "com/acme/C",
    "com/acme/D",       "com/acme/E",      "com/acme/F",
    "com/acme/G",       "com/acme/H"
};

static const struct {
    const char *name;
    const char *descriptor;
} SIGNATURES[REFERENCE_CALLED] = { { "a", "()V" },      { "b", "(I)I" },
                                   { "run", "()V" },    { "main", "([Ljava/lang/String;)V" },
                                   { "<init>", "()V" }, { "<clinit>", "()V" },
                                   { "c", "()V" },      { SMP_CALL_OF_NEW, "" },
                                   { "a", "" } };

const char *const reference_rules =
    "com.acme.A.a, com.acme.B.*, com.acme.util.U.b(int), java.util.List.a, java.lang.Thread.run, "
    "com.acme.B.b, com.acme.B.b*";
const char *const reference_filter = "-com.acme.util";

const char *reference_class_name(unsigned name)
{
    return NAMES[name];
}

const char *reference_method_name(unsigned signature)
{
    return SIGNATURES[signature].name;
}

const char *reference_descriptor(unsigned signature)
{
    return SIGNATURES[signature].descriptor;
}

static bool is_rule(unsigned name, unsigned signature)
{
    return (name == 6 && signature == 0) ||
           (name == 7 && signature != REFERENCE_INIT && signature != REFERENCE_CLINIT) ||
           (name == 4 && signature == 1) || (name == 1 && signature == 0);
}

/* Named by a rule without stars. For B.b, a rule with a star precedes that rule and another one
 * follows it. */
static bool is_named(unsigned name, unsigned signature)
{
    return is_rule(name, signature) && (name != 7 || signature == 1);
}

static bool is_allowed_name(unsigned name)
{
    return name > 5;
}

static bool has_no_code(const struct reference_method *method)
{
    return (method->access & (SMP_ACCESS_NATIVE | SMP_ACCESS_ABSTRACT)) != 0;
}

static bool is_root_of(const struct reference_graph *self, unsigned name,
                       const struct reference_method *method)
{
    const bool is_static = (method->access & SMP_ACCESS_STATIC) != 0;

    if (self->has_rules)
        return is_rule(name, method->signature);
    return self->scheme == SMP_INSTRUMENTATION_TOTAL && is_allowed_name(name) &&
           !has_no_code(method) &&
           ((method->signature == 2 && !is_static) || (method->signature == 3 && is_static));
}

bool reference_graph_has_probe(const struct reference_method *method)
{
    return method->is_wanted && !method->is_left_alone && !method->is_dropped;
}

/* --- types --- */

/* Returns whether the name is the class or one of its super types. seen: names that were
 * visited. */
static bool leads_to(const struct reference_graph *self, const struct reference_class *from,
                     unsigned to, bool seen[REFERENCE_NAMES])
{
    for (unsigned s = 0; s < from->super_count; s++) {
        const unsigned super = from->supers[s];

        if (super == to)
            return true;
        if (seen[super])
            continue;
        seen[super] = true;
        for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
            const struct reference_class *const named = &self->classes[l][super];

            if (named->is_loaded && leads_to(self, named, to, seen))
                return true;
        }
    }
    return false;
}

struct found_methods {
    bool seen[REFERENCE_LOADERS][REFERENCE_NAMES];
    bool found[REFERENCE_LOADERS][REFERENCE_NAMES][REFERENCE_METHODS];
};

static void look_up(const struct reference_graph *self, unsigned loader, unsigned name,
                    unsigned signature, bool is_override, struct found_methods *out)
{
    const struct reference_class *const it = &self->classes[loader][name];
    bool is_declared = false;

    if (!it->is_loaded || out->seen[loader][name])
        return;
    out->seen[loader][name] = true;
    for (unsigned m = 0; m < it->method_count; m++) {
        const struct reference_method *const method = &it->methods[m];

        if (method->signature != signature)
            continue;
        is_declared = true;
        if (!is_override || (method->access & (SMP_ACCESS_PRIVATE | SMP_ACCESS_STATIC)) == 0)
            out->found[loader][name][m] = true;
    }
    if (is_declared && signature != REFERENCE_CLINIT)
        return;
    for (unsigned s = 0; s < it->super_count; s++) {
        for (unsigned l = 0; l < REFERENCE_LOADERS; l++)
            look_up(self, l, it->supers[s], signature, is_override, out);
        if (signature == REFERENCE_CLINIT)
            return;
    }
}

/* --- the closure --- */

static void raise_to(unsigned *value, unsigned least)
{
    if (*value < least)
        *value = least;
}

static void want(const struct reference_graph *self, unsigned name, struct reference_class *it,
                 struct reference_method *method)
{
    if (method->is_wanted)
        return;
    method->is_wanted = true;
    if (self->scheme == SMP_INSTRUMENTATION_TOTAL)
        return;
    it->is_initialised = true;
    if (self->scheme == SMP_INSTRUMENTATION_EAGER && is_allowed_name(name) &&
        (method->access & SMP_ACCESS_STATIC) == 0)
        raise_to(&it->instances, 1);
}

static bool is_initialiser(const struct reference_method *method)
{
    return method->signature == REFERENCE_INIT || method->signature == REFERENCE_CLINIT;
}

static void want_found_method(const struct reference_graph *self, unsigned name,
                              struct reference_class *it, struct reference_method *method,
                              unsigned ahead)
{
    if (!has_no_code(method) && (method->is_root || (is_allowed_name(name) && !method->is_trivial)))
        want(self, name, it, method);
    if ((name == 4 || name == 5) && !is_initialiser(method) &&
        (method->access & (SMP_ACCESS_STATIC | SMP_ACCESS_ABSTRACT)) == 0)
        raise_to(&it->instances, ahead + 1);
    if (method->is_wanted)
        raise_to(&method->ahead, ahead + ((method->access & SMP_ACCESS_BRIDGE) != 0));
}

static void want_found_methods(struct reference_graph *self, const struct found_methods *found,
                               unsigned ahead)
{
    for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
        for (unsigned n = 0; n < REFERENCE_NAMES; n++) {
            struct reference_class *const it = &self->classes[l][n];

            for (unsigned m = 0; it->is_loaded && m < it->method_count; m++) {
                if (found->found[l][n][m])
                    want_found_method(self, n, it, &it->methods[m], ahead);
            }
        }
    }
}

/* Follows a call that names a class but no method, or all methods of a name. */
static void follow_name(struct reference_graph *self, const struct reference_call *call,
                        unsigned ahead)
{
    for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
        struct reference_class *const it = &self->classes[l][call->owner];

        if (!it->is_loaded)
            continue;
        if (call->signature == REFERENCE_NEW && is_allowed_name(call->owner))
            raise_to(&it->instances, ahead + 1);
        for (unsigned m = 0; call->signature == REFERENCE_BY_NAME && m < it->method_count; m++) {
            if (it->methods[m].signature == 0)
                want_found_method(self, call->owner, it, &it->methods[m], ahead);
        }
    }
}

static void follow(struct reference_graph *self, const struct reference_call *call, unsigned ahead)
{
    if (call->signature >= REFERENCE_SIGNATURES) {
        follow_name(self, call, ahead);
        return;
    }
    for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
        for (unsigned n = 0; n < REFERENCE_NAMES; n++) {
            const struct reference_class *const it = &self->classes[l][n];
            bool seen[REFERENCE_NAMES] = { false };

            if (!it->is_loaded)
                continue;
            if (n == call->owner ||
                (call->is_dispatched && leads_to(self, it, call->owner, seen))) {
                struct found_methods found = { 0 };

                look_up(self, l, n, call->signature, n != call->owner, &found);
                want_found_methods(self, &found, ahead);
            }
        }
    }
}

/* Wants the methods by which an instance of the class overrides those of a super type that is not
 * instrumented. */
static void want_overrides(struct reference_graph *self, unsigned loader, unsigned name,
                           const struct reference_class *outside)
{
    for (unsigned m = 0; m < outside->method_count; m++) {
        const struct reference_method *const declared = &outside->methods[m];
        struct found_methods found = { 0 };

        if ((declared->access & (SMP_ACCESS_PRIVATE | SMP_ACCESS_STATIC)) != 0 ||
            is_initialiser(declared))
            continue;
        look_up(self, loader, name, declared->signature, true, &found);
        want_found_methods(self, &found, self->classes[loader][name].instances - 1);
    }
}

/* Follows a call of a method of a class that is not instrumented: it may call an override in any
 * instrumented subtype. */
static void follow_left(struct reference_graph *self, unsigned name, unsigned instances)
{
    for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
        for (unsigned n = 0; n < REFERENCE_NAMES; n++) {
            struct reference_class *const it = &self->classes[l][n];
            bool seen[REFERENCE_NAMES] = { false };

            if (it->is_loaded && is_allowed_name(n) && leads_to(self, it, name, seen))
                raise_to(&it->instances, instances);
        }
    }
}

static void follow_instances(struct reference_graph *self, unsigned loader, unsigned name)
{
    for (unsigned n = 0; n < REFERENCE_NAMES; n++) {
        bool seen[REFERENCE_NAMES] = { false };

        if (n != name && !leads_to(self, &self->classes[loader][name], n, seen))
            continue;
        for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
            if (!self->classes[l][n].is_loaded)
                continue;
            if (is_allowed_name(n))
                self->classes[l][n].is_initialised = true;
            else
                want_overrides(self, loader, name, &self->classes[l][n]);
        }
    }
}

/* Returns how many calls ahead to look from the method; 0: none. */
static unsigned look_from(const struct reference_graph *self, const struct reference_method *method)
{
    switch (self->scheme) {
    case SMP_INSTRUMENTATION_LAZY:
        return method->ahead;
    case SMP_INSTRUMENTATION_EAGER:
        return method->is_wanted;
    default:
        return 0;
    }
}

static bool has_root(const struct reference_class *it)
{
    for (unsigned m = 0; m < it->method_count; m++) {
        if (it->methods[m].is_root)
            return true;
    }
    return false;
}

/* Returns whether a class initialiser has run in a class whose calls are known. */
static bool has_run(unsigned name, const struct reference_class *in_class,
                    const struct reference_method *method)
{
    return in_class->is_initialised && is_initialiser(method) &&
           (is_allowed_name(name) || has_root(in_class));
}

/* Finds the methods called by a visited method or by an initialiser that has run. */
static void find_called_by(const struct reference_graph *self,
                           const struct reference_method *method, bool has_run,
                           unsigned called[REFERENCE_NAMES][REFERENCE_CALLED][REFERENCE_HOWS])
{
    const unsigned ahead = look_from(self, method);

    for (unsigned c = 0; c < method->call_count; c++) {
        const struct reference_call *const call = &method->calls[c];
        const bool is_dispatched = call->is_dispatched && call->signature != REFERENCE_INIT &&
                                   call->signature != REFERENCE_CLINIT &&
                                   call->signature != REFERENCE_NEW;
        unsigned *const target =
            &called[call->owner][call->signature][is_dispatched + 2 * call->is_made];

        raise_to(target, ahead);
        if (call->is_made && has_run)
            raise_to(target, 1);
        if (!is_dispatched && call->signature < REFERENCE_SIGNATURES)
            raise_to(&called[call->owner][REFERENCE_CLINIT][0], ahead);
    }
}

static void find_called(const struct reference_graph *self,
                        unsigned called[REFERENCE_NAMES][REFERENCE_CALLED][REFERENCE_HOWS])
{
    for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
        for (unsigned n = 0; n < REFERENCE_NAMES; n++) {
            const struct reference_class *const it = &self->classes[l][n];

            for (unsigned m = 0; it->is_loaded && m < it->method_count; m++)
                find_called_by(self, &it->methods[m], has_run(n, it, &it->methods[m]), called);
        }
    }
}

static void follow_reached(struct reference_graph *self, unsigned name, unsigned signature)
{
    for (unsigned how = 0; how < REFERENCE_HOWS; how++) {
        if (self->reached[name][signature][how] > 0)
            follow(self, &(struct reference_call){ name, signature, how % 2 != 0, how / 2 != 0 },
                   self->reached[name][signature][how] - 1);
    }
}

static void follow_all(struct reference_graph *self)
{
    unsigned called[REFERENCE_NAMES][REFERENCE_CALLED][REFERENCE_HOWS] = { { { 0 } } };

    find_called(self, called);
    for (unsigned n = 0; n < REFERENCE_NAMES; n++) {
        for (unsigned s = 0; s < REFERENCE_CALLED; s++) {
            for (unsigned how = 0; how < REFERENCE_HOWS; how++) {
                unsigned *const reached = &self->reached[n][s][how];

                if (called[n][s][how] == 0)
                    *reached = 0;
                else
                    raise_to(reached, called[n][s][how]);
            }
        }
    }
    for (unsigned n = 0; n < REFERENCE_NAMES; n++) {
        for (unsigned s = 0; s < REFERENCE_CALLED; s++)
            follow_reached(self, n, s);
        for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
            const unsigned instances = self->classes[l][n].instances;

            if (instances > 0 && is_allowed_name(n))
                follow_instances(self, l, n);
            else if (instances > 0)
                follow_left(self, n, instances);
        }
    }
}

/* Closing repeats until this count no longer grows. */
static unsigned count_wanted(const struct reference_graph *self)
{
    unsigned count = 0;

    for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
        for (unsigned n = 0; n < REFERENCE_NAMES; n++) {
            const struct reference_class *const it = &self->classes[l][n];

            count += it->is_initialised + it->instances;
            for (unsigned m = 0; it->is_loaded && m < it->method_count; m++)
                count += it->methods[m].is_wanted + it->methods[m].ahead;
        }
    }
    return count;
}

void reference_graph_close(struct reference_graph *self)
{
    unsigned before = 0;

    do {
        before = count_wanted(self);
        follow_all(self);
    } while (count_wanted(self) > before);
}

void reference_graph_visit(struct reference_graph *self, unsigned name,
                           struct reference_class *in_class, struct reference_method *method)
{
    method->ahead = self->look_ahead;
    if (self->scheme != SMP_INSTRUMENTATION_TOTAL && is_allowed_name(name) &&
        (method->access & SMP_ACCESS_STATIC) == 0)
        raise_to(&in_class->instances, self->look_ahead);
}

static void want_by_itself(struct reference_graph *self, unsigned name, struct reference_class *it,
                           struct reference_method *method)
{
    method->is_root = is_root_of(self, name, method);
    method->is_named = self->has_rules && is_named(name, method->signature);
    if (has_no_code(method))
        return;
    if (method->is_root ||
        (self->scheme == SMP_INSTRUMENTATION_TOTAL && is_allowed_name(name) && !method->is_trivial))
        want(self, name, it, method);
}

static void keep_history(struct reference_method *method, const struct reference_class *old)
{
    for (unsigned m = 0; old->is_loaded && m < old->method_count; m++) {
        const struct reference_method *const before = &old->methods[m];

        if (before->signature != method->signature || (method->is_trivial && !before->is_root))
            continue;
        method->is_wanted = before->is_wanted;
        method->is_dropped = before->is_dropped;
        method->ahead = before->ahead;
        method->id = before->id;
    }
}

void reference_graph_load(struct reference_graph *self, unsigned loader, unsigned name,
                          const struct reference_class *loaded)
{
    struct reference_class *const it = &self->classes[loader][name];
    const struct reference_class old = *it;

    *it = *loaded;
    it->is_loaded = true;
    it->may_be_stale = false;
    it->is_initialised = old.is_loaded && old.is_initialised;
    it->instances = old.is_loaded ? old.instances : 0;
    for (unsigned m = 0; m < it->method_count; m++) {
        struct reference_method *const method = &it->methods[m];

        method->is_wanted = method->is_left_alone = method->is_dropped = false;
        method->was_planned = false;
        method->ahead = 0;
        method->id = -1;
        keep_history(method, &old);
        want_by_itself(self, name, it, method);
    }
    reference_graph_close(self);
}

void reference_graph_unload(struct reference_graph *self, unsigned loader, unsigned name)
{
    memset(&self->classes[loader][name], 0, sizeof(self->classes[loader][name]));
    /* closes again: methods that only the removed one called are not reached any more */
    reference_graph_close(self);
}

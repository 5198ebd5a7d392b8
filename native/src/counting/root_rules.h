/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_rules.h - the property rootMethods: from which methods on calls are counted.
 *
 *   com.acme.OrderHandler.handle                one method, all its overloads
 *   com.acme.OrderHandler.handle(long, String)  one overload: parameter types as in Java source,
 *                                               with or without their package; () for none
 *   com.acme.OrderHandler.<init>                its constructors, after super() or this()
 *   com.acme.jobs.*.run                         * matches any text within one level
 *   com.acme.batch.**                           ** matches one level or more: all methods of
 *                                               all classes below com.acme.batch
 *   com.acme.**.run                             run, of all classes below com.acme
 *
 * The class is the text before the last dot, so com.acme.Order.* means all methods of that class.
 * com.acme.Order alone means the same once a class of that name is loaded. A nested class is
 * written with its dollar sign: com.acme.Order$Line. Stars and names of classes match no
 * constructor and no static initialiser: a rule has to name these.
 *
 * The setter in Java (NameLists) refuses all other texts; here they match nothing useful.
 *
 * Threads  any.
 * Cost     read: a pass over the text. A match: O(length of rule and names), times the number of
 *          levels for `**`.
 */
#ifndef SMP_COUNTING_ROOT_RULES_H
#define SMP_COUNTING_ROOT_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

/* A rule. All its parts point into the text that it was read from. */
struct smp_root_rule {
    struct smp_slice text;
    struct smp_slice class_pattern;
    struct smp_slice method_pattern;
    struct smp_slice parameters; /* between the parentheses */
    struct smp_slice as_class;   /* the whole text if it may name a class; else empty */
    bool has_parameters;
};

struct smp_root_rule smp_root_rule_read(struct smp_slice text);
/* Returns whether the rule names methods of the class with this internal name. */
bool smp_root_rule_matches_class(const struct smp_root_rule *rule, struct smp_slice class_name);
/* Returns whether the rule names methods of a matching class one by one: neither with a star, nor
 * by the name of the class alone. */
bool smp_root_rule_is_exact(const struct smp_root_rule *rule, struct smp_slice class_name);
/* Returns whether the rule names this method of a matching class. */
bool smp_root_rule_matches_method(const struct smp_root_rule *rule, struct smp_slice class_name,
                                  struct smp_slice name, struct smp_slice descriptor);

#endif

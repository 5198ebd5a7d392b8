/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_rules.h - the property rootMethods: from which methods on calls are counted.
 *
 *   com.acme.OrderHandler.handle                one method, all its overloads
 *   com.acme.OrderHandler.handle(long, String)  one overload: parameter types as in Java source,
 *                                               with or without their package; () for none
 *   com.acme.OrderHandler.<init>                its constructors, from behind super() or this() on
 *   com.acme.jobs.*.run                         * is any text within one level
 *   com.acme.batch.**                           ** is one level or more: all methods of all classes
 *                                               below com.acme.batch
 *   com.acme.**.run                             run, of all classes below com.acme
 *
 * What stands before the last dot is the class, so com.acme.Order.* is all methods of that class.
 * So is com.acme.Order alone, once a class of that name is loaded. A nested class is written with
 * its dollar sign: com.acme.Order$Line. Stars and the names of classes stand for no constructor and
 * no static initialiser: these are named.
 *
 * The setter in Java (NameLists) refuses all other texts; here they match nothing of use.
 *
 * Threads  any.
 * Cost     a match: O(length of rule and names), times the number of levels for `**`.
 */
#ifndef SMP_COUNTING_ROOT_RULES_H
#define SMP_COUNTING_ROOT_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "counting/slice.h"

/* Of a comma-separated list: smp_slice_next_part gives one after the other. */
size_t smp_root_rules_count(const char *list);
/* Does one of them name methods of this class? */
bool smp_root_rules_match_class(const char *list, struct smp_slice class_name);
/* Does the rule name methods of the class with this internal name? */
bool smp_root_rule_matches_class(struct smp_slice rule, struct smp_slice class_name);
/* Were the methods of a class that matches chosen one by one? Not if the rule has a star, or is the
 * name of the class. */
bool smp_root_rule_is_exact(struct smp_slice rule, struct smp_slice class_name);
/* Is it this method, of a class that matches? */
bool smp_root_rule_matches_method(struct smp_slice rule, struct smp_slice class_name,
                                  struct smp_slice name, struct smp_slice descriptor);

#endif

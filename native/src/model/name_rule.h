/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_rule.h - the default rule from a thread's name to the name of its group.
 *
 * First every run of 16 or more of [0-9a-f] is removed, then every run of ASCII digits, '.' and
 * ':'. What is left empty is "[unnamed]". The same two patterns as RegexThreadNameManipulator's
 * defaults: [0-9a-f]{16,} and [\.:\d]+, applied one after the other.
 *
 * Threads  any.
 * Cost     O(length).
 */
#ifndef SMP_MODEL_NAME_RULE_H
#define SMP_MODEL_NAME_RULE_H

#include <stddef.h>

#define SMP_UNNAMED "[unnamed]"

/* out has size bytes, size >= 16; a result that does not fit is cut between characters. Returns its
 * length. */
size_t smp_name_rule_apply(const char *name, size_t length, char *out, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_rule.h - the default rule from a thread's name to the name of its group.
 *
 *   1. UUIDs                                      req-1b4e28ba-2fa1-11d2-883f-0016d3cca427
 *   2. runs of 8 and more hexadecimal digits that
 *      hold both a digit and a letter             session-5f0c9d12
 *   3. runs of 16 and more of [0-9a-f]            flush-abcdefabcdefabcd
 *   4. ASCII digits, '.' and ':'                  exec-12, 10.0.0.7:5432
 *
 * Each step works on the result of the previous one. Capital letters are hexadecimal digits in the
 * first two steps. A word of such letters with digits behind it is removed, too: "facade12". An
 * empty result becomes "[unnamed]". RegexThreadNameManipulator's default patterns are the same four
 * steps; ManipulatorsIT compares the two.
 *
 * Threads  any.
 * Cost     O(length).
 */
#ifndef SMP_MODEL_NAME_RULE_H
#define SMP_MODEL_NAME_RULE_H

#include <stddef.h>

#define SMP_UNNAMED "[unnamed]"

/* out has size bytes, size >= 16. A name that does not fit is first cut between two characters.
 * Returns the length of the result. */
size_t smp_name_rule_apply(const char *name, size_t length, char *out, size_t size);

#endif

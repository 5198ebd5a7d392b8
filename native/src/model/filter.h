/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - monitored package prefixes, and the rule which frames of a stack are kept.
 *
 * A prefix matches whole name parts: "com.acme" matches com.acme.X and com.acme.sub.X and the class
 * com.acme itself (and com.acme$Inner), not com.acmetools.X. A prefix that ends with '.' or '*' is
 * taken as written, without the stars. An empty list monitors everything.
 *
 * Owns     its prefixes.
 * Threads  immutable after create.
 * Errors   SMP_ENOMEM where system or quota refuse memory; SMP_EINVAL for more than
 *          SMP_MAX_PREFIXES prefixes or one that is longer than SMP_MAX_PREFIX_BYTES.
 * Cost     monitors: O(prefixes); called once per method, not per sample.
 */
#ifndef SMP_MODEL_FILTER_H
#define SMP_MODEL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/status.h"

enum { SMP_MAX_PREFIXES = 1000, SMP_MAX_PREFIX_BYTES = 1000 };

struct smp_filter;

/* list: comma-separated; blanks and control characters around a part are trimmed, empty parts
 * ignored. */
SMP_CHECKED enum smp_status smp_filter_create(struct smp_quota *quota, const char *list,
                                              struct smp_filter **out);
/* The list SMP_FILTER_AUTO alone monitors the guessed application (wait_rules.h): such a filter has
 * no prefixes, and methods.c uses the rules. */
#define SMP_FILTER_AUTO "auto"
SMP_CHECKED enum smp_status smp_filter_create_monitored(struct smp_quota *quota, const char *list,
                                                        struct smp_filter **out);
void smp_filter_destroy(struct smp_filter *filter);
/*
 * Writes the prefixes in their order, without stars: "com.acme, org.x". If they do not all fit into
 * size (2 * SMP_FILTER_MORE_BYTES at least), ", … 12 more" follows; a first prefix that does not
 * fit is cut. "" if everything is monitored, SMP_FILTER_AUTO if the application is guessed.
 */
enum { SMP_FILTER_MORE_BYTES = 32 };
void smp_filter_describe(const struct smp_filter *filter, char *out, size_t size);
bool smp_filter_monitors(const struct smp_filter *filter, const char *class_name);
/* Returns whether the rules decide what is monitored. */
bool smp_filter_is_guessed(const struct smp_filter *filter);
/* Returns whether every class is monitored. */
bool smp_filter_is_open(const struct smp_filter *filter);

#endif

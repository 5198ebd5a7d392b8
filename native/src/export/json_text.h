/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.h - writes the parts of a JSON document.
 *
 * A document may be embedded in an HTML script element, so '<', '>' and '&' are escaped, too, and
 * all characters that escape.h escapes.
 *
 * Threads  any.
 * Errors   those of writer.h.
 * Cost     O(length).
 */
#ifndef SMP_EXPORT_JSON_TEXT_H
#define SMP_EXPORT_JSON_TEXT_H

#include "base/writer.h"

/* Writes text, which is UTF-8, without quotes, so that a string may be composed of several
 * texts. */
void smp_json_put_text(struct smp_writer *out, const char *text);
void smp_json_put_string(struct smp_writer *out, const char *text);
/* Writes ,"key": without the comma if it is the object's first. key needs no escape. */
void smp_json_put_key(struct smp_writer *out, const char *key, bool is_first);
/* Write ,"key":value and ,"key":"text" and, for two figures, [from,till]. */
void smp_json_put_number(struct smp_writer *out, const char *key, int64_t value);
void smp_json_put_count(struct smp_writer *out, const char *key, uint64_t value);
void smp_json_put_member(struct smp_writer *out, const char *key, const char *text);
void smp_json_put_pair(struct smp_writer *out, int64_t from, int64_t till);

#endif

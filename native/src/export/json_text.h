/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.h - the parts of a JSON document.
 *
 * The document may also stand in an HTML script element: '<', '>' and '&' are escaped, too, and so
 * is all that escape.h escapes.
 *
 * Threads  any.
 * Errors   those of writer.h.
 * Cost     O(length).
 */
#ifndef SMP_EXPORT_JSON_TEXT_H
#define SMP_EXPORT_JSON_TEXT_H

#include "base/writer.h"

/* The text of a string, without its quotes, so that it may be made of several. text is UTF-8. */
void smp_json_put_text(struct smp_writer *out, const char *text);
void smp_json_put_string(struct smp_writer *out, const char *text);
/* ,"key": or without the comma where it is the object's first. key needs no escape. */
void smp_json_put_key(struct smp_writer *out, const char *key, bool is_first);
void smp_json_put_number(struct smp_writer *out, const char *key, int64_t value); /* ,"key":value */

#endif

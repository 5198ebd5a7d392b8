/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exported.h - asserts that an export of a profile contains a text or lacks it.
 *
 * Threads  the test's own.
 * Errors   a mismatch fails the test and prints the whole export.
 */
#ifndef SMP_SUPPORT_EXPORTED_H
#define SMP_SUPPORT_EXPORTED_H

#include <stdbool.h>

#include "export/exporters.h"

/* Asserts that the export contains the text (has) or does not (!has). */
void assert_exported(const struct smp_profile *profile, enum smp_format format,
                     struct smp_export_style style, const char *text, bool has);

#endif

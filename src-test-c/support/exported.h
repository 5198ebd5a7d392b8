/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exported.h - asserts what is in an export of a profile.
 *
 * Threads  the test's own.
 * Errors   it fails the test, and shows the whole export.
 */
#ifndef SMP_SUPPORT_EXPORTED_H
#define SMP_SUPPORT_EXPORTED_H

#include <stdbool.h>

#include "export/exporters.h"

/* has: the export has the text, which is no part of it where false. */
void assert_exported(const struct smp_profile *profile, enum smp_format format,
                     struct smp_export_style style, const char *text, bool has);

#endif

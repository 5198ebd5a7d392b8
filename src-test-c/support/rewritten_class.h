/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewritten_class.h - compares a rewritten class file with the original one, the slow and simple
 * way: removes the probes again, instruction by instruction, and finds the new place of each
 * offset.
 *
 * Owns     nothing.
 * Threads  one at a time.
 * Cost     some passes over both files.
 */
#ifndef SMP_TEST_REWRITTEN_CLASS_H
#define SMP_TEST_REWRITTEN_CLASS_H

#include "classfile/rewriter.h"

/* Returns the first difference, or NULL. methods: as the rewriter has filled them in. */
const char *rewritten_class_compare(const struct smp_class_file *before,
                                    const struct smp_class_file *after,
                                    const struct smp_rewriter_method *methods,
                                    const struct smp_probe_hook *hook);

#endif

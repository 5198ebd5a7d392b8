/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_reader.h - from a class file to what counting needs of it (class_summary.h).
 *
 * Code that calls find of MethodHandles.Lookup makes handles of methods that it names by string
 * constants: of its own class, and of those that are class constants of the same method. Calls of
 * dynamic languages name theirs likewise, of the class that they are declared to be called on, too.
 *
 * A method handle is dispatched where it calls as invokevirtual and invokeinterface do. Of code
 * that is not understood the calls before that place are kept: the rewriter leaves such a method
 * alone.
 *
 * Owns     the arrays of the summary, until the next read; its texts are the class file's.
 * Threads  one at a time.
 * Errors   SMP_ENOMEM where quota or system refuse memory, or the class has more calls than
 *          SMP_CLASS_SUMMARY_MAX_CALLS: then there is no summary.
 * Cost     a pass over the code; in the steady state no allocation.
 */
#ifndef SMP_COUNTING_CLASS_SUMMARY_READER_H
#define SMP_COUNTING_CLASS_SUMMARY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"
#include "base/status.h"
#include "classfile/class_file.h"
#include "counting/class_summary.h"

enum { SMP_CLASS_SUMMARY_MAX_CALLS = 1024 * 1024 };

/* Visible so that it can live in its owner. All zero but for the budget's quota: empty. */
struct smp_class_summary_reader {
    struct smp_memory_budget budget; /* without a maximum of its own */
    struct smp_class_summary summary;
    struct smp_grown methods;
    struct smp_grown interfaces;
    struct smp_grown calls;
    size_t call_count;
};

void smp_class_summary_reader_fini(struct smp_class_summary_reader *reader);

/* The file is open. out is the reader's. */
SMP_CHECKED enum smp_status smp_class_summary_reader_read(struct smp_class_summary_reader *reader,
                                                          const struct smp_class_file *file,
                                                          uint64_t loader,
                                                          const struct smp_class_summary **out);

#endif

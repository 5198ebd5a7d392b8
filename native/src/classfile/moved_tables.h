/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moved_tables.h - what stands beside a method's code, for code that has moved: exception table,
 * line numbers, local variables and stack maps.
 *
 * With a handler, a row for it comes last in the exception table, and a full frame for it last in
 * the StackMapTable: no locals, an exception on the stack. Type annotations of code are left out;
 * attributes that are not known here are copied.
 *
 * Threads  one at a time.
 * Errors   a result other than DONE: the method is left alone.
 * Cost     a pass over the tables.
 */
#ifndef SMP_CLASSFILE_MOVED_TABLES_H
#define SMP_CLASSFILE_MOVED_TABLES_H

#include <stddef.h>

#include "classfile/class_file.h"
#include "classfile/moved_code.h"

/* Indexes of constants that a frame for the handler needs. */
struct smp_moved_names {
    uint32_t throwable;
    uint32_t stack_map;
};

/* How many bytes the tables grow at most. */
size_t smp_moved_tables_growth(const struct smp_class_file *file,
                               const struct smp_class_code *code);
/* All that follows the code, to the end of the Code attribute. */
enum smp_rewrite
smp_moved_tables_write(const struct smp_class_file *file, const struct smp_class_code *code,
                       const struct smp_moved_code *moved, const struct smp_probe *probe,
                       const struct smp_moved_names *names, struct smp_byte_writer *writer);

#endif

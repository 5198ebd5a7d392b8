/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_record.h - the text of one thread group's record: its title and its rows, and for a counted
 * group one line before the rows.
 *
 * Threads  any.
 * Errors   out remembers a failure (bytes.h). Rows that do not fit are not printed; a last line
 *          counts them.
 * Cost     O(rows); rows that fit are written once.
 */
#ifndef SMP_EXPORT_GROUP_RECORD_H
#define SMP_EXPORT_GROUP_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "export/rows.h"
#include "model/thread_groups.h"

enum {
    SMP_REPORT_WIDTH = 150, /* of indent and frame; figures begin two columns further */
    SMP_MAX_RECORD_BYTES = 64 * 1024 * 1024,
    SMP_RECORD_TAIL_BYTES = 64 /* the most for the last line of a record that was cut */
};

/*
 * Aggregated thread: <group>. Max depth: <n>. Distinct threads: <k> [<names>, ... <m> more] Names
 * are escaped to one line. The title of a counted group begins with "Counted thread: ".
 */
void smp_group_record_title(const struct smp_group_info *group, struct smp_bytes *out);
/* The most bytes that smp_group_record_title appends. */
size_t smp_group_record_title_limit(const struct smp_group_info *group);

/* Writes "hook share: 12 %", the hooks' share of the time inside the group's roots, hooks included;
 * nothing if it is not known. total_ns: the total of the group's tree. At most
 * SMP_RECORD_TAIL_BYTES. */
void smp_group_record_hooks(const struct smp_group_info *group, int64_t total_ns,
                            struct smp_bytes *out);

/*
 * Appends the rows below root to out, which has nothing but the line of hooks and has 2 *
 * SMP_RECORD_TAIL_BYTES allocated. Returns how many rows did not fit.
 */
uint64_t smp_group_record_rows(const struct smp_rows *rows, uint32_t root, struct smp_bytes *out);

#endif

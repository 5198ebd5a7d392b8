/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_record.h - the last record of a report: what the sampler did, missed and used.
 *
 * Owns     nothing.
 * Threads  any; the snapshot is immutable.
 * Errors   none of its own: out remembers a failure (bytes.h).
 * Cost     constant.
 */
#ifndef SMP_EXPORT_ACCOUNT_RECORD_H
#define SMP_EXPORT_ACCOUNT_RECORD_H

#include "base/bytes.h"
#include "model/profile.h"

#define SMP_ACCOUNT_RECORD_TITLE "Sampler account."
/* A line of the account, the packages behind it. */
#define SMP_ACCOUNT_MISSED_PACKAGES "no frame of the monitored packages was seen"

enum { SMP_ACCOUNT_RECORD_MAX_BYTES = 8192 }; /* more than all its lines can take */

/* One line "<text>: <value>" per figure that is not zero; the last two lines always. Where no frame
 * of the monitored packages was seen a line says so before them. */
void smp_account_record_rows(const struct smp_profile *profile, struct smp_bytes *out);

#endif

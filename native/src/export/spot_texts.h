/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot_texts.h - the texts of a hot spot in a line of the summary. Each replaces the content of a
 * cell.
 *
 *   place   "StockLedger.audit(StockLedger.java:52)"
 *   callee  "Thread.sleep"; "" where the place itself has most of the time
 *   group   "http-nio--exec- and 2 more"
 *   lock    "lock of StockLedger, held in line 52 by http-nio--exec-"
 *
 * Threads  any; the profile is immutable.
 * Errors   the cell remembers a failure (bytes.h).
 */
#ifndef SMP_EXPORT_SPOT_TEXTS_H
#define SMP_EXPORT_SPOT_TEXTS_H

#include "base/bytes.h"
#include "export/hot_spot.h"
#include "model/profile.h"

/* Returns the most columns that the summary has for the place, so that its file and line are never
 * cut. */
size_t smp_spot_text_place(struct smp_bytes *cell, const struct smp_profile *profile,
                           uint32_t location);
void smp_spot_text_callee(struct smp_bytes *cell, const struct smp_profile *profile,
                          const struct smp_hot_spot *spot);
void smp_spot_text_group(struct smp_bytes *cell, const struct smp_profile *profile,
                         const struct smp_hot_spot *spot);
/* Fits the text into these columns: the class is cut rather than the line that holds the lock. */
void smp_spot_text_lock(struct smp_bytes *cell, const struct smp_profile *profile,
                        const struct smp_hot_spot *spot, size_t columns);

#endif

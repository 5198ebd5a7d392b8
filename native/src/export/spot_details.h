/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot_details.h - what is known of hot spots beside their time: error bars, calls, locks and who
 * held them.
 *
 * Threads  one.
 * Errors   SMP_ENOMEM, SMP_EQUOTA.
 * Cost     a few passes over the nodes.
 */
#ifndef SMP_EXPORT_SPOT_DETAILS_H
#define SMP_EXPORT_SPOT_DETAILS_H

#include "export/hot_spot.h"
#include "export/spot_places.h"

/* spots: chosen as choice says. */
SMP_CHECKED enum smp_status smp_spot_details_add(struct smp_hot_spots *spots,
                                                 struct smp_spot_places *places,
                                                 const struct smp_spot_choice *choice);

#endif

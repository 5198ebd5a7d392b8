/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot_details.h - adds details to hot spots: error bars, calls, and locks with their holders.
 *
 * Threads  one.
 * Errors   SMP_ENOMEM, SMP_EQUOTA.
 * Cost     a few passes over the nodes.
 */
#ifndef SMP_EXPORT_SPOT_DETAILS_H
#define SMP_EXPORT_SPOT_DETAILS_H

#include "export/hot_spot.h"
#include "export/spot_places.h"

/* spots: the spots found for choice. */
SMP_CHECKED enum smp_status smp_spot_details_add(struct smp_hot_spots *spots,
                                                 struct smp_spot_places *places,
                                                 const struct smp_spot_choice *choice);

#endif

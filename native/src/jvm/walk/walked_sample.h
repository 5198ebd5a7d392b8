/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walked_sample.h - turns the frames that a handler wrote into a sample.
 *
 * Owns     no memory: the sample takes the place of the frames.
 * Threads  any.
 * Cost     O(frames).
 */
#ifndef SMP_JVM_WALK_WALKED_SAMPLE_H
#define SMP_JVM_WALK_WALKED_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "handler/walk_data.h"
#include "model/sample.h"

/* In place: sample->frames is frames + answer->first. A frame without a method id gets key 0. */
void smp_walked_sample_make(struct smp_jvm_frame *frames, const struct smp_walk_answer *answer,
                            struct smp_sample *sample);
bool smp_walked_sample_is_missing(const struct smp_sample *sample);
/*
 * Fills missing keys from another walk of the same thread, at the same depth from the root, as far
 * as the two stacks are equal, call for call. True: no key is missing any more.
 */
bool smp_walked_sample_fill(struct smp_sample *sample, const struct smp_frame *other, size_t count);
/* Frames whose keys are missing become pseudo-frames of SMP_METHODS_NO_ID: the others keep their
 * places. */
void smp_walked_sample_keep_nameless(struct smp_sample *sample);
/* Keeps both ends of a stack deeper than capacity, which is at least 2. */
void smp_walked_sample_cut(struct smp_sample *sample, size_t capacity);

#endif

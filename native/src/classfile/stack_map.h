/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_map.h - goes through a StackMapTable, frame by frame.
 *
 * It decodes the offset of each frame in the code, the bytes that hold this offset, and the places
 * of other offsets. An early larval frame of JDK 28 lists fields that are not set yet; the frame
 * behind that list is decoded.
 *
 * In a constructor it also tells for each frame whether "this" may be uninitialised there.
 *
 * Threads  any.
 * Errors   a frame of an unknown form ends the table, and is_broken is set.
 * Cost     one pass over the table, nothing is held.
 */
#ifndef SMP_CLASSFILE_STACK_MAP_H
#define SMP_CLASSFILE_STACK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classfile/class_bytes.h"

enum {
    SMP_FRAME_SAME_MOST = 63, /* of frames whose type is the distance */
    SMP_FRAME_STACK_1 = 64,   /* to 127: one value on the stack, the distance is in the type */
    SMP_FRAME_STACK_1_MOST = 127,
    SMP_FRAME_EARLY_LARVAL = 246,
    SMP_FRAME_STACK_1_EXTENDED = 247, /* from here on 16 bits of distance follow the type */
    SMP_FRAME_SAME_EXTENDED = 251,
    SMP_FRAME_FULL = 255,
    SMP_TYPE_UNINITIALIZED_THIS = 6,
    SMP_TYPE_OBJECT = 7,       /* the index of its class follows */
    SMP_TYPE_UNINITIALIZED = 8 /* the offset of the "new" follows */
};

/* Set by init; next moves on. */
struct smp_stack_map {
    struct smp_class_reader reader;
    uint32_t left;
    int64_t pc;
    int64_t local_count;
    int64_t this_local; /* the first local that is an uninitialised "this"; -1: none */
    bool is_broken;
};

struct smp_frame {
    const uint8_t *start; /* of the list of fields if there is one, else of the frame */
    const uint8_t *base;  /* the type of the frame */
    const uint8_t *types; /* the bytes after type and distance */
    const uint8_t *end;
    uint32_t pc;
    uint8_t type;
    bool has_uninitialized;     /* one of the types has the offset of a "new" */
    bool is_this_uninitialized; /* only of constructors */
};

/* bytes: the contents of a StackMapTable. constructor_locals: in a constructor the number of its
 * parameters and "this", which is uninitialised at the start; else 0. */
void smp_stack_map_init(struct smp_stack_map *map, const uint8_t *bytes, uint32_t length,
                        uint32_t constructor_locals);
/* Returns false if there are no more frames, or if the table is broken. */
bool smp_stack_map_next(struct smp_stack_map *map, struct smp_frame *frame);

/* Called with each place of 2 bytes that holds the offset of a "new". */
typedef bool smp_stack_map_place(void *self, uint8_t *place);
/* types: a copy of the types of a frame from next. Returns false if a callback did. */
bool smp_stack_map_each_new(const struct smp_frame *frame, uint8_t *types,
                            smp_stack_map_place *each, void *self);

#endif

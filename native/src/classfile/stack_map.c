/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/stack_map.h"

#include "classfile/class_file.h"

enum { TYPE_MOST = SMP_TYPE_UNINITIALIZED };

/* Reads the types of a frame, from writable bytes if each is set. */
struct type_reader {
    struct smp_class_reader reader;
    smp_stack_map_place *each;
    void *self;
    bool has_uninitialized;
};

/* Sets this_index to the first uninitialised "this", or to -1. */
static bool read_types(struct type_reader *types, uint32_t count, int64_t *this_index)
{
    *this_index = -1;
    for (uint32_t i = 0; i < count && !types->reader.is_past_end; i++) {
        const uint8_t type = smp_class_next_u1(&types->reader);
        if (type > TYPE_MOST)
            return false;
        if (type == SMP_TYPE_UNINITIALIZED_THIS && *this_index < 0)
            *this_index = i;
        if (type != SMP_TYPE_OBJECT && type != SMP_TYPE_UNINITIALIZED)
            continue;
        const uint8_t *const place = smp_class_skip(&types->reader, 2);
        if (type == SMP_TYPE_OBJECT || place == NULL)
            continue;
        types->has_uninitialized = true;
        if (types->each != NULL && !types->each(types->self, (uint8_t *)(uintptr_t)place))
            return false;
    }
    return !types->reader.is_past_end;
}

/* Reads the types that a frame of this type has, and updates map's locals. */
static bool read_frame_types(struct type_reader *types, uint8_t type, struct smp_stack_map *map,
                             bool *is_this_on_stack)
{
    const bool is_full = type == SMP_FRAME_FULL;
    int64_t this_index = -1;
    uint32_t locals = 0;
    uint32_t stack = 0;

    if (is_full) {
        map->local_count = 0;
        map->this_local = -1;
        locals = smp_class_next_u2(&types->reader);
    } else if (type > SMP_FRAME_SAME_EXTENDED) {
        locals = type - (uint32_t)SMP_FRAME_SAME_EXTENDED;
    } else if (type > SMP_FRAME_STACK_1_EXTENDED) {
        map->local_count -= SMP_FRAME_SAME_EXTENDED - type; /* chopped, or 0 */
    } else if (type > SMP_FRAME_SAME_MOST) {
        stack = 1;
    }
    if (!read_types(types, locals, &this_index))
        return false;
    if (map->this_local < 0 && this_index >= 0)
        map->this_local = map->local_count + this_index;
    map->local_count += locals;
    if (map->this_local >= map->local_count)
        map->this_local = -1;
    if (is_full)
        stack = smp_class_next_u2(&types->reader);
    if (!read_types(types, stack, &this_index))
        return false;
    *is_this_on_stack = this_index >= 0;
    return true;
}

static bool read_frame(struct smp_stack_map *map, struct smp_frame *frame)
{
    struct smp_class_reader *const reader = &map->reader;
    uint32_t distance = 0;
    bool is_this_on_stack = false;

    frame->start = frame->base = reader->at;
    frame->type = smp_class_next_u1(reader);
    if (frame->type == SMP_FRAME_EARLY_LARVAL) {
        const uint32_t fields = smp_class_next_u2(reader);
        (void)smp_class_skip(reader, 2 * (size_t)fields);
        frame->base = reader->at;
        frame->type = smp_class_next_u1(reader);
    }
    if (frame->type <= SMP_FRAME_STACK_1_MOST)
        distance = frame->type & SMP_FRAME_SAME_MOST;
    else if (frame->type >= SMP_FRAME_STACK_1_EXTENDED)
        distance = smp_class_next_u2(reader);
    else
        return false;
    frame->types = reader->at;
    struct type_reader types = { .reader = *reader };
    if (!read_frame_types(&types, frame->type, map, &is_this_on_stack))
        return false;
    map->pc += 1 + (int64_t)distance;
    if (map->pc >= SMP_CLASS_MAX_CODE)
        return false;
    *reader = types.reader;
    frame->end = reader->at;
    frame->pc = (uint32_t)map->pc;
    frame->has_uninitialized = types.has_uninitialized;
    frame->is_this_uninitialized = map->this_local >= 0 || is_this_on_stack;
    return true;
}

void smp_stack_map_init(struct smp_stack_map *map, const uint8_t *bytes, uint32_t length,
                        uint32_t constructor_locals)
{
    *map = (struct smp_stack_map){ .reader = { .at = bytes, .end = bytes + length },
                                   .pc = -1,
                                   .local_count = constructor_locals,
                                   .this_local = constructor_locals > 0 ? 0 : -1 };
    map->left = smp_class_next_u2(&map->reader);
    map->is_broken = map->reader.is_past_end;
}

bool smp_stack_map_next(struct smp_stack_map *map, struct smp_frame *frame)
{
    if (map->is_broken || map->left == 0)
        return false;
    map->left--;
    map->is_broken = !read_frame(map, frame);
    return !map->is_broken;
}

bool smp_stack_map_each_new(const struct smp_frame *frame, uint8_t *types,
                            smp_stack_map_place *each, void *self)
{
    struct type_reader reader = { .reader = { .at = types,
                                              .end = types + (frame->end - frame->types) },
                                  .each = each,
                                  .self = self };
    struct smp_stack_map any = { 0 };
    bool is_this_on_stack = false;

    return read_frame_types(&reader, frame->type, &any, &is_this_on_stack);
}

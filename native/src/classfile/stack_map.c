/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/stack_map.h"

#include "classfile/class_file.h"

enum { TYPE_MOST = SMP_TYPE_UNINITIALIZED };

/* Types of values, one after the other. */
struct type_list {
    const uint8_t *at;
    const uint8_t *end;
    smp_stack_map_place *each;
    void *self;
    int64_t this_index; /* of the first uninitialised "this" in the list just read; -1 */
    bool has_uninitialized;
};

static bool read_types(struct type_list *list, uint32_t count)
{
    list->this_index = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (list->at == list->end || *list->at > TYPE_MOST)
            return false;
        const uint8_t type = *list->at++;
        if (type == SMP_TYPE_UNINITIALIZED_THIS && list->this_index < 0)
            list->this_index = i;
        if (type != SMP_TYPE_OBJECT && type != SMP_TYPE_UNINITIALIZED)
            continue;
        if (list->end - list->at < 2)
            return false;
        if (type == SMP_TYPE_UNINITIALIZED) {
            list->has_uninitialized = true;
            if (list->each != NULL && !list->each(list->self, list->at))
                return false;
        }
        list->at += 2;
    }
    return true;
}

static bool read_counted(struct type_list *list, uint32_t *count)
{
    if (list->end - list->at < 2)
        return false;
    *count = smp_class_u2(list->at);
    list->at += 2;
    return read_types(list, *count);
}

/* How a frame changes the locals; of a full frame it is all of them. */
struct frame_locals {
    int64_t change;
    int64_t this_index; /* among those that are new */
    bool is_all;
    bool is_this_on_stack;
};

static bool read_frame_types(struct type_list *list, uint8_t type, struct frame_locals *locals)
{
    uint32_t count = 0;

    *locals = (struct frame_locals){ .this_index = -1 };
    if (type == SMP_FRAME_FULL) {
        if (!read_counted(list, &count))
            return false;
        locals->is_all = true;
        locals->change = count;
        locals->this_index = list->this_index;
        if (!read_counted(list, &count))
            return false;
        locals->is_this_on_stack = list->this_index >= 0;
    } else if (type > SMP_FRAME_SAME_EXTENDED) {
        locals->change = type - SMP_FRAME_SAME_EXTENDED;
        if (!read_types(list, (uint32_t)locals->change))
            return false;
        locals->this_index = list->this_index;
    } else if (type > SMP_FRAME_STACK_1_EXTENDED) {
        locals->change = (int64_t)type - SMP_FRAME_SAME_EXTENDED; /* chopped, or 0 */
    } else if (type > SMP_FRAME_SAME_MOST) {
        if (!read_types(list, 1))
            return false;
        locals->is_this_on_stack = list->this_index >= 0;
    }
    return true;
}

static void track_this(struct smp_stack_map *map, const struct frame_locals *locals)
{
    const int64_t before = locals->is_all ? 0 : map->local_count;

    if (locals->is_all)
        map->this_local = -1;
    if (map->this_local < 0 && locals->this_index >= 0)
        map->this_local = before + locals->this_index;
    map->local_count = before + locals->change;
    if (map->this_local >= map->local_count)
        map->this_local = -1;
}

/* The distance from the frame before, and what follows it. False: an unknown type, or cut off. */
static bool read_distance(struct smp_frame *frame, const uint8_t *end, uint32_t *distance)
{
    if (frame->type <= SMP_FRAME_STACK_1_MOST) {
        *distance = frame->type & SMP_FRAME_SAME_MOST;
        frame->types = frame->base + 1;
        return true;
    }
    if (frame->type < SMP_FRAME_STACK_1_EXTENDED || end - frame->base < 3)
        return false;
    *distance = smp_class_u2(frame->base + 1);
    frame->types = frame->base + 3;
    return true;
}

static bool read_frame(struct smp_stack_map *map, struct smp_frame *frame)
{
    struct type_list list = { .end = map->end };
    struct frame_locals locals;
    uint32_t distance = 0;

    frame->start = frame->base = map->at;
    if (frame->base == map->end)
        return false;
    if (*frame->base == SMP_FRAME_EARLY_LARVAL) {
        if (map->end - frame->base < 3)
            return false;
        const size_t list_bytes = 3 + 2 * (size_t)smp_class_u2(frame->base + 1);
        if ((size_t)(map->end - frame->base) <= list_bytes)
            return false;
        frame->base += list_bytes;
    }
    frame->type = *frame->base;
    if (!read_distance(frame, map->end, &distance))
        return false;
    list.at = frame->types;
    if (!read_frame_types(&list, frame->type, &locals))
        return false;
    track_this(map, &locals);
    map->pc += 1 + (int64_t)distance;
    if (map->pc >= SMP_CLASS_MAX_CODE)
        return false;
    map->at = frame->end = list.at;
    frame->pc = (uint32_t)map->pc;
    frame->has_uninitialized = list.has_uninitialized;
    frame->is_this_uninitialized = map->this_local >= 0 || locals.is_this_on_stack;
    return true;
}

void smp_stack_map_init(struct smp_stack_map *map, const uint8_t *bytes, uint32_t length,
                        uint32_t constructor_locals)
{
    *map = (struct smp_stack_map){ .pc = -1,
                                   .local_count = constructor_locals,
                                   .this_local = constructor_locals > 0 ? 0 : -1,
                                   .is_broken = length < SMP_FRAME_COUNT_BYTES };
    if (map->is_broken)
        return;
    map->at = bytes + SMP_FRAME_COUNT_BYTES;
    map->end = bytes + length;
    map->left = smp_class_u2(bytes);
}

bool smp_stack_map_next(struct smp_stack_map *map, struct smp_frame *frame)
{
    if (map->is_broken || map->left == 0)
        return false;
    map->left--;
    map->is_broken = !read_frame(map, frame);
    return !map->is_broken;
}

bool smp_stack_map_each_new(const struct smp_frame *frame, smp_stack_map_place *each, void *self)
{
    struct type_list list = { .at = frame->types, .end = frame->end, .each = each, .self = self };
    struct frame_locals locals;

    return read_frame_types(&list, frame->type, &locals);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/catch_places.h"

#include "classfile/opcodes.h"

enum { EXCEPTION_ROW = 8, NO_PLACE = -1 };

/* Does a handler that is not behind this one cover the place? */
static bool is_sent_back(const struct smp_class_file *file, const struct smp_class_code *code,
                         uint32_t place, uint32_t handler)
{
    const uint8_t *row = file->bytes + code->exceptions;

    for (uint32_t i = 0; i < code->exception_count; i++, row += EXCEPTION_ROW) {
        if (smp_class_u2(row) <= place && place < smp_class_u2(row + 2) &&
            smp_class_u2(row + 4) <= handler)
            return true;
    }
    return false;
}

static int64_t place_of_handler(const struct smp_class_file *file,
                                const struct smp_class_code *code, uint32_t handler)
{
    const uint8_t *bytes = file->bytes + code->bytes;

    if (handler >= code->length)
        return NO_PLACE;
    if (!is_sent_back(file, code, handler, handler))
        return handler;
    const struct smp_instruction first = smp_opcode_at(bytes, code->length, handler);
    const uint32_t behind = handler + first.length;
    return first.kind != SMP_OPCODE_TAKE || behind >= code->length ||
                   is_sent_back(file, code, behind, handler)
               ? NO_PLACE
               : (int64_t)behind;
}

/* Where the place is there already, it has an exception only if both say so. */
static uint32_t insert_place(struct smp_catch_place *places, uint32_t count,
                             struct smp_catch_place place)
{
    uint32_t at = count;

    while (at > 0 && places[at - 1].pc > place.pc)
        at--;
    if (at > 0 && places[at - 1].pc == place.pc) {
        places[at - 1].has_exception = places[at - 1].has_exception && place.has_exception;
        return count;
    }
    for (uint32_t i = count; i > at; i--)
        places[i] = places[i - 1];
    places[at] = place;
    return count + 1;
}

uint32_t smp_catch_places_find(const struct smp_class_file *file, const struct smp_class_code *code,
                               struct smp_catch_place *places)
{
    const uint8_t *row = file->bytes + code->exceptions;
    const uint32_t rows = smp_catch_places_most(code);
    uint32_t count = 0;

    for (uint32_t i = 0; i < rows; i++, row += EXCEPTION_ROW) {
        const uint32_t handler = smp_class_u2(row + 4);
        const int64_t pc = place_of_handler(file, code, handler);
        if (pc != NO_PLACE)
            count = insert_place(
                places, count,
                (struct smp_catch_place){ .pc = (uint16_t)pc, .has_exception = pc == handler });
    }
    return count;
}

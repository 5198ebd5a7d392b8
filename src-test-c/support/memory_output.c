/* SPDX-License-Identifier: Apache-2.0 */
#include "support/memory_output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static bool take_piece(void *self, const char *bytes, size_t length)
{
    struct memory_output *output = self;

    assert_in_range(length, 1, SMP_WRITER_BYTES);
    if (++output->calls == output->fail_at)
        return false;
    assert_true(output->fail_at == 0 || output->calls < output->fail_at);
    if (length >= output->capacity - output->length) {
        output->capacity = 2 * (output->length + length + 1);
        output->bytes = realloc(output->bytes, output->capacity);
        assert_non_null(output->bytes);
    }
    memcpy(output->bytes + output->length, bytes, length);
    output->length += length;
    output->bytes[output->length] = '\0';
    return true;
}

struct smp_output memory_output_functions(struct memory_output *output)
{
    return (struct smp_output){ .write = take_piece, .self = output };
}

const char *memory_output_text(const struct memory_output *output)
{
    return output->bytes == NULL ? "" : output->bytes;
}

void memory_output_fini(struct memory_output *output)
{
    free(output->bytes);
    *output = (struct memory_output){ 0 };
}

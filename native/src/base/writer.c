/* SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"

enum { MAX_U64_TEXT = 20 /* 18446744073709551615 */ };

enum smp_status smp_writer_init(struct smp_writer *writer, struct smp_quota *quota,
                                const struct smp_output *output)
{
    *writer = (struct smp_writer){ .output = *output, .quota = quota };
    writer->bytes = smp_alloc(quota, SMP_WRITER_BYTES);
    return writer->bytes != NULL ? SMP_OK : SMP_ENOMEM;
}

static void write_output(struct smp_writer *writer)
{
    if (writer->used > 0 && !writer->has_failed)
        writer->has_failed =
            !writer->output.write(writer->output.self, writer->bytes, writer->used);
    writer->used = 0;
}

enum smp_status smp_writer_finish(struct smp_writer *writer)
{
    write_output(writer);
    return writer->has_failed ? SMP_EIO : SMP_OK;
}

void smp_writer_fini(struct smp_writer *writer)
{
    smp_free(writer->quota, writer->bytes);
    *writer = (struct smp_writer){ 0 };
}

void smp_writer_put_on(struct smp_writer *writer, const char *bytes, size_t length)
{
    while (length > 0) {
        const size_t room = SMP_WRITER_BYTES - writer->used;
        const size_t part = length < room ? length : room;

        memcpy(writer->bytes + writer->used, bytes, part);
        writer->used += part;
        bytes += part;
        length -= part;
        if (writer->used == SMP_WRITER_BYTES)
            write_output(writer);
    }
}

void smp_writer_put_u64(struct smp_writer *writer, uint64_t value)
{
    char text[MAX_U64_TEXT];
    size_t at = sizeof(text);

    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    smp_writer_put(writer, text + at, sizeof(text) - at);
}

void smp_writer_put_i64(struct smp_writer *writer, int64_t value)
{
    if (value < 0)
        smp_writer_put_byte(writer, '-');
    smp_writer_put_u64(writer, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pieces.h"

enum { MAX_U64_TEXT = 20 /* 18446744073709551615 */ };

enum smp_status smp_pieces_init(struct smp_pieces *pieces, struct smp_quota *quota,
                                const struct smp_byte_sink *sink)
{
    *pieces = (struct smp_pieces){ .sink = *sink, .quota = quota };
    pieces->bytes = smp_alloc(quota, SMP_EXPORT_PIECE_BYTES);
    return pieces->bytes != NULL ? SMP_OK : SMP_ENOMEM;
}

static void hand_on(struct smp_pieces *pieces)
{
    if (pieces->used > 0 && !pieces->has_failed)
        pieces->has_failed = !pieces->sink.write(pieces->sink.self, pieces->bytes, pieces->used);
    pieces->used = 0;
}

enum smp_status smp_pieces_finish(struct smp_pieces *pieces)
{
    hand_on(pieces);
    return pieces->has_failed ? SMP_EIO : SMP_OK;
}

void smp_pieces_fini(struct smp_pieces *pieces)
{
    smp_free(pieces->quota, pieces->bytes);
    *pieces = (struct smp_pieces){ 0 };
}

void smp_pieces_put_on(struct smp_pieces *pieces, const char *bytes, size_t length)
{
    while (length > 0) {
        const size_t room = SMP_EXPORT_PIECE_BYTES - pieces->used;
        const size_t part = length < room ? length : room;

        memcpy(pieces->bytes + pieces->used, bytes, part);
        pieces->used += part;
        bytes += part;
        length -= part;
        if (pieces->used == SMP_EXPORT_PIECE_BYTES)
            hand_on(pieces);
    }
}

void smp_pieces_put_u64(struct smp_pieces *pieces, uint64_t value)
{
    char text[MAX_U64_TEXT];
    size_t at = sizeof(text);

    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    smp_pieces_put(pieces, text + at, sizeof(text) - at);
}

void smp_pieces_put_i64(struct smp_pieces *pieces, int64_t value)
{
    if (value < 0)
        smp_pieces_put_byte(pieces, '-');
    smp_pieces_put_u64(pieces, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

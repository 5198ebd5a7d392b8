/* SPDX-License-Identifier: Apache-2.0 */
#include "export/line_texts.h"

void smp_line_text_end(struct smp_bytes *bytes, size_t from)
{
    for (size_t i = from; i < bytes->length; i++) {
        if (bytes->data[i] == ';')
            bytes->data[i] = ',';
    }
    smp_bytes_put(bytes, ";", 1);
}

enum smp_status smp_line_texts_init(struct smp_line_texts *texts, struct smp_quota *quota,
                                    const struct smp_methods *methods, const uint32_t *locations,
                                    uint32_t count)
{
    enum smp_status status = SMP_ENOMEM;

    smp_bytes_init(&texts->bytes, quota, SMP_MAX_LINE_TEXTS_BYTES);
    texts->starts = smp_alloc(quota, ((size_t)count + 1) * sizeof(*texts->starts));
    if (texts->starts == NULL)
        goto done;
    for (uint32_t i = 0; i < count; i++) {
        texts->starts[i] = texts->bytes.length;
        smp_methods_frame_text(methods, locations == NULL ? i : locations[i], &texts->bytes);
        smp_line_text_end(&texts->bytes, texts->starts[i]);
        if (texts->bytes.status != SMP_OK)
            break;
    }
    texts->starts[count] = texts->bytes.length;
    status = texts->bytes.status;
done:
    if (status != SMP_OK)
        smp_line_texts_fini(texts);
    return status;
}

void smp_line_texts_fini(struct smp_line_texts *texts)
{
    smp_free(texts->bytes.quota, texts->starts);
    smp_bytes_fini(&texts->bytes);
    *texts = (struct smp_line_texts){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "export/fitted_text.h"

#include <string.h>

#include "base/utf8.h"

size_t smp_fitted_columns(const char *text)
{
    return smp_utf8_columns(text, strlen(text));
}

const char *smp_fitted_last(const char *text, size_t columns)
{
    for (size_t skipped = smp_fitted_columns(text) - columns; skipped > 0; skipped--) {
        size_t bytes;
        (void)smp_utf8_next(text, &bytes);
        text += bytes;
    }
    return text;
}

void smp_fitted_put_end(struct smp_bytes *out, const char *text, size_t columns)
{
    if (smp_fitted_columns(text) <= columns) {
        smp_bytes_puts(out, text);
        return;
    }
    smp_bytes_puts(out, "…");
    smp_bytes_puts(out, smp_fitted_last(text, columns - 1));
}

void smp_fitted_put_begin(struct smp_bytes *out, const char *text, size_t columns)
{
    const size_t width = smp_fitted_columns(text);

    if (width <= columns) {
        smp_bytes_puts(out, text);
        return;
    }
    if (columns == 0)
        return;
    smp_bytes_put(out, text, (size_t)(smp_fitted_last(text, width - columns + 1) - text));
    smp_bytes_puts(out, "…");
}

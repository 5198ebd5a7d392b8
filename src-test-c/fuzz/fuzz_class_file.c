/* SPDX-License-Identifier: Apache-2.0 */
/* Reads class files, searches them for calls and rewrites them; a naive comparison with the
 * original checks the result. The first byte of the input selects its kind: a class file, or
 * changes to one that javac has compiled (2 bytes of offset, then the new byte), which get past
 * the first checks. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "classfile/call_sites.h"
#include "classfile/rewriter.h"
#include "support/class_builder.h"
#include "support/rewritten_class.h"

enum { MAX_INPUT = 16384, IS_RAW = 0x80, HAS_ROOTS = 0x40, CHANGE_BYTES = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct smp_probe_hook hook = { .class_name = "java/lang/Hook",
                                            .enter = "enter",
                                            .exit = "exit",
                                            .enter_root = "enterRoot",
                                            .exit_root = "exitRoot",
                                            .caught = "caught",
                                            .reflected = "reflected" };

static void require_true(bool holds)
{
    if (!holds)
        abort();
}

static bool ignore_call(void *self, const struct smp_class_call_site *site)
{
    (void)self;
    return site->method.name.bytes != NULL;
}

static void rewrite(const struct smp_class_file *file, uint8_t first)
{
    struct smp_rewriter_method *methods = calloc((size_t)file->method_count + 1, sizeof(*methods));
    struct smp_bytes made;
    struct smp_class_file after;

    require_true(methods != NULL);
    for (int32_t i = 0; i < file->method_count; i++) {
        (void)smp_class_each_call_site(file, &file->methods[i], ignore_call, NULL);
        (void)smp_class_method_is_trivial(file, &file->methods[i]);
        methods[i].id = (first & 3) * 16383 + i - 2;
        methods[i].hands = (enum smp_probe_hands)(i % 3);
        methods[i].is_root = (first & HAS_ROOTS) != 0 && i % 2 == 0;
    }
    smp_bytes_init(&made, NULL, SMP_REWRITER_MOST_BYTES);
    require_true(smp_rewriter_run(file, &hook, methods, &made) == SMP_OK);
    if (made.length > 0) {
        require_true(smp_class_file_open(&after, smp_class_written(&made, 0), made.length) ==
                     SMP_OK);
        require_true(rewritten_class_compare(file, &after, methods, &hook) == NULL);
        smp_class_file_close(&after);
    }
    smp_bytes_fini(&made);
    free(methods);
}

static size_t changed_class(uint8_t first, const uint8_t *data, size_t size, uint8_t **out)
{
    const char *const *names = compiled_class_names();
    size_t count = 0;

    while (names[count] != NULL)
        count++;
    const size_t length = compiled_class_read(names[(first >> 2 & 15) % count], out);
    for (size_t i = 0; i + CHANGE_BYTES <= size; i += CHANGE_BYTES)
        (*out)[smp_class_u2(data + i) % length] = data[i + 2];
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = NULL;
    struct smp_class_file file;

    if (size < 2 || size > MAX_INPUT)
        return 0;
    size_t length = size - 1;
    if ((data[0] & IS_RAW) != 0) {
        bytes = malloc(length);
        require_true(bytes != NULL);
        memcpy(bytes, data + 1, length);
    } else {
        length = changed_class(data[0], data + 1, size - 1, &bytes);
    }
    if (smp_class_file_open(&file, bytes, length) == SMP_OK)
        rewrite(&file, data[0]);
    smp_class_file_close(&file);
    free(bytes);
    require_true(smp_alloc_live_bytes() == 0);
    return 0;
}

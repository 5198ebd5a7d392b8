/* SPDX-License-Identifier: Apache-2.0 */
#include "support/library_copies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct content {
    char *bytes;
    size_t size;
};

static struct content read_whole(const char *path)
{
    struct content content = { 0 };
    FILE *file = fopen(path, "rb");
    long size;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    content.size = (size_t)size;
    content.bytes = malloc(content.size);
    assert_non_null(content.bytes);
    assert_int_equal(fread(content.bytes, 1, content.size, file), content.size);
    (void)fclose(file);
    return content;
}

static void write_whole(const char *path, struct content content)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(content.bytes, 1, content.size, file), content.size);
    assert_int_equal(fclose(file), 0);
    free(content.bytes);
}

void library_copies_init(struct library_copies *copies, const char *file)
{
    *copies = (struct library_copies){ .folder = "/tmp/library_copies.XXXXXX" };
    assert_non_null(mkdtemp(copies->folder));
    for (size_t i = 0; i < LIBRARY_COPIES; i++) {
        struct library_copy *const copy = &copies->copies[i];
        (void)snprintf(copy->path, sizeof(copy->path), "%s/copy-%zu.so", copies->folder, i);
        write_whole(copy->path, read_whole(file));
    }
}

void library_copies_fini(struct library_copies *copies)
{
    for (size_t i = 0; i < LIBRARY_COPIES; i++) {
        if (copies->copies[i].handle != NULL)
            library_copy_unload(&copies->copies[i]);
        (void)unlink(copies->copies[i].path);
    }
    assert_int_equal(rmdir(copies->folder), 0);
}

void library_copy_load(struct library_copy *copy)
{
    copy->handle = dlopen(copy->path, RTLD_NOW | RTLD_LOCAL);
    if (copy->handle == NULL)
        fail_msg("%s", dlerror());
}

void library_copy_unload(struct library_copy *copy)
{
    assert_int_equal(dlclose(copy->handle), 0);
    copy->handle = NULL;
}

void *library_copy_symbol(const struct library_copy *copy, const char *name)
{
    void *symbol = dlsym(copy->handle, name);

    assert_non_null(symbol);
    return symbol;
}

void library_copy_change(const struct library_copy *copy, const char *text, const char *by)
{
    const size_t length = strlen(text);
    struct content content = read_whole(copy->path);
    size_t changes = 0;

    assert_int_equal(strlen(by), length);
    for (char *at = content.bytes;; at += length) {
        at = memmem(at, content.size - (size_t)(at - content.bytes), text, length);
        if (at == NULL)
            break;
        memcpy(at, by, length);
        changes++;
    }
    assert_true(changes > 0);
    write_whole(copy->path, content);
}

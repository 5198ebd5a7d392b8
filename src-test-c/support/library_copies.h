/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_copies.h - copies of a library's file, each loaded as a library of its own, as the JVM
 * does it for class loaders.
 *
 * Owns     the files, in a temporary folder. Handles are closed by the test, or with their copy.
 * Threads  the test's.
 * Errors   fail the test.
 */
#ifndef SMP_TEST_SUPPORT_LIBRARY_COPIES_H
#define SMP_TEST_SUPPORT_LIBRARY_COPIES_H

enum { LIBRARY_COPIES = 3, LIBRARY_PATH_BYTES = 512 };

struct library_copy {
    char path[LIBRARY_PATH_BYTES];
    void *handle; /* NULL: not loaded */
};

struct library_copies {
    char folder[64];
    struct library_copy copies[LIBRARY_COPIES];
};

/* Copies the file without loading it. */
void library_copies_init(struct library_copies *copies, const char *file);
void library_copies_fini(struct library_copies *copies);

void library_copy_load(struct library_copy *copy);
void library_copy_unload(struct library_copy *copy);
/* Looks up a symbol of a loaded copy. */
void *library_copy_symbol(const struct library_copy *copy, const char *name);
/* Replaces every occurrence of a text in the file of a copy that is not loaded. Both texts have
 * the same length. */
void library_copy_change(const struct library_copy *copy, const char *text, const char *by);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_builder.h - class files made by hand, byte by byte, and those that javac made for tests.
 *
 *   struct class_builder builder;
 *   class_builder_init(&builder, 61, "a/B", "java/lang/Object");
 *   class_builder_method(&builder, "m", "()V", &(struct built_code){ .bytes = code, .length = 3 });
 *   const size_t size = class_builder_finish(&builder, &bytes);   free(bytes)
 *
 * Owns     the class until class_builder_finish.
 * Threads  one.
 * Errors   end the program.
 */
#ifndef SMP_TEST_CLASS_BUILDER_H
#define SMP_TEST_CLASS_BUILDER_H

#include <stddef.h>
#include <stdint.h>

enum { CLASS_BUILDER_ROOM = 1 << 20 };

struct class_builder {
    uint8_t *pool;
    uint8_t *methods;
    size_t pool_bytes;
    size_t method_bytes;
    uint32_t pool_count;
    uint32_t method_count;
    uint16_t major;
    uint16_t this_class;
    uint16_t super_class;
    uint16_t bootstraps; /* number of bootstrap methods so far */
    /* method handle of the bootstrap methods added from now on; 0: the constant 1 */
    uint16_t bootstrap_method;
    const char *dynamic_type; /* descriptor of the dynamic calls added from now on; NULL: ()V */
    uint8_t bootstrap_bytes[4096];
    size_t bootstrap_length;
};

/* The contents of a Code attribute. exceptions: rows of start, end, handler, type. attributes:
 * already encoded, with names and lengths. length 0: a native method, without code. */
struct built_code {
    const uint8_t *bytes;
    uint32_t length;
    const uint16_t (*exceptions)[4];
    uint16_t exception_count;
    const uint8_t *attributes;
    size_t attributes_length;
    uint16_t attribute_count;
    uint16_t max_stack;
};

void class_builder_init(struct class_builder *builder, uint16_t major, const char *name,
                        const char *super_name);
/* Each function returns the index of a new constant. */
uint16_t class_builder_utf8(struct class_builder *builder, const char *text);
uint16_t class_builder_class(struct class_builder *builder, const char *name);
uint16_t class_builder_string(struct class_builder *builder, const char *text);
uint16_t class_builder_member(struct class_builder *builder, uint8_t tag, const char *owner,
                              const char *name, const char *descriptor);
uint16_t class_builder_handle(struct class_builder *builder, uint8_t kind, uint16_t member);
/* tag: a dynamic constant or a dynamic call. It uses this row of the bootstrap methods. */
uint16_t class_builder_dynamic(struct class_builder *builder, uint8_t tag, uint16_t row);
void class_builder_integer(struct class_builder *builder, int32_t value);
/* Adds a bootstrap method with these arguments. Returns its row. */
uint16_t class_builder_bootstrap(struct class_builder *builder, const uint16_t *arguments,
                                 uint16_t count);
void class_builder_method(struct class_builder *builder, uint16_t access, const char *name,
                          const char *descriptor, const struct built_code *code);
size_t class_builder_finish(struct class_builder *builder, uint8_t **out);

/* Returns a class file that javac compiled, from com/incapsula/sampler/testing, for example
 * "RetransformedCode". The list of names ends with NULL. The caller frees each class file. */
const char *const *compiled_class_names(void);
size_t compiled_class_read(const char *name, uint8_t **out);
/* Returns a copy in which up to six bytes are random. The caller frees it. */
uint8_t *compiled_class_changed(const uint8_t *bytes, size_t size, uint64_t *random);

#endif

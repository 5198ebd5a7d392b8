/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_file.h - a class file as a view: where its constants, methods and attributes lie.
 *
 * open trusts no length in the file. All that it accepts lies within the file, so readers of the
 * view need not check the structure again. It checks neither byte code nor the tables of a method,
 * which the verifier does.
 *
 *   magic, version | constants | flags, this, super, interfaces | fields | methods | attributes
 *                  ^ pool[1]   ^ pool_end                                ^ methods[0].start
 *
 * Owns     two tables; the bytes are the caller's and outlive the view.
 * Threads  any, once it is open.
 * Errors   open: SMP_EINVAL (malformed, or older than 45.3, with another form of Code), SMP_ENOMEM.
 *          Nothing is held then.
 * Cost     open: one pass over the file, two allocations. An accessor: some loads.
 */
#ifndef SMP_CLASSFILE_CLASS_FILE_H
#define SMP_CLASSFILE_CLASS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "classfile/class_bytes.h"

/* Flags of methods. */
enum {
    SMP_ACCESS_PRIVATE = 0x0002,
    SMP_ACCESS_STATIC = 0x0008,
    SMP_ACCESS_BRIDGE = 0x0040,
    SMP_ACCESS_NATIVE = 0x0100,
    SMP_ACCESS_ABSTRACT = 0x0400,
    SMP_ACCESS_SYNTHETIC = 0x1000
};

enum {
    SMP_CLASS_STACK_MAPS_MAJOR = 50, /* older class files have no StackMapTable */
    SMP_CLASS_MAX_POOL = 65535,      /* the highest index of a constant, plus one */
    SMP_CLASS_MAX_CODE = 65535,      /* the most bytes of a method's code */
    SMP_CLASS_MAX_BYTES = 64 << 20   /* the most bytes of a file; the JDK's own are below 10 MB */
};

enum smp_constant {
    SMP_CONSTANT_UTF8 = 1,
    SMP_CONSTANT_INTEGER = 3,
    SMP_CONSTANT_FLOAT = 4,
    SMP_CONSTANT_LONG = 5,
    SMP_CONSTANT_DOUBLE = 6,
    SMP_CONSTANT_CLASS = 7,
    SMP_CONSTANT_STRING = 8,
    SMP_CONSTANT_FIELD = 9,
    SMP_CONSTANT_METHOD = 10,
    SMP_CONSTANT_INTERFACE_METHOD = 11,
    SMP_CONSTANT_NAME_AND_TYPE = 12,
    SMP_CONSTANT_METHOD_HANDLE = 15,
    SMP_CONSTANT_METHOD_TYPE = 16,
    SMP_CONSTANT_DYNAMIC = 17,
    SMP_CONSTANT_INVOKE_DYNAMIC = 18,
    SMP_CONSTANT_MODULE = 19,
    SMP_CONSTANT_PACKAGE = 20
};

/* A field or method that a constant names. Texts are modified UTF-8 inside the file. */
struct smp_class_member {
    struct smp_slice owner; /* as com/acme/Orders, or an array as [I */
    struct smp_slice name;
    struct smp_slice descriptor;
};

/* The contents of a Code attribute. Its 32-bit fields except length are offsets in the file. */
struct smp_class_code {
    uint32_t attribute; /* 0: none, the method is native or abstract */
    uint32_t bytes;     /* its byte code */
    uint32_t length;    /* of the byte code */
    uint32_t exceptions;
    uint32_t attributes; /* of the Code attribute: their count, then the attributes */
    uint32_t end;
    uint16_t exception_count;
    uint16_t max_stack;
    uint16_t max_locals;
};

/* A row of an exception table: offsets in the code. */
struct smp_class_exception {
    uint16_t start;
    uint16_t end;
    uint16_t handler;
    uint16_t type; /* index of a class; 0: every exception */
};

struct smp_class_method {
    struct smp_slice name;
    struct smp_slice descriptor;
    struct smp_class_code code;
    uint32_t start; /* of its method_info */
    uint32_t end;
    uint16_t access;
};

/* Visible so that it can live on a stack; only class_file.c writes to it. */
struct smp_class_file {
    const uint8_t *bytes;
    size_t size;
    struct smp_slice name;
    struct smp_slice super_name;  /* bytes NULL: java.lang.Object, or a module */
    struct smp_slice source_file; /* as OrderHandler.java; bytes NULL: there is none */
    uint32_t *pool;               /* offset of each constant's tag; 0: this index has none */
    struct smp_class_method *methods;
    uint32_t pool_end;
    uint32_t methods_end;
    uint32_t bootstraps; /* offset of the contents of BootstrapMethods; 0: none */
    uint32_t bootstraps_end;
    uint16_t pool_count; /* the highest index plus one */
    uint16_t method_count;
    uint16_t major;
    uint16_t interface_count;
};

/* An iterator over attributes that open has accepted. */
struct smp_class_attributes {
    struct smp_class_reader reader;
    uint16_t left;
};

struct smp_class_attribute {
    struct smp_slice name;
    uint32_t start;  /* of the attribute, with its name and length */
    uint32_t bytes;  /* of what it holds */
    uint32_t length; /* of what it holds */
};

SMP_CHECKED enum smp_status smp_class_file_open(struct smp_class_file *file, const uint8_t *bytes,
                                                size_t size);
/* Opens only constants, which begin at offset start, above 0; count as in a class file. */
SMP_CHECKED enum smp_status smp_class_file_open_pool(struct smp_class_file *file,
                                                     const uint8_t *bytes, size_t size,
                                                     size_t start, uint16_t count);
/* A file that was not opened must be all zero. A second close has no effect. */
void smp_class_file_close(struct smp_class_file *file);

/* Returns 0 if there is no constant with this index. */
uint8_t smp_class_file_tag(const struct smp_class_file *file, uint16_t index);
/* bytes is NULL if the constant is no Utf8, or for class_name no Class, Module or Package. */
struct smp_slice smp_class_file_utf8(const struct smp_class_file *file, uint16_t index);
struct smp_slice smp_class_file_class_name(const struct smp_class_file *file, uint16_t index);
/* Returns false if the constant is no field, method or interface method. */
bool smp_class_file_member(const struct smp_class_file *file, uint16_t index,
                           struct smp_class_member *out);

/* i is below interface_count. */
struct smp_slice smp_class_file_interface_name(const struct smp_class_file *file, uint16_t i);

/* i is below exception_count. */
struct smp_class_exception smp_class_file_exception(const struct smp_class_file *file,
                                                    const struct smp_class_code *code, uint32_t i);

/* Returns the attributes of a Code attribute; a method without code has none. */
struct smp_class_attributes smp_class_file_code_attributes(const struct smp_class_file *file,
                                                           const struct smp_class_code *code);
/* Returns false if there are no more. */
bool smp_class_file_next_attribute(const struct smp_class_file *file,
                                   struct smp_class_attributes *list,
                                   struct smp_class_attribute *out);

#endif

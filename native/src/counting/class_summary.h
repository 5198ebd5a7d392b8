/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_summary.h - what counting needs of a class: plain structs, without the class file.
 *
 * Names are as in a class file: `com/acme/Order$Line`, `run`, `(I)V`, in modified UTF-8, not
 * terminated.
 *
 * Owns     no text: all is borrowed for the call that gets it.
 * Threads  any.
 */
#ifndef SMP_COUNTING_CLASS_CLASS_SUMMARY_H
#define SMP_COUNTING_CLASS_CLASS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/slice.h"

/* Flags of methods that matter here, with the class file's numbers. */
enum {
    SMP_ACCESS_PRIVATE = 0x0002,
    SMP_ACCESS_STATIC = 0x0008,
    SMP_ACCESS_BRIDGE = 0x0040,
    SMP_ACCESS_NATIVE = 0x0100,
    SMP_ACCESS_ABSTRACT = 0x0400
};

enum { SMP_MAX_METHODS_OF_CLASS = 65535 };

struct smp_call_summary {
    struct smp_slice owner;
    struct smp_slice name;
    struct smp_slice descriptor; /* length 0: all methods of the name that the owner declares */
    bool is_dispatched; /* an override may be called: virtual, interface, a method handle */
    bool is_made; /* the code makes an object that others call: a method handle, or the name is
                     SMP_CALL_OF_NEW */
};

/* A call's name, without a descriptor, that stands for a new object of the owner. */
#define SMP_CALL_OF_NEW "<new>"

struct smp_method_summary {
    struct smp_slice name;
    struct smp_slice descriptor;
    const struct smp_call_summary *calls; /* one may be there more than once */
    size_t call_count;
    uint16_t access;
    bool is_trivial; /* empty, a getter, a setter: left out, unless it is a root */
};

struct smp_class_summary {
    uint64_t loader; /* a token of its class loader */
    struct smp_slice name;
    struct smp_slice super_name;  /* length 0: java/lang/Object */
    struct smp_slice source_file; /* `Order.java`; length 0: not known */
    const struct smp_slice *interfaces;
    size_t interface_count;
    const struct smp_method_summary *methods; /* in the order of the class file */
    size_t method_count;                      /* SMP_MAX_METHODS_OF_CLASS at most */
    bool is_hidden;   /* a lambda's class: it only passes calls on, and cannot be changed */
    bool lacks_calls; /* its bytes have not been seen: what its methods call is not known */
};

#endif

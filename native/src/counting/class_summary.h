/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_summary.h - what counting needs of a class: its super types, its methods and their calls.
 *
 * Names are as in a class file: `com/acme/Order$Line`, `run`, `(I)V`, in modified UTF-8, not
 * terminated. A summary owns no text: it borrows them for the call that gets it.
 *
 * The reader makes a summary of a class file. If a method calls a find method of
 * MethodHandles.Lookup, each of its string constants counts as the name of a looked-up method: of
 * its own class, and of classes that it makes objects or has constants of. Calls of dynamic
 * languages are treated in the same way, with the class on which the call is declared. A method
 * handle is dispatched if it calls as invokevirtual and invokeinterface do.
 *
 * Owns     the reader: the arrays of its summary, until the next read; texts are the class file's.
 * Threads  one at a time for each reader.
 * Errors   read: SMP_ENOMEM where quota or system refuse memory, or the class has more calls than
 *          SMP_CLASS_SUMMARY_MAX_CALLS: then there is no summary. If code is not understood, the
 *          calls before that place are kept: the rewriter leaves such a method alone.
 * Cost     read: a pass over the code; in the steady state no allocation.
 */
#ifndef SMP_COUNTING_CLASS_SUMMARY_H
#define SMP_COUNTING_CLASS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"
#include "base/slice.h"
#include "base/status.h"
#include "classfile/class_file.h"

enum { SMP_MAX_METHODS_OF_CLASS = 65535 };

struct smp_call_summary {
    struct smp_slice owner;
    struct smp_slice name;
    struct smp_slice descriptor; /* length 0: all methods of that name in the owner */
    bool is_dispatched; /* an override may be called: virtual, interface, a method handle */
    bool
        is_made; /* the code makes an object that other code calls: a method handle, or an object of
                     the owner if the name is SMP_CALL_OF_NEW */
};

/* A call of this name, without a descriptor, stands for a new object of the owner. */
#define SMP_CALL_OF_NEW "<new>"

struct smp_method_summary {
    struct smp_slice name;
    struct smp_slice descriptor;
    const struct smp_call_summary *calls; /* may have duplicates */
    size_t call_count;
    uint16_t access;
    bool is_trivial; /* empty, a getter or a setter: counted only as a root */
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
    bool lacks_calls; /* its bytes have not been seen, so the calls of its methods are not known */
};

/* Returns whether it is the class of a java.lang.reflect.Proxy. */
bool smp_class_summary_is_proxy(const struct smp_class_summary *summary);

enum { SMP_CLASS_SUMMARY_MAX_CALLS = 1024 * 1024 };

/* Visible so that it can live in its owner. All zero but for the budget's quota: empty. */
struct smp_class_summary_reader {
    struct smp_memory_budget budget; /* without a maximum of its own */
    struct smp_class_summary summary;
    struct smp_grown methods;
    struct smp_grown interfaces;
    struct smp_grown calls;
    size_t call_count;
};

void smp_class_summary_reader_fini(struct smp_class_summary_reader *reader);

/* The file is open. out is the reader's. */
SMP_CHECKED enum smp_status smp_class_summary_reader_read(struct smp_class_summary_reader *reader,
                                                          const struct smp_class_file *file,
                                                          uint64_t loader,
                                                          const struct smp_class_summary **out);

#endif

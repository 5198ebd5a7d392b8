/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_sites.h - which methods a method's code may call, and whether it is worth counting.
 *
 * A method handle that the code loads as a constant, or that the bootstrap method of an
 * invokedynamic gets as an argument, is a call site, too: it is a lambda's body or a method
 * reference. Other code makes the call, but this code hands the method out.
 *
 * INITIALISER stands for a static field: its first use runs <clinit> of its class.
 *
 * NEW stands for an object that the code can make: by `new`, a constructor's method handle, or a
 * class constant, which is used for reflection. Its member is the class, <new>, and no descriptor.
 *
 * STRING stands for a string constant: code that looks up a method handle names the method by a
 * string. Only the member's name is set.
 *
 * BY_NAME stands for a string among the arguments of a bootstrap method that is not the JDK's: a
 * dynamic language looks the method of this name up when the call is made. The member has no owner.
 *
 * Threads  any.
 * Errors   code that is not understood ends the walk: false.
 * Cost     a pass over the code.
 */
#ifndef SMP_CLASSFILE_CALL_SITES_H
#define SMP_CLASSFILE_CALL_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "classfile/class_file.h"

enum smp_call_kind {
    /* In the order of their instructions: */
    SMP_CALL_VIRTUAL,
    SMP_CALL_SPECIAL, /* constructors, private methods of old, super.method() */
    SMP_CALL_STATIC,
    SMP_CALL_INTERFACE,
    SMP_CALL_INITIALISER, /* of another class than its own */
    SMP_CALL_NEW,
    SMP_CALL_STRING,
    SMP_CALL_BY_NAME /* the descriptor is that of the dynamic call */
};

/* Borrowed from the class file. The owner of a method of an array, as clone(), begins with [. */
struct smp_class_call_site {
    enum smp_call_kind kind;
    bool is_handle;
    uint32_t pc;
    struct smp_class_member method;
};

/* False ends the walk. */
typedef bool smp_class_each_call(void *self, const struct smp_class_call_site *site);

/* Visits the call sites of a method in the order of its code; a method without code has none.
 * Returns false if each did, or if the code is not understood. */
bool smp_class_each_call_site(const struct smp_class_file *file,
                              const struct smp_class_method *method, smp_class_each_call *each,
                              void *self);

/*
 * Nothing but: return; a field or a parameter returned; a parameter stored in a field, with or
 * without returning "this". Too short to be worth a probe. False for constructors, which at least
 * call another one, and for methods without code.
 */
bool smp_class_method_is_trivial(const struct smp_class_file *file,
                                 const struct smp_class_method *method);

/*
 * Is it no method of the source, but one that a compiler has added to pass a call on? Bridges;
 * access$ methods; Kotlin's $default, and invokeSuspend of a function that goes on; the bodies that
 * AspectJ has moved out of a method. invokeSuspend of a lambda is the lambda itself.
 */
bool smp_class_method_passes_on(const struct smp_class_file *file,
                                const struct smp_class_method *method);

#endif

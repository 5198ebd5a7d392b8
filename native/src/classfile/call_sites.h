/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_sites.h - which methods a method's code may call, and whether it is worth counting.
 *
 * HANDLE stands for the method handles among the arguments that an invokedynamic's bootstrap method
 * gets, and for those that are loaded as constants: bodies of lambdas and method references. The
 * call then comes from elsewhere, but it is this code that hands the method out.
 *
 * INITIALISER stands for a static field: what uses it first runs <clinit> of its class.
 *
 * NEW stands for an object that the code can make: `new`, a constructor's method handle, a class
 * constant (others make it by reflection). Its member is the class, <new>, and no descriptor.
 *
 * STRING stands for a string constant: code that looks method handles up names methods so. Only the
 * member's name is set.
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
    SMP_CALL_STATIC,
    SMP_CALL_SPECIAL, /* constructors, private methods of old, super.method() */
    SMP_CALL_VIRTUAL,
    SMP_CALL_INTERFACE,
    SMP_CALL_HANDLE,
    SMP_CALL_INITIALISER, /* of another class than its own */
    SMP_CALL_NEW,
    SMP_CALL_STRING, /* the member's name is a string constant: what a lookup may be given */
    SMP_CALL_BY_NAME /* likewise, and its descriptor is that of the dynamic call */
};

/* Borrowed from the class file. The owner of a method of an array, as clone(), begins with [. */
struct smp_class_call_site {
    enum smp_call_kind kind;
    enum smp_call_kind handle_kind; /* of a HANDLE: how the handle calls; else kind */
    uint32_t pc;
    struct smp_class_member method;
};

/* False ends the walk. */
typedef bool smp_class_each_call(void *self, const struct smp_class_call_site *site);

/* The call sites of a method in the order of its code; a callee comes as often as it is called.
 * None for a method without code. False: each returned false, or the code is not understood. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_sites.h - which methods a method's code may call, and whether it is worth counting.
 *
 * A method handle is a call site, too, if the code loads it as a constant or passes it to the
 * bootstrap method of an invokedynamic (a lambda's body or a method reference). Other code makes
 * the call, but this code hands out the method.
 *
 * INITIALISER reports a static field, whose first use runs <clinit> of its class.
 *
 * NEW reports an object that the code can make: by `new`, a constructor's method handle, or a class
 * constant, which reflection may use. Its member has the class, the name <new> and no descriptor.
 *
 * STRING reports a string constant, by which code may look up a method handle. Only the member's
 * name is set.
 *
 * BY_NAME reports a string among the arguments of a bootstrap method outside of the JDK: a dynamic
 * language looks up the method of this name when the call is made. The member has no owner.
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
    SMP_CALL_SPECIAL, /* constructors, private methods of old class files, super.method() */
    SMP_CALL_STATIC,
    SMP_CALL_INTERFACE,
    SMP_CALL_INITIALISER, /* of another class than its own */
    SMP_CALL_NEW,
    SMP_CALL_STRING,
    SMP_CALL_BY_NAME /* with the descriptor of the dynamic call */
};

/* Borrowed from the class file. The owner of a method of an array, as clone(), begins with [. */
struct smp_class_call_site {
    enum smp_call_kind kind;
    bool is_handle;
    uint32_t pc;
    struct smp_class_member method;
};

/* A result of false ends the walk. */
typedef bool smp_class_each_call(void *self, const struct smp_class_call_site *site);

/* Visits the call sites of a method in the order of its code; a method without code has none.
 * Returns false if a callback did, or if the code is not understood. */
bool smp_class_each_call_site(const struct smp_class_file *file,
                              const struct smp_class_method *method, smp_class_each_call *each,
                              void *self);

/*
 * Returns whether the method is too short for a probe: it only returns, returns a field or a
 * parameter, or stores a parameter in a field, with or without returning "this". False for
 * constructors, which call at least another one, and for methods without code.
 */
bool smp_class_method_is_trivial(const struct smp_class_file *file,
                                 const struct smp_class_method *method);

/*
 * Returns whether a compiler has added the method to pass a call on. True for bridges, access$
 * methods, Kotlin's $default and the invokeSuspend of a resumed function, and bodies that AspectJ
 * has moved out of a method. False for a lambda's invokeSuspend, which is the lambda itself.
 */
bool smp_class_method_passes_on(const struct smp_class_file *file,
                                const struct smp_class_method *method);

#endif

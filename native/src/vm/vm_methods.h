/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_methods.h - the name source: what JVMTI knows of a method id.
 *
 * An id whose class has been unloaded answers INVALID_METHODID, which is told as SMP_EGONE. The
 * first question yields the declaring class, and its reference keeps the class loaded for the rest.
 *
 * Owns     one buffer for the answer, reused from method to method.
 * Threads  resolve and release on one attached thread at a time.
 * Errors   SMP_EGONE, SMP_ENOMEM, SMP_EPHASE, SMP_EVM. A file or lines that are not known, or not
 *          to be had from this JVM, are no error.
 * Cost     some calls of JVMTI, each with a malloc of the JVM's own.
 */
#ifndef SMP_VM_VM_METHODS_H
#define SMP_VM_VM_METHODS_H

#include "base/status.h"
#include "model/sample.h"

enum { SMP_VM_METHODS_KEEP_BYTES = 64 * 1024 }; /* a larger buffer is given back at once */

struct smp_vm_methods;

SMP_CHECKED enum smp_status smp_vm_methods_create(struct smp_vm_methods **out);
void smp_vm_methods_destroy(struct smp_vm_methods *methods);
/* Borrows methods. */
struct smp_name_source smp_vm_methods_source(struct smp_vm_methods *methods);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the name source: finds a method's names by its id, with JVMTI, or, for a method
 * without an id, among the names that walks have copied (named_methods.h).
 *
 * If the class of an id has been unloaded, JVMTI returns INVALID_METHODID, here SMP_EGONE. The
 * first call gets a reference to the declaring class, which keeps it loaded during the other calls.
 *
 * Owns     one buffer for texts and lines, reused from method to method; the named methods.
 * Threads  resolve and release on one attached thread at a time.
 * Errors   SMP_EGONE, SMP_ENOMEM, SMP_EPHASE, SMP_EVM (also: the table has forgotten the copy). An
 *          unknown file or unknown lines are not an error.
 * Cost     some calls of JVMTI, each with a malloc of the JVM's own.
 */
#ifndef SMP_JVM_CODE_METHODS_H
#define SMP_JVM_CODE_METHODS_H

#include <stdint.h>

#include "base/status.h"
#include "jvm/code/named_methods.h"
#include "model/sample.h"

enum { SMP_JVM_METHODS_KEEP_BYTES = 64 * 1024 }; /* a larger buffer is freed at once */

/* The key of a method that has neither an id nor names. No id has this value. */
#define SMP_METHODS_NO_ID UINT64_MAX

struct smp_jvm_methods;

SMP_CHECKED enum smp_status smp_jvm_methods_create(struct smp_jvm_methods **out);
void smp_jvm_methods_destroy(struct smp_jvm_methods *methods);
/* Returns the table for names that walks copy. It lives as long as methods. */
struct smp_named_methods *smp_jvm_methods_named(struct smp_jvm_methods *methods);
/* Borrows methods. */
struct smp_name_source smp_jvm_methods_source(struct smp_jvm_methods *methods);

#endif

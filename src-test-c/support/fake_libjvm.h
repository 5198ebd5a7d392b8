/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_libjvm.h - the lists by which a libjvm describes itself, with the numbers of JDK 17, 21
 * and 25 on x86-64, for a test to change.
 *
 *   struct fake_libjvm *libjvm = fake_libjvm_create(25);
 *   fake_libjvm_entry(libjvm, "CodeBlob", "_name")->value = 1 << 20;
 *   ... fake_libjvm_exports(libjvm) goes to the code under test ...
 *   fake_libjvm_destroy(libjvm);
 *
 * Owns     its entries, from malloc. It contains only the entries that a walk needs.
 * Threads  one.
 * Errors   fail the test.
 * Cost     small inputs.
 */
#ifndef SMP_SUPPORT_FAKE_LIBJVM_H
#define SMP_SUPPORT_FAKE_LIBJVM_H

#include "hotspot/exports.h"

struct fake_libjvm;

struct fake_libjvm *fake_libjvm_create(int version);
void fake_libjvm_destroy(struct fake_libjvm *libjvm);
/* The result is valid until destroy; the lists it describes are read anew each time. */
struct smp_exports fake_libjvm_exports(struct fake_libjvm *libjvm);

/* All entries of all lists: a type has no name, a constant has no type. */
size_t fake_libjvm_count(const struct fake_libjvm *libjvm);
struct smp_export *fake_libjvm_at(struct fake_libjvm *libjvm, size_t index);
struct smp_export *fake_libjvm_entry(struct fake_libjvm *libjvm, const char *type,
                                     const char *name);
/* Adds an entry; its texts must outlive the lists. */
void fake_libjvm_add(struct fake_libjvm *libjvm, const struct smp_export *entry);
/* Hides this entry or shows it again. */
void fake_libjvm_hide(struct fake_libjvm *libjvm, size_t index, bool is_hidden);
/* Hides this symbol from the exports; NULL: hides none. */
void fake_libjvm_hide_symbol(struct fake_libjvm *libjvm, const char *symbol);

#endif

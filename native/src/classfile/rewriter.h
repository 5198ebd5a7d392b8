/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewriter.h - adds probes to methods of a class file: one at the entry, one before each return,
 * and one in a handler for every exception.
 *
 *   probe of the entry
 *   the method as it was, a probe of the exit before each return     ┐ covered by the handler,
 *   and one where it catches an exception itself (moved_code.h)      ┘ which comes last of all
 *   probe of the exit, athrow
 *
 * A method may hand out its receiver and first argument at its entry (probes.h). If it has no id,
 * that is its only change.
 *
 * Only the handler needs a new frame: no locals, an exception on the stack. No types are inferred,
 * and no class is loaded. In a constructor the handler covers the code after super() or this(), as
 * the verifier requires; if that call is not found, there is no handler. A constructor's call that
 * an exception leaves without a probe ends when the exception is caught, or when the caller ends.
 * In a root the entry probe comes after super() or this(), too, because nothing could report the
 * end of a root if super() throws. If something does not fit, only that method is left alone, not
 * the class.
 *
 * Owns     no memory; the result is the caller's.
 * Threads  any; one at a time for a plan.
 * Errors   SMP_ENOMEM: nothing was made.
 * Cost     two passes over the code of the chosen methods, one copy of everything else. Working
 *          memory: 2 bytes for each byte of the longest method's code.
 */
#ifndef SMP_CLASSFILE_REWRITER_H
#define SMP_CLASSFILE_REWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "classfile/class_file.h"
#include "classfile/probes.h"

enum { SMP_REWRITER_MOST_BYTES = 4 * SMP_CLASS_MAX_BYTES };

/* The plan for a method, and its result. */
struct smp_rewriter_method {
    int32_t id;                 /* pushed by its probes; below 0: none */
    bool is_root;               /* its probes call the hook's methods for roots */
    enum smp_probe_hands hands; /* at its entry; of an instance method, no constructor */
    bool has_handler;           /* out: an exception that leaves the method runs a probe */
    enum smp_rewrite result;    /* out */
};

/* methods: one for each method of the file. out is empty, with SMP_REWRITER_MOST_BYTES as its
 * maximum; it stays empty if no method was changed. */
SMP_CHECKED enum smp_status smp_rewriter_run(const struct smp_class_file *file,
                                             const struct smp_probe_hook *hook,
                                             struct smp_rewriter_method *methods,
                                             struct smp_bytes *out);

/* Returns the offset behind the super() or this() call of a constructor, or 0 if it is not known
 * or no code follows. */
uint32_t smp_super_call_end(const struct smp_class_file *file,
                            const struct smp_class_method *method);

/* Never NULL, static storage. */
const char *smp_rewrite_text(enum smp_rewrite rewrite);

#endif

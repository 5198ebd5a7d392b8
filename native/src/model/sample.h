/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - a walked stack, and the source that turns its method keys into names.
 *
 * Above jvm/ a method is an opaque 64-bit key. It may be compared, hashed, and passed to the name
 * source of its walk, but never cast, masked or dereferenced.
 */
#ifndef SMP_MODEL_SAMPLE_H
#define SMP_MODEL_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* One frame, with the size and order of jvmtiFrameInfo, so that JVMTI writes it in place. */
struct smp_frame {
    uint64_t method; /* opaque key, never 0 */
    int64_t bci;     /* byte code index; negative in a native method */
};

/* In bci: the frame is a pseudo-frame, and its method key is for smp_name_source.pseudo_text. */
#define SMP_BCI_PSEUDO INT64_MIN

/* The counted call in which the thread was, as the thread itself recorded it. */
struct smp_call_spot {
    uint64_t tree;    /* of engine/call_counter.h; 0: in none, or not known */
    uint32_t ordinal; /* of a node; 0: none */
    bool is_in_hook;  /* it ran the probe, not the method */
};

/*
 * One walked stack, leaf first. If a stack is deeper than the walker keeps, frames[0..leaf_count)
 * is its leaf end and frames[leaf_count..count) its root end, with omitted frames between the two.
 * If the walk did not reach the root, there is no root end: leaf_count == count, and at least
 * omitted > 0 frames are missing. Not cut: leaf_count == count and omitted == 0.
 */
struct smp_sample {
    struct smp_frame *frames; /* the caller's storage */
    size_t capacity;
    size_t count;
    size_t leaf_count;
    size_t omitted;
    struct smp_call_spot spot;
};

static inline bool smp_sample_lacks_root(const struct smp_sample *sample)
{
    return sample->omitted > 0 && sample->leaf_count == sample->count;
}

struct smp_line {
    int32_t start_bci;
    int32_t line;
};

/* Texts are UTF-8, NUL-terminated; borrowed until the source's release. */
struct smp_method_info {
    const char *class_name;  /* dotted binary name: com.acme.Outer$Inner */
    const char *method_name; /* run, <init> */
    const char *file;        /* Outer.java, or NULL when unknown */
    bool is_native;
    const struct smp_line *lines; /* any order; NULL when unknown */
    size_t line_count;
    int64_t since_ms;       /* wall clock: when a counted method got its probe; 0: before its first
                       * call */
    const char *descriptor; /* (ILjava/lang/String;)V, or NULL when unknown */
};

/* Resolves method keys. Called on the sampler thread only. */
struct smp_name_source {
    /*
     * SMP_OK: *info is filled, and release is called once with it. SMP_EGONE: the class has been
     * unloaded. SMP_ENOMEM, SMP_EPHASE, SMP_EVM: not known now.
     */
    enum smp_status (*resolve)(void *self, uint64_t method, struct smp_method_info *info);
    void (*release)(void *self, struct smp_method_info *info);
    /* The text of a pseudo-frame, in brackets: "[jbyte_arraycopy]". Valid as long as the source.
     * May be NULL. */
    const char *(*pseudo_text)(void *self, uint64_t method);
    void *self;
};

#endif

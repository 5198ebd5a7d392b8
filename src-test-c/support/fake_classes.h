/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_classes.h - a JVM with classes and class loaders only. The test says which classes are
 * loaded and prepared, which ones the JVM refuses to change, and which bytes they have.
 *
 * A reference is the address of the object, except weak references. Weak and global references are
 * counted.
 *
 * Owns     copies of class files, and the memory it allocates for its caller; live_pieces counts
 *          both.
 * Threads  one.
 * Errors   those that the test asks for.
 */
#ifndef SMP_TEST_FAKE_CLASSES_H
#define SMP_TEST_FAKE_CLASSES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classfile/class_file.h"

enum { FAKE_CLASSES_MOST = 256 };

struct fake_loader {
    int kind;
    jint hash;
    bool is_gone;
};

struct fake_loaded {
    int kind;
    char signature[64];
    struct fake_loader *loader; /* NULL: the boot loader */
    struct fake_loaded *super;
    bool is_loaded;
    bool is_prepared;
    jvmtiError refusal; /* the error of a batch with this class */
    unsigned refused;   /* number of refusals; 0: refuse always */
    unsigned changes;   /* successful retransformations */
    uint8_t *original;
    size_t original_size;
    uint8_t *bytes; /* the current bytes */
    size_t size;
    struct smp_class_file file; /* of the original bytes */
};

/* The load hook. Returns true if it has set *out to new bytes, which JVMTI allocated. */
typedef bool fake_load_hook(struct fake_loaded *type, bool is_retransformed, const uint8_t *bytes,
                            size_t size, uint8_t **out, size_t *out_size);

struct fake_classes {
    struct fake_loaded *classes[FAKE_CLASSES_MOST];
    size_t count;
    fake_load_hook *hook; /* NULL: the hook is off */
    unsigned batches;     /* calls of RetransformClasses */
    unsigned stops;       /* calls of RetransformClasses that succeeded */
    bool is_dying;        /* each call returns JVMTI_ERROR_WRONG_PHASE */
    bool refuses_allocate;
    unsigned failed_lists; /* number of coming calls of GetLoadedClasses that fail */
    long live_pieces;
    _Atomic long weak_refs;
    long global_refs;
    unsigned refused_globals;      /* number of coming calls of NewGlobalRef that return NULL */
    int frames;                    /* open local frames */
    int refused_frame;             /* the depth at which PushLocalFrame fails, from 1; 0: never */
    void (*while_listed)(void);    /* called before GetLoadedClasses returns */
    void (*while_allocated)(void); /* called once, before Allocate returns */
};
extern struct fake_classes fake_classes;

void fake_classes_reset(void);
/* Fails if a reference or memory is left; frees the classes. */
void fake_classes_check(void);
jvmtiEnv *fake_classes_jvmti(void);
JNIEnv *fake_classes_jni(void);

struct fake_loader fake_loader(jint hash);
/* Takes over the class file, which malloc allocated. Does not load the class yet. */
void fake_classes_add(struct fake_loaded *type, const char *name, struct fake_loader *loader,
                      uint8_t *bytes, size_t size);
/* Loads the class and runs the load hook. */
void fake_classes_load(struct fake_loaded *type, bool is_prepared);

#endif

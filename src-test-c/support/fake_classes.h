/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_classes.h - a JVM that has nothing but classes and class loaders: what is loaded and
 * prepared, which of them it refuses to change, and which bytes they have.
 *
 * A reference is the object itself, but for weak ones. These and global ones are counted.
 *
 * Owns     copies of class files, what it allocates for its caller; live_pieces counts both.
 * Threads  one.
 * Errors   as the test says.
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
    jvmtiError refusal; /* of a batch that has it */
    unsigned refused;   /* of these, how often; 0: always */
    unsigned changes;   /* successful retransformations */
    uint8_t *original;
    size_t original_size;
    uint8_t *bytes; /* now */
    size_t size;
    struct smp_class_file file; /* the original */
};

/* The load hook. True: *out are other bytes, allocated by JVMTI. */
typedef bool fake_load_hook(struct fake_loaded *type, bool is_retransformed, const uint8_t *bytes,
                            size_t size, uint8_t **out, size_t *out_size);

struct fake_classes {
    struct fake_loaded *classes[FAKE_CLASSES_MOST];
    size_t count;
    fake_load_hook *hook; /* NULL: it is off */
    unsigned batches;     /* calls of RetransformClasses */
    unsigned stops;       /* of these, successful ones */
    bool is_dying;        /* each call says so */
    bool refuses_allocate;
    unsigned failed_lists; /* the next so many calls of GetLoadedClasses fail */
    long live_pieces;
    _Atomic long weak_refs;
    long global_refs;
    unsigned refused_globals;      /* the next so many calls of NewGlobalRef give NULL */
    int frames;                    /* local ones that are open */
    int refused_frame;             /* the next frame that would be so deep, from 1; 0: none */
    void (*while_listed)(void);    /* before GetLoadedClasses returns */
    void (*while_allocated)(void); /* before Allocate returns, once */
};
extern struct fake_classes fake_classes;

void fake_classes_reset(void);
/* Fails unless all has been given back; frees the classes. */
void fake_classes_check(void);
jvmtiEnv *fake_classes_jvmti(void);
JNIEnv *fake_classes_jni(void);

struct fake_loader fake_loader(jint hash);
/* Takes the class file, which malloc gave. Not loaded yet. */
void fake_classes_add(struct fake_loaded *type, const char *name, struct fake_loader *loader,
                      uint8_t *bytes, size_t size);
/* Runs the load hook; prepared or not. */
void fake_classes_load(struct fake_loaded *type, bool is_prepared);

#endif

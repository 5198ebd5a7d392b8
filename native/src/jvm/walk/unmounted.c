/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/unmounted.h"

#include "base/alloc.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jdk.h"
#include "jvm/agent/version.h"
#include "jvm/threads/virtual_thread_sets.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/by_jvmti.h"

enum {
    NAME_BYTES = 256,
    LOCAL_REFS = 32,
    LEAST_SLOTS = 8 /* minimum for each set, if there are very many sets */
};

struct smp_unmounted {
    size_t capacity;
    bool is_open;
    const char *refusal; /* NULL: not refused */
    struct smp_virtual_thread_sets sets;
    jclass virtual_thread; /* a global reference */
    jfieldID carrier;
    struct smp_frame *frames;
    double tracked; /* number of threads in the sets at the last draw */
    char name[NAME_BYTES];
};

/* --------------------------------------------------------------------------------- open, create */

static enum smp_status find_virtual_thread(JNIEnv *env, struct smp_unmounted *unmounted)
{
    jclass found = smp_jdk_class(env, "java/lang/VirtualThread");

    unmounted->carrier = smp_jdk_field(env, found, "carrierThread", "Ljava/lang/Thread;");
    if (unmounted->carrier != NULL)
        unmounted->virtual_thread = (*env)->NewGlobalRef(env, found);
    (*env)->DeleteLocalRef(env, found);
    if (unmounted->carrier == NULL)
        return SMP_EUNSUPPORTED;
    return unmounted->virtual_thread != NULL ? SMP_OK : SMP_ENOMEM;
}

static void forget_references(struct smp_unmounted *unmounted, JNIEnv *env)
{
    if (unmounted->virtual_thread != NULL && env != NULL)
        (*env)->DeleteGlobalRef(env, unmounted->virtual_thread);
    unmounted->virtual_thread = NULL;
    smp_virtual_thread_sets_fini(&unmounted->sets, env);
}

/* After SMP_ENOMEM the next draw tries again. Other failures are final. */
static enum smp_status find_threads(struct smp_unmounted *unmounted, JNIEnv *env)
{
    enum smp_status status = SMP_EUNSUPPORTED;
    const char *reason = "needs JDK 25 or later";

    if (smp_jvm_version(smp_agent_jvmti()) >= SMP_UNMOUNTED_OLDEST_JDK) {
        reason = "unknown layout of virtual threads";
        status = find_virtual_thread(env, unmounted);
    }
    if (status == SMP_OK)
        status = smp_virtual_thread_sets_init(env, &unmounted->sets, &reason);
    if (status == SMP_EUNSUPPORTED)
        unmounted->refusal = reason;
    return status;
}

static enum smp_status open_unmounted(struct smp_unmounted *unmounted, JNIEnv *env)
{
    enum smp_status status = SMP_OK;

    if (unmounted->refusal != NULL)
        return SMP_EUNSUPPORTED;
    if (unmounted->is_open)
        return SMP_OK;
    if (unmounted->frames == NULL)
        unmounted->frames = smp_alloc(NULL, unmounted->capacity * sizeof(*unmounted->frames));
    if (unmounted->frames == NULL)
        return SMP_ENOMEM;
    status = find_threads(unmounted, env);
    unmounted->is_open = status == SMP_OK;
    if (!unmounted->is_open)
        forget_references(unmounted, env);
    return status;
}

enum smp_status smp_unmounted_create(size_t capacity, struct smp_unmounted **out)
{
    struct smp_unmounted *unmounted = NULL;

    if (capacity < 2)
        return SMP_EINVAL;
    unmounted = smp_alloc(NULL, sizeof(*unmounted));
    if (unmounted == NULL)
        return SMP_ENOMEM;
    unmounted->capacity = capacity;
    *out = unmounted;
    return SMP_OK;
}

void smp_unmounted_destroy(JNIEnv *env, struct smp_unmounted *unmounted)
{
    if (unmounted == NULL)
        return;
    forget_references(unmounted, smp_agent_is_live() ? env : NULL);
    smp_free(NULL, unmounted->frames);
    smp_free(NULL, unmounted);
}

/* ----------------------------------------------------------------------------------------- draw */

struct drawing {
    struct smp_unmounted *unmounted;
    double wanted;
    uint64_t *random;
    double tracked;    /* threads in the visited sets, including platform threads */
    double population; /* virtual threads in the visited sets */
    const struct smp_virtual_thread_set *set;
    size_t slots; /* remaining slots to read */
    smp_on_drawn_thread *drawn;
    void *context;
};

static bool is_mounted(const struct smp_unmounted *unmounted, JNIEnv *env, jobject thread)
{
    jobject carrier = (*env)->GetObjectField(env, thread, unmounted->carrier);

    (*env)->DeleteLocalRef(env, carrier);
    return carrier != NULL;
}

/* Skips platform threads, which are polled like all others. */
static void draw_thread(void *context, JNIEnv *env, jobject thread, double share)
{
    struct drawing *drawing = context;
    struct smp_unmounted *unmounted = drawing->unmounted;
    struct smp_sample sample = { .frames = unmounted->frames, .capacity = unmounted->capacity };
    struct smp_drawn_thread drawn = { .weight = 1 / (share * drawing->set->share),
                                      .sample = &sample };

    if (!(*env)->IsInstanceOf(env, thread, unmounted->virtual_thread))
        return;
    if (drawing->set->is_mixed)
        drawing->population += drawn.weight;
    drawn.is_mounted = is_mounted(unmounted, env, thread);
    if (!drawn.is_mounted) {
        drawn.status = smp_by_jvmti_walk(thread, &sample);
        if (drawn.status == SMP_OK)
            smp_virtual_threads_trim_root(&sample);
        drawn.thread =
            smp_virtual_threads_describe(env, thread, unmounted->name, sizeof(unmounted->name));
    }
    drawing->drawn(drawing->context, &drawn);
}

/*
 * The probability of a draw depends only on the known numbers of threads in all sets, never on the
 * threads that were drawn. The number of virtual threads in a mixed set is an estimate from these.
 */
static void draw_from_set(void *context, JNIEnv *env, const struct smp_virtual_thread_set *set)
{
    struct drawing *drawing = context;
    const struct smp_unmounted *unmounted = drawing->unmounted;
    const int64_t size = smp_key_set_size(&unmounted->sets.known, env, set->threads);
    struct smp_key_draw draw = { .most = drawing->slots / 2 + LEAST_SLOTS,
                                 .random = drawing->random };
    size_t looked_at;

    if (size <= 0)
        return;
    drawing->tracked += (double)size / set->share;
    if (!set->is_mixed)
        drawing->population += (double)size / set->share;
    draw.share = drawing->wanted /
                 (drawing->tracked > unmounted->tracked ? drawing->tracked : unmounted->tracked);
    drawing->set = set;
    looked_at =
        smp_key_set_draw(&unmounted->sets.known, env, set->threads, draw, draw_thread, drawing);
    drawing->slots -= looked_at < drawing->slots ? looked_at : drawing->slots;
}

static enum smp_status draw_virtual_threads(void *self, double wanted, uint64_t *random,
                                            uint64_t *population, smp_on_drawn_thread *drawn,
                                            void *context)
{
    struct smp_unmounted *unmounted = self;
    struct drawing drawing = { .unmounted = unmounted,
                               .wanted = wanted,
                               .random = random,
                               .slots = SMP_UNMOUNTED_SLOTS,
                               .drawn = drawn,
                               .context = context };
    JNIEnv *const env = smp_agent_is_live() ? smp_agent_env() : NULL;
    enum smp_status status;

    if (env == NULL)
        return SMP_EPHASE;
    status = open_unmounted(unmounted, env);
    if (status != SMP_OK)
        return status;
    if (!smp_local_frame_push(env, LOCAL_REFS))
        return SMP_ENOMEM;
    smp_virtual_thread_sets_visit(&unmounted->sets, env, random, draw_from_set, &drawing);
    smp_local_frame_pop(env);
    unmounted->tracked = drawing.tracked;
    *population = (uint64_t)drawing.population;
    return SMP_OK;
}

static const char *refusal_of_unmounted(const void *self)
{
    return ((const struct smp_unmounted *)self)->refusal;
}

struct smp_virtual_threads smp_unmounted_functions(struct smp_unmounted *unmounted)
{
    return (struct smp_virtual_threads){
        .draw = draw_virtual_threads,
        .refusal = refusal_of_unmounted,
        .self = unmounted,
    };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - names: from {method key, bci} to a location, and from a location to its text.
 *
 * A location is one source line of one method: the unit in which the report counts. Two keys whose
 * names are equal once generated numbers are removed ($$Lambda$14, GeneratedMethodAccessor17,
 * $Proxy12, hidden classes, LambdaForm$MH...) are one method, so a report does not grow with
 * uptime.
 *
 *   key ──► method {class, name, file, native, monitored} ──► location {method, line} ──► u32 id
 *   the pair (key, bci) is remembered, so a warm look-up is one probe
 *
 * Pseudo-locations have a text in brackets instead of a method: [thread ended]. They are monitored.
 *
 * Owns     its strings, methods, locations. Reference counted: the sampler and every profile hold
 *          it. Borrows the filter.
 * Threads  one writer (the sampler). The locations of a profile are complete and never move, so its
 *          readers view them and make their texts without a lock. hold and release: any
 *          thread. All others: the writer.
 * Errors   locate never fails. Without memory it returns the location [over memory limit], for a
 *          class that was unloaded [unloaded], and for a method that the JVM refuses to name
 *          [unknown method]; each is counted. The latter two are remembered for the key; lack of
 *          memory, and answers of the JVM outside its live phase, are not.
 * Cost     locate warm: one hash probe. A new line of a known key: a scan of its line table. A new
 *          key: one resolve, or none if there is no memory for its names.
 */
#ifndef SMP_MODEL_METHODS_H
#define SMP_MODEL_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "model/filter.h"
#include "model/sample.h"
#include "model/wait_rules.h"

enum {
    SMP_LOCATION_NONE = 0,      /* no location has id 0 */
    SMP_MAX_NAME_BYTES = 65535, /* of a class, method or file: the limit of class files */
    /* A frame has three names and little else. An escaped byte takes six. */
    SMP_MAX_FRAME_TEXT_BYTES = 6 * 4 * SMP_MAX_NAME_BYTES,
    /* Line tables get this part of the maximum: a fourth. If a line table does not fit, each new
     * byte code index of its method is resolved separately. */
    SMP_LINES_SHARE = 4,
    SMP_METHODS_MIN_BYTES = 512 * 1024
};

/* The name of rows that subtrees were folded into (tree_fold.h). */
#define SMP_FOLDED_NAME "[folded]"

struct smp_methods;

struct smp_methods_stats {
    uint64_t unloaded;   /* keys whose class had been unloaded when they were first seen */
    uint64_t unresolved; /* keys that the JVM did not name */
    uint64_t over_limit; /* look-ups that found no memory */
    /* These three carry over to the table that smp_methods_compact makes. */
    size_t locations;
    size_t methods;
    size_t bytes; /* committed and allocated now */
};

/*
 * max_bytes bounds all memory of the table, and is at least SMP_METHODS_MIN_BYTES (else
 * SMP_EQUOTA). filter is borrowed until the table is destroyed or set_filter replaces it. NULL
 * monitors everything, but methods copied from another table (adopt, compact) stay as they were.
 */
SMP_CHECKED enum smp_status smp_methods_create(struct smp_quota *quota, size_t max_bytes,
                                               const struct smp_filter *filter,
                                               struct smp_methods **out);
struct smp_methods *smp_methods_hold(struct smp_methods *methods);
void smp_methods_release(struct smp_methods *methods);

/* Updates for every method whether it is monitored, and whether it is the application's. */
void smp_methods_set_filter(struct smp_methods *methods, const struct smp_filter *filter);
/* Updates the meaning of waiting in each method. rules is borrowed like the filter; NULL, the
 * initial value: no additions. */
void smp_methods_set_wait_rules(struct smp_methods *methods, const struct smp_wait_rules *rules);

/* Never SMP_LOCATION_NONE. Writer only. */
uint32_t smp_methods_locate(struct smp_methods *methods, const struct smp_name_source *source,
                            const struct smp_frame *frame);
/* Returns the pseudo-location with this text, brackets included, or [over memory limit] without
 * memory. */
uint32_t smp_methods_pseudo(struct smp_methods *methods, const char *text);
/* As above, but returns SMP_LOCATION_NONE without memory. */
uint32_t smp_methods_try_pseudo(struct smp_methods *methods, const char *text);
/* Returns the pseudo-location [over memory limit], made at create so that it always exists. */
uint32_t smp_methods_over_limit(const struct smp_methods *methods);
/* Returns the pseudo-location [folded], also made at create. */
uint32_t smp_methods_folded(const struct smp_methods *methods);
/* Returns the location in methods that is equal to this one of another table, or SMP_LOCATION_NONE
 * without memory. Called by the writer of methods, as a reader of from. */
uint32_t smp_methods_adopt(struct smp_methods *methods, const struct smp_methods *from,
                           uint32_t location);
/* As above, but locations with the same text become one: the text of the frame, or of the method if
 * with_place is false. Properties that the text does not show are unknown in the result.
 * method_name NULL: its own name. */
uint32_t smp_methods_adopt_text(struct smp_methods *methods, const struct smp_methods *from,
                                uint32_t location, bool with_place, const char *method_name);
/* Writes the monitored packages as smp_filter_describe does; "" if all are. Writer only. */
void smp_methods_packages(const struct smp_methods *methods, char *out, size_t size);
/* Returns whether the location's method is monitored; true for pseudo-locations. Writer only. */
bool smp_methods_monitored(const struct smp_methods *methods, uint32_t location);
/* Returns whether the method belongs to this library's own Java classes. Writer only. */
bool smp_methods_own(const struct smp_methods *methods, uint32_t location);
/* Returns what waiting in the method means, and whether it is the application's. Writer only. */
enum smp_wait_kind smp_methods_wait_kind(const struct smp_methods *methods, uint32_t location);
bool smp_methods_is_application(const struct smp_methods *methods, uint32_t location);

/*
 * Creates a table that has only the locations marked in used[0..count) (count <= locations of the
 * old one), with new numbers, and the pseudo-locations. Each key is resolved again, except those
 * taken over. This bounds the names: the least recently reported are dropped.
 */
SMP_CHECKED enum smp_status smp_methods_compact(const struct smp_methods *old, const bool *used,
                                                size_t count, const struct smp_filter *filter,
                                                struct smp_methods **out);
/* Makes the frame known to the new table as the old one knows it, because the source may no longer
 * resolve its key. Does nothing if the old table does not know it, or without memory. Writer
 * only. */
void smp_methods_take_over(struct smp_methods *methods, const struct smp_methods *old,
                           const struct smp_frame *frame);

/* Returns a number, never 0, that a table shares only with the tables made from it by compact: the
 * tables of one sampler. Any thread. */
uint64_t smp_methods_family(const struct smp_methods *methods);

void smp_methods_get_stats(const struct smp_methods *methods, struct smp_methods_stats *out);

/* Returns one more than the highest location id so far. */
uint32_t smp_methods_location_count(const struct smp_methods *methods);

/* A reader's view of a location. Texts are borrowed as long as the table is held. */
struct smp_location_view {
    const char
        *class_name; /* dotted, numbers of generated names removed; the whole text of a pseudo */
    const char *method_name; /* NULL for a pseudo-location */
    const char *file;        /* NULL when unknown */
    int32_t line;            /* > 0, or -1 when unknown */
    bool is_native;
    bool is_pseudo;
    /* Its class is in a monitored package, by the list in force now. False for a
     * pseudo-location. */
    bool is_monitored;
    /* Its class is the application's, by the lists in force now (wait_rules.h) */
    bool is_application;
    /* The smallest line of the method, or of one of its overloads; 0: unknown */
    uint16_t start_line;
    /* A small number. Overloads share it, unless a profile shows them apart (overloads.h). */
    uint32_t method;
    uint32_t plain;    /* a small number that overloads always share */
    uint32_t overload; /* a small number of its own for each overload */
    /* "(int, String)"; equal ones of one table have one address. NULL: unknown, as for generated
     * methods without lines. */
    const char *parameters;
    int64_t since_ms; /* wall clock: earlier calls of the method are not counted; 0: all are */
};

void smp_methods_view(const struct smp_methods *methods, uint32_t location,
                      struct smp_location_view *out);

/* Returns whether locations of one table have one method. Unknown parameters match any overload. */
static inline bool smp_location_is_same_method(const struct smp_location_view *a,
                                               const struct smp_location_view *b)
{
    return a->plain == b->plain &&
           (a->parameters == b->parameters || a->parameters == NULL || b->parameters == NULL);
}

/* Returns the package's length in class_name; 0 without one, and for a pseudo-location. */
size_t smp_location_package_length(const struct smp_location_view *view);

/*
 * Appends the frame as StackTraceElement prints it, without module or loader:
 * a.B.c(B.java:12), a.B.c(B.java), a.B.c(Native Method), a.B.c(Unknown Source), or the pseudo text.
 * Control characters are escaped, so it is always one line.
 */
void smp_methods_frame_text(const struct smp_methods *methods, uint32_t location,
                            struct smp_bytes *out);
/* As above, without the part in brackets: a.B.c. */
void smp_methods_method_text(const struct smp_methods *methods, uint32_t location,
                             struct smp_bytes *out);
/* As the two above, from a view. */
void smp_location_frame_text(const struct smp_location_view *view, struct smp_bytes *out);
void smp_location_method_text(const struct smp_location_view *view, struct smp_bytes *out);

/*
 * Writes the parameters of a descriptor as a report shows them:
 *   (ILjava/lang/String;[[J)V  ──►  (int, String, long[][])
 * Classes have no package, so types that differ only in it have one text. Both texts are UTF-8 or
 * modified UTF-8. False: it is no descriptor, or does not fit; out is unspecified then.
 */
bool smp_method_parameters(char *out, size_t size, const char *descriptor);

#endif

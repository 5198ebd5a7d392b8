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
 * Pseudo-locations carry a text in brackets instead of a method: [thread ended]. They are
 * monitored.
 *
 * Owns     its strings, methods, locations. Reference counted: the sampler and every profile hold
 *          it. Borrows the filter.
 * Threads  one writer (the sampler). The locations of a profile are complete and never move, so its
 *          readers view them and make their texts without a lock. hold and release: any
 *          thread. All others: the writer.
 * Errors   locate never fails: what cannot be resolved for lack of memory becomes the location
 *          [over memory limit], what has been unloaded [unloaded], what the JVM refuses
 *          [unknown method]; each is counted. The latter two are remembered for the key;
 *          lack of memory is not, nor what the JVM says outside of its live phase.
 * Cost     locate warm: one hash probe. A new line of a known key: a scan of its line table. A new
 *          key: one resolve; none at all while there is no memory for its names.
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
    SMP_MAX_NAME_BYTES = 65535, /* of a class, method or file: what a class file can hold */
    /* A frame has three names and little else; all of it may be escaped, six bytes for one. */
    SMP_MAX_FRAME_TEXT_BYTES = 6 * 4 * SMP_MAX_NAME_BYTES,
    /* One part of so many of the table's maximum is for line tables. Where one does not fit, each
     * new byte code index of its method is resolved by itself. */
    SMP_LINES_SHARE = 4,
    SMP_METHODS_MIN_BYTES = 512 * 1024
};

/* The rows that subtrees were folded into (tree_fold.h). */
#define SMP_FOLDED_NAME "[folded]"

struct smp_methods;

struct smp_methods_stats {
    uint64_t unloaded;   /* keys whose class had been unloaded when they were first seen */
    uint64_t unresolved; /* keys the JVM refused to name */
    uint64_t over_limit; /* look-ups that found no memory */
    /* The three go on counting in the table that smp_methods_compact makes. */
    size_t locations;
    size_t methods;
    size_t bytes; /* committed and allocated now */
};

/*
 * max_bytes bounds all of it, and is at least SMP_METHODS_MIN_BYTES (else SMP_EQUOTA).
 * filter is borrowed until the table is destroyed or set_filter names another; NULL monitors
 * everything; but what such a table takes over from another (adopt, compact) stays as it was there.
 */
SMP_CHECKED enum smp_status smp_methods_create(struct smp_quota *quota, size_t max_bytes,
                                               const struct smp_filter *filter,
                                               struct smp_methods **out);
struct smp_methods *smp_methods_hold(struct smp_methods *methods);
void smp_methods_release(struct smp_methods *methods);

/* Decides anew for every method whether it is monitored, and whether it is the application's. */
void smp_methods_set_filter(struct smp_methods *methods, const struct smp_filter *filter);
/* Decides anew what waiting in each method means. rules is borrowed as the filter is; NULL, as at
 * first: without additions. */
void smp_methods_set_wait_rules(struct smp_methods *methods, const struct smp_wait_rules *rules);

/* Never SMP_LOCATION_NONE. Writer only. */
uint32_t smp_methods_locate(struct smp_methods *methods, const struct smp_name_source *source,
                            const struct smp_frame *frame);
/* The pseudo-location with this text (brackets included); [over memory limit] where there is no
 * memory. */
uint32_t smp_methods_pseudo(struct smp_methods *methods, const char *text);
/* As above, but SMP_LOCATION_NONE where there is no room. */
uint32_t smp_methods_try_pseudo(struct smp_methods *methods, const char *text);
/* The pseudo-location [over memory limit], made at create so that it is always there. */
uint32_t smp_methods_over_limit(const struct smp_methods *methods);
/* The pseudo-location of rows that subtrees were folded into (tree_fold.h), made likewise. */
uint32_t smp_methods_folded(const struct smp_methods *methods);
/* The location of methods that says what this one of another table says. SMP_LOCATION_NONE where
 * there is no memory. Writer of methods; a reader of from. */
uint32_t smp_methods_adopt(struct smp_methods *methods, const struct smp_methods *from,
                           uint32_t location);
/* As above, but locations with one text are one: the text of the frame, or, without its place, of
 * the method. What the text does not show is unknown in the result. method_name NULL: its own. */
uint32_t smp_methods_adopt_text(struct smp_methods *methods, const struct smp_methods *from,
                                uint32_t location, bool with_place, const char *method_name);
/* The monitored packages as smp_filter_describe gives them; "" where all are. Writer only. */
void smp_methods_packages(const struct smp_methods *methods, char *out, size_t size);
/* Is the method of this location monitored? Pseudo-locations are. Writer only. */
bool smp_methods_monitored(const struct smp_methods *methods, uint32_t location);
/* Is it of this library's own Java classes? Writer only. */
bool smp_methods_own(const struct smp_methods *methods, uint32_t location);
/* What it says about a thread that waits in it, and is it the application's? Writer only. */
enum smp_wait_kind smp_methods_wait_kind(const struct smp_methods *methods, uint32_t location);
bool smp_methods_is_application(const struct smp_methods *methods, uint32_t location);

/*
 * A new table with only the locations marked in used[0..count) (count <= locations of the old one),
 * in a fresh numbering, plus the pseudo-locations. Keys are learnt anew, by a resolve each, but for
 * those that are taken over. How names stay bounded: the least recently reported go.
 */
SMP_CHECKED enum smp_status smp_methods_compact(const struct smp_methods *old, const bool *used,
                                                size_t count, const struct smp_filter *filter,
                                                struct smp_methods **out);
/* The new table knows this frame as the old one does: the source may have forgotten its key. Does
 * nothing where the old one does not know it, or without memory. Writer only. */
void smp_methods_take_over(struct smp_methods *methods, const struct smp_methods *old,
                           const struct smp_frame *frame);

/* The same number, never 0, for a table and all that come from it by compact: one sampler has made
 * them. Any other table has another. Any thread. */
uint64_t smp_methods_family(const struct smp_methods *methods);

void smp_methods_get_stats(const struct smp_methods *methods, struct smp_methods_stats *out);

/* One more than the highest location id handed out so far. */
uint32_t smp_methods_location_count(const struct smp_methods *methods);

/* What a reader sees of a location. Texts are borrowed as long as the table is held. */
struct smp_location_view {
    const char
        *class_name; /* dotted, numbers of generated names removed; the whole text of a pseudo */
    const char *method_name; /* NULL for a pseudo-location */
    const char *file;        /* NULL when unknown */
    int32_t line;            /* > 0, or -1 when unknown */
    bool is_native;
    bool is_pseudo;
    /* Its class is in a monitored package, by the list that is in force now. No pseudo-location is.
     */
    bool is_monitored;
    bool is_application; /* its class is, by the lists that are in force now (wait_rules.h) */
    uint16_t start_line; /* the smallest line of the method, of one of its overloads; 0: unknown */
    uint32_t method;     /* a number, small: overloads have the same, others not, unless a
                             * profile shows them apart (overloads.h) */
    uint32_t plain;      /* the same number, whatever is shown */
    uint32_t overload;   /* as small: other parameters have another */
    const char *parameters; /* "(int, String)"; of one table, so equal ones are at one place; NULL:
                             * unknown, as of methods without lines, which generated ones are */
    int64_t since_ms;       /* wall clock: calls of the method before are not counted; 0: all are */
};

void smp_methods_view(const struct smp_methods *methods, uint32_t location,
                      struct smp_location_view *out);

/* Of one table: are they of one method? Where parameters are unknown any of its overloads may be
 * meant. */
static inline bool smp_location_is_same_method(const struct smp_location_view *a,
                                               const struct smp_location_view *b)
{
    return a->plain == b->plain &&
           (a->parameters == b->parameters || a->parameters == NULL || b->parameters == NULL);
}

/*
 * Appends the frame as StackTraceElement prints it, without module or loader:
 * a.B.c(B.java:12), a.B.c(B.java), a.B.c(Native Method), a.B.c(Unknown Source), or the pseudo text.
 * Control characters are escaped, so it is always one line.
 */
void smp_methods_frame_text(const struct smp_methods *methods, uint32_t location,
                            struct smp_bytes *out);
/* As above, without the brackets and what is in them: a.B.c. */
void smp_methods_method_text(const struct smp_methods *methods, uint32_t location,
                             struct smp_bytes *out);
/* The same of what a reader sees. */
void smp_location_frame_text(const struct smp_location_view *view, struct smp_bytes *out);
void smp_location_method_text(const struct smp_location_view *view, struct smp_bytes *out);

#endif

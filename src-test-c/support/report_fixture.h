/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_fixture.h - an interval made by hand, finished into a snapshot, and its report as one
 * text.
 *
 *   struct report_fixture *f = report_fixture_create();
 *   report_fixture_credit(f, "main", "main", "a.A.main(A.java:1)|a.B.run(B.java:2)", 50 * MS);
 *   const char *text = report_fixture_print(f, style);      "title 1000 2000\n== ...\n" "flush\n"
 *   report_fixture_destroy(f);
 *
 * Owns     the names, the open interval, the snapshot and the text.
 * Threads  the test's own.
 * Errors   fail the test.
 * Cost     small inputs.
 */
#ifndef SMP_SUPPORT_REPORT_FIXTURE_H
#define SMP_SUPPORT_REPORT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/report.h"
#include "model/profile.h"

#define MS INT64_C(1000000)

/* The measures of an interval with states. */
#define REPORT_FIXTURE_STATES (SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES)

struct report_fixture;

/* The calls that a recording outputer received: "title <from> <till>", "== <title>" and the rows,
 * "flush". */
struct recording {
    char *text; /* from malloc, so that no allocation of it is counted or refused; NULL at first */
    size_t length;
    size_t capacity;
    unsigned calls;
    unsigned fail_at; /* the call that returns false, from 1; 0: none */
};

struct smp_outputer recording_outputer(struct recording *recording);
void recording_clear(struct recording *recording); /* keeps fail_at */
void recording_fini(struct recording *recording);

struct report_fixture *report_fixture_create(void);
void report_fixture_destroy(struct report_fixture *fixture);
/* Set-up functions for cmocka: *state becomes a fixture; the interval of the second one has states,
 * that of the third one counts calls. */
int report_fixture_setup(void **state);
int report_fixture_setup_states(void **state);
int report_fixture_setup_counting(void **state);
int report_fixture_teardown(void **state);

/* Sets the filter for names that are used from now on, as a list for smp_filter_create. Initially
 * "". */
void report_fixture_monitor(struct report_fixture *fixture, const char *packages);

/* Discards the interval and begins a new one. Known names stay known. */
void report_fixture_begin(struct report_fixture *fixture);

/* Credits a stack (frames as printed, root first, '|' between them) and notes its thread. A frame
 * with "(Unknown Source:12)" has a line, but no file, and is printed without both;
 * "a.A.add#I#(A.java)" has a parameter that is an int. Returns the stack's last node. */
uint32_t report_fixture_credit(struct report_fixture *fixture, const char *group,
                               const char *thread, const char *stack, int64_t wall_ns);
/* Adds a child to a node of the open tree, 0 for the group's root. Returns the new node. */
uint32_t report_fixture_add(struct report_fixture *fixture, const char *group, uint32_t parent,
                            const char *frame, int64_t wall_ns);
/* Adds CPU time and samples to a node of the open tree, besides the sample that report_fixture_add
 * counted. */
void report_fixture_ran(struct report_fixture *fixture, uint32_t node, int64_t cpu_ns,
                        uint32_t samples);
/* Begins an interval with these measures, to which SMP_WITH_ERRORS may be added. */
void report_fixture_begin_with(struct report_fixture *fixture, uint32_t measures);
/* As report_fixture_credit, in this state, which also applies to all time that follows. Initially
 * RUNNING. */
uint32_t report_fixture_wait(struct report_fixture *fixture, const char *group, const char *thread,
                             const char *stack, enum smp_thread_state state, int64_t wall_ns);
/* Adds time for which threads were blocked at a frame while a thread of this group held the lock.
 * The last frame of the stack took the lock. */
void report_fixture_hold(struct report_fixture *fixture, const char *lock, const char *waiting,
                         const char *group, const char *stack, int64_t ns);
/* Begins an interval that also counts calls. */
void report_fixture_begin_counting(struct report_fixture *fixture);
/* Counts calls of the last one of these frames (which have no lines), with their own times, in the
 * group's tree of counted calls, by a thread named like the group. Returns the node. */
uint32_t report_fixture_count(struct report_fixture *fixture, const char *group, const char *stack,
                              int64_t calls, int64_t wall_ns, int64_t cpu_ns);
/* Sets when the method got its probe. Call it before the frame is counted. */
void report_fixture_since(struct report_fixture *fixture, const char *frame, int64_t since_ms);
/* Sets how many calls the caller of this node had made when the node's probe was added. */
void report_fixture_late(struct report_fixture *fixture, uint32_t node, int64_t calls);
/* Tables for the finished profile; the first call creates them. */
struct smp_root_times *report_fixture_root_times(struct report_fixture *fixture);
struct smp_counting_account *report_fixture_counting(struct report_fixture *fixture);
struct smp_group_info *report_fixture_counted_group(struct report_fixture *fixture,
                                                    const char *name);
void report_fixture_see(struct report_fixture *fixture, const char *group, const char *thread);
void report_fixture_note(struct report_fixture *fixture, const char *group,
                         enum smp_outcome outcome);
struct smp_group_info *report_fixture_group(struct report_fixture *fixture, const char *name);

/* Finishes the interval from 1000 to 2000 once. Figures may be set afterwards. */
struct smp_profile *report_fixture_finish(struct report_fixture *fixture);
/* Finishes the interval, prints the report to an outputer that never fails, and checks for SMP_OK.
 * The text is valid until the next print. */
const char *report_fixture_print(struct report_fixture *fixture, struct smp_export_style style);
/* Returns the length of the last text in bytes. */
size_t report_fixture_printed(const struct report_fixture *fixture);

#endif

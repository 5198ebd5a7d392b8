/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_options.h - reads one value of the agent's options, [VERB][,KEY(=|:)VALUE]..., before any
 * Java class can parse them. AgentCommand.java has the grammar.
 *
 * Owns     the caller owns the value and frees it with smp_free(NULL, ...).
 * Threads  any.
 * Errors   SMP_ENOMEM.
 * Cost     O(length).
 */
#ifndef SMP_JVM_AGENT_OPTIONS_H
#define SMP_JVM_AGENT_OPTIONS_H

#include "base/status.h"

/* Copies the unescaped value of the first part with this key. *out is NULL if there is none. */
SMP_CHECKED enum smp_status smp_agent_option(const char *options, const char *key, char **out);

#endif

// SPDX-License-Identifier: Apache-2.0
/**
 * Reports for servers that keep the profiles of many processes: Pyroscope, collectors of OpenTelemetry, and whatever
 * takes a pprof file by HTTP. Needs the module {@code java.net.http} of the JDK, and nothing else.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.remote;

import org.jspecify.annotations.NullMarked;

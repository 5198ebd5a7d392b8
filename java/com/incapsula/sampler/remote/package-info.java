// SPDX-License-Identifier: Apache-2.0
/**
 * Reports for servers that keep the profiles of many processes: Pyroscope, collectors of OpenTelemetry, and any server
 * that takes a pprof file by HTTP. Needs only the module {@code java.net.http} of the JDK.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.remote;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.remote;

/**
 * How a report is sent to a server. The URL of {@link RemoteSamplingOutputer#setUrl} determines the protocol.
 *
 * @since 1.0
 */
public enum RemoteProtocol {

    /**
     * Grafana Pyroscope's {@code push.v1}: {@code POST BASE/push.v1.PusherService/Push}, a pprof profile with labels.
     * The attributes of the service are labels, with underscores for dots: {@code service_name}.
     */
    PYROSCOPE,
    /**
     * Profiles of OpenTelemetry, {@code v1development} as in opentelemetry-proto 1.11: {@code POST
     * BASE/v1development/profiles}, protobuf, compressed by gzip. The format is not stable yet, so a collector of about
     * the same age is needed.
     */
    OTLP,
    /** A {@code POST} to the URL as it is, with a pprof file (compressed by gzip) as body. Labels are not sent. */
    PPROF
}

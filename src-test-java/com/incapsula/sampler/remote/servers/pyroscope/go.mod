// SPDX-License-Identifier: Apache-2.0
module pyroscope

go 1.25.0

require (
	connectrpc.com/connect v1.21.1
	github.com/google/pprof v0.0.0-20250923004556-9e5a51aed1e8
	github.com/grafana/pyroscope/api v1.6.0
)

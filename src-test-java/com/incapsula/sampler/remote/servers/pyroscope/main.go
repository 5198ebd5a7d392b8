// SPDX-License-Identifier: Apache-2.0

// Takes profiles by Pyroscope's published interface, reads them by pprof's own package, and prints what they are.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
)

type pusher struct{}

func (pusher) Push(_ context.Context, request *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	for _, series := range request.Msg.Series {
		for _, label := range series.Labels {
			fmt.Printf("label %s=%s\n", label.Name, label.Value)
		}
		for _, sample := range series.Samples {
			if err := read(sample); err != nil {
				return nil, connect.NewError(connect.CodeInvalidArgument, err)
			}
		}
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

func read(sample *pushv1.RawSample) error {
	pprof, err := profile.ParseData(sample.RawProfile)
	if err != nil {
		return err
	}
	if err := pprof.CheckValid(); err != nil {
		return err
	}
	for i, kind := range pprof.SampleType {
		sum := int64(0)
		for _, each := range pprof.Sample {
			sum += each.Value[i]
		}
		fmt.Printf("profile %s: %s/%s %d\n", sample.ID, kind.Type, kind.Unit, sum)
	}
	return nil
}

func main() {
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(pusher{}))
	log.Fatal(http.ListenAndServe(os.Args[1], mux))
}

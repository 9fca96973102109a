package telemetry

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// pushWithin bounds one push.
const pushWithin = 10 * time.Second

// Push posts all metrics to push_url every report_interval, until ctx ends; without a push_url it does nothing. A push that
// fails is counted, and logged once until one works again; nothing waits for it.
func (t *Registry) Push(ctx context.Context, log *slog.Logger) {
	if t.conf.PushURL == "" {
		return
	}
	tick := time.NewTicker(t.conf.ReportInterval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err := t.pushOnce(ctx)
			result := "ok"
			if err != nil {
				result = "error"
			}
			t.Count(1, "serin_metrics_pushes_total", "result", result)
			if err != nil && !failing {
				log.Warn("push metrics", "error", err)
			}
			failing = err != nil
		}
	}
}

func (t *Registry) pushOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pushWithin)
	defer cancel()
	var failed error
	err := metrics.PushMetricsExt(ctx, t.conf.PushURL, func(w io.Writer) { failed = t.Write(w) }, &metrics.PushOptions{Method: http.MethodPost})
	return errors.Join(failed, err)
}

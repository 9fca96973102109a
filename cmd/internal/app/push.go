package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// pushWithin bounds one push.
const pushWithin = 10 * time.Second

// pushMetrics posts /metrics to push_url every report_interval, until ctx ends. A push that fails is counted and logged
// once until one works again; nothing waits for it.
func (d *daemon) pushMetrics(ctx context.Context) {
	conf := d.config().Metrics
	if conf.PushURL == "" {
		return
	}
	tick := time.NewTicker(conf.ReportInterval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err := d.push(ctx, conf.PushURL)
			result := "ok"
			if err != nil {
				result = "error"
			}
			d.tel.count(1, "serin_metrics_pushes_total", label{"result", result})
			if err != nil && !failing {
				d.log.Warn("push metrics", "error", err)
			}
			failing = err != nil
		}
	}
}

func (d *daemon) push(ctx context.Context, to string) error {
	ctx, cancel := context.WithTimeout(ctx, pushWithin)
	defer cancel()
	var failed error
	err := metrics.PushMetricsExt(ctx, to, func(w io.Writer) { failed = d.tel.write(w) }, &metrics.PushOptions{Method: http.MethodPost})
	return errors.Join(failed, err)
}

package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"
)

// pushWithin bounds one push.
const pushWithin = 10 * time.Second

// Push posts all metrics to push_url every report_interval, until ctx ends; without a push_url it does nothing. A push that
// fails is counted, and logged once until one works again; nothing waits for it.
func (t *Registry) Push(ctx context.Context, log *slog.Logger) {
	if t.conf.PushURL == "" {
		return
	}
	client := pushClient()
	tick := time.NewTicker(t.conf.ReportInterval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err := t.pushOnce(ctx, client)
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

// pushClient follows no redirect: with it the URL would go to another host as Referer.
func pushClient() *http.Client {
	return &http.Client{Timeout: pushWithin, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// pushOnce makes one push. Its error does not hold the URL, in which a token may stand.
func (t *Registry) pushOnce(ctx context.Context, client *http.Client) error {
	var body bytes.Buffer
	zip := gzip.NewWriter(&body)
	if err := errors.Join(t.Write(zip), zip.Close()); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.conf.PushURL, &body)
	if err != nil {
		return errors.New("push_url cannot be used")
	}
	req.Header.Set("Content-Type", "text/plain")
	req.Header.Set("Content-Encoding", "gzip")
	resp, err := client.Do(req)
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if resp.StatusCode/100 != 2 {
		err = fmt.Errorf("push_url answers HTTP %d", resp.StatusCode)
	}
	return errors.Join(err, resp.Body.Close())
}

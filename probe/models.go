package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"serin/probe/wire"
)

// Bounds of a question for models.
const (
	modelsWithin = 10 * time.Second
	modelsMax    = 4 << 20 // bytes of the answer
)

// Models asks t which models it has, with its key, proxy and CA. It costs no tokens. Names are as model takes them, in the
// endpoint's order. The error says what went wrong, or that the protocol has no such list. Neither holds a secret: what
// an endpoint echoes of the key is ***.
func (p *Prober) Models(ctx context.Context, t *Target) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, modelsWithin)
	defer cancel()
	clean := func(text string) string { return p.redact(oneLine(text)) }
	names, err := p.models(ctx, t)
	if err != nil {
		return nil, errors.New(clean("ask for models: " + err.Error()))
	}
	for i, name := range names {
		names[i] = clean(name)
	}
	return names, nil
}

func (p *Prober) models(ctx context.Context, t *Target) ([]string, error) {
	proto, err := wire.Find(t.Protocol)
	if err != nil {
		return nil, err
	}
	header, err := p.header(t, &proto)
	if err != nil {
		return nil, err
	}
	place, err := proto.ModelsURL(t.BaseURL)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, errors.New("base_url is not a URL")
	}
	req.Header = header
	client, err := p.plainClient(t)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok { // its text repeats the URL with its query
			err = e.Err
		}
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // nothing more is read from it
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", req.URL.Path, resp.StatusCode)
	}
	return decodeModels(io.LimitReader(resp.Body, modelsMax))
}

// plainClient reaches t as a probe does, without its clocks. It follows no redirect: the key would go along.
func (p *Prober) plainClient(t *Target) (*http.Client, error) {
	proxy, err := proxyOf(t.Proxy)
	if err != nil {
		return nil, err
	}
	config, err := tlsConfig(t)
	if err != nil {
		return nil, err
	}
	tr := &http.Transport{Proxy: proxy, DialContext: p.o.Dial, ForceAttemptHTTP2: true,
		TLSClientConfig: config, MaxResponseHeaderBytes: maxHeader}
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// decodeModels reads the list in any protocol's shape: data with ids, or models with names.
func decodeModels(r io.Reader) ([]string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	var names []string
	for _, m := range list.Data {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	if len(names) > 0 {
		return names, nil // some servers give both
	}
	for _, m := range list.Models {
		if name := strings.TrimPrefix(m.Name, "models/"); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

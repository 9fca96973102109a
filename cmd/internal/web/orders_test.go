package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestOrdersReachTheEngineBySocketAlone(t *testing.T) {
	var got []Order
	o := (&fake{}).options()
	o.Order = func(_ context.Context, x Order) ([]string, error) {
		got = append(got, x)
		if x.Pattern == "none" {
			return nil, errors.New("no latency alert of such a series fires (key sk-secret)")
		}
		return []string{"gw/chat/short ttft"}, nil
	}
	s := start(t, o)
	local := SocketClient(s.opt.Socket)
	tcp := &http.Client{}
	query := func(pattern, why, who string) string {
		return "?" + url.Values{"pattern": {pattern}, "why": {why}, "who": {who}}.Encode()
	}
	want(t, "accept", ask(t, local, "POST", "http://serin/api/v1/accept"+query("gw", "new\nhardware", "ann"), nil), 200, `{"changed":["gw/chat/short ttft"]}`)
	want(t, "undo", ask(t, local, "POST", "http://serin/api/v1/accept/undo"+query("gw", "w", ""), nil), 200, "changed")
	want(t, "reset", ask(t, local, "POST", "http://serin/api/v1/baseline/reset"+query("gw", strings.Repeat("x", 900), "ann"), nil), 200, "changed")
	want(t, "nothing matches", ask(t, local, "POST", "http://serin/api/v1/accept"+query("none", "w", "ann"), nil), 422, "key ***")
	n := len(got)
	want(t, "no reason", ask(t, local, "POST", "http://serin/api/v1/accept"+query("gw", "", "ann"), nil), 400, "why is missing")
	want(t, "no pattern", ask(t, local, "POST", "http://serin/api/v1/accept"+query("", "w", "ann"), nil), 400, "pattern is missing")
	want(t, "over TCP without a token", ask(t, tcp, "POST", "http://"+s.Addr().String()+"/api/v1/accept"+query("gw", "w", "ann"), nil), 403, "token")
	if n != 4 || len(got) != n {
		t.Fatalf("%d orders, then %d", n, len(got))
	}
	if got[0] != (Order{OrderAccept, "gw", "ann", "new hardware"}) || got[1] != (Order{OrderUndo, "gw", "the API", "w"}) {
		t.Errorf("orders %+v", got[:2])
	}
	if got[2].Do != OrderReset || len(got[2].Why) > maxWhy+len("…") {
		t.Errorf("reset %+v", got[2])
	}
}

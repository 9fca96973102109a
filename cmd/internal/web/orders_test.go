package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
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
	if got[0] != (Order{Do: OrderAccept, Pattern: "gw", Who: "ann", Why: "new hardware"}) || got[1] != (Order{Do: OrderUndo, Pattern: "gw", Who: "the API", Why: "w"}) {
		t.Errorf("orders %+v", got[:2])
	}
	began := time.Now()
	want(t, "ack for a while", ask(t, local, "POST", "http://serin/api/v1/ack"+query("7f3k", "", "ann")+"&for=2d", nil), 200, "changed")
	if o := got[n]; o.Do != OrderAck || o.Pattern != "7f3k" || o.Until.Before(began.Add(48*time.Hour)) || o.Until.After(time.Now().Add(48*time.Hour)) {
		t.Errorf("ack %+v, asked for at %s", o, began)
	}
	for _, odd := range []string{"soon", "-1h", "0s", "9999d"} {
		want(t, "ack for "+odd, ask(t, local, "POST", "http://serin/api/v1/ack"+query("7f3k", "", "ann")+"&for="+odd, nil), 400, "4h or 2d")
	}
	if got[2].Do != OrderReset || len(got[2].Why) > maxWhy+len("…") {
		t.Errorf("reset %+v", got[2])
	}
}

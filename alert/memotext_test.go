package alert

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"serin/baseline"
	"serin/probe"
)

// TestMemosComeBackWhole fills every field there is: one that is added to an alert, a vote or an evidence and not to what is
// written of it would be lost at a restart.
func TestMemosComeBackWhole(t *testing.T) {
	var full Alert
	fill(t, reflect.ValueOf(&full).Elem(), 0)
	odd := Alert{Reason: "\"<é\n\x00", Severity: Warning, Votes: []Vote{{Verdict: baseline.Ruling{Call: baseline.Breach, Z: 1e-9, Ratio: 1e21}}}}
	for _, a := range []Alert{full, odd, {}} {
		m := memo{Spec: "s", Idle: []Alert{a, a}, Tokens: 1.5, Armed: map[probe.Metric]bool{probe.TTFT: true}, Asks: []ask{{At: day0, Kinds: []Kind{KindTTFT}}}}
		body, err := m.body()
		if err != nil {
			t.Fatal(err)
		}
		if got := decode[memo](string(body)); !reflect.DeepEqual(got, m) {
			t.Errorf("a memo comes back as\n%+v, want\n%+v\n%s", got, m, body)
		}
		p := poolMemo{Alert: &a, roundsMemo: roundsMemo{Round: round{Of: 7, Shares: map[string]spoken{"a": {At: day0, Known: true}}}}}
		if body, err = p.body(); err != nil {
			t.Fatal(err)
		}
		if got := decode[poolMemo](string(body)); !reflect.DeepEqual(got, p) {
			t.Errorf("a pool comes back as\n%+v, want\n%+v", got, p)
		}
	}
	for _, m := range []roundsMemo{{}, {Round: round{Of: 7, Shares: map[string]spoken{"gw/a.b/short": {At: day0, Share: baseline.Share{E: -.1234, SW: .05}, Known: true}, "gw/a/long": {At: day0}}}},
		{Round: round{Of: 8}, Again: []reRound{{At: day0, Want: []string{"a"}}}}} {
		body, err := m.body()
		if got := decode[roundsMemo](string(body)); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v comes back as %s, %v", m, body, err)
		}
	}
	for _, m := range []memo{{}, {Tokens: 2}} {
		body, err := m.body()
		if got := decode[memo](string(body)); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v comes back as %+v, %v", m, got, err)
		}
	}
	body, err := memo{Idle: []Alert{{Accepted: math.NaN()}}}.body()
	if err != nil || !json.Valid(body) {
		t.Errorf("%s, %v: what is not a number is not known", body, err)
	}
}

// fill gives every field a value of its own. What JSON leaves out stays zero.
func fill(t *testing.T, v reflect.Value, n int) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(day0.Add(time.Duration(n)*time.Hour + 123456789)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("s" + string(rune('a'+n%26)))
	case reflect.Float32:
		v.SetFloat(float64(n) + .5)
	case reflect.Float64:
		v.SetFloat(float64(n) + .1)
	case reflect.Uint32:
		v.SetUint(uint64(n) + 1)
	case reflect.Int:
		v.SetInt(int64(n) + 1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), n+i)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n+1)
		fill(t, v.Index(1), n+2)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(t, v.Field(i), n+i)
			}
		}
	default:
		t.Fatalf("cannot fill a %s", v.Type())
	}
}

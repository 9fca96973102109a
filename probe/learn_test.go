package probe

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
)

// picky refuses what a body must not hold with the given answer; else it plays the normal script.
func picky(refuse func(body map[string]any) (status int, answer string)) []step {
	return steps(step(func(s *side) error {
		var body map[string]any
		if err := json.Unmarshal(s.body, &body); err != nil {
			return err
		}
		script := okScript()
		if status, text := refuse(body); status != 0 {
			script = answer(status, text)
		}
		for _, st := range script {
			if err := st(s); err != nil {
				return err
			}
		}
		return nil
	}))
}

func has(body map[string]any, name string) bool {
	_, ok := body[name]
	return ok
}

func TestLearning(t *testing.T) {
	const oldField = `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`
	for _, c := range []struct {
		name   string
		known  Learned // restored before
		refuse func(map[string]any) (int, string)
		want   []Outcome // of the attempts, one after the other
		reason []string
		form   Learned
	}{
		{"B85 needs the new field", Learned{}, func(b map[string]any) (int, string) {
			if has(b, "max_completion_tokens") {
				return 0, ""
			}
			return 400, oldField
		}, []Outcome{BadRequest, OK, OK}, []string{ReasonLearningParameter, "", ""}, Learned{MaxTokensField: "max_completion_tokens"}},
		{"B85 422 upon the new field", Learned{MaxTokensField: "max_completion_tokens"}, func(b map[string]any) (int, string) {
			if !has(b, "max_completion_tokens") {
				return 0, ""
			}
			return 422, `{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}`
		}, []Outcome{BadRequest, OK}, []string{ReasonLearningParameter, ""}, Learned{MaxTokensField: "max_tokens"}},
		{"B86 stream_options by place", Learned{}, func(b map[string]any) (int, string) {
			if !has(b, "stream_options") {
				return 0, ""
			}
			return 422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`
		}, []Outcome{BadRequest, OK}, []string{ReasonLearningParameter, ""}, Learned{NoStreamOptions: true}},
		{"B86 stream_options by message", Learned{}, func(b map[string]any) (int, string) {
			if !has(b, "stream_options") {
				return 0, ""
			}
			return 400, `{"object":"error","message":"unknown field stream_options","code":400}`
		}, []Outcome{BadRequest, OK}, []string{ReasonLearningParameter, ""}, Learned{NoStreamOptions: true}},
		{"both, one after the other", Learned{}, func(b map[string]any) (int, string) {
			switch {
			case has(b, "stream_options"):
				return 400, `{"error":{"message":"m","param":"stream_options"}}`
			case has(b, "max_tokens"):
				return 400, oldField
			}
			return 0, ""
		}, []Outcome{BadRequest, BadRequest, OK}, []string{ReasonLearningParameter, ReasonLearningParameter, ""}, Learned{MaxTokensField: "max_completion_tokens", NoStreamOptions: true}},
		{"neither field is good: no endless learning", Learned{}, func(map[string]any) (int, string) {
			return 400, `{"error":{"message":"max_tokens and max_completion_tokens are both too large"}}`
		}, []Outcome{BadRequest, BadRequest, BadRequest, BadRequest}, []string{ReasonLearningParameter, "HTTP 400", "HTTP 400", "HTTP 400"}, Learned{MaxTokensField: "max_tokens"}},
		{"B84 temperature is not ours to learn", Learned{}, func(map[string]any) (int, string) {
			return 400, `{"error":{"message":"m","param":"temperature"}}`
		}, []Outcome{BadRequest, BadRequest}, []string{"HTTP 400", "HTTP 400"}, Learned{}},
		{"a longer name is another name", Learned{}, func(map[string]any) (int, string) {
			return 400, `{"error":{"message":"max_tokens_per_day is spent"}}`
		}, []Outcome{BadRequest}, []string{"HTTP 400"}, Learned{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := scripted(picky(c.refuse))
				defer srv.stop()
				p := New(Options{Dial: srv.dial})
				defer p.Close()
				canary := testCanary()
				if c.known != (Learned{}) {
					c.known.Endpoint = endpointOf(canary.Target)
					p.Restore(map[string]Learned{"gw": c.known})
				}
				for i, want := range c.want {
					s, err := p.Do(t.Context(), Shot{Canary: canary, Attempt: i + 1})
					if err != nil {
						t.Fatal(err)
					}
					wantOutcome(t, s, want, c.reason[i])
					if s.Attempt != i+1 || s.Has(Downgraded) != strings.Contains(srv.bodies[i], "max") && !strings.Contains(srv.bodies[i], "stream_options") {
						t.Errorf("attempt %d: %d, flags %v", i+1, s.Attempt, s.Flags)
					}
				}
				got := p.Learned()["gw"]
				if got.Endpoint != "" {
					c.form.Endpoint = endpointOf(canary.Target)
				}
				if got != c.form {
					t.Errorf("learned %+v, want %+v", got, c.form)
				}
			})
		})
	}
}

func TestDowngradeGivesNoTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := scripted(steps(role(), okTokens(), fin("stop"), done(), end()))
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		c := testCanary()
		p.Restore(map[string]Learned{"gw": {Endpoint: endpointOf(c.Target), NoStreamOptions: true}})
		s, _ := p.Do(t.Context(), Shot{Canary: c})
		if s.OutputTokens.Known || s.TokensSource != "none" || !s.Has(Downgraded) || s.TPOTReason != "no_usage" {
			t.Errorf("%+v", s)
		}
	})
}

func TestLearnedIsForgottenWithTheEndpoint(t *testing.T) {
	p := New(Options{})
	defer p.Close()
	c := testCanary()
	p.Restore(map[string]Learned{"gw": {Endpoint: "http://old.test m", NoStreamOptions: true}})
	if l := p.lesson(c.Target); l.NoStreamOptions {
		t.Errorf("%+v learned from another endpoint", l)
	}
}

func TestFirstIsTheAttemptAfterLearning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := scripted(answer(400, `{"error":{"param":"stream_options","message":"m"}}`), okScript())
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		var got []bool
		for range 3 {
			s, _ := p.Do(t.Context(), Shot{Canary: testCanary()})
			got = append(got, s.First)
		}
		if !got[0] || !got[1] || got[2] {
			t.Errorf("first = %v", got)
		}
	})
}

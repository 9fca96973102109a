package fakellm

import (
	"net/url"
	"strings"
	"time"
)

// azure is OpenAI chat completions as Azure serves them.
type azure struct {
	chat
	deployment string // from the path; "" = the model of the body, in the newer form of the URL
	versioned  bool   // an api-version was given
}

var _ dialect = azure{}

// azureOf returns the dialect of /openai/deployments/NAME/chat/completions and of /openai/v1/chat/completions.
func azureOf(u *url.URL) (dialect, bool) {
	rest, ok := strings.CutPrefix(u.Path, "/openai/")
	if !ok {
		return nil, false
	}
	if rest == "v1/chat/completions" {
		return azure{versioned: true}, true
	}
	name, ok := strings.CutPrefix(rest, "deployments/")
	if !ok {
		return nil, false
	}
	name, ok = strings.CutSuffix(name, "/chat/completions")
	if !ok || name == "" || strings.Contains(name, "/") {
		return nil, false
	}
	return azure{deployment: name, versioned: u.Query().Has("api-version")}, true
}

func (z azure) parse(body []byte) (*ask, string) {
	if !z.versioned {
		return nil, "Missing required query parameter: api-version"
	}
	a, problem := parseAsk(body)
	if a != nil && z.deployment != "" {
		a.Model = z.deployment
	}
	return a, problem
}

func (z azure) requestID() string { return "Apim-Request-Id" }

func (z azure) failure(status int, code, message string) []byte {
	if code == "model_not_found" {
		code, message = "DeploymentNotFound", "The API deployment for this resource does not exist."
	}
	return z.chat.failure(status, code, message)
}

// stream is chat's, with the prompt's filter results in front and those of the answer before its end.
func (z azure) stream(a *answer, plan []time.Duration) []frame {
	safe := object{"hate": object{"filtered": false, "severity": "safe"}, "violence": object{"filtered": false, "severity": "safe"}}
	note := func(at time.Duration, body object) frame {
		return frame{at: at, what: WroteOther, data: event("", encode(body))}
	}
	frames := []frame{note(0, object{"id": "", "object": "", "created": 0, "model": "", "choices": list{},
		"prompt_filter_results": list{object{"prompt_index": 0, "content_filter_results": safe}}})}
	for _, f := range z.chat.stream(a, plan) {
		if f.what == WroteFinish {
			frames = append(frames, note(f.at, object{"id": "", "object": "", "created": 0, "model": "", "choices": list{object{"index": 0, "finish_reason": nil,
				"content_filter_results": safe, "content_filter_offsets": object{"check_offset": 0, "start_offset": 0, "end_offset": 40}}}}))
		}
		frames = append(frames, f)
	}
	return frames
}

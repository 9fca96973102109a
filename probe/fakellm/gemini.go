package fakellm

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"
)

// gemini is Google's generateContent. Model and method come from the path.
type gemini struct {
	model    string
	streamed bool // streamGenerateContent
	array    bool // as one JSON array: alt=sse was not asked for
}

var _ dialect = gemini{}

// geminiOf returns the dialect of /v1beta/models/MODEL:METHOD.
func geminiOf(u *url.URL) (dialect, bool) {
	rest, ok := strings.CutPrefix(u.Path, "/v1beta/models/")
	if !ok {
		return nil, false
	}
	model, method, _ := strings.Cut(rest, ":")
	switch method {
	case "streamGenerateContent":
		return gemini{model: model, streamed: true, array: u.Query().Get("alt") != "sse"}, true
	case "generateContent":
		return gemini{model: model}, true
	}
	return nil, false
}

func (g gemini) parse(body []byte) (*ask, string) {
	type content struct {
		Role  string          `json:"role"`
		Parts json.RawMessage `json:"parts"`
	}
	var v struct {
		Contents []content `json:"contents"`
		System   content   `json:"systemInstruction"`
		Config   struct {
			MaxOutput int `json:"maxOutputTokens"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, "Invalid JSON payload received. " + err.Error()
	}
	if len(v.Contents) == 0 {
		return nil, "* GenerateContentRequest.contents: contents is not specified"
	}
	a := &ask{Model: g.model, Stream: g.streamed, MaxTokens: v.Config.MaxOutput, System: v.System.Parts}
	for _, c := range v.Contents {
		a.Messages = append(a.Messages, turn{Role: c.Role, Content: c.Parts})
	}
	return a.counted()
}

func (g gemini) mediaType() string {
	if g.array {
		return "application/json; charset=UTF-8"
	}
	return "text/event-stream"
}

func (gemini) check(*ask) string { return "" }

func (gemini) requestID() string { return "X-Request-Id" }

func (gemini) failure(status int, _, message string) []byte {
	kinds := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "FAILED_PRECONDITION", 403: "PERMISSION_DENIED",
		404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}
	kind := kinds[status]
	if kind == "" {
		kind = "INTERNAL"
	}
	return encode(object{"error": object{"code": status, "message": message, "status": kind}})
}

func (g gemini) broken() []byte {
	return g.frame(g.failure(503, "", "The model is overloaded (made up by the fake)"), false)
}

// frame puts one response into the stream.
func (g gemini) frame(data []byte, first bool) []byte {
	switch {
	case !g.array:
		return event("", data)
	case first:
		return append([]byte("["), data...)
	}
	return append([]byte(",\r\n"), data...)
}

func (g gemini) stream(a *answer, plan []time.Duration) []frame {
	frames := []frame{{do: actHead, code: 200}}
	add := func(at time.Duration, what string, parts list, finish *string, thoughts, tokens int) {
		frames = append(frames, frame{at: at, what: what, data: g.frame(encode(g.response(a, parts, finish, thoughts, tokens)), len(frames) == 1)})
	}
	n := len(a.thoughts)
	for i, text := range a.thoughts {
		add(plan[i], WroteReasoning, list{object{"text": text, "thought": true}}, nil, i+1, 0)
	}
	for i, text := range a.tokens {
		add(plan[n+i], WroteToken, list{object{"text": text}}, nil, n, i+1)
	}
	add(last(plan), WroteFinish, list{object{"text": ""}}, a.finish("STOP", "MAX_TOKENS"), n, len(a.tokens))
	if g.array {
		frames = append(frames, frame{at: last(plan), what: WroteDone, data: []byte("]")})
	}
	return frames
}

func (g gemini) whole(a *answer) []byte {
	parts := list{}
	if len(a.thoughts) > 0 {
		parts = append(parts, object{"text": strings.Join(a.thoughts, ""), "thought": true})
	}
	parts = append(parts, object{"text": strings.Join(a.tokens, "")})
	return encode(g.response(a, parts, a.finish("STOP", "MAX_TOKENS"), len(a.thoughts), len(a.tokens)))
}

func (gemini) response(a *answer, parts list, finish *string, thoughts, tokens int) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != nil {
		candidate["finishReason"] = *finish
	}
	usage := object{"promptTokenCount": a.input, "totalTokenCount": a.input + thoughts + tokens}
	if tokens > 0 { // what is 0 is not sent
		usage["candidatesTokenCount"] = tokens
	}
	if thoughts > 0 {
		usage["thoughtsTokenCount"] = thoughts
	}
	return object{"candidates": list{candidate}, "usageMetadata": usage, "modelVersion": a.model, "responseId": a.id}
}

// geminiModels is the list of models at /v1beta/models.
func geminiModels(names []string) []byte {
	models := list{}
	for _, name := range names {
		models = append(models, object{"name": "models/" + name, "displayName": name, "supportedGenerationMethods": list{"generateContent"}})
	}
	return encode(object{"models": models})
}

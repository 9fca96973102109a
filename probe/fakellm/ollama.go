package fakellm

import (
	"encoding/json"
	"strings"
	"time"
)

// ollama is Ollama's own chat, which streams NDJSON unless it is told not to.
type ollama struct{}

var _ dialect = ollama{}

func (ollama) parse(body []byte) (*ask, string) {
	var v struct {
		Model    string `json:"model"`
		Stream   *bool  `json:"stream"`
		Messages []turn `json:"messages"`
		Options  struct {
			NumPredict int `json:"num_predict"`
		} `json:"options"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, err.Error()
	}
	a := &ask{Model: v.Model, Stream: v.Stream == nil || *v.Stream, Messages: v.Messages, MaxTokens: v.Options.NumPredict}
	return a.counted()
}

func (ollama) mediaType() string { return "application/x-ndjson" }

func (ollama) check(*ask) string { return "" }

func (ollama) requestID() string { return "X-Request-Id" }

func (ollama) failure(_ int, _, message string) []byte { return encode(object{"error": message}) }

func (o ollama) broken() []byte {
	return line(o.failure(500, "", "an error was encountered while running the model (made up by the fake)"))
}

func line(data []byte) []byte { return append(data, '\n') }

func (o ollama) stream(a *answer, plan []time.Duration) []frame {
	frames := []frame{{do: actHead, code: 200}}
	add := func(at time.Duration, what string, message object) {
		frames = append(frames, frame{at: at, what: what, data: line(encode(o.reply(a, message)))})
	}
	for i, text := range a.thoughts {
		add(plan[i], WroteReasoning, object{"role": "assistant", "content": "", "thinking": text})
	}
	for i, text := range a.tokens {
		add(plan[len(a.thoughts)+i], WroteToken, object{"role": "assistant", "content": text})
	}
	end := o.end(a, object{"role": "assistant", "content": ""}, plan)
	return append(frames, frame{at: last(plan), what: WroteFinish, data: line(encode(end))})
}

func (o ollama) whole(a *answer) []byte {
	message := object{"role": "assistant", "content": strings.Join(a.tokens, "")}
	if len(a.thoughts) > 0 {
		message["thinking"] = strings.Join(a.thoughts, "")
	}
	return encode(o.end(a, message, nil))
}

func (ollama) reply(a *answer, message object) object {
	return object{"model": a.model, "created_at": time.Unix(a.created, 0).UTC().Format(time.RFC3339Nano), "message": message, "done": false}
}

// end is the last line: counts, and durations in nanoseconds.
func (o ollama) end(a *answer, message object, plan []time.Duration) object {
	reply := o.reply(a, message)
	total, first := last(plan), time.Duration(0)
	if len(plan) > 0 {
		first = plan[0]
	}
	reply["done"], reply["done_reason"] = true, a.finish("stop", "length")
	reply["total_duration"], reply["load_duration"] = total, time.Millisecond
	reply["prompt_eval_count"], reply["prompt_eval_duration"] = a.input, first
	reply["eval_count"], reply["eval_duration"] = a.output(), total-first
	return reply
}

// ollamaModels is the list of models at /api/tags.
func ollamaModels(names []string) []byte {
	models := list{}
	for _, name := range names {
		models = append(models, object{"name": name, "model": name, "modified_at": "2026-01-01T00:00:00Z", "size": 5_000_000_000})
	}
	return encode(object{"models": models})
}

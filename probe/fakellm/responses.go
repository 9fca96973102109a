package fakellm

import (
	"encoding/json"
	"strings"
	"time"
)

// responses is the OpenAI Responses API.
type responses struct{ chat }

var _ dialect = responses{}

func (responses) parse(body []byte) (*ask, string) {
	var v struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		MaxOutput    int             `json:"max_output_tokens"`
		Instructions json.RawMessage `json:"instructions"`
		Input        json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, "We could not parse the JSON body of your request: " + err.Error()
	}
	a := &ask{Model: v.Model, Stream: v.Stream, MaxTokens: v.MaxOutput, System: v.Instructions}
	if json.Unmarshal(v.Input, &a.Messages) != nil {
		a.Messages = []turn{{Role: "user", Content: v.Input}} // a plain string
	}
	if len(v.Input) == 0 {
		return nil, "Missing required parameter: 'input'."
	}
	return a.counted()
}

func (r responses) broken() []byte {
	return event("error", encode(object{"type": "error", "code": "server_error", "param": nil,
		"message": "The server had an error while processing your request (made up by the fake)"}))
}

func (r responses) stream(a *answer, plan []time.Duration) []frame {
	var frames []frame
	add := func(at time.Duration, what, name string, body object) {
		body["type"], body["sequence_number"] = "response."+name, len(frames)
		frames = append(frames, frame{at: at, what: what, data: event("response."+name, encode(body))})
	}
	add(0, WroteRole, "created", object{"response": r.state(a, "in_progress", list{}, nil)})
	add(0, WroteOther, "in_progress", object{"response": r.state(a, "in_progress", list{}, nil)})
	output, at := list{}, time.Duration(0)
	block := func(item object, kind, what string, tokens []string, plan []time.Duration) {
		index := len(output)
		add(at, WroteOther, "output_item.added", object{"output_index": index, "item": item})
		add(at, WroteOther, "content_part.added", object{"output_index": index, "content_index": 0, "part": object{"type": kind, "text": ""}})
		for i, text := range tokens {
			at = plan[i]
			add(at, what, kind+".delta", object{"output_index": index, "content_index": 0, "delta": text})
		}
		text := strings.Join(tokens, "")
		add(at, WroteOther, kind+".done", object{"output_index": index, "content_index": 0, "text": text})
		done := object{"id": item["id"], "type": item["type"], "content": list{object{"type": kind, "text": text}}}
		add(at, WroteOther, "output_item.done", object{"output_index": index, "item": done})
		output = append(output, done)
	}
	n := len(a.thoughts)
	if n > 0 {
		block(object{"id": "rs_1", "type": "reasoning", "summary": list{}}, "reasoning_text", WroteReasoning, a.thoughts, plan[:n])
	}
	if len(a.tokens) > 0 {
		block(object{"id": "msg_1", "type": "message", "role": "assistant", "content": list{}}, "output_text", WroteToken, a.tokens, plan[n:])
	}
	status := *a.finish("completed", "incomplete")
	add(at, WroteFinish, status, object{"response": r.state(a, status, output, responsesUsage(a))})
	return frames
}

func (r responses) whole(a *answer) []byte {
	output := list{}
	if len(a.thoughts) > 0 {
		output = append(output, object{"id": "rs_1", "type": "reasoning", "content": list{object{"type": "reasoning_text", "text": strings.Join(a.thoughts, "")}}})
	}
	if len(a.tokens) > 0 {
		output = append(output, object{"id": "msg_1", "type": "message", "role": "assistant",
			"content": list{object{"type": "output_text", "text": strings.Join(a.tokens, "")}}})
	}
	return encode(r.state(a, *a.finish("completed", "incomplete"), output, responsesUsage(a)))
}

// state is the answer as a whole.
func (responses) state(a *answer, status string, output list, usage any) object {
	o := object{"id": a.id, "object": "response", "created_at": a.created, "status": status, "model": a.model, "error": nil,
		"incomplete_details": nil, "output": output, "usage": usage}
	if status == "incomplete" {
		o["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	return o
}

func responsesUsage(a *answer) object {
	return object{"input_tokens": a.input, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": a.output(),
		"output_tokens_details": object{"reasoning_tokens": len(a.thoughts)}, "total_tokens": a.input + a.output()}
}

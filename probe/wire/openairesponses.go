package wire

import (
	"encoding/json"
	"strings"
)

// openAIResponses is the OpenAI Responses API.
func openAIResponses() Protocol {
	return Protocol{
		Name:      "openai-responses",
		Marker:    true,
		Endpoint:  []string{"/responses"},
		Path:      func(base, _ string) string { return base + "/responses" },
		Models:    func(base string) string { return base + "/models" },
		KeyHeader: "Authorization",
		MaxFields: []string{"max_output_tokens"},
		Effort:    "reasoning.effort",
		Body:      responsesBody,
		Decode:    decodeResponses,
		Endings:   responsesEndings(),
		Normalise: reasoningInside,
	}
}

func responsesBody(a Ask) map[string]any {
	body := map[string]any{"model": a.Model, "input": messages(a.Turns), "max_output_tokens": a.MaxTokens, "stream": true}
	if a.Effort != "" {
		body["reasoning"] = map[string]any{"effort": a.Effort}
	}
	return merge(body, a.Extra)
}

type responsesEvent struct {
	errorBody
	Delta    content        `json:"delta"`
	Item     responsesItem  `json:"item"`
	Response responsesState `json:"response"`
}

// responsesItem is one item of the output: a message, reasoning or a call.
type responsesItem struct {
	Type      str `json:"type"`
	Name      str `json:"name"`
	Encrypted str `json:"encrypted_content"`
}

// responsesState is the answer as a whole, as some events and the body of an answer that is not streamed have it.
type responsesState struct {
	Object     str             `json:"object"`
	Model      str             `json:"model"`
	Status     str             `json:"status"`
	Error      json.RawMessage `json:"error"`
	Usage      *responsesUsage `json:"usage"`
	Incomplete struct {
		Reason str `json:"reason"`
	} `json:"incomplete_details"`
}

type responsesUsage struct {
	Input        Num `json:"input_tokens"`
	Output       Num `json:"output_tokens"`
	Total        Num `json:"total_tokens"`
	InputDetails struct {
		Cached     Num `json:"cached_tokens"`
		CacheWrite Num `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning Num `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *responsesUsage) usage() Usage {
	if u == nil {
		return Usage{}
	}
	return Usage{Input: u.Input, Cached: u.InputDetails.Cached, CacheWrite: u.InputDetails.CacheWrite,
		Output: u.Output, Reasoning: u.OutputDetails.Reasoning, Total: u.Total}
}

// decodeResponses goes by the type inside the data: some servers leave the event's name out.
func decodeResponses(data []byte, p *Piece) error {
	e, err := read[responsesEvent](p, data)
	if err != nil {
		return err
	}
	p.Structure = true
	e.Response.facts(p)
	switch kind := string(e.Type); {
	case strings.HasSuffix(kind, ".delta") || kind == "response.mcp_call.arguments_delta":
		e.delta(kind, p)
	case strings.HasSuffix(kind, ".partial_image"):
		p.Kind |= Tool
	case kind == "response.output_item.added" || kind == "response.output_item.done":
		e.Item.read(p, kind == "response.output_item.added")
	case kind == "response.completed" || kind == "response.incomplete" || kind == "response.failed" || kind == "response.cancelled":
		e.Response.end(strings.TrimPrefix(kind, "response."), p)
	case kind == "error":
		e.Type, e.Object = "", "error" // "error" says that it is one, not which
		p.Fault = findFault(e.errorBody, false)
	case kind == "":
		return decodeWholeResponse(data, e.errorBody, p)
	}
	return nil
}

// decodeWholeResponse takes a body without an event's type: an error, or an answer in one piece.
func decodeWholeResponse(data []byte, v errorBody, p *Piece) error {
	var whole responsesState
	if err := decode(data, &whole); err != nil {
		return err
	}
	if whole.Object == "response" {
		whole.facts(p)
		v.Status, v.Code = "", ""
	}
	p.Fault = findFault(v, whole.Object == "response")
	return nil
}

func (r *responsesState) facts(p *Piece) {
	p.Model = firstNonEmpty(string(r.Model), p.Model)
	p.Usage.Merge(r.Usage.usage())
}

// end takes the answer's last event; a failed one says why, where it can.
func (r *responsesState) end(kind string, p *Piece) {
	switch kind {
	case "completed":
		p.Finish, p.Terminal = kind, Done
	case "incomplete":
		p.Finish, p.Terminal = firstNonEmpty(string(r.Incomplete.Reason), kind), Done
	default:
		if p.Fault = findFault(errorBody{Error: r.Error}, true); p.Fault == nil {
			p.Fault = &Fault{Message: "the response ended as " + kind}
		}
	}
}

// read takes an item's start or end. A name in the start is generated; what ends repeats what was seen.
func (i *responsesItem) read(p *Piece, start bool) {
	p.Sealed = p.Sealed || i.Type == "reasoning" || i.Encrypted != ""
	if start && i.Name != "" {
		p.Kind |= Tool
	}
}

// delta takes a piece of output.
func (e *responsesEvent) delta(kind string, p *Piece) {
	if e.Delta.text == "" && !e.Delta.thinking && !e.Delta.object {
		return
	}
	switch kind {
	case "response.output_text.delta", "response.audio.transcript.delta", "response.output_audio_transcript.delta":
		p.Kind |= Text
		p.Text = append(p.Text, e.Delta.text...)
	case "response.audio.delta", "response.output_audio.delta":
		p.Kind |= Text
	case "response.refusal.delta":
		p.Kind |= Refusal
	case "response.reasoning_text.delta", "response.reasoning.delta":
		p.Kind |= Reasoning
	case "response.reasoning_summary_text.delta", "response.reasoning_summary.delta":
		p.Kind |= Summary
	default:
		if strings.Contains(kind, "_call") { // of functions, and of the endpoint's own tools: their list is open
			p.Kind |= Tool
		}
	}
}

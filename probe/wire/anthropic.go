package wire

import (
	"encoding/json"
	"strings"
)

// anthropic is Anthropic Messages.
func anthropic() Protocol {
	return Protocol{
		Name:     "anthropic",
		Marker:   true,
		Endpoint: []string{"/v1/messages", "/messages"},
		Path: func(base, _ string) string {
			if strings.HasSuffix(base, "/v1") {
				return base + "/messages"
			}
			return base + "/v1/messages"
		},
		Models: func(base string) string {
			return strings.TrimSuffix(base, "/v1") + "/v1/models"
		},
		KeyHeader: "X-Api-Key",
		Headers:   map[string]string{"Anthropic-Version": "2023-06-01"},
		MaxFields: []string{"max_tokens"},
		Body:      anthropicBody,
		Decode:    decodeAnthropic,
		Endings:   anthropicEndings(),
		Normalise: cacheOutside,
	}
}

// anthropicBody puts system turns where this protocol has them.
func anthropicBody(a Ask) map[string]any {
	var system []string
	var rest []Turn
	for _, t := range a.Turns {
		if t.Role == "system" {
			system = append(system, t.Text)
			continue
		}
		rest = append(rest, t)
	}
	body := map[string]any{"model": a.Model, "messages": messages(rest), "max_tokens": a.MaxTokens, "stream": true}
	if len(system) > 0 {
		body["system"] = strings.Join(system, "\n\n")
	}
	return merge(body, a.Extra)
}

type anthropicEvent struct {
	errorBody
	RequestID str             `json:"request_id"`
	Usage     *anthropicUsage `json:"usage"`
	Msg       struct {
		Model str             `json:"model"`
		Usage *anthropicUsage `json:"usage"`
	} `json:"message"`
	Model str            `json:"model"` // of an answer that is not streamed
	Block anthropicBlock `json:"content_block"`
	Delta struct {
		Type       str             `json:"type"`
		Text       str             `json:"text"`
		Thinking   str             `json:"thinking"`
		Partial    str             `json:"partial_json"`
		Citation   json.RawMessage `json:"citation"`
		StopReason str             `json:"stop_reason"`
	} `json:"delta"`
}

type anthropicBlock struct {
	Type     str `json:"type"`
	Name     str `json:"name"`
	Text     str `json:"text"`
	Thinking str `json:"thinking"`
	Data     str `json:"data"`
}

type anthropicUsage struct {
	Input         Num `json:"input_tokens"`
	CacheCreation Num `json:"cache_creation_input_tokens"`
	CacheRead     Num `json:"cache_read_input_tokens"`
	Output        Num `json:"output_tokens"`
	Details       struct {
		Thinking Num `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u *anthropicUsage) usage() Usage {
	if u == nil {
		return Usage{}
	}
	return Usage{Input: u.Input, Cached: u.CacheRead, CacheWrite: u.CacheCreation, Output: u.Output, Reasoning: u.Details.Thinking}
}

// cacheOutside adds cache reads and writes to the input figure, which leaves them out here.
func cacheOutside(u Usage) Usage {
	if u.Input.Known {
		u.Input.V += u.Cached.V + u.CacheWrite.V
	}
	return u
}

func decodeAnthropic(data []byte, p *Piece) error {
	e, err := read[anthropicEvent](p, data)
	if err != nil {
		return err
	}
	p.Structure = e.Type != "ping"
	p.Model = firstNonEmpty(string(e.Msg.Model), string(e.Model))
	p.Usage.Merge(e.Msg.Usage.usage())
	p.Usage.Merge(e.Usage.usage())
	switch e.Type {
	case "content_block_start":
		e.Block.read(p)
	case "content_block_delta":
		e.delta(p)
	case "message_delta":
		if e.Delta.StopReason != "" {
			p.Finish, p.Terminal = string(e.Delta.StopReason), Finish
		}
	case "message_stop":
		p.Terminal = Done
	case "error", "":
		e.fault(p, data)
	}
	return nil
}

func (e *anthropicEvent) fault(p *Piece, data []byte) {
	var v errorBody
	if decode(data, &v) != nil {
		return
	}
	if p.Fault = findFault(v, false); p.Fault != nil {
		p.RequestID = string(e.RequestID)
	}
}

// read takes a block's start. The name of a tool arrives here and is generated; so is a redacted block, whole.
func (b *anthropicBlock) read(p *Piece) {
	switch b.Type {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		if b.Name != "" {
			p.Kind |= Tool
		}
	case "redacted_thinking":
		p.Kind |= Redacted
		p.Sealed = true
	case "thinking":
		p.Sealed = true
		if b.Thinking != "" {
			p.Kind |= Summary
		}
	default:
		if b.Text != "" {
			p.Kind |= Text
			p.Text = append(p.Text, b.Text...)
		}
	}
}

func (e *anthropicEvent) delta(p *Piece) {
	d := &e.Delta
	switch {
	case d.Type == "signature_delta":
		p.Sealed = true
	case d.Thinking != "": // of most models a summary, and nothing says of which
		p.Kind |= Summary
	case d.Partial != "":
		p.Kind |= Tool
	case d.Text != "":
		p.Kind |= Text
		p.Text = append(p.Text, d.Text...)
	case d.Type == "citations_delta":
		e.citation(p)
	}
}

// citation counts a citation only where it carries text of its own.
func (e *anthropicEvent) citation(p *Piece) {
	var c struct {
		Text str `json:"cited_text"`
	}
	if filled(e.Delta.Citation) && decode(e.Delta.Citation, &c) == nil && c.Text != "" {
		p.Kind |= Text
	}
}

package wire

import (
	"bytes"
	"encoding/json"
)

// openAIChat is OpenAI chat completions and what the many compatible servers make of it.
func openAIChat() Protocol {
	return Protocol{
		Name:      "openai-chat",
		Marker:    true,
		Endpoint:  []string{"/chat/completions"},
		Path:      func(base, _ string) string { return base + "/chat/completions" },
		Models:    func(base string) string { return base + "/models" },
		KeyHeader: "Authorization",
		MaxFields: []string{"max_tokens", "max_completion_tokens"},
		Effort:    "reasoning_effort",
		Body:      chatBody,
		Decode:    decodeChat,
		Endings:   chatEndings(),
		Normalise: reasoningInside,
	}
}

func chatBody(a Ask) map[string]any {
	body := map[string]any{"model": a.Model, "messages": messages(a.Turns), "stream": true}
	if !a.NoStreamOptions {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	_, old := a.Extra["max_tokens"]
	_, renamed := a.Extra["max_completion_tokens"]
	if !old && !renamed {
		body[firstNonEmpty(a.MaxTokensField, "max_tokens")] = a.MaxTokens
	}
	if a.Effort != "" {
		body["reasoning_effort"] = a.Effort
	}
	return merge(body, a.Extra)
}

// message is one turn in the shape that both families share.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func messages(turns []Turn) []message {
	list := make([]message, 0, len(turns))
	for _, t := range turns {
		list = append(list, message{t.Role, t.Text})
	}
	return list
}

// merge lays extra over body, object by object: what extra does not name stays.
func merge(body, extra map[string]any) map[string]any {
	for k, v := range extra {
		over, both := v.(map[string]any)
		under, ok := body[k].(map[string]any)
		if both && ok {
			v = merge(under, over)
		}
		body[k] = v
	}
	return body
}

func firstNonEmpty(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

type chatChunk struct {
	errorBody
	Model       str          `json:"model"`
	Fingerprint str          `json:"system_fingerprint"`
	Choices     []chatChoice `json:"choices"`
	Usage       *chatUsage   `json:"usage"`
	Groq        struct {
		Usage *chatUsage      `json:"usage"`
		Error json.RawMessage `json:"error"`
	} `json:"x_groq"`
}

func (c *chatChunk) empty() { *c = chatChunk{Choices: c.Choices[:0]} }

type chatChoice struct {
	Index   int             `json:"index"`
	Delta   chatDelta       `json:"delta"`
	Message chatDelta       `json:"message"` // of servers that put the whole answer into one event, or repeat it in each
	Text    str             `json:"text"`    // of servers that answer in the older completions shape
	Finish  str             `json:"finish_reason"`
	Usage   *chatUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type chatDelta struct {
	Content          content           `json:"content"`
	ReasoningContent content           `json:"reasoning_content"`
	Reasoning        content           `json:"reasoning"`
	ReasoningText    content           `json:"reasoning_text"`
	Thinking         content           `json:"thinking"`
	ReasoningDetails []reasoningDetail `json:"reasoning_details"`
	ThinkingBlocks   []reasoningDetail `json:"thinking_blocks"`
	Refusal          str               `json:"refusal"`
	ToolCalls        []chatTool        `json:"tool_calls"`
	FunctionCall     chatFunction      `json:"function_call"`
	Audio            struct {
		Data       str `json:"data"`
		Transcript str `json:"transcript"`
	} `json:"audio"`
}

type reasoningDetail struct {
	Text      str             `json:"text"`
	Thinking  str             `json:"thinking"`
	Summary   str             `json:"summary"`
	Data      json.RawMessage `json:"data"` // encrypted
	Signature str             `json:"signature"`
}

type chatTool struct {
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      str             `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a string; some servers send an object
}

type chatUsage struct {
	Prompt        Num `json:"prompt_tokens"`
	Completion    Num `json:"completion_tokens"`
	Input         Num `json:"input_tokens"`
	Output        Num `json:"output_tokens"`
	Total         Num `json:"total_tokens"`
	CacheHit      Num `json:"prompt_cache_hit_tokens"`
	CachedTokens  Num `json:"cached_tokens"`
	Reasoning     Num `json:"reasoning_tokens"`
	PromptDetails struct {
		Cached     Num `json:"cached_tokens"`
		CacheWrite Num `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning Num `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) usage() Usage {
	if u == nil {
		return Usage{}
	}
	return Usage{
		Input:      u.Prompt.or(u.Input),
		Cached:     u.PromptDetails.Cached.or(u.CacheHit).or(u.CachedTokens),
		CacheWrite: u.PromptDetails.CacheWrite,
		Output:     u.Completion.or(u.Output),
		Reasoning:  u.CompletionDetails.Reasoning.or(u.Reasoning),
		Total:      u.Total,
	}
}

func decodeChat(data []byte, p *Piece) error {
	c, err := read[chatChunk](p, data)
	if err != nil {
		return err
	}
	p.Structure = true
	p.Model, p.Fingerprint = string(c.Model), string(c.Fingerprint)
	p.Usage.Merge(c.Groq.Usage.usage())
	p.Usage.Merge(c.Usage.usage())
	for i := range c.Choices {
		c.Choices[i].read(p)
	}
	if len(c.Error) > 0 && !filled(c.Error) && bytes.Contains(data, []byte(`"choices"`)) {
		c.Error = nil // an empty one beside choices, be they none, says that all is well
	}
	if f := findFault(c.errorBody, len(c.Choices) > 0 || c.Usage != nil); f != nil {
		p.Fault = f
	} else if filled(c.Groq.Error) {
		p.Fault = findFault(errorBody{Error: c.Groq.Error}, true)
	}
	return nil
}

func (c *chatChoice) read(p *Piece) {
	p.Usage.Merge(c.Usage.usage())
	p.Choices = max(p.Choices, c.Index+1)
	before := p.Kind
	c.Delta.read(p)
	if c.Text != "" && len(p.Text) == 0 {
		p.Kind |= Text
		p.Text = append(p.Text, c.Text...)
	}
	if p.Kind == before {
		c.Message.read(p)
		p.Whole = p.Kind != before
	}
	if c.Index == 0 && c.Finish != "" {
		p.Finish = string(c.Finish)
		p.Terminal = max(p.Terminal, Finish)
	}
	if filled(c.Error) && p.Fault == nil {
		p.Fault = findFault(errorBody{Error: c.Error}, true)
	}
}

func (d *chatDelta) read(p *Piece) {
	p.Kind |= d.Content.other
	if d.Content.text != "" {
		p.Kind |= Text
		p.Text = append(p.Text, d.Content.text...)
	}
	if d.Content.thinking || d.thought(p) {
		p.Kind |= Reasoning
	}
	if d.Refusal != "" {
		p.Kind |= Refusal
	}
	if d.Audio.Data != "" || d.Audio.Transcript != "" {
		p.Kind |= Text
		p.Text = append(p.Text, d.Audio.Transcript...)
	}
	if d.called() {
		p.Kind |= Tool
	}
}

// thought reports whether reasoning came, in whichever of its fields; the same text in two of them counts once. What comes
// as a summary, or in the blocks of Anthropic's models, may be a paraphrase also where it stands in a field of text too.
func (d *chatDelta) thought(p *Piece) bool {
	seen := false
	for _, c := range []*content{&d.ReasoningContent, &d.Reasoning, &d.ReasoningText, &d.Thinking} {
		seen = seen || c.text != "" || c.thinking
	}
	for _, r := range d.ThinkingBlocks {
		if r.Thinking != "" || r.Text != "" {
			p.Kind |= Summary
		}
		p.Sealed = p.Sealed || filled(r.Data) || r.Signature != ""
	}
	for _, r := range d.ReasoningDetails {
		seen = seen || r.Text != "" || r.Thinking != ""
		if r.Summary != "" {
			p.Kind |= Summary
		}
		p.Sealed = p.Sealed || filled(r.Data) || r.Signature != ""
	}
	return seen && p.Kind&Summary == 0
}

// called reports whether a name or an argument byte of a tool call came.
func (d *chatDelta) called() bool {
	if d.FunctionCall.filled() {
		return true
	}
	for _, t := range d.ToolCalls {
		if t.Function.filled() {
			return true
		}
	}
	return false
}

func (f *chatFunction) filled() bool { return f.Name != "" || filled(f.Arguments) }

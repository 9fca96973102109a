package wire

import (
	"strings"
	"time"
)

// ollama is Ollama's own chat, which streams NDJSON.
func ollama() Protocol {
	return Protocol{
		Name:     "ollama",
		Lines:    true,
		Marker:   true,
		Endpoint: []string{"/api/chat", "/api/generate"},
		Path:     func(base, _ string) string { return strings.TrimSuffix(base, "/api") + "/api/chat" },
		Models:   func(base string) string { return strings.TrimSuffix(base, "/api") + "/api/tags" },

		KeyHeader: "Authorization",
		Headers:   map[string]string{"Accept": "application/x-ndjson, application/json"},
		MaxFields: []string{"options.num_predict"},
		Effort:    "think",
		Body:      ollamaBody,
		Decode:    decodeOllama,
		Endings:   ollamaEndings(),
		Normalise: func(u Usage) Usage { return u },
	}
}

func ollamaBody(a Ask) map[string]any {
	body := map[string]any{"model": a.Model, "messages": messages(a.Turns), "stream": true,
		"options": map[string]any{"num_predict": a.MaxTokens}}
	switch a.Effort {
	case "":
	case "none":
		body["think"] = false
	default:
		body["think"] = a.Effort
	}
	return merge(body, a.Extra)
}

type ollamaEvent struct {
	errorBody
	Model   str `json:"model"`
	Message struct {
		Content   content    `json:"content"`
		Thinking  str        `json:"thinking"`
		ToolCalls []chatTool `json:"tool_calls"`
	} `json:"message"`
	Response    str  `json:"response"` // of /api/generate
	Thinking    str  `json:"thinking"`
	Done        bool `json:"done"`
	Reason      str  `json:"done_reason"`
	Load        Num  `json:"load_duration"` // ns
	PromptCount Num  `json:"prompt_eval_count"`
	CachedCount Num  `json:"prompt_eval_cached_count"`
	EvalCount   Num  `json:"eval_count"`
}

// usage takes a prompt of 0 tokens as not counted: older versions say so when the prompt was cached.
func (e *ollamaEvent) usage() Usage {
	u := Usage{Input: e.PromptCount, Cached: e.CachedCount, Output: e.EvalCount}
	if u.Input.V == 0 {
		u.Input = Num{}
	}
	return u
}

func decodeOllama(data []byte, p *Piece) error {
	e, err := read[ollamaEvent](p, data)
	if err != nil {
		return err
	}
	p.Structure = true
	p.Model = string(e.Model)
	p.Usage.Merge(e.usage())
	e.generated(p)
	if e.Done {
		p.Finish, p.Terminal = string(e.Reason), Done
		p.Load = time.Duration(e.Load.V)
	}
	e.errorBody.Message = "" // that name is the answer's here
	if f := findFault(e.errorBody, p.Kind != 0 || p.Terminal != Open || p.Model != ""); f != nil {
		p.Fault = f
	}
	return nil
}

func (e *ollamaEvent) generated(p *Piece) {
	p.Kind |= e.Message.Content.other
	if text := e.Message.Content.text + string(e.Response); text != "" {
		p.Kind |= Text
		p.Text = append(p.Text, text...)
	}
	if e.Message.Thinking != "" || e.Thinking != "" || e.Message.Content.thinking {
		p.Kind |= Reasoning
	}
	for i := range e.Message.ToolCalls {
		if e.Message.ToolCalls[i].Function.filled() {
			p.Kind |= Tool
		}
	}
}

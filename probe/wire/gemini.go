package wire

import (
	"encoding/json"
	"strings"
)

// gemini is Google's generateContent, streamed as server-sent events.
func gemini() Protocol {
	return Protocol{
		Name: "gemini",
		Endpoint: []string{"/v1beta/models/*:streamGenerateContent", "/v1beta/models/*:generateContent",
			"/models/*:streamGenerateContent", "/models/*:generateContent"},
		Path:      geminiPath,
		Models:    func(base string) string { return geminiBase(base) + "/models?pageSize=1000" },
		KeyHeader: "X-Goog-Api-Key",
		MaxFields: []string{"generationConfig.maxOutputTokens"},
		Effort:    "generationConfig.thinkingConfig.thinkingLevel",
		Body:      geminiBody,
		Decode:    decodeGemini,
		Endings:   geminiEndings(),
		Normalise: thoughtsOutside,
	}
}

// geminiPath takes a model with or without its collection in front, as the list of models writes it.
func geminiPath(base, model string) string {
	collection := "models"
	if name, ok := strings.CutPrefix(model, "models%2F"); ok {
		model = name
	} else if name, ok := strings.CutPrefix(model, "tunedModels%2F"); ok {
		collection, model = "tunedModels", name
	}
	return geminiBase(base) + "/" + collection + "/" + model + ":streamGenerateContent?alt=sse"
}

// geminiBase adds the version, unless base ends in one or names the publisher of a model, as Vertex AI does.
func geminiBase(base string) string {
	last := base[strings.LastIndex(base, "/")+1:]
	if len(last) > 1 && last[0] == 'v' && last[1] >= '1' && last[1] <= '9' || strings.HasSuffix(base, "/publishers/"+last) {
		return base
	}
	return base + "/v1beta"
}

type geminiText struct {
	Text string `json:"text"`
}

type geminiTurn struct {
	Role  string       `json:"role,omitempty"`
	Parts []geminiText `json:"parts"`
}

// geminiBody puts system turns where this protocol has them, and calls the assistant model.
func geminiBody(a Ask) map[string]any {
	system := geminiTurn{}
	list := []geminiTurn{}
	for _, t := range a.Turns {
		part := geminiText{t.Text}
		switch t.Role {
		case "system":
			system.Parts = append(system.Parts, part)
		case "assistant":
			list = append(list, geminiTurn{"model", []geminiText{part}})
		default:
			list = append(list, geminiTurn{"user", []geminiText{part}})
		}
	}
	config := map[string]any{"maxOutputTokens": a.MaxTokens}
	if a.Effort != "" {
		config["thinkingConfig"] = map[string]any{"thinkingLevel": a.Effort}
	}
	body := map[string]any{"contents": list, "generationConfig": config}
	if len(system.Parts) > 0 {
		body["systemInstruction"] = system
	}
	return merge(body, a.Extra)
}

type geminiEvent struct {
	errorBody
	Candidates []geminiCandidate `json:"candidates"`
	Feedback   struct {
		Block   str `json:"blockReason"`
		Message str `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *geminiUsage `json:"usageMetadata"`
	Model str          `json:"modelVersion"`
}

func (e *geminiEvent) empty() { *e = geminiEvent{Candidates: e.Candidates[:0]} }

type geminiCandidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []geminiPart `json:"parts"`
	} `json:"content"`
	Finish str `json:"finishReason"`
}

type geminiPart struct {
	Text      str             `json:"text"`
	Thought   bool            `json:"thought"`
	Signature str             `json:"thoughtSignature"`
	Call      json.RawMessage `json:"functionCall"`
	Code      json.RawMessage `json:"executableCode"`
	Data      json.RawMessage `json:"inlineData"`
}

type geminiUsage struct {
	Prompt     Num `json:"promptTokenCount"`
	ToolPrompt Num `json:"toolUsePromptTokenCount"`
	Cached     Num `json:"cachedContentTokenCount"`
	Candidates Num `json:"candidatesTokenCount"`
	Thoughts   Num `json:"thoughtsTokenCount"`
	Total      Num `json:"totalTokenCount"`
}

// usage counts what tools put into the prompt as input: it stands beside the prompt's figure.
func (u *geminiUsage) usage() Usage {
	if u == nil {
		return Usage{}
	}
	in := u.Prompt
	in.V += u.ToolPrompt.V
	return Usage{Input: in, Cached: u.Cached, Output: u.Candidates, Reasoning: u.Thoughts, Total: u.Total}
}

// thoughtsOutside adds the thoughts to the output figure, which leaves them out here. A figure that is 0 is not sent, so
// that thoughts alone are all the output.
func thoughtsOutside(u Usage) Usage {
	if !u.Output.Known && !u.Reasoning.Known {
		return u
	}
	u.Output = Num{V: u.Output.V + u.Reasoning.V, Known: true}
	u.Outside = u.Reasoning.V > 0
	if u.Total.Known && u.Input.Known && u.Total.V != u.Input.V+u.Output.V {
		u.Odd = true
	}
	return u
}

func decodeGemini(data []byte, p *Piece) error {
	e, err := read[geminiEvent](p, data)
	if err != nil {
		return err
	}
	p.Structure = true
	p.Model = string(e.Model)
	p.Usage.Merge(e.Usage.usage())
	for i := range e.Candidates {
		e.Candidates[i].read(p)
	}
	if block := string(e.Feedback.Block); block != "" && block != "BLOCK_REASON_UNSPECIFIED" && len(e.Candidates) == 0 {
		p.Fault = &Fault{Code: block, Message: firstNonEmpty(string(e.Feedback.Message), "the prompt was blocked"), Class: ClassFilter}
	}
	if f := findFault(e.errorBody, len(e.Candidates) > 0 || e.Usage != nil); f != nil {
		p.Fault = f
	}
	return nil
}

func (c *geminiCandidate) read(p *Piece) {
	p.Choices = max(p.Choices, c.Index+1)
	for i := range c.Content.Parts {
		c.Content.Parts[i].read(p)
	}
	if c.Index == 0 && c.Finish != "" {
		p.Finish = string(c.Finish)
		p.Terminal = max(p.Terminal, Finish)
	}
}

// read takes one part. What the API calls thoughts is a summary of them, which the count of thoughts does not count.
func (g *geminiPart) read(p *Piece) {
	p.Sealed = p.Sealed || g.Signature != ""
	switch {
	case g.Text != "" && g.Thought:
		p.Kind |= Summary
	case g.Text != "":
		p.Kind |= Text
		p.Text = append(p.Text, g.Text...)
	}
	if filled(g.Call) || filled(g.Code) {
		p.Kind |= Tool
	}
	if filled(g.Data) {
		p.Kind |= Text
	}
}

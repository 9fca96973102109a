package configs

import (
	"fmt"
	"net/url"
	"strings"

	"serin/probe/wire"
)

// protocolForms says in the reference what base_url is for each protocol, and what becomes of it.
const protocolForms = `| protocol | base_url, such as | what is asked | key |
|---|---|---|---|
| ` + "`openai-chat` | `https://api.openai.com/v1` | `…/chat/completions` | `Authorization: Bearer`" + ` |
| ` + "`openai-responses` | `https://api.openai.com/v1` | `…/responses` | `Authorization: Bearer`" + ` |
| ` + "`anthropic` | `https://api.anthropic.com`, with or without `/v1` | `…/v1/messages` | `x-api-key`" + ` |
| ` + "`gemini` | `https://generativelanguage.googleapis.com`, with or without `/v1beta`; for Vertex AI `https://…/v1/projects/P/locations/L/publishers/google` with `auth = \"bearer\"` | `…/v1beta/models/MODEL:streamGenerateContent?alt=sse` | `x-goog-api-key`" + ` |
| ` + "`ollama` | `http://127.0.0.1:11434` | `…/api/chat` | `Authorization: Bearer`, where one is given" + ` |
| ` + "`azure-openai` | `https://RESOURCE.openai.azure.com`, or that with `/openai/deployments/NAME` | `…/openai/deployments/MODEL/chat/completions?api-version=…` | `api-key`" + ` |
| ` + "`azure-openai` | `https://RESOURCE.openai.azure.com/openai/v1` | `…/chat/completions`" + ` | ` + "`api-key`" + ` |

` + "For `azure-openai`, `model` is the name of the deployment, and the `api-version` is the one in base_url's query (`?api-version=2025-04-01-preview`), `2024-10-21` where none is given; the form with `/openai/v1` needs none."

// checkDialect checks what only some protocols have, or have in a place of their own.
func (l *loader) checkDialect(t *target) {
	p, err := wire.Find(t.Protocol)
	if err != nil {
		return // reported as an unknown protocol
	}
	at, key := t.from.at("reasoning_effort")
	switch effort := t.ReasoningEffort; {
	case effort == "":
	case p.Effort == "":
		l.rep.fail(at, key, fmt.Sprintf("has no place in protocol %s", p.Name), "remove it; say it in extra_body as the endpoint wants it")
	case strings.TrimSpace(effort) != effort || strings.ContainsAny(effort, " \t\r\n"):
		l.rep.fail(at, key, "holds white space", `write one word of the endpoint's, such as "low"`)
	}
	at, key = t.from.at("extra_body")
	for _, name := range p.MaxFields {
		if strings.Contains(name, ".") && reaches(t.ExtraBody, name) {
			l.rep.fail(at, key+"."+name, "would overwrite the output cap", "use max_tokens of the target or of a size")
		}
	}
	if u, err := url.Parse(t.BaseURL); err == nil && p.Name == "ollama" && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
		at, key = t.from.at("base_url")
		l.rep.fail(at, key, "is where Ollama speaks OpenAI's protocol", `remove /v1 from base_url, or write protocol = "openai-chat"`)
	}
}

// reaches reports whether body holds the value that the dotted path leads to.
func reaches(body map[string]any, path string) bool {
	name, rest, more := strings.Cut(path, ".")
	v, ok := body[name]
	if !more || !ok {
		return ok
	}
	inner, _ := v.(map[string]any)
	return reaches(inner, rest)
}

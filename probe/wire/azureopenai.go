package wire

import "strings"

// azureVersion is the api-version of the older URL form where base_url names none: the last stable one of that form.
const azureVersion = "2024-10-21"

// azureOpenAI is OpenAI chat completions as Azure serves them: other URLs, another header, and content filter results,
// which the chat decoder passes over.
func azureOpenAI() Protocol {
	p := openAIChat()
	p.Name = "azure-openai"
	p.Path = azurePath
	p.Models = func(string) string { return "" } // it lists what could be deployed, not what is
	p.KeyHeader = "Api-Key"
	return p
}

// azurePath goes by the end of base: /openai/v1 is the newer form, which takes the deployment from the body's model and
// needs no api-version; /openai/deployments/NAME is the older form with its deployment; all else is the resource itself,
// with or without /openai, and model is the deployment.
func azurePath(base, model string) string {
	head, deployment, named := strings.Cut(base, "/openai/deployments/")
	switch {
	case strings.HasSuffix(base, "/openai/v1"):
		return base + "/chat/completions"
	case named && deployment != "" && !strings.Contains(deployment, "/"):
		model = deployment
	default:
		head = strings.TrimSuffix(strings.TrimSuffix(base, "/deployments"), "/openai")
	}
	return head + "/openai/deployments/" + model + "/chat/completions?api-version=" + azureVersion
}

// Package fakellm is a scripted LLM server for demos, drills and tests: an http.Handler that speaks OpenAI chat completions
// and Responses, Anthropic Messages, Gemini, Ollama and Azure OpenAI, and their lists of models, with a latency model, faults
// that can be set at run time, and a raw script mode. It takes time from package time alone, so that it runs in virtual time
// inside a testing/synctest bubble, over Pipe.
package fakellm

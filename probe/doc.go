// Package probe measures one streamed answer of an LLM endpoint: Prober.Do sends a canary's prompt, reads the stream
// token by token and returns a Sample whose outcome is one of a closed list. What each number means is written beside
// its field. An endpoint's failure is data (Outcome); only our own failure is an error.
package probe

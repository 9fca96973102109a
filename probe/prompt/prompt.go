// Package prompt holds the canary prompts: built-in ones per language and size, own ones from files, the nonce in front
// that keeps prefix caches from hitting, and the check of an answer.
package prompt

// Prompt is one canary prompt, without its nonce.
type Prompt struct {
	ID     string // stable; part of the spec together with Version
	System string // "" = none
	User   string
}

// Turn is one message of a request: Role is "system" or "user".
type Turn struct {
	Role string
	Text string
}

// Turns returns the messages of one request, the system message first where there is one. The nonce stands at the very
// front of the first message: prefix caches match from the start, so a nonce anywhere else would still hit. An empty
// nonce adds nothing.
func (p Prompt) Turns(nonce string) []Turn {
	var turns []Turn
	if p.System != "" {
		turns = append(turns, Turn{Role: "system", Text: p.System})
	}
	turns = append(turns, Turn{Role: "user", Text: p.User})
	if nonce != "" {
		turns[0].Text = nonce + " " + turns[0].Text
	}
	return turns
}

// Text returns what Turns sends without a nonce, joined by line ends: the text to estimate or to hash.
func (p Prompt) Text() string {
	if p.System == "" {
		return p.User
	}
	return p.System + "\n" + p.User
}

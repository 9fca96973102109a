// Package prompt holds the canary prompts: built-in ones per language and size, own ones from files, the nonce in front
// that keeps prefix caches from hitting, and the check of an answer.
package prompt

// Prompt is one canary prompt, without its nonce.
type Prompt struct {
	ID     string // stable; part of the spec together with Version
	System string // "" = none
	User   string
}

// Expect is what an answer must look like. All given conditions must hold.
type Expect struct {
	Contains string `koanf:"contains"` // case-sensitive substring
	Regex    string `koanf:"regex"`    // RE2
}

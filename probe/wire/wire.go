// Package wire speaks the streaming protocols of LLM endpoints: it writes a request's URL, headers and body, cuts a byte
// stream into events, and says what each event means. It does no input or output and reads no clock.
package wire

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Turn is one message of a conversation. Role is system, user or assistant.
type Turn struct{ Role, Text string }

// Ask is one request: what every protocol can say.
type Ask struct {
	Model           string
	Turns           []Turn
	MaxTokens       int            // output cap, tokens; > 0
	MaxTokensField  string         // name of the cap's field where the protocol has two; "" = its default
	NoStreamOptions bool           // leave stream_options out: the endpoint refuses it
	Effort          string         // how much to reason, in the endpoint's own word; "" = not said
	Extra           map[string]any // merged into the body last, object by object
}

// Kind is a set of kinds of generated material that one event carried.
type Kind uint8

// The kinds. Summary is a paraphrase of reasoning: its text is not the reasoning tokens. Redacted is a block that came
// whole and unreadable.
const (
	Text Kind = 1 << iota
	Refusal
	Reasoning
	Summary
	Tool
	Redacted
)

// Label returns the name of the first kind in the order in which servers produce them: redacted, reasoning, text,
// refusal, tool; "" when there is none.
func (k Kind) Label() string {
	switch {
	case k&Redacted != 0:
		return "redacted"
	case k&(Reasoning|Summary) != 0:
		return "reasoning"
	case k&Text != 0:
		return "text"
	case k&Refusal != 0:
		return "refusal"
	case k&Tool != 0:
		return "tool"
	}
	return ""
}

// Terminal says whether an event ends the answer.
type Terminal uint8

// The terminals. Finish is a finish reason: the end, but a last marker may follow. Done is the last marker.
const (
	Open Terminal = iota
	Finish
	Done
)

// Piece is what a protocol made of one event.
type Piece struct {
	Kind        Kind   // generated material; 0 = none
	Text        []byte // visible answer text, valid until the next event
	Whole       bool   // Kind and Text are those of the answer so far, no piece of it: new only where nothing came before
	Structure   bool   // a well-formed event of the protocol that is not a ping: progress
	Skipped     bool   // data that is no JSON and no marker: ignored
	Sealed      bool   // a thinking block or a signature: reasoning that may not be seen
	Usage       Usage
	Finish      string // "" = none
	Terminal    Terminal
	Choices     int    // highest choice index + 1
	Fault       *Fault // an error inside the stream
	Model       string
	Fingerprint string
	RequestID   string
	Load        time.Duration // that the server says it took to load the model; 0 = not said

	hot   any // what reads this stream's events; see read
	names [2]string
}

// own makes what outlives the event p's own: until then strings may be the event's data. A stream's events all name the
// same model, so that is copied once.
func (p *Piece) own() {
	for i, name := range []*string{&p.Model, &p.Fingerprint} {
		if *name != "" && *name != p.names[i] {
			p.names[i] = strings.Clone(*name)
		}
		if *name != "" {
			*name = p.names[i]
		}
	}
	p.Finish, p.RequestID = strings.Clone(p.Finish), strings.Clone(p.RequestID)
	if f := p.Fault; f != nil {
		f.Code, f.Type = strings.Clone(f.Code), strings.Clone(f.Type)
		f.Param, f.Message = strings.Clone(f.Param), strings.Clone(f.Message)
	}
}

// Protocol is one dialect: facts, and two functions. A new protocol is one file that returns a Protocol and one line in
// Protocols.
type Protocol struct {
	Name     string
	Lines    bool     // the stream is NDJSON, a JSON value a line; else server-sent events
	Marker   bool     // the stream ends with a Done marker of its own; else with the end of the body
	Endpoint []string // path suffixes that mean "the endpoint's path is in here already", longest first; * is a part of a segment
	// Path puts the endpoint's path behind base's; model is escaped. It may end in a query, whose parameters hold where
	// base_url does not say otherwise.
	Path func(base, model string) string
	// Models is the path of the list of models; "" = the endpoint has none.
	Models    func(base string) string
	KeyHeader string            // header of the key; Authorization carries it as Bearer
	Headers   map[string]string // sent always, before the user's own
	MaxFields []string          // names that the output cap may have, default first; one = no choice; dots lead into objects
	Effort    string            // name of the body's field for Ask.Effort; dots lead into objects; "" = it has none
	Body      func(Ask) map[string]any
	// Decode reads one JSON value into p, which holds what an earlier part of the same event set.
	// The error says that data is not JSON; unknown and oddly typed fields are ignored.
	Decode func(data []byte, p *Piece) error
	// Endings are the protocol's own finish reasons; see EndingOf.
	Endings endings
	// Normalise turns merged usage into the common meaning: input with the cached in it, output with the reasoning in it.
	Normalise func(Usage) Usage
}

// Protocols returns the table of all protocols.
func Protocols() []Protocol {
	return []Protocol{openAIChat(), anthropic(), openAIResponses(), gemini(), ollama(), azureOpenAI()}
}

// Names returns the names of all protocols in the table's order.
func Names() []string {
	var names []string
	for _, p := range Protocols() {
		names = append(names, p.Name)
	}
	return names
}

// Find returns the protocol called name; the error lists the known ones.
func Find(name string) (Protocol, error) {
	for _, p := range Protocols() {
		if p.Name == name {
			return p, nil
		}
	}
	return Protocol{}, fmt.Errorf("unknown protocol %q; known are %s", name, strings.Join(Names(), ", "))
}

// Read says what ev means. A stream's events go into one p, which keeps what makes that cheap. The error says that the event cannot be decoded; p is then to be thrown away.
func (pr *Protocol) Read(ev Event, p *Piece) error {
	*p = Piece{Text: p.Text[:0], hot: p.hot, names: p.names}
	defer p.own()
	defer p.unfinished()
	data := unwrap(ev.Data)
	switch {
	case len(data) == 0:
		p.Skipped = true
	case isDone(data):
		p.Terminal, p.Structure = Done, true
	case string(ev.Name) == "error":
		f := DecodeFault(0, data)
		p.Fault, p.Structure = &f, true
	case data[0] == '{':
		return pr.Decode(data, p)
	case data[0] == '[':
		return pr.readAll(data, p)
	default:
		p.Skipped = true
	}
	return nil
}

// unfinished takes back a finish reason that says that there is none yet.
func (p *Piece) unfinished() {
	if p.Finish == "" {
		return
	}
	switch stem(p.Finish) {
	case "null", "none", "notfinished", "finishreasonunspecified":
		p.Finish = ""
		if p.Terminal == Finish {
			p.Terminal = Open
		}
	}
}

// readAll reads an array of values as one event.
func (pr *Protocol) readAll(data []byte, p *Piece) error {
	list, err := elements(data)
	if err != nil {
		return err
	}
	for _, v := range list {
		if len(v) > 0 && v[0] == '{' {
			if err := pr.Decode(v, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// isDone reports whether data is the end marker of SSE dialects.
func isDone(data []byte) bool { return string(data) == "[DONE]" }

// unwrap trims data and takes off a doubled "data:" that some relays add.
func unwrap(data []byte) []byte {
	data = bytes.TrimSpace(data)
	for bytes.HasPrefix(data, []byte("data:")) {
		data = bytes.TrimSpace(data[len("data:"):])
	}
	return data
}

package probe

import (
	"net/http"
	"strings"
	"time"
)

// Bounds of what a diary keeps.
const (
	maxDiaryEvents = 4096
	maxSnippet     = 200     // bytes of a body
	maxAnswer      = 1 << 20 // bytes of an answer's text
)

// Diary is what one probe saw beyond its sample, for a person's diagnosis. Do fills it; every text in it is redacted.
type Diary struct {
	WantText bool // keep the answer's text

	Method        string
	URL           string
	Proxy         string // scheme://host of the proxy used; "" = none
	Status        int
	Proto         string
	ContentType   string
	Encoding      string            // Content-Encoding
	Headers       map[string]string // of interest: limits, waiting, ids, server, location
	Snippet       string            // beginning of a body that is no stream: at most 200 bytes, without tags
	Cause         Cause             // why it failed, where it did below the stream
	Fault         string            // error code and type that the endpoint gave
	Events        []DiaryEvent      // at most 4096
	Text          string
	TLSDaysLeft   Maybe[float64] // negative = expired
	RemoteAddr    string
	Took          time.Duration // from the call until the probe ended, however it did
	SendTook      Span          // how long the write took whose start is the sample's sent
	FirstShared   bool          // the first token came in one read with later ones: the kernel's stamp is that of the newest
	HiddenRetries int           // requests that the transport sent again by itself; always 0
	Learned       string        // parameter that will be sent otherwise from now on
}

// DiaryEvent is one event: when it came, in which read, and what it was.
type DiaryEvent struct {
	At   time.Duration // since t0
	Lag  time.Duration // how much later the read returned, where At is the kernel's
	Read int
	Kind string // text, reasoning, tool, refusal, redacted, finish, done, error, usage, structure, skipped
}

// headersOfInterest are those that help to tell who answered.
func headersOfInterest(h http.Header) map[string]string {
	kept := limitHeaders(h)
	if kept == nil {
		kept = map[string]string{}
	}
	for _, name := range []string{"Server", "Via", "Location", "X-Request-Id", "Request-Id", "Openai-Processing-Ms", "Openai-Version",
		"Vary", "Www-Authenticate", "X-Accel-Buffering", "Cf-Ray"} {
		if v := h.Get(name); v != "" {
			kept[strings.ToLower(name)] = v
		}
	}
	return kept
}

// stripTags returns text without HTML tags, scripts and styles, its white space collapsed.
func stripTags(text string) string {
	var out strings.Builder
	for text != "" {
		i := strings.IndexByte(text, '<')
		if i < 0 || i+1 == len(text) || !tagStart(text[i+1]) {
			n := i + 1
			if i < 0 {
				n = len(text)
			}
			out.WriteString(text[:n])
			text = text[n:]
			continue
		}
		out.WriteString(text[:i] + " ")
		text = afterTag(text[i:])
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func tagStart(c byte) bool {
	return c == '/' || c == '!' || c == '?' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// afterTag cuts the tag that text begins with; a script or a style goes with its content.
func afterTag(text string) string {
	low := strings.ToLower(text[:min(len(text), 8)])
	for _, name := range []string{"script", "style"} {
		if strings.HasPrefix(low, "<"+name) {
			if i := strings.Index(strings.ToLower(text), "</"+name); i >= 0 {
				text = text[i:]
			}
		}
	}
	if i := strings.IndexByte(text, '>'); i >= 0 {
		return text[i+1:]
	}
	return ""
}

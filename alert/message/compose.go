package message

import "serin/alert"

// Compose writes the message of a story. Foreign text in it is one line, not escaped: that is the channel's part.
func Compose(s Story) alert.Message { return alert.Message{Headline: s.Incident.Scope} }

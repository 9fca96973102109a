package alert

// Compose writes the message that tells s. It is pure: the same story gives the same message.
func Compose(s Story) Message {
	return Message{Severity: s.Incident.Severity, Incident: s.Incident.ID, Headline: s.Incident.Scope, State: string(s.Act)}
}

package probe

import "serin/probe/wire"

// Learned is what a target was seen to refuse, so that it is not asked for again.
type Learned struct {
	Endpoint        string `json:"endpoint"`                    // base URL and model that it was learned from
	MaxTokensField  string `json:"max_tokens_field,omitempty"`  // name of the output cap; absent = the protocol's default
	NoStreamOptions bool   `json:"no_stream_options,omitempty"` // token counts are not to be had
}

// lesson is what was learned, and whether it was seen to work.
type lesson struct {
	Learned
	proved bool // a 2xx came in this form
	stuck  bool // a switch of the cap's field did not help; only a 2xx allows another
}

func endpointOf(t *Target) string { return t.BaseURL + " " + t.Model }

// lesson returns what is known about t; nothing when its endpoint changed.
func (p *Prober) lesson(t *Target) Learned {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lessonOf(t).Learned
}

// lessonOf returns t's entry; the caller holds mu.
func (p *Prober) lessonOf(t *Target) *lesson {
	l := p.lessons[t.Name]
	if l == nil || l.Endpoint != endpointOf(t) {
		l = &lesson{Learned: Learned{Endpoint: endpointOf(t)}}
		p.lessons[t.Name] = l
	}
	return l
}

// Learned returns what was learned about each target, by name; targets that take everything are left out.
func (p *Prober) Learned() map[string]Learned {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]Learned{}
	for name, l := range p.lessons {
		if l.MaxTokensField != "" || l.NoStreamOptions {
			all[name] = l.Learned
		}
	}
	return all
}

// Restore takes back what Learned returned in an earlier life. An entry of another endpoint is of no effect.
func (p *Prober) Restore(all map[string]Learned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, l := range all {
		p.lessons[name] = &lesson{Learned: l, proved: true}
	}
}

// prove notes that the form of a request was taken.
func (p *Prober) prove(t *Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lessonOf(t)
	l.proved, l.stuck = true, false
}

// learn takes in a 400 or 422; what is the name of the parameter that will be sent otherwise from now on, "" = the fault
// names none that can be.
func (p *Prober) learn(t *Target, proto *wire.Protocol, ask wire.Ask, f *wire.Fault) (what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lessonOf(t)
	sent := proto.Body(ask)
	_, own := ask.Extra["stream_options"]
	if _, has := sent["stream_options"]; has && !own && (f.Names("stream_options") || f.Names("include_usage")) {
		l.NoStreamOptions = true
		return "stream_options"
	}
	return l.switchCap(proto, ask, sent, f)
}

// switchCap goes from one name of the output cap to the other. A switch that did not help is taken back and not tried
// again, so that a target that refuses both names is not called "learning" for ever.
func (l *lesson) switchCap(proto *wire.Protocol, ask wire.Ask, sent map[string]any, f *wire.Fault) string {
	if len(proto.MaxFields) < 2 || f.Code == "context_length_exceeded" {
		return ""
	}
	now, next := proto.MaxFields[0], proto.MaxFields[1]
	if ask.MaxTokensField == next {
		now, next = next, now
	}
	_, own := ask.Extra[now]
	if _, has := sent[now]; !has || own || !f.Names(now) && !f.Names(next) {
		return ""
	}
	if l.stuck {
		return ""
	}
	l.stuck = l.MaxTokensField != "" && !l.proved
	l.MaxTokensField, l.proved = next, false
	if l.stuck {
		return ""
	}
	return now
}

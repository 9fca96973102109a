package slacktest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxForm bounds a request body.
const maxForm = 1 << 20

// ServeHTTP answers as Slack does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, err := read(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f := s.fault(call.Method)
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
		}
	}
	call.At = time.Now()
	word := s.judge(call)
	if f.bad() && !f.Taken {
		s.record(call)
		answerFault(w, call.Method, f)
		return
	}
	if word == "" {
		s.take(&call)
	}
	s.record(call)
	switch {
	case f.bad():
		answerFault(w, call.Method, f)
	case word != "":
		answerFault(w, call.Method, Fault{Error: word})
	default:
		s.answer(w, call)
	}
}

// read makes a call of a request.
func read(w http.ResponseWriter, r *http.Request) (Call, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if strings.HasPrefix(r.URL.Path, "/services/") {
		var body struct {
			Text   string          `json:"text"`
			Blocks json.RawMessage `json:"blocks"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return Call{}, fmt.Errorf("invalid_payload")
		}
		return Call{Method: Webhook, Text: body.Text, Blocks: body.Blocks, Room: r.URL.Path}, nil
	}
	if strings.HasPrefix(r.URL.Path, "/upload/") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return Call{}, fmt.Errorf("read upload: %w", err)
		}
		return Call{Method: Put, TS: strings.TrimPrefix(r.URL.Path, "/upload/"), File: body, Token: r.Header.Get("Authorization")}, nil
	}
	method, ok := strings.CutPrefix(r.URL.Path, "/api/")
	if !ok || strings.Contains(method, "/") {
		return Call{}, fmt.Errorf("no such path %q", r.URL.Path)
	}
	if err := r.ParseForm(); err != nil {
		return Call{}, fmt.Errorf("read form: %w", err)
	}
	c := Call{Method: method, Token: r.Form.Get("token"), Room: r.Form.Get("channel"), TS: r.Form.Get("ts"), Thread: r.Form.Get("thread_ts"),
		Broadcast: r.Form.Get("reply_broadcast") == "true", Text: r.Form.Get("text")}
	if b := r.Form.Get("blocks"); b != "" {
		c.Blocks = json.RawMessage(b)
	}
	if id := r.Form.Get("channel_id"); id != "" {
		c.Room = id
	}
	if c.Token == "" {
		c.Token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	return c, nil
}

// fault takes the next fault of a method.
func (s *Server) fault(method string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.faults[method]
	if len(list) == 0 {
		return Fault{}
	}
	s.faults[method] = list[1:]
	return list[0]
}

func (f Fault) bad() bool { return f.Error != "" || f.Status != 0 || f.Cut }

// judge returns the word that Slack would refuse a call with, "" for none.
func (s *Server) judge(c Call) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.messages[c.TS]
	if c.Method == Share {
		_, there = s.messages[c.Thread]
	}
	switch {
	case c.Method == Webhook && c.Room != "/services/T0/B0/hooksecret":
		return "no_service"
	case c.Method == Webhook:
		return refuseForm(c)
	case c.Method == Put && c.Token != "":
		return "token_where_none_belongs"
	case c.Method == Put:
		return ""
	case s.token != "" && c.Token != s.token:
		return "invalid_auth"
	case c.Method == Auth || c.Method == Ask:
		return ""
	case c.Method == Share && !there:
		return "thread_not_found"
	case c.Method == Share:
		return ""
	case c.Method != Post && c.Method != Update:
		return "unknown_method"
	case s.roomID(c.Room) == "":
		return "channel_not_found"
	case c.Method == Update && !there:
		return "message_not_found"
	}
	return refuseForm(c)
}

// refuseForm holds a message against Slack's limits.
func refuseForm(c Call) string {
	var blocks []struct {
		Type string `json:"type"`
		Text *struct {
			Text string `json:"text"`
		} `json:"text"`
	}
	if c.Blocks != nil && json.Unmarshal(c.Blocks, &blocks) != nil || len(blocks) > 50 {
		return "invalid_blocks"
	}
	for _, b := range blocks {
		limit := 3000
		if b.Type == "header" {
			limit = 150
		}
		if b.Text != nil && (b.Text.Text == "" || len([]rune(b.Text.Text)) > limit) {
			return "invalid_blocks"
		}
	}
	switch {
	case len([]rune(c.Text)) > 40_000:
		return "msg_too_long"
	case c.Text == "" && len(blocks) == 0:
		return "no_text"
	}
	return ""
}

// roomID returns the id of a channel, "" where it is not known. The caller holds mu.
func (s *Server) roomID(name string) string {
	if s.rooms == nil && strings.HasPrefix(name, "C") {
		return name
	}
	if s.rooms == nil {
		return "C" + strings.ToUpper(strings.TrimPrefix(name, "#"))
	}
	for n, id := range s.rooms {
		if name == n || name == id {
			return id
		}
	}
	return ""
}

// take stores a message or an edit.
func (s *Server) take(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c.Method {
	case Auth, Ask, Put, Share:
		c.Taken = true
		return
	}
	if c.Method != Update {
		s.next++
		c.TS = fmt.Sprintf("1700000000.%06d", s.next)
	}
	c.Taken = true
	s.messages[c.TS] = c.Text
}

func (s *Server) record(c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

// answer says that a call was taken.
func (s *Server) answer(w http.ResponseWriter, c Call) {
	if c.Method == Webhook {
		_, _ = w.Write([]byte("ok")) // a caller that left misses it
		return
	}
	s.mu.Lock()
	scopes, room := s.scopes, s.roomID(c.Room)
	s.mu.Unlock()
	if scopes != "" {
		w.Header().Set("X-Oauth-Scopes", scopes)
	}
	body := map[string]any{"ok": true, "channel": room, "ts": c.TS, "message": map[string]any{"text": c.Text, "ts": c.TS}}
	switch c.Method {
	case Put:
		_, _ = w.Write([]byte("OK - 1")) // a caller that left misses it
		return
	case Ask:
		body = map[string]any{"ok": true, "upload_url": s.url + "/upload/F1", "file_id": "F1"}
	case Share:
		body = map[string]any{"ok": true, "files": []any{map[string]any{"id": "F1", "title": "x"}}}
	case Auth:
		body = map[string]any{"ok": true, "team": "Test Team", "user": "serin", "team_id": "T0", "user_id": "U0", "bot_id": "B0"}
	}
	writeJSON(w, body)
}

func answerFault(w http.ResponseWriter, method string, f Fault) {
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	switch {
	case f.Cut:
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body)) // a caller that left misses it
	case method == Webhook:
		w.WriteHeader(webhookStatus(f.Error))
		_, _ = w.Write([]byte(f.Error))
	default:
		writeJSON(w, map[string]any{"ok": false, "error": f.Error})
	}
}

// webhookStatus is the status that Slack's webhooks send with a word.
func webhookStatus(word string) int {
	switch word {
	case "no_service", "channel_not_found", "no_team":
		return http.StatusNotFound
	case "channel_is_archived":
		return http.StatusGone
	case "action_prohibited", "invalid_token":
		return http.StatusForbidden
	}
	return http.StatusBadRequest
}

func writeJSON(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(body) // a caller that left misses it
}

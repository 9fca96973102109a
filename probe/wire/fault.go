package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// Class says what kind of trouble an endpoint's error is; "" = its code and type say nothing known.
type Class string

// The classes.
const (
	ClassAuth      Class = "auth"
	ClassNotFound  Class = "not_found"
	ClassBad       Class = "bad_request"
	ClassLimited   Class = "rate_limited"
	ClassQuota     Class = "quota" // waiting does not cure it
	ClassOverload  Class = "overloaded"
	ClassFilter    Class = "content_filter"
	ClassServer    Class = "server"
	ClassUndefined Class = ""
)

// Fault is an error that an endpoint reported, in a body or inside a stream.
type Fault struct {
	Status     int // of the HTTP response, or of the error object where it holds one; 0 = none
	Code       string
	Type       string
	Param      string // the parameter that is refused, as far as the endpoint names it apart
	Message    string
	Class      Class
	RetryDelay time.Duration // from the error's details; 0 = none
}

// Names reports whether the fault names the request parameter param: as its param, in the place of a validation error,
// or as a whole word of the message, which is where many servers put it.
func (f *Fault) Names(param string) bool {
	if f.Param == param {
		return true
	}
	text := f.Message
	for {
		i := strings.Index(text, param)
		if i < 0 {
			return false
		}
		end := i + len(param)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		text = text[end:]
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// errorBody holds the shapes in which servers write an error.
type errorBody struct {
	Error   json.RawMessage `json:"error"`
	Detail  json.RawMessage `json:"detail"`
	Errors  json.RawMessage `json:"errors"`
	Object  str             `json:"object"`
	Type    str             `json:"type"`
	Code    str             `json:"code"`
	Status  str             `json:"status"`
	Param   str             `json:"param"`
	Message str             `json:"message"`
	Msg     str             `json:"msg"`
	// Words of engines and gateways of their own.
	ErrorType str `json:"error_type"`
	ErrorCode str `json:"error_code"`
	ErrorMsg  str `json:"error_msg"`
	Base      struct {
		Code str `json:"status_code"`
		Msg  str `json:"status_msg"`
	} `json:"base_resp"`
}

// own puts the words of engines and gateways where the others are.
func (v *errorBody) own() {
	for _, w := range []struct{ to, from *str }{{&v.Type, &v.ErrorType}, {&v.Code, &v.ErrorCode}, {&v.Message, &v.ErrorMsg}} {
		if *w.from != "" && *w.from != "0" {
			*w.to = *w.from
		}
	}
	if v.Base.Code != "" && v.Base.Code != "0" {
		v.Code, v.Message = v.Base.Code, v.Base.Msg
	}
}

// DecodeFault makes a fault of a body that is known to be an error: an error object in any of its shapes, or plain text.
// status is the HTTP status, 0 inside a stream.
func DecodeFault(status int, body []byte) Fault {
	f := Fault{Status: status}
	body = bytes.TrimSpace(body)
	if list, err := elements(body); err == nil && len(list) > 0 {
		body = list[0]
	}
	var v errorBody
	if len(body) > 0 && body[0] == '{' && decode(body, &v) == nil {
		f.fill(v)
	} else {
		f.Message = string(body)
	}
	f.Class = classify(f)
	return f
}

// findFault looks for an error in a decoded event that may as well be a healthy one. An error that is {} and says nothing
// is one where nothing else in the event is healthy.
func findFault(v errorBody, healthy bool) *Fault {
	known := v.Base.Code != "" && v.Base.Code != "0" || v.ErrorCode != "" && v.ErrorCode != "0"
	said := known || filled(v.Error) || !healthy && string(bytes.TrimSpace(v.Error)) == "{}" || v.Object == "error" || v.Type == "error"
	bad := v.Code != "" && v.Code != "0" && v.Code != "200" || v.Status != ""
	bare := !healthy && (filled(v.Detail) || v.Message != "" && bad)
	if !said && !bare {
		return nil
	}
	var f Fault
	f.fill(v)
	f.Class = classify(f)
	return &f
}

func (f *Fault) fill(v errorBody) {
	v.own()
	f.take(v)
	for _, raw := range []json.RawMessage{v.Error, v.Detail, v.Errors} {
		if filled(raw) {
			f.nested(raw, 0)
		}
	}
	if f.Status == 0 {
		f.Status = str(f.Code).number()
	}
}

// take copies the plain fields of one object; what an inner object says goes before.
func (f *Fault) take(v errorBody) {
	for _, set := range []struct {
		to   *string
		from str
	}{{&f.Message, v.Message}, {&f.Message, v.Msg}, {&f.Code, v.Code}, {&f.Type, v.Type}, {&f.Param, v.Param}} {
		if set.from != "" && (set.to != &f.Message || set.from == v.Message || v.Message == "") {
			*set.to = string(set.from)
		}
	}
	if n := v.Status.number(); n >= 100 && f.Status == 0 {
		f.Status = n
	} else if n == 0 && v.Status != "" {
		f.Type = string(v.Status)
	}
}

// nested takes an error that is a string, an object or a list of them.
func (f *Fault) nested(raw json.RawMessage, depth int) {
	raw = bytes.TrimSpace(raw)
	if depth > 3 || len(raw) == 0 {
		return
	}
	switch raw[0] {
	case '"':
		var s str
		_ = s.UnmarshalJSON(raw) // never fails
		f.Message = string(s)
	case '[':
		if list, err := elements(raw); err == nil && len(list) > 0 {
			f.nested(list[0], depth+1)
		}
	case '{':
		f.object(raw, depth)
	}
}

func (f *Fault) object(raw json.RawMessage, depth int) {
	var v struct {
		errorBody
		Loc        []str             `json:"loc"`
		Inner      json.RawMessage   `json:"innererror"`
		Details    []json.RawMessage `json:"details"`
		RetryDelay str               `json:"retryDelay"`
	}
	if decode(raw, &v) != nil {
		return
	}
	v.own()
	f.take(v.errorBody)
	if len(v.Loc) > 0 {
		f.Param = string(v.Loc[len(v.Loc)-1])
	}
	for _, d := range v.Details {
		f.detail(d)
	}
	f.inner(v.Inner)
	if filled(v.Error) {
		f.nested(v.Error, depth+1)
	}
}

// detail takes one of Google's details: how long to wait, or a reason, which says more than the outer code does.
func (f *Fault) detail(raw json.RawMessage) {
	var info struct {
		Delay  str `json:"retryDelay"`
		Reason str `json:"reason"`
	}
	if decode(raw, &info) != nil {
		return
	}
	if wait, err := time.ParseDuration(string(info.Delay)); err == nil && wait > 0 {
		f.RetryDelay = wait
	}
	if classOf(string(info.Reason)) != ClassUndefined {
		f.Code = string(info.Reason)
	}
}

// inner takes the code of an inner error where it says more than the outer one's: Azure puts a blocked prompt there.
func (f *Fault) inner(raw json.RawMessage) {
	var v struct {
		Code str `json:"code"`
	}
	if !filled(raw) || decode(raw, &v) != nil {
		return
	}
	outer := classOf(f.Code)
	if said := classOf(string(v.Code)); said != ClassUndefined && (outer == ClassUndefined || outer == ClassBad) {
		f.Code = string(v.Code)
	}
}

// classify asks the code, then the type, then a message of one word, then the status. A code that repeats the status says
// nothing of its own.
func classify(f Fault) Class {
	word := ""
	if !strings.ContainsAny(f.Message, " \n") {
		word = f.Message
	}
	for _, w := range []string{f.Code, f.Type, word} {
		if c := classOf(w); c != ClassUndefined && !f.repeats(w) {
			return c
		}
	}
	return classOfStatus(f.Status)
}

// Word returns the code, or the type where there is no code or it only repeats a status.
func (f *Fault) Word() string {
	if f.Type != "" && (f.Code == "" || f.repeats(f.Code)) {
		return f.Type
	}
	return f.Code
}

// repeats reports whether a word is an HTTP status.
func (f *Fault) repeats(word string) bool {
	n := str(word).number()
	return n >= 100 && n < 600
}

func classOfStatus(status int) Class {
	switch {
	case status == 401 || status == 403:
		return ClassAuth
	case status == 402:
		return ClassQuota
	case status == 404:
		return ClassNotFound
	case status == 400 || status == 422:
		return ClassBad
	case status == 429:
		return ClassLimited
	case status == 529:
		return ClassOverload
	case status >= 500 && status < 600:
		return ClassServer
	}
	return ClassUndefined
}

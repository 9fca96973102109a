package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/post"
)

// robotAnswer reads the code and text that a robot's answer carries under these names. Robots answer 200 to what they do
// not take.
func robotAnswer(body []byte, codeKeys, textKeys []string) (code int, text string, err error) {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return 0, "", odd(body)
	}
	for _, k := range codeKeys {
		if n, ok := fields[k].(float64); ok {
			for _, t := range textKeys {
				if s, ok := fields[t].(string); ok && text == "" {
					text = s
				}
			}
			return int(n), text, nil
		}
	}
	return 0, "", odd(body)
}

// odd is an answer that is not the robot's: it may have been taken or not.
func odd(body []byte) error {
	return &alert.SendError{Code: "odd answer", Retryable: true, Lost: true, Fix: "check that the URL is the robot's own and the proxy leads there",
		Err: post.Request{}.Quote(body)}
}

// refusal is what follows from a code of a robot: kept with the fix, unless waiting cures it.
func refusal(code int, text, fix string) *alert.SendError {
	return &alert.SendError{Code: fmt.Sprint("code ", code), Fix: fix, Err: post.Request{}.Quote([]byte(text))}
}

func limited(code int, text string) *alert.SendError {
	e := refusal(code, text, "")
	e.Retryable, e.Limited, e.RetryAfter = true, true, time.Minute
	return e
}

func passing(code int, text string) *alert.SendError {
	e := refusal(code, text, "")
	e.Retryable = true
	return e
}

// answerFeishu: code 0, or in older robots StatusCode 0.
func answerFeishu(body []byte) error {
	code, text, err := robotAnswer(body, []string{"code", "StatusCode"}, []string{"msg", "StatusMessage"})
	switch {
	case err != nil || code == 0:
		return err
	case code == 11232 || code == 99991400 || strings.Contains(text, "frequency"):
		return limited(code, text)
	case code == 19021:
		return refusal(code, text, "check secret_env and this machine's clock: the robot refuses the signature")
	case code == 19022:
		return refusal(code, text, "add this machine's address to the robot's list of allowed addresses")
	case code == 19024:
		return refusal(code, text, "add a word that every message holds, such as serin, to the robot's keywords")
	case code == 19001:
		return refusal(code, text, "copy the webhook's URL again")
	case code == 19003 || code >= 50000 && code < 60000:
		return passing(code, text)
	}
	return refusal(code, text, "look the code up in Feishu's guide to custom bots")
}

// answerDingTalk: errcode 0.
func answerDingTalk(body []byte) error {
	code, text, err := robotAnswer(body, []string{"errcode"}, []string{"errmsg"})
	switch {
	case err != nil || code == 0:
		return err
	case code == 410100 || code == 130101 || code == 660026:
		return limited(code, text)
	case code == -1 || code == 430104:
		return passing(code, text)
	case code == 310000:
		return refusal(code, text, "the robot's security setting refuses it: check secret_env and the clock, the keywords (serin is in every message) and the addresses")
	case code == 300001 || code == 300005 || code == 40035:
		return refusal(code, text, "copy the webhook's URL again")
	}
	return refusal(code, text, "look the code up in DingTalk's guide to custom robots")
}

// answerWeCom: errcode 0.
func answerWeCom(body []byte) error {
	code, text, err := robotAnswer(body, []string{"errcode"}, []string{"errmsg"})
	switch {
	case err != nil || code == 0:
		return err
	case code == 45009 || code == 45033:
		return limited(code, text)
	case code == -1:
		return passing(code, text)
	case code == 93000 || code == 93008 || code == 93017:
		return refusal(code, text, "copy the webhook's URL again: this robot is not in its group any more")
	}
	return refusal(code, text, "look the code up in WeCom's list of error codes")
}

// answerTelegram: ok true.
func answerTelegram(body []byte) error {
	var a struct {
		OK *bool `json:"ok"`
	}
	if json.Unmarshal(body, &a) != nil || a.OK == nil {
		return odd(body)
	}
	if !*a.OK {
		return &alert.SendError{Code: "not ok", Fix: "look at what Telegram says", Err: post.Request{}.Quote(body)}
	}
	return nil
}

// telegramRefusal adds the fix to what Telegram refused with a status.
func telegramRefusal(err error) error {
	e, ok := errors.AsType[*alert.SendError](err)
	if !ok || e.Retryable {
		return err
	}
	fixes := map[string]string{
		"http 400": "check chat_id: a number, or @name of a public channel; the bot must have been added to it",
		"http 401": "make a new token with @BotFather and put it where the config reads it",
		"http 403": "add the bot to the chat and let it write",
		"http 404": "the bot token is not one: copy it from @BotFather",
	}
	if fix := fixes[e.Code]; fix != "" {
		e.Fix = fix
	}
	return e
}

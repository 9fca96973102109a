package slack

import (
	"time"

	"serin/alert"
)

// What to do about Slack's words, where a person can do something.
const (
	fixInvite  = "invite the bot to the channel (/invite @name), or give the app the scope chat:write.public"
	fixChannel = "check the channel in the config: its id (C…) is surest, and a private channel needs the bot inside"
	fixToken   = "make a new bot token (xoxb-…) on the app's page and put it where the config reads it"
	fixScope   = "add the scope chat:write to the app and reinstall it"
	fixHook    = "make a new webhook on the app's page and put its URL where the config reads it"
	fixAdmin   = "a workspace admin must allow the app to post here"
	fixArchive = "unarchive the channel or name another one"
	fixForm    = "report this: Slack refuses the form of the message"
)

// fixes lists the words of refusals that waiting does not cure, with the fix.
func fixes() map[string]string {
	return map[string]string{
		"channel_not_found": fixChannel, "not_in_channel": fixInvite, "is_archived": fixArchive, "channel_is_archived": fixArchive,
		"invalid_auth": fixToken, "not_authed": fixToken, "account_inactive": fixToken, "token_revoked": fixToken, "token_expired": fixToken,
		"invalid_token": fixHook, "no_service": fixHook, "no_service_id": fixHook, "no_team": fixHook, "no_active_hooks": fixHook, "user_not_found": fixHook,
		"missing_scope": fixScope, "no_permission": fixScope, "not_allowed_token_type": fixToken, "ekm_access_denied": fixAdmin,
		"restricted_action": fixAdmin, "restricted_action_read_only_channel": fixAdmin, "restricted_action_thread_only_channel": fixAdmin,
		"restricted_action_non_threadable_channel": fixAdmin, "restricted_action_thread_locked": fixAdmin, "action_prohibited": fixAdmin,
		"posting_to_general_channel_denied": fixAdmin, "team_access_not_granted": fixAdmin, "access_denied": fixAdmin, "enterprise_is_restricted": fixAdmin,
		"org_login_required": fixAdmin, "team_disabled": fixAdmin, "message_limit_exceeded": fixAdmin, "two_factor_setup_required": fixAdmin,
		"msg_too_long": fixForm, "invalid_blocks": fixForm, "invalid_blocks_format": fixForm, "invalid_payload": fixForm, "no_text": fixForm,
		"invalid_arguments": fixForm, "invalid_form_data": fixForm, "block_mismatch": fixForm, "msg_blocks_too_long": fixForm, "invalid_attachments": fixForm,
		"too_many_attachments": fixForm,
		"message_not_found":    "", "cant_update_message": "", "edit_window_closed": "", "is_inactive": "", "thread_not_found": "",
		"method_deprecated": "update serin", "deprecated_endpoint": "update serin", "unknown_method": "check api_url",
	}
}

// cured reports whether waiting cures a word. A fault inside Slack may come after the message was taken.
func cured(word string) bool {
	switch word {
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org", "rollup_error", "external_channel_migrating":
		return true
	}
	return false
}

// known reports whether a text is one of Slack's words and not, say, a proxy's page.
func known(word string) bool {
	_, ok := fixes()[word]
	return ok || cured(word) || rateWord(word)
}

func rateWord(word string) bool {
	return word == "ratelimited" || word == "rate_limited" || word == "rate_limit_exceeded"
}

// refusal is what follows from a word of Slack. A word that is not known is kept and tried again after a reload.
func refusal(word string) *alert.SendError {
	switch {
	case rateWord(word):
		return limited(0)
	case cured(word):
		return &alert.SendError{Code: word, Retryable: true, Lost: true}
	case word == "":
		return &alert.SendError{Code: "refused without a word", Retryable: true}
	}
	return &alert.SendError{Code: cut(alert.Clean(word), 60), Fix: fixes()[word]}
}

// limited is the wish to wait; 0 = it was not said how long.
func limited(wait time.Duration) *alert.SendError {
	return &alert.SendError{Code: "ratelimited", Retryable: true, Limited: true, RetryAfter: wait}
}

package slack

import (
	"context"
	"errors"

	api "github.com/slack-go/slack"

	"serin/alert"
)

// bot talks to Slack's Web API with one token.
type bot struct {
	api  *api.Client
	doer *doer
}

// post sends a new message, into a thread where thread is not "". What Slack refuses for its form is sent once more as
// plain text.
func (b *bot) post(ctx context.Context, room, thread string, p payload, more ...api.MsgOption) (alert.Receipt, error) {
	receipt, err := b.postOnce(ctx, room, thread, p, more)
	if badForm(err) && p.blocks != nil {
		return b.postOnce(ctx, room, thread, p.plain(), more)
	}
	return receipt, err
}

func (b *bot) postOnce(ctx context.Context, room, thread string, p payload, more []api.MsgOption) (alert.Receipt, error) {
	options := append(p.options(), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl())
	options = append(options, more...)
	if thread != "" {
		options = append(options, api.MsgOptionTS(thread))
	}
	id, ts, err := b.api.PostMessageContext(ctx, room, options...)
	if err != nil {
		return alert.Receipt{}, b.doer.classify(err)
	}
	if ts == "" {
		return alert.Receipt{}, &alert.SendError{Code: "no ts in the answer", Retryable: true, Lost: true}
	}
	return alert.Receipt{Channel: id, TS: ts}, nil
}

// edit replaces a message.
func (b *bot) edit(ctx context.Context, at alert.Receipt, p payload) error {
	err := b.editOnce(ctx, at, p)
	if badForm(err) && p.blocks != nil {
		return b.editOnce(ctx, at, p.plain())
	}
	return err
}

func (b *bot) editOnce(ctx context.Context, at alert.Receipt, p payload) error {
	options := p.options()
	if p.blocks == nil {
		options = append(options, api.MsgOptionBlocks()) // takes the old blocks away
	}
	if _, _, _, err := b.api.UpdateMessageContext(ctx, at.Channel, at.TS, options...); err != nil {
		return b.doer.classify(err)
	}
	return nil
}

// update edits the opening. One that somebody deleted, or that may not be edited any more, stays as it is: what
// matters comes as a thread line as well.
func (b *bot) update(ctx context.Context, open alert.Receipt, m alert.Message) error {
	if err := b.edit(ctx, open, whole(m, "")); err != nil && !uneditable(err) {
		return err
	}
	return nil
}

// reopen edits the opening back to what fires, and says so in its thread and, by that, in the channel too. The receipt stays
// the opening's.
func (b *bot) reopen(ctx context.Context, open alert.Receipt, m alert.Message, who string) (alert.Receipt, error) {
	if err := b.update(ctx, open, m); err != nil {
		return alert.Receipt{}, err
	}
	if _, err := b.reply(ctx, open, ending(m, who), api.MsgOptionBroadcast()); err != nil {
		return alert.Receipt{}, err
	}
	return open, nil
}

// resolve edits the opening to RESOLVED and says so in its thread. Where the opening cannot be edited any more the end
// is a whole message: in the thread, or of its own where the opening is gone. The receipt stays the opening's.
func (b *bot) resolve(ctx context.Context, open alert.Receipt, m alert.Message) (alert.Receipt, error) {
	err := b.edit(ctx, open, whole(m, ""))
	switch {
	case err == nil:
		_, err = b.reply(ctx, open, ending(m, ""))
	case gone(err):
		_, err = b.post(ctx, open.Channel, "", whole(m, ""))
	case uneditable(err):
		_, err = b.reply(ctx, open, whole(m, ""))
	}
	if err != nil {
		return alert.Receipt{}, err
	}
	return open, nil
}

// reply adds a line to the thread of the opening; where that is gone it is a message of its own.
func (b *bot) reply(ctx context.Context, open alert.Receipt, p payload, more ...api.MsgOption) (alert.Receipt, error) {
	receipt, err := b.post(ctx, open.Channel, open.TS, p, more...)
	if gone(err) {
		return b.post(ctx, open.Channel, "", p)
	}
	return receipt, err
}

// code returns the word of a refusal, "" for none.
func code(err error) string {
	if e, ok := errors.AsType[*alert.SendError](err); ok {
		return e.Code
	}
	return ""
}

// badForm reports whether plain text may be taken where this was not.
func badForm(err error) bool {
	switch code(err) {
	case "invalid_blocks", "invalid_blocks_format", "block_mismatch", "msg_too_long", "msg_blocks_too_long", "invalid_attachments", "invalid_payload":
		return true
	}
	return false
}

// gone reports whether the message that was to be edited is not there.
func gone(err error) bool {
	return code(err) == "message_not_found" || code(err) == "thread_not_found"
}

// uneditable reports whether a message can never be edited again.
func uneditable(err error) bool {
	switch code(err) {
	case "message_not_found", "cant_update_message", "edit_window_closed", "is_inactive":
		return true
	}
	return false
}

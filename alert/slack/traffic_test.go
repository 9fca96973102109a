package slack

import (
	"testing"

	"serin/alert"
	"serin/alert/slack/slacktest"
)

// traffic sends a message as act and returns all text that reached Slack, blocks decoded.
func traffic(t *testing.T, c *Channel, calls func() []slacktest.Call, act alert.Act, m alert.Message) string {
	t.Helper()
	var open alert.Receipt
	if act != alert.ActOpen && c.bot() {
		var err error
		if open, err = c.Send(t.Context(), alert.Notice{Act: alert.ActOpen, Message: m}, alert.Receipt{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Send(t.Context(), alert.Notice{Act: act, Message: m}, open); err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, call := range calls() {
		all += call.Text + "\n"
		if call.Blocks != nil {
			for _, b := range blocksOf(t, call) {
				all += b + "\n"
			}
		}
	}
	return all
}

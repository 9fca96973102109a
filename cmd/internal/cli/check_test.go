package cli

import (
	"io"
	"strings"
	"testing"
)

func TestFlagsOfCheck(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--max-tokens", "0"}, "--max-tokens is 0, it must be 1 or more"},
		{[]string{"--max-tokens=-3"}, "--max-tokens is -3, it must be 1 or more"},
		{[]string{"--stall-timeout", "0s"}, "--stall-timeout is 0s, it must be longer than nothing"},
		{[]string{"--total-timeout=-1s"}, "--total-timeout is -1s"},
		{[]string{"-n", "0"}, "-n is 0"},
		{[]string{"--protocol", "foo"}, `--protocol "foo" is unknown; use one of: openai-chat`},
		{[]string{"--model", ""}, "--model is missing; name the model as the endpoint does: --model "},
		{[]string{"--api-key-env", "NO_SUCH"}, "--api-key-env environment variable NO_SUCH is not set"},
		{[]string{"--base-url", "http://127.0.0.1:9/v1/chat/completions"}, "--base-url "},
	} {
		var errs strings.Builder
		args := append([]string{"check", "--base-url", "http://127.0.0.1:9/v1", "--model", "m"}, c.args...)
		code := Run(t.Context(), Options{Args: args, Stdout: io.Discard, Stderr: &errs})
		got := errs.String()
		if code != ExitUsage || !strings.Contains(got, c.want) || strings.Contains(got, "target[") || strings.Contains(got, "base_url") {
			t.Errorf("%v: exit %d, %s", c.args, code, got)
		}
	}
}

// Command serin monitors LLM endpoints with canary prompts.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"serin/cmd/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE) // a reader that has had enough is an error of the write, not our death
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	code := cli.Run(ctx, cli.Options{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Reload: reload})
	stop()
	os.Exit(code)
}

// Package app is the program: one file a subcommand, and the wiring of prober, scheduler, engine, store, channels,
// metrics and HTTP.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"syscall"

	"github.com/alecthomas/kong"

	"serin/cmd/internal/daemon"
)

// Exit codes.
const (
	ExitOK       = 0
	ExitBad      = 1 // the answer is bad: a probe failed
	ExitUsage    = 2 // usage or config error
	ExitInternal = 3
)

// Options are what the process gives the program.
type Options struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Reload <-chan os.Signal // SIGHUP; nil = none
}

// exitError carries an exit code beside its cause.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// fail returns err with an exit code.
func fail(code int, err error) error { return &exitError{code: code, err: err} }

// errQuiet ends with a code and no further word: everything was said.
var errQuiet = errors.New("said already")

// Run parses the arguments, runs the command and returns the exit code. It prints errors to o.Stderr.
func Run(ctx context.Context, o Options) int {
	log.SetOutput(io.Discard) // a command has nowhere to put what Go's own packages say
	cmd, err := parse(o)
	if err != nil {
		return report(o.Stderr, err)
	}
	if cmd == nil { // help was asked for and given
		return ExitOK
	}
	return report(o.Stderr, cmd.Run(ctx, o))
}

func report(w io.Writer, err error) int {
	if err == nil {
		return ExitOK
	}
	if errors.Is(err, syscall.EPIPE) { // whoever read our output has had enough
		return ExitOK
	}
	code := ExitInternal
	if e, ok := errors.AsType[*exitError](err); ok {
		code = e.code
	}
	if _, ok := errors.AsType[*daemon.StartError](err); ok {
		code = ExitUsage
	}
	if !errors.Is(err, errQuiet) {
		_, _ = fmt.Fprintln(w, "serin:", err)
	}
	return code
}

// command is one subcommand, its flags filled in.
type command interface {
	Run(ctx context.Context, o Options) error
}

// parse returns the command that the arguments ask for; nil when they asked for help.
func parse(o Options) (command, error) {
	var c commands
	helped := false
	p, err := kong.New(&c, kong.Name("serin"), kong.Description(about), kong.Writers(o.Stdout, o.Stderr),
		kong.Exit(func(int) { helped = true }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		return nil, fmt.Errorf("build command line: %w", err)
	}
	args := o.Args
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := p.Parse(args)
	if helped {
		return nil, nil
	}
	if err != nil {
		return nil, fail(ExitUsage, fmt.Errorf("%w (%s)", err, whereHelpIs(err)))
	}
	cmd, ok := k.Selected().Target.Addr().Interface().(command)
	if !ok {
		return nil, fmt.Errorf("command %q has no Run", k.Command())
	}
	return cmd, nil
}

// whereHelpIs names the help of the command that could not be parsed, or that of the program.
func whereHelpIs(err error) string {
	if p, ok := errors.AsType[*kong.ParseError](err); ok && p.Context != nil {
		if node := p.Context.Selected(); node != nil {
			return node.FullPath() + " --help shows its arguments and an example"
		}
	}
	return "serin --help lists the commands"
}

// Package cli is the command line: each command with its flags and help, and the client that asks the running daemon over its
// control socket. What a command does beyond that lives in the room that owns it.
package cli

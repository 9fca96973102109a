package app

import (
	"errors"
	"fmt"
	"strings"

	"serin/configs"
)

// configError returns nil where a config can be used, else an error with one line a mistake.
func configError(problems []configs.Problem) error {
	if !configs.HasErrors(problems) {
		return nil
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return errors.New("the config cannot be used:\n  " + strings.Join(lines, "\n  "))
}

// maxMistakes is how many mistakes of a config a message shows.
const maxMistakes = 5

// mistakes are the errors of a config for a message, one each; warnings kept nothing from being taken.
func mistakes(problems []configs.Problem) []string {
	var lines []string
	for _, p := range problems {
		if p.Severity == configs.Error {
			lines = append(lines, p.String())
		}
	}
	if more := len(lines) - maxMistakes; more > 0 {
		lines = append(lines[:maxMistakes], fmt.Sprintf("and %d more: serin validate shows every one", more))
	}
	return lines
}

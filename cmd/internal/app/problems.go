package app

import (
	"errors"
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

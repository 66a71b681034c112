package programs

import (
	"slices"
	"strings"
)

// OnlyCommands reports whether what a program finds on its standard input is nothing but
// commands.
func OnlyCommands(name string, ws []Word) bool {
	operands := 0
	for _, w := range ws[1:] {
		if w.Kind != Exact || !strings.HasPrefix(w.Text, "-") {
			operands++
		}
	}
	has := func(flags ...string) bool {
		return slices.ContainsFunc(ws[1:], func(w Word) bool { return slices.Contains(flags, w.Text) })
	}
	switch name {
	case "at", "batch", "newgrp":
		return true
	case "crontab":
		return !has("-l", "-r", "-e", "-i")
	case "parallel", "sem":
		return operands == 0 || has("::::")
	case "su", "runuser":
		return !slices.ContainsFunc(ws[1:], func(w Word) bool {
			return strings.HasPrefix(w.Text, "-c") || strings.HasPrefix(w.Text, "--command")
		})
	case "sudo", "doas":
		return operands == 0
	case "ssh", "mosh", "rsh":
		return operands == 1
	}
	return false
}

package op

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxGoal bounds the condition of a goal, in characters.
const MaxGoal = 500

// A GoalDo is what becomes of a goal.
type GoalDo string

// What can be done with a goal that is set.
const (
	PauseGoal  GoalDo = "pause"
	ResumeGoal GoalDo = "resume"
	ClearGoal  GoalDo = "clear"
)

// goalUsage says what can stand behind /goal.
const goalUsage = "/goal go test ./... passes; --turns N, --tokens 500k and --usd N before the condition bound it"

// goal reads what stands behind /goal: pause, resume, clear, or bounds and a condition.
func goal(args string) (Op, error) {
	o := Goal{Typed: true}
	switch do, _, _ := strings.Cut(args, " "); do {
	case "pause", "resume", "clear":
		rest := strings.TrimSpace(strings.TrimPrefix(args, do))
		if do != "resume" && rest != "" {
			break // a condition that begins so
		}
		o.Do, args = GoalDo(do), rest
	}
	for strings.HasPrefix(args, "--") {
		flag, rest, _ := strings.Cut(args, " ")
		name, value, joined := strings.Cut(flag, "=")
		if !joined {
			value, rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
		}
		if err := o.bound(name, value); err != nil {
			return nil, err
		}
		args = strings.TrimSpace(rest)
	}
	if o.Do == ResumeGoal && args != "" { // a condition that begins so
		o.Do, args = "", "resume "+args
	}
	o.Condition = args
	if o.Do == "" {
		if err := o.Check(); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// bound takes one of the flags that bound a goal.
func (o *Goal) bound(name, value string) (err error) {
	switch name {
	case "--turns":
		o.Turns, err = strconv.Atoi(value)
		if err != nil || o.Turns < 1 {
			return errors.New("--turns takes a number of turns: --turns 20")
		}
	case "--usd":
		o.USD, err = strconv.ParseFloat(strings.TrimPrefix(value, "$"), 64)
		if err != nil || !(o.USD > 0 && o.USD < 1e6) {
			return errors.New("--usd takes an amount of dollars: --usd 2.50")
		}
	case "--tokens":
		unit := 1.0
		switch {
		case strings.HasSuffix(value, "k"):
			unit = 1e3
		case strings.HasSuffix(value, "m"):
			unit = 1e6
		}
		n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSuffix(value, "k"), "m"), 64)
		if err != nil || !(n*unit >= 1 && n*unit <= 1e12) {
			return errors.New("--tokens takes a number of tokens: --tokens 500k")
		}
		o.Tokens = int(n * unit)
	default:
		return fmt.Errorf("a goal has no bound %q: there are --turns, --tokens and --usd", name)
	}
	return nil
}

// Check says what is wrong with the condition of a goal that is to be set.
func (o Goal) Check() error {
	n := utf8.RuneCountInString(o.Condition)
	switch {
	case strings.TrimSpace(o.Condition) == "":
		return errors.New("say what is to be so: " + goalUsage)
	case n > MaxGoal:
		return fmt.Errorf("the condition has %d characters, at most %d: put what is long into a file, and name that", n, MaxGoal)
	case o.Turns < 0 || o.Tokens < 0 || o.USD < 0:
		return errors.New("a bound of a goal is not negative")
	}
	return nil
}

// goaled says what became of the goal.
func goaled(args string) string {
	switch args {
	case "pause":
		return "the goal is paused: /goal resume goes on with it"
	case "clear":
		return "the goal is cleared"
	}
	return ""
}

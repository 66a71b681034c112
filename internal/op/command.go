package op

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Command is a word after "/".
type Command struct {
	Name  string
	Args  string // a hint for what follows; "" takes nothing
	About string
	// Make is what it asks of the session, from what follows the name; an error says what
	// is missing. nil: it is a front end's own, which does not offer it where it has no
	// such thing.
	Make func(args string) (Op, error)
	// Done says what became of it when the session took it.
	Done func(args string) string
}

// Commands are adze's own.
func Commands() []Command {
	return []Command{
		{Name: "help", About: "keys and commands"},
		{Name: "exit", About: "leave adze"},
		{Name: "clear", About: "begin a new session"},
		{Name: "mode", Args: "[name]", About: "choose the permission mode"},
		{Name: "plan", Args: "[what]", About: "plan mode: only look, then ask for approval"},
		{Name: "effort", Args: "[default|none|low|medium|high|xhigh|max]", About: "how hard the model thinks"},
		{Name: "btw", Args: "<question>", About: "ask on the side, also while the model works; nothing of it enters the conversation"},
		{Name: "compact", Args: "[focus|--from|--up-to|--undo]", About: "summarize the conversation, or a part of it", Make: compact, Done: compacted},
		{Name: "goal", Args: "[condition | pause | resume | clear]", About: "work until a condition is met; alone, show how it stands", Make: goal, Done: goaled},
		{Name: "rename", Args: "<title>", About: "title the session", Make: rename, Done: renamed},
		{Name: "copy", Args: "[N]", About: "copy the last answer, or an earlier one: 2 is the one before it"},
		{Name: "context", About: "what fills the model's window"},
		{Name: "cost", About: "what the session cost"},
		{Name: "status", About: "session, model, settings"},
		{Name: "tasks", About: "what runs in the background"},
		{Name: "workflows", About: "runs of workflows, with their agents"},
		{Name: "bashes", About: "what runs in the background"},
		{Name: "todos", About: "show or hide the todo list"},
		{Name: "rewind", Args: "[undo]", About: "go back to before a prompt: conversation, code or both"},
		{Name: "diff", Args: "[file]", About: "what the session changed"},
		{Name: "transcript", Args: "[all]", About: "all that was said and done, nothing folded"},
		{Name: "vim", About: "vim keys on or off"},
		{Name: "model", Args: "[name]", About: "choose the model"},
		{Name: "resume", Args: "[words]", About: "go on with another session"},
		{Name: "fork", About: "go on in a copy of this session"},
		{Name: "hooks", About: "the hooks that are set, and what they did"},
		{Name: "memory", About: "edit a memory file"},
		{Name: "theme", Args: "[name]", About: "choose the colours"},
	}
}

func rename(title string) (Op, error) {
	if title == "" {
		return nil, errors.New("give a title: /rename the new parser")
	}
	return Rename{Title: title}, nil
}

func renamed(title string) string { return "the session is now “" + title + "”" }

func compact(args string) (Op, error) {
	var o Compact
	for {
		word, rest, _ := strings.Cut(args, " ")
		rest = strings.TrimSpace(rest)
		switch word {
		case "--undo":
			if rest != "" || o != (Compact{}) {
				return nil, errors.New("--undo stands alone: /compact --undo")
			}
			return Compact{Undo: true}, nil
		case "--from", "--up-to":
			n, more, _ := strings.Cut(rest, " ")
			if i, err := strconv.Atoi(n); err != nil || i < 1 {
				return nil, fmt.Errorf("%s takes a number: 1 is your newest prompt, 2 the one before it", word)
			}
			if word == "--from" {
				o.From = n
			} else {
				o.UpTo = n
			}
			args = strings.TrimSpace(more)
		default:
			o.Focus = args
			return o, nil
		}
	}
}

func compacted(args string) string {
	if args == "--undo" {
		return ""
	}
	return "the conversation is being compacted"
}

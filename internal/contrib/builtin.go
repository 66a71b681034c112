package contrib

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/op"
)

// Commands are adze's own.
func Commands() []Command {
	return []Command{
		{"help", "", "keys and commands", View{}},
		{"exit", "", "leave adze", View{}},
		{"clear", "", "begin a new session", View{}},
		{"mode", "[name]", "choose the permission mode", View{}},
		{"plan", "[what]", "plan mode: only look, then ask for approval", View{}},
		{"effort", "[default|none|low|medium|high|xhigh|max]", "how hard the model thinks", View{}},
		{"btw", "<question>", "ask on the side, also while the model works; nothing of it enters the conversation", View{}},
		{"compact", "[focus|--from|--up-to|--undo]", "summarize the conversation, or a part of it", compact()},
		{"rename", "<title>", "title the session", rename()},
		{"copy", "[N]", "copy the last answer, or an earlier one: 2 is the one before it", View{}},
		{"context", "", "what fills the model's window", View{}},
		{"cost", "", "what the session cost", View{}},
		{"status", "", "session, model, settings", View{}},
		{"tasks", "", "what runs in the background", View{}},
		{"bashes", "", "what runs in the background", View{}},
		{"todos", "", "show or hide the todo list", View{}},
		{"rewind", "[undo]", "go back to before a prompt: conversation, code or both", View{}},
		{"diff", "[file]", "what the session changed", View{}},
		{"transcript", "[all]", "all that was said and done, nothing folded", View{}},
		{"vim", "", "vim keys on or off", View{}},
		{"model", "[name]", "choose the model", View{}},
		{"resume", "[words]", "go on with another session", View{}},
		{"fork", "", "go on in a copy of this session", View{}},
		{"hooks", "", "the hooks that are set, and what they did", View{}},
		{"memory", "", "edit a memory file", View{}},
		{"theme", "[name]", "choose the colours", View{}},
	}
}

func rename() Op {
	return Op{
		Make: func(title string) (op.Op, error) {
			if title == "" {
				return nil, errors.New("give a title: /rename the new parser")
			}
			return op.Rename{Title: title}, nil
		},
		Done: func(title string) string { return "the session is now “" + title + "”" },
	}
}

func compact() Op {
	return Op{
		Make: func(args string) (op.Op, error) {
			var o op.Compact
			for {
				word, rest, _ := strings.Cut(args, " ")
				rest = strings.TrimSpace(rest)
				switch word {
				case "--undo":
					if rest != "" || o != (op.Compact{}) {
						return nil, errors.New("--undo stands alone: /compact --undo")
					}
					return op.Compact{Undo: true}, nil
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
		},
		Done: func(args string) string {
			if args == "--undo" {
				return ""
			}
			return "the conversation is being compacted"
		},
	}
}

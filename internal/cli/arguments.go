package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A belongs says whether a word behind a flag that takes several values is one more.
type belongs int

const (
	doubtful belongs = iota // it may be either: the person says it
	ofFlag                  // one more value
	ofPrompt                // the prompt
)

// several is what tells whether one more word is a value of a flag, nil for a flag that does not
// take several values, each a word of its own.
func several(flag string) func(word string) belongs {
	switch flag {
	case "allowed-tools", "disallowed-tools", "tools":
		return toolOrPrompt
	case "add-dir":
		return folderOrPrompt
	case "mcp-config":
		return serversOrPrompt
	case "betas":
		return betaOrPrompt
	}
	return nil
}

// arrange writes a command line as the flag library reads it: one flag for each of several
// values, and a value where a flag has one only sometimes. Values end at the next flag, at
// "--", and where a word is no value; once there is a prompt, each word is a value, so that
// none becomes a part of it. Where a word may be either, the error says how to tell. A word that begins with "-" and is
// prose, such as an item of a list, is a prompt, and goes behind a "--" with what follows of it.
func arrange(root *cobra.Command, args []string) ([]string, error) {
	a := arranger{root: root, fs: root.PersistentFlags()}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" && len(a.prose) > 0 {
			a.prose = append(a.prose, args[i+1:]...)
			break
		}
		if args[i] == "--" || a.command != "" {
			a.out = append(a.out, args[i:]...)
			break
		}
		n, err := a.take(args[i:])
		if err != nil {
			return nil, err
		}
		i += n - 1
	}
	out := choosing(a.out)
	if len(a.prose) > 0 {
		out = append(append(out, "--"), a.prose...)
	}
	return out, nil
}

type arranger struct {
	root    *cobra.Command
	fs      *pflag.FlagSet
	out     []string
	prose   []string // a prompt that begins with "-", and what follows of it
	prompt  bool     // a word of it was there
	command string   // the one that the line is for
}

// take arranges the first of args with what belongs to it, and returns how many these are.
func (a *arranger) take(args []string) (int, error) {
	word := args[0]
	if a.isProse(word) || len(a.prose) > 0 && (word == "" || word[0] != '-') {
		a.prose, a.prompt = append(a.prose, word), true
		return 1, nil
	}
	if len(word) < 2 || word[0] != '-' {
		if !a.prompt && slices.Contains(commandNames(a.root), word) {
			a.command = word
		}
		a.prompt = a.prompt || a.command == ""
		a.out = append(a.out, word)
		return 1, nil
	}
	fl, inside := a.flag(word)
	switch {
	case fl == nil || inside || len(args) == 1:
	case several(fl.Name) != nil:
		return a.list(fl, args)
	case fl.NoOptDefVal != "" && sometimes(fl.Name, args[1]):
		a.out = append(a.out, "--"+fl.Name+"="+args[1])
		return 2, nil
	case fl.NoOptDefVal == "":
		a.out = append(a.out, args[:2]...)
		return 2, nil
	}
	a.out = append(a.out, word)
	return 1, nil
}

// isProse reports whether a word that begins with "-" is no flag: there is white space in it before anything
// that could be a flag's value.
func (a *arranger) isProse(word string) bool {
	space := strings.IndexFunc(word, unicode.IsSpace)
	if space < 1 || word[0] != '-' || strings.Contains(word[:space], "=") {
		return false
	}
	fl, _ := a.flag(word)
	return fl == nil
}

// flag is the flag that a word is, nil when there is none; of several in one word, the last.
// inside: its value is in the word.
func (a *arranger) flag(word string) (fl *pflag.Flag, inside bool) {
	if name, ok := strings.CutPrefix(word, "--"); ok {
		name, _, inside = strings.Cut(name, "=")
		return a.fs.Lookup(name), inside
	}
	for i := 1; i < len(word) && word[i] < 0x80; i++ {
		if fl = a.fs.ShorthandLookup(word[i : i+1]); fl == nil || fl.NoOptDefVal == "" {
			return fl, i+1 < len(word)
		}
	}
	return fl, false
}

// list takes the values of a flag that has several. The first is one, whatever it is.
func (a *arranger) list(fl *pflag.Flag, args []string) (int, error) {
	n := 1
	for ; n < len(args) && (n == 1 || len(args[n]) == 0 || args[n][0] != '-'); n++ {
		word := args[n]
		is := ofFlag
		if n > 1 && !a.prompt {
			if is = several(fl.Name)(word); is == doubtful && slices.Contains(commandNames(a.root), word) {
				break
			}
		}
		if is == doubtful {
			return 0, usagef(fmt.Sprintf("put -- before the prompt: -- %s; or give the values in one word: --%s=A,B", hint.Shell(word), fl.Name),
				"%q stands behind --%s: it may be one more value of it, or the prompt", clip.Line(word, 80), fl.Name)
		}
		if is == ofPrompt {
			break
		}
		a.out = append(a.out, "--"+fl.Name+"="+word)
	}
	return n, nil
}

// toolOrPrompt: a list of tools and rules is a value, plain words are the prompt.
func toolOrPrompt(word string) belongs {
	pieces := policy.SplitList(word)
	tools, odd := 0, 0
	for _, p := range pieces {
		name, _, rule := strings.Cut(p, "(")
		switch {
		case policy.Known(name) || name == "default":
			tools++
		case rule && strings.HasSuffix(p, ")") || unicode.IsUpper(rune(p[0])) && toolName().MatchString(p), near.Hint(p, policy.Tools()) != "":
			odd++ // a tool that is misspelt, or how a sentence begins
		default:
			return ofPrompt
		}
	}
	if odd > 0 {
		return doubtful
	}
	return ofFlag
}

var (
	toolName = pattern.Lazy(`^[A-Za-z][A-Za-z_]*$`)
	betaName = pattern.Lazy(`^[a-z0-9]+(-[a-z0-9]+)*-[0-9]{4}-[0-9]{2}-[0-9]{2}(,|$)`)
)

func folderOrPrompt(word string) belongs {
	if info, err := os.Stat(word); err == nil && info.IsDir() {
		return ofFlag
	}
	return sentence(word)
}

func serversOrPrompt(word string) belongs {
	_, err := os.Stat(word)
	if err == nil || strings.HasPrefix(strings.TrimSpace(word), "{") || strings.HasSuffix(word, ".json") {
		return ofFlag
	}
	return sentence(word)
}

func betaOrPrompt(word string) belongs {
	if betaName().MatchString(word) {
		return ofFlag
	}
	return sentence(word)
}

// sentence: what has blanks is a prompt.
func sentence(word string) belongs {
	if strings.ContainsFunc(word, unicode.IsSpace) {
		return ofPrompt
	}
	return doubtful
}

var worktreeName = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// sometimes reports whether a word is the value of a flag that has one only sometimes. Any
// other word is the prompt.
func sometimes(flag, word string) bool {
	switch flag {
	case "debug":
		return !slices.ContainsFunc(strings.Split(word, ","), func(x string) bool {
			return x != "all" && !slices.Contains(app.DebugAreas, x)
		})
	case "worktree": // a prompt is more than one word
		return worktreeName().MatchString(word)
	case "prompt-suggestions":
		return slices.Contains([]string{"true", "false", "on", "off", "1", "0"}, word)
	}
	return false
}

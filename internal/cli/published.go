package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

// A publishedFlag is one of Claude Code's that has no meaning here
// (code.claude.com/docs/en/cli-reference and its --help, 2026-11).
type publishedFlag struct {
	name  string
	takes valueKind
	// why refuses it: what it asks for is not here, and a run without it would be another one.
	// Without a reason it is accepted, and ignored with the words.
	why, words string
}

// A valueKind says how many values a flag has.
type valueKind int

const (
	noValue valueKind = iota
	oneValue
	maybeValue
)

var publishedFlags = []publishedFlag{
	{name: "ide", words: "no editor is looked for"},
	{name: "chrome", words: "this version drives no browser"},
	{name: "no-chrome", words: "this version drives no browser"},
	{name: "brief", words: "answers are as the prompt and the output style ask"},
	{name: "enable-auto-mode", words: "--permission-mode auto begins in it"},
	{name: "exclude-dynamic-system-prompt-sections", words: "what changes stands behind what a provider keeps in any case"},
	{name: "forward-subagent-text", words: "a host asks for the words of agents in initialize (forwardSubagentText)"},
	{name: "system-prompt-snapshot", takes: oneValue, words: "a session keeps what it was told of where it is, and instructions of a later start count"},
	{name: "autocompact", takes: oneValue, words: "a conversation is summarized where its model's window ends"},
	{name: "append-subagent-system-prompt", takes: oneValue, words: "the instructions of an agent are those of its definition"},
	{name: "remote-control-session-name-prefix", takes: oneValue, words: "no session is controlled from elsewhere"},
	{name: "advisor", takes: oneValue, words: "no second model is asked"},
	{name: "teammate-mode", takes: oneValue, words: "agents work in the process of their session; adze attach AGENT shows one in a pane"},

	{name: "safe-mode", why: "leaves out every kind of extension at once; --bare --setting-sources= --disable-slash-commands --strict-mcp-config leave out what a project and servers bring"},
	{name: "restricted", why: "has a mode of its own there; --permission-mode plan only reads"},
	{name: "file", takes: oneValue, why: "fetches files before the session; put them into a folder, and name it with --add-dir"},
	{name: "plugin-url", takes: oneValue, why: "fetches a plugin; unpack it, and name its folder with --plugin-dir"},
	{name: "bg", why: "has the session run without a terminal; start adze -p in the background of your shell"},
	{name: "background", why: "has the session run without a terminal; start adze -p in the background of your shell"},
	{name: "tmux", why: "opens a pane beside the session; start adze --worktree in a pane that you open"},
	{name: "cloud", takes: maybeValue, why: "runs the session on the vendor's machines; adze runs here"},
	{name: "remote", takes: maybeValue, why: "runs the session on the vendor's machines; adze runs here"},
	{name: "environment", takes: oneValue, why: "chooses one of the vendor's machines; adze runs here"},
	{name: "teleport", takes: maybeValue, why: "takes a session over from the vendor's machines; adze import takes those of this one"},
	{name: "remote-control", takes: maybeValue, why: "has the session controlled from elsewhere, which this version cannot"},
	{name: "from-pr", takes: maybeValue, why: "finds a session by a pull request; adze --resume finds one by its title or words"},
	{name: "await-claim", why: "parks a process before its session is known (prewarm() of the SDK); query() and startup() begin one that is"},
	{name: "channels", takes: oneValue, why: "has servers write into the session, which this version does not let them"},
}

// givenNothing is the value of a flag without the one that it may have.
const givenNothing = "\x00"

func addPublished(fs *pflag.FlagSet) {
	for _, p := range publishedFlags {
		switch p.takes {
		case noValue:
			fs.Bool(p.name, false, p.words)
		case oneValue:
			fs.StringArray(p.name, nil, p.words)
		case maybeValue:
			fs.String(p.name, "", p.words)
			fs.Lookup(p.name).NoOptDefVal = givenNothing
		}
		_ = fs.MarkHidden(p.name) // they are there for programs; --help is for people
	}
}

// checkPublished refuses those without which a run would be another one.
func checkPublished(fs *pflag.FlagSet) error {
	for _, p := range publishedFlags {
		if p.why != "" && fs.Changed(p.name) && fs.Lookup(p.name).Value.String() != "false" {
			return usagef("leave it out", "--%s is not in this version of adze: it %s", p.name, p.why)
		}
	}
	return nil
}

// ignoredPublished says which of the flags that were given do nothing here.
func ignoredPublished(fs *pflag.FlagSet) (out []string) {
	for _, p := range publishedFlags {
		if p.why == "" && fs.Changed(p.name) {
			out = append(out, fmt.Sprintf("ignored --%s: %s", p.name, p.words))
		}
	}
	return out
}

// otherNames are further names of flags, by the name that is read.
var otherNames = map[string]string{"allowed": "allowed-tools", "disallowed": "disallowed-tools", "ax-screen-reader": "plain"}

package cli

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/text/clip"
)

// clientFlags are flags that published clients of the print protocol pass.
// They are known here with the meaning they have there; what has none here
// and does no harm is ignored, and --debug says so.
type clientFlags struct {
	mayBypass   bool   // the session may be switched to bypassPermissions
	noSession   bool   // --no-session
	thinking    string // adaptive, enabled, disabled
	maxThinking int
	debugFile   string // --debug --log-file
	debugErr    bool   // --debug
	mcpDebug    bool   // --debug=mcp
	resumeAt    string
	prompts     string // who answers questions: host or none

	betas []string // values of the header anthropic-beta
	next  string   // whether the next prompt is suggested

	// Without a meaning here: the
	// first line of a stream is always waited for, and no
	// shown forms of reasoning or budgets of tasks are sent on.
	hookEvents, await bool
	display           string
	taskBudget        int
	unused            []string // members of an initialize
	foreign           []string // words on published flags that were given
}

func (c *clientFlags) add(fs *pflag.FlagSet) {
	fs.BoolVar(&c.mayBypass, "allow-dangerously-skip-permissions", false, "the session may be switched to the mode bypassPermissions")
	fs.BoolVar(&c.noSession, "no-session-persistence", false, "the same as --no-session")
	fs.StringVar(&c.thinking, "thinking", "", "adaptive, enabled or disabled")
	fs.IntVar(&c.maxThinking, "max-thinking-tokens", 0, "the same as --effort with a number")
	fs.StringVar(&c.debugFile, "debug-file", "", "the same as --debug with --log-file")
	fs.BoolVar(&c.debugErr, "debug-to-stderr", false, "the same as --debug")
	fs.BoolVar(&c.mcpDebug, "mcp-debug", false, "the same as --debug=mcp")
	fs.StringVar(&c.resumeAt, "resume-session-at", "", "with --resume: go on from this message, in a copy")
	fs.StringVar(&c.prompts, "permission-prompts", "", "who answers questions: host or none")
	fs.BoolVar(&c.hookEvents, "include-hook-events", false, "lines about hooks")
	fs.StringVar(&c.next, "prompt-suggestions", "", "a line after each turn with what may be said next")
	fs.Lookup("prompt-suggestions").NoOptDefVal = "true"
	fs.BoolVar(&c.await, "await-initialize", false, "wait for the first line of the input")
	fs.StringSliceVar(&c.betas, "betas", nil, "further beta features of Anthropic's API")
	fs.StringVar(&c.display, "thinking-display", "", "how reasoning is shown")
	fs.IntVar(&c.taskBudget, "task-budget", 0, "tokens for the whole task")
	for _, name := range clientNames() {
		_ = fs.MarkHidden(name) // they are there for programs; --help is for people
	}
}

func clientNames() []string {
	return []string{
		"allow-dangerously-skip-permissions", "no-session-persistence", "thinking", "max-thinking-tokens", "debug-file", "debug-to-stderr", "mcp-debug",
		"resume-session-at", "permission-prompts", "include-hook-events", "prompt-suggestions", "await-initialize", "betas", "thinking-display", "task-budget",
	}
}

// check finds values that cannot be meant.
func (c *clientFlags) check(f *runFlags) error {
	for _, x := range []struct {
		flag, value string
		allowed     []string
	}{{"thinking", c.thinking, []string{"", "adaptive", "enabled", "disabled"}}, {"permission-prompts", c.prompts, []string{"", "host", "none"}}, {"prompt-suggestions", c.next, []string{"", "true", "on", "1", "false", "off", "0"}}} {
		if err := oneOf(x.flag, x.value, x.allowed); err != nil {
			return err
		}
	}
	switch {
	case c.maxThinking < 0:
		return usagef("give a number of tokens", "--max-thinking-tokens cannot be %d", c.maxThinking)
	case c.resumeAt != "" && f.resume == "":
		return usagef("add --resume with the session", "--resume-session-at needs a session to go on with")
	}
	return nil
}

// apply gives the flags their meaning.
func (c *clientFlags) apply(f *runFlags) {
	f.noSession = f.noSession || c.noSession
	if c.debugFile != "" && f.logFile == "" {
		f.logFile = c.debugFile
	}
	if f.debug == "" && (c.debugErr || f.logFile != "") {
		f.debug = "all"
	}
	if f.debug == "" && c.mcpDebug {
		f.debug = "mcp"
	}
	if c.prompts == "none" {
		f.asker = ""
	}
}

// given are those that are settings under another name.
func (c *clientFlags) given(fs *pflag.FlagSet) []config.Given {
	switch asked := fs.Changed("max-thinking-tokens"); {
	case c.thinking == "disabled":
		return []config.Given{{Key: "effort", From: "--thinking", Value: "none"}}
	case !asked || fs.Changed("effort"):
		return nil
	case c.maxThinking == 0:
		return []config.Given{{Key: "effort", From: "--max-thinking-tokens", Value: "none"}}
	}
	return []config.Given{{Key: "effort", From: "--max-thinking-tokens", Value: strconv.Itoa(c.maxThinking)}}
}

// ignored says which of the flags that were given do nothing here.
func (c *clientFlags) ignored() (out []string) {
	for _, x := range []struct {
		given bool
		text  string
	}{
		{c.display != "", "--thinking-display=" + c.display + ": reasoning comes as the provider gives it"},
		{c.taskBudget != 0, "--task-budget: no provider is told of a budget; --max-budget-usd and --token-budget are limits"},
	} {
		if x.given {
			out = append(out, "ignored "+x.text)
		}
	}
	out = append(out, c.foreign...)
	for _, name := range c.unused {
		out = append(out, "ignored the member "+clip.Line(clip.Visible(name), 100)+" of initialize: it means nothing here")
	}
	return out
}

// suggests reports whether a host wants to be told what may be said next.
func (c *clientFlags) suggests() bool { return c.next == "true" || c.next == "on" || c.next == "1" }

package cli

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/tui"
)

var (
	//go:embed terminal.md
	terminalHelp string
	//go:embed release-notes.md
	releaseNotes string
)

// reports are the slash commands that are answered in text. What is not done here, the desk
// answers.
func (h *uiHost) reports() map[string]tui.Report {
	here := func(string) bool { return true }
	const spent = "what sessions of all folders cost"
	const period = "[--days N] [--by model|project|day|tool|agent]"
	return map[string]tui.Report{
		"doctor":         {About: "what adze found here, and what is broken"},
		"permissions":    {About: "the mode and the rules; what was allowed is taken back here", Args: "[check COMMAND | add RULE | rm RULE | list]"},
		"config":         {About: "all settings, and where each comes from", Args: "[set KEY VALUE]"},
		"sandbox":        {About: "what confines commands", Args: "[explain]"},
		"plugin":         {About: "plugins that are active", Args: "[list …]"},
		"schedules":      {About: "prompts that come by themselves", Args: "[delete ID]"},
		"stats":          {About: spent, Args: period},
		"usage":          {About: spent, Args: period},
		"skills":         {About: "skills and commands, and who brings them"},
		"agents":         {About: "definitions of agents: try, edit, begin and turn off"},
		"mcp":            h.mcp(),
		"output-style":   {About: "how the model answers, from the next session on", Args: "[name]", Picks: true},
		"add-dir":        {About: "let a further folder be read, and changed as this one may be", Args: "[--keep] [folder]"},
		"export":         {About: "write the session to a file: Markdown, or by its ending a page (.html) or all of it (.jsonl)", Args: "[file]"},
		"statusline":     {About: "a command of yours that prints the last lines", Args: "[command | off]", Looks: true},
		"bug":            {About: "what to say when something is wrong with adze"},
		"release-notes":  {About: "what this version can do"},
		"terminal-setup": {About: "how to get the most of this terminal"},
		"keybindings":    {About: "edit your keys", Here: here, Looks: true, Run: h.machine.EditKeys},
		"login":          {About: "save a provider's key", Args: "[provider]", Picks: true, Check: h.providerNamed(h.keyed), Here: here, Run: h.interactive("login")},
		"logout":         {About: "forget a provider's key", Args: "[provider]", Picks: true, Check: h.providerNamed(h.keysSaved), Here: here, Run: h.interactive("logout")},
	}
}

// shows are the commands of adze that slash commands without anything behind them stand for.
var shows = map[string][]string{
	"permissions": {"permissions", "list"}, "config": {"config", "list"}, "sandbox": {"sandbox", "explain"}, "plugin": {"plugin", "list"}, "hooks": {"hooks", "list"},
	"stats": {"stats"}, "usage": {"stats"}, "doctor": {"doctor"},
}

// report answers for the desk what is a command of adze, or a text that comes with it.
func (h *uiHost) report(ctx context.Context, session string, q ask.Report) (string, error) {
	switch q.Name {
	case "export":
		return h.export(ctx, session, q.Args)
	case "release-notes":
		return "**adze " + h.sys.Version + "**\n\n" + releaseNotes, nil
	case "terminal-setup":
		return terminalHelp, nil
	}
	words, ok := shows[q.Name]
	if !ok {
		return "", &op.Refusal{Code: op.Unsupported, Text: "/" + q.Name + " needs the terminal that adze runs in"}
	}
	if r, open := h.desk.Session(session); open && q.Name == "doctor" { // it looks at the model of the session
		words, q.Args = append(slices.Clip(words), "--model", r.Target().ID()), ""
	}
	return h.subcommand(ctx, session, words, q.Args)
}

// choices are what can stand behind a slash command that is a command of adze.
func (h *uiHost) choices(ctx context.Context, q ask.Pick) ([]ask.Choice, error) {
	switch q.Name {
	case "login":
		return h.keyed(ctx)
	case "logout":
		return h.keysSaved(ctx)
	}
	return nil, nil
}

// own starts adze itself with a command.
func (h *uiHost) own(ctx context.Context, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Env, c.Dir = h.o.Environ, h.o.Dir
	return c, nil
}

// reportMargin is how much narrower text stands in a report than the terminal.
const reportMargin = 4

// argumentsOf splits what was typed behind a command. A permission rule is one
// argument, and so is the command that is to be judged.
func argumentsOf(command, args string) []string {
	if command != "permissions" {
		return strings.Fields(args)
	}
	if verb, rest, _ := strings.Cut(args, " "); verb == "check" && rest != "" && !strings.HasPrefix(strings.TrimSpace(rest), "-") {
		return []string{verb, strings.TrimSpace(rest)}
	}
	depth := 0
	return strings.FieldsFunc(args, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ' ' && depth <= 0
	})
}

// providerNamed looks whether what stands behind /login or /logout names a provider.
func (h *uiHost) providerNamed(list func(context.Context) ([]ask.Choice, error)) func(context.Context, string) error {
	return func(ctx context.Context, args string) error {
		if all, err := list(ctx); err == nil && slices.ContainsFunc(all, func(c ask.Choice) bool { return c.ID == args }) {
			return nil
		}
		p, cfg, err := h.desk.Loaded()
		if err != nil {
			return err
		}
		ms, err := h.o.Models(p.Folders, cfg, !h.o.Print, nil)
		if err != nil {
			return err
		}
		_, err = keyed(ms.Chooser, strings.Fields(args), "/login lists all")
		return err
	}
}

// interactive runs a command of adze in the terminal.
func (h *uiHost) interactive(name string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, args string) (string, error) {
		return "", h.inTerminal(ctx, "adze "+name, append([]string{name}, strings.Fields(args)...)...)
	}
}

// inTerminal runs a command of adze in the terminal, which errors call what.
func (h *uiHost) inTerminal(ctx context.Context, what string, args ...string) error {
	c, err := h.own(ctx, args...)
	if err != nil {
		return err
	}
	c.Stdin, c.Stdout, c.Stderr = h.sys.Stdin, h.sys.Stdout.File, h.sys.Stdout.File
	err = c.Run()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && failed.ExitCode() == exitInterrupted:
		return fmt.Errorf("%s was interrupted", what)
	case errors.As(err, &failed):
		return &endedError{what, failed.ExitCode()}
	}
	return err
}

// An endedError is that a command of adze failed, which said why where it ran.
type endedError struct {
	what string
	code int
}

func (e *endedError) Error() string { return fmt.Sprintf("%s ended with %d", e.what, e.code) }

// keyed are the providers that a key can be saved for.
func (h *uiHost) keyed(context.Context) ([]ask.Choice, error) {
	p, cfg, err := h.desk.Loaded()
	if err != nil {
		return nil, err
	}
	ms, err := h.o.Models(p.Folders, cfg, !h.o.Print, nil)
	if err != nil {
		return nil, err
	}
	saved, err := keys(h.sys, p).List()
	if err != nil {
		return nil, err
	}
	var out []ask.Choice
	for _, k := range ms.Chooser.Keyed() {
		c := ask.Choice{ID: k.Name, Name: k.Name}
		if i := slices.IndexFunc(k.Vars, func(v string) bool { return strings.HasSuffix(v, "_API_KEY") }); i >= 0 { // others are for tokens
			c.About = "or the variable " + k.Vars[i]
		}
		if slices.ContainsFunc(saved, func(s auth.Saved) bool { return s.Provider == k.Name }) {
			c.Right = "a key is saved"
		}
		out = append(out, c)
	}
	return out, nil
}

// keysSaved are the providers that a key is saved for.
func (h *uiHost) keysSaved(context.Context) (out []ask.Choice, err error) {
	p, _, err := h.desk.Loaded()
	if err != nil {
		return nil, err
	}
	saved, err := keys(h.sys, p).List()
	if err == nil && len(saved) == 0 {
		err = errors.New("no key is saved; keys of the environment are not adze's to forget")
	}
	for _, s := range saved {
		out = append(out, ask.Choice{ID: s.Provider, Name: s.Provider})
	}
	return out, err
}

// export writes the session to a new file of the working folder.
func (h *uiHost) export(ctx context.Context, session, args string) (string, error) {
	s, ok := h.desk.Session(session)
	if !ok || !s.Kept {
		return "", errors.New("this session is not kept on disk")
	}
	if p, _, err := h.desk.Loaded(); err == nil && !sessions.In(p.State).Has(s.ID) {
		return "", hint.With(errors.New("there is nothing to export yet"), "the session begins with the first prompt")
	}
	file := paths.Absolute(h.o.Dir, h.o.Home, cmp.Or(args, "adze-"+s.ID[:8]+".md"))
	format, err := exportFormat(file)
	if err != nil {
		return "", err
	}
	if _, err := h.command(ctx, session, "export", s.ID, "--format", format, "--output", file); err != nil {
		f := sorted(err)
		here := strings.NewReplacer("-o "+file, paths.Tilde(file, h.o.Home))
		return "", hint.With(errors.New(here.Replace(f.cause)), here.Replace(f.hint))
	}
	return "Written to `" + paths.Tilde(file, h.o.Home) + "`.", nil
}

// exportFormat is the format that the ending of a file asks for: Markdown without one.
func exportFormat(file string) (string, error) {
	switch end := strings.ToLower(filepath.Ext(file)); end {
	case "", ".md", ".markdown":
		return "md", nil
	case ".html", ".htm":
		return "html", nil
	case ".json", ".jsonl":
		return end[1:], nil
	}
	return "", hint.With(fmt.Errorf("no session can be written as %q", filepath.Ext(file)), "the endings are .md, .html, .json and .jsonl")
}

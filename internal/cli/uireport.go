package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/tui"
)

var (
	//go:embed terminal.md
	terminalHelp string
	//go:embed release-notes.md
	releaseNotes string
)

// A uiReport is a slash command of the terminal UI that is answered in text.
type uiReport struct {
	about, args string
	looks       bool                                                                     // it may have changed settings of the UI
	choose      func(ctx context.Context) ([]ask.Choice, error)                          // nil: nothing has to be chosen
	here        func(args string) bool                                                   // it needs the terminal for itself; nil: never
	check       func(ctx context.Context, args string) error                             // what is wrong with the arguments, before it gets that
	run         func(ctx context.Context, session, args string) (text string, err error) // session is "" where none is open
}

// shown is the report as the terminal UI offers it.
func (r uiReport) shown() tui.Report {
	return tui.Report{
		About: r.about, Args: r.args, Looks: r.looks, Picks: r.choose != nil, Here: r.here, Check: r.check,
		Run: func(ctx context.Context, args string) (string, error) { return r.run(ctx, "", args) },
	}
}

// shown are the reports as the terminal UI offers them.
func (h *uiHost) shown() map[string]tui.Report {
	out := map[string]tui.Report{}
	for name, r := range h.reports() {
		out[name] = r.shown()
	}
	return out
}

// reports are the slash commands that are commands of the command line, too.
func (h *uiHost) reports() map[string]uiReport {
	out := map[string]uiReport{
		"doctor":      {about: "what adze found here, and what is broken", run: h.doctor},
		"permissions": {about: "the mode and the rules; what was allowed is taken back here", args: "[check COMMAND | add RULE | rm RULE | list]", run: h.subcommand("permissions", "list")},
		"config":      {about: "all settings, and where each comes from", args: "[set KEY VALUE]", run: h.subcommand("config", "list")},
		"sandbox":     {about: "what confines commands", args: "[explain]", run: h.subcommand("sandbox", "explain")},
		"add-dir":     {about: "let a further folder be read, and changed as this one may be", args: "[--keep] [folder]", run: h.addDir},
		"bug":         {about: "what to say when something is wrong with adze", run: h.bug},
		"release-notes": {about: "what this version can do", run: func(context.Context, string, string) (string, error) {
			return "**adze " + h.sys.Version + "**\n\n" + releaseNotes, nil
		}},
		"stats":       {about: "what sessions of all folders cost", args: "[--days N] [--by model|project|day|tool|agent]", run: h.subcommand("stats")},
		"usage":       {about: "what sessions of all folders cost", args: "[--days N] [--by model|project|day|tool|agent]", run: h.subcommand("stats")},
		"login":       {about: "save a provider's key", args: "[provider]", check: h.providerNamed(h.keyed), here: always, choose: h.keyed, run: h.interactive("login")},
		"logout":      {about: "forget a provider's key", args: "[provider]", check: h.providerNamed(h.keysSaved), here: always, choose: h.keysSaved, run: h.interactive("logout")},
		"export":      {about: "write the session to a file: Markdown, or by its ending a page (.html) or all of it (.jsonl)", args: "[file]", run: h.export},
		"keybindings": {about: "edit your keys", here: always, looks: true, run: h.keybindings},
		"statusline":  {about: "a command of yours that prints the last lines", args: "[command | off]", looks: true, run: h.setStatusLine},
		"terminal-setup": {about: "how to get the most of this terminal", run: func(context.Context, string, string) (string, error) {
			return terminalHelp, nil
		}},
	}
	maps.Copy(out, h.extensions())
	return out
}

// always is the Away of a report that needs the terminal whatever it is asked.
func always(string) bool { return true }

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

// doctor looks at what there is, for the model of the session.
func (h *uiHost) doctor(ctx context.Context, session, _ string) (string, error) {
	words := []string{"doctor"}
	if r, ok := h.desk.Session(session); ok {
		words = append(words, "--model", r.Target().ID())
	}
	return h.subcommand(words...)(ctx, session, "")
}

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
		p, cfg, err := h.loaded()
		if err != nil {
			return err
		}
		ms, err := h.o.models(p, cfg)
		if err != nil {
			return err
		}
		_, err = keyed(ms.Chooser, strings.Fields(args), "/login lists all")
		return err
	}
}

// interactive runs a command of adze in the terminal.
func (h *uiHost) interactive(name string) func(context.Context, string, string) (string, error) {
	return func(ctx context.Context, _ string, args string) (string, error) {
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
	p, cfg, err := h.loaded()
	if err != nil {
		return nil, err
	}
	ms, err := h.o.models(p, cfg)
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
	p, _, err := h.loaded()
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
	if p, _, err := h.loaded(); err == nil && !sessions.In(p.State).Has(s.ID) {
		return "", hint.With(errors.New("there is nothing to export yet"), "the session begins with the first prompt")
	}
	file := paths.Absolute(h.o.Dir, h.o.Home, first(args, "adze-"+s.ID[:8]+".md"))
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

func (h *uiHost) keybindings(ctx context.Context, _ string, _ string) (string, error) {
	path := filepath.Join(h.configDir(), keysFile)
	made, err := beginKeys(path)
	if err != nil {
		return "", err
	}
	err = h.editFile(ctx, path)
	if made != nil {
		if now, serr := os.Lstat(path); serr == nil && os.SameFile(now, made) && now.ModTime().Equal(made.ModTime()) {
			_ = os.Remove(path) // nothing was written: there are no keys of this person's own
			return "The keys stay as they were.", err
		}
	}
	if err != nil {
		return "", err
	}
	if _, wrong := h.keys(); len(wrong) > 0 {
		return clip.Fenced(strings.Join(wrong, "\n")), nil
	}
	return "The keys count now.", nil
}

// beginKeys makes the file of a person's own keys with all that there are, and
// returns it; nil where there is one already.
func beginKeys(path string) (fs.FileInfo, error) {
	if exists(path) {
		return nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := safe.Make(root, safe.File{Name: filepath.Base(path), Text: []byte(keymap.Template(keyTerminal)), Mode: 0o600}); err != nil {
		return nil, err
	}
	return root.Lstat(filepath.Base(path))
}

func (h *uiHost) setStatusLine(ctx context.Context, _ string, args string) (string, error) {
	if args == "" {
		return "Your command gets JSON on stdin (model, window, cost, folder) and prints the last lines, up to three:\n\n    /statusline jq -r '.model.display_name + \" in \" + .workspace.current_dir'\n\nIt is kept in your own settings as `statusLine.command`; `/statusline off` takes it away.", nil
	}
	p, _, err := h.loaded()
	if err != nil {
		return "", err
	}
	if args == "off" {
		if w := h.desk.Place(); w != nil {
			if line, _ := w.MCP().StatusLine(); line != nil { // a plugin's would be in its place
				return "", h.desk.WriteOwn(ctx, "statusLine.command", "")
			}
		}
		t, _ := p.File("user")
		return "", h.desk.Write(ctx, p, t, confedit.Edit{Op: confedit.Unset, Key: "statusLine"})
	}
	return "", errors.Join(h.desk.WriteOwn(ctx, "statusLine.type", "command"), h.desk.WriteOwn(ctx, "statusLine.command", args))
}

// addDir has a further folder count as this one does, from the next call on: until
// adze ends, or with --keep in this folder from now on.
func (h *uiHost) addDir(ctx context.Context, _ string, args string) (string, error) {
	p, cfg, err := h.loaded()
	if err != nil {
		return "", err
	}
	if args == "" {
		text := "No further folder is in use. `/add-dir ../lib` adds one until adze ends, `/add-dir --keep ../lib` for good."
		if len(cfg.Permissions.Dirs) > 0 {
			text = "In use beside this folder:\n\n"
		}
		for _, d := range cfg.Permissions.Dirs {
			text += "- `" + d.Text + "` (" + d.Origin.String() + ")\n"
		}
		return text, nil
	}
	name, keep := strings.CutPrefix(args, "--keep ")
	dir, err := settings.Folder(p, strings.TrimSpace(name), "/add-dir")
	if err != nil {
		return "", err
	}
	if !keep {
		w := h.desk.Place()
		if w == nil {
			return "", errors.New("there is no session yet")
		}
		w.Give(settings.AsDir(dir, "/add-dir"))
		return "`" + paths.Tilde(dir, p.Home) + "` can be used as this folder is, until adze ends. `/add-dir --keep " + strings.TrimSpace(name) + "` keeps that.", nil
	}
	t, e, err := settings.AddDir(p, "local", dir)
	if err != nil {
		return "", err
	}
	if err := h.desk.Write(ctx, p, t, e); err != nil {
		return "", err
	}
	return "`" + paths.Tilde(dir, p.Home) + "` can be used as this folder is. That is kept in `" + paths.Tilde(t.Path, p.Home) + "`; taken out there, it ends at once.", nil
}

// bug says where to tell of a fault, and what to send along.
func (h *uiHost) bug(_ context.Context, session, _ string) (string, error) {
	var b strings.Builder
	b.WriteString("Tell of it at <https://github.com/adze-agent/adze/issues>: what you did, what came, what you expected. adze sends nothing by itself.\n\n")
	fmt.Fprintf(&b, "- adze %s, %s/%s, TERM=%s", h.sys.Version, runtime.GOOS, runtime.GOARCH, h.o.Env("TERM"))
	if name := h.o.Env("TERM_PROGRAM"); name != "" {
		fmt.Fprintf(&b, " (%s)", name)
	}
	b.WriteString("\n- what `adze doctor` prints\n")
	if s, ok := h.desk.Session(session); ok && s.Kept {
		fmt.Fprintf(&b, "- the session, when you may show it: `adze export %s --format jsonl` (known keys are masked; read it before you send it)\n", s.ID)
	}
	return b.String(), nil
}

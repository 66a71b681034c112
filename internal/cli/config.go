package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/doctor"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
)

func newConfig(sys System, f *runFlags) *cobra.Command {
	return group("config", "Show and change settings",
		configList(sys, f), configGet(sys, f), configSet(sys, f), configUnset(sys, f), configPath(sys, f),
		configCheck(sys, f), configEdit(sys, f), configDescribe(sys),
		&cobra.Command{Use: "schema", Short: "Print the JSON Schema of a settings file", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(sys.Stdout, "%s\n", config.Schema())
			return err
		}})
}

// loadSettings loads the settings as a run here would see them.
func loadSettings(sys System, f *runFlags, cmd *cobra.Command) (settings.Paths, *config.Config, error) {
	_, p, cfg, err := f.loaded(sys, cmd)
	return p, cfg, err
}

func configList(sys System, f *runFlags) *cobra.Command {
	all := false
	c := answering(sys, &cobra.Command{
		Use: "list", Short: "List settings and where each comes from", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		_, cfg, err := loadSettings(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		list := slices.DeleteFunc(desk.ShownSettings(cfg), func(s config.Setting) bool { return !all && string(s.Value) == "null" })
		return listing[config.Setting]{rows: list, whole: 1, row: func(t *table, s config.Setting) {
			t.row(s.Key, string(s.Value), s.Origin.String())
		}}, nil
	})
	c.Flags().BoolVar(&all, "all", false, "unset keys too")
	c.Flags().Bool("origin", true, "where each value comes from (always shown)")
	_ = c.Flags().MarkHidden("origin") // for those who know it from elsewhere
	return c
}

func configGet(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Print one setting", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, cfg, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			s, ok := cfg.Setting(args[0])
			if !ok {
				return unknownKey(args[0])
			}
			s.Value = desk.WithoutKeys(s.Value, secret.New())
			var text string
			if json.Unmarshal(s.Value, &text) == nil {
				fmt.Fprintln(sys.Stdout, clip.VisibleText(text))
				return nil
			}
			fmt.Fprintf(sys.Stdout, "%s\n", clip.VisibleText(string(s.Value)))
			return nil
		},
	}
}

func unknownKey(key string) error {
	hint := "adze config list --all shows them"
	if n := config.Nearest(key); n != "" {
		hint = "did you mean " + n + "? " + hint
	}
	return usagef(hint, "there is no setting %q", key)
}

func configSet(sys System, f *runFlags) *cobra.Command {
	return scoped("", "user", "which file: user, project or local", &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting in a file", Args: cobra.ExactArgs(2),
		Long: "set writes a value into a settings file and keeps its comments, order and unknown keys.\nVALUE is JSON, or plain text where the setting is text; lists of texts may be written\na,b,c, lists of folders as in PATH (a:b), and lists of objects are JSON. A VALUE that\nbegins with - stands behind --. adze config describe KEY says what a setting takes.",
		RunE: func(cmd *cobra.Command, args []string) error {
			key, ok := config.Canonical(args[0])
			if !ok {
				return unknownKey(args[0])
			}
			v, err := config.Parse(key, args[1])
			if err != nil {
				return usagef(takesHint(key), "%v", err)
			}
			if p := config.CheckValue(key, v); p != nil && p.Severity == config.Error {
				return usagef(takesHint(key), "%s", p)
			}
			return writeSetting(cmd, sys, f, confedit.Edit{Op: confedit.Set, Key: key, Value: v})
		},
	})
}

func configUnset(sys System, f *runFlags) *cobra.Command {
	return scoped("", "user", "which file: user, project or local", &cobra.Command{
		Use: "unset KEY", Short: "Remove a setting from a file", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, ok := config.Canonical(args[0])
			if !ok {
				return unknownKey(args[0])
			}
			return writeSetting(cmd, sys, f, confedit.Edit{Op: confedit.Unset, Key: key})
		},
	})
}

// settingsFile is the file of a scope.
func settingsFile(p settings.Paths, scope string) (confedit.Target, error) {
	t, ok := p.File(scope)
	if !ok {
		return t, usagef("one of user, project, local", "--scope cannot be %q", scope)
	}
	return t, nil
}

// writeSetting changes the settings file of --scope and says which.
func writeSetting(cmd *cobra.Command, sys System, f *runFlags, edits ...confedit.Edit) error {
	o, p, _, err := f.loaded(sys, cmd)
	if err != nil {
		return err
	}
	t, err := settingsFile(p, scopeOf(cmd))
	if err != nil {
		return err
	}
	if err := removes(t.Path, edits); err != nil {
		return err
	}
	warnings, key, why, err := doctor.Judged(o.Invocation, t.Path, edits)
	if err != nil {
		return err
	}
	if why != "" {
		return usagef(takesHint(key), "not written, because it would not count: %s", why)
	}
	for _, w := range warnings {
		fmt.Fprintf(sys.Stderr, "adze: warning: %s\n", oneLine(w))
	}
	notes, err := settings.Write(cmd.Context(), p, t, edits...)
	if err != nil {
		return failf("adze config check shows what is wrong with it", "change %s: %v", t.Path, err)
	}
	for _, n := range notes {
		fmt.Fprintln(sys.Stderr, "adze: "+oneLine(n))
	}
	fmt.Fprintln(sys.Stderr, "written to "+clip.Visible(t.Path))
	if scopeOf(cmd) != "user" && !trusts(o, t.Path) {
		fmt.Fprintln(sys.Stderr, "adze: this folder is not trusted as it is now: of its files only what forbids counts, until you trust it: adze trust")
	}
	return nil
}

// trusts reports whether a file of the folder's own counts now as it is.
func trusts(o invocation, path string) bool {
	_, cfg, err := o.Quiet().Load()
	return err == nil && !slices.Contains(cfg.Ignored, path)
}

// removes refuses to remove what a file does not have. Whatever else is wrong
// with the file is for the change itself to find.
func removes(path string, edits []confedit.Edit) error {
	text, err := regular.Read(path, config.MaxFile)
	for _, e := range edits {
		if e.Op != confedit.Unset && e.Op != confedit.Drop || err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		after, aerr := confedit.Apply(text, e)
		if aerr != nil || err == nil && !bytes.Equal(after, text) {
			continue
		}
		if e.Op == confedit.Drop {
			return usagef("adze permissions list shows where each rule comes from", "%s has no %s in %s", path, e.Value, e.Key)
		}
		return usagef("adze config list shows where each value comes from", "%s does not set %s", path, e.Key)
	}
	return nil
}

func configPath(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "List the settings files that are looked at", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, cfg, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			return listing[config.File]{rows: cfg.Files, row: func(t *table, file config.File) {
				t.row(string(file.Scope), file.Path, string(file.State))
			}}.print(sys, false)
		},
	}
}

func configCheck(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "check", Short: "Say what is wrong with the settings", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		o, p, cfg, err := f.loaded(sys, cmd)
		if err != nil {
			return nil, err
		}
		problems, err := doctor.Mistakes(o.Invocation, p, cfg)
		if err != nil {
			return nil, openError(cmd.Context(), err)
		}
		problems = append(problems, doctor.Doubts(cfg)...)
		return both{map[string]any{"problems": problems, "files": cfg.Files, "ignored": cfg.Ignored}, func() error { return printMistakes(sys, cfg, problems) }}, nil
	})
}

// printMistakes fails when there are any.
func printMistakes(sys System, cfg *config.Config, problems []config.Problem) error {
	bad := 0
	for _, pr := range problems {
		fmt.Fprintln(sys.Stdout, clip.Visible(pr.String()))
		if pr.Severity == config.Error {
			bad++
		}
	}
	for _, file := range cfg.Files {
		if len(file.NotUsed) > 0 {
			fmt.Fprintln(sys.Stdout, clip.Visible(fmt.Sprintf("%s: adze does not use %s of this file", file.Path, strings.Join(file.NotUsed, ", "))))
		}
	}
	if bad > 0 {
		return &failure{code: exitFailed, cause: "the settings have mistakes", hint: "adze config edit opens the file"}
	}
	if len(problems) == 0 {
		fmt.Fprintln(sys.Stdout, "the settings are fine")
	}
	return nil
}

func configEdit(sys System, f *runFlags) *cobra.Command {
	return scoped("", "user", "which file: user, project or local", &cobra.Command{
		Use: "edit", Short: "Open a settings file in $EDITOR", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			t, err := settingsFile(p, scopeOf(cmd))
			if err != nil {
				return err
			}
			if !sys.InTTY || !sys.OutTTY {
				return usagef("adze config set KEY VALUE changes a setting without one", "an editor needs a terminal; the file is %s", clip.Visible(t.Path))
			}
			editor := strings.Fields(cmp.Or(sys.Env("VISUAL"), sys.Env("EDITOR"), "vi"))
			if _, err := os.Stat(t.Path); errors.Is(err, fs.ErrNotExist) {
				// An empty update makes the file, with the rules that all writes obey.
				if err := (confedit.Editor{}).Rewrite(cmd.Context(), t, func(b []byte) ([]byte, error) { return append(b, "{\n}\n"...), nil }); err != nil {
					return failf("make the folder writable", "make %s: %v", t.Path, err)
				}
			}
			e := exec.CommandContext(cmd.Context(), editor[0], append(editor[1:], t.Path)...)
			e.Stdin, e.Stdout, e.Stderr = sys.Stdin, sys.Stdout.File, sys.Stderr
			if err := cmp.Or(proc.Batch(e.Path, e.Args[1:]), e.Err); err != nil {
				return failf("set EDITOR to an editor that is installed", "run %s: %v", editor[0], err)
			}
			if err := e.Run(); err != nil {
				return failf("set EDITOR to an editor that is installed", "run %s: %v", editor[0], err)
			}
			return nil
		},
	})
}

func printJSON(sys System, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(sys.Stdout, jsonVisible(b.String()))
	return err
}

// jsonVisible writes characters that a screen would obey or hide as JSON
// escapes; they can only stand in strings, and mean the same there.
func jsonVisible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || clip.Visible(string(r)) == string(r) || r == utf8.RuneError {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", u)
		}
	}
	return b.String()
}

package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// Dressed are the settings of the UI, with what lies beside the settings files.
func (m *Machine) Dressed(cfg *config.Config) tui.Settings {
	line, environ := cfg.StatusLine, []string(nil)
	if line == nil {
		if w := m.Extensions(); w != nil {
			line, environ = w.StatusLine()
		}
	}
	s := look(cfg, line)
	s.Keys, s.KeysWrong = m.keys()
	s.Status.Run = m.statusLine(line, environ)
	return s
}

// Look reads the settings of the UI anew.
func (m *Machine) Look(context.Context) (tui.Settings, error) {
	_, cfg, err := m.Fresh()
	if err != nil {
		return tui.Settings{}, err
	}
	return m.Dressed(cfg), nil
}

// themes are the built-in ones, the files of the person's themes folder, and what
// plugins bring, once they are known.
func (m *Machine) themes() []string {
	out := draw.ThemeNames()
	for _, t := range m.themeFiles() {
		out = append(out, t.Name)
	}
	return out
}

func (m *Machine) themeFiles() (out []ext.Theme) {
	found, _ := filepath.Glob(filepath.Join(m.configDir(), "themes", "*.json"))
	for _, f := range found {
		out = append(out, ext.Theme{Name: strings.TrimSuffix(filepath.Base(f), ".json"), File: f})
	}
	if w := m.Extensions(); w != nil {
		out = append(out, w.Themes()...)
	}
	return out
}

func (m *Machine) configDir() string {
	f, err := config.FindFolders(m.Home, m.Env, there)
	if err != nil {
		return filepath.Join(m.Home, ".adze")
	}
	return f.Config
}

// MaxTheme bounds a theme's file, in bytes.
const MaxTheme = 100_000

func (m *Machine) theme(name string, dark bool) (*draw.Theme, error) {
	if t, ok := draw.Named(name, dark); ok {
		return t, nil
	}
	for _, f := range m.themeFiles() {
		if f.Name != name {
			continue
		}
		b, parse := []byte(f.Palette), draw.ParsePalette
		if f.File != "" {
			var err error
			if b, err = regular.Read(f.File, MaxTheme); err != nil {
				return nil, err
			}
			parse = draw.ParseTheme
		}
		t, problems := parse(b)
		if len(problems) > 0 {
			return nil, fmt.Errorf("the theme %s: %v", name, problems[0])
		}
		return t, nil
	}
	return nil, fmt.Errorf("there is no theme %q; there are %s", name, strings.Join(m.themes(), ", "))
}

// KeysFile is the person's own keys, in the folder of their settings.
const KeysFile = "keybindings.json"

// keyTerminal is what is known of the terminal before it is asked.
var keyTerminal = keymap.Terminal{Windows: runtime.GOOS == "windows"}

// Keys are the bindings of a file of keys over the defaults, and what is wrong with them.
func Keys(file []byte) (*keymap.Map, []keymap.Problem) { return keymap.Load(file, keyTerminal) }

// keys are the bindings of keybindings.json over the defaults.
func (m *Machine) keys() (*keymap.Map, []string) {
	path := filepath.Join(m.configDir(), KeysFile)
	b, err := regular.Read(path, config.MaxFile)
	if err != nil {
		return keymap.Default(keyTerminal), nil
	}
	keys, problems := Keys(b)
	var out []string
	for _, p := range problems {
		out = append(out, path+": "+p.String())
	}
	return keys, out
}

// statusLine is the command for the footer, nil without one: the person's, or that of
// a plugin, which has environ besides.
func (m *Machine) statusLine(line *config.StatusLine, environ []string) func(context.Context, []byte) (string, error) {
	if line == nil || strings.TrimSpace(line.Command) == "" {
		return nil
	}
	command := line.Command
	return func(ctx context.Context, stdin []byte) (string, error) {
		shell, err := proc.Shell(m.Env("PATH"), []string{m.Dir})
		if err != nil {
			return "", err
		}
		c := exec.CommandContext(ctx, shell, "-c", command)
		c.Env, c.Dir, c.WaitDelay = proc.Set(proc.Scrub(m.Environ, nil), environ...), m.Dir, time.Second
		c.Stdin = bytes.NewReader(stdin)
		out, err := c.Output()
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			if why, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n"); why != "" {
				err = fmt.Errorf("%w: %s", err, why)
			}
		}
		return string(out[:min(len(out), 4096)]), err
	}
}

// look are the settings of the terminal UI.
func look(cfg *config.Config, line *config.StatusLine) tui.Settings {
	u := cfg.UI
	s := tui.Settings{
		Theme: u.Theme, Vim: u.EditorMode == "vim", ASCII: u.ASCII, Thinking: u.ShowThinking, Fullscreen: u.Fullscreen, Notify: u.Notify, TitleOff: !u.Title,
	}
	if line != nil {
		s.Status.Padding, s.Status.Every = line.Padding, time.Duration(line.RefreshInterval)*time.Second
	}
	return s
}

// EditKeys has a person edit their keys, and says what came of it.
func (m *Machine) EditKeys(ctx context.Context, _ string) (string, error) {
	path := filepath.Join(m.configDir(), KeysFile)
	made, err := beginKeys(path)
	if err != nil {
		return "", err
	}
	err = m.editFile(ctx, path)
	if made != nil {
		if now, serr := os.Lstat(path); serr == nil && os.SameFile(now, made) && now.ModTime().Equal(made.ModTime()) {
			_ = os.Remove(path) // nothing was written: there are no keys of this person's own
			return "The keys stay as they were.", err
		}
	}
	if err != nil {
		return "", err
	}
	if _, wrong := m.keys(); len(wrong) > 0 {
		return clip.Fenced(strings.Join(wrong, "\n")), nil
	}
	return "The keys count now.", nil
}

// beginKeys makes the file of a person's own keys with all that there are, and
// returns it; nil where there is one already.
func beginKeys(path string) (fs.FileInfo, error) {
	if there(path) {
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

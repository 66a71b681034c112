package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/llm/pixels"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// Bounds of what the UI lists and waits for.
const (
	maxFiles    = 200_000
	maxImage    = 20 << 20 // bytes of a picture from the clipboard
	helperLimit = 10 * time.Second
)

// quiet is for what must not speak.
func (h *uiHost) quiet() invocation { return h.o.quiet() }

// loaded are the folders and the settings of the sessions. Before the first one
// they are read for this alone, and nothing is said of them.
func (h *uiHost) loaded() (settings.Paths, *config.Config, error) {
	return h.desk.Loaded()
}

// past are earlier prompts. The file is found when somebody asks for one.
type past struct {
	open func() *history.Past
}

// Entry implements edit.Past.
func (p *past) Entry(i int) (history.Entry, bool) {
	if f := p.open(); f != nil {
		return f.Entry(i)
	}
	return history.Entry{}, false
}

// Renew implements edit.Past.
func (p *past) Renew() {
	if f := p.open(); f != nil {
		f.Renew()
	}
}

func (h *uiHost) withHistory(t *tui.Host) {
	file := sync.OnceValue(func() *history.File {
		p, _, err := h.loaded()
		if err != nil {
			return nil
		}
		return history.At(filepath.Join(p.State, "history.jsonl"), secret.New(secret.Environ(h.o.Environ)...).String)
	})
	of := func(project string) *past {
		return &past{sync.OnceValue(func() *history.Past {
			if f := file(); f != nil {
				return f.Past(project)
			}
			return nil
		})}
	}
	t.Past, t.Everyone = of(h.o.Dir), of("")
	t.Remember = func(e history.Entry) {
		e.Project, e.Time = h.o.Dir, time.Now()
		if f := file(); f != nil && !h.o.spec.Log.None {
			h.work.Go(func() { _ = f.Add(context.Background(), e) }) // ends when it is written; the history is no reason to disturb anybody
		}
	}
}

// dressed are the settings of the UI, with what lies beside the settings files.
func (h *uiHost) dressed(cfg *config.Config) tui.Settings {
	line, environ := cfg.StatusLine, []string(nil)
	if line == nil {
		if w := h.desk.Place(); w != nil {
			line, environ = w.MCP().StatusLine()
		}
	}
	s := look(cfg, line)
	s.Keys, s.KeysWrong = h.keys()
	s.Status.Run = h.statusLine(line, environ)
	return s
}

// look reads the settings of the UI anew.
func (h *uiHost) look(context.Context) (tui.Settings, error) {
	_, cfg, err := h.quiet().load()
	if err != nil {
		return tui.Settings{}, err
	}
	return h.dressed(cfg), nil
}

// themes are the built-in ones, the files of the person's themes folder, and what
// plugins bring, once they are known.
func (h *uiHost) themes() []string {
	out := draw.ThemeNames()
	for _, t := range h.themeFiles() {
		out = append(out, t.Name)
	}
	return out
}

func (h *uiHost) themeFiles() (out []ext.Theme) {
	found, _ := filepath.Glob(filepath.Join(h.configDir(), "themes", "*.json"))
	for _, f := range found {
		out = append(out, ext.Theme{Name: strings.TrimSuffix(filepath.Base(f), ".json"), File: f})
	}
	if w := h.desk.Place(); w != nil {
		out = append(out, w.MCP().Themes()...)
	}
	return out
}

func (h *uiHost) configDir() string {
	f, err := config.FindFolders(h.o.Home, h.o.Env, exists)
	if err != nil {
		return filepath.Join(h.o.Home, ".adze")
	}
	return f.Config
}

// maxTheme bounds a theme's file, in bytes.
const maxTheme = 100_000

func (h *uiHost) theme(name string, dark bool) (*draw.Theme, error) {
	if t, ok := draw.Named(name, dark); ok {
		return t, nil
	}
	for _, f := range h.themeFiles() {
		if f.Name != name {
			continue
		}
		b, parse := []byte(f.Palette), draw.ParsePalette
		if f.File != "" {
			var err error
			if b, err = regular.Read(f.File, maxTheme); err != nil {
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
	return nil, fmt.Errorf("there is no theme %q; there are %s", name, strings.Join(h.themes(), ", "))
}

// keysFile is the person's own keys, in the folder of their settings.
const keysFile = "keybindings.json"

// keyTerminal is what is known of the terminal before it is asked.
var keyTerminal = keymap.Terminal{Windows: runtime.GOOS == "windows"}

// keys are the bindings of keybindings.json over the defaults.
func (h *uiHost) keys() (*keymap.Map, []string) {
	t := keyTerminal
	path := filepath.Join(h.configDir(), keysFile)
	b, err := regular.Read(path, config.MaxFile)
	if err != nil {
		return keymap.Default(t), nil
	}
	m, problems := keymap.Load(b, t)
	var out []string
	for _, p := range problems {
		out = append(out, path+": "+p.String())
	}
	return m, out
}

// editFile opens a file in the person's editor and waits for it.
func (h *uiHost) editFile(ctx context.Context, path string) error {
	editor := first(h.o.Env("VISUAL"), h.o.Env("EDITOR"))
	if editor == "" {
		for _, name := range []string{"nano", "vi"} {
			if found, ok := proc.Lookup(name, h.o.Env("PATH"), []string{h.o.Dir}); ok {
				editor = found
				break
			}
		}
	}
	if editor == "" {
		return errors.New("there is no editor: set EDITOR")
	}
	words := strings.Fields(editor) // "code --wait"
	c := exec.CommandContext(ctx, words[0], append(words[1:], path)...)
	if err := proc.Batch(c.Path, c.Args[1:]); err != nil {
		return err
	}
	c.Env, c.Stdin, c.Stdout, c.Stderr = h.o.Environ, h.sys.Stdin, h.sys.Stdout.File, h.sys.Stdout.File
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	return nil
}

// maxText bounds textOf, in bytes.
const maxText = 1 << 20

// textOf is the text of a file, for people.
func textOf(path string) (string, error) {
	b, err := regular.Read(path, maxText)
	return string(b), err
}

// edit has a text edited in a file of its own.
func (h *uiHost) edit(ctx context.Context, text string) (string, error) {
	dir, err := os.MkdirTemp(h.o.Temp, "adze-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "prompt.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := h.editFile(ctx, path); err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

// helper runs the first of these programs that is there.
func (h *uiHost) helper(ctx context.Context, stdin string, commands ...[]string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, helperLimit)
	defer stop()
	for _, args := range commands {
		path, ok := proc.Lookup(args[0], h.o.Env("PATH"), []string{h.o.Dir})
		if !ok {
			continue
		}
		c := exec.CommandContext(ctx, path, args[1:]...)
		c.Env, c.WaitDelay = h.o.Environ, time.Second
		c.Stdin = strings.NewReader(stdin)
		out, err := c.Output()
		if err == nil {
			return out, nil
		}
	}
	return nil, errors.New("the clipboard cannot be reached from here")
}

// copy puts text into tmux's buffer where adze runs in tmux, because tmux takes what
// programs send to the clipboard only where it is configured to. Elsewhere it puts text
// that was too long to send to the terminal on the clipboard.
func (h *uiHost) copy(ctx context.Context, text string, sent bool) (string, error) {
	if h.o.Env("TMUX") != "" {
		if _, err := h.helper(ctx, text, []string{"tmux", "load-buffer", "-w", "-"}, []string{"tmux", "load-buffer", "-"}); err == nil {
			return "tmux's buffer", nil
		}
	}
	if sent {
		return "", nil
	}
	if _, err := h.helper(ctx, text, []string{"pbcopy"}, []string{"wl-copy"}, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "-ib"}, []string{"clip.exe"}); err != nil {
		return "", err
	}
	return "the clipboard", nil
}

func (h *uiHost) image(ctx context.Context) (op.Image, error) {
	out, err := h.helper(ctx, "", []string{"pngpaste", "-"}, []string{"wl-paste", "-t", "image/png"}, []string{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"})
	switch {
	case err != nil || !bytes.HasPrefix(out, []byte("\x89PNG")):
		return op.Image{}, errors.New("there is no picture on the clipboard")
	case len(out) > maxImage:
		return op.Image{}, errors.New("the picture on the clipboard is too large")
	}
	return op.Image{Media: "image/png", Data: out}, nil
}

// picture is an image file that was dragged here. The session makes it as small
// as the model takes it.
func (h *uiHost) picture(_ context.Context, path string) (op.Image, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return op.Image{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxImage+1))
	if err == nil && len(data) > maxImage {
		err = errors.New("the picture is too large")
	}
	if err != nil {
		return op.Image{}, err
	}
	kind := pixels.Media(data)
	if kind == "" {
		return op.Image{}, errors.New("it is no PNG, JPEG, GIF or WebP image")
	}
	return op.Image{Media: kind, Data: data}, nil
}

// statusLine is the command for the footer, nil without one: the person's, or that of
// a plugin, which has environ besides.
func (h *uiHost) statusLine(line *config.StatusLine, environ []string) func(context.Context, []byte) (string, error) {
	if line == nil || strings.TrimSpace(line.Command) == "" {
		return nil
	}
	command := line.Command
	return func(ctx context.Context, stdin []byte) (string, error) {
		shell, err := proc.Shell(h.o.Env("PATH"), []string{h.o.Dir})
		if err != nil {
			return "", err
		}
		c := exec.CommandContext(ctx, shell, "-c", command)
		c.Env, c.Dir, c.WaitDelay = proc.Set(proc.Scrub(h.o.Environ, nil), environ...), h.o.Dir, time.Second
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

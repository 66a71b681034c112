// Package machine is what the terminal UI has of a person's machine: the editor, the
// clipboard, the browser, and what is kept in files for them alone: keys, themes, earlier
// prompts and what was in the prompt box. It knows no session.
package machine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/llm/pixels"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// Bounds of what the UI reads and waits for.
const (
	maxImage    = 20 << 20 // bytes of a picture from the clipboard
	helperLimit = 10 * time.Second
)

// Config is whose machine it is.
type Config struct {
	settings.Environment
	Environ []string // of programs
	Temp    string   // where temporary files go, "" asks the system
	In, Out *os.File // the terminal
	// Forgets: no prompt is kept.
	Forgets bool
	// Away is set when the terminal UI shows a session of another process: drafts are
	// kept for it. nil: it shows one of this process.
	Away *Away
	// Loaded has the folders and the settings as they count now, and Fresh as they are
	// on disk.
	Loaded, Fresh func() (settings.Paths, *config.Config, error)
	// Extensions are those of the folder that is worked in, nil before there are any.
	Extensions func() *ext.Folder
}

// Away is the folder that a session of another process works in, and that of its project.
type Away struct{ Dir, Root string }

// A Machine is a person's.
type Machine struct {
	Config
	stale chan struct{} // has a token when keys or themes may be others
	begin sync.Once     // to look at their files
	seen  *watch.Watcher
	work  sync.WaitGroup // what is written to the history
}

// New is a machine. Close it.
func New(c Config) *Machine { return &Machine{Config: c, stale: make(chan struct{}, 1)} }

// Of has the machine do for the terminal UI what it can.
func (m *Machine) Of(t *tui.Host) {
	t.Stale = m.stale
	t.Looks = tui.Looks{Look: m.Look, Theme: m.theme, Themes: m.themes, First: m.first}
	t.Tools = tui.Tools{Edit: m.edit, EditFile: m.editFile, ReadFile: textOf, Copy: m.copy, Browse: m.Browse, Image: m.image, Picture: m.picture}
	m.withHistory(t)
	if !m.Forgets {
		t.Keep, t.Lost = m.keep, m.lost
	}
}

// Watch looks at the files of keys and themes from now on.
func (m *Machine) Watch() {
	m.begin.Do(func() {
		dir := m.configDir()
		m.seen = watch.Start(watch.Config{Files: []string{filepath.Join(dir, KeysFile)}, Dirs: []string{filepath.Join(dir, "themes")}, Changed: func() {
			select {
			case m.stale <- struct{}{}:
			default: // it is known
			}
		}})
	})
}

// Close waits for what is being written.
func (m *Machine) Close() {
	m.begin.Do(func() {})
	if m.seen != nil {
		m.seen.Close()
	}
	m.work.Wait()
}

// first reports whether there are no settings of this person yet.
func (m *Machine) first() bool { return !there(filepath.Join(m.configDir(), "settings.json")) }

// Plain reports whether the person's settings want the UI to print lines alone. They are
// read only where they speak of it, because they would hold up the first frame.
func (m *Machine) Plain() bool {
	raw, err := regular.Read(filepath.Join(m.configDir(), "settings.json"), config.MaxFile)
	if err != nil || !bytes.Contains(raw, []byte("plain")) {
		return false
	}
	_, cfg, err := m.Loaded()
	return err == nil && cfg.UI.Plain
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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

func (m *Machine) withHistory(t *tui.Host) {
	file := sync.OnceValue(func() *history.File {
		p, _, err := m.Loaded()
		if err != nil {
			return nil
		}
		return history.At(filepath.Join(p.State, "history.jsonl"), secret.New(secret.Environ(m.Environ)...).String)
	})
	of := func(project string) *past {
		return &past{sync.OnceValue(func() *history.Past {
			if f := file(); f != nil {
				return f.Past(project)
			}
			return nil
		})}
	}
	t.Past, t.Everyone = of(m.Dir), of("")
	t.Remember = func(e history.Entry) {
		e.Project, e.Time = m.Dir, time.Now()
		if f := file(); f != nil && !m.Forgets {
			m.work.Go(func() { _ = f.Add(context.Background(), e) }) // ends when it is written; the history is no reason to disturb anybody
		}
	}
}

// editFile opens a file in the person's editor and waits for it.
func (m *Machine) editFile(ctx context.Context, path string) error {
	editor := cmp.Or(m.Env("VISUAL"), m.Env("EDITOR"))
	if editor == "" {
		for _, name := range []string{"nano", "vi"} {
			if found, ok := proc.Lookup(name, m.Env("PATH"), []string{m.Dir}); ok {
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
	c.Env, c.Stdin, c.Stdout, c.Stderr = m.Environ, m.In, m.Out, m.Out
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
func (m *Machine) edit(ctx context.Context, text string) (string, error) {
	dir, err := os.MkdirTemp(m.Temp, "adze-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "prompt.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := m.editFile(ctx, path); err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

// helper runs the first of these programs that is there.
func (m *Machine) helper(ctx context.Context, stdin string, commands ...[]string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, helperLimit)
	defer stop()
	for _, args := range commands {
		path, ok := proc.Lookup(args[0], m.Env("PATH"), []string{m.Dir})
		if !ok {
			continue
		}
		c := exec.CommandContext(ctx, path, args[1:]...)
		c.Env, c.WaitDelay = m.Environ, time.Second
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
func (m *Machine) copy(ctx context.Context, text string, sent bool) (string, error) {
	if m.Env("TMUX") != "" {
		if _, err := m.helper(ctx, text, []string{"tmux", "load-buffer", "-w", "-"}, []string{"tmux", "load-buffer", "-"}); err == nil {
			return "tmux's buffer", nil
		}
	}
	if sent {
		return "", nil
	}
	if _, err := m.helper(ctx, text, []string{"pbcopy"}, []string{"wl-copy"}, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "-ib"}, []string{"clip.exe"}); err != nil {
		return "", err
	}
	return "the clipboard", nil
}

func (m *Machine) image(ctx context.Context) (op.Image, error) {
	out, err := m.helper(ctx, "", []string{"pngpaste", "-"}, []string{"wl-paste", "-t", "image/png"}, []string{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"})
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
func (m *Machine) picture(_ context.Context, path string) (op.Image, error) {
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

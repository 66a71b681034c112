//go:build unix

package machine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/machine"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/ui/draft"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// A person has a machine: a home, a folder that is worked in, and the programs that a test
// puts there.
type person struct {
	*machine.Machine
	tui.Host
	t              *testing.T
	home, dir, bin string
	env            map[string]string
	cfg            config.Config
}

func newPerson(t *testing.T, change func(*machine.Config)) *person {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, home: filepath.Join(top, "home"), dir: filepath.Join(top, "calc"), bin: filepath.Join(top, "bin")}
	for _, d := range []string{p.home, p.dir, p.bin, filepath.Join(top, "temp")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.env = map[string]string{"HOME": p.home, "PATH": p.bin}
	load := func() (settings.Paths, *config.Config, error) {
		return settings.Paths{Dir: p.dir, Root: p.dir, Home: p.home, Folders: config.Folders{State: filepath.Join(p.home, ".adze")}}, &p.cfg, nil
	}
	c := machine.Config{
		Environment: settings.Environment{Dir: p.dir, Home: p.home, Env: func(name string) string { return p.env[name] }},
		Environ:     []string{"PATH=" + p.bin + ":/usr/bin:/bin", "OUT=" + top, "SECRET_API_KEY=hush-0123456789abcdef"}, Temp: filepath.Join(top, "temp"),
		Loaded: load, Fresh: load, Extensions: func() *ext.Folder { return nil },
	}
	if change != nil {
		change(&c)
	}
	p.Machine = machine.New(c)
	t.Cleanup(p.Machine.Close)
	p.Of(&p.Host)
	return p
}

// put writes a file of the person's, and returns its path.
func (p *person) put(path, text string) string {
	p.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return path
}

// program puts a program into a folder, and returns its path.
func (p *person) program(dir, name, script string) string {
	p.t.Helper()
	path := p.put(filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// out is what programs wrote into a file of this name, "" for nothing.
func (p *person) out(name string) string {
	b, _ := os.ReadFile(filepath.Join(filepath.Dir(p.home), name))
	return string(b)
}

func (p *person) adze(name string) string { return filepath.Join(p.home, ".adze", name) }

func TestEdit(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(p *person)
		want string
		why  string
	}{
		"VISUAL before EDITOR": {func(p *person) {
			p.env["VISUAL"], p.env["EDITOR"] = p.program(p.bin, "one", `printf ' by one' >> "$1"`), p.program(p.bin, "two", `printf ' by two' >> "$1"`)
		}, "text by one", ""},
		"with a flag":       {func(p *person) { p.env["EDITOR"] = p.program(p.bin, "one", `printf " $1" >> "$2"`) + " --wait" }, "text --wait", ""},
		"one that is there": {func(p *person) { p.program(p.bin, "vi", `printf ' by vi' >> "$1"`) }, "text by vi", ""},
		"none":              {func(*person) {}, "", "set EDITOR"},
		"only of the folder that is worked in": {func(p *person) {
			p.program(p.dir, "vi", `printf ' by another' >> "$1"`)
			p.env["PATH"] = p.dir
		}, "", "set EDITOR"},
		"one that fails": {func(p *person) { p.env["EDITOR"] = p.program(p.bin, "one", "exit 3") }, "", "exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, nil)
			c.set(p)
			got, err := p.Edit(t.Context(), "text")
			if got != c.want || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
				t.Errorf("%q, %v", got, err)
			}
			if left, err := os.ReadDir(p.Machine.Temp); err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

func TestCopy(t *testing.T) {
	keeps := func(name string) string { return `cat > "$OUT/` + name + `"` }
	for name, c := range map[string]struct {
		set   func(p *person)
		sent  bool
		where string
		in    string // the file that has the text then
		fails bool
	}{
		"the terminal has it":       {func(p *person) { p.program(p.bin, "xclip", keeps("xclip")) }, true, "", "", false},
		"too long for the terminal": {func(p *person) { p.program(p.bin, "xclip", keeps("xclip")) }, false, "the clipboard", "xclip", false},
		"the first fails":           {func(p *person) { p.program(p.bin, "wl-copy", "exit 1"); p.program(p.bin, "xsel", keeps("xsel")) }, false, "the clipboard", "xsel", false},
		"tmux": {func(p *person) {
			p.env["TMUX"] = "x"
			p.program(p.bin, "tmux", `[ "$2" != -w ] && `+keeps("tmux")) // an old one
		}, true, "tmux's buffer", "tmux", false},
		"tmux that fails": {func(p *person) { p.env["TMUX"] = "x"; p.program(p.bin, "tmux", "exit 1") }, true, "", "", false},
		"no program":      {func(*person) {}, false, "", "", true},
		"only one of the folder that is worked in": {func(p *person) { p.program(p.dir, "xclip", keeps("xclip")); p.env["PATH"] = p.dir }, false, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, nil)
			c.set(p)
			where, err := p.Copy(t.Context(), "some text", c.sent)
			if where != c.where || (err != nil) != c.fails {
				t.Errorf("%q, %v", where, err)
			}
			for _, name := range []string{"xclip", "xsel", "tmux"} {
				want := ""
				if name == c.in {
					want = "some text"
				}
				if got := p.out(name); got != want {
					t.Errorf("%s got %q", name, got)
				}
			}
		})
	}
}

func pictured(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPictures(t *testing.T) {
	p := newPerson(t, nil)
	if _, err := p.Image(t.Context()); err == nil {
		t.Error("a picture on a clipboard that cannot be reached")
	}
	file := p.put(filepath.Join(p.dir, "a.png"), string(pictured(t)))
	p.program(p.bin, "wl-paste", "cat "+file)
	if img, err := p.Image(t.Context()); err != nil || img.Media != "image/png" || !bytes.Equal(img.Data, pictured(t)) {
		t.Errorf("%s of %d bytes, %v", img.Media, len(img.Data), err)
	}
	p.program(p.bin, "pngpaste", "echo text")
	if _, err := p.Image(t.Context()); err == nil {
		t.Error("text is taken for a picture")
	}
	if img, err := p.Picture(t.Context(), file); err != nil || img.Media != "image/png" || !bytes.Equal(img.Data, pictured(t)) {
		t.Errorf("%s of %d bytes, %v", img.Media, len(img.Data), err)
	}
	large := p.put(filepath.Join(p.dir, "large.png"), string(pictured(t)))
	if err := os.Truncate(large, 21<<20); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{large: "too large", p.put(filepath.Join(p.dir, "a.txt"), "text"): "no PNG", p.dir: "", filepath.Join(p.dir, "none"): ""} {
		if _, err := p.Picture(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The program that opens a page is given the page, and no key.
func TestBrowse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have programs of their own")
	}
	p := newPerson(t, nil)
	top := filepath.Dir(p.home)
	p.program(p.bin, "xdg-open", `echo "$1" > `+top+`/page; env > `+top+`/env; exit 1`)
	if err := p.Host.Browse(t.Context(), "http://127.0.0.1/x"); err == nil || p.out("page") != "" {
		t.Errorf("without a screen: %v, %q", err, p.out("page"))
	}
	p.env["DISPLAY"] = ":0"
	if err := p.Host.Browse(t.Context(), "http://127.0.0.1/x"); err == nil {
		t.Error("a program that failed counts as a browser")
	}
	p.program(p.bin, "wslview", `echo "$1 again" > `+top+`/page`)
	if err := p.Host.Browse(t.Context(), "http://127.0.0.1/x"); err != nil || p.out("page") != "http://127.0.0.1/x again\n" {
		t.Errorf("%v, %q", err, p.out("page"))
	}
	if env := p.out("env"); !strings.Contains(env, "PATH=") || strings.Contains(env, "hush") {
		t.Errorf("it was given %s", env)
	}
}

func TestThemes(t *testing.T) {
	p := newPerson(t, nil)
	built := p.Themes()
	if len(built) == 0 || !p.First() || p.Plain() {
		t.Fatalf("themes %q, first %v, plain %v", built, p.First(), p.Plain())
	}
	p.put(p.adze("themes/mine.json"), `{}`)
	p.put(p.adze("themes/broken.json"), `{`)
	p.put(p.adze("themes/large.json"), strings.Repeat(" ", machine.MaxTheme+1))
	if got := p.Themes(); len(got) != len(built)+3 || !slices.Contains(got, "mine") {
		t.Errorf("%q", got)
	}
	for name, ok := range map[string]bool{built[0]: true, "mine": true, "broken": false, "large": false, "none": false} {
		if th, err := p.Theme(name, true); (err == nil) != ok || (th != nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.Theme("none", true); err == nil || !strings.Contains(err.Error(), "mine") {
		t.Errorf("the error does not say which there are: %v", err)
	}
	p.put(p.adze("settings.json"), `{"ui": {"plain": true}}`)
	if p.cfg.UI.Plain = true; p.First() || !p.Plain() {
		t.Errorf("with settings: first %v, plain %v", p.First(), p.Plain())
	}
}

// The status line's command is given what it reads, no key, and its output is bounded.
func TestStatusLine(t *testing.T) {
	for command, want := range map[string]string{
		`cat; echo "$SECRET_API_KEY"`: "in\n", "pwd": "", "yes | head -c 9000": "", "echo why >&2; exit 3": "", " ": "",
	} {
		p := newPerson(t, nil)
		p.cfg.StatusLine = &config.StatusLine{Command: command, Padding: 2, RefreshInterval: 3}
		look, err := p.Look(t.Context())
		if err != nil || look.Status.Padding != 2 || look.Status.Every != 3*time.Second {
			t.Errorf("%+v, %v", look.Status, err)
		}
		if (look.Status.Run == nil) != (command == " ") {
			t.Errorf("%q: there is a command: %v", command, look.Status.Run != nil)
		}
		if look.Status.Run == nil {
			continue
		}
		got, err := look.Status.Run(t.Context(), []byte("in\n"))
		switch command {
		case "pwd":
			want = p.dir + "\n"
		case "yes | head -c 9000":
			want = strings.Repeat("y\n", 2048)
		case "echo why >&2; exit 3":
			if err == nil || !strings.Contains(err.Error(), "why") {
				t.Errorf("%v", err)
			}
			continue
		}
		if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") || err != nil {
			t.Errorf("%q: %.80q, %v", command, got, err)
		}
	}
}

// Keys that are looked at and not changed do not become a person's own; those that are
// count, and what is wrong with them is said.
func TestEditKeys(t *testing.T) {
	for script, want := range map[string]string{
		":":                              "stay as they were",
		`printf ' ' >> "$1"`:             "count now",
		`echo '{"bindings": 1' > "$1"`:   "keybindings.json",
		`echo '{"bindings": []}' > "$1"`: "count now",
	} {
		p := newPerson(t, nil)
		p.env["EDITOR"] = p.program(p.bin, "editor", script)
		said, err := p.EditKeys(t.Context(), "")
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("%s: %q, %v", script, said, err)
		}
		if _, err := os.Stat(p.adze(machine.KeysFile)); errors.Is(err, os.ErrNotExist) != (script == ":") {
			t.Errorf("%s: the file: %v", script, err)
		}
		if look, err := p.Look(t.Context()); err != nil || look.Keys == nil || (len(look.KeysWrong) > 0) != (want == "keybindings.json") {
			t.Errorf("%s: %q, %v", script, look.KeysWrong, err)
		}
	}
}

// A change of the files beside the settings is told.
func TestStale(t *testing.T) {
	p := newPerson(t, nil)
	p.Watch()
	p.put(p.adze(machine.KeysFile), `{"bindings": []}`)
	select {
	case <-p.Stale:
	case <-time.After(30 * time.Second):
		t.Error("nothing is told")
	}
}

func TestHistory(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		p := newPerson(t, func(c *machine.Config) { c.Forgets = forgets })
		p.Remember(history.Entry{Text: "say hush-0123456789abcdef"}) // which is a key
		p.Machine.Close()
		q := newPerson(t, func(c *machine.Config) {
			c.Loaded = p.Machine.Loaded
			c.Dir = p.dir
		})
		got, ok := q.Past.Entry(0)
		if ok == forgets || ok && (!strings.HasPrefix(got.Text, "say ") || strings.Contains(got.Text, "hush") || got.Project != p.dir) {
			t.Errorf("forgets %v: %+v, %v", forgets, got, ok)
		}
		if (p.Keep == nil) != forgets || (p.Lost == nil) != forgets {
			t.Errorf("forgets %v, and keeps drafts: %v", forgets, p.Keep != nil)
		}
	}
}

// kept are the drafts on disk.
func (p *person) kept() (out []draft.Draft) {
	files, _ := filepath.Glob(p.adze("drafts/*.json"))
	for _, f := range files {
		var d draft.Draft
		b, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(b, &d)
		}
		if err != nil {
			p.t.Error(err)
		}
		out = append(out, d)
	}
	return out
}

// What is in the box is kept for the session that is shown, whosever it is, and taken away
// when the box is empty at the end.
func TestDrafts(t *testing.T) {
	box := func(text string) edit.Prompt { return edit.Prompt{Text: text, Shown: text} }
	for name, c := range map[string]struct {
		away *machine.Away
	}{
		"of this process": {nil}, "of another": {&machine.Away{Dir: "/elsewhere/sub", Root: "/elsewhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, func(c *machine.Config) {
				c.Extensions = func() *ext.Folder { return new(ext.Folder) }
			})
			p.Away = c.away
			dir := p.dir
			if c.away != nil {
				dir = c.away.Dir
			}
			s := &tui.Session{Facts: ask.Facts{ID: "s1"}}
			if err := p.Keep("s1", box("half")); err != nil {
				t.Fatal(err)
			}
			if got := p.kept(); len(got) != 1 || got[0].Project != dir || got[0].Session != "s1" || got[0].Text != "half" || got[0].Ended {
				t.Errorf("kept: %+v", got)
			}
			p.Leave(tui.Left{Session: s, Unsent: box("half a thought")})
			if got := p.kept(); len(got) != 1 || got[0].Text != "half a thought" || !got[0].Ended {
				t.Errorf("left: %+v", got)
			}
			if l, err := p.Lost(t.Context(), "s1"); l != nil || err != nil {
				t.Errorf("what this process keeps was lost: %+v, %v", l, err)
			}
			p.Leave(tui.Left{Session: s, Unsent: box(" ")})
			if got := p.kept(); len(got) != 0 {
				t.Errorf("left with nothing: %+v", got)
			}
			dead := lease.ThisProcess()
			dead.PID, dead.Start = 4_000_000, 1
			if err := draft.In(p.adze("drafts"), dead).Keep(draft.Draft{Project: dir, Session: "s1", Time: time.Now(), Text: "lost"}); err != nil {
				t.Fatal(err)
			}
			l, err := p.Lost(t.Context(), "s1")
			if err != nil || l == nil || l.Entry.Text != "lost" || !l.Killed {
				t.Fatalf("%+v, %v", l, err)
			}
			if err := l.Taken(); err != nil || len(p.kept()) != 0 {
				t.Errorf("%v, %+v", err, p.kept())
			}
		})
	}
}

// Where no session was open, nothing is kept.
func TestNoDraftWithoutASession(t *testing.T) {
	p := newPerson(t, nil)
	p.Leave(tui.Left{Session: &tui.Session{Facts: ask.Facts{ID: "s1"}}, Unsent: edit.Prompt{Text: "x", Shown: "x"}})
	if got := p.kept(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

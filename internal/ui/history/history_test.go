package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func texts(p *Past) []string {
	var out []string
	for i := 0; ; i++ {
		e, ok := p.Entry(i)
		if !ok {
			return out
		}
		out = append(out, e.Text)
	}
}

func add(t *testing.T, f *File, project string, list ...string) {
	t.Helper()
	for _, s := range list {
		if err := f.Add(t.Context(), Entry{Text: s, Project: project, Time: time.UnixMilli(1)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAddAndGoBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "history.jsonl")
	f := At(path, func(s string) string { return strings.ReplaceAll(s, "hunter2", "[hidden]") })
	early := f.Past("/a")
	if got := texts(early); got != nil {
		t.Errorf("a history that is not there has %q", got)
	}
	add(t, f, "/a", "one", "one", " not kept", "", "!echo hunter2")
	add(t, f, "/b", "two\nlines")
	add(t, f, "/a", "one", "three")
	for _, c := range []struct {
		project string
		want    []string
	}{
		{"/a", []string{"three", "one", "!echo [hidden]"}},
		{"/b", []string{"two\nlines"}},
		{"", []string{"three", "one", "two\nlines", "!echo [hidden]"}},
	} {
		p := At(path, nil).Past(c.project)
		if got := texts(p); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.project, got, c.want)
		}
		p.Close()
	}
	if got := texts(early); !slices.Equal(got, []string{"three", "one", "!echo [hidden]"}) {
		t.Errorf("a reader that was there before: %q", got)
	}
	early.Close()
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	f := At(path, nil)
	add(t, f, "", "!"+strings.Repeat("x", maxShell*2))
	if err := f.Add(t.Context(), Entry{Text: "a [Pasted 2 lines] [Pasted 9 lines]", Pastes: []Paste{
		{"[Pasted 2 lines]", "1\n2"}, {"[Pasted 9 lines]", strings.Repeat("y", maxPastes)},
	}}); err != nil {
		t.Fatal(err)
	}
	p := At(path, nil).Past("")
	defer p.Close()
	e, _ := p.Entry(0)
	if e.Text != "a [Pasted 2 lines] [Pasted 9 lines, not kept]" || !slices.Equal(e.Pastes, []Paste{{"[Pasted 2 lines]", "1\n2"}}) {
		t.Errorf("%+v", e)
	}
	if e, _ = p.Entry(1); len(e.Text) > maxShell+10 {
		t.Errorf("a command of %d bytes was kept", len(e.Text))
	}
}

// The file stays bounded, and what is newest stays.
func TestHalved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	f := At(path, nil)
	big := strings.Repeat("z", maxText-100)
	for i := range 100 {
		add(t, f, "", fmt.Sprint(i, big))
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxBytes {
		t.Fatalf("%d bytes, %v", info.Size(), err)
	}
	p := f.Past("")
	defer p.Close()
	got := texts(p)
	if len(got) < 32 || !strings.HasPrefix(got[0], "99z") || !strings.HasPrefix(got[len(got)-1], fmt.Sprint(100-len(got))) {
		t.Errorf("%d entries are left", len(got))
	}
}

// Torn and foreign lines are passed over, and swallow nothing.
func TestTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	long := strings.Repeat("q", 3*block)
	text := `{"display":"a","timestamp":1}` + "\n\x00\xff\n[]\n" + `{"display":"` + long + `"}` + "\n{\"display\":\"b\"}\n{\"display\":\"tor"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	add(t, At(path, nil), "", "c")
	p := At(path, nil).Past("")
	defer p.Close()
	if got := texts(p); !slices.Equal(got, []string{"c", "b", long, "a"}) {
		t.Errorf("%.60q", got)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// Only as much is read as somebody looks at.
func TestLazy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	var b strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&b, `{"display":"entry %d","timestamp":1}`+"\n", i)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := At(path, nil).Past("")
	defer p.Close()
	if e, _ := p.Entry(3); e.Text != "entry 39996" {
		t.Errorf("%q", e.Text)
	}
	if read := int64(b.Len()) - p.left; read != block {
		t.Errorf("%d bytes were read for four entries", read)
	}
	if e, _ := p.Entry(39999); e.Text != "entry 0" {
		t.Errorf("%q", e.Text)
	}
}

// Several writers, and halving in between, lose no line that is new enough.
func TestWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			f := At(path, nil) // each as another process would
			for i := range 25 {
				if err := f.Add(context.Background(), Entry{Text: fmt.Sprint(w, "-", i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	p := At(path, nil).Past("")
	defer p.Close()
	if got := texts(p); len(got) != 100 {
		t.Errorf("%d entries of 100", len(got))
	}
}

// Halving loses nothing that another process writes meanwhile: of each writer the
// newest entries are there, without a hole.
func TestWritersAndHalving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	big := strings.Repeat("z", maxText-100)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			f := At(path, nil)
			for i := range 40 {
				if err := f.Add(context.Background(), Entry{Text: fmt.Sprintf("%d-%02d %s", w, i, big)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	p := At(path, nil).Past("")
	defer p.Close()
	next := [4]int{39, 39, 39, 39}
	for _, s := range texts(p) {
		var w, i int
		if _, err := fmt.Sscanf(s[:4], "%d-%d", &w, &i); err != nil || i != next[w] {
			t.Fatalf("%q, want entry %d", s[:4], next[w])
		}
		next[w]--
	}
	if next == [4]int{39, 39, 39, 39} {
		t.Error("no entries")
	}
}

// What cannot be written is known all the same.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history.jsonl")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	f := At(path, nil)
	if err := f.Add(t.Context(), Entry{Text: "x"}); err == nil {
		t.Error("a folder was written")
	}
	p := f.Past("")
	defer p.Close()
	if got := texts(p); !slices.Equal(got, []string{"x"}) || p.Err() == nil {
		t.Errorf("%q, %v", got, p.Err())
	}
}

// A walk that begins sees what others added meanwhile, behind what this process added, also when they halved the file,
// and a line that is not whole yet is read when it is.
func TestRenew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	f, other := At(path, nil), At(path, nil)
	p := f.Past("/a")
	defer p.Close()
	look := func(what string, want ...string) {
		t.Helper()
		p.Renew()
		if got := texts(p); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	look("before there is a file")
	add(t, other, "/a", "one", "two")
	look("made by another process", "two", "one")
	add(t, f, "/a", "three")
	add(t, other, "/a", "four", "one")
	add(t, other, "/b", "elsewhere")
	look("grown", "three", "one", "four", "two")
	look("as it was", "three", "one", "four", "two")

	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, part := range []string{`{"display":"fi`, `ve","project":"/a"}` + "\n"} {
		if _, err := file.WriteString(part); err != nil {
			t.Fatal(err)
		}
		if part[0] == '{' {
			look("half a line", "three", "one", "four", "two")
		}
	}
	look("the other half", "three", "five", "one", "four", "two")

	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	look("gone", "three", "five", "one", "four", "two")
	add(t, other, "/a", "anew")
	look("another file", "three", "anew")
}

func FuzzPast(f *testing.F) {
	f.Add([]byte("{\"display\":\"a\"}\n{\"display\":3}\nx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "h")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		p := At(path, nil).Past("")
		defer p.Close()
		if got := texts(p); len(got) > strings.Count(string(b), "\n")+1 {
			t.Fatalf("%d entries", len(got))
		}
	})
}

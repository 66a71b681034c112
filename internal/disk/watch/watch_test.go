package watch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/disk/watch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is far more than a change takes to be told, and less than the watcher
// needs to find it without the system.
const limit = 8 * time.Second

type rig struct {
	*testing.T
	dir  string
	told chan struct{}
}

func start(t *testing.T, dir string, files, dirs []string) *rig {
	t.Helper()
	r := &rig{T: t, dir: dir, told: make(chan struct{}, 100)}
	w := watch.Start(watch.Config{Files: files, Dirs: dirs, Changed: func() { r.told <- struct{}{} }})
	t.Cleanup(w.Close)
	return r
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *rig) do(errs ...error) {
	r.Helper()
	for _, err := range errs {
		if err != nil {
			r.Fatal(err)
		}
	}
}

func (r *rig) write(name, text string) {
	r.Helper()
	r.do(os.MkdirAll(filepath.Dir(r.path(name)), 0o755), os.WriteFile(r.path(name), []byte(text), 0o644))
}

// heard waits until a change is told.
func (r *rig) heard(what string) {
	r.Helper()
	select {
	case <-r.told:
	case <-time.After(limit):
		r.Fatalf("%s: nothing was told", what)
	}
}

// silent makes sure that nothing was told so far: a later change is told
// alone, because those before it would have been told before.
func (r *rig) silent(what string) {
	r.Helper()
	select {
	case <-r.told:
		r.Errorf("%s: a change was told", what)
	case <-time.After(2 * watch.Quiet):
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "home", ".adze", "settings.json")
	r := start(t, dir, []string{file}, []string{filepath.Join(dir, "etc", "managed.d")})

	r.write("home/.adze/settings.json", "1") // neither folder was there
	r.heard("made with its folders")
	r.write("home/.adze/settings.json", "2")
	r.heard("written")
	r.write("home/.adze/.tmp", "3")
	r.do(os.Rename(r.path("home/.adze/.tmp"), file))
	r.heard("replaced by a rename")
	r.do(os.Rename(file, file+"~"))
	r.write("home/.adze/settings.json", "4")
	r.heard("moved aside and made anew")
	r.do(os.Remove(file))
	r.heard("removed")
	r.write("home/.adze/settings.json", "5")
	r.heard("there again")
	r.do(os.RemoveAll(r.path("home/.adze")))
	r.heard("removed with its folder")
	r.write("home/.adze/settings.json", "6")
	r.heard("there again with its folder")
	r.do(os.Rename(r.path("home"), r.path("house")))
	r.do(os.Rename(r.path("house"), r.path("home")))
	r.write("home/.adze/settings.json", "7")
	r.heard("after the folder above was moved")
	r.write("etc/managed.d/10-a.json", "1")
	r.heard("a new file of a folder")
	r.write("etc/managed.d/20-b.json", "1")
	r.heard("another one")
	r.do(os.Remove(r.path("etc/managed.d/10-a.json")))
	r.heard("a file of a folder removed")
}

// A burst is told once, and what does not concern the files is not told.
func TestBurstAndNoise(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := start(t, dir, []string{filepath.Join(dir, "settings.json")}, nil)
	for i := range 50 {
		r.write("other.json", fmt.Sprint(i))
		r.write("sub/settings.json", fmt.Sprint(i))
	}
	r.silent("other files")
	for i := range 50 {
		r.write("settings.json", strings.Repeat("x", i))
	}
	r.heard("a burst")
	r.silent("the burst again")
}

// A folder that is gone for good costs nothing.
func TestVanishedFolderIsQuiet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &rig{T: t, dir: dir}
	r.write("a/b/c/settings.json", "1")
	r = start(t, dir, []string{r.path("a/b/c/settings.json")}, nil)
	r.do(os.RemoveAll(r.path("a")))
	r.heard("it is gone")
	r.silent("afterwards")
	r.do(os.Remove(dir))
	r.heard("the folder above is gone, too")
	r.silent("afterwards")
	r.do(os.Mkdir(dir, 0o755))
	r.write("a/b/c/settings.json", "2")
	r.heard("all is there again")
}

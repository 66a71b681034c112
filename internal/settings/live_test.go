package settings

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/config"
)

// A change that is noticed while this process is still writing it is its own, too: it is
// told when it was written.
func TestOwnWriteIsNoticedBeforeItIsOver(t *testing.T) {
	e := run(t, nil)
	l, err := Open(e, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	telling, own := make(chan struct{}, 1), make(chan bool, 1)
	l.changed = func(was, now *config.Config) {
		telling <- struct{}{}
		own <- l.Own(was, now)
	}
	file := filepath.Join(e.Home, ".adze", "settings.json")
	over := make(chan struct{})
	if err := l.Write(file, func() error {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(`{"model":"m"}`), 0o600); err != nil {
			return err
		}
		go func() { defer close(over); l.Reread() }() // ends when the change was told
		select {
		case <-telling:
		case <-time.After(time.Minute):
			return errors.New("the change is not noticed while it is written")
		}
		select {
		case <-own:
			return errors.New("whose change it is was said before it was written")
		case <-time.After(50 * time.Millisecond):
			return nil
		}
	}); err != nil {
		t.Fatal(err)
	}
	<-over
	if !<-own {
		t.Error("what this process wrote is told as news")
	}
	if err := os.WriteFile(file, []byte(`{"model":"other"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Reread()
	<-telling
	if <-own {
		t.Error("what somebody else wrote is no news")
	}
}

// What was written a moment ago counts when it is asked for, however it was written;
// nothing is read again where nothing changed.
func TestFresh(t *testing.T) {
	e := run(t, nil)
	file := filepath.Join(e.Home, ".adze", "settings.json")
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(file, `{"model":"a"}`)
	old := time.Now().Add(-time.Hour)
	l, err := Open(e, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	l.changed = func(*config.Config, *config.Config) { told++ }
	for i, tt := range []struct {
		change func()
		want   string
	}{
		{func() {}, "a"},
		{func() { put(file, `{"model":"b"}`) }, "b"},
		{func() { put(file, `{"model":"c"}`); _ = os.Chtimes(file, old, old) }, "c"},
		{func() { put(file+"2", `{"model":"d"}`); _ = os.Rename(file+"2", file) }, "d"},
		{func() { _ = os.Rename(file, file+"2"); _ = os.Symlink(file+"2", file) }, "d"},
		{func() { _ = os.Remove(file) }, ""},
		{func() { put(filepath.Join(e.Home, ".claude", "settings.json"), `{"model":"opus"}`) }, "opus"},
	} {
		tt.change()
		l.Fresh()
		if got := l.Config().Model; got != tt.want || i == 0 && told > 0 {
			t.Errorf("%d: %q, want %q; told %d times", i, got, tt.want, told)
		}
	}
	before := told
	l.stamps = l.stamp(l.Config(), time.Now().Add(time.Hour)) // as long after
	l.seen = "another"
	l.Fresh()
	if told != before {
		t.Error("settings are loaded again although no file changed")
	}
}

// A file that is followed makes a look at the settings no longer as long as it stays as it is.
func TestFollowedFileIsLookedAt(t *testing.T) {
	e := run(t, nil)
	l, err := Open(e, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	l.changed = func(*config.Config, *config.Config) { told++ }
	l.stamps = l.stamp(l.Config(), time.Now().Add(time.Hour)) // as long after
	l.seen = "another"                                        // so that a reload tells
	file := filepath.Join(e.Home, "followed")
	l.Follow(file)
	if l.Fresh(); told > 0 {
		t.Error("the settings are read again though nothing changed")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if l.Fresh(); told != 1 {
		t.Errorf("told %d times of the file that is there now, want once", told)
	}
}

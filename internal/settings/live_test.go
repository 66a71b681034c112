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

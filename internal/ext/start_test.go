package ext

import (
	"testing"

	"github.com/adze-agent/adze/internal/settings"
)

// However many ask at a start what is configured, it is looked at once, and skills are
// read once; a change has both looked at anew.
func TestOneLook(t *testing.T) {
	home := t.TempDir()
	live, err := settings.Open(settings.Environment{Dir: t.TempDir(), Home: home, Env: func(name string) string {
		return map[string]string{"HOME": home}[name]
	}}, settings.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	w := NewProcess(ProcessConfig{}).Open(FolderConfig{Live: live, Env: func(string) string { return "" }, Hidden: func(...string) {}})
	defer w.Close()
	w.Begin()
	w.ready()
	x, bad := New(Config{Folder: w}, live.Config())
	if len(bad) > 0 {
		t.Error(bad)
	}
	x.MoreTools()
	w.Programs(nil)
	_ = w.AwaitAll(t.Context())
	again := make(chan struct{})
	w.mu.Lock()
	w.waiting = append(w.waiting, again) // closed by the next look
	w.mu.Unlock()
	select {
	case <-again:
		t.Error("it was looked at again")
	case <-w.look:
		t.Error("it is to be looked at again")
	default:
	}
	if n := w.readings(); n != 1 {
		t.Errorf("skills were read %d times", n)
	}
	x.Use(live.Config())
	<-again
	if len(w.look) > 0 {
		t.Error("a change is looked at once")
	}
}

package proc

import (
	"strconv"
	"testing"
	"time"
)

// What is forked while processes are listed is found, and ended: its parent may
// be dead when it is looked at, and it itself too young to have been listed.
func TestForkedWhileListed(t *testing.T) {
	tab := New(Config{})
	defer tab.Close(time.Second)
	for i := range 60 {
		mark := strconv.Itoa(70_000_000 + i)
		p, _ := start(t, tab, "((setsid sleep "+mark+" >/dev/null 2>&1 &) >/dev/null 2>&1 &) >/dev/null 2>&1 &", false)
		<-p.Done()
		for _, o := range everybody() {
			if tagOf(o.pid) == p.os.tag && !o.zombie {
				t.Fatalf("run %d: %+v is left", i, o)
			}
		}
	}
}

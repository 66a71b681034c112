package slowtest

import "testing"

// A fake notes what is done with a test.
type fake struct {
	testing.TB
	end     func()
	skipped bool
	failed  bool
}

func (f *fake) Helper()               {}
func (f *fake) Skip(...any)           { f.skipped = true }
func (f *fake) Errorf(string, ...any) { f.failed = true }
func (f *fake) Cleanup(end func())    { f.end = end }

// A test that starts a goroutine is not alone, also when it is over soon.
func TestAlone(t *testing.T) {
	for starts, want := range map[bool]bool{false: false, true: true} {
		f := &fake{TB: t}
		Alone(f)
		if starts {
			over := make(chan bool)
			go close(over)
			<-over
		}
		f.end()
		if f.failed != want || f.skipped != race {
			t.Errorf("starts one %t: failed %t, skipped %t", starts, f.failed, f.skipped)
		}
	}
	t.Setenv("SEED", "all")
	if f := (&fake{TB: t}); true {
		if Alone(f); f.skipped {
			t.Error("all is not all")
		}
	}
}

package tui

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/ui/picture"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A mute terminal tells what a test puts into events, and shows nothing.
type mute struct{ events chan term.Event }

func (t mute) Events() <-chan term.Event         { return t.events }
func (mute) Size() term.Size                     { return term.Size{Cols: 80, Rows: 24} }
func (mute) Probe()                              {}
func (mute) Mouse(bool)                          {}
func (mute) Pictures() picture.Protocol          { return picture.HalfBlocks }
func (mute) Title(string)                        {}
func (mute) Notify(term.Channel, string, string) {}
func (mute) Sequence(string)                     {}
func (mute) Copy(string) bool                    { return false }
func (mute) Release()                            {}
func (mute) Reclaim() error                      { return nil }
func (mute) Suspend()                            {}
func (mute) Recover()                            {}

// The last frame waits for a picture that is never ready: until a key, five
// seconds at most, and a signal meanwhile is why the run ended.
func TestSignalWhileAPictureIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		ev     term.Event // nil: none comes
		signal string
		took   time.Duration
	}{
		"a signal":    {term.Stop{Signal: "terminated"}, "terminated", 0},
		"the end":     {term.Stop{}, "", 0},
		"a key":       {term.Key{Name: "enter"}, "", 0},
		"other event": {term.Focus{In: true}, "", 5 * time.Second},
		"nothing":     {nil, "", 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				screen := term.NewScreen(io.Discard, term.Config{Size: mute{}.Size()})
				defer screen.Close(false)
				r := newRig(t, 80, 24)
				r.m.story.Items = append(r.m.story.Items, &story.Item{Drawing: 1})
				l := &loop{ctx: context.Background(), t: mute{make(chan term.Event, 1)}, screen: screen, m: r.m, msgs: make(chan Msg)}
				if c.ev != nil {
					l.t.(mute).events <- c.ev
				}
				began := time.Now()
				if got := l.depict(); got != c.signal || time.Since(began) != c.took {
					t.Errorf("ended by %q after %s, want %q after %s", got, time.Since(began), c.signal, c.took)
				}
			})
		})
	}
}

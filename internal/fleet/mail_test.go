package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/fleet"
)

// A move is one thing that happens to a world.
type move struct {
	what      string
	who, whom int
	alone     bool // nothing else happens before it has come to its end
}

// Whatever is sent, stopped, ended, gone on with and killed at any point: what a session has
// said comes to its receiver, once, in order.
func TestMessagesComeOnceAndInOrder(t *testing.T) {
	moves := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) move {
		return move{
			rapid.SampledFrom([]string{"send", "send", "send", "send", "step", "step", "step", "step", "all", "hope", "stop", "start", "crash", "fuse", "leave"}).Draw(r, "what"),
			rapid.IntRange(0, 5).Draw(r, "who"), rapid.IntRange(0, 5).Draw(r, "whom"), rapid.Bool().Draw(r, "alone"),
		}
	}), 20, 100)
	rapid.Check(t, func(r *rapid.T) {
		seed, list := rapid.Uint64().Draw(r, "seed"), moves.Draw(r, "moves")
		var err error
		synctest.Test(t, func(t *testing.T) { err = newPlay(t.Context(), seed).all(list) })
		if err != nil {
			r.Fatal(err)
		}
	})
}

// A play is moves in a world, and the process that lives.
type play struct {
	*world
	ctx  context.Context
	tree *fleet.Tree
	work sync.WaitGroup // moves that are being made
}

func newPlay(ctx context.Context, seed uint64) *play {
	p := &play{world: newWorld(seed), ctx: context.WithoutCancel(ctx)}
	p.tree = p.start()
	return p
}

// again is another process, after the end of this one. killed: it had no time for that.
func (p *play) again(killed bool) {
	if killed {
		p.mu.Lock()
		p.dead = true
		p.mu.Unlock()
	}
	p.tree.Close()
	p.work.Wait()
	p.tree = p.start()
}

// settle waits until nothing happens any more by itself.
func settle() { time.Sleep(time.Second) }

func (p *play) step(session string) bool {
	moved, delivers := p.world.step(session)
	if delivers {
		_ = p.tree.Deliver(p.ctx, session)
	}
	return moved
}

// rest lets all sessions do what they have to do.
func (p *play) rest() error {
	for range 10_000 {
		settle()
		moved := false
		for _, s := range p.sessions() {
			moved = p.step(s) || moved
		}
		if !moved {
			return nil
		}
	}
	return errors.New("it comes to no end")
}

// make makes one move.
func (p *play) make(m move, tree *fleet.Tree, text string) {
	all := p.sessions()
	who, whom := all[m.who%len(all)], all[m.whom%len(all)]
	_, open := p.Look(who)
	to := strings.Replace(whom, "root", fleet.Main, 1)
	switch m.what {
	case "start":
		if len(all) < 6 && open {
			_, _ = tree.Start(p.ctx, fleet.Order{Of: who, Name: "n" + text}, text, text, m.whom%2 == 0)
		}
	case "send", "hope":
		if open && who != whom {
			_, _ = tree.Send(p.ctx, who, fleet.Letter{To: to, Text: text, Idle: m.what == "hope"})
		}
	case "all":
		if open {
			_, _ = tree.Send(p.ctx, who, fleet.Letter{To: fleet.All, Text: text})
		}
	case "step":
		p.step(who)
	case "stop":
		tree.Stop(who, "stopped")
	case "fuse": // in the middle of what comes next
		p.mu.Lock()
		p.fuse = 1 + m.who + m.whom
		p.mu.Unlock()
	}
}

// crowd has all agents told something while they do what they do: nobody ends with something
// unread, or is not there.
func (p *play) crowd() error {
	var mu sync.Mutex
	var errs []error
	before := p.cut()
	for i := range 5 {
		for _, m := range p.tree.List("") {
			p.work.Go(func() {
				p.tarry()
				got, err := p.tree.Send(p.ctx, "root", fleet.Letter{To: m.ID, Text: fmt.Sprint("crowd ", i)})
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
				for _, r := range got {
					errs = append(errs, r.Err)
				}
			})
		}
		for range 20 {
			for _, s := range p.sessions() {
				p.step(s)
				p.tarry()
			}
		}
	}
	p.work.Wait()
	if n := p.cut() - before; n > 0 {
		errs = append(errs, fmt.Errorf("%d turns were interrupted", n))
	}
	return errors.Join(errs...)
}

// all makes moves, and lets all that was begun come to its end.
func (p *play) all(list []move) error {
	defer func() { p.tree.Close() }()
	for i, m := range append([]move{{what: "start", alone: true}}, list...) {
		switch m.what {
		case "crash", "leave":
			p.again(m.what == "crash")
		default:
			tree := p.tree
			p.work.Go(func() { p.make(m, tree, fmt.Sprint(i)) })
			if m.alone {
				settle()
			}
		}
		if p.isDead() {
			p.again(true)
		}
	}
	p.again(true)
	for range 2 { // what the first round has had go on is known to the root
		for _, s := range p.sessions() {
			if _, known := p.tree.Find(s); !known {
				continue
			}
			if _, err := p.tree.Send(p.ctx, "root", fleet.Letter{To: s, Text: "go on"}); err != nil {
				return err
			}
			if err := p.rest(); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(p.tree.Deliver(p.ctx, "root"), p.crowd()); err != nil {
		return err
	}
	if err := p.rest(); err != nil {
		return err
	}
	for _, m := range p.tree.List("") {
		if m.Works() {
			return fmt.Errorf("%s never ends", m.Label())
		}
	}
	return p.wrong()
}

package edit

import (
	"slices"

	"github.com/adze-agent/adze/internal/ui/keymap"
)

// maxKills bounds the kill ring.
const maxKills = 60

// kills is readline's kill ring: the newest is last.
type kills struct {
	ring   [][]rune
	joins  bool // the next kill is added to the last
	yanked bool // the last command was a yank
	from   int  // where what was yanked starts
	turn   int  // how far back in the ring the last yank was
}

// add keeps what was cut. Cuts that follow each other become one.
func (k *kills) add(rs []rune, before bool) {
	switch n := len(k.ring); {
	case k.joins && n > 0 && before:
		k.ring[n-1] = slices.Concat(rs, k.ring[n-1])
	case k.joins && n > 0:
		k.ring[n-1] = slices.Concat(k.ring[n-1], rs)
	default:
		k.ring = append(k.ring, slices.Clone(rs))
		if len(k.ring) > maxKills {
			k.ring = slices.Delete(k.ring, 0, 1)
		}
	}
	k.joins = true
}

// cuts reports whether a command cuts into the ring.
func cuts(a keymap.Action) bool {
	switch a {
	case keymap.EditKillLineEnd, keymap.EditKillLineStart, keymap.EditKillWordLeft,
		keymap.EditKillSpaceLeft, keymap.EditKillWordRight:
		return true
	}
	return false
}

func (e *Editor) yank() Result {
	k := &e.kills
	if len(k.ring) == 0 {
		return Ignored
	}
	e.step(doOther)
	k.from = e.at
	if e.anchor >= 0 {
		k.from = min(e.at, e.anchor)
	}
	e.insert(k.ring[len(k.ring)-1])
	k.yanked, k.turn = true, 0
	return Changed
}

// yankPop replaces what was just put back by the cut before it.
func (e *Editor) yankPop() Result {
	k := &e.kills
	if !k.yanked || len(k.ring) < 2 {
		return Ignored
	}
	k.turn = (k.turn + 1) % len(k.ring)
	e.step(doOther)
	rs := k.ring[len(k.ring)-1-k.turn]
	e.change(k.from, e.at, rs)
	e.at, e.anchor, e.goal = k.from+len(rs), -1, -1
	return Changed
}

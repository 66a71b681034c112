package environment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/disk/changed"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/memory"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Watcher notes which instruction files commands make or change, for the next start
// to say. Nothing is refused because of it.
type Watcher struct {
	Paths   settings.Paths
	Session string
	Beside  func() bool // a command runs in the background

	mu   sync.Mutex      // guards seen
	seen map[string]look // at the files, the last time
}

// A look tells two states of a file apart; the zero value is one that is not there.
type look struct {
	at     time.Time
	number int64
	size   int64
}

// A Recording looks at what a call changes, from before it runs until end.
type Recording = func(ctx context.Context, actions []policy.Action) (end func(context.Context) effect.Changed, note string)

// Over is a recording that also notes what commands do to instruction files. What a file
// tool writes people have seen.
func (w *Watcher) Over(record Recording) Recording {
	return func(ctx context.Context, actions []policy.Action) (func(context.Context) effect.Changed, string) {
		command := slices.ContainsFunc(actions, func(a policy.Action) bool { _, is := a.(policy.Exec); return is })
		w.look(ctx, w.Beside(), nil)
		end, note := record(ctx, actions)
		return func(ctx context.Context) effect.Changed {
			out := end(ctx)
			deep := map[string]bool{} // those of folders below; whether they are new
			for _, f := range out.Files {
				if memory.Instructs(f.Path) {
					deep[f.Path] = f.Before.Kind == ""
				}
			}
			w.look(ctx, command, deep)
			return out
		}, note
	}
}

// look looks at the files that may instruct here, and notes those that are not as they
// were, and those of folders below, where a command did it.
func (w *Watcher) look(ctx context.Context, command bool, deep map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was, now := w.seen, map[string]look{}
	found := map[string]made{}
	note := func(path string, isNew bool) {
		if sum := sumOf(path); command && sum != "" {
			found[path] = made{Sum: sum, Session: w.Session, New: isNew}
		}
	}
	for path, isNew := range deep {
		note(path, isNew)
	}
	for _, path := range memory.Places(w.Paths.Root, w.Paths.Dir) {
		l := lookAt(path)
		if now[path] = l; was != nil && l != was[path] {
			note(path, was[path] == look{})
		}
	}
	w.seen = now
	if len(found) == 0 {
		return
	}
	// What cannot be kept is not said; the call itself is fine.
	_ = change(ctx, w.Paths, func(all map[string]made) {
		for path, m := range found {
			m.New = m.New || all[path].New
			all[path] = m
		}
	})
}

func lookAt(path string) (l look) {
	info, err := os.Stat(path)
	if err != nil {
		return l
	}
	l.at, l.number = changed.At(info)
	l.size = info.Size()
	return l
}

// made is what a command did to an instruction file.
type made struct {
	Sum     string `json:"sum"` // of its content
	Session string `json:"session"`
	New     bool   `json:"new,omitempty"`
}

// Bounds of the record, and of a file that is told from others.
const (
	maxMade     = 500
	maxMadeFile = 2 << 20
)

func record(p settings.Paths) string { return filepath.Join(p.State, "instructions.json") }

func sumOf(path string) string {
	text, err := regular.Read(path, maxMadeFile)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// change changes the record. One that cannot be read begins anew.
func change(ctx context.Context, p settings.Paths, f func(map[string]made)) error {
	return confedit.Editor{}.Rewrite(ctx, confedit.Target{Path: record(p)}, func(text []byte) ([]byte, error) {
		all := map[string]made{}
		if json.Unmarshal(text, &all) != nil {
			all = map[string]made{}
		}
		f(all)
		for path := range all {
			if len(all) > maxMade {
				delete(all, path)
			}
		}
		return json.Marshal(all)
	})
}

// Said says, once, which files of the folder are read as instructions and were written
// by a command, as they still are.
func Said(ctx context.Context, p settings.Paths) (out []string) {
	if _, err := os.Lstat(record(p)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_ = change(ctx, p, func(all map[string]made) {
		for path, m := range all {
			rel, err := filepath.Rel(p.Root, path)
			if err != nil || !paths.Within(p.Root, path) {
				continue
			}
			if delete(all, path); sumOf(path) != m.Sum {
				continue // somebody wrote it since
			}
			how := "changed"
			if m.New {
				how = "made"
			}
			out = append(out, fmt.Sprintf("%s was %s by a command of the session %s, and is read as instructions: look at it", clip.Visible(filepath.ToSlash(rel)), how, m.Session))
		}
	})
	slices.Sort(out)
	return out
}

package hooks

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/text/clip"
)

// maxWatched bounds how many files hooks have watched.
const maxWatched = 200

// A watcher tells hooks of files that change.
type watcher struct {
	g     *Gate
	files []string
	w     *watch.Watcher
	life  context.Context
	end   context.CancelFunc

	mu   sync.Mutex // guards seen, and is held while hooks hear of what changed
	seen map[string]stamp
}

// A stamp is how a file looked; the zero one is that there is none.
type stamp struct {
	mod  time.Time
	size int64
}

func stampOf(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// look has these files watched besides those that matchers of FileChanged name; it
// takes the place of those that it was given before.
func (g *Gate) look(paths []string) {
	g.mu.Lock()
	g.paths = paths
	g.mu.Unlock()
	g.relook()
}

// moved has names of files count from the folder that commands run in by now.
func (g *Gate) moved(dir string) {
	g.mu.Lock()
	g.at = dir
	g.mu.Unlock()
	g.relook()
}

// relook has those files watched that hooks want to hear of by now.
func (g *Gate) relook() {
	g.looks.Lock()
	defer g.looks.Unlock()
	files := g.wanted()
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.watch
	if g.dead || was == nil && len(files) == 0 || was != nil && slices.Equal(was.files, files) {
		return
	}
	g.watch = nil
	if len(files) > 0 {
		x := &watcher{g: g, files: files, seen: map[string]stamp{}}
		for _, f := range files {
			x.seen[f] = stampOf(f)
		}
		x.life, x.end = context.WithCancel(context.Background())
		x.w = watch.Start(watch.Config{Files: files, Changed: x.changed})
		g.watch = x
	}
	if was != nil {
		g.wg.Go(was.close) // it may be what runs here; it ends with its hooks
	}
}

// wanted are the files that hooks want to hear of, sorted.
func (g *Gate) wanted() (files []string) {
	if !g.Hooked(hook.FileChanged) {
		return nil
	}
	g.mu.Lock()
	at, paths := cmp.Or(g.at, g.conf.Dir), g.paths
	g.mu.Unlock()
	for _, name := range g.run.Set().Listed(hook.FileChanged) {
		files = append(files, filepath.Join(at, name))
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			g.once("watchPaths of a hook are absolute: " + clip.Line(clip.Visible(p), 200) + " is not, and is not watched")
			continue
		}
		files = append(files, filepath.Clean(p))
	}
	slices.Sort(files)
	if files = slices.Compact(files); len(files) > maxWatched {
		g.once("hooks want more files watched than adze does: 200")
		files = files[:maxWatched]
	}
	return files
}

// changed tells hooks of each file that looks different.
func (x *watcher) changed() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range x.files {
		was, now := x.seen[f], stampOf(f)
		how := "change"
		switch {
		case was == now || x.life.Err() != nil:
			continue
		case was == stamp{}:
			how = "add"
		case now == stamp{}:
			how = "unlink"
		}
		x.seen[f] = now
		for _, s := range told(hook.FileChanged, x.g.Hook(x.life, hook.FileInput{Path: f, How: how}, nil).Context) {
			_ = x.g.s.Note(s) // a session that has ended needs none
		}
	}
}

func (x *watcher) close() {
	x.end()
	x.w.Close()
}

// lookNow tells hooks of files that changed in the last moments, which the watcher holds
// back for a while.
func (g *Gate) lookNow() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if x := g.watch; x != nil {
		g.hears.Add(1)
		g.wg.Go(func() { // ends with the watcher's life
			defer g.hears.Done()
			x.changed()
		})
	}
}

// unwatch ends the watch for good.
func (g *Gate) unwatch() {
	g.mu.Lock()
	x := g.watch
	g.watch, g.dead = nil, true
	g.mu.Unlock()
	if x != nil {
		x.close()
	}
}

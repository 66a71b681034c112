// Package archive answers what clients ask about sessions that are kept on disk: which
// there are, how they began and ended, what they changed. It opens none to go on with it.
package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/git/info"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/rewind"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

// An Archive is the sessions of a person, seen from a folder.
type Archive struct {
	Paths   settings.Paths
	Environ []string // of git
}

// List are what can be gone on with, of this project or of all.
func (a Archive) List(ctx context.Context, all bool) (out ask.SessionList, err error) {
	p := a.Paths
	key := sessions.Key(p.Root)
	of := key
	if all {
		of = ""
	}
	list, err := sessions.In(p.State).List(ctx, of)
	if err != nil {
		return out, err
	}
	if !all {
		if list, err = besides(ctx, p, list); err != nil {
			return out, err
		}
	}
	if i, ok := info.Find(p.Dir); ok {
		out.Branch = i.Branch
	}
	var facts [][5]string
	for _, i := range list {
		c := saved(p, i)
		c.Name = clip.Line(clip.Clean(i.Name()), 100)
		c.Find = clip.Clean(i.First + " " + i.Last + " " + i.Branch)
		row := [...]string{"", clip.Age(time.Since(i.Changed)), clip.Size(i.Size), clip.Line(clip.Clean(i.Branch), maxBranch), ""}
		if i.Running {
			row[0] = "running"
		}
		if i.Cost > 0 {
			row[4] = fmt.Sprintf("$%.2f", i.Cost)
		}
		facts = append(facts, row)
		c.About = prompts(i)
		if all || i.Key != key {
			c.About = strings.TrimRight(filepath.Base(i.Start)+"  "+c.About, " ")
		}
		out.List = append(out.List, c)
	}
	for i, right := range columns(facts) {
		out.List[i].Right = right
	}
	return out, nil
}

// saved is what is told of a session apart from its row in a list.
func saved(p settings.Paths, i store.Info) ask.Saved {
	s := ask.Saved{Choice: ask.Choice{ID: i.ID}, Title: clip.Line(clip.Clean(i.Title), 200), Branch: i.Branch, Parent: i.Parent, Elsewhere: elsewhere(p, i)}
	if i.Holder != nil {
		s.Holder = i.Holder.Error()
	}
	return s
}

// besides adds the sessions of other worktrees of the repository, which go on
// here as well, the newest first.
func besides(ctx context.Context, p settings.Paths, list []store.Info) ([]store.Info, error) {
	for _, top := range info.Worktrees(p.Dir) {
		more, err := sessions.In(p.State).List(ctx, sessions.Key(top))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	order.By(list, func(a, b store.Info) int { return b.Changed.Compare(a.Changed) })
	return list, nil
}

// prompts are the first and the last prompt of a session, as far as its name
// does not say them.
func prompts(i store.Info) string {
	var out []string
	for _, s := range []string{i.First, i.Last} {
		if s = clip.Line(clip.Clean(s), 100); s != "" && s != clip.Line(clip.Clean(i.Name()), 100) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) == 1 && i.Last != i.First && i.Title == "" {
		return "… " + out[0]
	}
	return strings.Join(out, " … ")
}

// maxBranch bounds the name of a branch in the picker, in characters.
const maxBranch = 24

// columns are rows of facts as lines whose columns stand below each other:
// whether it runs, age, size, branch, cost.
func columns(rows [][5]string) []string {
	var wide [5]int
	for _, r := range rows {
		for k, s := range r {
			wide[k] = max(wide[k], draw.Width(s))
		}
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		var parts []string
		for k, s := range r {
			pad := strings.Repeat(" ", wide[k]-draw.Width(s))
			switch {
			case wide[k] == 0:
			case k == 3: // names begin below each other, numbers end
				parts = append(parts, s+pad)
			default:
				parts = append(parts, pad+s)
			}
		}
		out[i] = strings.Join(parts, "  ")
	}
	return out
}

// opensIn reports whether a session of another folder goes on in dir: the folder is a
// worktree of the same repository, or it is gone.
func opensIn(dir, start string) bool {
	if _, err := os.Stat(start); errors.Is(err, os.ErrNotExist) {
		return true
	}
	return info.Siblings(dir, start)
}

// Diff is what is different on disk now from before a session, by file.
func (a Archive) Diff(ctx context.Context, session string) ([]view.Block, error) {
	st, i, err := a.saved(ctx, session)
	if err != nil {
		return nil, err
	}
	blocks, err := rewind.Diff(ctx, st, i, a.Environ)
	for k, b := range blocks {
		if x, ok := b.(view.Diff); ok {
			x.Path = paths.Tilde(paths.Short(a.Paths.Dir, x.Path), a.Paths.Home)
			blocks[k] = x
		}
	}
	return blocks, err
}

// searchHits bounds what a search in the picker finds.
const searchHits = 50

// Search looks through whole conversations, as far as the index has them.
func (a Archive) Search(ctx context.Context, words string, all bool) map[string]string {
	p := a.Paths
	q := fulltext.Query{Words: words, Limit: searchHits}
	if !all && len(info.Worktrees(p.Dir)) == 0 { // of hits elsewhere nothing is shown
		q.Project = sessions.Key(p.Root)
	}
	hits, err := fulltext.In(p.State, nil).Search(ctx, q)
	if err != nil {
		return nil // titles and prompts are searched all the same
	}
	out := map[string]string{}
	for _, hit := range hits {
		out[hit.ID] = clip.Line(clip.Clean(hit.Snippet), 200)
	}
	return out
}

// elsewhere is the command that goes on with a session in its own folder, "" where it
// opens in this one.
func elsewhere(p settings.Paths, i store.Info) string {
	if i.Key == sessions.Key(p.Root) || opensIn(p.Dir, i.Start) {
		return ""
	}
	return "cd " + hint.Shell(i.Start) + " && adze --resume " + i.ID
}

// Find looks up the session that words name.
func (a Archive) Find(ctx context.Context, words string) (ask.Saved, error) {
	p := a.Paths
	i, err := sessions.In(p.State).Find(ctx, sessions.Key(p.Root), words)
	switch {
	case errors.Is(err, store.ErrNone):
		return ask.Saved{}, hint.With(fmt.Errorf("there is no session %q", words), "/resume lists them")
	case err != nil:
		return ask.Saved{}, err
	}
	return saved(p, i), nil
}

// saved finds a session by its id.
func (a Archive) saved(ctx context.Context, id string) (sessions.Store, store.Info, error) {
	st := sessions.In(a.Paths.State)
	st.Key, _ = seal.Key(a.Paths.State) // what is written without counts as a stranger's; where there is none, all is
	i, err := st.Find(ctx, sessions.Key(a.Paths.Root), id)
	return st, i, err
}

// previewChars bounds each text of a preview.
const previewChars = 400

// Preview is how a session began, and how it stands.
func (a Archive) Preview(ctx context.Context, id string) (string, error) {
	st, i, err := a.saved(ctx, id)
	if err != nil {
		return "", err
	}
	var last string // what the model said last
	for e, err := range st.Read(ctx, i, 0) {
		if err != nil {
			return "", err
		}
		if r, ok := e.Body.(event.Replied); ok {
			for _, part := range r.Message.Parts {
				if t, ok := part.(llm.Text); ok && strings.TrimSpace(t.S) != "" {
					last = t.S
				}
			}
		}
	}
	quote := func(s string) string { return "> " + clip.Line(clip.Clean(s), previewChars) + "\n\n" }
	text := quote(i.First)
	if i.Last != i.First {
		text += quote(i.Last)
	}
	if i.Open && !i.Running {
		text += "*Its last turn was cut off.* "
	}
	return text + clip.Middle(clip.Clean(last), previewChars, ""), nil
}

// Rename titles a session that no process has open.
func (a Archive) Rename(ctx context.Context, id, title string) error {
	st, i, err := a.saved(ctx, id)
	if err != nil {
		return err
	}
	log, err := st.Open(ctx, i)
	var locked *store.LockedError
	switch {
	case errors.As(err, &locked):
		return &op.Refusal{Code: op.Taken, Text: "it is open elsewhere: rename it there", Err: err}
	case err != nil:
		return err
	}
	err = log.Append(ctx, event.Event{Seq: i.Seq + 1, Time: time.Now(), Body: event.Titled{Title: title, By: "person"}})
	return errors.Join(err, log.Close())
}

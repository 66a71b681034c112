package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Catalogue is the sessions that are kept somewhere. They belong to
// projects; "" is all of them. Nobody else knows where a session is kept.
type Catalogue interface {
	// List returns the sessions of a project, the one used last first.
	List(ctx context.Context, project string) ([]Info, error)
	// Find looks for a session by ID, the beginning of an ID (four characters
	// or more), title, or words of its title and prompts, in this order.
	// Sessions of the project come first; the others are looked at when none
	// of it fits. "" is the one of the project that was used last. The error
	// is ErrNone, or an *AmbiguousError.
	Find(ctx context.Context, project, query string) (Info, error)
	// Fork copies a session's events up to and including at (0: all of them)
	// into a new session of a project. first takes the place of the parent's
	// first event; its Schema, Parent and At are filled in, and its ID where it has
	// none. Lines of a newer version are copied byte for byte. The parent may be running.
	Fork(ctx context.Context, parent Info, at event.Seq, project string, first event.SessionStarted) (Info, error)
	// Remove deletes a session for good, with all that is kept beside its
	// log. The error is ErrRunning while a process writes it.
	Remove(ctx context.Context, i Info) error
	// Read yields the events of a session above after, to the end of its log;
	// Follow goes on with those that come, until ctx ends.
	Read(ctx context.Context, i Info, after event.Seq) iter.Seq2[event.Event, error]
	Follow(ctx context.Context, i Info, after event.Seq) iter.Seq2[event.Event, error]
}

// An Opener opens the sessions of a Catalogue for writing.
type Opener interface {
	// Create begins a session. Nothing is kept before its first event. The
	// error is ErrExists when there is one with this ID.
	Create(ctx context.Context, project, id string) (Session, error)
	// Open goes on with a session. The error is a *LockedError when another
	// process writes it.
	Open(ctx context.Context, i Info) (Session, error)
}

// A Session is a log that is open for writing, with what is kept beside it.
type Session interface {
	Log
	Keeper
	// Report says what was wrong with the log as far as it was read.
	Report() Report
	// File is the log as other programs may read it, "" when nothing is on a disk.
	File() string
	// Scratch is a folder of the session's own, where tools may keep files; it
	// may not exist yet. It is "" when nothing is on a disk.
	Scratch() string
	// Spill keeps a text and returns the path of the file that holds it. The
	// same text gives the same file. It is on disk for good as soon as a durable
	// event after it is. The error is ErrNoDisk when nothing is on a disk.
	Spill(text string) (path string, err error)
	// Blobs keeps contents beside the log, by their hash.
	Blobs() Blobs
}

// Blobs keep contents by their SHA-256, as hex. What Put kept survives the end
// of the process; a power cut, as soon as a durable event after it does.
type Blobs interface {
	Put(content []byte) (hash string, err error)
	Get(hash string) ([]byte, error)
}

// A Keeper keeps beside a log what a fold of it came to, so that opening the
// log reads only its end.
type Keeper interface {
	// Place is the end of the log now. It is zero when no snapshot of it can be
	// kept.
	Place() Place
	// Keep keeps a snapshot in the place of the one before: data is what the
	// fold came to at a place. fold names the version of what made it.
	Keep(ctx context.Context, fold string, at Place, data []byte) error
	// Kept returns the newest snapshot and its place; ok is false when there is
	// none of this version that fits the log as it is. It is called before
	// more than the beginning of the log is read.
	Kept(fold string) (data []byte, at Place, ok bool)
}

// A Place is the end of a log at some time.
type Place struct {
	Seq   event.Seq `json:"seq"` // of the event before it
	Off   int64     `json:"off"` // in bytes
	Lines int       `json:"lines"`
	Mark  string    `json:"mark"` // that seals the line before it
}

// Report is what a log's reader found to be wrong with it.
type Report struct {
	Torn   int64  `json:"-"` // bytes of a cut last line that were moved aside, to TornAt
	TornAt string `json:"-"` // a file's path
	// Cut is how many bytes of the log are gone that were there, sealed and on
	// disk.
	Cut      int64 `json:"-"`
	Bad      []int // numbers of lines that are no event; at most 1,000 are listed
	Repeated int   // lines whose seq had come before
	// Foreign lines are not as this machine's adze wrote them: changed, added,
	// or after one that was taken out. Sealed says that the first line is,
	// so that the log was begun here. Both are zero without a key.
	Foreign int
	Sealed  bool
}

// Errors of a Catalogue.
var (
	ErrNone    = errors.New("there is no such session")
	ErrRunning = errors.New("the session is running")
	ErrExists  = errors.New("the session exists already")
	ErrNoDisk  = errors.New("nothing is kept on disk")
)

// Info is what a list shows of a session.
type Info struct {
	ID     string      `json:"id"`
	Key    string      `json:"project"`
	Dir    string      `json:"dir"`            // where it is kept, for people
	Start  string      `json:"cwd"`            // the folder it works in
	Root   string      `json:"root,omitempty"` // the repository's root
	Branch string      `json:"branch,omitempty"`
	Parent string      `json:"parent,omitempty"` // the session it is a copy of (a fork)
	Title  string      `json:"title,omitempty"`
	First  string      `json:"first_prompt"` // on one line of at most 200 characters, as Last
	Last   string      `json:"last_prompt"`
	Model  string      `json:"model"`          // that was asked last
	Wish   string      `json:"wish,omitempty"` // the name of the session's model, where that is not Model
	Mode   policy.Mode `json:"mode,omitempty"`
	Turns  int         `json:"turns"`
	Cost   float64     `json:"cost_usd"` // of requests with a known price
	// Unpriced are the requests without a known price.
	Unpriced int          `json:"unpriced,omitempty"`
	Usage    llm.Usage    `json:"usage"`
	Size     int64        `json:"size"` // of the log, in bytes
	Began    time.Time    `json:"began"`
	Changed  time.Time    `json:"changed"` // when the log was last written
	Open     bool         `json:"open"`    // its last turn has no end: running, or cut off
	Running  bool         `json:"running"` // a process has it open: Holder
	Holder   *LockedError `json:"-"`
	Seq      event.Seq    `json:"seq"` // of its last event
}

// begun reports whether something was asked in the session.
func (i Info) begun() bool { return i.Turns > 0 || i.First != "" }

// ServedModel is the model of a session whose calls another agent makes (adze mcp
// serve). Nobody goes on with it without naming it.
const ServedModel = "mcp/client"

// promptChars bounds what a list shows of a prompt.
const promptChars = 200

// CostText is the cost for people: what is not known is not called nothing.
func (i Info) CostText(digits int) string {
	switch {
	case i.Unpriced == 0:
		return fmt.Sprintf("$%.*f", digits, i.Cost)
	case i.Cost == 0:
		return "unknown"
	}
	return fmt.Sprintf("$%.*f and more", digits, i.Cost)
}

// Name is the title, or else the first prompt.
func (i Info) Name() string { return cmp.Or(i.Title, i.First, "(no prompt yet)") }

// Spend counts a request to a model.
func (i *Info) Spend(u llm.Usage, cost float64, priced bool) {
	i.Cost += cost
	i.Usage = i.Usage.Add(u)
	if !priced && cost == 0 && u != (llm.Usage{}) {
		i.Unpriced++
	}
}

// Count takes over what an event says that a list shows.
func (i *Info) Count(b event.Body) {
	switch b := b.(type) {
	case event.SessionStarted:
		i.Start, i.Root, i.Branch, i.Parent = b.Dir, b.Root, b.Branch, b.Parent
	case event.Resumed:
		i.Start = cmp.Or(b.Dir, i.Start)
	case event.InputAccepted:
		if b.Hidden {
			return
		}
		i.Last = clip.Line(clip.Clean(b.Text), promptChars)
		i.First = cmp.Or(i.First, i.Last)
	case event.TurnStarted:
		i.Turns++
		i.Open, i.Model, i.Wish, i.Mode = true, b.Model, b.Wish, b.Mode
	case event.TurnEnded:
		i.Open = false
	case event.Replied:
		i.Spend(b.Usage, b.Cost, b.Priced)
	case event.Dropped:
		i.Spend(b.Usage, b.Cost, b.Priced)
	case event.Spent:
		i.Spend(b.Usage, b.Cost, b.Priced)
	case event.ModeChanged:
		i.Mode = b.Mode
	case event.ModelChanged:
		i.Model, i.Wish = b.Model, b.Wish
	case event.Titled:
		i.Title = clip.Line(clip.Clean(b.Title), promptChars)
	default: // a list shows nothing of the others
	}
}

// An AmbiguousError says that several sessions fit, newest first.
type AmbiguousError struct {
	Query   string
	Matches []Info
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d sessions fit %q:", len(e.Matches), e.Query)
	for i, m := range e.Matches {
		if i == 5 {
			fmt.Fprintf(&b, "\n  … and %d more", len(e.Matches)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", m.ID, m.Name())
	}
	return b.String()
}

// Hint is what a person can do.
func (e *AmbiguousError) Hint() string { return "give the ID of one of them" }

// Match does what Catalogue.Find says, among all sessions, the one used last
// first.
func Match(all []Info, project, query string) (Info, error) {
	query = strings.TrimSpace(query)
	if query == "" {
		goesOn := func(i Info) bool { return i.Key == project && i.Model != ServedModel }
		// One that ended before its first prompt, or could not be written, hides no conversation.
		for _, fits := range []func(Info) bool{func(i Info) bool { return goesOn(i) && i.begun() }, goesOn} {
			if n := slices.IndexFunc(all, fits); n >= 0 {
				return all[n], nil
			}
		}
		return Info{}, fmt.Errorf("%w here yet", ErrNone)
	}
	lower := strings.ToLower(query)
	tests := []func(Info) bool{
		func(i Info) bool { return i.ID == lower },
		func(i Info) bool { return begins(i, lower) },
		func(i Info) bool { return strings.EqualFold(i.Title, query) },
		func(i Info) bool { return hasWords(i, strings.Fields(lower)) },
	}
	for _, here := range []bool{true, false} {
		for _, fits := range tests {
			var found []Info
			for _, i := range all {
				if (i.Key == project) == here && fits(i) {
					found = append(found, i)
				}
			}
			switch len(found) {
			case 0:
			case 1:
				return found[0], nil
			default:
				return Info{}, &AmbiguousError{query, found}
			}
		}
	}
	return Info{}, hint.With(fmt.Errorf("%w: %q", ErrNone, query), `"adze sessions list" lists them`)
}

// begins reports whether an ID begins with enough of itself.
func begins(i Info, lower string) bool { return len(lower) >= 4 && strings.HasPrefix(i.ID, lower) }

// Named reports whether a query is the session's ID, the beginning of it, or its title,
// and not only words that it holds.
func (i Info) Named(query string) bool {
	query = strings.TrimSpace(query)
	return begins(i, strings.ToLower(query)) || i.Title != "" && strings.EqualFold(i.Title, query)
}

func hasWords(i Info, words []string) bool {
	text := strings.ToLower(i.Title + "\n" + i.First + "\n" + i.Last)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

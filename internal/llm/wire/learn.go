package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Memory keeps what servers refused, so that each refusal is met once for as
// long as the memory lasts, and what a person was told of it. It is safe for use by several goroutines.
type Memory struct {
	mu      sync.Mutex
	disk    Disk
	loaded  bool
	refused map[string][]string // by keyOf: names of habits
	said    map[string]bool
}

// A Disk keeps a Memory for other processes. Keys are digests and names are those of
// habits, so that nothing in it is secret.
type Disk interface {
	// Load is what was kept; nil where nothing can be read.
	Load() map[string][]string
	// Save adds one entry. Where that fails, the refusal is met again.
	Save(key string, names []string)
}

// Use has the Memory outlive its process.
func (m *Memory) Use(d Disk) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.disk == nil {
		m.disk = d
	}
}

// First reports whether it is asked about something for the first time. A
// Memory that is nil forgets.
func (m *Memory) First(what string) bool {
	if m == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.said[what]
	if m.said == nil {
		m.said = map[string]bool{}
	}
	m.said[what] = true
	return !known
}

// keyOf is what a server and a model are kept by. An address may hold a password.
func keyOf(base, model string) string {
	sum := sha256.Sum256([]byte(base + " " + model))
	return hex.EncodeToString(sum[:12])
}

func (m *Memory) of(key string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused == nil {
		m.refused = map[string][]string{}
	}
	if !m.loaded && m.disk != nil {
		for k, names := range m.disk.Load() {
			if m.refused[k] == nil {
				m.refused[k] = names
			}
		}
	}
	m.loaded = m.loaded || m.disk != nil
	return slices.Clone(m.refused[key])
}

// keep is told of an answer to a request that does without these habits. That tools are
// refused is no lasting fact: it depends on how a server was started, and without them little can be
// done. So each process asks anew.
func (m *Memory) keep(key string, names []string) {
	lasting := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == toolsHabit })
	}
	m.mu.Lock()
	same := slices.Equal(lasting(m.refused[key]), lasting(names))
	m.refused[key] = names
	disk := m.disk
	m.mu.Unlock()
	if !same && disk != nil {
		disk.Save(key, lasting(names))
	}
}

// A Habit is something that requests of a wire have, and that some servers refuse.
type Habit struct {
	Name string
	// Sent is what a body with it holds; "" is a member named Name.
	Sent string
	// Words: an answer that refuses it has one of them, and one of refusal. None is
	// Name. Case and "_" make no difference.
	Words []string
	// Refused rules in place of Words.
	Refused func(Answer) bool
	// Missed: servers refuse a request because it is not there.
	Missed bool
	// Shape: it is no member of its own but how something is written, which servers
	// refuse in words of any kind; to do without loses nothing.
	Shape bool
	// Guess: the refusal may mean something else. Where nothing is won by doing without,
	// the refusal is what is told.
	Guess bool
}

// An Answer is a refusal.
type Answer struct {
	Status int
	Kind   llm.Kind
	Text   string   // in lower case
	Words  []string // of it, without "_"
}

// Has reports whether an answer has one of these words.
func (a Answer) Has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(a.Words, plain(w)) })
}

func plain(word string) string { return strings.ToLower(strings.ReplaceAll(word, "_", "")) }

// Says reports whether an answer holds one of these texts.
func (a Answer) Says(texts ...string) bool { return containsAny(a.Text, texts) }

// About reports whether the server says that something in the request is wrong.
func (a Answer) About() bool {
	return a.Kind == llm.BadRequest && (a.Status == http.StatusBadRequest || a.Status == http.StatusUnprocessableEntity)
}

var (
	refusing = pattern.Lazy(`(?i)unsupported|not support|unknown|unrecogni[sz]ed|not permitted|not allowed|unexpected|not expected|extra |additional |invalid|must be one of|not available|not valid|forbidden|not enabled|only enabled|cannot find|does not exist|must not|not implemented`)
	missing  = pattern.Lazy(`(?i)missing|required|must be (?:passed|provided|included|present|sent|returned)`)
	word     = pattern.Lazy(`[A-Za-z_]+`)
)

func (h Habit) refused(a Answer) bool {
	if h.Refused != nil {
		return h.Refused(a)
	}
	words := h.Words
	if len(words) == 0 {
		words = []string{h.Name}
	}
	how := refusing
	if h.Missed {
		how = missing
	}
	return a.About() && a.Has(words...) && how().MatchString(a.Text)
}

func (h Habit) sent(body []byte) bool {
	what := h.Sent
	if what == "" {
		what = `"` + h.Name + `":`
	}
	return bytes.Contains(body, []byte(what)) != h.Missed
}

// A Server is whom Learning asks.
type Server struct {
	Base   string // its address
	Reader string // Rules.Reader
	Habits []Habit
	// SealedCalls: the token of a call vouches for reasoning, too.
	SealedCalls bool
}

// A Try is one request, as far as it is made without some habits. The request's messages have
// no reasoning that the server would not read again.
type Try func(r llm.Request, without []string) (Body, iter.Seq2[llm.Chunk, error])

// Learning sends a request to a server, and sends it again, in the same attempt,
// without what the server refuses. What an answer came to is kept for later requests.
// Of habits the first that fits a refusal is given up; where none fits, all
// that are of Shape are, once. Reasoning in the history that is refused (see seal.go) comes
// before habits, and those of every wire (see plain.go) come last.
func (m *Memory) Learning(s Server, r llm.Request, try Try) iter.Seq2[llm.Chunk, error] {
	key := keyOf(s.Base, r.Model)
	return func(yield func(llm.Chunk, error) bool) {
		without := m.of(key)
		var first error // before shapes were changed on a guess
		note := ""
		for {
			asked := r
			asked.Messages = s.unsealed(r.Messages, without)
			asked = plainly(asked, without)
			body, chunks := try(asked, without)
			var again []string // nil: the request is over
			for chunk, err := range chunks {
				if err == nil && len(without) > 0 {
					m.keep(key, without)
				}
				if err != nil {
					if again = s.sealsGivenUp(err, asked, body, without, try); again != nil {
						break
					}
					if more, guess := givenUp(err, body, slices.Concat(s.Habits, plainHabits(asked)), without, first == nil); len(more) > 0 {
						if guess && first == nil {
							first = err
						}
						again = slices.Concat(without, more)
						if slices.Contains(more, toolsHabit) {
							note = fmt.Sprintf(toolsNote, s.Reader, causeOf(err))
						}
						break
					}
					if status := refusal(err).Status; first != nil && status >= 400 && status < 500 {
						err = first
					}
				}
				if fin, ok := chunk.(llm.Finished); ok && len(r.Tools) > 0 && slices.Contains(without, toolsHabit) {
					fin.NoTools, fin.Note = true, note
					chunk = fin
				}
				if !yield(chunk, err) {
					return
				}
			}
			if again == nil {
				return
			}
			without = again
		}
	}
}

// causeOf is what a server said, without the provider's name and the status.
func causeOf(err error) string {
	if e := new(llm.Error); errors.As(err, &e) && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

// refusal is what a server said to a request that it did not begin to answer.
func refusal(err error) Answer {
	var e *llm.Error
	if !errors.As(err, &e) || e.Begun || e.Err == nil {
		return Answer{}
	}
	a := Answer{Status: e.Status, Kind: e.Kind, Text: strings.ToLower(e.Err.Error())}
	for _, w := range word().FindAllString(a.Text, -1) {
		a.Words = append(a.Words, plain(w))
	}
	return a
}

// givenUp are the habits that a server would not take, and whether that is a guess.
func givenUp(err error, body Body, habits []Habit, without []string, mayGuess bool) (names []string, guess bool) {
	a := refusal(err)
	if a.Status == 0 {
		return nil, false
	}
	whole := body.Bytes()
	for _, h := range habits {
		if slices.Contains(without, h.Name) || !h.sent(whole) {
			continue
		}
		if h.refused(a) {
			return []string{h.Name}, h.Guess
		}
		if h.Shape && mayGuess && a.About() {
			names = append(names, h.Name)
		}
	}
	return names, true
}

// Package goal has a small model judge after a turn whether the goal of a session is
// reached, by what the log says was done, and says how the session goes on. It refuses to
// take the word of the model that works for the goal, and it neither reads nor writes
// anything.
package goal

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/text/clip"
)

//go:embed instructions.md
var instructions string

// Timeout bounds one judgement, with all attempts at it.
const Timeout = time.Minute

// maxReason bounds the reason of a judgement, in characters.
const maxReason = 500

// A Verdict is what a judgement says.
type Verdict string

// Verdicts.
const (
	Reached    Verdict = "reached"
	NotReached Verdict = "not_reached"
	Waiting    Verdict = "waiting" // for something that runs in the background
	Impossible Verdict = "impossible"
)

// A Judgement is a verdict and why, in a sentence.
type Judgement struct {
	Verdict Verdict
	Reason  string
}

// A Case is a goal with what was done for it.
type Case struct {
	Condition string
	Evidence  *Evidence
	Running   []string // what runs in the background, in words
	Earlier   []string // the newest reasons that were given, oldest first
}

// Judge judges a case within Timeout. spent is zero when no model answered. The error says
// why there is no judgement.
func (k Case) Judge(ctx context.Context, m judge.Model) (j Judgement, spent event.Spent, err error) {
	text, first, err := k.document()
	if err != nil {
		return j, spent, err
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	out, spent, err := judge.Ask(ctx, m, strings.TrimSpace(instructions), text)
	if spent != (event.Spent{}) {
		spent.For = event.ForGoal
	}
	if err != nil {
		return j, spent, fmt.Errorf("whoever judges the goal gave no answer: %w", err)
	}
	if j, err = k.read(out, first); err != nil {
		return j, spent, fmt.Errorf("whoever judges the goal gave no usable answer: %w", err)
	}
	return j, spent, nil
}

func (k Case) token() string {
	return judge.Token(k.Condition, strconv.FormatUint(uint64(k.Evidence.Seq), 10), strings.Join(k.Earlier, "\n"))
}

// document is the case as one JSON object, and the number of its first entry.
func (k Case) document() (text string, first int, err error) {
	log, first := k.Evidence.shown()
	doc := struct {
		Token     string           `json:"token"`
		Condition string           `json:"condition"`
		Left      int              `json:"left_out,omitempty"`
		Log       []map[string]any `json:"log"`
		Words     string           `json:"last_words,omitempty"`
		Running   []string         `json:"running,omitempty"`
		Earlier   []string         `json:"earlier,omitempty"`
	}{
		Token: k.token(), Condition: judge.Visible(k.Condition), Left: first - 1, Log: log,
		Words: clip.Middle(judge.Visible(k.Evidence.words), maxWords, ""), Running: k.Running, Earlier: k.Earlier,
	}
	if doc.Log == nil {
		doc.Log = []map[string]any{}
	}
	text, err = judge.Document(doc)
	return text, first, err
}

// read reads an answer about a case whose log begins with this entry. That the goal is
// reached counts only with an entry that shows it.
func (k Case) read(answer string, first int) (j Judgement, err error) {
	got, err := judge.Read(answer, k.token(), "verdict", "proof", "reason")
	if err != nil {
		return j, err
	}
	j = Judgement{Verdict(got["verdict"]), clip.Line(judge.Visible(strings.Join(strings.Fields(got["reason"]), " ")), maxReason)}
	switch j.Verdict {
	case Reached:
		n, err := strconv.Atoi(strings.TrimSpace(got["proof"]))
		words := got["proof"] == "last_words" && strings.TrimSpace(k.Evidence.words) != ""
		if !words && (err != nil || !k.Evidence.shows(n, first)) {
			return Judgement{NotReached, "Nothing in the log shows yet that the goal is reached: show it by a call whose result says so."}, nil
		}
	case NotReached, Impossible:
	case Waiting:
		if len(k.Running) == 0 {
			j.Verdict = NotReached
		}
	default:
		return j, errors.New("it does not say reached, not_reached, waiting or impossible")
	}
	if j.Reason == "" {
		return j, errors.New("it gives no reason")
	}
	return j, nil
}

// Bounds of judgements in a row that bring nothing: with the same reason, and with
// whatever reasons.
const (
	maxSame  = 3
	maxStill = 8
)

// A State is what of a goal decides how a session goes on after a judgement.
type State struct {
	Why         string // of the judgement before
	Same, Still int    // as in event.GoalChanged, of the judgement before
	Acted       bool   // something was done since it

	Turns, Tokens int // used
	USD           float64
	// Bounds; 0: none.
	MaxTurns, MaxTokens int
	MaxUSD              float64
}

// After is how a goal is after a judgement.
func (s State) After(j Judgement) event.GoalChanged {
	out := event.GoalChanged{Status: event.GoalActive, Why: j.Reason, By: event.GoalByJudge}
	switch j.Verdict {
	case Reached:
		out.Status = event.GoalComplete
		return out
	case Impossible:
		out.Status = event.GoalBlocked
		return out
	case Waiting:
		out.Same, out.Still = s.Same, s.Still
		return out
	case NotReached:
	}
	if !s.Acted {
		out.Still = s.Still + 1
	}
	if out.Same = 1; !s.Acted && plain(s.Why) == plain(j.Reason) {
		out.Same = s.Same + 1
	}
	if out.Same >= maxSame {
		return event.GoalChanged{Status: event.GoalBlocked, By: event.GoalByBound, Why: fmt.Sprintf("nothing was done between the last %d checks, which all said: %s", maxSame, j.Reason)}
	}
	if out.Still >= maxStill {
		return event.GoalChanged{Status: event.GoalBlocked, By: event.GoalByBound, Why: fmt.Sprintf("nothing was done between the last %d checks. The newest said: %s", maxStill, j.Reason)}
	}
	if why := s.over(); why != "" {
		return event.GoalChanged{Status: event.GoalBudget, By: event.GoalByBound, Why: why + ". The last check said: " + j.Reason}
	}
	return out
}

// over says which bound is reached, "" where none is.
func (s State) over() string {
	switch {
	case s.MaxTurns > 0 && s.Turns >= s.MaxTurns:
		return "it took " + clip.Count(s.Turns, "turn")
	case s.MaxTokens > 0 && s.Tokens >= s.MaxTokens:
		return fmt.Sprintf("it took %s of %s tokens", clip.Thousands(s.Tokens), clip.Thousands(s.MaxTokens))
	case s.MaxUSD > 0 && s.USD >= s.MaxUSD:
		return fmt.Sprintf("it cost $%.2f of $%.2f", s.USD, s.MaxUSD)
	}
	return ""
}

// plain is a reason without what two wordings of the same differ in: case, marks, blanks.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }), " ")
}

// Reasons adds the newest reason to those that were given before, of which the last few
// are kept.
func Reasons(earlier []string, why string) []string {
	if n := len(earlier); n > 0 && earlier[n-1] == why {
		return earlier
	}
	out := append(slices.Clip(earlier), why)
	return out[max(0, len(out)-3):]
}

// Begin tells the model of a goal that was set.
const Begin = `<notice>
The person set a goal for this session: the next prompt is a condition, and the work is over when it is met. After each of your turns it is checked, by results of calls and changes of files, never by what you say. So end a turn only when the log shows that the condition is met: run what proves it after the last change. If it cannot be met, or not without the person, say what is in the way.
</notice>`

// GoOn is the input of a turn that goes on with a goal.
func GoOn(condition, reason string) string {
	clean := strings.NewReplacer("</", "< /")
	return "<notice>\nThe goal of this session is not reached yet. It is: " + clean.Replace(clip.Clean(condition)) + "\nThe check after your last turn says: " + clean.Replace(clip.Clean(reason)) + "\nGo on, and prove it with a call.\n</notice>"
}

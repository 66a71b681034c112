package background

import (
	"context"
	_ "embed"
	"strings"
	"time"
	"unicode"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/miniagent"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
)

//go:embed suggest.md
var suggestText string

// Bounds of a suggestion: how long it is waited for, what of the conversation a model is
// shown that does not have it, in bytes, and its characters.
const (
	suggestTime  = 20 * time.Second
	suggestShown = 8_000
	maxSuggested = 100
)

// suggest has the next prompt suggested, when a person is likely to have one.
func (w *Watch) suggest(ctx context.Context) {
	if w.Suggests == nil || !w.Suggests() {
		return
	}
	st := w.Session.State()
	if !awaits(st) || !w.suggester.begin() {
		return
	}
	a := suggestTask(st)
	j, ok := w.plan(ctx, st, a)
	if !ok {
		w.suggester.end(ctx, errNobody)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, suggestTime)
	w.unsuggest = cancel
	w.jobs.Go(func() { // ends with the helper, which ends with ctx
		defer cancel()
		r, err := w.run(ctx, st, a, j)
		w.suggester.end(ctx, err) // nobody misses what was not suggested
		if now := w.Session.State(); err == nil && awaits(now) && now.Turns == st.Turns {
			if text := oneLine(r.Text, maxSuggested); text != "" {
				_ = w.Session.Report(event.Suggested{Text: w.Hide(text)}) // the session may have ended
			}
		}
	})
}

// awaits reports whether nothing goes on before a person says something.
func awaits(st transcript.State) bool {
	return st.Running == "" && st.Turn.End.How == event.Done && len(st.Queue) == 0 && len(st.Working()) == 0 && st.Pursued() == nil && st.Deferred() == nil && len(st.Said) > 0
}

func suggestTask(st transcript.State) assignment {
	said := st.Said[len(st.Said)-1]
	return assignment{purpose: event.ForNext, after: said.Seq - 1, text: strings.TrimSpace(suggestText), reply: 30, cap: 400, turns: 1, shown: suggestShown, limit: miniagent.Limit{Read: none, Write: none}}
}

func none(string) bool { return false }

// Suggest says what a person may want to say next, "" where that is not clear, or where
// nobody can say it.
func Suggest(ctx context.Context, c Config) string {
	ctx, cancel := context.WithTimeout(ctx, suggestTime)
	defer cancel()
	w := New(c)
	st := c.Session.State()
	if !awaits(st) {
		return ""
	}
	w.purse.turn = st.Turn.Spent.Usage
	w.purse.last = llm.Usage{CacheRead: st.Cache.Read}
	a := suggestTask(st)
	j, ok := w.plan(ctx, st, a)
	if !ok {
		return ""
	}
	r, err := w.run(ctx, st, a, j)
	if err != nil {
		return ""
	}
	return w.Hide(oneLine(r.Text, maxSuggested))
}

// oneLine is the line in an answer, of at most max characters, "" where there is none: a
// model that has nothing to say says so, and what is long or of several lines is not what was
// asked for.
func oneLine(answer string, max int) string {
	if _, after, ok := strings.Cut(answer, "</think>"); ok {
		answer = after
	}
	s := strings.Trim(clip.Visible(strings.TrimSpace(clip.Clean(answer))), "\"'`“”„‘’«» ")
	word := strings.ToLower(strings.TrimRight(s, ".!。 "))
	switch {
	case word == "nothing", word == "none", strings.ContainsAny(strings.TrimSpace(answer), "\n\r"), len([]rune(s)) > max, strings.HasPrefix(s, "<"):
		return ""
	case strings.IndexFunc(s, unicode.IsLetter) < 0:
		return ""
	}
	return s
}

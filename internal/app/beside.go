package app

import (
	"context"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/background"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/settings"
)

// accompany does beside the turns what nobody waits for. In print mode it does
// nothing: a run ends when its answer is there, and costs what it was asked for.
// Its sessions are found all the same, by who searches.
func (r *Running) accompany() {
	r.beside = func() {}
	if !r.place.process.front.Print && r.Kept && r.spec.Child == nil {
		r.beside = background.Start(r.company())
	}
}

// company is what accompanies the session.
func (r *Running) company() background.Config {
	at := r.place
	return background.Config{
		Session: r.Session, After: r.After, State: at.Paths.State, Loop: r.loop, Home: at.Paths.Home, Hide: at.process.hide.String, Mask: r.mask,
		Titler: func(ctx context.Context) (background.Completer, bool) {
			m := at.models.Load()
			if !at.Config().Titles || m == nil {
				return nil, false
			}
			return m.Titles(ctx, r.Target().ID())
		},
		Models: func(ctx context.Context) background.Models {
			main := r.Target()
			out := background.Models{Main: main}
			if m := at.models.Load(); m != nil {
				out.Small, out.Share = m.Beside(ctx, main.ID())
			}
			return out
		},
		Rules: func() policy.Rules {
			rules, _ := settings.UsableRules(at.Config(), at.Paths, func(error) {}) // problems are told elsewhere
			return rules
		},
		Budget:   func() agent.Budget { return r.budget(at.Config()) },
		Suggests: func() bool { return at.Config().Helpers.Suggestions },
		Notes:    func() string { return r.notesFile() },
		Memory: func() string {
			if !at.Config().Memory.Auto || r.profile == prompt.Small {
				return ""
			}
			return r.notes
		},
	}
}

// Aside asks the model a question that does not enter the conversation.
func (r *Running) Aside(ctx context.Context, question string) (string, error) {
	return background.Aside(ctx, r.company(), question)
}

// TellProgress has what agents of the session work on put into lines, whatever settings say.
func (r *Running) TellProgress() { r.telling.Store(true) }

// tellsProgress reports whether what its agents work on is put into lines: as settings say where
// a person looks on, else where the program wants it that drives adze.
func (r *Running) tellsProgress() bool {
	top := r
	for top.spec.Child != nil {
		top = top.spec.Child.Of
	}
	return top.telling.Load() || !r.place.process.front.Print && r.place.Config().Helpers.Progress
}

// Suggest says what a person may want to say next, "" where nobody knows.
func (r *Running) Suggest(ctx context.Context) string { return background.Suggest(ctx, r.company()) }

// TitleOf makes a title of what a session is to be about.
func (r *Running) TitleOf(ctx context.Context, about string) (string, error) {
	return background.Title(ctx, r.company(), about)
}

// notesFile is the file of the session's notes, "" when there are to be none.
func (r *Running) notesFile() string {
	dir := r.log.Scratch()
	if !r.place.Config().Memory.Session || dir == "" {
		return ""
	}
	return background.NotesFile(dir)
}

// sessionNotes are the notes as they are now, and up to which event they tell.
func (r *Running) sessionNotes(context.Context) (text string, through event.Seq, ok bool) {
	path := r.notesFile()
	if through = r.State().Noted; path == "" || through == 0 {
		return "", 0, false
	}
	text, ok = background.ReadNotes(path)
	return text, through, ok && text != ""
}

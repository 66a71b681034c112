package models

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/choose"
)

// checkSmall finds a small model that nothing here has: an error where it was asked for with
// this run, else a word. Without it the main model's sibling answers, or nobody.
func (m *Set) checkSmall() error {
	if m.cfg.SmallModel == "" {
		return nil
	}
	err := m.Check(m.cfg.SmallModel)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("the small model: %w", m.where("small_model", err))
	if s, ok := m.cfg.Setting("small_model"); ok && (s.Origin.Scope == config.Flag || s.Origin.Scope == config.EnvVar) {
		return err
	}
	if m.conf.Memory.First(err.Error()) {
		m.conf.note("%v", err)
	}
	return nil
}

// A Classifier is what rules on questions in the mode auto.
type Classifier = auto.Classifier

// Classifier is what rules on questions in the mode auto. It is the small model;
// without one every question goes to a person.
func (m *Set) Classifier() *Classifier {
	a := m.cfg.Permissions.AutoMode
	return &Classifier{
		Sentences: auto.Sentences{Allow: a.Allow, SoftDeny: a.SoftDeny, HardDeny: a.HardDeny, Environment: a.Environment},
		Model:     &classifier{set: m},
	}
}

// A classifier is the small model, chosen when it is first asked: most sessions never
// are in the mode that asks it.
type classifier struct {
	set *Set

	mu     sync.Mutex // guards what follows
	chosen bool
	small  auto.Small
	there  bool
}

// Complete asks the small model.
func (j *classifier) Complete(ctx context.Context, system string, msgs []llm.Message) (string, event.Spent, error) {
	j.mu.Lock()
	if !j.chosen {
		s, ok := j.set.small(ctx, j.set.Wish())
		if j.there = ok; ok {
			j.small = j.set.asked(s)
		}
		j.chosen = ok || ctx.Err() == nil
	}
	s, ok := j.small, j.there
	j.mu.Unlock()
	if !ok {
		return "", event.Spent{}, errors.New("there is no small model to rule on it")
	}
	return s.Complete(ctx, system, msgs)
}

// Titles is the small model where it may be asked for a title, beside a main
// one. A model that runs here and that nobody chose to be the small one is left
// alone: it would lose what it keeps of the conversation.
func (m *Set) Titles(ctx context.Context, main string) (auto.Small, bool) {
	s, ok := m.small(ctx, main)
	if !ok || s.Local && m.cfg.SmallModel == "" {
		return auto.Small{}, false
	}
	return m.asked(s), true
}

// Beside are the models that a helper may use beside a session whose model is
// main. small is nil where Titles has none. share: main itself may be asked on
// the side, which a script or a cassette may not, because its next answer is
// meant for the session.
func (m *Set) Beside(ctx context.Context, main string) (small *agent.Target, share bool) {
	c, err := m.Choose(ctx, main)
	if err != nil {
		return nil, false
	}
	share = c.Provider != "script" && c.Provider != "replay"
	if s, ok := m.small(ctx, main); ok && (!s.Local || m.cfg.SmallModel != "") {
		t := m.target(s)
		small = &t
	}
	return small, share
}

// small is the model of an agent that is to have the small one beside that of the session.
const small = "small"

// Meant is a name as the definition of an agent has it, in a session with the model main:
// "small" is the small model beside main, or main where there is none, unless the settings
// have an alias of that name.
func (m *Set) Meant(ctx context.Context, name, main string) string {
	if name != small || m.cfg.Aliases[small] != "" {
		return name
	}
	if s, _ := m.Beside(ctx, main); s != nil {
		return s.ID()
	}
	return main
}

// Judges finds the model that judges goals beside a session, by the models that there are
// then and the session's own.
func Judges(now func() *Set, main func() string) func(context.Context) (judge.Model, error) {
	return func(ctx context.Context) (judge.Model, error) { return now().judge(ctx, main()) }
}

// judge is the small model beside main, else main itself where it may be asked on the side.
func (m *Set) judge(ctx context.Context, main string) (judge.Model, error) {
	if s, ok := m.small(ctx, main); ok {
		return m.asked(s), nil
	}
	c, err := m.Choose(ctx, main)
	if err == nil && (c.Provider == "script" || c.Provider == "replay") {
		err = errors.New("nobody can judge a goal: set small_model to the model that is to do it")
	}
	if err != nil {
		return nil, err
	}
	return m.asked(c), nil
}

// Answer puts one question to a model: the named one, or the small one beside
// main.
func (m *Set) Answer(ctx context.Context, name, main, question string) (string, event.Spent, error) {
	var s choose.Choice
	var err error
	if name != "" {
		s, err = m.Choose(ctx, name)
	} else if small, ok := m.small(ctx, main); ok {
		s = small
	} else {
		s, err = m.Choose(ctx, main)
	}
	if err != nil {
		return "", event.Spent{}, err
	}
	text, spent, err := m.asked(s).Complete(ctx, "", []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: question}}}})
	if spent != (event.Spent{}) {
		spent.For = event.ForHook
	}
	return text, spent, err
}

func (m *Set) small(ctx context.Context, main string) (choose.Choice, bool) {
	c, err := m.Choose(ctx, main)
	if err != nil {
		return c, false
	}
	s, err := m.Small(ctx, c, m.said("small_model", m.cfg.SmallModel))
	return s, err == nil && s.Model != nil
}

func (m *Set) asked(s choose.Choice) auto.Small {
	return auto.Small{Model: m.sharing(s), Name: s.Name, ID: s.Provider + "/" + s.Name, Cost: s.Facts.Cost}
}

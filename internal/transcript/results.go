package transcript

import (
	"slices"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/view"
)

func (s State) forget(files []effect.File) State {
	for _, f := range files {
		s.files = s.files.del(f.Path)
	}
	return s
}

func (s State) finished(seq event.Seq, b event.ToolFinished) State {
	s.Pending, s.Started = without(s.Pending, b.Call), without(s.Started, b.Call)
	if name, w, ok := event.Work(b); ok {
		s.ByTool = with(s.ByTool, name, s.ByTool[name].Add(w))
	}
	s = s.changed(b)
	if b.Denied {
		s.Turn.Denials = append(slices.Clip(s.Turn.Denials), Denial{b.Call, b.Name, b.Input, b.Verdict.Reason})
	}
	if ts, ok := tasks(b.View); ok {
		if s.Quiet = 0; s.List.Last == 0 { // else an event of its own said it
			s.Tasks = ts
		}
	}
	if d, ok := b.View.(view.Diff); ok && !b.IsErr {
		s.Added, s.Removed = s.Added+d.Added, s.Removed+d.Removed
	}
	s.talk = s.talk.finished(seq, b)
	return s
}

// Todo is the list of what is to be done. An earlier version kept only how it was shown.
func (s State) Todo() tasklist.List {
	if s.List.Last == 0 {
		return tasklist.Of(s.Tasks)
	}
	return s.List
}

// changed takes over what a call changed. The mode, a new context and the end
// of the turn have events of their own.
func (s State) changed(b event.ToolFinished) State {
	dropped := slices.Contains(s.talk.gone, b.Call)
	for _, e := range b.Effects {
		switch e := e.(type) {
		case effect.Dir:
			s.Dir = e.Path
		case effect.Saw:
			if dropped {
				s = s.forget(e.Files)
				continue
			}
			s = s.saw(e.Files)
		case effect.Planned:
			s.Plan = e.Text
		case effect.Changed:
			s = s.touched(e.Files)
		case effect.Exported:
			s.Exports = exported(s.Exports, e)
		case effect.Skill:
			s = s.used(e)
		case effect.Loaded:
			s.Loaded = loaded(s.Loaded, e.Tools)
		case effect.Answer, effect.Mode, effect.Fresh, effect.Final, effect.Unknown:
		}
	}
	return s
}

// used remembers a skill, the newest use of each name.
func (s State) used(k effect.Skill) State {
	out := slices.DeleteFunc(slices.Clone(s.Skills), func(x effect.Skill) bool { return x.Name == k.Name })
	out = append(out, k)
	s.Skills = out[max(0, len(out)-maxSkills):]
	return s
}

// loaded adds tools to those that were loaded; one that was is as it is now.
func loaded(was, list []llm.Spec) []llm.Spec {
	was = slices.Clone(was)
	for _, l := range list {
		if i := slices.IndexFunc(was, func(w llm.Spec) bool { return w.Name == l.Name }); i >= 0 {
			was[i] = l
		} else {
			was = append(was, l)
		}
	}
	if len(was) == 0 {
		return nil
	}
	return was
}

// exported adds to was what a command changed, in place of what it changed
// before.
func exported(was []effect.Export, e effect.Exported) []effect.Export {
	out := slices.Clone(was)
	for _, v := range e.Vars {
		out = slices.DeleteFunc(out, func(x effect.Export) bool { return x.Name == v.Name && (x.Confined || !e.Confined) })
		out = append(out, effect.Export{Variable: v, Confined: e.Confined})
	}
	return out
}

// tasks finds a todo list in a view.
func tasks(b view.Block) ([]view.Task, bool) {
	switch b := b.(type) {
	case view.Tasks:
		return b.Items, true
	case view.Group:
		for _, x := range slices.Backward(b.Blocks) {
			if ts, ok := tasks(x); ok {
				return ts, true
			}
		}
	default: // no other shape holds a list
	}
	return nil, false
}

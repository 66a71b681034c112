package desk

import (
	"context"
	"errors"
	"fmt"

	"github.com/adze-agent/adze/internal/archive"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/view"
)

// Ask implements client.Client.
func (d *Desk) Ask(ctx context.Context, session string, q ask.Query) (ask.Reply, error) {
	switch q := q.(type) {
	case ask.Status:
		return d.of(session, func(s seat) (ask.Reply, error) { return ask.With(s.facts(q.Transcript)), nil })
	case ask.Open:
		return ask.With(d.open()), nil
	case ask.Diff:
		return d.of(session, func(s seat) (ask.Reply, error) {
			if !s.Kept {
				return ask.Reply{}, errors.New("this session is not kept on disk, and neither is what files were before it")
			}
			blocks, err := archive.Archive{Paths: s.Place().Paths, Environ: d.c.Environ}.Diff(ctx, session)
			return ask.Reply{Shapes: blocks}, err
		})
	case ask.Context:
		return d.of(session, func(s seat) (ask.Reply, error) {
			return ask.Reply{Shapes: []view.Block{s.Map().View()}, Data: s.filling()}, nil
		})
	case ask.Cost:
		return d.of(session, func(s seat) (ask.Reply, error) { return ask.Reply{Text: s.cost()}, nil })
	case ask.Settings:
		return d.of(session, func(s seat) (ask.Reply, error) { return ask.With(s.settings()), nil })
	case ask.Title:
		return d.of(session, func(s seat) (ask.Reply, error) {
			text, err := s.TitleOf(ctx, q.About)
			return ask.Reply{Text: text}, err
		})
	case ask.Read:
		return d.of(session, func(s seat) (ask.Reply, error) { return told(s.file(q.Path, q.Max)) })
	case ask.Output:
		return d.of(session, func(s seat) (ask.Reply, error) { return told(s.output(q)) })
	case ask.Tasks:
		return d.of(session, func(s seat) (ask.Reply, error) {
			list := s.tasks()
			return ask.Reply{Text: tasksText(list), Data: list}, nil
		})
	case ask.Agent:
		return d.of(session, func(s seat) (ask.Reply, error) {
			m, err := s.StartAgent(ctx, q.Prompt)
			if err != nil {
				return ask.Reply{}, fmt.Errorf("the agent was not started: %w", err)
			}
			return ask.Reply{Text: "the agent " + m.ID + " works on it in the background", Names: []string{m.ID}}, nil
		})
	case ask.Seen:
		return d.of(session, func(s seat) (ask.Reply, error) {
			_, real, err := s.readable(q.Path)
			return told(err == nil && s.Seed(real, q.At), err)
		})
	case ask.Within:
		return d.of(session, func(s seat) (ask.Reply, error) { return ask.Reply{}, s.within(q.Folder) })
	case ask.Call:
		return d.of(session, func(s seat) (ask.Reply, error) { return told(s.call(ctx, "", q)) })
	case ask.Resource:
		return d.of(session, func(s seat) (ask.Reply, error) { return told(s.resource(ctx, q)) })
	case ask.Reload:
		return d.of(session, func(s seat) (ask.Reply, error) {
			s.reload(ctx)
			return ask.With(s.Extended()), nil
		})
	case ask.Serve:
		return told(d.serve(session, q.Servers))
	case ask.Deliver:
		return ask.Reply{}, d.deliver(session, q)
	case ask.Remembered:
		return d.of(session, func(s seat) (ask.Reply, error) { return ask.Reply{Choices: s.remembered()}, nil })
	case ask.Rules:
		return d.of(session, func(s seat) (ask.Reply, error) { return ask.With(s.rules()), nil })
	case ask.Aside:
		return d.of(session, func(s seat) (ask.Reply, error) {
			text, err := s.Aside(ctx, q.Question)
			return ask.Reply{Text: text}, err
		})
	case ask.Models:
		return d.models(ctx, session)
	case ask.Sessions, ask.Find, ask.Search, ask.Preview, ask.Rename:
		return d.kept(ctx, q)
	case ask.Files:
		all, err := d.files(ctx, q)
		return ask.Reply{Names: all}, err
	case ask.Resources:
		return ask.Reply{Choices: d.resources(ctx, session, q.Part, q.Max)}, nil
	case ask.Receivers:
		return d.of(session, func(s seat) (ask.Reply, error) { return ask.Reply{Choices: s.receivers(ctx)}, nil })
	case ask.Arguments:
		return ask.Reply{Choices: d.arguments(ctx, session, q.Command, q.Args)}, nil
	case ask.Memory:
		return ask.Reply{Choices: d.memory()}, nil
	case ask.Note:
		return ask.Reply{}, d.note(q.File, q.Line)
	case ask.Forget:
		return ask.Reply{}, d.forget(ctx, q.Rule)
	case ask.Save:
		return ask.Reply{}, d.save(ctx, q)
	case ask.Hooks:
		return d.hooks(ctx, session)
	case ask.Servers:
		return d.servers(ctx, session, q)
	case ask.Offers:
		return d.offers(session, q)
	case ask.Definitions:
		return d.definitions(ctx, session, q)
	case ask.Style:
		text, err := d.style(ctx, session, q.Name)
		return ask.Reply{Text: text}, err
	case ask.Folders:
		text, err := d.folders(ctx, session, q)
		return ask.Reply{Text: text}, err
	case ask.Report:
		if s := ask.Slash(q.Name, q.Args); ask.Name(s) != ask.Name(q) { // as older clients ask it
			return d.Ask(ctx, session, s)
		}
		text, err := d.report(ctx, session, q)
		return ask.Reply{Text: text}, err
	case ask.Pick:
		all, err := d.pick(ctx, session, q)
		return ask.Reply{Choices: all}, err
	case ask.Trust:
		c, err := d.claims(ctx)
		if c == nil {
			return ask.Reply{}, err
		}
		return told(*c, err)
	case ask.Decide:
		return ask.Reply{}, d.decide(ctx, q)
	}
	return ask.Reply{}, unsupported(q)
}

// kept answers what is about sessions on disk.
func (d *Desk) kept(ctx context.Context, q ask.Query) (ask.Reply, error) {
	p, _, err := d.Loaded()
	if err != nil {
		return ask.Reply{}, err
	}
	a := archive.Archive{Paths: p, Environ: d.c.Environ}
	switch q := q.(type) {
	case ask.Sessions:
		return told(a.List(ctx, q.All))
	case ask.Find:
		return told(a.Find(ctx, q.Words))
	case ask.Search:
		return told(a.Search(ctx, q.Words, q.All), nil)
	case ask.Preview:
		text, err := a.Preview(ctx, q.ID)
		return ask.Reply{Text: text}, err
	case ask.Rename:
		return ask.Reply{}, a.Rename(ctx, q.ID, q.Title)
	default:
		return ask.Reply{}, unsupported(q)
	}
}

// of answers what is about one session.
func (d *Desk) of(session string, answer func(seat) (ask.Reply, error)) (ask.Reply, error) {
	s, err := d.in(session)
	if err != nil {
		return ask.Reply{}, err
	}
	return answer(s)
}

func unsupported(q ask.Query) error {
	return &op.Refusal{Code: op.Unsupported, Text: "this is not answered here: " + ask.Name(q)}
}

// told is a reply with Data.
func told(v any, err error) (ask.Reply, error) {
	if err != nil {
		return ask.Reply{}, err
	}
	return ask.With(v), nil
}

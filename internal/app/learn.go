package app

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/info"
	"github.com/adze-agent/adze/internal/memory"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/prompt"
)

// learned is what a session is told of where it is.
type learned struct {
	memory []prompt.Memory
	git    prompt.Git
	reader *memory.Reader
}

// learn reads memory files and git in the background; the channel yields once.
func learn(ctx context.Context, o Process, s Sources, cfg *config.Config, p Paths) <-chan learned {
	out := make(chan learned, 1)
	if s.Bare {
		out <- learned{}
		return out
	}
	git := make(chan prompt.Git, 1)
	go func() { git <- gitFacts(ctx, o, p) }() // ends within git's deadline
	go func() {                                // ends with the files and git
		var l learned
		l.reader = Memory(o, cfg, p)
		for _, f := range l.reader.Start() {
			l.memory = append(l.memory, prompt.Memory{Path: f.Path, Scope: string(f.Scope), Text: f.Text, Notes: f.Notes})
			for _, w := range f.Warnings {
				o.note("%s: %s", f.Path, w)
			}
		}
		l.git = <-git
		out <- l
	}()
	return out
}

// Memory is the reader of memory files for these settings.
func Memory(o Process, cfg *config.Config, p Paths) *memory.Reader {
	own, cc := config.ManagedDirs(runtime.GOOS, o.Env)
	rules, _ := rulesOf(cfg, p, func(error) {}) // problems are told elsewhere
	covers := policy.Covers(rules)
	return memory.New(memory.Options{
		Covered: func(path, named string) string {
			switch covers(policy.Default, path, named) {
			case policy.Denied:
				return "a rule denies it"
			case policy.Asked:
				return "a rule asks about it"
			case policy.Secret:
				return "it may hold secrets"
			case policy.Uncovered:
			}
			return ""
		},
		Managed: []string{own, cc}, Config: p.Config, Home: p.Home, Root: conf.Root(p.Dir), Dir: p.Dir,
		Excludes: cfg.Memory.Excludes, MaxBytes: cfg.Memory.MaxBytes, WarnChars: cfg.Memory.WarnChars,
	})
}

// touched is what the folders of files have to say, once they are looked at.
// A conversation that begins anew is told again.
func (w *World) touched(reader *memory.Reader) func(event.Seq, []string) []string {
	if reader == nil { // with --bare
		return nil
	}
	var mu sync.Mutex // guards what follows
	boundary := event.Seq(0)
	return func(now event.Seq, paths []string) []string {
		mu.Lock()
		defer mu.Unlock()
		if now != boundary {
			boundary, reader = now, Memory(w.process, w.Config(), w.Paths)
			reader.Start() // that is in the instructions, which stay
		}
		var out []string
		for _, p := range paths {
			for _, f := range reader.Touched(p) {
				out = append(out, fmt.Sprintf("<memory path=%q>\nThis applies to the files below that folder, from now on:\n\n%s\n</memory>", f.Path, f.Text))
			}
		}
		return out
	}
}

func gitFacts(ctx context.Context, o Process, p Paths) prompt.Git {
	git, _ := proc.Lookup("git", o.Env("PATH"), []string{p.Root})
	return info.Read(ctx, info.Options{
		Dir: p.Dir, Git: git, Safe: conf.Safe, Env: append(proc.Quiet(proc.Scrub(o.Environ, nil)), conf.PinnedEnv()...),
	}).Git
}

// situated and parts are two forms of the same.
func situated(ps []prompt.Part) (out event.Situated) {
	for _, p := range ps {
		out.Parts = append(out.Parts, event.Situation{Name: p.Name, Text: p.Text})
	}
	return out
}

func parts(e event.Situated) (out []prompt.Part) {
	for _, p := range e.Parts {
		out = append(out, prompt.Part{Name: p.Name, Text: p.Text})
	}
	return out
}

// instructions are the parts of the system prompt, in cache order.
func (r *Running) instructions(cfg *config.Config, l learned, tools []string, model string) []prompt.Part {
	w := r.world
	return prompt.Assemble(prompt.Input{
		Profile: r.profile, Tools: tools, Print: w.front.Print && !w.front.Person,
		Replace: cfg.SystemPrompt, Append: cfg.AppendSystemPrompt, Language: cfg.Language, Memory: l.memory,
		Env: prompt.Environment{
			Dir: w.Paths.Dir, Root: w.Paths.Root, OS: runtime.GOOS + "/" + runtime.GOARCH, Shell: "bash",
			Date: time.Now(), Model: model, Git: l.git,
		},
	})
}

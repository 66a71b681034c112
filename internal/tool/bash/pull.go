package bash

import (
	"context"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/tool"
)

// fetched has git fetch before a script that pulls runs inside the sandbox, and ends the
// call where that brings what the sandbox would not let git write: a pull that fails there
// leaves half of it behind. When it is known what comes, the same call is a question.
func (b *runner) fetched(ctx context.Context, s shellread.Script, in input, env tool.Env) (r tool.Result, stop bool) {
	if len(s.Pulls) == 0 || b.World == nil {
		return tool.Result{}, false
	}
	changed := b.World(env.Dir).Changed
	if changed == nil {
		return tool.Result{}, false
	}
	for i, p := range s.Pulls {
		fetch := []string{"git", "-C", quote(p.Dir), "fetch", "-q", "--no-recurse-submodules"}
		for _, a := range p.Fetch {
			fetch = append(fetch, quote(a))
		}
		alone := env
		alone.Call, alone.Needs = fmt.Sprintf("%s-fetch%d", env.Call, i), policy.Needs{Confined: true}
		c, h, kept, err := b.command(input{Command: strings.Join(fetch, " ")}, alone, true)
		if err != nil {
			return tool.Errorf("the command was not run: %s", err), true
		}
		j, err := b.tasks.start(c, h, input{Command: in.Command}, alone, kept.Masked)
		if err != nil {
			return tool.Errorf("the command was not run: %s", err), true
		}
		if how := b.await(ctx, j, in.timeout(), true, env.Progress); how != ended {
			return j.result(in, how), true
		}
		files, _ := changed(p.Dir, p.From, p.To) // git says itself what is wrong
		for _, f := range files {
			if why := policy.Protects(f); why != "" && !paths.WithinAny(env.Needs.Writable, f) {
				return tool.Errorf("the command was not run: git pull would change %s, which is protected: %s. Git has fetched, and nothing else was changed. Try it again: now it is known what it brings, and a person can be asked", clip.Visible(f), why), true
			}
		}
	}
	return tool.Result{}, false
}

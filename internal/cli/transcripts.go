package cli

import (
	"path/filepath"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/ui/print"
)

// transcripts are sessions in the form that programs around Claude Code read. It implements
// app.Transcripts.
type transcripts struct {
	sdk  bool // an agent SDK started this run
	note func(string)
}

// startedBySDK reports whether an agent SDK started a run and talks to it: SDKs say so in
// these variables, which a terminal of Claude Code has with other values.
func (f *runFlags) startedBySDK(sys System) bool {
	by := sys.Env("CLAUDE_CODE_ENTRYPOINT")
	return f.input == "stream-json" && f.output == "stream-json" && (sys.Env("CLAUDE_AGENT_SDK_VERSION") != "" || by != "" && by != "cli")
}

// Of implements app.Transcripts.
func (t transcripts) Of(p settings.Paths, cfg *config.Config, id string, kept bool, own string) app.Transcript {
	if on := cfg.Compat.Transcripts; kept && (on == "on" || on == "auto" && t.sdk) {
		if path := print.PublicPath(p.Folders.ClaudeDir(p.Home), p.Dir, id); path != "" {
			return &publicTranscript{Public: print.NewPublic(path, t.note), now: true}
		}
	}
	return &publicTranscript{Public: print.NewPublic(filepath.Join(own, id+".jsonl"), t.note)} // some hooks take the ID from its name
}

// CopyOf implements app.Transcripts.
func (t transcripts) CopyOf(p settings.Paths, id string) (of string, upTo event.Seq, ok bool) {
	return print.PublicCopy(p.Folders.ClaudeDir(p.Home), id)
}

// A publicTranscript implements app.Transcript.
type publicTranscript struct {
	*print.Public
	now   bool // it is kept whether anybody asks or not
	about func() print.About
}

// Follow implements app.Transcript.
func (t *publicTranscript) Follow(r *app.Running) (wait func()) {
	t.about = func() print.About {
		d := r.Describe()
		return print.About{SessionID: d.ID, Cwd: d.Dir, Branch: d.Branch, Model: d.Model.ID(), Mode: string(d.Mode), Version: d.Version, NewID: newUUID}
	}
	return t.Public.Follow(r, t.about, t.now)
}

// Agent implements app.Transcript.
func (t *publicTranscript) Agent(s app.Followed, id, model string) (file func() string, wait func()) {
	p := t.Public.Agent(id)
	wait = p.Follow(s, func() print.About {
		a := t.about()
		a.Model = model
		return a
	}, t.now)
	return func() string { return p.File(s.Last()) }, wait
}

package cli

import (
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
func (t transcripts) Of(p settings.Paths, cfg *config.Config, id string) app.Transcript {
	if cfg.Compat.Transcripts == "off" || cfg.Compat.Transcripts == "auto" && !t.sdk {
		return nil
	}
	path := print.PublicPath(p.Folders.ClaudeDir(p.Home), p.Dir, id)
	if path == "" {
		return nil
	}
	return publicTranscript{print.NewPublic(path, t.note)}
}

// CopyOf implements app.Transcripts.
func (t transcripts) CopyOf(p settings.Paths, id string) (of string, upTo event.Seq, ok bool) {
	return print.PublicCopy(p.Folders.ClaudeDir(p.Home), id)
}

// A publicTranscript implements app.Transcript.
type publicTranscript struct{ *print.Public }

// Follow implements app.Transcript.
func (t publicTranscript) Follow(r *app.Running) (wait func()) {
	d := r.Describe()
	return t.Public.Follow(r, print.About{
		SessionID: d.ID, Cwd: d.Dir, Branch: d.Branch, Model: d.Model.ID(), Mode: string(d.Mode), Version: d.Version, NewID: newUUID,
	})
}

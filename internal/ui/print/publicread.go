package print

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/event"
)

// A publicRead is what is read of a line.
type publicRead struct {
	Type   string      `json:"type"`
	UUID   string      `json:"uuid"`
	Parent string      `json:"parentUuid"`
	Title  string      `json:"customTitle"`
	Mark   *publicMark `json:"adze"`
	Forked *struct {
		Session string `json:"sessionId"`
	} `json:"forkedFrom"`
}

func (l publicRead) message() bool {
	return l.UUID != "" && l.Mark != nil && (l.Type == "user" || l.Type == "assistant" || l.Type == "system")
}

// goOn finds where the file that is there ends, and the title that another program gave
// behind that, "" for none. ours is false for a file that adze did not write.
func (t *Public) goOn() (title string, ours bool) {
	lines, err := publicEnd(t.path, func(l publicRead) bool { return l.message() })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", true
	case err != nil:
		t.fail(err)
		return "", false
	case len(lines) == 0:
		info, err := os.Stat(t.path)
		return "", err == nil && info.Size() == 0
	}
	for _, l := range lines {
		switch {
		case l.message():
			t.parent, t.after, t.from = l.UUID, max(t.after, l.Mark.Seq), l.Mark.From
		case l.Mark != nil:
			t.after, title = max(t.after, l.Mark.Seq), ""
		case l.Title != "":
			title = l.Title
		}
	}
	t.turn = t.from
	return title, true
}

// before is the message that the conversation goes on behind, when it goes back to before an event.
func (t *Public) before(seq event.Seq) (uuid string) {
	_, _ = publicEnd(t.path, func(l publicRead) bool { // what cannot be read has no parent
		if l.message() && l.Mark.Seq == seq {
			uuid = l.Parent
			return true
		}
		if l.message() && l.Mark.Seq < seq {
			uuid = l.UUID
			return true
		}
		return false
	})
	return uuid
}

// publicEnd reads a file from its end until a line fits, and returns the lines from that one on.
func publicEnd(path string, fits func(publicRead) bool) ([]publicRead, error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for n := int64(256 << 10); ; n *= 4 {
		at := max(0, info.Size()-n)
		text := make([]byte, info.Size()-at)
		if _, err := f.ReadAt(text, at); err != nil && len(text) > 0 {
			return nil, err
		}
		if at > 0 { // the first line may be a piece of one
			_, text, _ = bytes.Cut(text, []byte("\n"))
		}
		var out []publicRead
		for _, raw := range slices.Backward(bytes.Split(text, []byte("\n"))) {
			var l publicRead
			if len(raw) == 0 || json.Unmarshal(raw, &l) != nil {
				continue
			}
			if out = append(out, l); fits(l) {
				slices.Reverse(out)
				return out, nil
			}
		}
		if at == 0 {
			return nil, nil
		}
	}
}

// PublicCopy says of which session another program made a copy with this ID among the
// transcripts below the person's folder of Claude Code, and up to which event. ok is false when
// there is no such copy of a session of adze.
func PublicCopy(claude, id string) (of string, upTo event.Seq, ok bool) {
	projects := filepath.Join(claude, "projects")
	folders, err := os.ReadDir(projects)
	if claude == "" || err != nil {
		return "", 0, false
	}
	for _, d := range folders {
		lines, err := publicEnd(filepath.Join(projects, d.Name(), id+".jsonl"), func(l publicRead) bool { return l.message() && l.Forked != nil })
		if err == nil && len(lines) > 0 {
			return lines[0].Forked.Session, lines[0].Mark.Seq, true
		}
	}
	return "", 0, false
}

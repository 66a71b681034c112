package importer

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

func (a *Agents) findOpenCode(ctx context.Context) ([]Source, error) {
	files, err := glob(filepath.Join(a.data(), "opencode"), "opencode.db")
	if err != nil {
		return nil, err
	}
	return a.list(ctx, OpenCode, files, "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created, id")
}

// An openPart is a part of a message, as a row has it.
type openPart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // by the program
	Ignored   bool   `json:"ignored"`
	Tool      string `json:"tool"`
	CallID    string `json:"callID"`
	Media     string `json:"mime"`
	Name      string `json:"filename"`
	URL       string `json:"url"`
	State     struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
	} `json:"state"`
}

// readOpenCode reads the rows of one session.
func (a *Agents) readOpenCode(ctx context.Context, s *Session, put func(step)) error {
	db, err := a.base(s.Path)
	if err != nil {
		return err
	}
	var title string
	var revert *string
	if err := db.QueryRowContext(ctx, "SELECT directory, title, revert FROM session WHERE id = ?", s.ID).Scan(&s.Dir, &title, &revert); err != nil {
		return err
	}
	if !strings.HasPrefix(title, "New session - ") {
		s.Title = title
	}
	var back struct{ MessageID string }
	if revert != nil {
		_ = json.Unmarshal([]byte(*revert), &back)
	}
	rows, err := db.QueryContext(ctx, `SELECT m.id, m.time_created, m.data, p.data FROM message m JOIN part p ON p.message_id = m.id
		WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id`, s.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	o := openReader{s: s, put: put}
	for rows.Next() {
		var id, message, part string
		var at int64
		if err := rows.Scan(&id, &at, &message, &part); err != nil {
			return err
		}
		if back.MessageID != "" && id >= back.MessageID {
			s.leave("parts of messages that were taken back there")
			continue
		}
		o.row(id, at, message, part)
	}
	o.flush()
	return rows.Err()
}

// An openReader joins the parts of a prompt, and keeps results until all calls
// of a reply are there.
type openReader struct {
	s       *Session
	put     func(step)
	message string
	texts   []string
	said    step
	results []step
}

// flush hands on what was kept.
func (o *openReader) flush() {
	if o.said.prompt = said(o.texts); o.said.prompt != "" || len(o.said.images) > 0 {
		o.put(o.said)
	}
	o.texts, o.said = nil, step{}
	for _, r := range o.results {
		o.put(r)
	}
	o.results = nil
}

func (o *openReader) row(id string, at int64, message, part string) {
	if id != o.message {
		o.flush()
		o.message = id
	}
	var m struct{ Role string }
	var p openPart
	if json.Unmarshal([]byte(message), &m) != nil || json.Unmarshal([]byte(part), &p) != nil {
		o.s.leave("parts that are not whole")
		return
	}
	when := moment(at)
	o.said.at = when
	switch {
	case p.Type == "text" && m.Role == "user":
		if !p.Synthetic && !p.Ignored {
			o.texts = append(o.texts, p.Text)
		}
	case p.Type == "text":
		o.put(step{at: when, text: p.Text})
	case p.Type == "tool":
		o.put(step{at: when, call: &llm.ToolUse{ID: p.CallID, Name: p.Tool, Input: p.State.Input}})
		switch p.State.Status {
		case "completed":
			o.results = append(o.results, step{at: when, result: &llm.ToolResult{ID: p.CallID, Text: p.State.Output}})
		case "error":
			o.results = append(o.results, step{at: when, result: &llm.ToolResult{ID: p.CallID, Text: p.State.Error, IsErr: true}})
		}
	case p.Type == "file" && m.Role == "user":
		if strings.HasPrefix(p.Media, "image/") {
			_, data := dataURL(p.URL)
			img, instead := o.s.picture(p.Media, data)
			o.said.images, o.texts = append(o.said.images, img...), append(o.texts, instead)
		} else {
			o.s.leave("files beside prompts")
		}
	case p.Type == "step-start", p.Type == "step-finish": // a message may have several
		o.flush()
	case p.Type == "reasoning", p.Type == "snapshot", p.Type == "patch", p.Type == "retry":
	case p.Type == "compaction":
		o.s.leave("summaries of compactions (what they stand for is taken)")
	default:
		o.s.leave("parts of a kind that is not known, " + p.Type)
	}
}

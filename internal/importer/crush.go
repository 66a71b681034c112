package importer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/llm"
)

// findCrush lists the sessions of the projects that Crush knows, and of the
// folder that is worked in: each project has a database of its own.
func (a *Agents) findCrush(ctx context.Context) ([]Source, error) {
	var files []string
	for data := range a.crushProjects() {
		files = append(files, filepath.Join(data, "crush.db"))
	}
	files = slices.DeleteFunc(files, func(f string) bool { _, err := os.Stat(f); return err != nil })
	slices.Sort(files)
	return a.list(ctx, Crush, files, "SELECT id FROM sessions WHERE parent_session_id IS NULL OR parent_session_id = '' ORDER BY created_at, id")
}

// crushProjects are the folders of projects by those of their data.
func (a *Agents) crushProjects() map[string]string {
	out := map[string]string{}
	if a.place.Work != "" {
		out[filepath.Join(a.place.Work, ".crush")] = a.place.Work
	}
	var list struct {
		Projects []struct {
			Path string `json:"path"`
			Data string `json:"data_dir"`
		} `json:"projects"`
	}
	data := a.data()
	if a.place.Env != nil && filepath.IsAbs(a.place.Env("CRUSH_GLOBAL_DATA")) {
		data = a.place.Env("CRUSH_GLOBAL_DATA")
	} else {
		data = filepath.Join(data, "crush")
	}
	if raw, err := regular.Read(filepath.Join(data, "projects.json"), maxSettings); err == nil {
		_ = json.Unmarshal(raw, &list)
	}
	for _, p := range list.Projects {
		if filepath.IsAbs(p.Data) {
			out[filepath.Clean(p.Data)] = p.Path
		}
	}
	return out
}

// A crushPart is a part of a message; which members count, Type says.
type crushPart struct {
	Type string `json:"type"`
	Data struct {
		Text   string `json:"text"`
		ID     string `json:"id"`
		Name   string `json:"name"`
		Input  string `json:"input"`
		CallID string `json:"tool_call_id"`
		Result string `json:"content"`
		IsErr  bool   `json:"is_error"`
		Media  string `json:"MIMEType"`
		Binary []byte `json:"Data"`
		// of a command that the person ran
		Command string `json:"command"`
		Output  string `json:"output"`
	} `json:"data"`
}

// readCrush reads the rows of one session.
func (a *Agents) readCrush(ctx context.Context, s *Session, put func(step)) error {
	db, err := a.base(s.Path)
	if err != nil {
		return err
	}
	var title string
	if err := db.QueryRowContext(ctx, "SELECT title FROM sessions WHERE id = ?", s.ID).Scan(&title); err != nil {
		return err
	}
	if !slices.Contains([]string{"New Session", "Untitled Session"}, title) {
		s.Title = title
	}
	s.Dir = a.crushProjects()[filepath.Dir(s.Path)]
	rows, err := db.QueryContext(ctx, "SELECT role, parts, created_at FROM messages WHERE session_id = ? ORDER BY created_at, rowid", s.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var role, parts string
		var at int64
		if err := rows.Scan(&role, &parts, &at); err != nil {
			return err
		}
		var list []json.RawMessage
		if json.Unmarshal([]byte(parts), &list) != nil {
			s.leave("messages that are not whole")
			continue
		}
		s.crushMessage(role, at, list, put)
	}
	return rows.Err()
}

func (s *Session) crushMessage(role string, at int64, list []json.RawMessage, put func(step)) {
	when := moment(at)
	var texts []string
	var images []llm.Image
	for _, raw := range list {
		var p crushPart
		if json.Unmarshal(raw, &p) != nil && p.Type == "" {
			s.leave("parts that are not whole")
			continue
		}
		switch d := p.Data; p.Type {
		case "text":
			if role == "user" {
				texts = append(texts, d.Text)
			} else {
				put(step{at: when, text: d.Text})
			}
		case "tool_call":
			put(step{at: when, call: &llm.ToolUse{ID: d.ID, Name: d.Name, Input: json.RawMessage(d.Input)}})
		case "tool_result":
			put(step{at: when, result: &llm.ToolResult{ID: d.CallID, Text: d.Result, IsErr: d.IsErr}})
		case "binary":
			if !strings.HasPrefix(d.Media, "image/") {
				s.leave("files beside prompts")
				continue
			}
			img, instead := s.picture(d.Media, base64.StdEncoding.EncodeToString(d.Binary))
			images, texts = append(images, img...), append(texts, instead)
		case "shell_command":
			texts = append(texts, "! "+d.Command+"\n"+d.Output)
		case "image_url":
			texts = append(texts, "[an image]")
		case "reasoning", "finish":
		default:
			s.leave("parts of a kind that is not known, " + p.Type)
		}
	}
	if t := said(texts); role == "user" && (t != "" || len(images) > 0) {
		put(step{at: when, prompt: t, images: images})
	}
}

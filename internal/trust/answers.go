package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/servers"
)

// Answers is the record of what a person said to the MCP servers that folders
// bring: for each folder and name, the hash of what was answered.
type Answers struct {
	Path string // <state>/mcp-answers.json
}

type answers struct {
	Version int                                  `json:"version"`
	Folders map[string]map[string]servers.Answer `json:"folders"`
}

// maxSaid bounds what is kept of how one server was described, in bytes.
const maxSaid = 16 << 10

// Of returns the answers for a folder, by name of the server. A record that
// cannot be read, or that others could have written, holds none; err says why.
func (a Answers) Of(root string) (map[string]servers.Answer, error) {
	rec, err := a.load()
	return rec.Folders[root], err
}

// Say keeps an answer to a server of a folder.
func (a Answers) Say(ctx context.Context, root string, s servers.Server, yes bool) error {
	said := s.Describe()
	if len(said) > maxSaid {
		said = "" // only for showing differences
	}
	return a.change(ctx, func(r *answers) {
		if r.Folders[root] == nil {
			r.Folders[root] = map[string]servers.Answer{}
		}
		r.Folders[root][s.Name] = servers.Answer{Hash: s.Hash(), Yes: yes, Said: said, Texts: s.Texts(), Sums: s.Sums()}
	})
}

// Forget forgets the answers for a folder, or one of them, and reports how many
// there were.
func (a Answers) Forget(ctx context.Context, root string, only ...string) (n int, err error) {
	rec, err := a.load()
	if len(rec.Folders[root]) == 0 { // as where the record cannot be read
		return 0, err
	}
	err = a.change(ctx, func(r *answers) {
		n = len(r.Folders[root])
		for _, name := range only {
			delete(r.Folders[root], name)
		}
		if n -= len(r.Folders[root]); len(only) == 0 {
			n = len(r.Folders[root])
			delete(r.Folders, root)
		}
	})
	return n, err
}

func (a Answers) load() (answers, error) {
	text, err := confedit.Disk{}.Read(a.Path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return answers{}, nil
	}
	if err == nil {
		err = (Store{Path: a.Path}).ours()
	}
	if err != nil {
		return answers{}, fmt.Errorf("reading %s: %w", a.Path, err)
	}
	return a.parse(text)
}

func (a Answers) parse(text []byte) (answers, error) {
	r := answers{Version: version}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &r); err != nil {
			return answers{}, broken(a.Path, text, err)
		}
		if r.Version > version {
			return answers{}, fmt.Errorf("reading %s: a newer version of adze wrote it", a.Path)
		}
	}
	return r, nil
}

func (a Answers) change(ctx context.Context, edit func(*answers)) error {
	dir := filepath.Dir(a.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", a.Path, err)
	}
	return confedit.Editor{}.Rewrite(ctx, confedit.Target{Path: a.Path, Root: dir}, func(text []byte) ([]byte, error) {
		r, err := a.parse(text)
		if err != nil {
			return nil, err
		}
		if r.Folders = maps.Clone(r.Folders); r.Folders == nil {
			r.Folders = map[string]map[string]servers.Answer{}
		}
		edit(&r)
		out, err := json.MarshalIndent(r, "", "  ")
		return append(out, '\n'), err
	})
}

// Package file holds the tools that read and change single files: Read, Edit,
// MultiEdit and Write. They share one Ledger of what the model has seen, so
// that nothing is overwritten blindly. It searches nothing, follows no link
// that appears after a path was judged, and never writes half a file.
package file

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/tool"
)

//go:embed read.md
var readText string

//go:embed edit.md
var editText string

//go:embed multiedit.md
var multiEditText string

//go:embed write.md
var writeText string

// Config is what the tools share. The zero value works.
type Config struct {
	// Ledger is what the model has seen; nil makes a new one.
	Ledger *Ledger
	// Private reports whether only this user may read what is written at a path:
	// such a file gets mode 0600, and a folder made for it 0700. nil: never.
	Private func(path string) bool
}

// New returns Read, Edit, MultiEdit and Write.
func New(c Config) []tool.Tool { return newTools(c, place.Locate) }

// newTools is New with another way to find the path that is meant.
func newTools(c Config, find func(dir, home, asked string) (string, error)) []tool.Tool {
	if c.Ledger == nil {
		c.Ledger = NewLedger()
	}
	t := &tools{Config: c, find: find, calls: &pin.Calls{}, disk: realDisk()}
	t.disk.private = c.Private
	return []tool.Tool{
		tool.New(tool.Spec{Name: "Read", Again: true, Files: tool.ReadsFile, Description: strings.TrimSpace(readText), Limit: tool.NoLimit}, t.planRead, t.read),
		tool.New(tool.Spec{Name: "Edit", Again: true, Files: tool.EditsFile, Description: strings.TrimSpace(editText)}, t.planEdit, t.edit),
		tool.New(tool.Spec{Name: "MultiEdit", Again: true, Files: tool.EditsFile, Description: strings.TrimSpace(multiEditText)}, t.planMulti, t.multi),
		tool.New(tool.Spec{Name: "Write", Again: true, Files: tool.MakesFile, Description: strings.TrimSpace(writeText)}, t.planWrite, t.write),
	}
}

type tools struct {
	Config
	find  func(dir, home, asked string) (string, error)
	calls *pin.Calls
	disk  disk
}

// locate returns the resolved path of what the model wrote.
func (t *tools) locate(asked string, env tool.Env) (string, error) {
	path, err := t.find(env.Dir, env.Home, asked)
	if err != nil {
		return "", err
	}
	if same := spelled(path); same != path {
		return t.find(env.Dir, env.Home, same)
	}
	return path, nil
}

// pinned is locate at run time: the path must be the one that was judged.
func (t *tools) pinned(asked string, env tool.Env) (string, error) {
	path, err := t.locate(asked, env)
	if err != nil {
		return "", err
	}
	return t.calls.Run(env.Call, asked, path)
}

// cause is why a file error came about, without the operation and path that the
// message names already.
func cause(err error) error {
	if errors.Is(err, pin.ErrMoved) {
		return err
	}
	err = paths.Cause(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errMissing
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: the file system refuses access", err)
	}
	return err
}

var errMissing = fmt.Errorf("there is no such file: %w", fs.ErrNotExist)

// missing says that a file is not there and names files that may be meant.
func missing(asked, path string, env tool.Env) string {
	msg := fmt.Sprintf("%s does not exist", asked)
	if !filepath.IsAbs(asked) && env.Dir != "" {
		msg += fmt.Sprintf(" (the working directory is %s)", env.Dir)
	}
	if env.Dir != "" {
		if _, err := os.Stat(env.Dir); err != nil {
			return msg + "; the working directory itself is gone"
		}
	}
	if p := unixPath(asked, env); p != "" {
		return msg + "; did you mean " + p + "?"
	}
	if names := closeNames(path, env); len(names) > 0 {
		msg += "; did you mean " + strings.Join(names, ", ") + "?"
	}
	return msg
}

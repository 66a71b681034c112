package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/settings"
)

// byAnswer is who named a folder that came with the answer to a question.
const byAnswer = "updatedPermissions"

// folders makes the changes of further folders that an answer holds. The error names
// each that has no effect; the others count.
func (r *Running) folders(ctx context.Context, list []op.FolderChange) error {
	var bad []error
	for _, c := range list {
		for _, dir := range c.Dirs {
			bad = append(bad, r.folder(ctx, dir, c))
		}
	}
	return errors.Join(bad...)
}

func (r *Running) folder(ctx context.Context, name string, c op.FolderChange) error {
	at := r.place
	dir, err := settings.Folder(at.Paths, name, byAnswer)
	if err != nil {
		return err
	}
	switch {
	case c.Remove:
		given := settings.AsDir(dir, byAnswer)
		if !at.live.Take(given.Key, given.Value) {
			return fmt.Errorf("the folder %s was not added in this session, so it cannot be taken back", name)
		}
	case c.Keep == op.ForSession:
		at.live.Give(settings.AsDir(dir, byAnswer))
	default:
		file, edit, err := settings.AddDir(at.Paths, string(c.Keep), dir)
		if err != nil {
			return err
		}
		var notes []string
		if err := at.Write(file.Path, func() (err error) {
			notes, err = settings.Write(ctx, at.Paths, file, edit)
			return err
		}); err != nil {
			return err
		}
		if len(notes) > 0 {
			return errors.New(strings.Join(notes, "; "))
		}
	}
	if !c.Remove && !slices.Contains(at.roots(), dir) {
		return fmt.Errorf("the folder %s was added and does not count: the settings that count here do not have it", name)
	}
	return nil
}

package desk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/pick"
)

// maxFiles bounds the files that are listed.
const maxFiles = 200_000

// files are those of the working folder, or those of them whose names are near to a text.
func (d *Desk) files(ctx context.Context, q ask.Files) ([]string, error) {
	p, _, err := d.Loaded()
	if err != nil {
		return nil, err
	}
	all, _, err := pick.Tree(ctx, search.Tree{Root: p.Dir, Top: p.Root, Home: p.Home}, maxFiles)
	if err != nil || q.Near == "" && q.Max == 0 {
		return all, err
	}
	out := []string{}
	for _, h := range pick.NewFiles(all).Find(q.Near, q.Max) {
		out = append(out, h.Path)
	}
	return out, nil
}

// memory are the files that a person may add a line to.
func (d *Desk) memory() []ask.Choice {
	p, _, err := d.Loaded()
	if err != nil {
		return nil
	}
	project := firstThere(p.Root, "AGENTS.md", "CLAUDE.md", "GEMINI.md", filepath.Join(".claude", "CLAUDE.md"))
	local := firstThere(p.Root, "AGENTS.local.md", "CLAUDE.local.md")
	return []ask.Choice{
		{ID: project, Name: "this project", About: paths.Tilde(project, p.Home)},
		{ID: local, Name: "this project, only for me", About: paths.Tilde(local, p.Home)},
		{ID: filepath.Join(p.Folders.Config, "AGENTS.md"), Name: "all my projects", About: paths.Tilde(filepath.Join(p.Folders.Config, "AGENTS.md"), p.Home)},
	}
}

// firstThere is the first of the names in a folder that is there, as it is the one
// that is read; the first of all where none is.
func firstThere(dir string, names ...string) string {
	for _, n := range names {
		if there(filepath.Join(dir, n)) {
			return filepath.Join(dir, n)
		}
	}
	return filepath.Join(dir, names[0])
}

// note appends a line to a memory file, as an item of a list. A link that
// leads elsewhere is not followed.
func (d *Desk) note(file, line string) error {
	p, _, err := d.Loaded()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Base(file)
	old, err := root.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	text := "- " + strings.Join(strings.Fields(line), " ") + "\n"
	if len(old) > 0 && old[len(old)-1] != '\n' {
		text = "\n" + text
	}
	if len(old) == 0 && file == filepath.Join(p.Config, "AGENTS.md") {
		text = p.KeepsClaude() + text
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// folders lists the further folders that count as the working one does, or adds one.
func (d *Desk) folders(ctx context.Context, session string, q ask.Folders) (string, error) {
	p, cfg, err := d.Loaded()
	if err != nil {
		return "", err
	}
	if q.Add == "" {
		text := "No further folder is in use. `/add-dir ../lib` adds one until adze ends, `/add-dir --keep ../lib` for good."
		if len(cfg.Permissions.Dirs) > 0 {
			text = "In use beside this folder:\n\n"
		}
		for _, d := range cfg.Permissions.Dirs {
			text += "- `" + d.Text + "` (" + d.Origin.String() + ")\n"
		}
		return text, nil
	}
	dir, err := settings.Folder(p, q.Add, "/add-dir")
	if err != nil {
		return "", err
	}
	done := "`" + paths.Tilde(dir, p.Home) + "` can be used as this folder is"
	if !q.Keep {
		w := d.at(session)
		if w == nil {
			return "", errNoSession
		}
		w.Give(settings.AsDir(dir, "/add-dir"))
		return done + ", until adze ends. `/add-dir --keep " + q.Add + "` keeps that.", nil
	}
	t, e, err := settings.AddDir(p, "local", dir)
	if err != nil {
		return "", err
	}
	if err := d.Write(ctx, p, t, e); err != nil {
		return "", err
	}
	return done + ". That is kept in `" + paths.Tilde(t.Path, p.Home) + "`; taken out there, it ends at once.", nil
}

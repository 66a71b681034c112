package market

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Catalogue is what a marketplace offers.
type Catalogue struct {
	Name    string
	Plugins []Entry
	// Problems are entries that cannot be used.
	Problems []string
}

// An Entry is a plugin of a marketplace.
type Entry struct {
	Name    string
	Version string
	About   string
	Source  Source
	Raw     json.RawMessage
}

// ErrNoList means that a folder is no marketplace.
var ErrNoList = errors.New("there is no marketplace: .claude-plugin/marketplace.json is missing")

// indexes are where a marketplace's list may be.
var indexes = []string{".adze-plugin/marketplace.json", ".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json", "marketplace.json"}

// readCatalogue reads the list in a folder. near: see Source.check.
func readCatalogue(dir string, near bool) (Catalogue, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Catalogue{}, fmt.Errorf("the folder %s is gone", clip.Visible(dir))
	}
	if err != nil {
		return Catalogue{}, paths.Cause(err)
	}
	defer root.Close()
	for _, name := range indexes {
		info, err := root.Stat(name) // a link inside is followed
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() || info.Size() > maxIndex {
			return Catalogue{}, fmt.Errorf("%s is no file of at most %s", name, clip.Size(maxIndex))
		}
		b, err := root.ReadFile(name)
		if err != nil {
			return Catalogue{}, paths.Cause(err)
		}
		c, err := parseCatalogue(b, near)
		if err != nil {
			return c, fmt.Errorf("%s: %w", name, err)
		}
		return c, nil
	}
	return Catalogue{}, ErrNoList
}

// parseCatalogue reads a marketplace.json of Claude Code's form, or Codex's.
func parseCatalogue(b []byte, near bool) (Catalogue, error) {
	var f struct {
		Name     string
		Plugins  []json.RawMessage
		Metadata struct {
			PluginRoot string `json:"pluginRoot"`
		}
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if err := json.Unmarshal(b, &f); err != nil {
		return Catalogue{}, fmt.Errorf("it cannot be read: %w", fastjson.Where(b, err))
	}
	if !plugin.NameOK(f.Name) {
		return Catalogue{}, fmt.Errorf("the name %q cannot be used: expected at most 64 letters, digits, \".\", \"_\" and \"-\"", clip.Line(clip.Visible(f.Name), 80))
	}
	c := Catalogue{Name: f.Name}
	bad := func(i int, name, format string, args ...any) {
		if len(c.Problems) < 50 {
			c.Problems = append(c.Problems, clip.Line(clip.Visible(fmt.Sprintf("plugin %d %q: %s", i+1, name, fmt.Sprintf(format, args...))), 300))
		}
	}
	seen := map[string]bool{}
	for i, raw := range f.Plugins {
		if i == maxPlugins {
			bad(i, "", "more than %d plugins; the rest is left out", maxPlugins)
			break
		}
		var e struct {
			Name, Version, Description string
			Source                     json.RawMessage
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			bad(i, "", "expected {\"name\": …, \"source\": …}")
			continue
		}
		src, err := parseSource(e.Source)
		if err == nil && src.Kind == Folder {
			src.Path, err = joinLocal(f.Metadata.PluginRoot, src.Path)
		}
		if err == nil {
			err = src.check(near)
		}
		switch {
		case !plugin.NameOK(e.Name):
			bad(i, e.Name, "the name cannot be used")
		case seen[e.Name]:
			bad(i, e.Name, "there are two of that name")
		case err != nil:
			bad(i, e.Name, "%v", err)
		default:
			seen[e.Name] = true
			c.Plugins = append(c.Plugins, Entry{e.Name, clip.Line(clip.Visible(e.Version), 100), clip.Line(clip.Visible(e.Description), 300), src, raw})
		}
	}
	return c, nil
}

// joinLocal is a path of a marketplace, below its root.
func joinLocal(base, p string) (string, error) {
	if base != "" && !strings.HasPrefix(p, "./") && !strings.HasPrefix(p, "/") {
		p = strings.TrimSuffix(base, "/") + "/" + p
	}
	out, err := plugin.Local(p)
	if err != nil {
		return "", fmt.Errorf("the path %q %w", clip.Line(p, 100), err)
	}
	return out, nil
}

package sandbox

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// What a call needs open is opened as it is when it begins: what is there, or the nearest
// folder for a call that was read. What is hidden or denied, and what a link leads to now,
// stays as it is, whatever allows it.
func TestOpenable(t *testing.T) {
	root := real(t.TempDir())
	at := func(p string) string { return filepath.Join(root, p) }
	for _, d := range []string{"w", "x/sub", "hidden/in", "denied/in"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, at("x/f"), "")
	if err := os.Symlink(at("hidden"), at("link")); err != nil {
		t.Skip(err)
	}
	p := Policy{Writable: []string{at("w")}, Hidden: []string{at("hidden")}, denied: []string{at("denied")}}
	for name, c := range map[string]struct {
		pinned bool
		folder policy.Folder
		open   string // "" when it is closed, "-" when it is open anyway
	}{
		"a file":                         {folder: policy.Folder{Path: "x/f"}, open: "x/f"},
		"a folder":                       {folder: policy.Folder{Path: "x"}, open: "x"},
		"what is not there":              {folder: policy.Folder{Path: "x/none"}},
		"that, of a call that was read":  {pinned: true, folder: policy.Folder{Path: "x/none/deep"}, open: "x"},
		"what is writable":               {folder: policy.Folder{Path: "w/f"}, open: "-"},
		"what is shut":                   {pinned: true, folder: policy.Folder{Path: "x", Shut: true}},
		"what is hidden":                 {pinned: true, folder: policy.Folder{Path: "hidden"}},
		"what is in it":                  {pinned: true, folder: policy.Folder{Path: "hidden/in"}},
		"what the settings deny":         {pinned: true, folder: policy.Folder{Path: "denied/in/none"}},
		"a link":                         {pinned: true, folder: policy.Folder{Path: "link"}},
		"what is behind one":             {pinned: true, folder: policy.Folder{Path: "link/in/none"}},
		"what is protected":              {folder: policy.Folder{Path: "x/sub"}},
		"that, of a call that was read ": {pinned: true, folder: policy.Folder{Path: "x/sub"}, open: "x/sub"},
	} {
		c.folder.Path = at(c.folder.Path)
		got, closed := p.openable(policy.Needs{Pinned: c.pinned, Writable: []string{at("x/sub")}, Folders: []policy.Folder{c.folder}})
		var open []policy.Folder
		var shut []string
		switch c.open {
		case "":
			shut = []string{c.folder.Path}
		case "-":
		default:
			open = []policy.Folder{{Path: at(c.open)}}
		}
		for i, why := range closed {
			closed[i], _, _ = strings.Cut(why, ":")
		}
		if !reflect.DeepEqual(got.Folders, open) || !slices.Equal(closed, shut) {
			t.Errorf("%s: open %v, closed %v", name, got.Folders, closed)
		}
	}
	for _, path := range []string{"/", "/none", "/dev/none", "/proc/self/none", "/sys"} {
		if got, closed := p.openable(policy.Needs{Pinned: true, Folders: []policy.Folder{{Path: path}}}); got.Folders != nil || len(closed) != 1 {
			t.Errorf("%s: open %v", path, got.Folders)
		}
	}
}

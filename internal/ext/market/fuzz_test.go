package market

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"testing"
)

func FuzzCatalogue(f *testing.F) {
	f.Add([]byte(`{"name": "m", "metadata": {"pluginRoot": "./p"}, "plugins": [{"name": "a", "source": "./x"}, {"name": "b", "source": {"source": "git-subdir", "url": "o/r", "path": "./s", "ref": "v1"}}, {"name": "c", "source": {"source": "npm", "package": "@a/b"}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseCatalogue(text, false)
		if err != nil {
			return
		}
		for _, e := range c.Plugins {
			if err := e.Source.check(false); err != nil {
				t.Errorf("%+v: %v", e.Source, err)
			}
			if e.Source.Path != "" && !fs.ValidPath(e.Source.Path) && e.Source.Kind == Folder {
				t.Errorf("path %q", e.Source.Path)
			}
		}
		_ = ParsePolicy(json.RawMessage(text), json.RawMessage(text)).Allows(Source{Kind: Git, URL: "https://example.com/x"}) // only must not panic
	})
}

// Whatever an archive says, nothing is written outside, and what is read back
// is what a tree may have.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("PK\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "a")
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "")
	f.Add([]byte("100644 blob 0123 5\ta/b\x00120000 blob 45 1\t../x\x00"), "x")
	f.Fuzz(func(t *testing.T, b []byte, dir string) {
		for _, unpack := range []func(*tree) error{
			func(to *tree) error { return unzip(bytes.NewReader(b), int64(len(b)), dir, to) },
			func(to *tree) error { return untar(bytes.NewReader(b), int64(len(b)), dir, to) },
		} {
			at := t.TempDir()
			to, err := newTree(at)
			if err != nil {
				t.Fatal(err)
			}
			err = unpack(to)
			if err == nil {
				err = to.done()
			}
			if closeErr := to.close(); closeErr != nil {
				t.Error(closeErr)
			}
			if _, sumErr := sumOf(at); err == nil && sumErr != nil {
				t.Error(sumErr)
			}
		}
		if list, err := treeFiles(string(b)); err == nil && len(list) > maxFiles {
			t.Error(len(list))
		}
	})
}

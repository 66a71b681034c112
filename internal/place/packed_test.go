package place

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPacked: the names in an archive are those that an unpacker finds, or nobody knows
// them: one that is both kinds, that ends early, or whose names lead through a link.
func TestPacked(t *testing.T) {
	plain := tarOf(t, tar.Header{Name: "a/b", Typeflag: tar.TypeReg}, tar.Header{Name: "../c", Typeflag: tar.TypeReg})
	var zipped, gz bytes.Buffer
	z := zip.NewWriter(&zipped)
	if _, err := z.Create(".envrc"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var named bytes.Buffer
	z = zip.NewWriter(&named)
	if _, err := z.CreateHeader(&zip.FileHeader{Name: "x", Extra: []byte{0x75, 0x70, 1, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	g := gzip.NewWriter(&gz)
	if _, err := g.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		zipped  bool
		want    []string
	}{
		"tar": {plain, false, []string{"a/b", "../c"}}, "tar.gz": {gz.Bytes(), false, []string{"a/b", "../c"}}, "zip": {zipped.Bytes(), true, []string{".envrc"}},
		"cut": {gz.Bytes()[:len(gz.Bytes())-20], false, nil}, "both": {append(slices.Clone(plain), zipped.Bytes()...), false, nil}, "text": {[]byte("hello"), false, nil}, "empty": {nil, false, nil}, "tar for unzip": {plain, true, nil},
		"through a link":                         {tarOf(t, tar.Header{Name: "x", Typeflag: tar.TypeSymlink, Linkname: ".git"}, tar.Header{Name: "x/config", Typeflag: tar.TypeReg}), false, nil},
		"a hard link":                            {tarOf(t, tar.Header{Name: "x", Typeflag: tar.TypeLink, Linkname: ".git/config"}), false, nil},
		"a link, and what is written through it": {tarOf(t, tar.Header{Name: "x", Typeflag: tar.TypeSymlink, Linkname: "y"}, tar.Header{Name: "./x", Typeflag: tar.TypeReg}), false, nil},
		"another name in a record":               {tarOf(t, tar.Header{Name: "x", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"VENDOR.name": ".envrc"}}), false, nil},
		"another name in a field":                {named.Bytes(), true, nil},
		"a link":                                 {tarOf(t, tar.Header{Name: "x", Typeflag: tar.TypeSymlink, Linkname: "y"}), false, []string{"x"}},
	} {
		file := filepath.Join(t.TempDir(), "archive")
		if err := os.WriteFile(file, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		names, ok := packed(file, c.zipped)
		if ok != (c.want != nil) || ok && !slices.Equal(names, c.want) {
			t.Errorf("%s: %q, %v, want %q", name, names, ok, c.want)
		}
	}
}

func tarOf(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range entries {
		h.Mode = 0o644
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

package blob_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/adze-agent/adze/internal/store/blob"
)

func TestPutAndGet(t *testing.T) {
	f := blob.Folder{Path: filepath.Join(t.TempDir(), "b")}
	name, err := f.Put([]byte("content"))
	if err != nil || name != blob.Name([]byte("content")) {
		t.Fatal(name, err)
	}
	if got, err := f.Get(name); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
	for what, damage := range map[string]func() error{
		"cut":     func() error { return os.Truncate(f.At(name), 3) },
		"longer":  func() error { return os.WriteFile(f.At(name), []byte("content and more"), 0o600) },
		"changed": func() error { return os.WriteFile(f.At(name), []byte("Content"), 0o600) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Get(name); !errors.Is(err, blob.ErrChanged) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
		if _, err := f.Put([]byte("content")); err != nil { // mends it
			t.Fatal(err)
		}
		if got, err := f.Get(name); err != nil || string(got) != "content" {
			t.Errorf("%s, and kept again: %q, %v", what, got, err)
		}
	}
	if _, err := f.Get(blob.Name(nil)); !errors.Is(err, blob.ErrMissing) {
		t.Errorf("nothing there: %v", err)
	}
	for _, bad := range []string{"", "../x", strings.Repeat("z", 64), strings.Repeat("../", 22)[:64]} {
		if _, err := f.Get(bad); err == nil || errors.Is(err, blob.ErrMissing) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestPacked(t *testing.T) {
	f := blob.Folder{Path: filepath.Join(t.TempDir(), "b"), Pack: true}
	long := bytes.Repeat([]byte("a line of a program\n"), 1000)
	noise := make([]byte, 20_000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	put := func(content []byte, f blob.Folder) string {
		t.Helper()
		name, err := f.Put(content)
		if err != nil || name != blob.Name(content) {
			t.Fatal(name, err)
		}
		if got, err := f.Get(name); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		return name
	}
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return -1
		}
		return info.Size()
	}
	name := put(long, f)
	packed := f.At(name) + ".zst"
	if n := size(packed); n <= 0 || n > 500 || size(f.At(name)) != -1 {
		t.Errorf("%d bytes of %d, and %d", n, len(long), size(f.At(name)))
	}
	for what, content := range map[string][]byte{"short": []byte("short"), "noise": noise} {
		if name := put(content, f); size(f.At(name)) != int64(len(content)) || size(f.At(name)+".zst") != -1 {
			t.Errorf("%s is packed", what)
		}
	}
	// Who reads a file by its path finds it, and what was kept before stays one file.
	put(long, blob.Folder{Path: f.Path})
	if size(f.At(name)) != int64(len(long)) {
		t.Error("it is not there as it is")
	}
	if err := os.Remove(packed); err != nil {
		t.Fatal(err)
	}
	put(long, f)
	if size(packed) != -1 {
		t.Error("it is kept twice")
	}

	if err := os.Remove(f.At(name)); err != nil {
		t.Fatal(err)
	}
	put(long, f)
	for what, damage := range map[string][]byte{"cut": {0x28, 0xb5, 0x2f, 0xfd}, "no zstd": []byte("no zstd"), "empty": nil} {
		if err := os.WriteFile(packed, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Get(name); !errors.Is(err, blob.ErrChanged) {
			t.Errorf("%s: %d bytes, %v", what, len(got), err)
		}
		put(long, f) // mends it
	}
	bomb, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(packed, bomb.EncodeAll(make([]byte, 200<<20), nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Get(name); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("a bomb: %d bytes, %v", len(got), err)
	}
}

// What a source file costs to keep and to read.
func BenchmarkPut(b *testing.B) {
	text, err := os.ReadFile("blob_test.go")
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{8 << 10, 1 << 20} {
		for _, pack := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/pack=%v", size, pack), func(b *testing.B) {
				f := blob.Folder{Path: b.TempDir(), Pack: pack}
				content := bytes.Repeat(text, size/len(text)+1)[:size]
				b.ReportAllocs()
				for i := range b.N {
					content[0], content[1], content[2], content[3] = byte(i), byte(i>>8), byte(i>>16), byte(size)
					if _, err := f.Put(content); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// kept keeps blobs in a map.
type kept map[string][]byte

func (k kept) put(content []byte) (string, error) {
	k[blob.Name(content)] = bytes.Clone(content)
	return blob.Name(content), nil
}

func (k kept) get(name string) ([]byte, error) {
	if c, ok := k[name]; ok {
		return c, nil
	}
	return nil, blob.ErrMissing
}

func through(t *testing.T, text []byte) (line []byte, k kept) {
	t.Helper()
	k = kept{}
	line, err := blob.Out(bytes.Clone(text), k.put)
	if err != nil {
		t.Fatal(err)
	}
	back, missing := blob.In(line, k.get)
	if missing > 0 {
		t.Fatalf("%d are missing of %q", missing, line)
	}
	if string(back) != string(text) {
		var a, b any // a reference that was there by itself is written in another way, and says the same
		if json.Unmarshal(text, &a) != nil || json.Unmarshal(back, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%.300q came back as %.300q", text, back)
		}
	}
	return line, k
}

func TestLargeDataIsKeptApart(t *testing.T) {
	big := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1, 2, 3, 250}, 2000))
	name := strings.Repeat("ab", 32)
	for text, blobs := range map[string]int{
		`{"images":[{"media":"image/png","data":"` + big + `"},{"media":"image/png","data":"` + big + `"}],"text":"x"}`: 1,
		`{"data":"` + big[:100] + `"}`:                        0,
		`{"data":"` + big[:len(big)-1] + `","x":1}`:           0, // not base64
		`{"data":"` + big[:6000] + `!","data":"` + big + `"}`: 1,
		`{"text":"say \"data\":\"` + big + `\""}`:             0, // in a string
		`{"x":"data","y":"` + big + `"}`:                      0,
		`{"input":{"data":"blob:` + name + `"}}`:              0, // somebody's own
		`{"input":{"data":"blob:"},"text":"` + big + `"}`:     0,
		`{"data":""}`: 0, `{}`: 0, ``: 0,
	} {
		line, k := through(t, []byte(text))
		if len(k) != blobs || blobs > 0 && len(line) > len(text)-5000 {
			t.Errorf("%.80q: %d blobs, %d of %d bytes", text, len(k), len(line), len(text))
		}
		if bare := blob.Bare(line); !json.Valid(bare) && text != "" || blobs > 0 && len(bare) > len(line) {
			t.Errorf("%.80q without its data is %.80q", text, bare)
		}
	}
}

func TestMissingDataIsEmpty(t *testing.T) {
	text, missing := blob.In([]byte(`{"data":"blob:`+strings.Repeat("ab", 32)+`","x":1}`), kept{}.get)
	if string(text) != `{"data":"","x":1}` || missing != 1 {
		t.Errorf("%s, %d", text, missing)
	}
	boom := errors.New("boom")
	if _, err := blob.Out([]byte(`{"data":"`+strings.Repeat("AAAA", 2000)+`"}`), func([]byte) (string, error) { return "", boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"data":"AAAA","x":"blob:"}`), 3)
	f.Add([]byte(`{"data":"blob:`+strings.Repeat("0", 64)+`"}`), 5000)
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		if !json.Valid(text) {
			return
		}
		big := base64.StdEncoding.EncodeToString(make([]byte, max(0, min(n, 9000))))
		through(t, text)
		through(t, []byte(`{"a":`+string(text)+`,"data":"`+big+`"}`))
	})
}

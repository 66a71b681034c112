package zygote

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func texts(list [][]byte) (out []string) {
	for _, b := range list {
		out = append(out, strings.TrimSuffix(string(b), "\x00"))
	}
	return out
}

func TestRequest(t *testing.T) {
	r := Request{Dir: "/work", Path: "/bin/sh", Args: []string{"sh", "-c", "", "a\nb"}, Env: []string{"A=1", "EMPTY="}, OpenFiles: [2]uint64{1024, 4096}}
	b, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	p, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if string(p.dir) != "/work\x00" || string(p.path) != "/bin/sh\x00" || !slices.Equal(texts(p.args), r.Args) || !slices.Equal(texts(p.env), r.Env) || p.openFiles != r.OpenFiles {
		t.Errorf("%+v", p)
	}
	for name, bad := range map[string]Request{
		"NUL":       {Dir: "/", Path: "/bin/sh", Args: []string{"a\x00b"}},
		"many":      {Dir: "/", Path: "/bin/sh", Args: make([]string, maxWords+1)},
		"too large": {Dir: "/", Path: "/bin/sh", Args: []string{strings.Repeat("x", maxRequest)}},
	} {
		if _, err := bad.encode(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestDamagedRequests(t *testing.T) {
	for _, s := range []string{
		"", "\x00", "1", "1\x000\x000\x000\x00rel\x00/bin/sh\x00sh\x00", "1\x000\x000\x000\x00/w\x00sh\x00sh\x00",
		"0\x000\x000\x000\x00/w\x00/bin/sh\x00", "2\x000\x000\x000\x00/w\x00/bin/sh\x00sh\x00", "1\x000\x000\x000\x00/w\x00/bin/sh\x00sh\x00more\x00",
		"1\x000\x005\x004\x00/w\x00/bin/sh\x00sh\x00", "-1\x000\x000\x000\x00/w\x00/bin/sh\x00sh\x00", "1\x0065536\x000\x000\x00/w\x00/bin/sh\x00sh\x00",
	} {
		if _, err := decode([]byte(s)); err == nil {
			t.Errorf("%q: taken", s)
		}
	}
}

func FuzzDecode(f *testing.F) {
	good, err := Request{Dir: "/work", Path: "/bin/sh", Args: []string{"sh", "-c", "true"}, Env: []string{"A=1"}, OpenFiles: [2]uint64{1, 2}}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte("1\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := bytes.Clone(b)
		p, err := decode(b)
		if err != nil {
			return
		}
		if !bytes.Equal(whole, b) {
			t.Fatal("decode changed what it read")
		}
		for _, s := range append(append([][]byte{p.dir, p.path}, p.args...), p.env...) {
			if bytes.IndexByte(s, 0) != len(s)-1 {
				t.Fatalf("%q is not one text with its end", s)
			}
		}
		r := Request{Dir: texts([][]byte{p.dir})[0], Path: texts([][]byte{p.path})[0], Args: texts(p.args), Env: texts(p.env), OpenFiles: p.openFiles}
		again, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		q, err := decode(again)
		if err != nil || !slices.Equal(texts(q.args), r.Args) || !slices.Equal(texts(q.env), r.Env) {
			t.Fatalf("%v: %+v", err, q)
		}
	})
}

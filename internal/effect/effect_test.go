package effect

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

func TestStored(t *testing.T) {
	list := []Effect{
		Dir{"/d"}, Saw{[]File{{Path: "p", Size: 1, MTime: 2, Hash: "h", Partial: true, First: 1, Last: 2}}}, Answer{json.RawMessage(`{"n":3}`)},
		Mode{policy.PlanMode}, Fresh{}, Final{"done"}, Planned{"p"},
		Exported{[]Variable{{Name: "A", Value: "b"}, {Name: "C", Unset: true}, {Name: "D", Hidden: true}}, true},
		Changed{[]Change{{Path: "/f", Before: Version{Kind: IsFile, Mode: 0o644, Size: 1, Hash: "h", Lost: "l"}, After: Version{Kind: IsLink, Link: "x"}, Names: []string{"/g"}}}, []string{"m"}},
		Skill{Name: "fmt", From: "f:1", Text: "t", Rules: []string{"Bash(gofmt *)"}, Deny: []string{"Write"}, Model: "m", Effort: "high"},
		Loaded{[]llm.Spec{{Name: "n", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "o"}}},
		Unknown{"later", []byte(`{"type":"later","x":[1]}`)},
	}
	raw, err := Store(list)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`{"type":"dir","path":"/d"}`,
		`{"type":"saw","files":[{"path":"p","size":1,"mtime":2,"hash":"h","partial":true,"first":1,"last":2}]}`,
		`{"type":"answer","json":{"n":3}}`, `{"type":"mode","mode":"plan"}`, `{"type":"fresh"}`, `{"type":"final","text":"done"}`,
		`{"type":"planned","text":"p"}`,
		`{"type":"exported","vars":[{"name":"A","value":"b"},{"name":"C","unset":true},{"name":"D","hidden":true}],"confined":true}`,
		`{"type":"changed","changes":[{"path":"/f","before":{"kind":"file","mode":420,"size":1,"hash":"h","lost":"l"},"after":{"kind":"link","link":"x"},"names":["/g"]}],"missed":["m"]}`,
		`{"type":"skill","skill":{"name":"fmt","from":"f:1","text":"t","rules":["Bash(gofmt *)"],"deny":["Write"],"model":"m","effort":"high"}}`,
		`{"type":"loaded","tools":[{"name":"n","description":"d","schema":{"type":"object"}},{"name":"o"}]}`,
		`{"type":"later","x":[1]}`,
	} {
		if string(raw[i]) != want {
			t.Errorf("%T is stored as %s, want %s", list[i], raw[i], want)
		}
	}
	got, err := Load(raw)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(list, got); d != "" {
		t.Error(d)
	}
	for i := range raw { // nothing of the line is kept
		clear(raw[i])
	}
	if u := got[11].(Unknown); string(u.Raw) != `{"type":"later","x":[1]}` {
		t.Errorf("%s", u.Raw)
	}
	for _, bad := range []string{`{`, `{}`, `[]`, `{"type":"dir","path":3}`, `{"type":3}`} {
		if got, err := Load([]Stored{Stored(bad)}); err == nil {
			t.Errorf("%s is read as %+v", bad, got)
		}
	}
	if _, err := Store([]Effect{Unknown{Type: "x"}}); err == nil {
		t.Error("an unknown effect without its JSON was written")
	}
}

func TestOf(t *testing.T) {
	list := []Effect{Dir{"/a"}, Saw{[]File{{Path: "1"}}}, Dir{"/b"}, Saw{[]File{{Path: "2"}}}}
	if d, ok := Of[Dir](list); !ok || d.Path != "/b" {
		t.Errorf("%+v %t", d, ok)
	}
	if f, ok := Of[Final](list); ok {
		t.Errorf("%+v", f)
	}
	if got := Files(list); !reflect.DeepEqual(got, []File{{Path: "1"}, {Path: "2"}}) {
		t.Errorf("%+v", got)
	}
}

// TestPathsOfAnyBytes: a path that is no UTF-8 is the same one after JSON, and one that
// is has the form it always had.
func TestPathsOfAnyBytes(t *testing.T) {
	for _, c := range []Change{
		{Path: "/w/caf\xe9.txt", Before: Version{Kind: IsFile, Hash: "x"}, Names: []string{"/w/a", "/w/\xff", "/w/b"}},
		{Path: "/w/café.txt", Names: []string{"/w/a"}, After: Version{Link: "to\xe9"}},
		{Path: "\xff"},
	} {
		b, err := fastjson.Append(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		var got Change
		if err := fastjson.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%s: %+v, %v; want %+v", b, got, err, c)
		}
	}
	b, err := fastjson.Append(nil, Change{Path: "/w/a", After: Version{Kind: IsFile, Size: 1}, Names: []string{"/w/b"}})
	if want := `{"path":"/w/a","before":{},"after":{"kind":"file","size":1},"names":["/w/b"]}`; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}

package file

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// An earlier result is read in the place of a file, in parts as a file is, and
// nothing is asked for it.
func TestReadAResult(t *testing.T) {
	b := newBench(t, Config{})
	b.put("result:c9", "a file of that name")
	b.fails("result:c1", "Read", in{"file_path": "result:c1"}) // nobody has results: it is a path
	broken := false
	b.env.Result = func(_ context.Context, call string) (string, bool, error) {
		if broken {
			return "", false, errors.New("the disk is gone")
		}
		text, ok := map[string]string{"c1": linesOf(3000), "c2": "", "c3": "odd \x1b[31m text"}[call]
		return text, ok, nil
	}
	for _, c := range []struct {
		in   in
		want string
	}{
		{in{"file_path": "result:c1"}, numbered(1, 2000) + "[1,000 more lines; read with offset=2001]"},
		{in{"file_path": "result:c1", "offset": 2999, "limit": 5}, numbered(2999, 3000)},
		{in{"file_path": "result:c2"}, "The result was empty."},
	} {
		if r := b.ok("Read", c.in); r.Text != c.want || len(r.Effects) > 0 {
			t.Errorf("%v: got %.200q with %v", c.in, r.Text, r.Effects)
		}
	}
	if r := b.ok("Read", in{"file_path": "result:c3"}); strings.Contains(r.Text, "\x1b") {
		t.Errorf("%q", r.Text)
	}
	b.fails("offset 9000 is past its end", "Read", in{"file_path": "result:c1", "offset": 9000})
	b.fails(`no call "c9" in this session`, "Read", in{"file_path": "result:c9"})
	broken = true
	b.fails("the disk is gone", "Read", in{"file_path": "result:c1"})
	tl, _ := b.tools.Get("Read")
	p, err := tl.Plan(b.raw(in{"file_path": "result:c1"}), b.env)
	if err != nil || len(p.Actions) != 1 || p.Actions[0] != (policy.Action)(policy.None{}) || !p.Parallel {
		t.Errorf("%+v, %v", p, err)
	}
}

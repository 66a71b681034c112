package live

import (
	"testing"

	"github.com/adze-agent/adze/internal/ask"
)

func TestWhichIsMeant(t *testing.T) {
	session := func(id, title, dir, root string) Session {
		return Session{OpenSession: ask.OpenSession{Facts: ask.Facts{ID: id, Dir: dir, Root: root}, Title: title}}
	}
	all := List{
		session("abcd-1", "fix the parser", "/a", "/a"), session("abcd-2", "abcd-1 again", "/a/sub", "/a"), session("ef01-3", "docs", "/b", ""),
	}
	for word, want := range map[string]string{
		"abcd-1": "1", "abcd": "12", "abc": "", "ef01": "3", "docs": "3", "doc": "", "": "", "fix the parser": "1", "abcd-1 again": "2", "abcd-12": "",
	} {
		if got := ends(all.Named(word)); got != want {
			t.Errorf("%q means %q, not %q", word, got, want)
		}
	}
	for _, c := range [][3]string{{"/a", "/a", "12"}, {"/a/other", "/a", "12"}, {"/b", "", "3"}, {"/c", "/c", ""}} {
		if got := ends(all.In(c[0], c[1])); got != c[2] {
			t.Errorf("in %s of %s: %q, not %q", c[0], c[1], got, c[2])
		}
	}
}

// ends are the last characters of the IDs.
func ends(l List) (out string) {
	for _, s := range l {
		out += s.ID[len(s.ID)-1:]
	}
	return out
}

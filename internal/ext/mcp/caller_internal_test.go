package mcp

import (
	"context"
	"testing"
)

// A question that comes as the answer of a request is that request's. Any other is of
// the newest request that a session has open, and of nobody when none is.
func TestCaller(t *testing.T) {
	l := &link{}
	is := func(ctx context.Context, want Caller, when string) {
		t.Helper()
		if got := l.caller(ctx); got != want {
			t.Errorf("%s: %+v", when, got)
		}
	}
	first, second, none := Caller{"a", "1"}, Caller{"b", "2"}, Caller{}
	is(t.Context(), none, "nothing is open")
	inFirst, endFirst := l.works(t.Context(), first)
	is(t.Context(), first, "one is open")
	_, endNobody := l.works(t.Context(), none) // a person writes "@", and the server completes it
	is(t.Context(), first, "a request of nobody's is newer")
	inSecond, endSecond := l.works(t.Context(), second)
	_, endAgain := l.works(t.Context(), first)
	endAgain()
	is(t.Context(), second, "two are open")
	is(inFirst, first, "within the older one")
	is(inSecond, second, "within the newer one")
	endSecond()
	is(t.Context(), first, "the newer one has ended")
	endFirst()
	endNobody()
	is(t.Context(), none, "all have ended")
}

// A change of a resource is told to each session that has read it, once.
func TestReadersOfAResource(t *testing.T) {
	var told []string
	l := &link{s: &server{views: []*View{(&Hub{}).View(ViewConfig{Client: teller{told: &told}})}}, watch: map[string][]string{"mem://a": {"one", "two"}, "mem://b": {"one"}}}
	l.updated("mem://a")
	l.updated("mem://a")
	l.updated("mem://unknown")
	if len(told) != 2 || told[0] != "one mem://a" || told[1] != "two mem://a" {
		t.Errorf("%q", told)
	}
	if w := l.watching(); len(w) != 1 || len(w["mem://b"]) != 1 {
		t.Errorf("%v", w)
	}
}

// A teller notes what it is told of.
type teller struct {
	nobody
	told *[]string
}

func (teller) Here(Caller) bool { return true }

func (c teller) Changed(session, _, uri string) { *c.told = append(*c.told, session+" "+uri) }

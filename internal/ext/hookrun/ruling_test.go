package hookrun

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRuled(t *testing.T) {
	yes, no := `{"ok":true}`, `{"ok":false,"reason":"r"}`
	for in, want := range map[string]string{
		"":                                      "none",
		"yes {} { }":                            "none",
		yes:                                     "ok",
		"It is " + no + ", so.":                 "r",
		yes + " but then " + no:                 "r",
		no + " or is it " + yes + "?":           "ok",
		`{"OK":true,"Reason":"x"}`:              "ok x",
		`{"a":[1,` + no + `]}`:                  "r",
		`{"a":[1,{"b":` + no + `}`:              "r",
		`{"a":"` + `{` + `":` + no:              "r",
		`{"said":"{ok",` + no:                   "r",
		`a {"{b} ` + no:                         "r",
		`{ok: true} ` + no:                      "r",
		`{"ok":"yes"}`:                          "none",
		`{"ok":1e999}`:                          "none",
		`{"ok":null}`:                           "none",
		`{"ok":true,"ok":null}`:                 "none",
		`{"ok":{"ok":true}}`:                    "ok",
		`{"ok":true,"reason":5}`:                "none",
		`{"ok":true,"reason":null,"n":1e999}`:   "ok",
		`{"ok":[true]}`:                         "none",
		`{"ok":true,"reason":"{\"ok\":false}"}`: `ok {"ok":false}`,
		`{"ok":true,"x":` + no + `}`:            "ok",
		`{"ok":true,}` + `{"ok":false,"reason":"a` + "\n" + `b"}`:                           "none",
		strings.Repeat("{", 5000) + no:                                                      "r",
		strings.Repeat("{} ", 5000) + no:                                                    "r",
		strings.Repeat(`{"a":`, 5000) + no:                                                  "r",
		strings.Repeat(`{"a":`, 5000) + no + strings.Repeat("}", 5000):                      "r",
		strings.Repeat(`{"ok":true,"reason":1,"a":`, 5000) + no + strings.Repeat("}", 5000): "r",
	} {
		got := "none"
		if r, found := ruled(in); found {
			got = r.Reason
			if *r.OK {
				got = strings.TrimSpace("ok " + r.Reason)
			}
		}
		if got != want {
			t.Errorf("%.60s: %s, want %s", in, got, want)
		}
	}
}

// Reading each object for itself finds the same.
func TestRuledAsOneByOne(t *testing.T) {
	oneByOne := func(answer string) (last rule, found bool) {
		for at := 0; at < len(answer); at++ {
			var one rule
			d := json.NewDecoder(strings.NewReader(answer[at:]))
			if answer[at] == '{' && d.Decode(&one) == nil && one.OK != nil {
				last, found = one, true
				at += int(d.InputOffset()) - 1
			}
		}
		return last, found
	}
	pieces := []string{"{", "{", `{"`, "}", "}", `"`, `"ok"`, `{"ok":`, ":", ":true", "false", "null", ",", `"reason":"r1"`, `,"reason":"r2"`, `"a":`, "[", "]", "1", `\`, `\"`, " ", "x", `{"ok":true}`, `{"ok":false,"reason":"r3"}`, "\n"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range rnd.IntN(24) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		want, wants := oneByOne(b.String())
		got, gets := ruled(b.String())
		if wants != gets || want.Reason != got.Reason || wants && *want.OK != *got.OK {
			t.Fatalf("%q: %+v %v, want %+v %v", b.String(), got, gets, want, wants)
		}
	}
}

// Twice the text is twice the work.
func TestRuledIsLinear(t *testing.T) {
	for _, piece := range []string{
		"{", `{"`, `{"ok":`, `{"ok":true,"x":`, `{"ok":true,"reason":1,"x":`, `{"a":[`, `{"a":"{`, `{"{":"{",`, `{"a`, `{"a\"`, `{"ok":true} `, `{"a":{"b":1},`, `{"a":"{\"ok\":true}",`, `{":"`, `"{":`,
	} {
		work := func(n int) int {
			s := sought{answer: strings.Repeat(piece, n), known: map[int]span{}}
			s.last()
			return s.bytes
		}
		if once, twice := work(20_000), work(40_000); twice > 3*once+4096 {
			t.Errorf("%s: %d bytes, and %d for twice as many", piece, once, twice)
		}
	}
}

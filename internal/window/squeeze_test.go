package window

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

// What providers say of a request that is too long, in their words of November 2026.
func TestCounted(t *testing.T) {
	for text, want := range map[string]struct{ asked, input, limit int }{
		"prompt is too long: 215345 tokens > 200000 maximum":                                                                          {8000, 215_345, 200_000},
		"maximum context length is 128,000 tokens. However, your messages resulted in 130,500 tokens":                                 {8000, 130_500, 128_000},
		"the input token count (1048580) exceeds the maximum number of tokens allowed (1048576)":                                      {0, 1_048_580, 1_048_576},
		"5000 tokens were asked for, 5000 of them in the messages, and 4000 are the most":                                             {9, 5000, 4000},
		"input length and `max_tokens` exceed context limit: 14346 + 4096 > 16384, decrease it":                                       {4096, 14_346, 16_384},
		"maximum context length is 16384 tokens. However, you requested 18442 tokens (14346 in the messages, 4096 in the completion)": {4096, 14_346, 16_384},
		"maximum context length is 4096 tokens. However, you requested 4500 tokens (404 in the messages, 4096 in the completion)":     {4096, 404, 4096},
		"7900 + 512 > 8192": {512, 7900, 8192},
		"too long":          {0, 0, 0}, "413": {0, 0, 0}, "9000 tokens": {0, 0, 0}, "1000 2000 3000": {0, 0, 0}, "4096 1024": {4096, 0, 0},
	} {
		if input, limit := Counted(text, want.asked); input != want.input || limit != want.limit {
			t.Errorf("%s: %d of %d, want %+v", text, input, limit, want)
		}
	}
}

// A smaller output is asked for only where there is room for one that is worth it.
func TestFewer(t *testing.T) {
	for text, want := range map[string]int{
		"14346 + 4096 > 16384": 2038, "16100 + 4096 > 16384": 0, "15872 + 4096 > 16384": 512, "15873 + 4096 > 16384": 0,
		"prompt is too long: 21000 tokens > 16384 maximum": 0, "too long": 0,
	} {
		if got := Fewer(text, 4096); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func FuzzCounted(f *testing.F) {
	f.Add("input length and `max_tokens` exceed context limit: 14346 + 4096 > 16384", 4096)
	f.Fuzz(func(t *testing.T, text string, asked int) {
		input, limit := Counted(text, asked)
		if (input == 0) != (limit == 0) || input < 0 || asked >= leastCounted && input != 0 && input <= limit && input+asked <= limit {
			t.Errorf("%d of %d", input, limit)
		}
		if n := Fewer(text, asked); n != 0 && (n >= asked || n < leastReply) {
			t.Errorf("%d fewer than %d", n, asked)
		}
	})
}

// One round that is longer than what there is room for is made to fit.
func TestShortenOfOneRound(t *testing.T) {
	s := talk(1, 20_000)
	for _, ratio := range []float64{1, 2, 3} {
		ms := s.Messages()
		got := Shorten(ms, 4000, ratio)
		if gone, want := Bytes(ms)-Bytes(got), int(16_000/ratio); gone < want-noteChars || gone > want+2*noteChars+(20_000-want)/10 { // clip keeps nine tenths
			t.Errorf("at a ratio of %v %d bytes went, want about %d", ratio, gone, want)
		}
		if len(got) != len(ms) || len(ms[2].Parts[0].(llm.ToolResult).Text) != 20_000 {
			t.Error("a message went, or the conversation itself was changed")
		}
	}
	short := talk(1, 100).Messages()
	if got := Shorten(short, 4000, 1); Bytes(got) != Bytes(short) {
		t.Error("what is short was cut")
	}
}

// Of the results the largest give way, until so many bytes are gone.
func TestSqueeze(t *testing.T) {
	s := talk(3, 6000)
	for _, c := range []struct {
		bytes int
		fresh bool
		want  string
	}{
		{0, false, ""}, {3000, false, "c0 5000 c1 5000 c2 5000"}, {3000, true, "c2 3000"}, {90_000, true, "c2 500"}, {90_000, false, "c0 500 c1 500 c2 500"},
	} {
		var got []string
		for _, l := range Squeeze(s, c.bytes, c.fresh) {
			got = append(got, fmt.Sprint(l.Call, " ", l.Chars))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: %s", c, text)
		}
	}
	if Lopsided(s) || !Lopsided(talk(1, 6000)) || Lopsided(talk(0, 0)) {
		t.Error("what is most of a conversation is not seen")
	}
	if got := FreshOver(s, 4000); len(got) != 1 || got[0].Call != "c2" || got[0].Chars != 4000 {
		t.Errorf("of what is new: %+v", got)
	}
	for ratio, want := range map[float64]int{0.5: 20_000, 1: 20_000, 2: 10_000} {
		if got := FreshBytes(10_000, ratio); got != want {
			t.Errorf("at a ratio of %v: %d bytes", ratio, got)
		}
	}
}

package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/llm"
)

// write writes a conversation with marks on the last two messages of the user.
func write(t *Threads, key string, msgs []llm.Message) (body Body, prepared int) {
	var j JSON
	j.Arr()
	w := t.Begin(key, msgs, Rules{Reader: "r", ID: SafeID})
	ms := w.Messages()
	w.Write(&j, func(i int, m llm.Message) {
		prepared++
		j.Obj()
		j.Key(string(m.Role))
		j.Arr()
		for _, p := range m.Parts {
			b, _ := json.Marshal(p)
			j.Str(fmt.Sprintf("%T %s", p, b))
		}
		users := 0
		for _, x := range ms[i:] {
			if x.Role == llm.User {
				users++
			}
		}
		j.Str(fmt.Sprint("marked ", m.Role == llm.User && users <= 2))
		j.EndArr()
		j.End()
	})
	j.EndArr()
	return w.Keep(&j), prepared
}

// drawMessage is a message as a log may have it, also a damaged one.
func drawMessage(t *rapid.T, n int) llm.Message {
	m := llm.Message{Role: rapid.SampledFrom([]llm.Role{llm.User, llm.Assistant}).Draw(t, "role")}
	id := func() string {
		return rapid.SampledFrom([]string{"", "a", "b.1", "b_1", fmt.Sprint("c", n), fmt.Sprint("c", n-1), fmt.Sprint("c", n-2)}).Draw(t, "id")
	}
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		text := rapid.SampledFrom([]string{"", " ", fmt.Sprint("words ", n)}).Draw(t, "text")
		m.Parts = append(m.Parts, rapid.SampledFrom([]llm.Part{
			llm.Text{S: text}, llm.Text{S: text, From: "r", Opaque: json.RawMessage(`"p"`)}, llm.Thinking{S: "hm", From: "r", Opaque: json.RawMessage(`"s"`)}, llm.Thinking{S: "hm", From: "else"},
			llm.ToolUse{ID: id(), Name: "x", Input: json.RawMessage(`{}`)}, llm.ToolUse{ID: id(), Name: "y", From: "else", Opaque: json.RawMessage(`1`)},
			llm.ToolResult{ID: id(), Text: text}, llm.ToolResult{ID: id(), Images: []llm.Image{{Media: "image/png", Data: []byte("1")}}}, llm.Image{Data: []byte("2")}, llm.Document{Name: "d", Data: []byte("3")},
		}).Draw(t, "part"))
	}
	return m
}

// However conversations go on, are cut and changed: what is written is what is
// written of each from its beginning.
func TestThreadsWriteTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept Threads
		talks := [2][]llm.Message{}
		var bodies []Body
		var wants [][]byte
		for n := range rapid.IntRange(1, 40).Draw(t, "requests") {
			which := rapid.IntRange(0, 1).Draw(t, "which")
			ms := slices.Clone(talks[which])
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				ms = ms[:rapid.IntRange(0, len(ms)).Draw(t, "cut")]
			case 1:
				if len(ms) > 0 {
					ms[rapid.IntRange(0, len(ms)-1).Draw(t, "at")] = drawMessage(t, n)
				}
			case 2: // the same again
			default:
				for i := range rapid.IntRange(1, 3).Draw(t, "more") {
					ms = append(ms, drawMessage(t, 3*n+i))
				}
			}
			talks[which] = ms
			key := rapid.SampledFrom([]string{"k", "k", "k", "l"}).Draw(t, "key")
			body, _ := write(&kept, key, ms)
			anew, _ := write(&Threads{}, key, ms)
			if got, want := body.Bytes(), anew.Bytes(); !bytes.Equal(got, want) || !json.Valid(got) {
				t.Fatalf("request %d:\n%s\nwant\n%s", n, got, want)
			}
			bodies, wants = append(bodies, body), append(wants, anew.Bytes())
		}
		for i, b := range bodies { // that others came after them changes nothing
			if err := iotest.TestReader(b.open(), wants[i]); err != nil || b.Len() != int64(len(wants[i])) {
				t.Fatalf("request %d, later: %v", i, err)
			}
		}
	})
}

// Of a conversation that goes on only its end is prepared and written.
func TestThreadsWriteTheEnd(t *testing.T) {
	var kept Threads
	var ms []llm.Message
	for i := range 100 {
		id := fmt.Sprint("c", i)
		ms = append(ms, llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: id, Name: "x", Input: json.RawMessage(`{}`)}}},
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: id, Text: "r"}}})
		if i == 0 {
			ms[0] = llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "go"}}}
			ms = ms[:1]
		}
		if _, n := write(&kept, "k", ms); n > 6 {
			t.Fatalf("request %d: %d messages were written anew", i, n)
		}
		write(&kept, "k", ms[:1:1]) // a title, of the same beginning
	}
}

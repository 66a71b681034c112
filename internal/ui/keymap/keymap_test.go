package keymap

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDefaults(t *testing.T) {
	for _, term := range []Terminal{{}, {Windows: true}, {Enhanced: true}} {
		seen := map[string]Action{}
		for _, row := range table {
			if row.what == "" || !slices.Contains(contexts(), string(row.context)) {
				t.Errorf("%s: no description or an unknown context", row.action)
			}
			for _, s := range append(term.extra(row.action), row.keys...) {
				keys, err := Parse(s)
				if err != nil || Name(keys) != s {
					t.Errorf("%s: %q is spelled %q (%v)", row.action, s, Name(keys), err)
				}
				id := string(row.context) + " " + s
				if a, ok := seen[id]; ok && a != row.action {
					t.Errorf("%s is %s and %s", id, a, row.action)
				}
				seen[id] = row.action
			}
		}
	}
}

// The keys that the documentation promises.
func TestPromised(t *testing.T) {
	m := Default(Terminal{})
	in := []Context{Chat, Edit, Global}
	for keys, want := range map[string]Action{
		"ctrl+c": Interrupt, "ctrl+l": Redraw, "shift+tab": CycleMode, "alt+p": ModelPicker, "alt+t": ThinkingToggle,
		"ctrl+o": ToggleTranscript, "ctrl+x ctrl+k": KillAgents, "ctrl+t": ToggleTodos, "ctrl+g": ExternalEditor,
		"ctrl+s": Stash, "ctrl+v": ImagePaste, "ctrl+r": SearchHistory, "ctrl+_": EditUndo, "shift+enter": Newline,
		"alt+enter": Newline, "ctrl+j": Newline, "esc": Cancel, "esc esc": Rewind, "alt+y": EditYankPop, "ctrl+w": EditKillSpaceLeft,
	} {
		seq, _ := Parse(keys)
		var c Chord
		var p Press
		for _, k := range seq {
			c, p = m.Press(c, in, k, time.Time{})
		}
		if len(p.Actions) == 0 || p.Actions[0] != want {
			t.Errorf("%s: %v, want %s", keys, p.Actions, want)
		}
	}
	_, p := m.Press(Chord{}, append([]Context{Task}, in...), Key{"b", Ctrl, ""}, time.Time{})
	if !slices.Equal(p.Actions, []Action{TaskBackground, EditLeft}) {
		t.Errorf("ctrl+b while a command runs: %v", p.Actions)
	}
}

func TestChords(t *testing.T) {
	text := `{"bindings": [{"context": "Chat", "bindings": {"ctrl+k ctrl+a b": "chat:stash", "alt+q": "chat:cancel", "alt+q alt+q": "chat:rewind"}}]}`
	m, problems := Load([]byte(text), Terminal{})
	if len(problems) != 1 || !problems[0].Warning { // alt+q acts at once
		t.Errorf("problems: %v", problems)
	}
	in := []Context{Chat, Global}
	for _, c := range []struct {
		keys string // "+900ms" passes time
		want string
	}{
		{"esc", "chat:cancel"},
		{"esc esc", "chat:cancel chat:rewind"},
		{"esc +999ms esc", "chat:cancel chat:rewind"},
		{"esc +1s esc", "chat:cancel chat:cancel"},
		{"esc esc esc", "chat:cancel chat:rewind chat:cancel"},
		{"esc ctrl+s", "chat:cancel chat:stash"}, // a beginning that acted holds nothing back
		{"esc a", "chat:cancel -"},
		{"ctrl+x", "…"},
		{"ctrl+x ctrl+k", "… chat:killAgents"},
		{"ctrl+x q", "… lost(ctrl+x q)"},
		{"ctrl+x ctrl+s", "… lost(ctrl+x ctrl+s)"},
		{"ctrl+x +2s ctrl+s", "… chat:stash"},
		{"ctrl+k ctrl+a b", "… … chat:stash"},
		{"ctrl+k ctrl+a +1s b", "… … -"},
		{"alt+q alt+q", "chat:cancel chat:rewind"},
		{"a", "-"},
	} {
		now := time.Unix(1000, 0)
		var chord Chord
		var got []string
		for f := range strings.FieldsSeq(c.keys) {
			if d, err := time.ParseDuration(f); err == nil {
				now = now.Add(d)
				continue
			}
			k, err := ParseKey(f)
			if err != nil {
				t.Fatal(err)
			}
			var p Press
			chord, p = m.Press(chord, in, k, now)
			switch label, till := chord.Pending(); {
			case p.Pending:
				got = append(got, "…")
				if label == "" || !till.Equal(now.Add(Patience)) {
					t.Errorf("%s: pending %q until %v", c.keys, label, till)
				}
			case label != "":
				t.Errorf("%s: still pending: %q", c.keys, label)
			case p.Lost != "":
				got = append(got, "lost("+p.Lost+")")
			case len(p.Actions) == 0:
				got = append(got, "-")
			default:
				got = append(got, string(p.Actions[0]))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.keys, s, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // problems, one per line; warnings begin with "~"
	}{
		{"empty object", `{}`, ``},
		{"good", "// mine\n{\"$schema\": \"x\", \"bindings\": [\n {\"context\": \"Chat\", \"bindings\": {\"ctrl+e\": \"chat:externalEditor\", \"ctrl+s\": null,}},\n]}", ``},
		{"syntax", "{\n \"bindings\": [\n }", `2:0`},
		{"not an object", `[]`, `1:1 expected an object with "bindings"`},
		{"unknown field", `{"binding": []}`, `1:2 unknown field "binding" (did you mean bindings?)`},
		{"unknown context", `{"bindings": [{"context": "Chatt", "bindings": {}}]}`, `1:27 unknown context "Chatt" (did you mean Chat?)`},
		{"no context", `{"bindings": [{"bindings": {}}]}`, `1:15 "context" is missing`},
		{"unknown action", chat("\n\"ctrl+e\": \"chat:externalEditr\""), `2:11 unknown action "chat:externalEditr" (did you mean chat:externalEditor?)`},
		{"action of another context", chat(`"ctrl+e": "app:stash"`), `1:56 unknown action "app:stash" (did you mean chat:stash?)`},
		{"bad key", chat(`"ctrl+entr": "chat:stash"`), `1:46 "entr" is no key`},
		{"reserved", chat(`"ctrl+c": "chat:stash", "ctrl+x ctrl+d": null`), "1:46 ctrl+c is reserved: it must always interrupt and quit\n1:70 ctrl+d is reserved: it must always interrupt and quit"},
		{"types", chat(`"x": "chat:stash"`), `1:46 x types text in Chat and cannot be bound there; use ctrl or alt with it`},
		{"twice", chat("\"alt+x\": \"chat:stash\",\n\"option+x\": \"chat:submit\""), `~2:1 alt+x is bound in Chat a second time (first in line 1); this one counts`},
		{"unbinds nothing", chat(`"alt+z": null`), `~1:46 alt+z is not bound in Chat`},
		{"not a string", chat(`"alt+z": 3`), `1:55 expected an action or null, not 3`},
		{"shadow", chat(`"ctrl+x": "chat:stash"`), "~1:46 ctrl+x acts at once, also when ctrl+x ctrl+k follows\n~1:46 ctrl+x acts at once, also when ctrl+x ctrl+a follows\n~1:46 ctrl+x acts at once, also when ctrl+x ctrl+e follows\n~1:46 ctrl+x acts at once, also when ctrl+x ctrl+p follows"},
		{"same as tab", chat(`"ctrl+i": "chat:stash"`), `~1:46 many terminals send ctrl+i as tab`},
	} {
		m, problems := Load([]byte(c.text), Terminal{})
		if m == nil {
			t.Fatalf("%s: no map", c.name)
		}
		var got []string
		for _, p := range problems {
			s := fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.What)
			if p.Warning {
				s = "~" + s
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "\n"); s != c.want && !(c.name == "syntax" && strings.HasPrefix(s, "3:")) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, s, c.want)
		}
	}
}

func chat(members string) string {
	return `{"bindings": [{"context": "Chat","bindings":{` + members + `}}]}`
}

func TestLoadedMap(t *testing.T) {
	m, _ := Load([]byte(chat(`"ctrl+e": "chat:externalEditor", "ctrl+s": null, "alt+z": "edit:undo", "bad": "x"`)), Terminal{})
	if a, ok := m.Lookup(Chat, Key{"e", Ctrl, ""}); !ok || a != ExternalEditor {
		t.Errorf("ctrl+e: %q", a)
	}
	if a, ok := m.Lookup(Chat, Key{"s", Ctrl, ""}); ok {
		t.Errorf("ctrl+s is still %q", a)
	}
	if h := m.Hint(ExternalEditor); h != "Ctrl+E" {
		t.Errorf("one's own key is shown first: %q", h)
	}
	if h := m.Hint(Stash); h != "" {
		t.Errorf("an unbound action has the hint %q", h)
	}
	for _, r := range m.Help(Chat) {
		if r.Action == Stash && len(r.Keys) != 0 || r.Action == ExternalEditor && !r.Own {
			t.Errorf("help: %+v", r)
		}
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		term Terminal
		a    Action
		want string
	}{
		{Terminal{Enhanced: true}, Newline, "Shift+Enter"},
		{Terminal{}, Newline, "Alt+Enter"},
		{Terminal{Windows: true}, Newline, "Ctrl+J"},
		{Terminal{Windows: true}, ImagePaste, "Alt+V"},
		{Terminal{Windows: true}, Suspend, ""},
		{Terminal{}, KillAgents, "Ctrl+X Ctrl+K"},
	} {
		if got := Default(c.term).Hint(c.a); got != c.want {
			t.Errorf("%+v %s: %q, want %q", c.term, c.a, got, c.want)
		}
	}
	if _, ok := Default(Terminal{Windows: true}).Lookup(Chat, Key{"m", Alt, ""}); !ok {
		t.Error("Windows terminals without Shift+Tab have no key for the mode")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(chat(`"ctrl+e": "chat:externalEditor", "ctrl+s": null`)))
	f.Add([]byte("{\"bindings\": [3, {}, {\"context\": null, \"bindings\": {\"\": []}}]}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, problems := Load(b, Terminal{})
		for _, p := range problems {
			if p.Line < 1 || p.Line > 1+strings.Count(string(b), "\n") {
				t.Fatalf("line %d of %q", p.Line, b)
			}
		}
		for _, reserved := range []string{"c", "d"} {
			if a, _ := m.Lookup(Global, Key{reserved, Ctrl, ""}); a != Interrupt && a != Exit {
				t.Fatalf("ctrl+%s is %q", reserved, a)
			}
		}
	})
}

// What /keybindings writes at first changes nothing, names all there is, and each of
// its lines counts without its mark.
func TestTemplate(t *testing.T) {
	for _, terminal := range []Terminal{{}, {Windows: true}} {
		text := Template(terminal)
		if m, problems := Load([]byte(text), terminal); len(problems) > 0 || !reflect.DeepEqual(m, Default(terminal)) {
			t.Errorf("as it is: %v", problems)
		}
		for _, row := range table {
			if !terminal.absent(row.action) && !strings.Contains(text, fmt.Sprintf("%q, // %s\n", row.action, row.what)) {
				t.Errorf("%s is not in it", row.action)
			}
		}
		for _, c := range contexts() {
			if where[Context(c)] == "" {
				t.Errorf("nothing is said of %s", c)
			}
		}
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, `      // "`) || strings.HasPrefix(line, `      // "KEY"`) {
				continue
			}
			own := strings.Replace(text, line, strings.Replace(line, "// ", "", 1), 1)
			if m, problems := Load([]byte(own), terminal); len(problems) > 0 || !slices.ContainsFunc(m.Help(), func(r Row) bool { return r.Own }) {
				t.Errorf("%s: %v", line, problems)
			}
		}
	}
}

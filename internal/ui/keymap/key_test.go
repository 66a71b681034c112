package keymap

import (
	"testing"
	"unicode/utf8"
)

func TestParseKey(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Key
		name string
	}{
		{"ctrl+x", Key{"x", Ctrl, ""}, "ctrl+x"},
		{"Ctrl+X", Key{"x", Ctrl, ""}, "ctrl+x"},
		{"control+shift+p", Key{"p", Ctrl | Shift, ""}, "ctrl+shift+p"},
		{"alt+P", Key{"p", Alt | Shift, ""}, "alt+shift+p"},
		{"option+p", Key{"p", Alt, ""}, "alt+p"},
		{"meta+Enter", Key{"enter", Alt, ""}, "alt+enter"},
		{"shift+tab", Key{"tab", Shift, ""}, "shift+tab"},
		{"Escape", Key{"esc", 0, ""}, "esc"},
		{"g", Key{"g", 0, "g"}, "g"},
		{"G", Key{"G", 0, "G"}, "G"},
		{"shift+g", Key{"G", 0, "G"}, "G"},
		{"+", Key{"+", 0, "+"}, "+"},
		{"ctrl++", Key{"+", Ctrl, ""}, "ctrl++"},
		{"ctrl+_", Key{"_", Ctrl, ""}, "ctrl+_"},
		{"space", Key{"space", 0, " "}, "space"},
		{"shift+space", Key{"space", 0, " "}, "space"},
		{"pageup", Key{"pgup", 0, ""}, "pgup"},
		{"é", Key{"é", 0, "é"}, "é"},
		{"cmd+k", Key{"k", Super, ""}, "super+k"},
	} {
		got, err := ParseKey(c.in)
		if err != nil || got != c.want || got.String() != c.name {
			t.Errorf("ParseKey(%q) = %+v %q, %v; want %+v %q", c.in, got, got.String(), err, c.want, c.name)
		}
	}
	for _, bad := range []string{"", "ctrl+", "hyperdrive+x", "enterr", "ctrl+ctrl+x", "\x1b", "ab"} {
		if k, err := ParseKey(bad); err == nil {
			t.Errorf("ParseKey(%q) = %+v", bad, k)
		}
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		stroke, text string
		want         Key
	}{
		{"a", "a", Key{"a", 0, "a"}},
		{"shift+a", "A", Key{"A", 0, "A"}},
		{"shift+1", "!", Key{"!", 0, "!"}},         // what it types counts, not the key's own sign
		{"space", " ", Key{"space", 0, " "}},       //
		{"ctrl+a", "", Key{"a", Ctrl, ""}},         //
		{"enter", "", Key{"enter", 0, ""}},         //
		{"q", "й", Key{"й", 0, "й"}},               // another layout
		{"漢字", "漢字", Key{"漢字", 0, "漢字"}},           // an input method
		{"mediaplay", "", Key{"mediaplay", 0, ""}}, // unknown
	} {
		if got := Of(c.stroke, c.text); got != c.want {
			t.Errorf("Of(%q, %q) = %+v, want %+v", c.stroke, c.text, got, c.want)
		}
	}
}

func TestLabel(t *testing.T) {
	for in, want := range map[string]string{
		"ctrl+x ctrl+k": "Ctrl+X Ctrl+K", "shift+tab": "Shift+Tab", "esc esc": "Esc Esc", "alt+up": "Alt+↑",
		"g": "g", "G": "G", "?": "?", "ctrl++": "Ctrl++", "f1": "F1", "pgdown": "PgDn",
	} {
		keys, err := Parse(in)
		if err != nil || Label(keys) != want {
			t.Errorf("Label(%q) = %q, %v", in, Label(keys), err)
		}
	}
}

// What String writes, ParseKey reads as the same key.
func FuzzParse(f *testing.F) {
	f.Add("ctrl+shift+x esc")
	f.Add("G ctrl++ alt+P")
	f.Fuzz(func(t *testing.T, s string) {
		keys, err := Parse(s)
		if err != nil || !utf8.ValidString(s) {
			return
		}
		again, err := Parse(Name(keys))
		if err != nil || Name(again) != Name(keys) {
			t.Fatalf("%q: %q, then %q (%v)", s, Name(keys), Name(again), err)
		}
		_ = Label(keys)
	})
}

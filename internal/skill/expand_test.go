package skill

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shape writes pieces with commands as <…> and files as @<…>.
func shape(ps []Piece) string {
	var b strings.Builder
	for _, p := range ps {
		switch p := p.(type) {
		case Words:
			b.WriteString(string(p))
		case Run:
			fmt.Fprintf(&b, "<%s>", string(p))
		case File:
			fmt.Fprintf(&b, "@<%s>", string(p))
		}
	}
	return b.String()
}

func TestExpand(t *testing.T) {
	s := Skill{Arguments: []string{"issue", "branch"}, Dir: "/s", Root: "/p", Data: "/d"}
	u := Use{Args: `123 "two words" x`, Session: "S", Project: "/repo", Effort: "high"}
	for body, want := range map[string]string{
		"Fix $ARGUMENTS.":                            `Fix 123 "two words" x.`,
		"Fix $ARGUMENTS[0] and $ARGUMENTS[1].":       "Fix 123 and two words.",
		"Fix $0 and $1, not $7, $ARGUMENTS[7]":       "Fix 123 and two words, not $7, $ARGUMENTS[7]",
		"f() { local n=$7; }; awk '{print $9, $11}'": "f() { local n=$7; }; awk '{print $9, $11}'\n\nArguments: " + u.Args,
		"[$1.5] [$1.] [$1,] [$001] [$2]":             "[$1.5] [two words.] [two words,] [two words] [x]",
		"On $branch for $issue, $other $HOME":        "On two words for 123, $other $HOME\n\nArguments: " + u.Args, // see below
		"It costs $1.50, or $100, or $10 $0":         "It costs $1.50, or $100, or $10 123",
		`Write \$ARGUMENTS and \$1 for $0`:           "Write $ARGUMENTS and $1 for 123",
		"${CLAUDE_SKILL_DIR}/x ${CLAUDE_SESSION_ID} ${CLAUDE_PROJECT_DIR} ${CLAUDE_PLUGIN_ROOT} ${CLAUDE_PLUGIN_DATA} ${CLAUDE_EFFORT} $0": "/s/x S /repo /p /d high 123",
		"${ADZE_SKILL_DIR} ${HOME} ${CLAUDE_OTHER} $0": "/s ${HOME} ${CLAUDE_OTHER} 123",
		"No place.":                                      "No place.\n\nArguments: " + u.Args,
		"- Status: !`git status` now $0":                 "- Status: <git status> now 123",
		"!`git log -n $0`":                               "<git log -n 123>\n\nArguments: " + u.Args,
		"(!`a`) [!`b`] KEY=!`c` x!`d` !`` ! `e` $0":      "(<a>) [<b>] KEY=!`c` x!`d` !`` ! `e` 123",
		"```sh\n!`no`\n$0\n```\n!`yes`\n":                "```sh\n!`no`\n123\n```\n<yes>\n",
		"~~~\n!`no`\n```\n~~~\n!`yes` $0":                "~~~\n!`no`\n```\n~~~\n<yes> 123",
		"Now:\n```!\ngit status\ngit diff\n```\nThen $0": "Now:\n<git status\ngit diff>\nThen 123",
		"```!\nnever ends $0":                            "```!\nnever ends 123",
		"```!\n\n```\n$0":                                "123",
		"Look at @src/main.go $0":                        "Look at @src/main.go 123",
	} {
		if strings.Contains(body, "$branch") || strings.HasPrefix(body, "!`git log") {
			want = strings.TrimSuffix(want, "\n\nArguments: "+u.Args) // an argument had its place
		}
		if got := shape(s.Expand(body, u)); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", body, got, want)
		}
	}
	// What an argument holds is neither a command nor a place for another one.
	if got := shape(s.Expand("Say $ARGUMENTS\n", Use{Args: "!`rm -rf x` $0 ${CLAUDE_SESSION_ID} ```! "})); got != "Say !`rm -rf x` $0 ${CLAUDE_SESSION_ID} ```! \n" {
		t.Errorf("%q", got)
	}
	if got := Runs(s.Expand("!`a $0` b !`c`", Use{Args: "x"})); !slices.Equal(got, []string{"a x", "c"}) {
		t.Errorf("%q", got)
	}
	if got := shape(s.Expand("$9 $10 $11", Use{Args: "0 1 2 3 4 5 6 7 8 9 ten"})); got != "9 ten $11" {
		t.Errorf("%q", got)
	}
	if got := shape(s.Expand("Fix $ARGUMENTS$0", Use{})); got != "Fix $0" {
		t.Errorf("%q", got)
	}
}

func TestExpandTOML(t *testing.T) {
	s := Skill{toml: true}
	for body, want := range map[string]string{
		"Fix {{args}}.":                  "Fix it's 2.",
		"Grep: !{grep -r {{args}} .}":    `Grep: <grep -r 'it'\''s 2' .>`,
		"!{awk '{print {x}}'} {{args}}":  "<awk '{print {x}}'> it's 2",
		"See @{docs/a.md} and @{ } !{ x": "See @<docs/a.md> and @{ } !{ x\n\nArguments: it's 2",
		"@{dir/{{args}}}":                "@<dir/it's 2>",
		"Nothing.":                       "Nothing.\n\nArguments: it's 2",
		"$ARGUMENTS !`x` {{args}}":       "$ARGUMENTS !`x` it's 2",
	} {
		if got := shape(s.Expand(body, Use{Args: "it's 2"})); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", body, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "  ": "", "a b": "a|b", `"a b" c`: "a b|c", `'a "b"' c`: `a "b"|c`, `a\ b`: "a b", `"never ends`: `"never|ends`, "don't do it": "don't|do|it",
		`""`: "", `x"y z"`: "xy z", `"a \"b\""`: `a "b"`, "größe\tü": "größe|ü", `C:\dir`: `C:\dir`,
	} {
		if got := strings.Join(splitArgs(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if n := len(splitArgs(`"" x`)); n != 2 {
		t.Errorf("an empty word is %d words", n)
	}
}

func TestListed(t *testing.T) {
	text := map[string]string{}
	for i := range 20 {
		text[fmt.Sprintf("s%02d/SKILL.md", i)] = fmt.Sprintf("---\nname: s%02d\ndescription: %s\n---\nx", i, strings.Repeat("word ", 60))
	}
	text["short/SKILL.md"] = "---\nname: short\ndescription: Short.\nwhen_to_use: Often.\n---\nx"
	text["quiet/SKILL.md"] = "---\nname: quiet\ndescription: d\ndisable-model-invocation: true\n---\nx"
	text["later/SKILL.md"] = "---\nname: later\ndescription: d\npaths: '*.go'\n---\nx"
	own := strings.Repeat("own ", 100)
	lib, bad := load([]Place{{Kind: Skills, Text: text}, {Kind: Skills, BuiltIn: true, Text: map[string]string{"own/SKILL.md": "---\nname: own\ndescription: " + own + "\n---\nx"}}})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	size := func(ls []Line) (n int) {
		for _, l := range ls {
			n += len(l.Name) + len(l.Text) + 5
		}
		return n
	}
	for max, shown := range map[int]int{100_000: 21, 4000: 21, 1000: 1, 10: 0} {
		ls := lib.Listed(max)
		if len(ls) != 22 || !slices.IsSortedFunc(ls, func(a, b Line) int { return strings.Compare(a.Name, b.Name) }) {
			t.Fatalf("%d: %d lines", max, len(ls))
		}
		n := 0
		for _, l := range ls {
			switch {
			case l.Name == "own" && l.Text != strings.TrimSpace(own):
				t.Errorf("%d: adze's own is cut: %q", max, l.Text)
			case l.Name == "quiet" || l.Name == "later":
				t.Errorf("%s is listed", l.Name)
			case len([]rune(l.Text)) > maxListed && l.Name != "own":
				t.Errorf("%d: %d characters", max, len([]rune(l.Text)))
			case l.Name != "own" && l.Text != "":
				n++
			}
		}
		if n != shown {
			t.Errorf("%d: %d have a description, want %d", max, n, shown)
		}
		if max >= 1000 && size(ls) > max {
			t.Errorf("%d: %d bytes", max, size(ls))
		}
		if !slices.Equal(ls, lib.Listed(max)) {
			t.Error("not the same twice")
		}
	}
	if ls := lib.Listed(4000); !slices.Contains(ls, Line{"short", "Short. Often."}) {
		t.Errorf("%v", ls)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("!`a $0` ${CLAUDE_SKILL_DIR} $ARGUMENTS[1]\n```!\nx\n```\n{{args}} !{a} @{b}", "a 'b c' \"d", true)
	f.Fuzz(func(t *testing.T, body, args string, toml bool) {
		s := Skill{toml: toml, Arguments: []string{"x"}}
		ps := s.Expand(body, Use{Args: args})
		if n, m := len(Runs(ps)), len(Runs(s.Expand(body, Use{}))); n != m {
			t.Fatalf("%q with %q: %d commands, %d without arguments", body, args, n, m)
		}
		splitArgs(args)
	})
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: b: c\nhooks: {a: [1]}\n---\nx", 0)
	f.Add("prompt = 'x'\ndescription = 'd'", 4)
	f.Fuzz(func(t *testing.T, text string, n int) {
		kinds := []Kind{Skills, Commands, Agents, Styles, Commands}
		name := []string{"x/SKILL.md", "x.md", "x.md", "x.md", "x.toml"}
		i := max(n, -n, 0) % len(kinds)
		p := Place{Kind: kinds[i], Text: map[string]string{name[i]: text}}
		lib, bad := load([]Place{p})
		if len(lib.Skills())+len(lib.Agents())+len(lib.Styles()) == 0 && len(bad) == 0 {
			t.Fatalf("%s of %q is nothing, and nobody says why", kinds[i], text)
		}
		for _, s := range lib.Skills() {
			if strings.ContainsAny(s.Description+s.Hint+s.Name, "\n\x1b") || len([]rune(s.Description)) > MaxDescription {
				t.Fatalf("%+v", s)
			}
			if _, err := s.Body(); err != nil {
				t.Fatal(err)
			}
			lib.Listed(500)
		}
		if kinds[i] == Skills {
			check(Place{Kind: Skills}, found{name: "x"}, text)
		}
	})
}

func FuzzParseAgents(f *testing.F) {
	f.Add([]byte(`{"a":{"description":"d","prompt":"p","tools":["x"]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, bad := ParseAgents(text, "f")
		if len(list)+len(bad) == 0 && strings.Trim(string(text), " \t\r\n{}nul") != "" {
			t.Fatalf("%q is nothing", text)
		}
	})
}

package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes files below a new folder, which is resolved.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// told is everything that is known of a skill, in one line, without what is zero.
func told(s Skill) string {
	var b strings.Builder
	fmt.Fprintf(&b, "/%s %q", s.Name, s.Description)
	add := func(name string, v any, zero bool) {
		if !zero {
			fmt.Fprintf(&b, " %s=%v", name, v)
		}
	}
	add("when", s.When, s.When == "")
	add("hint", s.Hint, s.Hint == "")
	add("arguments", s.Arguments, len(s.Arguments) == 0)
	add("nomodel", s.NoModel, !s.NoModel)
	add("noperson", s.NoPerson, !s.NoPerson)
	add("allowed", strings.Join(s.Allowed, "|"), len(s.Allowed) == 0)
	add("denied", strings.Join(s.Denied, "|"), len(s.Denied) == 0)
	add("model", s.Model, s.Model == "")
	add("effort", s.Effort, s.Effort == "")
	add("fork", s.Fork, !s.Fork)
	add("agent", s.Agent, s.Agent == "")
	add("background", s.Background, !s.Background)
	add("paths", strings.Join(s.Paths, "|"), len(s.Paths) == 0)
	add("shell", s.Shell, s.Shell == "")
	add("hooks", string(s.Hooks), s.Hooks == nil)
	add("metadata", s.Metadata, len(s.Metadata) == 0)
	return b.String()
}

// Skills and commands as people have them.
func TestWild(t *testing.T) {
	for _, c := range []struct {
		name, file, text, want string
		bad                    string // the problem's text, after the file's name
	}{
		{name: "the least that the specification wants", file: "pdf/SKILL.md", text: "---\nname: pdf\ndescription: Fills PDF forms.\n---\nDo it.\n", want: `/pdf "Fills PDF forms."`},
		{name: "every field of the specification", file: "pdf/SKILL.md",
			text: "---\nname: pdf\ndescription: Fills forms.\nlicense: Apache-2.0\ncompatibility: Needs poppler\nmetadata:\n  author: me\n  version: \"1.0\"\nallowed-tools: Bash(pdftotext:*) Read\n---\nx",
			want: `/pdf "Fills forms." allowed=Bash(pdftotext:*)|Read metadata=map[author:me version:1.0]`},
		{name: "a folded description", file: "a/SKILL.md", text: "---\nname: a\ndescription: >-\n  One line\n  and another.\n---\nx", want: `/a "One line and another."`},
		{name: "a literal description", file: "a/SKILL.md", text: "---\nname: a\ndescription: |\n  One line\n  and another.\n\n---\nx", want: `/a "One line and another."`},
		{name: "a colon in a value", file: "a/SKILL.md", text: "---\nname: a\ndescription: Use when: the person's tests fail\n---\nx", want: `/a "Use when: the person's tests fail"`},
		{name: "Windows line ends", file: "a/SKILL.md", text: "\ufeff---\r\nname: a\r\ndescription: Does it.\r\n---\r\nx\r\n", want: `/a "Does it."`},
		{name: "a name of another folder", file: "folder/SKILL.md", text: "---\nname: other\ndescription: d\n---\nx", want: `/other "d"`, bad: ":2: the name other is not that of its folder, folder"},
		{name: "a name for people", file: "pdf-tools/SKILL.md", text: "---\nname: PDF Tools\ndescription: d\n---\nx", want: `/pdf-tools "d"`,
			bad: `:2: the name "PDF Tools" has other characters than a-z, 0-9 and -; it is called pdf-tools, as its folder is`},
		{name: "no description", file: "a/SKILL.md", text: "---\nname: a\n---\n# Deploys the site\n\nx", want: `/a "Deploys the site" nomodel=true`, bad: ": it has no description: people can use it, the model is not told of it"},
		{name: "no front matter", file: "a/SKILL.md", text: "# Deploys the site\n", want: `/a "Deploys the site" nomodel=true`, bad: ": it has no description: people can use it, the model is not told of it"},
		{name: "front matter that never ends", file: "a/SKILL.md", text: "---\nname: a\ndescription: d\n\n# Title\n", bad: ":1: the front matter has no end: a line of three dashes is missing"},
		{name: "front matter that is no YAML", file: "a/SKILL.md", text: "---\nname: a\n\tdescription: d\n---\nx", bad: ":3: the front matter is no YAML: found a tab character that violates indentation"},
		{name: "front matter that is a list", file: "a/SKILL.md", text: "---\n- name\n---\nx", bad: ":2: the front matter is no list of fields (name: value)"},
		{name: "every field that agents add", file: "a/SKILL.md",
			text: "---\nname: a\ndescription: d\nwhen_to_use: often\nargument-hint: [issue] [branch]\narguments: [issue, branch]\ndisable-model-invocation: true\nuser-invocable: no\ndisallowed-tools: Write, WebFetch\nmodel: haiku\neffort: low\ncontext: fork\nagent: Explore\nbackground: yes\npaths: \"**/*.{ts,tsx}, docs/\"\nshell: bash\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./x\n---\nx",
			want: `/a "d" when=often hint=[issue] [branch] arguments=[issue branch] nomodel=true noperson=true denied=Write|WebFetch model=haiku effort=low fork=true agent=Explore background=true paths=**/*.{ts,tsx}|docs/ shell=bash hooks={"PreToolUse":[{"hooks":[{"command":"./x","type":"command"}],"matcher":"Bash"}]}`,
			bad:  ":14: background: this version waits for the agent of a skill"},
		{name: "a hint that YAML takes for a list", file: "a.md", text: "---\ndescription: d\nargument-hint: [message]\n---\nx", want: `/a "d" hint=[message]`},
		{name: "arguments in a text", file: "a.md", text: "---\ndescription: d\narguments: issue branch\n---\nx", want: `/a "d" arguments=[issue branch]`},
		{name: "tools in a text with commas", file: "commit.md",
			text: "---\nallowed-tools: Bash(git add:*), Bash(git status:*), Bash(git commit -m \"a, b\":*)\ndescription: Create a commit\n---\n- Status: !`git status`\n",
			want: `/commit "Create a commit" allowed=Bash(git add:*)|Bash(git status:*)|Bash(git commit -m "a, b":*)`},
		{name: "tools in a list", file: "a.md", text: "---\nallowed-tools:\n  - Read\n  - Bash(npm run test:*)\ndescription: d\n---\nx", want: `/a "d" allowed=Read|Bash(npm run test:*)`},
		{name: "a star alone", file: "a.md", text: "---\nallowed-tools: *\ndescription: d\n---\nx", want: `/a "d" allowed=*`},
		{name: "a command without front matter", file: "fix.md", text: "Fix issue #$ARGUMENTS following our standards.", want: `/fix "Fix issue #$ARGUMENTS following our standards."`},
		{name: "a command in a folder", file: "front/a11y/lint.md", text: "Lint.", want: `/front:a11y:lint "Lint."`},
		{name: "a name with spaces", file: "my command.md", text: "x", want: `/my-command "x"`},
		{name: "an unknown effort", file: "a.md", text: "---\ndescription: d\neffort: ultra\n---\nx", want: `/a "d"`, bad: `:3: effort is "ultra", which does nothing; it can be none, minimal, low, medium, high, xhigh, max`},
		{name: "a model that is inherited", file: "a.md", text: "---\ndescription: d\nmodel: inherit\n---\nx", want: `/a "d"`},
		{name: "fields nobody knows", file: "a.md", text: "---\ndescription: d\nversion: 1.2\ncolor: red\n---\nx", want: `/a "d"`},
		{name: "a field twice", file: "a.md", text: "---\ndescription: d\ndescription: e\n---\nx", want: `/a "d"`, bad: ":3: description stands here twice; the first one counts"},
		{name: "a rule drawn at the top", file: "a.md", text: "---\n\nText\n", want: `/a "Text"`},
		{name: "a map where a text belongs", file: "a.md", text: "---\ndescription:\n  en: d\n---\nFirst.", want: `/a "First."`, bad: ":2: description is not a text"},
		{name: "an alias", file: "a.md", text: "---\ndescription: d\nx: &x [1]\nhooks: {Stop: *x}\n---\nx", want: `/a "d"`, bad: ":4: hooks is not used: it cannot be written as JSON"},
		{name: "control characters", file: "a.md", text: "---\ndescription: \"a \\e[31mred\\e[0m word\"\n---\nx", want: `/a "a red word"`},
		{name: "a description that is too long", file: "a.md", text: "---\ndescription: " + strings.Repeat("x", 2000) + "\n---\nx", want: `/a "` + strings.Repeat("x", 1023) + `…"`,
			bad: ":2: description has more than 1024 characters; the rest is not used"},
		{name: "Gemini's TOML", file: "git/fix.toml", text: "description = \"Fixes an issue\"\nprompt = \"\"\"\nFix {{args}}.\n\"\"\"\n", want: `/git:fix "Fixes an issue"`},
		{name: "TOML without a description", file: "fix.toml", text: "prompt = 'Fix it.'", want: `/fix "Fix it."`},
		{name: "TOML without a prompt", file: "fix.toml", text: "description = 'd'", bad: ": a command without a prompt"},
		{name: "TOML with a mistake", file: "fix.toml", text: "prompt = 'x\n", bad: ":1: it is no TOML: strings cannot contain newlines"},
		{name: "not text", file: "a.md", text: "a\x00b", bad: ": it is not read: it is not text"},
		{name: "no file of the kind", file: "a.txt", text: "x"},
		{name: "a hidden file", file: ".a.md", text: "x"},
		{name: "the wrong case", file: "a/skill.md", text: "---\nname: a\ndescription: d\n---\n", bad: ": it is not read: the file of a skill is named SKILL.md"},
		{name: "a folder without a skill", file: "a/README.md", text: "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := write(t, map[string]string{c.file: c.text})
			k := Commands
			if base := filepath.Base(c.file); strings.EqualFold(base, skillFile) || base == "README.md" {
				k = Skills
			}
			lib, bad := load([]Place{{Dir: dir, Kind: k}})
			got := ""
			for _, s := range lib.Skills() {
				got += told(s)
				if s.From == "" {
					t.Error("nobody brings it")
				}
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			said := ""
			for _, p := range bad {
				said += strings.TrimPrefix(p.String(), filepath.Join(dir, filepath.FromSlash(c.file)))
			}
			if said != c.bad {
				t.Errorf("it says %s, want %s", said, c.bad)
			}
		})
	}
}

// Definitions of agents as people have them. One with a mistake is none.
func TestWildAgents(t *testing.T) {
	for text, want := range map[string]string{
		"---\nname: reviewer\ndescription: Reviews code: use proactively\ntools: Read, Grep, Bash(git diff:*)\nmodel: inherit\n---\n\nYou review.\n": `reviewer "Reviews code: use proactively" "You review." [Read Grep Bash(git diff:*)]    0`,
		"---\nname: r\ndescription: d\n---\np":             `r "d" "p" []    0`,
		"---\nname: r\ndescription: d\ntools: '*'\n---\np": `r "d" "p" []    0`,
		"---\nname: r\ndescription: d\ntools: []\n---\np":  `r "d" "p" []    0`,
		"---\nname: r\ndescription: d\nmodel: opus\neffort: high\npermissionMode: plan\nmaxTurns: 20\nmemory: project\nisolation: worktree\ncolor: red\nskills: [a, b]\nmcpServers: [db]\nbackground: true\ninitialPrompt: go\ndisallowedTools: Write\n---\np": `r "d" "p" [] opus high plan 20 [a b] ["db"] project true worktree red go [Write]`,
		"---\ndescription: d\n---\np": `x "d" "p" []    0`,
		"---\nname: r\n---\np":        ":0 it needs a description",
		"no front matter":             ":0 it has no fields (name, description) at its top, so it is no agent",
		"---\nversion: 1\n---\np":     ":0 an agent needs a name",
		"---\nname: r\ndescription: " + strings.Repeat("x", 4100) + "\ntools: Read\n---\np": `r "` + strings.Repeat("x", 3999) + `…" "p" [Read]    0:3 description has more than 4000 characters; the rest is not used`,
		// Who says what, in lines that look like fields: text of the description.
		"---\nname: r\ndescription: Use it. Examples:\\n\nuser: \"A\"\\nassistant: \"B\"\nuser: \"C\"\\nassistant: \"D\"\ncolor: red\ntools: Read\n---\np": `r "Use it. Examples:\\n user: \"A\"\\nassistant: \"B\" user: \"C\"\\nassistant: \"D\"" "p" [Read]    0`,
		"---\nname: r\ndescription: d\nx: 1\nx: 2\n---\np":                                               `r "d" "p" []    0`,
		"---\nname: r\ndescription: d\nuser: \"a\"\\n\nuser: \"b\"\\n\ntools: Read\ntools: Bash\n---\np": ":7 tools stands here twice; the first one counts",
		"---\nname: r\ndescription: d\npermissionMode: manual\n---\np":                                   `r "d" "p" []   default 0`,
		"---\nname: r\ndescription: d\npermissionMode: yolo\n---\np":                                     `r "d" "p" []    0:4 permissionMode is "yolo", which does nothing; it can be default, acceptEdits, plan, auto, dontAsk, bypassPermissions, manual, bypass`,
		"---\nname: r\ndescription: d\nisolation: remote\neffort: ultra\n---\np":                         `r "d" "p" []    0:5 effort is "ultra", which does nothing; it can be none, minimal, low, medium, high, xhigh, max:4 isolation is "remote", which does nothing; it can be worktree`,
		"---\nname: r\ndescription: d\npermissionMode: [plan]\n---\np":                                   ":4 permissionMode is not a text",
		"---\nname: r\ndescription: d\nmaxTurns: many\n---\np":                                           ":4 maxTurns is a whole number from 1",
		"---\nname: a b\ndescription: d\n---\np":                                                         `:2 the name "a b" has characters that a name cannot have`,
		"---\nname: r\ndescription: d\nbackground: perhaps\n---\np":                                      ":4 background is neither true nor false",
		"---\nname: r\ndescription: \"Use it.\\n<example>x</example>\"\n---\np":                          `r "Use it. <example>x</example>" "p" []    0`,
	} {
		lib, bad := load([]Place{{Dir: write(t, map[string]string{"x.md": text}), Kind: Agents}})
		got := ""
		for _, a := range lib.Agents() {
			got = fmt.Sprintf("%s %q %q %v %s %s %s %d", a.Name, a.Description, a.Prompt, a.Tools, a.Model, a.Effort, a.Mode, a.MaxTurns)
			if len(a.Skills) > 0 {
				got += fmt.Sprintf(" %v %s %s %t %s %s %s %v", a.Skills, a.Servers, a.Memory, a.Background, a.Isolation, a.Color, a.Initial, a.Denied)
			}
		}
		for _, p := range bad {
			got += fmt.Sprintf(":%d %s", p.Line, p.Text)
		}
		if got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestParseAgents(t *testing.T) {
	list, bad := ParseAgents([]byte(`{"b":{"description":"d: e","prompt":"p","tools":["Read"],"model":"haiku","maxTurns":3},"a":{"description":"d","prompt":""},"c":{"prompt":"p"},"d":null,"e":{"description":"d","prompt":"p","mcpServers":{"x":{"command":"y"}}},"f":{"description":"d","prompt":"p","permissionMode":"yolo"}}`), "--agents")
	got := ""
	for _, a := range list {
		got += fmt.Sprintf("%s %q %q %v %s %d %s %s|", a.Name, a.Description, a.Prompt, a.Tools, a.Model, a.MaxTurns, a.Servers, a.From)
	}
	for _, p := range bad {
		got += p.String() + "|"
	}
	want := `b "d: e" "p" [Read] haiku 3  --agents|e "d" "p" [] [] 0 {"x":{"command":"y"}} --agents|f "d" "p" [] [] 0  --agents|--agents: the agent a: it needs a prompt|--agents: the agent c: it needs a description|--agents: the agent d is no object|--agents: the agent f: permissionMode is "yolo", which does nothing; it can be default, acceptEdits, plan, auto, dontAsk, bypassPermissions, manual, bypass|`
	want = strings.ReplaceAll(want, `"p" [] [] 0 `, `"p" []  0 `)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, text := range []string{"", "[]", "{", "{} {}", `{"a":1}`} {
		if list, bad := ParseAgents([]byte(text), "--agents"); len(list) > 0 || len(bad) != 1 {
			t.Errorf("%q: %v %v", text, list, bad)
		}
	}
}

func TestStyles(t *testing.T) {
	dir := write(t, map[string]string{
		"terse.md":  "---\nname: Very Terse\ndescription: few words\nkeep-coding-instructions: true\n---\nBe terse.\n",
		"poet.md":   "Answer in verse.",
		"empty.md":  "---\nname: nothing\n---\n",
		"broken.md": "---\nname: x\n\ty: z\n---\nx",
	})
	lib, bad := load([]Place{{Dir: dir, Kind: Styles}})
	got := ""
	for _, s := range lib.Styles() {
		got += fmt.Sprintf("%s %q %q %t|", s.Name, s.Description, s.Text, s.Keep)
	}
	for _, p := range bad {
		got += fmt.Sprintf("%s:%d|", filepath.Base(p.File), p.Line)
	}
	if want := `Very Terse "few words" "Be terse." true|poet "" "Answer in verse." false|broken.md:3|empty.md:0|`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s, ok := lib.Style("very terse"); !ok || s.Text != "Be terse." {
		t.Errorf("%v %t", s, ok)
	}
	if _, ok := lib.Style("none"); ok {
		t.Error("a style that is not there")
	}
}

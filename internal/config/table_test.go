package config

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write the golden files")

// structKeys lists the JSON paths of a struct's fields.
func structKeys(t reflect.Type, prefix string) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		switch {
		case !f.IsExported() || tag == "-" && f.Name != "AutoMode" && f.Name != "MCP" && f.Name != "Allow" && f.Name != "Ask" && f.Name != "Deny" && f.Name != "Dirs":
		case f.Name == "AutoMode":
			out = append(out, structKeys(f.Type, "autoMode.")...)
		case f.Name == "MCP" || f.Anonymous:
			out = append(out, structKeys(f.Type, prefix)...)
		case tag == "-":
			out = append(out, prefix+map[string]string{"Allow": "allow", "Ask": "ask", "Deny": "deny", "Dirs": "additionalDirectories"}[f.Name])
		case f.Type == reflect.TypeFor[Effort]() || f.Type == reflect.TypeFor[Share]() || f.Type == reflect.TypeFor[Amount]():
			out = append(out, prefix+tag)
		case f.Type.Kind() == reflect.Struct:
			out = append(out, structKeys(f.Type, prefix+tag+".")...)
		case f.Type == reflect.TypeFor[*StatusLine]():
			out = append(out, structKeys(f.Type.Elem(), prefix+tag+".")...)
		case f.Type == reflect.TypeFor[map[string]Provider](), f.Type == reflect.TypeFor[map[string]PluginConfig]():
			out = append(append(out, prefix+tag), structKeys(f.Type.Elem(), prefix+tag+".*.")...)
		default:
			out = append(out, prefix+tag)
		}
	}
	return out
}

// The table and the struct name the same keys, but for those of features that this
// version lacks.
func TestTableMatchesConfig(t *testing.T) {
	var table []string
	flags := map[string]bool{}
	for _, k := range Table() {
		if k.Absent == "" {
			table = append(table, k.Name)
		}
		if k.Doc == "" || !strings.HasSuffix(k.Doc, ".") && !strings.HasSuffix(k.Doc, "}.") {
			t.Errorf("%s: documentation %q", k.Name, k.Doc)
		}
		if k.Flag != "" && flags[k.Flag] {
			t.Errorf("flag %s twice", k.Flag)
		}
		flags[k.Flag] = true
		if k.Default != nil {
			b, err := json.Marshal(k.Default)
			if err != nil {
				t.Fatal(err)
			}
			if p := CheckValue(k.Name, b); p != nil {
				t.Errorf("%s: default: %v", k.Name, p)
			}
		}
	}
	fields := structKeys(reflect.TypeFor[Config](), "")
	slices.Sort(table)
	slices.Sort(fields)
	for _, k := range table {
		if !slices.Contains(fields, k) {
			t.Errorf("%s is in the table and not in Config", k)
		}
	}
	for _, k := range fields {
		if !slices.Contains(table, k) {
			t.Errorf("%s is in Config and not in the table", k)
		}
	}
	for _, k := range Table() {
		if k.Absent != "" && slices.Contains(fields, k.Name) {
			t.Errorf("%s is in Config, and this version has no %s", k.Name, k.Absent)
		}
	}
	if len(slices.Compact(slices.Clone(table))) != len(table) {
		t.Error("a key is in the table twice")
	}
}

// Every key arrives in Config when a user's file sets it.
func TestEveryKeyIsRead(t *testing.T) {
	samples := map[Kind]string{String: `"v"`, Int: `7`, Number: `7.5`, Bool: `true`, Tokens: `"7k"`, Portion: `"7%"`, Space: `"7GB"`, Level: `"high"`, Off: `"disable"`,
		Strings: `["v"]`, StringMap: `{"V":"v"}`, Bools: `{"v":true}`, Objects: `{"v":{}}`, Object: `{"v":1}`, List: `["v"]`, Anything: `[1]`}
	for _, k := range Table() {
		if strings.Contains(k.Name, "*") || k.Absent != "" {
			continue
		}
		v := samples[k.Kind]
		if k.Kind == Bool && k.Default == true {
			v = "false"
		}
		if k.Kind == Int && k.Min > 7 {
			v = "5000"
		}
		if k.Kind == Strings && k.Max > 0 {
			v = `[7]`
		}
		if len(k.Enum) > 0 && k.Kind == String {
			v = `"` + k.Enum[1%len(k.Enum)] + `"`
		}
		node := (&node{kind: '{'}).set(k.Name, &node{kind: '0', raw: []byte(v)})
		file := userFile
		if k.Guard == Admin {
			file = managedFile
		}
		was, c := load(t, options(disk{})), load(t, options(disk{file: string(node.json())}))
		if len(c.Problems) > 0 {
			t.Errorf("%s: %s", k.Name, problems(c))
		}
		was.tree, c.tree, was.Report, c.Report = nil, nil, Report{}, Report{}
		if reflect.DeepEqual(was, c) {
			t.Errorf("%s = %s changes nothing in Config", k.Name, v)
		}
	}
}

func TestSchema(t *testing.T) {
	got := Schema()
	if *update {
		if err := os.WriteFile("testdata/settings.schema.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/settings.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("the schema changed; run with -update and look at the difference")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(got, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		`{"model":"m","tools":{"max_parallel":3,"defer_above":"10%"},"permissions":{"allow":["A"],"disableAutoMode":"disable"},"from_the_future":1}`: true,
		`{"providers":{"x":{"wire":"compat","base_url":"http://h","headers":{"A":"b"}}},"effort":8000,"model_aliases":{"a":"b"},"env":null}`:         true,
		`{"model":5}`: false, `{"permissions":{"deny":"A"}}`: false, `{"providers":{"x":{"wire":"morse"}}}`: false, `{"tools":{"max_parallel":0}}`: false,
		`{"effort":"extreme"}`: false, `{"providers":{"x":{"effort":"reasoning","reasoning":"none","images":true}}}`: true, `{"providers":{"x":{"reasoning":"content"}}}`: false, `{"env":{"A":[]}}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A settingsPart is a part of docs/settings.md.
type settingsPart struct {
	title string
	keys  []Key
}

// markdown returns the reference of all settings, made from the table.
func markdown() string {
	var b strings.Builder
	b.WriteString(`# Settings

All keys of the settings files, made from the table in internal/config/table.go. [configuration.md](configuration.md) says which files there are and
which one wins. ` + "`adze config describe KEY`" + ` prints what is here, ` + "`adze config list`" + ` what is in force, and
` + "`adze config schema`" + ` a JSON Schema for editors. Other spellings of a key (maxTurns) mean the same; null removes what another file says.

* **unset** is the value that counts where nothing sets the key.
* **counts** says when a change counts in a session that runs: *at once* is the next decision, request or command, *next turn* the
  next prompt, *next session* only sessions that begin later, *next start* the next start of adze.
* **set by** says which files may set it. A project's files are ` + "`.adze/settings.json`, `.adze/settings.local.json`" + ` and those of
  ` + "`.claude`" + ` in a repository; what allows or starts something counts in them only once you trust the folder.
`)
	cell := func(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s) }
	for _, part := range []settingsPart{{"Models", modelKeys}, {"Instructions and sessions", promptKeys}, {"Permissions", permissionKeys}, {"Tools", toolKeys},
		{"Commands", bashKeys}, {"Sandbox", sandboxKeys}, {"Output", uiKeys}, {"Extensions", extensionKeys}} {
		fmt.Fprintf(&b, "\n## %s\n\n| key | takes | unset | counts | set by | meaning |\n|---|---|---|---|---|---|\n", part.title)
		for _, k := range part.keys {
			unset, doc := "", k.Doc
			if k.Default != nil {
				unset = "`" + k.Unset() + "`"
			}
			if k.Absent != "" {
				doc += " Not in this version: " + k.Absent + "."
			}
			if k.Flag != "" {
				doc += fmt.Sprintf(" Flag: `--%s`, variable: `%s`.", k.Flag, k.Env())
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Name, cell(k.Takes()), unset, k.When, cell(k.From()), cell(doc))
		}
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	got := markdown()
	if *update {
		if err := os.WriteFile("../../docs/settings.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("the reference changed; run with -update and look at the difference")
	}
	for line := range strings.Lines(got) {
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 7 && strings.HasPrefix(line, "|") {
			t.Errorf("%d bars: %s", n, line)
		}
	}
}

// mask is what stands in JSON for a secret.
const mask = `"` + hiddenText + `"`

func TestSetting(t *testing.T) {
	c := load(t, options(disk{
		userFile:    "{\n  \"env\": {\"CI\": \"1\", \"MY_TOKEN\": \"s3cret\"},\n \"providers\": {\"my.box\": {\"baseUrl\": \"http://b\", \"headers\": {\"X\": \"hush\"}}},\n\"permissions\":{\"allow\":[\"A\"]}}",
		projectFile: `{"permissions":{"allow":["B"]}}`,
	}))
	for key, want := range map[string]string{
		"env.CI": `"1" ` + userFile + ":2:17", "env.MY_TOKEN": mask + " " + userFile + ":2:34", "env": `{"CI":"1","MY_TOKEN":` + mask + `} ` + userFile + ":2:10",
		"providers.my.box.base_url": `"http://b" ` + userFile + ":3:38", "providers.my.box.headers.X": mask + " " + userFile + ":3:67",
		"tools.maxParallel": `10 default`, "output_style": "null default", "cleanupPeriodDays": "90 default",
		"permissions.allow": `["A","B"] ` + projectFile + ":1:25",
	} {
		s, ok := c.Setting(key)
		if got := string(s.Value) + " " + s.Origin.String(); !ok || got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if s, _ := c.Setting("permissions.allow"); len(s.Parts) != 2 || s.Parts[0].File != userFile {
		t.Errorf("parts: %+v", s.Parts)
	}
	if _, ok := c.Setting("no.such"); ok {
		t.Error("a key that is not there")
	}
	if got := Nearest("tools.max_paralel"); got != "tools.max_parallel" {
		t.Error(got)
	}
	if got := len(c.Settings()); got < 70 {
		t.Errorf("%d settings", got)
	}
}

func TestProblemsHaveTheirPlace(t *testing.T) {
	c := load(t, options(disk{projectFile: "{\"b\":1,\n\"max_turns\":\"x\"}", userFile: "{\"model\":1,\n\"nope\":1}"}))
	var got []string
	for _, p := range c.Problems {
		got = append(got, p.Origin.String()+" "+p.Key)
	}
	slices.Sort(got)
	if want := []string{userFile + ":1:10 model", userFile + ":2:1 nope", projectFile + ":1:2 b", projectFile + ":2:13 max_turns"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestSplit(t *testing.T) {
	for key, want := range map[string]string{
		"max_turns": "max_turns", "ui.editorMode": "ui|editor_mode", "theme": "ui|theme", "env.A.B": "env|A.B",
		"providers.my.box.headers.X.Y": "providers|my.box|headers|X.Y", "providers.gpt": "providers|gpt",
		"models.openai/gpt-5.1": "models|openai/gpt-5.1", "models.openai/gpt-5.1.window": "models|openai/gpt-5.1|window",
		"enabledPlugins.a@b.c": "enabledPlugins|a@b.c", "hooks.Stop": "hooks|Stop", "nope.x": "nope|x",
	} {
		if got := strings.Join(Split(key), "|"); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestParseText(t *testing.T) {
	for _, tt := range [][3]string{
		{"max_turns", "5", "5"}, {"max_turns", "x", `"x"`}, {"model", "5", `"5"`}, {"ui.plain", "on", "true"}, {"permissions.deny", "Bash(rm *), Edit", `["Bash(rm *)","Edit"]`},
		{"permissions.deny", `["A b"]`, `["A b"]`}, {"tools.defer_above", "5%", `"5%"`}, {"env", `{"A":"1"}`, `{"A":"1"}`}, {"env.A", "x", `"x"`}, {"hooks", "{}", "{}"},
		{"model", ` "opus" `, `"opus"`}, {"model", `"a b`, `"\"a b"`}, {"max_turns", `"5"`, `"5"`}, {"permissions.deny", `"A"`, `["\"A\""]`},
		{"sandbox.network.local_ports", "3000, 5432", `["3000","5432"]`}, {"sandbox.network.localPorts", "[3000]", `[3000]`},
	} {
		got, err := Parse(tt[0], tt[1])
		if err != nil || string(got) != tt[2] {
			t.Errorf("%s %s: %s %v, want %s", tt[0], tt[1], got, err, tt[2])
		}
	}
	if p := CheckValue("tols.max_parallel", []byte("1")); p == nil || p.Message != "no such setting" {
		t.Errorf("%v", p)
	}
	if p := CheckValue("max_turns", []byte(`"x"`)); p == nil || p.Expected != "a whole number, 0 or more" {
		t.Errorf("%v", p)
	}
}

func TestDiff(t *testing.T) {
	a := load(t, options(disk{userFile: `{"model":"a"}`, projectFile: `{"permissions":{"allow":["A"]}}`}))
	b := load(t, options(disk{userFile: `{"model":"b","permissions":{"allow":["U"]}}`, projectFile: `{"permissions":{"allow":["A"]}}`}))
	c := load(t, options(disk{userFile: `{"model":"b"}`, projectFile: `{"permissions":{"allow":["A","B"]},"hooks":{"Stop":[1]}}`}))
	show := func(list []Change) string {
		var out []string
		for _, c := range list {
			s := c.Key + " " + string(c.Old) + "→" + string(c.New)
			out = append(out, s)
		}
		return strings.Join(out, "; ")
	}
	if got := show(Diff(a, b)); got != `model "a"→"b"; permissions.allow ["A"]→["U","A"]` {
		t.Error(got)
	}
	if got := show(Diff(b, c)); got != `permissions.allow ["U","A"]→["A","B"]; hooks null→{"Stop":[1]}` {
		t.Error(got)
	}
	if got := Diff(a, a); got != nil {
		t.Error(show(got))
	}
}

// Whatever two files hold: loading does not fail, laying a file over itself
// changes nothing, and no deny rule of the first is lost.
func FuzzLayers(f *testing.F) {
	f.Add(`{"permissions":{"deny":["A"]}}`, `{"permissions":null}`)
	f.Add(`{"permissions":{"deny":["A","B"]},"a":[1,{"b":2}]}`, `{"permissions":{"deny":null,"allow":["A"]},// c
"env":{"A":1},}`)
	f.Add(`{"model":"x"`, `[[[[`)
	f.Add(`{"permissions":{"deny":["A", // c
"B"], oops`, `{"permissions":{"deny":5,"defaultMode":"acceptEdits","ask":null}}`)
	f.Add(`{"providers":{"p":{"base_url":"u"}},"apiKeyHelper":"h","network":{"proxy":"p"}}`, `{"providers":null,"apiKeyHelper":null,"network":null,"providers":{"p":{"base_url":"evil"}}}`)
	f.Add(`{"permissions":{"deny":"A","denny":[1]},"permissions":{}}`, `{"sandbox":null,"providers":{"a":{"headers":{"b":null}}}}`)
	f.Fuzz(func(t *testing.T, user, project string) {
		alone := load(t, options(disk{userFile: user}))
		for _, file := range []string{projectFile, userCC, localFile} {
			c := load(t, options(disk{userFile: user, file: project}))
			for _, r := range alone.Permissions.Deny {
				if !slices.ContainsFunc(c.Permissions.Deny, func(x Rule) bool { return x.Text == r.Text }) {
					t.Fatalf("%q over %q loses the deny rule %q", project, user, r.Text)
				}
			}
			if alone.Permissions.Unsafe != "" && c.Permissions.Unsafe == "" {
				t.Fatalf("%q over %q lifts %q", project, user, alone.Permissions.Unsafe)
			}
			if file != userCC && (len(c.Providers) != len(alone.Providers) || c.APIKeyHelper != alone.APIKeyHelper || c.Network != alone.Network) {
				t.Fatalf("%q sets what it may not", project)
			}
		}
		n, _, err := parse([]byte(user), Origin{})
		if err != nil {
			return
		}
		once := merge(nil, n)
		if twice := merge(once, n); string(twice.json()) != string(once.json()) && !strings.Contains(user, "null") {
			t.Fatalf("%s over itself: %s", once.json(), twice.json())
		}
		if !json.Valid(once.json()) {
			t.Fatalf("%q → %s", user, once.json())
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	o := options(disk{
		userFile:    `{"model":"m","permissions":{"allow":["Bash(ls:*)","Edit(src/**)"],"deny":["Read(.env)"]},"env":{"A":"1"},"hooks":{"Stop":[{"hooks":[]}]}}`,
		projectFile: `{"permissions":{"allow":["Bash(go test:*)"]}}`, localFile: `{"effort":"high"}`,
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(o); err != nil {
			b.Fatal(err)
		}
	}
}

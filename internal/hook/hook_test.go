package hook_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
)

func parse(t *testing.T, event, group string) hook.Set {
	t.Helper()
	hooks, problems := hook.Parse(event, []byte(group), hook.Place{From: "f:1"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return hook.NewSet(hooks...)
}

// How long a hook may take that says nothing of it: at the end of a session no kind
// of hook holds people up.
func TestTimeouts(t *testing.T) {
	for _, c := range []struct {
		event, rest string
		want        time.Duration
	}{
		{"PreToolUse", `"type":"command","command":"x"`, 10 * time.Minute}, {"PreToolUse", `"type":"mcp_tool","server":"s","tool":"t"`, 10 * time.Minute},
		{"PreToolUse", `"type":"http","url":"https://x"`, 30 * time.Second}, {"PreToolUse", `"type":"prompt","prompt":"x"`, 30 * time.Second},
		{"PreToolUse", `"type":"agent","prompt":"x"`, time.Minute}, {"UserPromptSubmit", `"type":"command","command":"x"`, 30 * time.Second},
		{"UserPromptSubmit", `"type":"agent","prompt":"x"`, time.Minute},
		{"SessionEnd", `"type":"command","command":"x"`, 1500 * time.Millisecond}, {"SessionEnd", `"type":"http","url":"https://x"`, 1500 * time.Millisecond},
		{"SessionEnd", `"type":"prompt","prompt":"x"`, 1500 * time.Millisecond}, {"SessionEnd", `"type":"agent","prompt":"x"`, 1500 * time.Millisecond},
		{"SessionEnd", `"type":"agent","prompt":"x","timeout":9`, 9 * time.Second},
	} {
		hooks, problems := hook.Parse(c.event, []byte(`{"hooks":[{`+c.rest+`}]}`), hook.Place{})
		if len(hooks) != 1 || len(problems) > 0 || hooks[0].Timeout() != c.want {
			t.Errorf("%s, %s: %v, not %s (%v)", c.event, c.rest, hooks, c.want, problems)
		}
	}
}

// What has no effect is told.
func TestDoubts(t *testing.T) {
	for group, want := range map[string]string{
		`{"matcher":"Bash","hooks":[{"type":"command","command":"x","TimeOut":5,"name":"n","$comment":"c","_x":1}]}`: "",
		`{"matcher":"Bsh","hooks":[{"type":"command","command":"x"}]}`:                                               `hooks of PreToolUse: there is no tool "Bsh" (did you mean Bash?)`,
		`{"matchr":"Bash","hooks":[{"type":"command","command":"x","timout":5},{"type":"command","command":"y"}]}`: `hooks of PreToolUse: "matchr" is no field of hooks, and has no effect (did you mean matcher?); ` +
			`hooks of PreToolUse: "timout" is no field of hooks, and has no effect (did you mean timeout?)`,
		`{"hooks":[{"type":"http","url":"https://x","sandbox":true,"asyncRewake":true}]}`: `hooks of PreToolUse: "sandbox" has no effect in a hook of type "http"; hooks of PreToolUse: "asyncRewake" has no effect in a hook of type "http"`,
		`{"hooks":[{"type":"agent","prompt":"x","model":"m"}]}`:                           "",
		`{"hooks":[{"type":"agent","prompt":"x","continueOnBlock":true}]}`:                `hooks of PreToolUse: "continueOnBlock" has an effect in hooks of PostToolUse alone`,
		`{"timeout":3,"hooks":[{"type":"mcp_tool","server":"s","tool":"t","input":{}}]}`:  `hooks of PreToolUse: "timeout" has no effect beside "hooks"`,
	} {
		hooks, problems := hook.Parse("PreToolUse", []byte(group), hook.Place{})
		var got []string
		for _, h := range hooks {
			got = append(got, h.Doubts()...)
		}
		if s := strings.Join(got, "; "); s != want || len(problems) > 0 {
			t.Errorf("%s: %s %v", group, s, problems)
		}
	}
}

func TestMatching(t *testing.T) {
	pre := func(tool, input string) hook.Input {
		return hook.PreToolInput{Call: hook.Call{Tool: tool, Input: json.RawMessage(input)}}
	}
	exec := func(argv ...string) []policy.Action { return []policy.Action{policy.Exec{Argv: argv}} }
	for name, c := range map[string]struct {
		event, group string
		in           hook.Input
		actions      []policy.Action
		want         int
	}{
		"no matcher":             {"PreToolUse", `{"hooks":[{"type":"command","command":"a"}]}`, pre("Bash", `{}`), nil, 1},
		"a star":                 {"PreToolUse", `{"matcher":"*","hooks":[{"type":"command","command":"a"}]}`, pre("Bash", `{}`), nil, 1},
		"a word is the whole":    {"PreToolUse", `{"matcher":"Edit","hooks":[{"type":"command","command":"a"}]}`, pre("NotebookEdit", `{}`), nil, 0},
		"a list":                 {"PreToolUse", `{"matcher":"Edit | Write, Bash","hooks":[{"type":"command","command":"a"}]}`, pre("Bash", `{}`), nil, 1},
		"a pattern in any place": {"PreToolUse", `{"matcher":"mcp__.*__get","hooks":[{"type":"command","command":"a"}]}`, pre("mcp__memory__get_all", `{}`), nil, 1},
		"a pattern with ends":    {"PreToolUse", `{"matcher":"^Edit$","hooks":[{"type":"command","command":"a"}]}`, pre("NotebookEdit", `{}`), nil, 0},
		"the case counts":        {"PreToolUse", `{"matcher":"bash.*","hooks":[{"type":"command","command":"a"}]}`, pre("Bash", `{}`), nil, 0},
		"identical ones once":    {"PreToolUse", `{"hooks":[{"type":"command","command":"a"},{"type":"command","command":"a"},{"type":"command","command":"b"}]}`, pre("Bash", `{}`), nil, 2},
		"of another event":       {"Stop", `{"hooks":[{"type":"command","command":"a"}]}`, pre("Bash", `{}`), nil, 0},
		"the source of a start":  {"SessionStart", `{"matcher":"resume|clear","hooks":[{"type":"command","command":"a"}]}`, hook.SessionStartInput{Source: "clear"}, nil, 1},
		"another source":         {"SessionStart", `{"matcher":"resume","hooks":[{"type":"command","command":"a"}]}`, hook.SessionStartInput{Source: "startup"}, nil, 0},
		"if it does that":        {"PreToolUse", `{"hooks":[{"type":"command","command":"a","if":"Bash(git push:*)"}]}`, pre("Bash", `{}`), append(exec("cd", "x"), exec("git", "push", "-f")...), 1},
		"if it does not":         {"PreToolUse", `{"hooks":[{"type":"command","command":"a","if":"Bash(git push:*)"}]}`, pre("Bash", `{}`), exec("git", "pull"), 0},
		"if what is not seen":    {"PreToolUse", `{"hooks":[{"type":"command","command":"a","if":"Bash(git push:*)"}]}`, pre("Bash", `{}`), []policy.Action{policy.Opaque{Source: "$X", Why: "unknown"}}, 1},
		"if of another tool":     {"PreToolUse", `{"hooks":[{"type":"command","command":"a","if":"Bash(git push:*)"}]}`, pre("Read", `{}`), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := parse(t, c.event, c.group).Matching(c.in, hook.Scene{Actions: c.actions, Rules: policy.Rules{Dir: "/w", Dirs: []string{"/w"}, Home: "/h"}})
			if len(got) != c.want {
				t.Errorf("%d hooks match, want %d", len(got), c.want)
			}
		})
	}
}

func TestParseSaysWhatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct{ event, group, want string }{
		"no such event":          {"PreTool", `{}`, "did you mean PreToolUse"},
		"an event without cause": {"PreModelSwitch", `{"hooks":[]}`, "nothing in this version of adze causes"},
		"no object":              {"Stop", `[]`, `expected {"matcher"`},
		"no list":                {"Stop", `{"matcher":""}`, `"hooks" is missing`},
		"JavaScript only":        {"PreToolUse", `{"matcher":"(?!Bash)x","hooks":[]}`, "RE2 syntax"},
		"nothing to match":       {"Stop", `{"matcher":"Bash","hooks":[]}`, "nothing to match"},
		"no type":                {"Stop", `{"hooks":[{"command":"x"}]}`, `"type" is missing`},
		"an unknown type":        {"Stop", `{"hooks":[{"type":"comand","command":"x"}]}`, "did you mean command"},
		"no command":             {"Stop", `{"hooks":[{"type":"command"}]}`, `needs "command"`},
		"a plain address":        {"Stop", `{"hooks":[{"type":"http","url":"http://example.com/"}]}`, "expected https"},
		"a password":             {"Stop", `{"hooks":[{"type":"http","url":"https://a:b@example.com/"}]}`, "headers"},
		"a broken rule":          {"PreToolUse", `{"hooks":[{"type":"command","command":"x","if":"Bash("}]}`, "closing parenthesis"},
		"a rule about no call":   {"Stop", `{"hooks":[{"type":"command","command":"x","if":"Bash"}]}`, "not about a call"},
		"a guard of nothing":     {"SessionEnd", `{"hooks":[{"type":"command","command":"x","onError":"block"}]}`, "can block nothing"},
		"a guard in the back":    {"PreToolUse", `{"hooks":[{"type":"command","command":"x","async":true,"onError":"block"}]}`, "nobody waits"},
		"a negative timeout":     {"Stop", `{"hooks":[{"type":"command","command":"x","timeout":-1}]}`, "above 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := hook.Parse(c.event, []byte(c.group), hook.Place{})
			if err := errors.Join(problems...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v, want %q", err, c.want)
			}
		})
	}
}

// One hook that cannot be used costs only itself.
func TestParseKeepsTheRest(t *testing.T) {
	hooks, problems := hook.Parse("Stop", []byte(`{"hooks":[{"type":"x"},{"type":"command","command":"ok"},{"type":"prompt","prompt":"p"}]}`), hook.Place{})
	if len(hooks) != 2 || len(problems) != 1 {
		t.Errorf("%d hooks and %v", len(hooks), problems)
	}
	if hooks[0].Timeout() != 10*time.Minute || hooks[1].Timeout() != 30*time.Second {
		t.Errorf("they may take %v and %v", hooks[0].Timeout(), hooks[1].Timeout())
	}
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		event string
		more  string // of the handler
		ran   hook.Ran
		want  hook.Answer
	}{
		"nothing":                {"PreToolUse", "", hook.Ran{}, hook.Answer{}},
		"plain text of a call":   {"PreToolUse", "", hook.Ran{Stdout: []byte("hello")}, hook.Answer{}},
		"plain text of a prompt": {"UserPromptSubmit", "", hook.Ran{Stdout: []byte(" hello\n")}, hook.Answer{Context: []string{"hello"}}},
		"code 2 of a call":       {"PreToolUse", "", hook.Ran{Code: 2, Stderr: "no\n"}, hook.Answer{Permission: hook.Deny, PermissionReason: "no"}},
		"code 2 without a word":  {"PreToolUse", "", hook.Ran{Code: 2}, hook.Answer{Permission: hook.Deny, PermissionReason: "it gave no reason"}},
		"no program before a call": {"PreToolUse", "", hook.Ran{Err: errors.New("could not be run: there is none"), Unstarted: true}, hook.Answer{Permission: hook.Deny,
			PermissionReason: "the PreToolUse hook x could not be run: there is none; no call runs past a hook that cannot look at it (adze hooks check, or take the hook out of the settings)",
			Failed:           []string{"the PreToolUse hook x could not be run: there is none"}}},
		"no program behind a call":     {"PostToolUse", "", hook.Ran{Err: errors.New("could not be run: there is none"), Unstarted: true}, hook.Answer{Failed: []string{"the PostToolUse hook x could not be run: there is none"}}},
		"a program that took too long": {"PreToolUse", "", hook.Ran{Err: errors.New("took too long")}, hook.Answer{Failed: []string{"the PreToolUse hook x took too long"}}},
		"code 2 behind a call":         {"PostToolUse", "", hook.Ran{Code: 2, Stderr: "mind"}, hook.Answer{Block: true, Reason: "mind"}},
		"code 2 of what cannot":        {"SessionStart", "", hook.Ran{Code: 2, Stderr: "no"}, hook.Answer{System: []string{"no"}}},
		"code 2 of a question":         {"PermissionRequest", "", hook.Ran{Code: 2, Stderr: "no"}, hook.Answer{}},
		"code 1":                       {"PreToolUse", "", hook.Ran{Code: 1, Stderr: "oh\nno"}, hook.Answer{Failed: []string{"the PreToolUse hook x ended with code 1: oh"}}},
		"no, and code 1":               {"PreToolUse", "", hook.Ran{Code: 1, Stdout: []byte(`{"decision":"block","reason":"r"}`)}, hook.Answer{Permission: hook.Deny, PermissionReason: "r"}},
		"yes, and code 1":              {"PreToolUse", "", hook.Ran{Code: 1, Stdout: []byte(`{"decision":"approve"}`)}, hook.Answer{Failed: []string{"the PreToolUse hook x ended with code 1"}}},
		"no, behind a line":            {"PreToolUse", "", out("checking {\n{\"decision\":\"block\",\"reason\":\"r\"}\nbye"), hook.Answer{Permission: hook.Deny, PermissionReason: "r"}},
		"no, behind an object":         {"PreToolUse", "", out("{\"systemMessage\":\"checking\"}\n{\"decision\":\"block\",\"reason\":\"r\"}"), hook.Answer{Permission: hook.Deny, PermissionReason: "r"}},
		"no, right behind one":         {"PreToolUse", "", out("{} {\"decision\":\"block\",\"reason\":\"r\"}"), hook.Answer{Permission: hook.Deny, PermissionReason: "r"}},
		"no, behind context":           {"UserPromptSubmit", "", out("hello\n{\"decision\":\"block\",\"reason\":\"r\"}"), hook.Answer{Block: true, Reason: "r"}},
		"yes, behind an object":        {"PreToolUse", "", out("{\"systemMessage\":\"m\"}\n{\"decision\":\"approve\"}"), hook.Answer{System: []string{"m"}}},
		"no, in UTF-16":                {"PreToolUse", `,"onError":"block"`, out("\xff\xfe{\x00\"\x00"), hook.Answer{Failed: []string{"the PreToolUse hook x printed what is no text in UTF-8"}, Permission: hook.Deny, PermissionReason: "the PreToolUse hook x printed what is no text in UTF-8, and it is set to block then"}},
		"many that are open":           {"PreToolUse", "", out(strings.Repeat("{\"a\":\n", 50_000)), hook.Answer{Failed: []string{"the PreToolUse hook x printed what is no answer: invalid character '{' exceeded max depth"}}},
		"yes, behind a line":           {"PreToolUse", "", out("checking\n{\"decision\":\"approve\"}"), hook.Answer{}},
		"no, with a mark before":       {"PreToolUse", "", out("\ufeff{\"decision\":\"block\",\"reason\":\"r\"}"), hook.Answer{Permission: hook.Deny, PermissionReason: "r"}},
		"a reason that is a number":    {"PreToolUse", "", out(`{"decision":"block","reason":7}`), hook.Answer{Permission: hook.Deny, PermissionReason: "7"}},
		"in capitals":                  {"PreToolUse", "", out(`{"hookSpecificOutput":{"permissionDecision":"Deny"}}`), hook.Answer{Permission: hook.Deny}},
		"code 1 of a guard":            {"PreToolUse", `,"onError":"block"`, hook.Ran{Code: 1}, hook.Answer{Failed: []string{"the PreToolUse hook x ended with code 1"}, Permission: hook.Deny, PermissionReason: "the PreToolUse hook x ended with code 1, and it is set to block then"}},
		"no time":                      {"Stop", "", hook.Ran{Err: errors.New("did not answer")}, hook.Answer{Failed: []string{"the Stop hook x did not answer"}}},
		"interrupted":                  {"Stop", "", hook.Ran{Err: errors.New("did not answer"), Interrupted: true}, hook.Answer{}},
		"permission":                   {"PreToolUse", "", out(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"r"}}`), hook.Answer{Permission: hook.Ask, PermissionReason: "r"}},
		"the older form, yes":          {"PreToolUse", "", out(`{"decision":"approve","reason":"r"}`), hook.Answer{Permission: hook.Allow, PermissionReason: "r"}},
		"the older form, no":           {"PreToolUse", "", out(`{"decision":"block","reason":"r"}`), hook.Answer{Permission: hook.Deny, PermissionReason: "r"}},
		"a block":                      {"Stop", "", out(`{"decision":"block","reason":"r"}`), hook.Answer{Block: true, Reason: "r"}},
		"the end":                      {"Stop", "", out(`{"continue":false,"stopReason":"r","systemMessage":"m"}`), hook.Answer{Stop: true, Why: "r", System: []string{"m"}}},
		"no JSON":                      {"Stop", "", out(`{"continue":`), hook.Answer{Failed: []string{"the Stop hook x printed what is no answer: unexpected end of JSON input"}}},
		"for another event":            {"Stop", "", out(`{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}`), hook.Answer{Failed: []string{`the Stop hook x answered for "PreToolUse"`}}},
		"a decision there is not":      {"Stop", "", out(`{"decision":"perhaps"}`), hook.Answer{Failed: []string{`the Stop hook x answered with the decision "perhaps", which there is not`}}},
		"a person's answer":            {"PermissionRequest", "", out(`{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"m","interrupt":true}}}`), hook.Answer{Decision: hook.Deny, Message: "m", Interrupt: true}},
		"arguments and a result":       {"PostToolUse", "", out(`{"hookSpecificOutput":{"updatedToolOutput":"o","additionalContext":"c"}}`), hook.Answer{Output: json.RawMessage(`"o"`), Context: []string{"c"}}},
		"a title, and a first word":    {"SessionStart", "", out(`{"hookSpecificOutput":{"sessionTitle":"t","initialUserMessage":"f"}}`), hook.Answer{Title: "t", First: "f"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := parse(t, c.event, `{"hooks":[{"type":"command","command":"x"`+c.more+`}]}`).All()[0]
			got := h.Read(c.ran)
			got.By = ""
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func out(s string) hook.Ran { return hook.Ran{Stdout: []byte(s)} }

func TestMerge(t *testing.T) {
	in := json.RawMessage(`{"command":"a","timeout":1,"gone":true}`)
	for name, c := range map[string]struct {
		list []hook.Answer
		want hook.Answer
	}{
		"nobody":           {nil, hook.Answer{}},
		"deny over all":    {[]hook.Answer{{Permission: hook.Allow, By: "a"}, {Permission: hook.Deny, PermissionReason: "no", By: "b"}, {Permission: hook.Ask, By: "c"}}, hook.Answer{Permission: hook.Deny, PermissionReason: "no", By: "b"}},
		"defer over ask":   {[]hook.Answer{{Permission: hook.Ask, By: "a"}, {Permission: hook.Defer, By: "b"}}, hook.Answer{Permission: hook.Defer, By: "b"}},
		"ask over allow":   {[]hook.Answer{{Permission: hook.Ask, By: "a"}, {Permission: hook.Allow, By: "b"}}, hook.Answer{Permission: hook.Ask, By: "a"}},
		"the first stops":  {[]hook.Answer{{By: "a"}, {Stop: true, Why: "1", By: "b"}, {Stop: true, Why: "2", By: "c"}}, hook.Answer{Stop: true, Why: "1", By: "b"}},
		"who stops":        {[]hook.Answer{{Stop: true, Why: "1", By: "a"}, {Permission: hook.Allow, By: "b"}}, hook.Answer{Stop: true, Why: "1", Permission: hook.Allow, By: "a"}},
		"texts in order":   {[]hook.Answer{{Context: []string{"1"}}, {Context: []string{"2"}, System: []string{"s"}}}, hook.Answer{Context: []string{"1", "2"}, System: []string{"s"}}},
		"one rewrites":     {[]hook.Answer{{Input: json.RawMessage(`{"command":"b"}`), By: "a"}}, hook.Answer{Input: json.RawMessage(`{"command":"b"}`), Rewrote: []string{"a"}}},
		"two rewrite":      {[]hook.Answer{{Input: json.RawMessage(`{"command":"b","timeout":1,"gone":true}`), By: "a"}, {Input: json.RawMessage(`{"command":"a","timeout":2}`), By: "b"}}, hook.Answer{Input: json.RawMessage(`{"command":"b","timeout":2}`), Rewrote: []string{"a", "b"}}},
		"two the same":     {[]hook.Answer{{Input: json.RawMessage(`{"command":"b"}`), By: "a"}, {Input: json.RawMessage(`{"command":"c"}`), By: "b"}}, hook.Answer{Input: json.RawMessage(`{"command":"c"}`), Rewrote: []string{"a", "b"}}},
		"no gives nothing": {[]hook.Answer{{Decision: hook.Allow, Updates: []hook.Update{{Type: "addRules"}}, By: "a"}, {Decision: hook.Deny, By: "b"}}, hook.Answer{Decision: hook.Deny, By: "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hook.Merge(in, c.list); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// In which order answers come changes no ruling.
func TestMergeDoesNotDependOnTheOrder(t *testing.T) {
	all := []hook.Permission{"", hook.Allow, hook.Ask, hook.Defer, hook.Deny}
	for range 500 {
		var list []hook.Answer
		for range 1 + rand.IntN(6) {
			list = append(list, hook.Answer{Permission: all[rand.IntN(len(all))], Decision: all[rand.IntN(2)], Stop: rand.IntN(5) == 0, Block: rand.IntN(5) == 0})
		}
		a := hook.Merge(nil, list)
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if b := hook.Merge(nil, list); a.Permission != b.Permission || a.Decision != b.Decision || a.Stop != b.Stop || a.Block != b.Block {
			t.Fatalf("%+v and %+v", a, b)
		}
	}
}

// What hooks read is one JSON object with the names of the format.
func TestEncode(t *testing.T) {
	inputs := []hook.Input{
		hook.SessionStartInput{Source: "startup"}, hook.SessionEndInput{Reason: "other"}, hook.PromptInput{Text: "p"},
		hook.PreToolInput{Call: hook.Call{Tool: "Bash", Input: json.RawMessage(`{"command":"x"}`), ID: "c"}}, hook.PermissionInput{Call: hook.Call{Input: json.RawMessage(`{}`)}},
		hook.DeniedInput{Call: hook.Call{Input: json.RawMessage(`{}`)}}, hook.PostToolInput{Call: hook.Call{Input: json.RawMessage(`{}`)}, Response: json.RawMessage(`{}`)},
		hook.FailureInput{Call: hook.Call{Input: json.RawMessage(`{}`)}}, hook.BatchInput{}, hook.NotificationInput{}, hook.StopInput{}, hook.StopFailureInput{},
		hook.PreCompactInput{}, hook.PostCompactInput{}, hook.CwdInput{}, hook.ExpansionInput{Name: "x"}, hook.SubagentStartInput{Type: "a"}, hook.SubagentStopInput{Type: "a"},
		hook.ElicitationInput{Server: "s"}, hook.ElicitationResultInput{Server: "s"}, hook.InstructionsInput{Reason: "include"}, hook.ConfigInput{Source: "user_settings"},
		hook.FileInput{Path: "/d/x", How: "add"}, hook.SetupInput{Trigger: "init"}, hook.DirInput{Source: "flag"}, hook.MessageInput{}, hook.TaskCreatedInput{}, hook.TaskCompletedInput{}, hook.IdleInput{Name: "n", Team: "t"},
	}
	var seen []hook.Event
	for _, in := range inputs {
		seen = append(seen, in.Event())
		text, err := hook.Encode(hook.Common{Session: "s", Transcript: "t", Dir: "/d"}, in)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if m["session_id"] != "s" || m["cwd"] != "/d" || m["transcript_path"] != "t" || m["hook_event_name"] != string(in.Event()) {
			t.Errorf("%s", text)
		}
		if s := in.Event().Subject(); s != "" && in.Event() != hook.FileChanged && m[s] != in.Subject() {
			t.Errorf("%s: matchers are compared with %q, and %s is %v", in.Event(), in.Subject(), s, m[s])
		}
	}
	for _, e := range hook.Events() {
		if !slices.Contains(seen, e) {
			t.Errorf("no input for %s", e)
		}
	}
}

func FuzzHooks(f *testing.F) {
	f.Add("PreToolUse", []byte(`{"matcher":"Bash","hooks":[{"type":"command","command":"x","if":"Bash(a:*)"}]}`), []byte(`{"continue":false}`))
	f.Add("Stop", []byte(`{"hooks":[{"type":"http","url":"https://x/"}]}`), []byte(`{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`))
	f.Fuzz(func(t *testing.T, event string, group, stdout []byte) {
		hooks, _ := hook.Parse(event, group, hook.Place{})
		for _, h := range hooks {
			a := h.Read(hook.Ran{Stdout: stdout})
			if b := hook.Merge(nil, []hook.Answer{a}); b.Permission != a.Permission {
				t.Errorf("%v became %v", a.Permission, b.Permission)
			}
			hook.NewSet(h).Matching(hook.PreToolInput{Call: hook.Call{Tool: event}}, hook.Scene{})
		}
	})
}

package print

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
)

func user(id, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"message":{"role":"user","content":%q}}`, id, text)
}

func request(id, rest string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{%s}}`, id, rest)
}

func response(call, rest string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":"ask-%s","response":{%s}}}`, call, rest)
}

// lines are those of a type on stdout; a subtype may follow a "/".
func (d *drive) lines(t *testing.T, kind string) (out []map[string]any) {
	t.Helper()
	kind, sub, _ := strings.Cut(kind, "/")
	for line := range bytes.Lines(d.out.Bytes()) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if m["type"] == kind && (sub == "" || m["subtype"] == sub) {
			out = append(out, m)
		}
	}
	return out
}

// result is what the model was told of a call.
func (d *drive) result(t *testing.T, call string) string {
	t.Helper()
	for _, r := range d.model.Requests() {
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if x, ok := p.(llm.ToolResult); ok && x.ID == call {
					return x.Text
				}
			}
		}
	}
	return ""
}

// A host's answers to a question, and what becomes of the call.
func TestHostAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		tool   string
		answer string // "" ends the input
		result string // part of what the model reads
		warned string // part of a note to the host
		again  bool   // the second call needs no question
		mode   policy.Mode
	}{
		"yes":                     {answer: response("c1", `"behavior":"allow"`), result: "ran rm"},
		"yes, with the same":      {answer: response("c1", `"behavior":"allow","updatedInput":{"command":"rm"}`), result: "ran rm"},
		"yes, but":                {answer: response("c1", `"behavior":"allow","updatedInput":{"command":"ls"}`), result: "ran ls"},
		"yes, with nothing":       {answer: response("c1", `"behavior":"allow","updatedInput":null`), result: "ran rm"},
		"no":                      {answer: response("c1", `"behavior":"deny","message":"not today"`), result: "not today"},
		"neither":                 {answer: response("c1", `"behavior":"maybe"`), result: "allow or deny", warned: `the behavior "maybe"`},
		"no, and a yes":           {answer: response("c1", `"behavior":"deny","behavior":"allow"`), result: "the input ended before", warned: "two members of one name"},
		"no, and a Yes":           {answer: response("c1", `"behavior":"deny","Behavior":"allow"`), result: "This call was refused"},
		"a Yes":                   {answer: response("c1", `"Behavior":"allow"`), result: "allow or deny", warned: `the behavior ""`},
		"no permission result":    {answer: `{"type":"control_response","response":{"subtype":"success","request_id":"ask-c1","response":"yes"}}`, result: "counts as a no", warned: "not a permission result"},
		"an error":                {answer: `{"type":"control_response","response":{"subtype":"error","request_id":"ask-c1","error":"it broke"}}`, result: "could not answer: it broke", warned: "could not answer: it broke"},
		"the end":                 {answer: "", result: "the input ended before"},
		"for the session":         {answer: response("c1", `"behavior":"allow","updatedPermissions":[{"type":"addRules","behavior":"allow","rules":[{"toolName":"Bash"}]}]`), result: "ran rm", again: true},
		"with a mode":             {answer: response("c1", `"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`), result: "ran rm", mode: policy.AcceptEdits},
		"what there is not":       {answer: response("c1", `"behavior":"allow","updatedPermissions":[{"type":"addDirectories","destination":"session"}]`), result: "ran rm", warned: "addDirectories was left out: it names no directories"},
		"what is a person's":      {answer: response("c1", `"behavior":"allow","updatedPermissions":[{"type":"removeDirectories","directories":["/d"],"destination":"userSettings"}]`), result: "ran rm", warned: "removeDirectories was left out: folders that settings files name are taken out there"},
		"folders of no session":   {answer: response("c1", `"behavior":"allow","updatedPermissions":[{"type":"addDirectories","directories":["/d"],"destination":"session"}]`), result: "ran rm", warned: "wants of folders was left out: the folders of this session cannot be changed"},
		"to an unknown place":     {answer: response("c1", `"behavior":"allow","updatedPermissions":[{"type":"addRules","behavior":"allow","rules":[{"toolName":"Bash"}],"destination":"moon"}]`), result: "ran rm", warned: "moon"},
		"choices":                 {tool: "Choose", answer: response("c1", `"behavior":"allow","updatedInput":{"answers":{"Which?":"this, that","What?":"a, b","Why?":["x"]}}`), result: `chosen: [["this, that"] ["a" "b"] ["x"]]`},
		"choices, and new words":  {tool: "Choose", answer: response("c1", `"behavior":"allow","updatedInput":{"command":"keep","answers":{"What?":["a"]}}`), result: `changed the arguments of this call to {"command":"keep"}]` + "\n" + `chosen: [[] ["a"] []]`},
		"choices as a list":       {tool: "Choose", answer: response("c1", `"behavior":"allow","updatedInput":{"answers":{"What?":["a","b"]}}`), result: `chosen: [[] ["a" "b"] []]`},
		"a mode that is no mode":  {answer: response("c1", `"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"wild","destination":"session"}]`), result: "wild", warned: "wild"},
		"an answer to no request": {answer: response("c9", `"behavior":"allow"`), result: "the input ended before", warned: "no open request ask-c9"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := c.tool
			if tool == "" {
				tool = "Bash"
			}
			in := map[string]string{"command": "rm"}
			d := drive{opt: Options{Format: Stream, Host: true}, input: func(say func(...string)) {
				say(user("u1", "go"))
				say() // until it has asked
				if c.answer != "" {
					say(c.answer)
				}
			}, replies: []fake.Reply{fake.Use(fake.Call("c1", tool, in)), fake.Use(fake.Call("c2", "Bash", in)), fake.Say("ok")}}
			res, err := d.run(t)
			if err != nil || res.Ended.How != event.Done {
				t.Fatalf("%+v, %v", res, err)
			}
			if got := d.result(t, "c1"); !strings.Contains(got, c.result) || strings.HasPrefix(c.result, "could not") && strings.Contains(got, "person said no") {
				t.Errorf("the model reads %q", got)
			}
			asked := d.lines(t, "control_request")
			if len(asked) == 0 || asked[0]["request_id"] != "ask-c1" {
				t.Fatalf("asked %v", asked)
			}
			if ran := strings.HasPrefix(d.result(t, "c2"), "ran"); ran != c.again {
				t.Errorf("the second call: %q", d.result(t, "c2"))
			}
			warned := ""
			for _, l := range d.lines(t, "system/informational") {
				warned += fmt.Sprintln(l["content"])
			}
			if !strings.Contains(warned, c.warned) || c.warned == "" && warned != "" {
				t.Errorf("warned of %q", warned)
			}
			if c.mode != "" && d.mode != c.mode {
				t.Errorf("the mode is %s", d.mode)
			}
		})
	}
}

// A refusal that also stops ends the turn, as the host wanted.
func TestHostStops(t *testing.T) {
	d := drive{opt: Options{Format: Stream, Host: true}, input: func(say func(...string)) {
		say(user("u1", "go"))
		say(response("c1", `"behavior":"deny","message":"stop it","interrupt":true`))
		say()
	}, replies: []fake.Reply{fake.Use(fake.Call("c1", "Bash", map[string]string{"command": "rm"})), fake.Say("never")}}
	res, err := d.run(t)
	if err != nil || !res.Stopped || res.Ended.How != event.Interrupted || len(d.model.Requests()) != 1 {
		t.Errorf("%+v, %v, %d requests", res, err, len(d.model.Requests()))
	}
}

// A host reads of a call before it is asked about it, also when the call is ruled on while
// its reply still streams.
func TestHostKnowsTheCallOfAQuestion(t *testing.T) {
	call := fake.Call("c1", "Bash", map[string]string{"command": "rm"})
	slow := func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		if fake.Send(yield, call) {
			time.Sleep(time.Second) // the call is ruled on meanwhile
			fake.Parts(llm.WantTools, llm.Text{S: "That is all."})(ctx, r, func(c llm.Chunk, err error) bool {
				if end, ok := c.(llm.Finished); ok {
					end.Message.Parts = append([]llm.Part{call}, end.Message.Parts...)
					c = end
				}
				return yield(c, err)
			})
		}
	}
	d := drive{opt: Options{Format: Stream, Host: true}, input: func(say func(...string)) {
		say(user("u1", "go"))
		time.Sleep(2 * time.Second)
		say(response("c1", `"behavior":"deny","message":"no"`))
		say()
	}, replies: []fake.Reply{slow, fake.Say("as you like")}}
	if res, err := d.run(t); err != nil || res.Ended.How != event.Done {
		t.Errorf("%+v, %v", res, err)
	}
	out := d.out.String()
	if reply, question := strings.Index(out, `"type":"assistant"`), strings.Index(out, `"can_use_tool"`); reply < 0 || question < reply {
		t.Errorf("the question stands at %d, the reply at %d: %s", question, reply, out)
	}
}

// A question that is settled elsewhere is taken back.
func TestHostIsTooLate(t *testing.T) {
	d := drive{opt: Options{Format: Stream, Host: true}, input: func(say func(...string)) {
		say(user("u1", "go"))
		say(request("r1", `"subtype":"interrupt"`))
		say(response("c1", `"behavior":"allow"`))
	}, replies: []fake.Reply{fake.Use(fake.Call("c1", "Bash", map[string]string{"command": "rm"}))}}
	res, err := d.run(t)
	if err != nil || !res.Stopped {
		t.Errorf("%+v, %v", res, err)
	}
	if l := d.lines(t, "control_cancel_request"); len(l) != 1 || l[0]["request_id"] != "ask-c1" {
		t.Errorf("taken back: %v", l)
	}
}

// Requests of a host between two prompts, with the answer to each.
func TestHostRequests(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{in: `"subtype":"initialize"`, want: `{"account":{"apiKeySource":"none","provider":"fake"},"agents":[],"available_output_styles":["default"],"claude_code_version":"1.2.3","commands":[],"hooks_applied":true,"mcp_servers_applied":true,"models":[` +
			`{"value":"default","resolvedModel":"m","displayName":"Default","description":"The model this session began with: fake/m"},` +
			`{"value":"fake/m","resolvedModel":"m","displayName":"M","description":"","supportsEffort":true,"supportedEffortLevels":["low"]},` +
			`{"value":"other/m","resolvedModel":"m","displayName":"Other M","description":""},` +
			`{"value":"n","resolvedModel":"n","displayName":"N","description":"","supportsAdaptiveThinking":true},` +
			`{"value":"fake/a/b","resolvedModel":"a/b","displayName":"AB","description":""}],"output_style":"default","plugins_applied":true}`},
		{in: `"subtype":"initialize","title":"A title"`, want: `"commands":[]`},
		{in: `"subtype":"initialize","systemPrompt":["x"]`, err: "initialize has to be the first line"},
		{in: `"subtype":"initialize","hooks":{"PreTool":[{"hookCallbackIds":["a"]}]}`, err: "instructions, schema, hooks, agents, servers, skills, plugins and aliases cannot change any more"},
		{in: `"subtype":"initialize","skills":["x"]`, err: "cannot change any more"},
		{in: `"subtype":"initialize","skills":[1]`, err: "no skills but by name"},
		{in: `"subtype":"initialize","plugins":[{"type":"npm"}]`, err: "no plugins but those of folders"},
		{in: `"subtype":"initialize","skills":"all"`, want: `"commands":[]`},
		{in: `"subtype":"initialize","agents":[]`, err: `agents: expected an object, found a list`},
		{in: `"subtype":"set_permission_mode","mode":"acceptEdits"`, want: `{"mode":"acceptEdits"}`},
		{in: `"subtype":"set_permission_mode","mode":"wild"`, err: "wild"},
		{in: `"subtype":"set_permission_mode","mode":7`, err: `mode: expected a text, found a number`},
		{in: `"subtype":"set_model","model":"n"`, want: `{}`},
		{in: `"subtype":"set_model","model":"nowhere"`, err: "there is no nowhere"},
		{in: `"subtype":"set_model"`, want: `{}`},
		{in: `"subtype":"set_max_thinking_tokens","max_thinking_tokens":2000`, want: `{}`},
		{in: `"subtype":"set_max_thinking_tokens","max_thinking_tokens":0`, want: `{}`},
		{in: `"subtype":"set_max_thinking_tokens"`, want: `{}`},
		{in: `"subtype":"apply_flag_settings","settings":{"model":"n","effortLevel":"high"}`, want: `{}`},
		{in: `"subtype":"apply_flag_settings","settings":{"model":"nowhere"}`, err: "there is no nowhere"},
		{in: `"subtype":"apply_flag_settings","settings":{"effortLevel":null}`, want: `{}`},
		{in: `"subtype":"apply_flag_settings","settings":{"effortLevel":"huge"}`, err: `effortLevel cannot be "huge"`},
		{in: `"subtype":"apply_flag_settings","settings":{"model":true}`, err: `the setting "model" cannot be true`},
		{in: `"subtype":"apply_flag_settings","settings":{"env":"x"}`, err: `"env" cannot be changed`},
		{in: `"subtype":"apply_flag_settings","settings":{"permissions":{"allow":["Bash"]}}`, err: `"permissions" cannot be changed while a session runs; model and effortLevel can`},
		{in: `"subtype":"mcp_status"`, want: `{"mcpServers":[{"name":"db","status":"pending","tools":[{"name":"mcp__db__x"}]}]}`},
		{in: `"subtype":"mcp_toggle","serverName":"db","enabled":true`, err: "enable db"},
		{in: `"subtype":"mcp_message","server_name":"db","message":{"a":1}`, err: `db says {"a":1}`},
		{in: `"subtype":"mcp_reconnect","serverName":"x"`, err: "reconnect x"},
		{in: `"subtype":"mcp_set_servers","servers":{}`, want: `{"added":[],"errors":{},"removed":["db"]}`},
		{in: `"subtype":"mcp_set_servers","servers":{"x":{}}`, want: `{"added":["x"],"errors":{},"removed":["db"]}`},
		{in: `"subtype":"get_settings"`, want: `{"effective":{"a":1},"sources":[{"source":"userSettings","settings":{"a":1}}],"applied":{"model":"n","effort":"high"}}`},
		{in: `"subtype":"update_settings","source":"localSettings","settings":{"outputStyle":"x"}`, err: `local output_style is "x"`},
		{in: `"subtype":"update_settings","source":"userSettings","settings":{}`, want: `{}`},
		{in: `"subtype":"file_suggestions","query":"a"`, want: `{"suggestions":[{"path":"a","type":"file"},{"path":"d/","type":"directory"}]}`},
		{in: `"subtype":"read_file","path":5`, err: "path: expected a text, found a number"},
		{in: `"subtype":"read_file","path":"a"`, err: "not answered: read"},
		{in: `"subtype":"list_models"`, want: `"value":"other/m"`},
		{in: `"subtype":"get_context_usage"`, want: `"maxTokens":1000,"mcpTools":[],"memoryFiles":[],"model":"m","percentage":60,"rawMaxTokens":1000,"systemPromptSections":[{"name":"a","tokens":100}],"systemTools":[{"name":"Bash","tokens":200}],"totalTokens":600}`},
		{in: `"subtype":"get_context_usage"`, want: `{"color":"","id":"free_space","kind":"free","name":"Free space","tokens":400}`},
		{in: `"subtype":"stop_task","task_id":"b1"`, err: "b1"},
		{in: `"subtype":"rename_session","title":"Better"`, want: `{}`},
		{in: `"subtype":"interrupt"`, want: `{"still_queued":[]}`},
		{in: `"subtype":"dance"`, err: `the request "dance" is not supported`},
		{in: ``, err: `the request "" is not supported`},
	} {
		t.Run(c.in, func(t *testing.T) {
			d := drive{opt: Options{Format: Stream}, replies: []fake.Reply{fake.Say("one"), fake.Say("two")}, input: func(say func(...string)) {
				say(user("u1", "first"))
				say(request("r1", c.in))
				say(user("u2", "second"))
			}, about: func(a *About) { a.Ask = aboutDB }, change: func(c *session.Config) {
				target := c.Target
				c.Resolve = func(_ context.Context, name string) (agent.Target, error) {
					if name == "nowhere" {
						return agent.Target{}, errors.New("there is no nowhere")
					}
					return target, nil
				}
			}}
			if res, err := d.run(t); err != nil || res.Ended.How != event.Done || len(d.model.Requests()) != 2 {
				t.Fatalf("%+v, %v", res, err)
			}
			answers := d.lines(t, "control_response")
			if len(answers) != 1 {
				t.Fatalf("%d answers", len(answers))
			}
			a := answers[0]["response"].(map[string]any)
			sub, raw := "success", ""
			for line := range strings.Lines(d.out.String()) {
				if strings.Contains(line, "control_response") {
					raw = line
				}
			}
			if c.err != "" {
				sub = "error"
				if text, _ := a["error"].(string); !strings.Contains(text, c.err) {
					t.Errorf("refused with %q", text)
				}
			}
			if a["subtype"] != sub || a["request_id"] != "r1" || !strings.Contains(raw, c.want) {
				t.Errorf("answered %s", raw)
			}
		})
	}
}

// Of two prompts that wait, an interrupt that takes back what waits answers
// neither.
func TestHostTakesBackWhatWaits(t *testing.T) {
	d := drive{opt: Options{Format: Stream}, replies: []fake.Reply{fake.Hang(llm.Text{S: "hm"}), fake.Say("no")}, input: func(say func(...string)) {
		say(user("u1", "first"))
		say(user("u2", "second"), user("u2", "the same name"))
		say(request("r1", `"subtype":"interrupt","cancel_queued":true`))
	}}
	res, err := d.run(t)
	if err != nil || !res.Stopped || len(d.model.Requests()) != 1 {
		t.Errorf("%+v, %v, %d requests", res, err, len(d.model.Requests()))
	}
	a := d.lines(t, "control_response")
	if got := fmt.Sprint(a[0]["response"].(map[string]any)["response"]); len(a) != 1 || !strings.HasPrefix(got, "map[cancelled:[u2 id") || !strings.HasSuffix(got, "still_queued:[]]") {
		t.Errorf("answered %v", a)
	}
}

// aboutDB answers for a session with one server that does nothing.
func aboutDB(_ context.Context, q ask.Query) (ask.Reply, error) {
	switch q := q.(type) {
	case ask.Models:
		return ask.With([]ask.Model{{ID: "fake/m", Name: "M", Efforts: []string{"low"}}, {ID: "other/m", Name: "Other M"}, {ID: "fake/n", Name: "N", Thinking: "adaptive"}, {ID: "fake/a/b", Name: "AB"}}), nil
	case ask.Settings:
		return ask.With(ask.SettingsNow{List: []ask.Setting{{Key: "a", Value: json.RawMessage("1"), Scope: "user"}}, Model: "fake/n", Effort: "high"}), nil
	case ask.Context:
		return ask.With(ask.Filling{Instructions: []ask.Piece{{Name: "a", Tokens: 100}}, Tools: []ask.Piece{{Name: "Bash", Tokens: 200}}, Talk: 300, Window: 1000}), nil
	case ask.Servers:
		if q.Do == "" {
			return ask.With([]ask.Server{{Name: "db", State: string(event.ServerConnecting), Tools: []ask.ServerTool{{Name: "mcp__db__x"}}}}), nil
		}
		return ask.Reply{}, fmt.Errorf("%s %s", q.Do, q.Name)
	case ask.Serve:
		return ask.With(ask.ServersChanged{Added: append([]string{}, slices.Sorted(maps.Keys(q.Servers))...), Removed: []string{"db"}}), nil
	case ask.Deliver:
		return ask.Reply{}, fmt.Errorf("%s says %s", q.Server, q.Message)
	case ask.Save:
		return ask.Reply{}, fmt.Errorf("%s %s is %s", q.Scope, q.Key, q.Value)
	case ask.Files:
		return ask.Reply{Names: []string{q.Near, "d/"}}, nil
	default:
		return ask.Reply{}, errors.New("this is not answered: " + ask.Name(q))
	}
}

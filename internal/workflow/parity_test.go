package workflow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/workflow"
)

// A row is a behaviour of the public list P01 to P79 (docs/PARITY.md of
// rphang/opencode-workflows, read in November 2026): the test that holds it, or why it is
// not so here. A test is a function of this package, "policy:TestX" of another one, or
// "script:" with words that stand in workflows.txtar.
type row struct{ id, what, test, not string }

var parity = []row{
	{"P01", "input; one of script, name and scriptPath", "script:resumeFromRunId", "resumeFromRunId alone is enough, too"},
	{"P02", "result async_launched, at once", "script:async_launched", ""},
	{"P03", "a mistake in the script is in error, and nothing runs", `script:"error":"SyntaxError`, ""},
	{"P04", "the script is a file, which can be run", "script:wf_00000000", ""},
	{"P05", "args as they are", "TestScripts", ""},
	{"P06", "the result is a task notification", "script:Two are told", ""},
	{"P10", "meta is first, and a literal", "TestMeta", ""},
	{"P11", "else an error, and no command", "script:broken.js:1", ""},
	{"P12", "await and return at the top", "TestScripts", ""},
	{"P13", "no import, no require", "TestMeta", ""},
	{"P14", "no TypeScript", "TestLines", ""},
	{"P15", "no clock, no chance; dates from a value", "TestScripts", ""},
	{"P16", "no files, programs, network", "TestScripts", ""},
	{"P20", "agent() returns the last words", "TestScripts", "an agent that says nothing is told in words, not as an empty text"},
	{"P21", "schema: an object, else it throws", "script:Count the words", ""},
	{"P22", "a schema that nothing meets throws", "TestScripts", ""},
	{"P23", "null for an agent that failed or was stopped", "TestScripts", ""},
	{"P24", "label and phase", "TestProgress", ""},
	{"P25", "model", "TestGoesOn", ""},
	{"P26", "effort", "TestScripts", ""},
	{"P27", "agentType", "TestScripts", "an unknown one throws and names those there are"},
	{"P28", "isolation: worktree", "TestScriptsOfTheManual", ""},
	{"P29", "parallel()", "TestScripts", ""},
	{"P30", "pipeline()", "TestScripts", ""},
	{"P31", "4,096 items", "TestScripts", ""},
	{"P32", "phase()", "TestProgress", ""},
	{"P33", "log()", "TestProgress", ""},
	{"P34", "budget", "TestBudget", "what the session writes while a run goes on does not count"},
	{"P35", "workflow() within a workflow, one deep", "TestWithin", ""},
	{"P36", "how many at once", "TestAtOnce", "no setting changes it"},
	{"P37", "1,000 agents", "TestMost", ""},
	{"P40", "journal", "TestJournal", "an agent's own log is beside that of the session"},
	{"P41", "the longest unchanged beginning is replayed", "TestGoesOn", ""},
	{"P42", "nothing to resume", "script:nothing to resume", ""},
	{"P43", "not while the run goes on", "", "it is refused in words (fleet.Flows.journal); no test has a run that goes on"},
	{"P44", "what a stop of the run ended is made again", "TestGoesOnFromWhatFailed", ""},
	{"P50", "/workflows", "ui/tui:runOf", ""},
	{"P51", "stop a run, stop an agent", "TestStop", ""},
	{"P52", "save a run as a command", "", "the run's script.js is copied by hand or by the model"},
	{"P53", "files are slash commands", "script:/count one two", ""},
	{"P54", "/deep-research", "", "adze brings /batch alone"},
	{"P55", "a large run is told", "TestMost", "by agents alone, not by tokens"},
	{"P56", "a question before the run, with the script", "policy:TestOtherRules", ""},
	{"P57", "a switch", "", "a rule that denies Workflow takes the tool away"},
	{"P58", "the model knows how to write one", "", "the tool's description says it; there is no skill for it"},
	{"P59", "whenToUse is told", "", "it is in the list of the tool's description (flow.New)"},
	{"P60", "agents run no workflows", "script:None in it", ""},
	{"P61", "agents have the session's rules and mode", "", "they are agents of the session: internal/app tests that"},
	{"P62", "agents tell of what run they are", `script:"parent_task_id"`, ""},
	{"P63", "questions of agents reach the person; a blocked one is null", "", "they are agents of the session: agents.txtar tests that"},
	{"P70", "a guideline for the size", "", "the tool's description says what is usual; no setting"},
	{"P71", "agents wait for a shared prompt cache", "", "they begin at once"},
	{"P72", "workflows of plugins", "", "plugins bring none"},
	{"P73", "start one agent again", "", "stop the run, and have it go on"},
	{"P74", "an agent's transcript", "", "its log is beside the session's; /tasks and adze sessions show it"},
	{"P75", "only the session's own runs", "script:this session has no run", ""},
	{"P76", "scriptPath reads what the session may read", "", "the plan has the read as an action, and a script's own read is judged (app.newFlows)"},
	{"P77", "the result comes in one way", "", "a look at a run never says its result (fleet.Runs.Look)"},
	{"P78", "agents know that nobody answers", "script:Nobody answers questions", ""},
	{"P79", "the notification names the journal", "script:journal.jsonl, a line for each", ""},
}

// Each row has a test that there is, or says why not.
func TestParity(t *testing.T) {
	script, err := os.ReadFile("../cli/testdata/script/workflows.txtar")
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for i, r := range parity {
		if r.test == "" && r.not == "" || i > 0 && r.id <= parity[i-1].id {
			t.Errorf("%s: %q", r.id, r.what)
		}
		where, name, ok := strings.Cut(r.test, ":")
		switch {
		case r.test == "":
			continue
		case !ok:
			where, name = "workflow", r.test
		}
		held++
		if where == "script" && !strings.Contains(string(script), name) || where != "script" && !functions(t, where)[name] {
			t.Errorf("%s: there is no test %q", r.id, r.test)
		}
	}
	if len(parity) != 60 || held < 40 {
		t.Errorf("%d rows, %d of them with a test", len(parity), held)
	}
}

// functions are those of the tests of a package.
func functions(t *testing.T, of string) map[string]bool {
	files, err := filepath.Glob("../" + of + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				out[fn.Name.Name] = true
			}
		}
	}
	return out
}

// BenchmarkAgents is what a run needs for each agent besides the agent, with 100 of them.
func BenchmarkAgents(b *testing.B) {
	s, err := workflow.Read(meta + `return parallel(Array.from({length: 100}, (_, i) => () => agent("x" + i)))`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		res := workflow.Run(b.Context(), workflow.Config{Script: s, AtOnce: 16, Agent: answers(echo), Tell: func(workflow.Event) {}})
		if res.Err != nil || len(res.Calls) != 100 {
			b.Fatal(res.Err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/100, "µs/agent")
}

package price

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

func table(t *testing.T) *Table {
	t.Helper()
	tab, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestEmbeddedRowsAreSane(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range table(t).All() {
		k := key(f.Provider, f.ID)
		if g, ok := table(t).Lookup(f.Provider, f.ID); !ok || g.ID != f.ID {
			t.Errorf("%s is found as %s", k, g.ID)
		}
		if seen[k] {
			t.Errorf("%s is there twice", k)
		}
		seen[k] = true
		switch {
		case f.Window <= 0 || f.Output <= 0 || f.OutputMax < f.Output:
			t.Errorf("%s: window %d, output %d, max %d", k, f.Window, f.Output, f.OutputMax)
		case f.Price == nil || f.Price.In < 0 || f.Price.Out < f.Price.In && f.Price.Out != 0 && f.Provider != "mistral" && f.Provider != "openrouter":
			t.Errorf("%s: price %+v", k, f.Price)
		case f.Source == "" || len(f.Date) != 10:
			t.Errorf("%s: source %q, date %q", k, f.Source, f.Date)
		case (f.Thinking == Adaptive || f.Thinking == Level) && len(f.Efforts) == 0:
			t.Errorf("%s: %s without efforts", k, f.Thinking)
		}
	}
	if n := strings.Count(string(embedded), `{"provider":`); n != len(seen) {
		t.Errorf("%d of %d rows were read", len(seen), n)
	}
	if len(embedded) > 120<<10 {
		t.Errorf("the table is %d bytes, more than 120 KB", len(embedded))
	}
}

func TestAliasesAndSiblingsExist(t *testing.T) {
	tab := table(t)
	for _, name := range Aliases() {
		full, ok := Alias(name)
		if !ok {
			t.Fatalf("alias %s is unknown", name)
		}
		provider, model, _ := cut(full)
		if !tab.has(provider, model) {
			t.Errorf("%s stands for %s, which is not in the table", name, full)
		}
	}
	for _, provider := range []string{"anthropic", "openai", "gemini", "groq", "deepseek", "mistral", "xai", "together", "openrouter"} {
		m := Default(provider)
		if _, ok := tab.Lookup(provider, m); !ok {
			t.Errorf("the default %s/%s is not in the table", provider, m)
		}
		if s := Small(provider, m); s != m && !tab.has(provider, s) {
			t.Errorf("the sibling %s/%s is not in the table", provider, s)
		}
	}
}

func cut(s string) (string, string, bool) {
	for i := range s {
		if s[i] == '/' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func TestLookup(t *testing.T) {
	tab := table(t)
	for _, c := range []struct{ provider, model, want string }{
		{"anthropic", "claude-sonnet-4-6", "claude-sonnet-4-6"},
		{"anthropic", "Claude-Sonnet-4-6", "claude-sonnet-4-6"},
		{"anthropic", "claude-sonnet-4-6-20260217", "claude-sonnet-4-6"},
		{"anthropic", "claude-sonnet-4-6-latest", "claude-sonnet-4-6"},
		{"anthropic", "claude-sonnet", ""},
		{"anthropic", "claude-sonnet-4-60", ""},
		{"openai", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"},
		{"openai", "gpt-5-codex", ""},
		{"google", "gemini-2.5-pro", "gemini-2.5-pro"},
		{"openrouter", "anthropic/claude-opus-4.5:thinking", "anthropic/claude-opus-4.5"},
		{"mistral", "codestral", "codestral-latest"},
		{"vertex", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"},
		{"nobody", "x", ""},
	} {
		f, ok := tab.Lookup(c.provider, c.model)
		if c.provider == "vertex" {
			c.want = "claude-sonnet-4-5"
		}
		if ok != (c.want != "") || ok && f.ID != c.want {
			t.Errorf("Lookup(%s, %s) = %s, %v; want %q", c.provider, c.model, f.ID, ok, c.want)
		}
	}
	if f, ok := tab.Lookup("bedrock", "us.anthropic.claude-sonnet-4-6-v1:0"); !ok || f.Window != 1000000 || f.Price != nil {
		t.Errorf("bedrock: %+v, %v", f, ok)
	}
}

func TestCost(t *testing.T) {
	f := Facts{Price: &Price{In: 3, Out: 15, CacheRead: 0.3, CacheWrite: 3.75,
		Tiers: []Tier{{Above: 200000, In: 6, Out: 22.5, CacheRead: 0.6, CacheWrite: 7.5}}}}
	for _, c := range []struct {
		u    llm.Usage
		want float64
	}{
		{llm.Usage{}, 0},
		{llm.Usage{In: 1000, Out: 1000}, 0.018},
		{llm.Usage{CacheWrite: 3000, CacheWriteLong: 1000}, 2*0.00375 + 0.006}, // an hour costs twice the input
		{llm.Usage{In: 1000, CacheRead: 100000, CacheWrite: 1000, Out: 10}, 0.003 + 0.03 + 0.00375 + 0.00015},
		{llm.Usage{In: 200001}, 1.200006},
		{llm.Usage{In: 100000, CacheRead: 100000}, 0.33},
	} {
		got, known := f.Cost(c.u)
		if !known || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Cost(%+v) = %v, %v; want %v", c.u, got, known, c.want)
		}
	}
	if _, known := (Facts{}).Cost(llm.Usage{In: 1}); known {
		t.Error("an unknown price is not a price of zero")
	}
	if usd, known := (Facts{Price: &Price{}}).Cost(llm.Usage{In: 1}); !known || usd != 0 {
		t.Error("a price of zero is known")
	}
}

func TestEffort(t *testing.T) {
	all := Facts{Efforts: []string{"low", "medium", "high", "xhigh", "max"}}
	high := Facts{Efforts: []string{"high"}}
	for _, c := range []struct {
		f    Facts
		e    llm.Effort
		want string
	}{
		{all, llm.EffortLow, "low"}, {all, llm.EffortMedium, "medium"}, {all, llm.EffortHigh, "high"},
		{all, llm.EffortMax, "max"}, {all, "", ""}, {high, llm.EffortLow, "high"}, {high, llm.EffortMax, "high"},
		{Facts{Efforts: []string{"low", "high"}}, llm.EffortMedium, "low"}, {Facts{}, llm.EffortMax, ""},
	} {
		if got := c.f.Effort(c.e); got != c.want {
			t.Errorf("%v.Effort(%q) = %q, want %q", c.f.Efforts, c.e, got, c.want)
		}
	}
}

func TestRaisedCap(t *testing.T) {
	for _, c := range []struct{ output, most, want int }{{32000, 128000, 128000}, {32000, 64000, 64000}, {32000, 32000, 0}, {8192, 8192, 0}, {32000, 40000, 40000}} {
		if got := (Facts{Output: c.output, OutputMax: c.most}).RaisedCap(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestExtend(t *testing.T) {
	tab := table(t)
	before, _ := tab.Lookup("anthropic", "claude-sonnet-4-6")
	ext, err := tab.Extend(map[string]json.RawMessage{
		"anthropic/claude-sonnet-4-6": json.RawMessage(`{"window": 123, "price": {"in": 1}}`),
		"mine/big":                    json.RawMessage(`{"window": 77, "output": 10}`),
	}, "settings.json")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := ext.Lookup("anthropic", "claude-sonnet-4-6")
	if f.Window != 123 || f.Price.In != 1 || f.Price.Out != before.Price.Out || f.Source != "settings.json" {
		t.Errorf("corrected: %+v %+v", f, f.Price)
	}
	if after, _ := tab.Lookup("anthropic", "claude-sonnet-4-6"); after.Window != before.Window || after.Price.In != 3 {
		t.Error("Extend changed the table it was called on")
	}
	if f, ok := ext.Lookup("mine", "big"); !ok || f.Window != 77 || f.Price != nil {
		t.Errorf("added: %+v %v", f, ok)
	}
	for _, bad := range []string{"noslash", "a/b"} {
		if _, err := tab.Extend(map[string]json.RawMessage{bad: json.RawMessage(`[`)}, ""); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// Images may be as large as the model sees them.
func TestImageEdge(t *testing.T) {
	tab, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]int{
		"anthropic/claude-opus-4-6": 0, "anthropic/claude-opus-4-7": 2000, "anthropic/claude-sonnet-5-5": 2000, "anthropic/claude-sonnet-4-5-20250929": 0,
		"openrouter/anthropic/claude-opus-4.8": 2000, "bedrock/anthropic.claude-opus-5-v1:0": 2000, "openai/gpt-5.1": 2048, "gemini/gemini-2.5-pro": 3072, "mistral/devstral-latest": 0,
	} {
		provider, id, _ := strings.Cut(model, "/")
		if f, ok := tab.Lookup(provider, id); !ok || f.ImageEdge != want {
			t.Errorf("%s: %d pixels, want %d (known: %v)", model, f.ImageEdge, want, ok)
		}
	}
}

package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/servers"
)

// A schema that providers refuse is repaired, or its tool is left out with a reason;
// what was approved is what the server gave.
func TestSchemasOfTools(t *testing.T) {
	s := newServer(&Hub{}, servers.Server{Name: "s"}, "s", false, (&Hub{}).View(ViewConfig{}))
	for in, left := range map[string]string{
		`{"type":"object","properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"array"}}}`: "",
		`{"type":"object","oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`:              "",
		`{"type":"string"}`: `its schema describes a "string", and arguments are an object`,
		`{"type":"object","properties":{"a b":{}},"required":["a b"]}`: `its schema requires an argument named "a b", which providers refuse`,
		`[]`: "its schema is no object",
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		r, err := s.remote(&sdk.Tool{Name: "t", InputSchema: v}, "mcp__s__t", nil)
		switch {
		case left != "":
			if err == nil || !strings.HasPrefix(err.Error(), left) {
				t.Errorf("%s: %v, want %s", in, err, left)
			}
		case err != nil:
			t.Errorf("%s: %v", in, err)
		default:
			if err := llmtest.Parameters(r.Spec().Schema); err != nil {
				t.Errorf("%s: %v", in, err)
			}
			if !json.Valid(r.pin.Schema) || string(r.pin.Schema) == string(r.Spec().Schema) {
				t.Errorf("%s is approved as %s", in, r.pin.Schema)
			}
		}
	}
}

// Members of a schema stay in the order in which the server sent them, and what
// was approved does not depend on it.
func TestSchemasInOrder(t *testing.T) {
	const sent = `{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"integer"}},"required":["zeta"]}`
	var k schemas
	k.keep([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":` + sent + `}]}}`))
	var v any
	if err := json.Unmarshal([]byte(sent), &v); err != nil {
		t.Fatal(err)
	}
	s := newServer(&Hub{}, servers.Server{Name: "s"}, "s", false, (&Hub{}).View(ViewConfig{}))
	with, err := s.remote(&sdk.Tool{Name: "t", InputSchema: v}, "mcp__s__t", &k)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(with.Spec().Schema); strings.Index(got, "zeta") > strings.Index(got, "alpha") {
		t.Errorf("%s", got)
	}
	without, err := s.remote(&sdk.Tool{Name: "t", InputSchema: v}, "mcp__s__t", nil)
	if err != nil || !with.pin.same(without.pin) {
		t.Errorf("another order is another tool: %v", err)
	}
	for range 3 {
		k.keep([]byte(`{"inputSchema":{"b":"` + strings.Repeat("x", maxKept/2) + `","a":1}}`))
	}
	if k.size > maxKept {
		t.Errorf("%d bytes are kept", k.size)
	}
}

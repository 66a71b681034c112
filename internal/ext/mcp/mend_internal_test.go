package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestMended(t *testing.T) {
	const after = `{"type":"text","text":"after"}`
	for content, want := range map[string]string{
		`[{"type":"image","data":"data:image/png;base64,AQI=","mimeType":"image/png"},` + after + `]`: "image/png:\x01\x02|after",
		`[{"type":"image","data":"data:image/png;base64,AQI="},` + after + `]`:                        "image/png:\x01\x02|after",
		`[{"type":"image","data":"-_8","mimeType":"image/png"},` + after + `]`:                        "image/png:\xfb\xff|after",
		`[{"type":"image","data":"A*I=","mimeType":"image/png"},` + after + `]`:                       "cannot be read|after",
		`[{"type":"weird","foo":1},` + after + `]`:                                                    "weird|after",
		`[{"type":"text","text":5},` + after + `]`:                                                    `content.0.text: expected a text|after`,
		`[null,` + after + `]`: "cannot be read|after",
	} {
		raw := newInspector(time.Now).mended([]byte(`{"jsonrpc":"2.0","id":3,"result":{"isError":true,"content":` + content + `}}`))
		var m struct {
			ID     int
			Result sdk.CallToolResult
		}
		if err := json.Unmarshal(raw, &m); err != nil || m.ID != 3 || !m.Result.IsError {
			t.Errorf("%s: %s, %v", content, raw, err)
			continue
		}
		parts := strings.Split(want, "|")
		if len(parts) != len(m.Result.Content) {
			t.Errorf("%s: %s", content, raw)
			continue
		}
		for i, c := range m.Result.Content {
			got := ""
			switch c := c.(type) {
			case *sdk.TextContent:
				got = c.Text
			case *sdk.ImageContent:
				got = c.MIMEType + ":" + string(c.Data)
			}
			if !strings.Contains(got, parts[i]) {
				t.Errorf("%s: block %d is %q", content, i, got)
			}
		}
	}
	for _, same := range []string{`{"id":1,"result":{"content":[{"type":"text","text":"x"}]}}`, `{"result":{"content":null}}`, `{"result":{"content":"x"}}`, `{"params":{"content":5}}`, `{"result":{"contents":[5]}}`} {
		if got := newInspector(time.Now).mended([]byte(same)); string(got) != same {
			t.Errorf("%s became %s", same, got)
		}
	}
}

func TestMendedAnswers(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{`{"id":"7","result":{}}`, `{"id":7,"result":{}}`},
		{`{"id": "7","error":{"code":1,"message":"no"}}`, `{"error":{"code":1,"message":"no"},"id":7}`},
		{`{"id":"7","method":"ping"}`, `{"id":"7","method":"ping"}`}, // its own
		{`{"id":"x","result":{}}`, `{"id":"x","result":{}}`},
		{`{"id":1,"result":{"protocolVersion":"2024-10-07"}}`, `{"id":1,"result":{"protocolVersion":"2024-11-05"}}`},
		{`{"id":1,"result":{"protocolVersion":"2025-05-01"}}`, `{"id":1,"result":{"protocolVersion":"2025-03-26"}}`},
		{`{"id":1,"result":{"protocolVersion":"2030-01-01"}}`, `{"id":1,"result":{"protocolVersion":"2025-11-25"}}`},
		{`{"id":1,"result":{"protocolVersion":"DRAFT"}}`, `{"id":1,"result":{"protocolVersion":"2025-11-25"}}`},
		{`{"id":1,"result":{"protocolVersion":"1.0"}}`, `{"id":1,"result":{"protocolVersion":"2024-11-05"}}`},
		{`{"id":1,"result":{"protocolVersion":"2025-06-18"}}`, `{"id":1,"result":{"protocolVersion":"2025-06-18"}}`},
		{`{"id":"1","result":{"content":[5],"protocolVersion":5}}`, `{"id":1,"result":{"content":[{"text":"[The server sent content that cannot be read (content.0: expected an object): 5]","type":"text"}],"protocolVersion":5}}`},
	} {
		if got := newInspector(time.Now).mended([]byte(c.raw)); string(got) != c.want {
			t.Errorf("%s became %s", c.raw, got)
		}
	}
}

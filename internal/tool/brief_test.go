package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/adze-agent/adze/internal/tool"
)

// asked counts how often a tool is asked what it is.
type asked struct {
	tool.Tool
	times *int
}

func (a asked) Spec() tool.Spec { *a.times++; return a.Tool.Spec() }

// A brief tool is described in a few words, worked out once, and keeps what
// its result is good for.
func TestBrief(t *testing.T) {
	n := 0
	long := tool.New(tool.Spec{Name: "Look", Description: "Looks.\nIn many words.", Again: true, Limit: 7},
		func(struct {
			Description string `json:"description" jsonschema:"what it is for"`
		}, tool.Env) (tool.Plan, error) {
			return tool.Plan{}, nil
		},
		func(context.Context, struct {
			Description string `json:"description" jsonschema:"what it is for"`
		}, tool.Env) (tool.Result, error) {
			return tool.Result{}, nil
		})
	b := tool.Brief(asked{long, &n})
	for range 3 {
		s := b.Spec()
		if s.Name != "Look" || s.Description != "Looks." || !s.Again || s.Limit != 7 {
			t.Errorf("%+v", s)
		}
		var schema struct {
			Properties map[string]map[string]any
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Properties["description"] == nil || schema.Properties["description"]["description"] != nil {
			t.Errorf("%s: %v", s.Schema, err)
		}
	}
	if n != 1 {
		t.Errorf("asked %d times", n)
	}
}

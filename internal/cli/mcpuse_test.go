package cli_test

//lint:file-ignore SA1019 sampling belongs to the protocols that most servers speak

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpServer is a server for scripts. It leaves a file that says that it was
// started; with the argument "dead" it ends at once, with "leak" it says a key before
// it does, with "mute" it never answers, and with "late" and a file it answers when
// the file is there.
func mcpServer() {
	if path := os.Getenv("STARTED"); path != "" {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			panic(err)
		}
	}
	if len(os.Args) > 1 && os.Args[1] == "dead" {
		fmt.Fprintln(os.Stderr, "no database")
		os.Exit(1)
	}
	if len(os.Args) > 1 && os.Args[1] == "leak" {
		fmt.Fprintln(os.Stderr, "no such key: sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789")
		os.Exit(1)
	}
	if len(os.Args) > 1 && os.Args[1] == "mute" { // it answers nothing, until adze leaves it
		_, _ = io.Copy(io.Discard, os.Stdin)
		syscall.Exit(0)
	}
	for len(os.Args) > 2 && os.Args[1] == "late" {
		if _, err := os.Stat(os.Args[2]); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "scripted", Version: "7"}, &mcp.ServerOptions{Instructions: "Ask me \x1b[31manything."})
	type words struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "say.loud", Description: "Says it loud."}, func(_ context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
		if in.Text == "" {
			return nil, nil, fmt.Errorf("nothing to say")
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.ToUpper(in.Text) + " " + os.Getenv("TOKEN")}}}, nil, nil
	})
	if len(os.Args) > 1 && os.Args[1] == "asking" {
		asking(s)
	}
	s.AddResource(&mcp.Resource{URI: "note://one", Name: "a note", MIMEType: "text/plain"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "note://one", MIMEType: "text/plain", Text: "remember the milk"}}}, nil
	})
	code := 0
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		code = 1
	}
	syscall.Exit(code) // with the race detector os.Exit waits a second, which each client would, too
}

// asking gives a server tools that ask the person, and the model.
func asking(s *mcp.Server) {
	tool := func(name string, ask mcp.InputRequest) {
		s.AddTool(&mcp.Tool{Name: name, Description: "Asks.", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if r.Params.InputResponses == nil {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": ask}}, nil
			}
			raw, err := json.Marshal(r.Params.InputResponses["q"])
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}}, err
		})
	}
	tool("form", &mcp.ElicitParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","minLength":2,"maxLength":9},"age":{"type":"integer","minimum":18}},"required":["name"]}`)})
	tool("roots", &mcp.ListRootsParams{})
	tool("think", &mcp.CreateMessageParams{MaxTokens: 10, SystemPrompt: "Be short.", Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Q"}}}})
}

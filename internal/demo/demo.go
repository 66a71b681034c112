// Package demo is what adze shows without a key: a small Go module with a test that fails, a
// script in the place of a model that repairs it, and the rules under which it may.
package demo

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/llm/script"
	"github.com/adze-agent/adze/internal/text/hint"
)

//go:embed files
var files embed.FS

// Prompt is what the model is asked.
const Prompt = "The test in this module fails. Find out why and fix it."

// Target is the script. version is that of adze.
func Target(version string) (*agent.Target, error) {
	text, err := files.ReadFile("files/script.txt")
	if err != nil {
		return nil, err
	}
	s, err := script.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("the demo's script: %w", err)
	}
	return &agent.Target{Model: script.New(s, script.Config{Version: version}), Provider: "script", Name: "demo"}, nil
}

// Flags allow what the demo does, as a person would on the command line. Its commands are
// known, so no sandbox is around them: the builds of a new one are cold, and would take most
// of the time.
func Flags() []config.Given {
	return []config.Given{
		{Key: "sandbox.enabled", Value: false, From: "--sandbox"},
		{Key: "permissions.allow", Value: []string{"Bash(go test:*)"}, From: "--allowed-tools"},
		{Key: "permissions.defaultMode", Value: "acceptEdits", From: "--permission-mode"},
	}
}

// Module writes the module into a folder, or with "" into a new one below temp, and returns
// where it is. A folder that is not empty is left alone.
func Module(dir, temp string) (string, error) {
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp(temp, "adze-demo-")
	} else if err = os.MkdirAll(dir, 0o755); err == nil {
		if old, _ := os.ReadDir(dir); len(old) > 0 {
			return "", &hint.Mistake{Why: dir + " is not empty", What: "give an empty folder"}
		}
	}
	if err != nil {
		return "", fmt.Errorf("make a folder for the demo: %w", err)
	}
	all := map[string]string{"go.mod": "module example.com/calc\n\ngo 1.21\n"}
	for _, name := range []string{"calc.go", "calc_test.go"} {
		b, err := files.ReadFile("files/" + name + ".txt")
		if err != nil {
			return "", err
		}
		all[name] = string(b)
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", fmt.Errorf("write the demo's module: %w", err)
		}
	}
	return filepath.Abs(dir)
}

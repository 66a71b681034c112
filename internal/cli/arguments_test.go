package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArrange(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a", "b c", "models"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("s.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	words := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, "|")
	}
	for _, tt := range []struct{ line, want, doubt string }{
		{line: "-p|hi", want: "-p|hi"},
		{line: "-p|--allowedTools|Read|Edit|fix it", want: "-p|--allowed-tools=Read|--allowed-tools=Edit|fix it"},
		{line: "-p|--allowedTools|Bash(git log:*) Read|Edit,Write|fix", want: "-p|--allowed-tools=Bash(git log:*) Read|--allowed-tools=Edit,Write|fix"},
		{line: "-p|fix it|--allowedTools|Read|Edit|whatever", want: "-p|fix it|--allowed-tools=Read|--allowed-tools=Edit|--allowed-tools=whatever"},
		{line: "-p|--allowedTools|Read|Read the file", want: "-p|--allowed-tools=Read|Read the file"},
		{line: "-p|--allowedTools|Read|/review", want: "-p|--allowed-tools=Read|/review"},
		{line: "-p|--allowedTools|Read|Explain", doubt: "Explain"},
		{line: "-p|--allowedTools|Read|bash", doubt: "bash"},
		{line: "-p|--disallowedTools|Read|Raed Edit", doubt: "Raed Edit"},
		{line: "-p|--disallowedTools|Read|TaskCreate|mcp__a__b|go on", want: "-p|--disallowed-tools=Read|--disallowed-tools=TaskCreate|--disallowed-tools=mcp__a__b|go on"},
		{line: "-p|--tools||hi", want: "-p|--tools=|hi"},
		{line: "-p|--tools|default|hi", want: "-p|--tools=default|hi"},
		{line: "--allowedTools=Read|Edit|-p", want: "--allowedTools=Read|Edit|-p"},
		{line: "--allowed|Read|-p|--disallowed|Edit|--|Bash", want: "--allowed-tools=Read|-p|--disallowed-tools=Edit|--|Bash"},
		{line: "-p|--add-dir|a|b c|do it", want: "-p|--add-dir=a|--add-dir=b c|do it"},
		{line: "-p|--add-dir|nowhere|do it", want: "-p|--add-dir=nowhere|do it"},
		{line: "-p|--add-dir|a|nowhere", doubt: "nowhere"},
		{line: "-p|do it|--add-dir|a|nowhere", want: "-p|do it|--add-dir=a|--add-dir=nowhere"},
		{line: "--add-dir|a|doctor", want: "--add-dir=a|doctor"},
		{line: "--add-dir|a|--mcp-config|s.json|{}|x.json|do it", want: "--add-dir=a|--mcp-config=s.json|--mcp-config={}|--mcp-config=x.json|do it"},
		{line: "-p|--betas|context-1m-2025-08-07|other-2026-01-01|do it", want: "-p|--betas=context-1m-2025-08-07|--betas=other-2026-01-01|do it"},
		{line: "-p|--betas|one|two", doubt: "two"},
		{line: "-pc|--model|a|do it|--add-dir|a|-r", want: "-pc|--model|a|do it|--add-dir=a|--resume=" + whichSession},
		{line: "-C|a|-n|name|--add-dir|a", want: "-C|a|-n|name|--add-dir=a"},
		{line: "--debug|tool,model|hi", want: "--debug=tool,model|hi"},
		{line: "--debug|hi there", want: "--debug|hi there"},
		{line: "--prompt-suggestions|false|hi", want: "--prompt-suggestions=false|hi"},
		{line: "permissions|check|--allowed-tools|Read|Edit", want: "permissions|check|--allowed-tools|Read|Edit"},
		{line: "mcp|add|x|--|prog|--add-dir|a|b", want: "mcp|add|x|--|prog|--add-dir|a|b"},
		{line: "--allowed-tools", want: "--allowed-tools"},
		{line: "--nosuch|x|-p", want: "--nosuch|x|-p"},
		{line: "-p|- item one\n- item two", want: "-p|--|- item one\n- item two"},
		{line: "-p|- a|--model|m|b|-c", want: "-p|--model|m|-c|--|- a|b"},
		{line: "- a|--|-c", want: "--|- a|-c"},
		{line: "-p|-1 is less than 0|-C|a", want: "-p|-C|a|--|-1 is less than 0"},
		{line: "-p|--- a/f\n+++ b/f", want: "-p|--|--- a/f\n+++ b/f"},
		{line: "-p|--nosuch=be brief", want: "-p|--nosuch=be brief"},
		{line: "--append-system-prompt|- be brief|-p|x", want: "--append-system-prompt|- be brief|-p|x"},
		{line: "", want: ""},
	} {
		got, err := arrange(newRoot(System{}), words(tt.line))
		switch {
		case tt.doubt != "":
			if err == nil || !strings.Contains(err.Error(), `"`+tt.doubt+`" stands behind --`) {
				t.Errorf("%s: %v, %v", tt.line, got, err)
			}
		case err != nil || !slices.Equal(got, words(tt.want)):
			t.Errorf("%s:\n%s\n%s %v", tt.line, strings.Join(got, "|"), tt.want, err)
		}
	}
}

// Whatever the words are, none is lost, and none is made.
func FuzzArrange(f *testing.F) {
	for _, s := range []string{"-p\x00--allowedTools\x00Read\x00fix it", "--add-dir\x00a\x00b", "-pcr\x00x", "--debug\x00all\x00--", "-\x00--\x00-x"} {
		f.Add(s)
	}
	root := newRoot(System{})
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		got, err := arrange(root, args)
		if err != nil {
			return
		}
		text := strings.Join(got, "\x00")
		for _, w := range args {
			if w != "" && w[0] != '-' && !strings.Contains(text, w) {
				t.Errorf("%q lost %q: %q", args, w, got)
			}
		}
	})
}

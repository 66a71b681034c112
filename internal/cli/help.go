package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/text/near"
)

// helpWidth is how wide help is at most, in characters.
const helpWidth = 80

// setHelp makes --help and "adze help" ours: a command shows its own flags,
// and one line leads to those that all commands have.
func setHelp(root *cobra.Command, sys System, f *runFlags) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(c.OutOrStdout(), c) })
	root.SetHelpCommand(newHelp(root, sys, f))
}

// topics are what help knows besides commands.
var topics = []string{"flags", "environment"}

func newHelp(root *cobra.Command, sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Explain a command, the flags, or the environment",
		Long:      "help explains a command.\n\n  adze help flags          the flags that all commands have\n  adze help environment    variables, files and exit codes",
		ValidArgs: topics,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && args[0] == "flags":
				fmt.Fprint(sys.Stdout, "Flags of adze and of all its commands. Each has an environment form:\n--max-turns 3 is ADZE_MAX_TURNS=3.\n\n")
				writeFlags(sys.Stdout, shownFlags(root.PersistentFlags()))
				return nil
			case len(args) == 1 && args[0] == "environment":
				return helpEnvironment(sys, f, root)
			}
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				name := strings.Join(args, " ")
				if c == nil {
					c = root
				}
				hint := "adze help lists the commands"
				if ws := near.Words(args[len(args)-1], append(commandNames(c), topics...)); len(ws) > 0 {
					hint = "did you mean " + strings.TrimSuffix("adze help "+strings.TrimPrefix(c.CommandPath(), "adze"), " ") + " " + strings.Join(ws, " or ") + "?"
					hint = strings.ReplaceAll(hint, "  ", " ")
				}
				if at := strings.TrimSpace("adze help " + under(c)); hint == "adze help lists the commands" && c != root {
					hint = at + " explains all of it"
				} else if slices.Contains(topics, args[0]) {
					hint = "adze help flags, or adze help environment"
				}
				return usagef(hint, "there is no command %q", name)
			}
			writeHelp(sys.Stdout, c)
			return nil
		},
	}
}

// writeHelp is the help of one command.
func writeHelp(w io.Writer, c *cobra.Command) {
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(w, "%s\n\nusage: %s\n", strings.TrimSpace(text), usageLine(c))
	rows := [][2]string{}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			rows = append(rows, [2]string{sub.Name(), sub.Short})
		}
	}
	if len(rows) > 0 {
		fmt.Fprint(w, "\ncommands:\n")
		writeRows(w, rows)
	}
	if !c.HasParent() {
		fmt.Fprint(w, "\nflags of every day:\n")
		writeFlags(w, everyDay(c.PersistentFlags()))
		fmt.Fprint(w, "\nadze help flags          all flags\nadze help environment    variables, files and exit codes\nadze help COMMAND        one command\n")
		return
	}
	if lines := examples[under(c)]; len(lines) > 0 {
		fmt.Fprintf(w, "\nfor example:\n  %s\n", strings.Join(lines, "\n  "))
	}
	if own := ownFlags(c); len(own) > 0 {
		fmt.Fprint(w, "\nflags:\n")
		writeFlags(w, own)
	}
	fmt.Fprint(w, "\nFlags that all commands have: adze help flags\n")
}

func usageLine(c *cobra.Command) string {
	line := c.CommandPath() + strings.TrimPrefix(c.Use, c.Name())
	switch {
	case c.HasAvailableSubCommands() && c.HasParent():
		line += " COMMAND"
	case len(ownFlags(c)) > 0 && !strings.Contains(line, "[flags]"):
		line += " [flags]"
	}
	return line
}

// ownFlags are the flags that only c has.
func ownFlags(c *cobra.Command) []*pflag.Flag { return shownFlags(c.LocalNonPersistentFlags()) }

func shownFlags(fs *pflag.FlagSet) (out []*pflag.Flag) {
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "version" {
			out = append(out, f)
		}
	})
	return out
}

// everyDay are the flags that most people need.
func everyDay(fs *pflag.FlagSet) (out []*pflag.Flag) {
	for _, name := range []string{"print", "continue", "resume", "model", "permission-mode", "allowed-tools", "add-dir", "cwd", "output-format", "max-turns", "max-budget-usd"} {
		out = append(out, fs.Lookup(name))
	}
	return out
}

func writeFlags(w io.Writer, flags []*pflag.Flag) {
	rows := make([][2]string, 0, len(flags))
	for _, f := range flags {
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		switch word := valueWord(f); {
		case f.NoOptDefVal != "" && word != "":
			name += "[=" + word + "]"
		case word != "":
			name += " " + word
		}
		usage := f.Usage
		if d := f.DefValue; d != "" && d != "false" && d != "[]" && d != "0" {
			usage += " (" + d + ")"
		}
		rows = append(rows, [2]string{name, usage})
	}
	writeRows(w, rows)
}

// writeRows sets two columns; the second is folded.
func writeRows(w io.Writer, rows [][2]string) {
	const most = 30 // characters of the first column
	width := 0
	for _, r := range rows {
		if n := len(r[0]); n <= most {
			width = max(width, n)
		}
	}
	for _, r := range rows {
		lines := fold(r[1], helpWidth-width-4)
		if len(r[0]) > width {
			fmt.Fprintf(w, "  %s\n", r[0])
		} else {
			fmt.Fprintf(w, "  %-*s  %s\n", width, r[0], lines[0])
			lines = lines[1:]
		}
		for _, l := range lines {
			fmt.Fprintf(w, "  %-*s  %s\n", width, "", l)
		}
	}
}

// fold breaks a text at blanks.
func fold(s string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(s) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len([]rune(*last))+1+len([]rune(word)) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// words are what a flag's value is called where its type does not say it.
var words = map[string]string{
	"add-dir": "DIR", "worktree": "NAME", "allowed-tools": "RULES", "disallowed-tools": "RULES", "tools": "NAMES", "append-system-prompt-file": "FILE", "system-prompt-file": "FILE",
	"cwd": "DIR", "debug": "AREAS", "effort": "LEVEL", "model": "MODEL", "fallback-model": "MODEL", "small-model": "MODEL", "input-format": "FORMAT",
	"output-format": "FORMAT", "format": "FORMAT", "detail": "DETAIL", "json-schema": "SCHEMA", "log-file": "FILE", "key-file": "FILE", "output": "FILE", "batch": "FILE",
	"settings": "FILE", "setting-sources": "SOURCES", "permission-mode": "MODE", "mode": "MODE", "permission-prompt-tool": "stdio", "resume": "SESSION",
	"session-id": "UUID", "name": "NAME", "sandbox": "STATE", "max-budget-usd": "USD", "max-turns": "N", "token-budget": "TOKENS", "scope": "SCOPE", "to": "LIST", "dir": "DIR", "revoke": "DIR",
	"allow": "RULE", "ask": "RULE", "deny": "RULE", "mechanism": "NAME", "from": "PROGRAM", "limit": "N", "days": "N", "by": "KIND", "html": "FILE", "tool": "NAME", "input": "JSON", "only": "KIND",
	"set": "NAME=VALUE", "description": "WORDS", "mcp-config": "FILE", "timeout": "DURATION", "plugin-dir": "DIR", "agents": "JSON", "agent": "NAME", "transport": "TYPE", "env": "NAME=VALUE", "header": "HEADER", "headers-helper": "COMMAND", "client-id": "ID", "callback-port": "PORT", "http": "ADDRESS", "answer": "JSON", "session": "SESSION",
}

// wordOf annotates a flag whose value has another word than those of its name.
const wordOf = "word"

// valueWord says in a word what a flag takes, "" for one that takes nothing.
func valueWord(f *pflag.Flag) string {
	if f.Value.Type() == "bool" {
		return ""
	}
	if w := f.Annotations[wordOf]; len(w) > 0 {
		return w[0]
	}
	if w := words[f.Name]; w != "" {
		return w
	}
	switch k, ok := config.ByFlag(f.Name); {
	case !ok:
	case k.Kind == config.Int, k.Kind == config.Number:
		return "N"
	case k.Kind == config.Bool:
		return "" // true where nothing is said
	}
	return "TEXT"
}

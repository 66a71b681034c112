package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/intake"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
)

// shells are those that completion scripts are written for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(sys System) *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the completion script of a shell", ValidArgs: shells,
		Long: `completion prints a script that completes commands, flags and their values.

  bash         source <(adze completion bash)       # no other package is needed
  zsh          adze completion zsh > "${fpath[1]}/_adze"
  fish         adze completion fish > ~/.config/fish/completions/adze.fish
  powershell   adze completion powershell | Out-String | Invoke-Expression`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("adze completion SHELL, with one of "+strings.Join(shells, ", "), "which shell?")
			}
			switch root := cmd.Root(); args[0] {
			case "bash":
				if _, err := io.WriteString(sys.Stdout, bashAlone); err != nil {
					return err
				}
				return root.GenBashCompletionV2(sys.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(sys.Stdout)
			case "fish":
				return root.GenFishCompletion(sys.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(sys.Stdout)
			}
			return usagef("one of "+strings.Join(shells, ", "), "there is no completion for %q%s", args[0], near.Hint(args[0], shells))
		},
	}
}

// bashAlone defines what the script needs of the package bash-completion, where that is
// not there (containers, macOS): the words of the line, joined again where bash cut them
// at : or =, of which there are none here that completion could give.
const bashAlone = `# adze: without the package bash-completion
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        words=("${COMP_WORDS[@]}")
        cword=$COMP_CWORD
        cur=${COMP_WORDS[COMP_CWORD]}
        prev=
        if ((COMP_CWORD > 0)); then prev=${COMP_WORDS[COMP_CWORD-1]}; fi
    }
fi
`

// A completer names values that can stand where the cursor is.
type completer func(cmd *cobra.Command) []string

func (list completer) flag(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return list(cmd), cobra.ShellCompDirectiveNoFileComp
}

// arg completes the first argument only.
func (list completer) arg(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return list(cmd), cobra.ShellCompDirectiveNoFileComp
}

func fixed(values ...string) completer { return func(*cobra.Command) []string { return values } }

// completeValues ties flags and arguments to what they can be. Nothing here
// asks a server, or says what is wrong: the shell has no place for it.
func completeValues(root *cobra.Command, sys System, f *runFlags) {
	models := completer(func(cmd *cobra.Command) []string { return modelNames(sys, f, cmd) })
	known := completer(func(cmd *cobra.Command) []string { return sessionNames(sys, f, cmd) })
	modes := fixed(policy.ModeNames()...)
	formats := fixed("text", "json", "stream-json")
	flags := map[string]completer{
		"model": models, "fallback-model": models, "small-model": models, "permission-mode": modes, "mode": modes, "output-format": formats,
		"input-format": fixed("text", "stream-json"), "effort": fixed("none", "low", "medium", "high", "xhigh", "max"), "resume": known, "sandbox": fixed("on", "off", "strict"),
		"setting-sources": fixed("user", "project", "local"), "permission-prompt-tool": fixed("stdio"), "debug": fixed(append([]string{"all"}, app.DebugAreas...)...),
		"scope": fixed("user", "project", "local"), "to": listOrPrompt(sys, f), "by": fixed("model", "project", "day", "tool", "agent"), "from": fixed(intake.Agents()...),
		"only": fixed(intake.Kinds...), "transport": fixed("stdio", "http", "sse", "ws"), "tool": toolNames, "tools": toolNames,
		"agent":  func(cmd *cobra.Command) []string { return agentNames(sys, f, cmd) },
		"revoke": func(cmd *cobra.Command) []string { return trustedFolders(sys, f, cmd) }, "format": fixed("md", "html", "json", "jsonl"), "mechanism": fixed("bwrap", "landlock", "seatbelt"),
	}
	running := completer(func(cmd *cobra.Command) []string { return runningNames(sys, f, cmd) })
	servers := completer(func(cmd *cobra.Command) []string { return serverNames(sys, f, cmd) })
	plugins := completer(func(cmd *cobra.Command) []string { return pluginNames(sys, f, cmd) })
	shops := completer(func(cmd *cobra.Command) []string { return marketplaceNames(sys, f, cmd) })
	args := map[string]completer{
		"adze mcp get": servers, "adze mcp login": servers, "adze mcp logout": servers, "adze mcp approve": servers, "adze mcp remove": servers, "adze mcp tools": servers,
		"adze mcp resources": servers, "adze mcp read": servers, "adze mcp info": servers, "adze plugin enable": plugins, "adze plugin disable": plugins,
		"adze plugin uninstall": plugins, "adze plugin update": plugins, "adze plugin marketplace update": shops, "adze plugin marketplace remove": shops,
		"adze hooks test": hookEvents, "adze permissions rm": func(cmd *cobra.Command) []string { return ruleTexts(sys, f, cmd) },
		"adze rewind": known, "adze diff": known, "adze config describe": settingNames,
		"adze config get": settingNames, "adze config unset": settingNames,
		"adze login":  func(cmd *cobra.Command) []string { return providerNames(sys, f, cmd) },
		"adze logout": func(cmd *cobra.Command) []string { return providerNames(sys, f, cmd) },
		"adze attach": running, "adze tail": running, "adze send": running,
		"adze sessions show": known, "adze sessions rm": known, "adze export": known, "adze models": models,
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for name, list := range flags {
			if name == "scope" && c.CommandPath() == "adze skills new" {
				list = fixed("user", "project")
			}
			if fl := c.LocalFlags().Lookup(name); fl != nil {
				_ = c.RegisterFlagCompletionFunc(name, list.flag) // one that is registered is registered
			}
		}
		switch list, ok := args[c.CommandPath()]; {
		case c.CommandPath() == "adze config set":
			c.ValidArgsFunction = settingAndValue(sys, f)
		case c.CommandPath() == "adze help":
			c.ValidArgsFunction, c.ValidArgs = commandsBelow, nil
		case ok:
			c.ValidArgsFunction = list.arg
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

func settingNames(*cobra.Command) (out []string) {
	for _, k := range config.Table() {
		if !strings.Contains(k.Name, "*") {
			out = append(out, k.Name+"\t"+k.Doc)
		}
	}
	return out
}

// chooserOf is the chooser of the settings here, nil when there is none.
func chooserOf(sys System, f *runFlags, cmd *cobra.Command) *choose.Chooser {
	_, ch, _ := keyHolders(cmd, sys, f) // completion says no errors
	return ch
}

func modelNames(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	ch := chooserOf(sys, f, cmd)
	if ch == nil {
		return nil
	}
	for _, r := range ch.Known() {
		out = append(out, fmt.Sprintf("%s/%s\t%s", r.Provider, r.Model, r.Facts.Name))
		for _, a := range r.Aliases {
			out = append(out, a+"\t"+r.Provider+"/"+r.Model)
		}
	}
	return out
}

func providerNames(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	ch := chooserOf(sys, f, cmd)
	if ch == nil {
		return nil
	}
	for _, k := range ch.Keyed() {
		out = append(out, k.Name)
	}
	return out
}

// runningNames are the sessions that run.
func runningNames(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	all, _, err := reached(sys, f, cmd, ask.Watch)
	if err != nil {
		return nil
	}
	defer all.Close()
	for _, s := range all {
		out = append(out, s.ID+"\t"+clip.Line(clip.Clean(s.Title), 60))
	}
	return out
}

func sessionNames(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	p, _, err := loadSettings(sys, f, cmd)
	if err != nil {
		return nil
	}
	list, err := sessions.In(p.State).List(cmd.Context(), sessions.Key(p.Root))
	if err != nil {
		return nil
	}
	for _, i := range list {
		out = append(out, i.ID+"\t"+clip.Line(clip.Clean(i.Name()), 60))
	}
	return out
}

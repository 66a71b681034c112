package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/rewind"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
)

func toolNames(*cobra.Command) []string { return policy.Tools() }

func hookEvents(*cobra.Command) (out []string) {
	for _, e := range hook.Events() {
		out = append(out, string(e))
	}
	return out
}

// commandsBelow completes the words behind "adze help": commands, theirs, and topics.
func commandsBelow(cmd *cobra.Command, args []string, _ string) (out []string, _ cobra.ShellCompDirective) {
	c, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			out = append(out, sub.Name()+"\t"+sub.Short)
		}
	}
	if len(args) == 0 {
		out = append(out, topics...)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// settingAndValue completes the key, then what that key takes.
func settingAndValue(sys System, f *runFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return settingNames(cmd), cobra.ShellCompDirectiveNoFileComp
		case 1:
			return settingValues(sys, f, cmd, args[0]), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func settingValues(sys System, f *runFlags, cmd *cobra.Command, key string) []string {
	keys := config.Keys(key)
	if len(keys) != 1 {
		return nil
	}
	switch k := keys[0]; {
	case k.Kind == config.Bool, k.Kind == config.Off:
		return []string{"true", "false"}
	case len(k.Enum) > 0:
		return k.Enum
	case slices.Contains([]string{"model", "small_model", "fallback_model"}, k.Name):
		return modelNames(sys, f, cmd)
	case k.Name == "ui.theme":
		return append([]string{"auto"}, draw.ThemeNames()...)
	case k.Name == "agent":
		return agentNames(sys, f, cmd)
	case k.Name == "output_style":
		return styleNames(sys, f, cmd)
	case k.Name == "tools.allowed", k.Name == "tools.disallowed":
		return policy.Tools()
	}
	return nil
}

// listOrPrompt completes --to: the list of a rule, or the prompt that a rewind goes back to.
func listOrPrompt(sys System, f *runFlags) completer {
	return func(cmd *cobra.Command) (out []string) {
		if cmd.Name() != "rewind" {
			return []string{"allow", "ask", "deny"}
		}
		st, i, err := findSession(sys, f, cmd, cmd.Flags().Args()...)
		if err != nil {
			return nil
		}
		prompts, err := rewind.Prompts(cmd.Context(), st, i, sys.Environ)
		if err != nil {
			return nil
		}
		for n, p := range prompts {
			out = append(out, fmt.Sprintf("%d\t%s", n+1, clip.Line(clip.Clean(p.Text), 60)))
		}
		return out
	}
}

// world is what extensions are read with; nil where settings cannot be read.
func (f *runFlags) world(sys System, cmd *cobra.Command) *ext.FolderConfig {
	o, live, err := f.opened(sys, cmd)
	if err != nil {
		return nil
	}
	c := o.Offered(live)
	return &c
}

func agentNames(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	if c := f.world(sys, cmd); c != nil {
		lib, _ := ext.Library(*c)
		for _, d := range lib.Agents() {
			out = append(out, d.Name+"\t"+clip.Line(clip.Clean(d.Description), 60))
		}
	}
	return out
}

func styleNames(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	if c := f.world(sys, cmd); c != nil {
		lib, _ := ext.Library(*c)
		for _, s := range lib.Styles() {
			out = append(out, s.Name)
		}
	}
	return out
}

func serverNames(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	if c := f.world(sys, cmd); c != nil {
		for _, s := range c.Live.Servers(settings.Servers{}).Servers {
			out = append(out, s.Name)
		}
	}
	return out
}

func pluginNames(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	s, err := f.shop(sys, cmd)
	if err != nil {
		return nil
	}
	list, err := s.store.Installed()
	if err != nil {
		return nil
	}
	for _, p := range list {
		out = append(out, p.ID())
	}
	return out
}

func marketplaceNames(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	s, err := f.shop(sys, cmd)
	if err != nil {
		return nil
	}
	list, err := s.store.Markets()
	if err != nil {
		return nil
	}
	for _, m := range list {
		out = append(out, m.Name)
	}
	return out
}

func trustedFolders(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	p, _, err := loadSettings(sys, f, cmd)
	if err != nil {
		return nil
	}
	list, err := p.Trust().List()
	if err != nil {
		return nil
	}
	for _, r := range list {
		out = append(out, r.Path)
	}
	return out
}

// ruleTexts are the rules of the list that --to names.
func ruleTexts(sys System, f *runFlags, cmd *cobra.Command) (out []string) {
	_, cfg, err := loadSettings(sys, f, cmd)
	if err != nil {
		return nil
	}
	to, _ := cmd.Flags().GetString("to")
	rules := map[string][]config.Rule{"allow": cfg.Permissions.Allow, "ask": cfg.Permissions.Ask, "deny": cfg.Permissions.Deny}[to]
	for _, r := range rules {
		if !strings.Contains(r.Text, "\n") {
			out = append(out, r.Text)
		}
	}
	return out
}

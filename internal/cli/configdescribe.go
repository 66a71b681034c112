package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/text/hint"
)

// takesHint is where what a setting takes is said.
func takesHint(key string) string {
	if strings.HasPrefix(key, "permissions.") {
		return "adze help permissions says what a rule is; adze config describe " + hint.Shell(key) + " what the setting takes"
	}
	if len(config.Keys(key)) == 0 {
		return "adze config describe says what each setting takes"
	}
	return "adze config describe " + hint.Shell(key) + " says what it takes"
}

func configDescribe(sys System) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "describe [KEY]", Short: "Say what settings take, what they do, and when a change counts", Args: cobra.MaximumNArgs(1),
		Long: "describe says of a setting, of all below a section (sandbox.network), or of every one\nwhat it does, which values it takes, what counts while it is not set, which files may\nset it, and when a change counts in a session that runs.",
	}, func(_ *cobra.Command, args []string) (answer, error) {
		keys := config.Table()
		if len(args) == 1 {
			if keys = config.Keys(args[0]); len(keys) == 0 {
				return nil, unknownKey(args[0])
			}
		}
		var rows []described
		for _, k := range keys {
			rows = append(rows, described{k.Name, k.Takes(), k.Unset(), k.Doc, k.From(), string(k.When), k.Flag, k.Env(), k.Absent})
		}
		return both{rows, func() error {
			for i, r := range rows {
				if i > 0 {
					fmt.Fprintln(sys.Stdout)
				}
				r.print(sys)
			}
			return nil
		}}, nil
	})
}

// A described is what is said of a setting.
type described struct {
	Key      string `json:"key"`
	Takes    string `json:"takes"`
	Unset    string `json:"unset,omitempty"` // the value that counts then, as JSON
	Meaning  string `json:"meaning"`
	SetBy    string `json:"set_by"`
	Counts   string `json:"counts"`
	Flag     string `json:"flag,omitempty"`
	Variable string `json:"variable,omitempty"`
	Absent   string `json:"not_in_this_version,omitempty"`
}

func (d described) print(sys System) {
	fmt.Fprintf(sys.Stdout, "%s\n", d.Key)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(sys.Stdout, "  %-8s%s\n", name, wrapBelow(text, 10, sys.columns()))
		}
	}
	line("does", d.Meaning)
	line("takes", d.Takes)
	line("unset", cmp.Or(d.Unset, "nothing is set"))
	line("set by", d.SetBy)
	line("counts", d.Counts)
	if d.Flag != "" {
		line("flag", "--"+d.Flag+", or "+d.Variable)
	}
	if d.Absent != "" {
		line("note", "not in this version: "+d.Absent)
	}
}

package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/near"
)

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef(hintNear(cmd, args[0]), "there is no command %q", use+" "+args[0])
			}
			cmd.SetOut(cmd.ErrOrStderr())
			return errors.Join(cmd.Help(), &failure{code: exitUsage})
		},
	}
	c.AddCommand(subs...)
	return c
}

func hintNear(c *cobra.Command, name string) string {
	return hintFor(near.Words(name, commandNames(c)), c.CommandPath()+" ", fmt.Sprintf("%s --help", c.CommandPath()))
}

func jsonText(s string) (json.RawMessage, error) { return fastjson.Append(nil, s) }

package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/llm/choose"
)

// authStatus is how the model that a run here would ask is signed in to. The names of the
// members and of the values are those of Claude Code's "auth status", whose callers read
// them (code.claude.com/docs/en/cli-reference, 2026-11).
type authStatus struct {
	LoggedIn     bool   `json:"loggedIn"`
	AuthMethod   string `json:"authMethod"`             // api_key, auth_token, api_key_helper or none
	APIProvider  string `json:"apiProvider"`            // firstParty for Anthropic, else the provider's name; none
	APIKeySource string `json:"apiKeySource,omitempty"` // the variable or the place; never the key
}

func newAuth(sys System, f *runFlags) *cobra.Command {
	c := &cobra.Command{Use: "auth", Short: "Show how the model's provider is signed in to", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "login" || args[0] == "logout") {
				return usagef("adze login PROVIDER saves a key, adze logout PROVIDER forgets one", "%q is no command below auth: keys are saved and forgotten by provider", args[0])
			}
			return usagef(usageHint(cmd), "adze auth needs a command: status")
		}}
	text := false
	status := &cobra.Command{Use: "status", Short: "Print whether there is a key, and where it comes from", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, p, cfg, err := f.loaded(sys, cmd)
			if err != nil {
				return err
			}
			m, err := o.Models(p.Folders, cfg, !o.Print, nil)
			if err != nil {
				return openError(cmd.Context(), err)
			}
			in, err := m.SignedIn(cmd.Context(), m.Wish())
			if none := new(choose.NoModelError); err != nil && !errors.As(err, &none) {
				return err
			}
			s := statusOf(in)
			if text {
				err = writeStatus(sys, s)
			} else {
				err = printJSON(sys, s)
			}
			if err == nil && !s.LoggedIn {
				return &failure{code: exitFailed} // what was printed says why
			}
			return err
		}}
	status.Flags().BoolVar(&text, "text", false, "in words")
	status.Flags().Bool("json", true, "as JSON, which it is without this")
	c.AddCommand(status)
	return c
}

func statusOf(in choose.SignedIn) authStatus {
	s := authStatus{LoggedIn: in.Ready, AuthMethod: "none", APIProvider: in.Provider, APIKeySource: in.KeySource}
	switch {
	case in.KeySource == choose.FromHelper:
		s.AuthMethod = "api_key_helper"
	case in.KeySource != "" && in.Bearer:
		s.AuthMethod = "auth_token"
	case in.KeySource != "":
		s.AuthMethod = "api_key"
	}
	switch in.Provider {
	case "anthropic":
		s.APIProvider = "firstParty"
	case "":
		s.APIProvider = "none"
	}
	return s
}

func writeStatus(sys System, s authStatus) error {
	var err error
	switch {
	case !s.LoggedIn:
		_, err = fmt.Fprintf(sys.Stdout, "no key is set (%s)\n", s.APIProvider)
	case s.APIKeySource == "":
		_, err = fmt.Fprintf(sys.Stdout, "%s wants no key\n", s.APIProvider)
	default:
		_, err = fmt.Fprintf(sys.Stdout, "%s, with the key of %s\n", s.APIProvider, s.APIKeySource)
	}
	return err
}

package cli

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/config"
)

// fromVariable marks a flag that a variable gave its value.
const fromVariable = "adze-variable"

// namesVariables has an error speak of the variable that a value came from, and not of a flag that
// nobody gave. An error that names neither, and has the value, gets the name behind it.
func namesVariables(sys System, root *cobra.Command, err error) error {
	var own *failure
	if err == nil || !errors.As(err, &own) || own.code != exitUsage && !strings.Contains(own.cause, "--") {
		return err
	}
	said := *own
	settings := settingFlags()
	root.PersistentFlags().VisitAll(func(fl *pflag.Flag) {
		name := config.EnvName(fl.Name)
		value := sys.Env(name)
		_, isSetting := settings[fl.Name]
		if value == "" || fl.Annotations[fromVariable] == nil && (fl.Changed || !isSetting) {
			return
		}
		flag := regexp.MustCompile(`--` + regexp.QuoteMeta(fl.Name) + `\b`)
		switch {
		case flag.MatchString(said.cause):
			said.cause = flag.ReplaceAllString(said.cause, name)
		case len(value) >= 3 && said.cause == own.cause && !strings.Contains(said.cause, "--") && !strings.Contains(said.cause, "ADZE_") && strings.Contains(said.cause, value):
			said.cause += " (" + name + ")"
		}
	})
	if said.cause == own.cause {
		return err
	}
	return &said
}

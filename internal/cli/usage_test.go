package cli

import (
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/slowtest"
)

var rawWords = regexp.MustCompile(`arg\(s\)|accepts |requires |flag needs|unknown (shorthand )?flag|unknown command|invalid argument|if any flags|bad flag syntax|strconv`)

// refusal is what a person is told of a command line that is wrong.
func refusal(t *testing.T, args ...string) *failure {
	t.Helper()
	t.Chdir(t.TempDir())
	root := newRoot(System{Args: args})
	root.SetArgs(args)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	c, err := root.ExecuteContextC(context.Background())
	var f *failure
	if err = usageError(c, err); !errors.As(err, &f) {
		t.Errorf("adze %s: %v", strings.Join(args, " "), err)
		return &failure{}
	}
	if f.code != exitUsage || f.hint == "" || rawWords.MatchString(f.cause) {
		t.Errorf("adze %s: exit code %d, %q, hint %q", strings.Join(args, " "), f.code, f.cause, f.hint)
	}
	return f
}

// leaves are the commands that do something, as a person types them.
func leaves(f func(c *cobra.Command, path []string)) {
	commands(func(c *cobra.Command) {
		if c.HasParent() && !c.HasSubCommands() && c.Name() != "help" && !c.DisableFlagParsing {
			f(c, strings.Fields(under(c)))
		}
	})
}

// A command line with a wrong number of arguments is refused in our words, and
// what a command takes is what its usage line says.
func TestArgumentsAreCounted(t *testing.T) {
	looked := 0
	leaves(func(c *cobra.Command, path []string) {
		needed, most := arguments(c.Use)
		if strings.Contains(c.Use, "|") && !strings.Contains(c.Use, "JSON|-") && !strings.Contains(c.Use, "|URL|") || c.ValidateArgs(nil) == nil && c.ValidateArgs(slices.Repeat([]string{"a"}, 9)) == nil {
			return // it looks itself
		}
		looked++
		for n := range 9 {
			args := slices.Repeat([]string{"a"}, n)
			wrong := n < len(needed) || most >= 0 && n > most
			if err := c.ValidateArgs(args); (err != nil) != wrong {
				t.Errorf("adze %s with %d arguments: %v, its usage line is %q", under(c), n, err, c.Use)
			}
			if wrong && c.ValidateArgs(args) != nil { // else it would run
				if f := refusal(t, append(slices.Clone(path), args...)...); !strings.Contains(f.hint, usageLine(c)) {
					t.Errorf("adze %s: the hint %q does not say how it is used", under(c), f.hint)
				}
			}
		}
	})
	if looked < 50 {
		t.Errorf("only %d commands were looked at", looked)
	}
	for _, c := range []struct{ line, cause, hint string }{
		{"plugin install", "NAME is missing", "usage: adze plugin install NAME[@MARKETPLACE]"},
		{"sessions rm", "SESSION is missing", "usage: adze sessions rm SESSION…"},
		{"config set", "KEY and VALUE are missing", "usage: adze config set KEY VALUE [flags]"},
		{"config set max_turns", "VALUE is missing", "usage: adze config set KEY VALUE"},
		{"config get a b", `an argument too many: "b"`, "adze help config get says more"},
		{"version twice", `adze version takes no argument, such as "twice"`, "usage: adze version"},
	} {
		if f := refusal(t, strings.Fields(c.line)...); f.cause != c.cause || !strings.Contains(f.hint, c.hint) {
			t.Errorf("adze %s: %q, hint %q", c.line, f.cause, f.hint)
		}
	}
}

// Wrong flags of every command are refused in our words, and no hint names a flag
// that the command does not have.
func TestFlagsAreExplained(t *testing.T) {
	slowtest.Turn(t)
	meant := regexp.MustCompile(`did you mean (.*?)\?`)
	names, asked := map[string]bool{}, map[string]bool{}
	commands(func(c *cobra.Command) { c.Flags().VisitAll(func(f *pflag.Flag) { names[f.Name] = true }) })
	leaves(func(c *cobra.Command, path []string) {
		line := func(args ...string) []string { return append(slices.Clone(path), args...) }
		refusal(t, line("--zzzz")...)
		refusal(t, line("-Z")...)
		refusal(t, line("--=x")...)
		refusal(t, line("--verbose=x")...)
		refusal(t, line("--max-turns")...)
		has := "" // hints go by what flags there are: those of the same flags are asked once
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { has += " " + f.Name })
		for name := range names {
			if asked[has] {
				break
			}
			if c.Flags().Lookup(name) != nil || c.InheritedFlags().Lookup(name) != nil {
				continue
			}
			for _, m := range meant.FindAllStringSubmatch(noFlag(c, "--"+name).(*failure).hint, -1) {
				for _, word := range strings.Split(m[1], " or ") {
					if n := strings.TrimPrefix(word, "--"); c.Flags().Lookup(n) == nil && c.InheritedFlags().Lookup(n) == nil {
						t.Errorf("adze %s --%s: did you mean %s, which is not there", under(c), name, word)
					}
				}
			}
		}
		asked[has] = true
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			switch {
			case f.Name == "help":
			case f.Value.Type() == "bool", f.Value.Type() == "int":
				refusal(t, line("--"+f.Name+"=x")...)
			case f.NoOptDefVal == "":
				refusal(t, line("--"+f.Name)...)
			}
		})
	})
	if f := refusal(t, "-p", "hi", "--model"); f.cause != "a value is missing: --model MODEL" {
		t.Errorf("%q", f.cause)
	}
}

// So are wrong values of the variables that stand for flags.
func TestVariablesAreExplained(t *testing.T) {
	looked := 0
	newRoot(System{}).PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if kind := f.Value.Type(); kind != "bool" && kind != "int" || f.Name == "help" || f.Name == "version" {
			return
		}
		looked++
		name := config.EnvName(f.Name)
		root := newRoot(System{})
		var bad *failure
		err := fromEnvironment(System{Environ: []string{name + "=maybe"}}, root.PersistentFlags())
		if !errors.As(err, &bad) || bad.code != exitUsage || bad.hint == "" || rawWords.MatchString(bad.cause) || !strings.HasPrefix(bad.cause, name+" cannot be") {
			t.Errorf("%s=maybe: %v", name, err)
		}
	})
	if looked < 8 {
		t.Errorf("only %d flags were looked at", looked)
	}
}

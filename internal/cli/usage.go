package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/pattern"
)

var (
	unknownFlag    = pattern.Lazy(`^unknown (?:shorthand )?flag: (?:'.' in )?(-[^ ]*)`)
	unknownCommand = pattern.Lazy(`^unknown command "([^"]+)"`)
	togetherFlags  = pattern.Lazy(`^if any flags in the group \[([^\]]+)\]`)
)

// usageError turns the flag library's errors of the command c into ours: exit
// code 2, the nearest names, and how the command is used.
func usageError(c *cobra.Command, err error) error {
	var own *failure
	if err == nil || errors.As(err, &own) {
		return err
	}
	var value *pflag.InvalidValueError
	var none *pflag.ValueRequiredError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &value):
		return usagef(explains(c, value.GetFlag()), "--%s cannot be %q: it takes %s", value.GetFlag().Name, value.GetValue(), typeWords(value.GetFlag()))
	case errors.As(err, &none):
		return usagef(explains(c, none.GetFlag()), "a value is missing: --%s %s", none.GetFlag().Name, valueWord(none.GetFlag()))
	case errors.As(err, &syntax):
		return usagef(explains(c, nil), "%q is no flag", syntax.GetSpecifiedFlag())
	}
	s := err.Error()
	if m := unknownFlag().FindStringSubmatch(s); m != nil {
		return noFlag(c, m[1])
	}
	if m := unknownCommand().FindStringSubmatch(s); m != nil {
		return usagef(hintFor(near.Words(m[1], commandNames(c.Root())), "adze ", `adze --help`), "there is no command %q", m[1])
	}
	if m := togetherFlags().FindStringSubmatch(s); m != nil {
		return usagef("leave out all but one; "+explains(c, nil), "these exclude each other: --%s", strings.Join(strings.Fields(m[1]), ", --"))
	}
	return err
}

// noFlag says that a command has no such flag, and which it may be.
func noFlag(c *cobra.Command, given string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(given, "-"), "=")
	var there []string
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			there = append(there, f.Name)
		}
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	like := near.Words(name, there)
	if len(like) == 0 { // --dir: a part of one
		like = slices.DeleteFunc(there, func(f string) bool { return !slices.Contains(strings.Split(f, "-"), name) })
	}
	hint := hintFor(like, "--", "adze help flags")
	of := ""
	if c.HasParent() {
		of = c.CommandPath() + " has no flag "
		if len(ownFlags(c)) > 0 {
			hint = hintFor(like, "--", "adze help "+under(c))
		}
	}
	return usagef(hint, "%s%s", cmp.Or(of, "there is no flag "), clip.Visible(given))
}

// explains is where a flag of a command is explained; nil is any.
func explains(c *cobra.Command, f *pflag.Flag) string {
	if f != nil && f.Hidden {
		return "give it such a value, or leave --" + f.Name + " out"
	}
	if !c.HasParent() || f != nil && c.Root().PersistentFlags().Lookup(f.Name) == f {
		return "adze help flags says what each flag takes"
	}
	return usageHint(c)
}

// usageHint is how a command is used, and where more stands.
func usageHint(c *cobra.Command) string {
	return "usage: " + usageLine(c) + "; adze help " + under(c) + " says more"
}

// under is what a command is called below adze.
func under(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().CommandPath()+" ")
}

// inOurWords has every command below c explained, and makes it say itself which
// arguments are missing, or too many.
func inOurWords(c *cobra.Command) {
	for _, sub := range c.Commands() {
		inOurWords(sub)
	}
	if c.Long == "" {
		c.Long = explanations[under(c)]
	}
	check := c.Args
	if check == nil || !c.HasParent() {
		return
	}
	c.Args = func(c *cobra.Command, given []string) error {
		err := check(c, given)
		if own := new(failure); err == nil || errors.As(err, &own) {
			return err
		}
		return miscounted(c, given)
	}
}

// miscounted says what of a command's arguments is missing, or too many.
func miscounted(c *cobra.Command, given []string) error {
	needed, allowed := arguments(c.Use)
	switch {
	case len(given) < len(needed):
		return usagef(usageHint(c), "%s", missing(needed[len(given):]))
	case allowed == 0:
		return usagef(usageHint(c), "%s takes no argument, such as %q", c.CommandPath(), clip.Line(given[0], 80))
	}
	return usagef(usageHint(c), "an argument too many: %q", clip.Line(given[min(allowed, len(given)-1)], 80))
}

func missing(words []string) string {
	if len(words) == 1 {
		return words[0] + " is missing"
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1] + " are missing"
}

// arguments are what a usage line says that a command needs, and how many it
// takes at most: -1 where that has no bound.
func arguments(use string) (needed []string, most int) {
	for _, w := range strings.Fields(use)[1:] {
		name, _, _ := strings.Cut(strings.Trim(w, "[…"), "[") // of NAME[@MARKETPLACE] the name is needed
		if strings.Contains(w, "…") {
			most = -1
		}
		if most >= 0 {
			most++
		}
		if !strings.HasPrefix(w, "[") {
			needed = append(needed, name)
		}
	}
	return needed, most
}

// typeWords says what a flag of this type takes.
func typeWords(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64", "uint", "count":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 30s"
	}
	return "something else"
}

package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ext/market"
	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/text/clip"
)

// maxSecret bounds all values of a secret option, in bytes: a keyring has to take
// them as one.
const maxSecret = 8 << 10

// options are what a plugin's options are to be set to.
type options struct{ settings, secret map[string]string }

// given reads --set. A value "-" is a line of stdin.
func (s *shop) given(ctx context.Context, values []string) (map[string]string, error) {
	out := map[string]string{}
	in := bufio.NewReader(io.LimitReader(s.sys.Stdin, 1<<20))
	for _, v := range values {
		k, value, ok := strings.Cut(v, "=")
		if !ok || k == "" {
			return nil, usagef("--set url=http://localhost", "--set cannot be %q: it takes NAME=VALUE", clip.Visible(v))
		}
		if value == "-" {
			b, err := wait(ctx, func() ([]byte, error) { return in.ReadBytes('\n') })
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			value = "-" + strings.TrimRight(string(b), "\r\n")
		} else {
			value = "=" + value
		}
		if was, again := out[k]; again {
			value = plugin.Join([]string{was, value[1:]})
		}
		out[k] = value
	}
	return out, nil
}

// options checks what was given, and asks a person for what is missing.
func (s *shop) options(ctx context.Context, p plugin.Plugin, given map[string]string, yes bool) (options, error) {
	o := options{map[string]string{}, map[string]string{}}
	for _, k := range slices.Sorted(maps.Keys(given)) {
		opt, ok := p.Option(k)
		from, value := given[k][:1], given[k][1:]
		switch {
		case !ok:
			return o, usagef(optionsHint(p), "%s has no option %q", p.ID(), clip.Visible(k))
		case opt.Secret && from != "-":
			return o, usagef("--set "+k+"=- reads it from stdin", "the option %s is secret, and others see what is on a command line", k)
		}
		if strings.Contains(value, "\n") && !opt.Multiple {
			return o, usagef("give it once", "the option %s has one value", k)
		}
		switch {
		case opt.Secret && slices.Contains(plugin.Split(value), ""):
			return o, usagef("each --set "+k+"=- reads a line of stdin", "the option %s: nothing was given", k)
		case len(value) > maxSecret && opt.Secret:
			return o, usagef("give fewer", "the option %s: its values are together longer than %s", k, clip.Size(maxSecret))
		}
		if err := opt.Check(value); err != nil {
			return o, usagef("--set "+k+"=…", "the option %s: %v", k, err)
		}
		if opt.Secret {
			o.secret[k] = value
		} else {
			o.settings[k] = value
		}
	}
	miss, err := s.missing(p, o)
	if err != nil {
		return o, err
	}
	if len(miss) > 0 && (yes || !s.sys.InTTY || !s.sys.ErrTTY) {
		return o, usagef("--set "+setting(p, miss[0]), "%s needs the option %s", p.ID(), strings.Join(miss, ", "))
	}
	for _, k := range miss {
		opt, _ := p.Option(k)
		value, err := s.ask(ctx, opt)
		if err != nil {
			return o, err
		}
		if opt.Secret {
			o.secret[k] = value
		} else {
			o.settings[k] = value
		}
	}
	return o, nil
}

// missing are the options of a plugin that are required, and neither set nor in o.
func (s *shop) missing(p plugin.Plugin, o options) ([]string, error) {
	have, err := s.store.HasSecrets(p.ID())
	if err != nil {
		return nil, err
	}
	maps.Copy(have, o.secret)
	maps.Copy(have, o.settings)
	maps.Copy(have, market.Values(p, s.cfg))
	return p.Missing(have), nil
}

// setting is what --set takes for an option.
func setting(p plugin.Plugin, option string) string {
	if opt, _ := p.Option(option); opt.Secret {
		return option + "=-"
	}
	return option + "=…"
}

func optionNames(p plugin.Plugin) (out []string) {
	for _, o := range p.Options {
		out = append(out, o.Key)
	}
	return out
}

// ask asks a person for one option until it can be one.
func (s *shop) ask(ctx context.Context, o plugin.Option) (string, error) {
	question := cmp.Or(o.Title, o.Key)
	if o.About != "" {
		question += " (" + o.About + ")"
	}
	for {
		var value string
		var err error
		if o.Secret {
			value, err = readHidden(ctx, s.sys, question+" (hidden; Esc cancels): ")
		} else {
			fmt.Fprintf(s.sys.Stderr, "%s: ", question)
			value, err = keyLine(ctx, s.sys.Stdin)
		}
		if err != nil {
			return "", err
		}
		value = strings.TrimRight(value, "\r\n")
		if value == "" {
			return "", &failure{exitRefused, "nothing was given, and nothing was installed", ""}
		}
		if err = o.Check(value); err == nil {
			return value, nil
		}
		fmt.Fprintln(s.sys.Stderr, "adze: "+err.Error())
	}
}

// keep writes options: secret ones to the keyring, others to the person's
// settings.
func (s *shop) keep(ctx context.Context, id string, o options) error {
	for _, k := range slices.Sorted(maps.Keys(o.secret)) {
		at, why, err := s.store.SaveSecret(ctx, id, k, o.secret[k])
		if err != nil {
			return authError(err)
		}
		if why != nil {
			fmt.Fprintf(s.sys.Stderr, "the system keyring cannot be used: %s\n", oneLine(why.Error()))
		}
		fmt.Fprintf(s.sys.Stderr, "saved the option %s in %s\n", k, clip.Visible(string(at)))
	}
	if len(o.settings) == 0 {
		return nil
	}
	all := map[string]any{}
	maps.Copy(all, s.cfg.PluginConfigs[id].Options)
	for k, v := range o.settings {
		if all[k] = v; strings.Contains(v, "\n") {
			all[k] = plugin.Split(v)
		}
	}
	e, err := set("pluginConfigs."+id+".options", all)
	if err != nil {
		return err
	}
	return s.write(ctx, "user", e)
}

// optionsHint says which options a plugin has.
func optionsHint(p plugin.Plugin) string {
	if names := optionNames(p); len(names) > 0 {
		return "its options: " + strings.Join(names, ", ")
	}
	return "it has no options; leave --set out"
}

package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// options are userConfig, and settings of a Gemini extension.
func (r *reader) options() {
	if m, ok := r.field("userConfig"); ok {
		list, err := members(m.raw, max(m.line, 1))
		if err != nil {
			r.wrong(m, "%v", err)
		}
		for _, k := range list {
			var o struct {
				Type        string          `json:"type"`
				Title       string          `json:"title"`
				Description string          `json:"description"`
				Required    bool            `json:"required"`
				Sensitive   bool            `json:"sensitive"`
				Multiple    bool            `json:"multiple"`
				Default     json.RawMessage `json:"default"`
				Min         *float64        `json:"min"`
				Max         *float64        `json:"max"`
			}
			if err := json.Unmarshal(k.raw, &o); err != nil {
				r.wrong(m, "%s: %v", clip.Line(k.name, 60), fastjson.InWords(err))
				continue
			}
			def := scalar(o.Default)
			if list, ok := elements(o.Default); ok && o.Multiple {
				var values []string
				for _, raw := range list {
					values = append(values, scalar(raw))
				}
				def = Join(values)
			}
			r.option(m, Option{
				Key: k.name, Type: o.Type, Title: o.Title, About: o.Description, Required: o.Required, Secret: o.Sensitive, Multiple: o.Multiple, Default: def, Min: o.Min, Max: o.Max,
			})
		}
	}
	m, ok := r.field("settings")
	if r.p.Format != Gemini || !ok {
		return
	}
	list, ok := elements(m.raw)
	if !ok {
		r.wrong(m, "expected a list")
	}
	for _, raw := range list {
		var o struct {
			Name, Description, EnvVar string
			Sensitive                 bool
		}
		if json.Unmarshal(raw, &o) != nil {
			r.wrong(m, "expected {\"name\": …, \"envVar\": …}")
			continue
		}
		r.option(m, Option{Key: o.EnvVar, Title: o.Name, About: o.Description, Secret: o.Sensitive, Env: o.EnvVar})
	}
}

func (r *reader) option(m member, o Option) {
	if o.Type == "" {
		o.Type = "string"
	}
	switch {
	case !optionForm().MatchString(o.Key):
		r.wrong(m, "the key %q cannot be used: expected letters, digits and _", clip.Line(o.Key, 60))
		return
	case !slices.Contains([]string{"string", "number", "boolean", "directory", "file"}, o.Type):
		r.wrong(m, "%s: there is no type %q: string, number, boolean, directory, file", o.Key, clip.Line(o.Type, 60))
		return
	case len(r.p.Options) == maxOptions:
		r.wrong(m, "more than %d; the rest is left out", maxOptions)
		return
	case slices.ContainsFunc(r.p.Options, func(k Option) bool { return strings.EqualFold(k.Key, o.Key) }):
		r.wrong(m, "%s: there are two of that name", o.Key)
		return
	}
	o.Title, o.About = clip.Line(clip.Visible(o.Title), 200), clip.Line(clip.Visible(o.About), maxWords)
	if o.Default != "" {
		if err := o.Check(o.Default); err != nil {
			r.wrong(m, "%s: the default: %v", o.Key, err)
			o.Default = ""
		}
	}
	r.p.Options = append(r.p.Options, o)
}

// Check says why a value cannot be the option's; several are as Join makes them.
func (o Option) Check(value string) error {
	if one := o; o.Multiple && strings.Contains(value, "\n") {
		one.Multiple = false
		for v := range strings.SplitSeq(value, "\n") {
			if err := one.Check(v); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case len(value) > 8<<10:
		return errors.New("the value is too long")
	case strings.ContainsAny(value, "\x00\n\r"):
		return errors.New("the value has a line break or a NUL in it")
	}
	switch o.Type {
	case "number":
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
			return fmt.Errorf("expected a number, found %q", clip.Line(value, 60))
		case o.Min != nil && n < *o.Min:
			return fmt.Errorf("expected at least %g", *o.Min)
		case o.Max != nil && n > *o.Max:
			return fmt.Errorf("expected at most %g", *o.Max)
		}
	case "boolean":
		if value != "true" && value != "false" {
			return fmt.Errorf("expected true or false, found %q", clip.Line(value, 60))
		}
	}
	return nil
}

// scalar is a text, a number or a boolean as text.
func scalar(raw json.RawMessage) string {
	if s, ok := text(raw); ok {
		return s
	}
	if s := string(raw); s != "null" && !isObject(raw) && !strings.HasPrefix(s, "[") {
		return s
	}
	return ""
}

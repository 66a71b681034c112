package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of what servers ask.
const (
	maxAsks      = 8 // questions of a connection that wait for a person
	maxFields    = 50
	maxForm      = 256 << 10 // bytes of a form's schema
	maxOptions   = 200
	maxQuestion  = 4000 // characters
	maxSamplings = 100  // of a connection
	maxSampled   = 8192 // tokens
	maxPrompt    = 1 << 20
)

func refuse(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// elicit puts what a server wants to know to a person. Calls that run have their
// time from when the person has answered.
func (l *link) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	by := l.caller(ctx) // now: calls begin while it waits
	form, err := l.form(r.Params)
	if err != nil {
		return nil, refuse("%v", err)
	}
	l.mu.Lock()
	l.asks++
	many := l.asks > maxAsks
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asks--
	}()
	if many {
		return nil, refuse("too many questions wait for the person")
	}
	defer l.hold()()
	select {
	case l.person <- struct{}{}:
		defer func() { <-l.person }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	a, err := l.s.client(by).Ask(ctx, by, l.s.conf.Name, form)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || a.Dismissed:
		return &sdk.ElicitResult{Action: "cancel"}, nil
	case !a.Allow:
		return &sdk.ElicitResult{Action: "decline"}, nil
	case form.URL != "":
		return &sdk.ElicitResult{Action: "accept"}, nil
	}
	content := map[string]any{}
	if err := form.Check(a.Values); err != nil {
		return nil, refuse("the answer does not fit: %v", err)
	}
	if len(a.Values) > 0 {
		if err := json.Unmarshal(a.Values, &content); err != nil {
			return nil, refuse("the answer does not fit: %v", err)
		}
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}

// hold stops the time of calls that run until the function it returns is called.
func (l *link) hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var held []*call
	for _, c := range l.calls {
		c.pause()
		held = append(held, c)
	}
	return func() {
		for _, c := range held {
			c.resume()
		}
	}
}

// form makes what a person sees of an elicitation.
func (l *link) form(p *sdk.ElicitParams) (f view.Form, err error) {
	f = view.Form{Server: l.s.conf.Name, Message: text(p.Message, maxQuestion)}
	if p.Mode == "url" {
		f.URL, err = pageOf(p.URL)
		return f, err
	}
	raw, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return f, err
	}
	var s struct {
		Properties map[string]property
		Required   []string
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return f, fmt.Errorf("its schema is none: %w", fastjson.InWords(err))
	}
	if len(s.Properties) > maxFields {
		return f, fmt.Errorf("it has more than %d fields", maxFields)
	}
	if p.RequestedSchema == nil {
		return f, nil
	}
	if f.Schema = l.look.schemas.asSent(raw); len(f.Schema) > maxForm {
		return f, fmt.Errorf("its schema is larger than %d bytes", maxForm)
	}
	fields, _, _ := fastjson.Find(f.Schema, "properties") // it was read just now
	for _, name := range fastjson.Names(fields) {
		x, err := s.Properties[name].field()
		if err != nil {
			return f, fmt.Errorf("the field %s %w", quote(name), err)
		}
		x.Name, x.Required = name, slices.Contains(s.Required, name)
		if x.Title == "" {
			x.Title = line(name, 80)
		}
		f.Fields = append(f.Fields, x)
	}
	return f, nil
}

// pageOf checks a page that a person is to open: no other program may be started by
// its address, and it must be plain whose it is.
func pageOf(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > 8000 || stripHidden(address) != address:
		return "", errors.New("the address is none")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return "", errors.New("the address does not begin with https:// or http://")
	case u.User != nil:
		return "", errors.New("the address holds a user name")
	}
	return u.String(), nil
}

// A property is what an elicitation's schema says of one field.
type property struct {
	Type, Title, Description, Format string
	Default                          json.RawMessage
	Enum                             []string
	EnumNames                        []string `json:"enumNames"`
	OneOf                            []titled `json:"oneOf"`
	MinLength                        *float64 `json:"minLength"`
	MaxLength                        *float64 `json:"maxLength"`
	Minimum, Maximum                 *float64
	MinItems                         *float64 `json:"minItems"`
	MaxItems                         *float64 `json:"maxItems"`
	Items                            *struct {
		Enum  []string
		AnyOf []titled `json:"anyOf"`
		OneOf []titled `json:"oneOf"`
	}
}

type titled struct{ Const, Title string }

func (p property) field() (f view.Field, err error) {
	f = view.Field{Title: line(p.Title, 80), About: line(p.Description, 500), Default: p.Default}
	switch p.Type {
	case "string":
		f.Kind, f.Format, f.Min, f.Max = view.StringField, p.Format, p.MinLength, p.MaxLength
		if len(p.Enum)+len(p.OneOf) > 0 {
			f.Kind, f.Format, f.Min, f.Max = view.ChoiceField, "", nil, nil
			f.Options, err = options(p.Enum, p.EnumNames, p.OneOf)
		}
	case "number":
		f.Kind, f.Min, f.Max = view.NumberField, p.Minimum, p.Maximum
	case "integer":
		f.Kind, f.Min, f.Max = view.IntegerField, p.Minimum, p.Maximum
	case "boolean":
		f.Kind = view.BooleanField
	case "array":
		if p.Items == nil {
			return f, errors.New("is a list of no known kind")
		}
		f.Kind, f.Min, f.Max = view.ChoicesField, p.MinItems, p.MaxItems
		f.Options, err = options(p.Items.Enum, nil, append(p.Items.AnyOf, p.Items.OneOf...))
	default:
		return f, fmt.Errorf("is of the kind %s, which no form has", quote(p.Type))
	}
	if f.Default != nil && f.Check(f.Default) != nil {
		f.Default = nil
	}
	return f, err
}

func options(values, titles []string, more []titled) (out []view.FieldOption, err error) {
	for i, v := range values {
		o := titled{Const: v}
		if i < len(titles) {
			o.Title = titles[i]
		}
		more = append(more, o)
	}
	if len(more) == 0 || len(more) > maxOptions {
		return nil, fmt.Errorf("has no choices, or more than %d", maxOptions)
	}
	for _, o := range more {
		title := line(o.Title, 100)
		if title == "" && line(o.Const, 100) != o.Const {
			title = line(o.Const, 100)
		}
		out = append(out, view.FieldOption{Value: o.Const, Title: title})
	}
	return out, nil
}

// completed notes that a page a person opened is done.
func (l *link) completed(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if done, ok := l.open[id]; ok {
		close(done)
		delete(l.open, id)
	}
}

// visit has a person open the pages that a server wants to see done before it
// does what was asked of it, and waits until it says that they are.
func (l *link) visit(ctx context.Context, refused *jsonrpc.Error) error {
	var data struct{ Elicitations []*sdk.ElicitParams }
	if err := json.Unmarshal(refused.Data, &data); err != nil || len(data.Elicitations) == 0 || len(data.Elicitations) > maxAsks {
		return errors.New("it wants a page opened, and does not say which")
	}
	for _, p := range data.Elicitations {
		if p == nil || p.Mode != "url" || p.ElicitationID == "" {
			return errors.New("it wants a page opened, and does not say which")
		}
		done := make(chan struct{})
		l.mu.Lock()
		l.open[p.ElicitationID] = done
		l.mu.Unlock()
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.open, p.ElicitationID)
		}()
		res, err := l.elicit(ctx, &sdk.ElicitRequest{Session: l.session, Params: p})
		if err != nil {
			return err
		}
		if res.Action != "accept" {
			return errors.New("it wanted a page opened, and the person did not want that")
		}
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

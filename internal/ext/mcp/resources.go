package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// maxWatched is how many resources of a connection are watched.
const maxWatched = 100

// A Resource is one that a server lists.
type Resource struct {
	Server string `json:"server"`
	// URI names it; of a Template it has {variables}.
	URI      string `json:"uri"`
	Name     string `json:"name,omitempty"`
	About    string `json:"description,omitempty"`
	Media    string `json:"mimeType,omitempty"`
	Size     int64  `json:"size,omitempty"` // bytes, 0 when unknown
	Template bool   `json:"template,omitempty"`
}

// Resources are what a server lists, its templates last; "" are those of all that
// are connected. It waits for servers that are connecting.
func (v *View) Resources(ctx context.Context, by Caller, name string) ([]Resource, error) {
	if name != "" {
		s, err := v.find(name)
		if err != nil {
			return nil, err
		}
		return s.resources(ctx, by)
	}
	var mu sync.Mutex
	var out []Resource
	var wg sync.WaitGroup
	for _, s := range v.list() {
		s.mu.Lock()
		has := s.offer.resources && s.link != nil
		s.mu.Unlock()
		if has {
			wg.Go(func() {
				list, err := s.resources(ctx, by)
				mu.Lock()
				defer mu.Unlock()
				if err == nil { // one that does not answer keeps nobody from the others
					out = append(out, list...)
				}
			})
		}
	}
	wg.Wait()
	order.By(out, func(a, b Resource) int { return cmp.Compare(a.Server, b.Server) })
	return out, nil
}

// resources are what the server lists. It is asked once for a connection, until it
// says that the list changed.
func (s *server) resources(ctx context.Context, by Caller) (out []Resource, err error) {
	err = s.request(ctx, by, func(ctx context.Context, l *link) error {
		l.mu.Lock()
		list, asked := l.known, l.asked
		l.mu.Unlock()
		if asked {
			out = list
			return nil
		}
		if c := l.session.InitializeResult().Capabilities; c == nil || c.Resources == nil {
			return nil
		}
		out, err = l.list(ctx)
		if err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.known, l.asked = out, true
		return nil
	})
	return out, err
}

func (l *link) list(ctx context.Context) (out []Resource, err error) {
	list, err := all(ctx, "resource", func(ctx context.Context, cursor string) ([]*sdk.Resource, string, error) {
		r, err := l.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return r.Resources, r.NextCursor, nil
	})
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r != nil && line(r.URI, 4000) == r.URI {
			out = append(out, Resource{Server: l.s.conf.Name, URI: r.URI, Name: line(cmp.Or(r.Title, r.Name), 200), About: line(r.Description, 500), Media: line(r.MIMEType, 100), Size: r.Size})
		}
	}
	templates, err := all(ctx, "template", func(ctx context.Context, cursor string) ([]*sdk.ResourceTemplate, string, error) {
		r, err := l.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return r.ResourceTemplates, r.NextCursor, nil
	})
	if err != nil {
		return out, nil // not every server has them
	}
	for _, r := range templates {
		if r != nil && line(r.URITemplate, 4000) == r.URITemplate {
			out = append(out, Resource{Server: l.s.conf.Name, URI: r.URITemplate, Name: line(cmp.Or(r.Title, r.Name), 200), About: line(r.Description, 500), Media: line(r.MIMEType, 100), Template: true})
		}
	}
	return out, nil
}

func (l *link) forgetResources() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.asked = nil, false
}

// listedURI reports whether a server has listed a resource by this name.
func (v *View) listedURI(server, uri string) bool {
	s, err := v.find(server)
	if err != nil {
		return false
	}
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.known, func(r Resource) bool { return r.URI == uri && !r.Template })
}

// Read reads a resource. Where the server can, it then says when that changes
// (Client.Changed, once for each time it was read).
func (v *View) Read(ctx context.Context, server, uri string, env tool.Env) (tool.Result, error) {
	s, err := v.find(server)
	if err != nil {
		return tool.Result{}, err
	}
	var out *sdk.ReadResourceResult
	err = s.request(ctx, callerOf(env), func(ctx context.Context, l *link) (err error) {
		if out, err = l.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri}); err == nil {
			l.follow(ctx, env.Session, uri)
		}
		return err
	})
	if err != nil {
		return tool.Result{}, err
	}
	p := &paper{env: env}
	for _, c := range out.Contents {
		p.resource(c)
	}
	res := tool.Result{Text: strings.Join(p.text, "\n"), Images: p.images}
	if res.Text == "" {
		res.Text = "(nothing)"
		if len(p.images) > 0 {
			res.Text = clip.Count(len(p.images), "image")
		}
	}
	if len(p.images) > 0 {
		res.View = view.Group{Blocks: p.views}
	}
	return res, nil
}

// follow has the server say when a resource changes that a session has read.
func (l *link) follow(ctx context.Context, session, uri string) {
	if c := l.session.InitializeResult().Capabilities; c == nil || c.Resources == nil || !c.Resources.Subscribe {
		return
	}
	l.mu.Lock()
	readers, known := l.watch[uri]
	full := len(l.watch) >= maxWatched
	if (known || !full) && !slices.Contains(readers, session) {
		l.watch[uri] = append(readers, session)
	}
	l.mu.Unlock()
	if known || full {
		return
	}
	if err := l.session.Subscribe(ctx, &sdk.SubscribeParams{URI: uri}); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.watch, uri)
	}
}

// watching are the resources that are watched and did not change since they were read.
func (l *link) watching() map[string][]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string][]string{}
	for uri, readers := range l.watch {
		if len(readers) > 0 {
			out[uri] = readers
		}
	}
	return out
}

// updated tells each session once that a resource is not as it read it.
func (l *link) updated(uri string) {
	l.mu.Lock()
	readers, watched := l.watch[uri]
	if watched {
		l.watch[uri] = nil
	}
	l.mu.Unlock()
	for _, session := range readers {
		l.s.client(Caller{Session: session}).Changed(session, l.s.conf.Name, line(uri, 2000))
	}
}

// mentionWait bounds what is asked of servers while a person writes.
const mentionWait = 2 * time.Second

// Mentions are resources that a person may mean with what follows "@": a part of
// "server:uri". Values of templates are asked of their server; a template itself is
// among them while what is written comes before its first variable. At most max.
func (v *View) Mentions(ctx context.Context, part string, max int) (out []Resource) {
	ctx, cancel := context.WithTimeout(ctx, mentionWait)
	defer cancel()
	list, _ := v.Resources(ctx, Caller{}, "") // there is no error without a name
	low := strings.ToLower(part)
	for _, r := range list {
		if len(out) >= max {
			return out
		}
		if !r.Template {
			if strings.Contains(strings.ToLower(r.Server+":"+r.URI), low) || low != "" && strings.Contains(strings.ToLower(r.Name), low) {
				out = append(out, r)
			}
			continue
		}
		if head, _, _ := strings.Cut(r.Server+":"+r.URI, "{"); len(part) < len(head) && (strings.Contains(strings.ToLower(head), low) || strings.Contains(strings.ToLower(r.Name), low)) {
			out = append(out, r)
			continue
		}
		out = append(out, v.filled(ctx, r, part, max-len(out))...)
	}
	return out
}

// filled are resources of a template whose first variable is being written.
func (v *View) filled(ctx context.Context, r Resource, part string, max int) (out []Resource) {
	head, rest, _ := strings.Cut(r.URI, "{")
	name, tail, whole := strings.Cut(rest, "}")
	value, begun := strings.CutPrefix(part, r.Server+":"+head)
	s, err := v.find(r.Server)
	if !whole || !begun || err != nil || tail != "" && strings.Contains(value, tail[:1]) {
		return nil
	}
	name = strings.TrimLeft(name, "+#./;?&")
	for _, v := range s.complete(ctx, &sdk.CompleteReference{Type: "ref/resource", URI: r.URI}, name, value, nil) {
		if len(out) < max {
			r2 := r
			r2.URI, r2.Template = head+v+tail, strings.Contains(tail, "{")
			out = append(out, r2)
		}
	}
	return out
}

type listInput struct {
	Server string `json:"server,omitempty" jsonschema:"the name of one server; all servers when it is left out"`
}

type readInput struct {
	Server string `json:"server" jsonschema:"the name of the server"`
	URI    string `json:"uri" jsonschema:"the URI of the resource"`
}

const (
	listAbout = `Lists the resources that MCP servers offer: documents, records and other things to read. Each has the name of its server and a URI for ReadMcpResource. Those with "template": true have variables in braces in their URI, to be filled in before they are read.`
	readAbout = `Reads a resource of an MCP server by its URI. Take the server and the URI from ListMcpResources, from a result that links to it, or fill in a template.`
)

// Names of the tools that list and read resources.
const (
	ListResources = "ListMcpResources"
	ReadResource  = "ReadMcpResource"
)

// resourceTools are the tools that read resources of all servers.
func (v *View) resourceTools() []tool.Tool {
	list := tool.New(tool.Spec{Name: ListResources, Description: listAbout, Again: true, Deferrable: true},
		func(in listInput, _ tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: strings.TrimSpace("List resources " + line(in.Server, 60)), Parallel: true}, nil
		},
		func(ctx context.Context, in listInput, env tool.Env) (tool.Result, error) {
			all, err := v.Resources(ctx, callerOf(env), in.Server)
			if err != nil {
				return tool.Errorf("%s", line(err.Error(), 2000)), nil
			}
			if len(all) == 0 {
				return tool.Result{Text: "There are no resources."}, nil
			}
			var b strings.Builder
			for _, r := range all {
				one, err := json.Marshal(r)
				if err != nil {
					return tool.Result{}, err
				}
				b.Write(append(one, '\n'))
			}
			return tool.Result{Text: b.String()}, nil
		})
	read := tool.New(tool.Spec{Name: ReadResource, Description: readAbout, Again: true, Deferrable: true},
		func(in readInput, _ tool.Env) (tool.Plan, error) {
			p := tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "Read " + line(in.Server, 60) + ":" + line(in.URI, 200), Parallel: true}
			s, err := v.find(in.Server)
			if err != nil { // nobody need be asked about it
				return p, errors.New(line(err.Error(), 2000))
			}
			if !v.listedURI(in.Server, in.URI) { // what the model made up may tell the server something
				p.Actions = []policy.Action{s.call(ReadResource, "")}
				p.View = view.Text{S: fmt.Sprintf("The resource %s of the MCP server %s", clip.Visible(in.URI), clip.Visible(in.Server))}
			}
			return p, nil
		},
		func(ctx context.Context, in readInput, env tool.Env) (tool.Result, error) {
			res, err := v.Read(ctx, in.Server, in.URI, env)
			if err != nil {
				return tool.Errorf("%s", line(err.Error(), 2000)), nil
			}
			return res, nil
		})
	return []tool.Tool{list, read}
}

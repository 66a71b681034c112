package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// maxIssuers bounds how many authorization servers of one list are asked.
const maxIssuers = 5

// A resource is what an MCP server says about itself (RFC 9728 2).
type resource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// An issuer is what an authorization server says about itself (RFC 8414 2,
// OpenID Connect Discovery 3).
type issuer struct {
	Issuer         string   `json:"issuer"`
	Authorize      string   `json:"authorization_endpoint"`
	Token          string   `json:"token_endpoint"`
	Register       string   `json:"registration_endpoint"`
	Revoke         string   `json:"revocation_endpoint"`
	Scopes         []string `json:"scopes_supported"`
	Challenges     []string `json:"code_challenge_methods_supported"`
	Methods        []string `json:"token_endpoint_auth_methods_supported"`
	ClientDocument bool     `json:"client_id_metadata_document_supported"`
	Iss            bool     `json:"authorization_response_iss_parameter_supported"`

	old bool // a server of 2025-03-26 without metadata: its endpoints are where that revision says
}

// A place is where tokens for a server come from.
type place struct {
	issuer
	resource string   // the identifier that tokens are asked for
	scopes   []string // that the server says it has
}

// discover finds out who issues tokens for a server.
func (w *web) discover(ctx context.Context, s Settings, ch challenge) (place, error) {
	u, err := url.Parse(s.ServerURL)
	if err != nil {
		return place{}, err
	}
	r, found, err := w.resource(ctx, s, ch)
	p := place{resource: r.Resource, scopes: together(r.Scopes)}
	switch {
	case s.MetadataURL != "":
		if err != nil { // a person said where; what the server says wrongly does not count
			p = place{resource: canonical(u)}
		}
		p.issuer, err = w.set(ctx, s.MetadataURL)
		return p, err
	case err != nil:
		return place{}, err
	case found:
		p.issuer, err = w.first(ctx, s, r.Servers)
		return p, err
	}
	// Before 2025-06-18 the server was its own authorization server.
	own := u.Scheme + "://" + u.Host
	// Its metadata may name an issuer below its root: nobody named one before, and
	// all of the host is the server's.
	p.issuer, err = w.described(ctx, own, func(as issuer) bool {
		at, err := address("the issuer", as.Issuer)
		return err == nil && origin(at) == origin(u)
	})
	if errors.Is(err, errNoMetadata) {
		p.issuer = issuer{
			Issuer: own, Authorize: own + "/authorize", Token: own + "/token", Register: own + "/register",
			Challenges: []string{"S256"}, old: true, // that revision demands PKCE of every server
		}
		return p, nil
	}
	return p, err
}

// first is the first of several authorization servers that can be used.
func (w *web) first(ctx context.Context, s Settings, list []string) (issuer, error) {
	if len(list) == 0 {
		return issuer{}, fmt.Errorf("%s says that it wants a sign-in, but not where", shown(s.Name))
	}
	var failed error
	for _, id := range list[:min(len(list), maxIssuers)] {
		as, err := w.issuer(ctx, id)
		if err == nil {
			return as, nil
		}
		if failed == nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return issuer{}, failed
}

// wellKnown is where resources describe themselves (RFC 9728 3).
const wellKnown = "/.well-known/oauth-protected-resource"

// resource reads what the server says about itself; found is false when it does
// not.
func (w *web) resource(ctx context.Context, s Settings, ch challenge) (resource, bool, error) {
	server, err := url.Parse(s.ServerURL)
	if err != nil {
		return resource{}, false, err
	}
	root := server.Scheme + "://" + server.Host + wellKnown
	from := []string{ch.metadata}
	if path := strings.TrimPrefix(server.EscapedPath(), "/"); path != "" {
		from = append(from, root+"/"+path)
	}
	for _, at := range append(from, root) {
		if at == "" {
			continue
		}
		var r resource
		found, err := w.get(ctx, "the description of "+shown(s.Name), at, &r)
		if err != nil {
			return resource{}, false, err
		}
		if !found {
			continue
		}
		if !stands(r.Resource, server, at) {
			return resource{}, false, hint.With(fmt.Errorf("%s says that it is another server: %s", shown(s.Name), shown(r.Resource)),
				"if who runs it says that this is right, set oauth.authServerMetadataUrl to where its authorization server describes itself")
		}
		return r, true, nil
	}
	return resource{Resource: canonical(server)}, false, nil
}

// stands reports whether a resource identifier, in a document that was found at a
// place, is one of a server: its URL, or one above it on the same host if the
// document is where that one's is. So what has a part of a host does not get tokens
// for all of it by saying so.
func stands(id string, server *url.URL, at string) bool {
	u, err := address("the identifier", id)
	if err != nil || origin(u) != origin(server) || unambiguous(u) != nil || u.RawQuery != "" && u.RawQuery != server.RawQuery {
		return false
	}
	above, path := strings.TrimSuffix(u.EscapedPath(), "/"), strings.TrimSuffix(server.EscapedPath(), "/")
	doc, err := address("the document", at)
	return above == path ||
		strings.HasPrefix(path, above+"/") && err == nil && origin(doc) == origin(u) && strings.TrimSuffix(doc.EscapedPath(), "/") == wellKnown+above
}

// canonical is the identifier of a server that does not say one: its URL without
// what does not matter.
func canonical(u *url.URL) string {
	c := *u
	c.Scheme, c.Host, c.Fragment, c.RawFragment, c.User = strings.ToLower(c.Scheme), strings.ToLower(c.Host), "", "", nil
	if c.Path == "/" {
		c.Path = ""
	}
	if p := c.Port(); p == "443" && c.Scheme == "https" || p == "80" && c.Scheme == "http" {
		c.Host = strings.TrimSuffix(c.Host, ":"+p)
	}
	return c.String()
}

var errNoMetadata = errors.New("it does not describe itself")

// issuer reads what an authorization server says about itself, at each place
// where it may (RFC 8414 3.1 and 5).
func (w *web) issuer(ctx context.Context, id string) (issuer, error) {
	return w.described(ctx, id, func(as issuer) bool { return strings.TrimSuffix(as.Issuer, "/") == strings.TrimSuffix(id, "/") })
}

// described is issuer with a rule of what a document must say of itself.
func (w *web) described(ctx context.Context, id string, same func(issuer) bool) (issuer, error) {
	u, err := address("the authorization server", id)
	if err != nil {
		return issuer{}, err
	}
	if err := unambiguous(u); err != nil {
		return issuer{}, err
	}
	base, path := u.Scheme+"://"+u.Host, strings.Trim(u.EscapedPath(), "/")
	from := []string{base + "/.well-known/oauth-authorization-server", base + "/.well-known/openid-configuration"}
	if path != "" {
		from = []string{from[0] + "/" + path, from[1] + "/" + path, base + "/" + path + "/.well-known/openid-configuration"}
	}
	for _, at := range from {
		var as issuer
		found, err := w.get(ctx, "the authorization server", at, &as)
		if err != nil {
			return issuer{}, err
		}
		if !found {
			continue
		}
		if !same(as) {
			return issuer{}, hint.With(fmt.Errorf("the authorization server %s says that it is another one: %s", u.Host, shown(as.Issuer)),
				"if who runs the server says that this is right, set oauth.authServerMetadataUrl to "+shown(at))
		}
		return as, as.check(w, u.Host)
	}
	return issuer{}, fmt.Errorf("the authorization server %s cannot be used: %w", u.Host, errNoMetadata)
}

// set reads the metadata from where a person said.
func (w *web) set(ctx context.Context, at string) (issuer, error) {
	u, err := address("the metadata URL", at)
	if err != nil {
		return issuer{}, err
	}
	var as issuer
	found, err := w.get(ctx, "the authorization server", at, &as)
	if err != nil {
		return issuer{}, err
	}
	if !found {
		return issuer{}, fmt.Errorf("there is no metadata of an authorization server at %s", clip.Line(clip.Visible(at), 100))
	}
	if _, err := address("the issuer that "+u.Host+" names", as.Issuer); err != nil {
		return issuer{}, err
	}
	return as, as.check(w, u.Host)
}

// check looks at every address that will be used.
func (as issuer) check(w *web, host string) error {
	if len(as.Issuer) > maxURL {
		return fmt.Errorf("the authorization server %s has a name that is too long", host)
	}
	for _, e := range []struct{ what, at string }{
		{"the page to sign in", as.Authorize}, {"the token endpoint", as.Token}, {"the registration endpoint", as.Register}, {"the revocation endpoint", as.Revoke},
	} {
		if e.at == "" {
			continue
		}
		u, err := address(e.what+" of "+host, e.at)
		if err != nil {
			return err
		}
		if err := w.may(u); err != nil {
			return fmt.Errorf("%s of %s cannot be used: %w", e.what, host, err)
		}
	}
	if as.Token == "" {
		return fmt.Errorf("the authorization server %s has no token endpoint", host)
	}
	return nil
}

// pkce refuses a server that does not say it holds to PKCE (S256): a code that
// somebody else gets hold of would be worth a token there.
func (as issuer) pkce() error {
	if as.Authorize == "" {
		return fmt.Errorf("the authorization server %s has no page to sign in", shown(as.Issuer))
	}
	if u, err := url.Parse(as.Authorize); err != nil || !tame(u.Host+u.EscapedPath()) {
		return fmt.Errorf("the page to sign in of %s has characters in it that mean something to shells; adze does not open it", shown(as.Issuer))
	}
	if !slices.Contains(as.Challenges, "S256") {
		return hint.With(fmt.Errorf("the authorization server %s does not say that it protects codes (PKCE with S256); adze does not sign in there", shown(as.Issuer)),
			"ask who runs the server to list S256 in code_challenge_methods_supported")
	}
	return nil
}

// tame reports whether an address, but for its query, which is written anew, has
// nothing in it that a shell would obey: what opens pages for us may be a script.
func tame(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-._~:@=+,%/[]", r)
	})
}

// shown is a name for people.
func shown(name string) string { return clip.Line(clip.Visible(name), 100) }

package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
)

// clientOf is the client that the settings name, with its secret.
func (c *Client) clientOf(ctx context.Context, id, secretRef, keyRef string, methods []string) (client, error) {
	cl := client{id: id, method: methodNone}
	ref := secretRef
	if ref == "" {
		ref = keyRef
	}
	if ref == "" {
		return cl, nil
	}
	if c.config.Secret == nil {
		return client{}, errors.New("no secret can be used here for the client " + shown(id))
	}
	text, err := c.config.Secret(ctx, ref)
	if err != nil {
		return client{}, fmt.Errorf("the secret of the client %s: %w", shown(id), err)
	}
	if keyRef != "" && secretRef == "" {
		cl.method = methodKey
		cl.key, err = parseKey(secret(text))
		return cl, err
	}
	cl.secret, cl.method = secret(text), methodBasic // which all servers must have (RFC 6749 2.3.1)
	if len(methods) > 0 && !slices.Contains(methods, methodBasic) && slices.Contains(methods, methodPost) {
		cl.method = methodPost
	}
	return cl, nil
}

// client is who adze is for an authorization server, in the order of the
// specification: as the settings say, by its document, registered now.
func (w *web) client(ctx context.Context, s Settings, as issuer, redirect string, want []string) (cl client, registered bool, err error) {
	switch {
	case s.ClientID != "":
		cl, err = w.c.clientOf(ctx, s.ClientID, s.ClientSecretRef, s.PrivateKeyRef, as.Methods)
		return cl, false, err
	case as.ClientDocument && w.c.config.ClientDocument != "":
		return client{id: w.c.config.ClientDocument, method: methodNone}, false, nil
	case as.Register != "":
		cl, err = w.register(ctx, as, redirect, want)
		if g := (*grantError)(nil); as.old && errors.As(err, &g) && g.code == "" {
			err = hint.With(fmt.Errorf("%s wants a token, and does not say where to sign in", shown(s.Name)), "if it wants a key, set the header Authorization in its configuration")
		}
		return cl, true, err
	}
	return client{}, false, hint.With(fmt.Errorf("the authorization server %s registers no programs by itself", shown(as.Issuer)),
		"register adze there by hand (its redirect is http://localhost:PORT/callback), and set oauth.clientId and oauth.callbackPort of the server")
}

// register makes adze known to an authorization server (RFC 7591).
func (w *web) register(ctx context.Context, as issuer, redirect string, want []string) (client, error) {
	method := methodNone
	if len(as.Methods) > 0 && !slices.Contains(as.Methods, methodNone) {
		for _, m := range []string{methodBasic, methodPost} {
			if slices.Contains(as.Methods, m) {
				method = m
				break
			}
		}
	}
	body, err := json.Marshal(struct {
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
		Grants    []string `json:"grant_types"`
		Responses []string `json:"response_types"`
		Method    string   `json:"token_endpoint_auth_method"`
		Type      string   `json:"application_type"`
		Scope     string   `json:"scope,omitempty"`
	}{"adze", []string{redirect}, []string{"authorization_code", "refresh_token"}, []string{"code"}, method, "native", strings.Join(want, " ")})
	if err != nil {
		return client{}, err
	}
	a, err := w.do(ctx, http.MethodPost, "the registration endpoint", as.Register, http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}, body)
	if err != nil {
		return client{}, err
	}
	var r struct {
		ID      string  `json:"client_id"`
		Secret  string  `json:"client_secret"`
		Until   float64 `json:"client_secret_expires_at"`
		Method  string  `json:"token_endpoint_auth_method"`
		Error   string  `json:"error"`
		Problem string  `json:"error_description"`
	}
	bad := fastjson.Unmarshal(a.body, &r) != nil
	if a.status != http.StatusCreated && a.status != http.StatusOK || r.Error != "" {
		return client{}, hint.With(fmt.Errorf("adze could not be registered: %w", refusal(a.status, r.Error, r.Problem, nil)),
			"register adze there by hand (its redirect is http://localhost:PORT/callback), and set oauth.clientId and oauth.callbackPort of the server")
	}
	if bad || r.ID == "" || len(r.ID) > maxURL || len(r.Secret) > maxToken {
		return client{}, errors.New("the registration endpoint did not answer with a client that can be used")
	}
	if r.Until > 0 && float64(w.c.config.Now().Unix()) >= r.Until {
		return client{}, errors.New("the registration endpoint gave a secret whose time is over")
	}
	cl := client{id: r.ID, secret: secret(r.Secret), method: r.Method}
	switch {
	case cl.secret == "":
		cl.method = methodNone
	case cl.method == methodPost, cl.method == methodBasic:
	case cl.method == methodNone: // it gave one that it does not want
		cl.secret = ""
	case cl.method == "" && method != methodNone: // as it was asked for
		cl.method = method
	default:
		cl.method = methodBasic
	}
	return cl, nil
}

// again is the client that a record's tokens belong to.
func (c *Client) again(ctx context.Context, s Settings, r record) (client, error) {
	if !r.Registered && s.ClientID != "" {
		return c.clientOf(ctx, s.ClientID, s.ClientSecretRef, s.PrivateKeyRef, r.Methods)
	}
	return client{id: r.ClientID, secret: r.ClientSecret, method: r.Method}, nil
}

// fetch gets a token without a person, for the flows that need none.
func (w *web) fetch(ctx context.Context, s Settings, p place, want []string) (record, error) {
	cl, err := w.c.clientOf(ctx, s.ClientID, s.ClientSecretRef, s.PrivateKeyRef, p.Methods)
	if err != nil {
		return record{}, err
	}
	form := url.Values{"resource": {p.resource}}
	if len(want) > 0 {
		form.Set("scope", strings.Join(want, " "))
	}
	if s.Flow == CrossApp {
		proof, err := w.vouch(ctx, s, p, want)
		if err != nil {
			return record{}, err
		}
		form.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
		form.Set("assertion", string(proof))
	} else {
		form.Set("grant_type", "client_credentials")
	}
	g, err := w.ask(ctx, p.Token, cl, p.Issuer, form)
	if err != nil {
		return record{}, err
	}
	g.refresh = "" // the same can be asked for again; RFC 6749 4.4.3 has none
	r := record{Issuer: p.Issuer, Resource: p.resource, Token: p.Token, Revoke: p.Revoke, Methods: p.Methods, ClientID: cl.id}
	r.take(g, want, w.c.config.Now())
	return r, nil
}

const (
	kindID  = "urn:ietf:params:oauth:token-type:id_token"
	kindJAG = "urn:ietf:params:oauth:token-type:id-jag"
)

// vouch has the identity provider say to the server's authorization server who
// the person is (RFC 8693, draft-ietf-oauth-identity-assertion-authz-grant).
func (w *web) vouch(ctx context.Context, s Settings, p place, want []string) (secret, error) {
	r, cl, err := w.c.identity(ctx, w, s)
	if err != nil {
		return "", err
	}
	form := url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "requested_token_type": {kindJAG},
		"audience": {p.Issuer}, "resource": {p.resource}, "subject_token": {string(r.ID)}, "subject_token_type": {kindID},
	}
	if len(want) > 0 {
		form.Set("scope", strings.Join(want, " "))
	}
	g, err := w.ask(ctx, r.Token, cl, r.Issuer, form)
	switch {
	case is(err, "invalid_grant"):
		return "", &ErrNeedsSignIn{Server: s.Name, Why: "the identity provider does not know the last sign-in any more"}
	case err != nil:
		return "", fmt.Errorf("the identity provider did not vouch for you: %w", err)
	case g.kind != kindJAG:
		return "", errors.New("the identity provider gave another kind of token than it was asked for")
	}
	return g.access, nil
}

// identity is a valid ID token of the company's provider, renewed if it must be.
func (c *Client) identity(ctx context.Context, w *web, s Settings) (record, client, error) {
	unlock, err := c.lock(ctx, s.IdP.key())
	if err != nil {
		return record{}, client{}, err
	}
	defer unlock()
	r, _, err := c.read(ctx, s.IdP.key())
	if err != nil {
		return record{}, client{}, err
	}
	if r.ID == "" {
		return record{}, client{}, &ErrNeedsSignIn{Server: s.Name, Why: "nobody is signed in to " + shown(s.IdP.Issuer)}
	}
	cl, err := c.clientOf(ctx, s.IdP.ClientID, s.IdP.ClientSecretRef, "", r.Methods)
	if err != nil {
		return record{}, client{}, err
	}
	now := c.config.Now()
	if _, err := identity(r.ID, r.Issuer, cl.id, now.Add(time.Minute)); err == nil {
		return r, cl, nil
	} else if !errors.Is(err, errOver) {
		return record{}, client{}, err
	}
	over := &ErrNeedsSignIn{Server: s.Name, Why: "the sign-in at " + shown(s.IdP.Issuer) + " is over"}
	if r.Refresh == "" {
		return record{}, client{}, over
	}
	g, err := w.ask(ctx, r.Token, cl, r.Issuer, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {string(r.Refresh)}})
	if err != nil {
		if passing(err) {
			return record{}, client{}, fmt.Errorf("the sign-in at %s cannot be renewed now: %w", shown(s.IdP.Issuer), err)
		}
		return record{}, client{}, over
	}
	if g.id == "" {
		return record{}, client{}, over
	}
	if _, err := identity(g.id, r.Issuer, cl.id, now); err != nil {
		return record{}, client{}, err
	}
	r.take(g, r.Asked, now)
	r.Access = "" // nothing is asked of the provider itself
	return r, cl, c.write(ctx, s.IdP.key(), r)
}

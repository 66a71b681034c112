package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Bounds of what a token endpoint gives.
const (
	maxToken    = 8 << 10 // bytes of one token
	maxLifetime = 366 * 24 * time.Hour
)

// A secret is a text that nobody reads: printing it in any way does not show it.
type secret string

// Format implements fmt.Formatter.
func (secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[hidden]") }

// How a client says at a token endpoint who it is (RFC 7591 2, RFC 7523 2.2).
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
	methodKey   = "private_key_jwt"
)

// A client is who adze is for an authorization server.
type client struct {
	id     string
	method string
	secret secret
	key    signer // of methodKey
}

// A grant is what a token endpoint gave.
type grant struct {
	access, refresh, id secret
	kind                string // issued_token_type
	lifetime            time.Duration
	scopes              []string
}

// A grantError is a token endpoint's refusal.
type grantError struct {
	status int
	code   string // as RFC 6749 5.2 has it, "" when unknown
	text   string
}

func (e *grantError) Error() string {
	s := "the authorization server refused"
	switch {
	case e.code != "":
		s += ": " + e.code
	case e.status != 0:
		s += fmt.Sprintf(" (HTTP %d)", e.status)
	}
	if e.text != "" {
		s += " (" + e.text + ")"
	}
	return s
}

// is reports whether a refusal has one of the codes.
func is(err error, codes ...string) bool {
	e := (*grantError)(nil)
	return errors.As(err, &e) && slices.Contains(codes, e.code)
}

// passing reports whether the same request may be answered otherwise later.
func passing(err error) bool {
	e := (*grantError)(nil)
	return !errors.As(err, &e) || e.status >= 500 || e.status == http.StatusTooManyRequests || e.code == "temporarily_unavailable" || e.code == "server_error" || e.code == "slow_down"
}

// aliases are words of well-known servers (GitHub, Slack, Google, Salesforce,
// Notion and others) for what RFC 6749 calls otherwise.
var aliases = map[string]string{
	"bad_refresh_token": "invalid_grant", "invalid_refresh_token": "invalid_grant", "expired_refresh_token": "invalid_grant", "refresh_token_expired": "invalid_grant",
	"refresh_token_revoked": "invalid_grant", "token_expired": "invalid_grant", "expired_token": "invalid_grant", "token_revoked": "invalid_grant", "invalid_token": "invalid_grant",
	"revoked_token": "invalid_grant", "invalid_auth": "invalid_grant", "not_authed": "invalid_grant", "account_inactive": "invalid_grant", "access_token_expired": "invalid_grant",
	"bad_verification_code": "invalid_grant", "invalid_code": "invalid_grant", "code_expired": "invalid_grant", "code_already_used": "invalid_grant", "inactive_token": "invalid_grant",
	"incorrect_client_credentials": "invalid_client", "bad_client_secret": "invalid_client", "invalid_client_id": "invalid_client", "client_not_found": "invalid_client",
	"unknown_client": "invalid_client", "invalid_client_secret": "invalid_client", "application_suspended": "unauthorized_client",
}

// ask makes a request to a token endpoint.
func (w *web) ask(ctx context.Context, at string, as client, issuer string, form url.Values) (grant, error) {
	a, hide, err := w.form(ctx, "the token endpoint", at, as, issuer, form)
	if err != nil {
		return grant{}, err
	}
	return grantOf(a, hide, form)
}

// form posts a form with what says who the client is. It returns what of it must
// not be shown.
func (w *web) form(ctx context.Context, what, at string, as client, issuer string, form url.Values) (answer, []secret, error) {
	h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}}
	hide := []secret{as.secret}
	switch as.method {
	case methodBasic: // RFC 6749 2.3.1: both are encoded first
		both := url.QueryEscape(as.id) + ":" + url.QueryEscape(string(as.secret))
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(both)))
		hide = append(hide, secret(base64.StdEncoding.EncodeToString([]byte(both))))
	case methodPost:
		form.Set("client_id", as.id)
		form.Set("client_secret", string(as.secret))
	case methodKey:
		proof, err := as.key.assertion(as.id, issuer, w.c.config.Now())
		if err != nil {
			return answer{}, nil, err
		}
		form.Set("client_id", as.id)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", string(proof))
	default:
		form.Set("client_id", as.id)
	}
	for _, k := range []string{"code", "code_verifier", "refresh_token", "token", "subject_token", "assertion", "client_assertion"} {
		hide = append(hide, secret(form.Get(k)))
	}
	a, err := w.do(ctx, http.MethodPost, what, at, h, []byte(form.Encode()))
	return a, hide, err
}

// grantOf reads what a token endpoint answered.
func grantOf(a answer, hide []secret, asked url.Values) (grant, error) {
	var raw struct {
		Access    string  `json:"access_token"`
		Refresh   string  `json:"refresh_token"`
		ID        string  `json:"id_token"`
		Type      *string `json:"token_type"`
		Kind      string  `json:"issued_token_type"`
		ExpiresIn any     `json:"expires_in"`
		Scope     any     `json:"scope"`
		Error     any     `json:"error"`
		Text      any     `json:"error_description"`
		OK        *bool   `json:"ok"` // Slack
	}
	bad := fastjson.Unmarshal(a.body, &raw) != nil
	if code, ok := raw.Error.(string); ok || a.status < 200 || a.status > 299 || raw.OK != nil && !*raw.OK {
		text, _ := raw.Text.(string)
		return grant{}, refusal(a.status, code, text, hide)
	}
	switch {
	case bad:
		return grant{}, errors.New("the token endpoint did not answer with a token in JSON")
	case raw.Access == "":
		return grant{}, errors.New("the token endpoint answered without a token")
	case raw.Type != nil && !strings.EqualFold(*raw.Type, "bearer") && !(strings.EqualFold(*raw.Type, "N_A") && asked.Get("requested_token_type") != ""):
		return grant{}, fmt.Errorf("the token endpoint gave a token of a kind that adze cannot use (%s)", said(*raw.Type, append(hide, secret(raw.Access), secret(raw.Refresh))...))
	}
	g := grant{access: secret(raw.Access), refresh: secret(raw.Refresh), id: secret(raw.ID), kind: raw.Kind, lifetime: lifetime(raw.ExpiresIn)}
	for _, t := range []secret{g.access, g.refresh, g.id} {
		if err := t.usable(); err != nil {
			return grant{}, err
		}
	}
	switch scope := raw.Scope.(type) {
	case string:
		g.scopes = scopes(scope)
	case []any: // not as the standard has it, but meant so
		for _, s := range scope {
			if s, ok := s.(string); ok {
				g.scopes = together(g.scopes, []string{s})
			}
		}
	}
	return g, nil
}

func refusal(status int, code, text string, hide []secret) *grantError {
	code = strings.ToLower(said(code, hide...))
	if c, ok := aliases[code]; ok {
		code = c
	}
	return &grantError{status: status, code: code, text: said(text, hide...)}
}

// usable refuses what cannot stand in a header, or is too long for one.
func (s secret) usable() error {
	if len(s) > maxToken {
		return fmt.Errorf("the token endpoint gave a token longer than %d KiB", maxToken>>10)
	}
	if strings.ContainsFunc(string(s), func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("the token endpoint gave a token with characters that no token has")
	}
	return nil
}

// lifetime reads expires_in, seconds as a number or (some servers) a text. What
// makes no sense is 0, unknown: the server will say when it is over.
func lifetime(v any) time.Duration {
	var n float64
	switch v := v.(type) {
	case float64:
		n = v
	case string:
		n, _ = strconv.ParseFloat(v, 64)
	}
	if math.IsNaN(n) || n <= 0 {
		return 0
	}
	return time.Duration(min(n, maxLifetime.Seconds()) * float64(time.Second))
}

package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A record is what is kept of a server, or of an identity provider. What names an
// issuer or an address in it was checked when it was written.
type record struct {
	V        int      `json:"v"`
	Issuer   string   `json:"issuer"`
	Resource string   `json:"resource,omitempty"`
	Token    string   `json:"token_url"`
	Revoke   string   `json:"revoke_url,omitempty"`
	Methods  []string `json:"methods,omitempty"` // of Token, for a client of the settings

	// The client: of the settings (no secret is copied here), or registered.
	ClientID     string `json:"client_id"`
	ClientSecret secret `json:"client_secret,omitempty"`
	Method       string `json:"method,omitempty"`
	Registered   bool   `json:"registered,omitempty"`

	Access  secret    `json:"access,omitempty"`
	Refresh secret    `json:"refresh,omitempty"`
	ID      secret    `json:"id,omitempty"` // of an identity provider
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires,omitzero"`
	Scopes  []string  `json:"scopes,omitempty"` // that were given, or asked for where the server did not say
	Asked   []string  `json:"asked,omitempty"`
	Want    []string  `json:"want,omitempty"` // that a server wanted since
}

const recordVersion = 1

// early is how long before its end a token is refreshed, or half of its life when
// that is shorter.
const early = 5 * time.Minute

// fresh reports whether the token can be used for a while. A token whose end is
// not known can, and so can one that cannot be renewed: our clock may be wrong,
// and the server says what is over.
func (r record) fresh(now time.Time) bool {
	if r.Expires.IsZero() {
		return true
	}
	return now.Before(r.Expires.Add(-min(early, r.Expires.Sub(r.Issued)/2)))
}

// over reports whether the token's end has come.
func (r record) over(now time.Time) bool { return !r.Expires.IsZero() && !now.Before(r.Expires) }

// take puts what was given into the record.
func (r *record) take(g grant, asked []string, now time.Time) {
	r.Access, r.Issued, r.Expires = g.access, now.UTC().Round(0), time.Time{}
	if g.refresh != "" {
		r.Refresh = g.refresh
	}
	if g.id != "" {
		r.ID = g.id
	}
	if g.lifetime > 0 {
		r.Expires = r.Issued.Add(g.lifetime)
	}
	r.Asked = asked
	if r.Scopes = g.scopes; g.scopes == nil {
		r.Scopes = asked
	}
}

// key names the state of settings in a process and in the store: tokens are of
// one server, one way to sign in and, where the settings name it, one client. Of
// the URL only the host is seen, because some hold a key.
func (s Settings) key() string {
	id, host := s.ServerURL, ""
	if u, err := url.Parse(id); err == nil {
		id, host = canonical(u), strings.ToLower(u.Host)
	}
	return host + " " + short(strings.Join([]string{id, string(s.Flow), s.ClientID, s.MetadataURL, s.IdP.Issuer, s.IdP.ClientID}, "\n"))
}

// key names the state of an identity provider.
func (p IdP) key() string { return "idp " + short(p.Issuer+"\n"+p.ClientID) }

// load reads the record of a server, the zero one when there is none. Each
// issuer's has an entry of its own, and the one that a person signed in with last
// is the only one: sign-ins remove the others.
func (c *Client) load(ctx context.Context, s Settings) (record, auth.Place, error) {
	return c.read(ctx, s.key())
}

func (c *Client) read(ctx context.Context, key string) (record, auth.Place, error) {
	list, err := c.store.List()
	if err != nil {
		return record{}, "", err
	}
	for _, saved := range list {
		if !strings.HasPrefix(saved.Provider, key+" @") {
			continue
		}
		text, err := c.store.Get(ctx, saved.Provider)
		if errors.Is(err, auth.ErrNone) { // removed meanwhile
			continue
		}
		if err != nil {
			return record{}, "", hint.With(fmt.Errorf("the saved sign-in cannot be read: %w", err), fixOf(err))
		}
		raw, err := base64.RawURLEncoding.DecodeString(text)
		var r record
		if err != nil || json.Unmarshal(raw, &r) != nil || r.V != recordVersion || entry(key, r.Issuer) != saved.Provider {
			continue // of another adze: as if there was none
		}
		return r, saved.Place, nil
	}
	return record{}, "", nil
}

// fixOf is what mends a fault of the store. Its own words are of models' keys.
func fixOf(err error) string {
	if strings.Contains(err.Error(), "keyring") {
		return "unlock the system's keyring, or set ADZE_KEYRING=off and sign in again to use a file"
	}
	return hint.Of(err)
}

func entry(key, issuer string) string { return key + " @" + url.QueryEscape(issuer) }

// write keeps a record and removes those of other issuers.
func (c *Client) write(ctx context.Context, key string, r record) error {
	r.V = recordVersion
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	text := base64.RawURLEncoding.EncodeToString(raw)
	if len(text) > auth.MaxKey {
		return errors.New("the tokens that the server gave are too long to be kept")
	}
	own := entry(key, r.Issuer)
	if _, _, err := c.store.Save(ctx, own, text); err != nil {
		return fmt.Errorf("the sign-in cannot be saved: %w", err)
	}
	return c.drop(ctx, key, own)
}

// drop removes the records under a key but one.
func (c *Client) drop(ctx context.Context, key, but string) error {
	list, err := c.store.List()
	if err != nil {
		return err
	}
	for _, saved := range list {
		if strings.HasPrefix(saved.Provider, key+" @") && saved.Provider != but {
			if err := c.store.Delete(ctx, saved.Provider); err != nil && !errors.Is(err, auth.ErrNone) {
				return fmt.Errorf("the saved sign-in cannot be removed: %w", err)
			}
		}
	}
	return nil
}

// lock lets one process at a time renew the tokens under a key.
func (c *Client) lock(ctx context.Context, key string) (unlock func(), err error) {
	if err := makeDir(c.store.Dir); err != nil {
		return nil, err
	}
	return lease.Lock(ctx, c.store.Dir, "oauth-"+short(key))
}

package market

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/text/hint"
)

// keys is where secret options are kept.
func (s *Store) keys() auth.Store { return auth.Store{Dir: s.conf.Dir, Keyring: s.conf.Keyring} }

func keyOf(id, option string) string { return id + " " + option }

// encoded begins what is kept of a value that is no key: one with blanks, other
// letters, or line breaks.
const encoded = "adze:base64:"

// SaveSecret keeps a secret option; several values are as plugin.Join makes them. It
// says where, and why not in the keyring.
func (s *Store) SaveSecret(ctx context.Context, id, option, value string) (at auth.Place, why error, err error) {
	if auth.Check(value) != nil || strings.HasPrefix(value, encoded) {
		value = encoded + base64.StdEncoding.EncodeToString([]byte(value))
	}
	return s.keys().Save(ctx, keyOf(id, option), value)
}

// Secrets are the secret options of a plugin. They are for its own processes
// alone.
func (s *Store) Secrets(ctx context.Context, p plugin.Plugin) (map[string]string, error) {
	out := map[string]string{}
	for _, k := range p.Secrets() {
		v, err := s.keys().Get(ctx, keyOf(p.ID(), k))
		if errors.Is(err, auth.ErrNone) {
			continue
		}
		if text, ok := strings.CutPrefix(v, encoded); ok && err == nil {
			var b []byte
			b, err = base64.StdEncoding.DecodeString(text)
			v = string(b)
		}
		if err != nil {
			return out, &fault{fmt.Errorf("%s: the option %s: %w", p.ID(), k, err), "adze plugin enable " + hint.Shell(p.ID()) + " --set " + hint.Shell(k) + "=-"}
		}
		out[k] = v
	}
	return out, nil
}

// HasSecrets are the secret options of a plugin that are kept. No keyring is
// asked.
func (s *Store) HasSecrets(id string) (map[string]string, error) {
	list, err := s.keys().List()
	out := map[string]string{}
	for _, k := range list {
		if of, option, ok := strings.Cut(k.Provider, " "); ok && of == id {
			out[option] = ""
		}
	}
	return out, err
}

// forget removes the secret options of a plugin.
func (s *Store) forget(ctx context.Context, id string) (err error) {
	list, err := s.keys().List()
	for _, k := range list {
		if of, _, ok := strings.Cut(k.Provider, " "); ok && of == id {
			err = errors.Join(err, s.keys().Delete(ctx, k.Provider))
		}
	}
	return err
}

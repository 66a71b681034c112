package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/zalando/go-keyring"
)

// A Keyring is a store of the system's.
type Keyring interface {
	Set(service, user, password string) error
	Get(service, user string) (string, error)
	Delete(service, user string) error
}

var errNotFound = keyring.ErrNotFound

// System returns the keyring of this system, nil where none can work. On
// Linux that needs a session bus whose address is known: without one the
// library would start a program to find it. ADZE_KEYRING=off turns it off.
func System(goos string, env func(string) string) Keyring {
	if env("ADZE_KEYRING") == "off" {
		return nil
	}
	switch goos {
	case "darwin":
		if env("SSH_CONNECTION") != "" { // a question would open where nobody sits
			return nil
		}
		return system{}
	case "windows":
		return system{}
	case "linux", "freebsd", "openbsd", "netbsd", "dragonfly":
		for addr := range strings.SplitSeq(env("DBUS_SESSION_BUS_ADDRESS"), ";") {
			if strings.HasPrefix(addr, "unix:") { // others start programs or leave the machine
				continue
			}
			return nil
		}
		return system{}
	}
	return nil
}

type system struct{}

func (system) Set(service, user, password string) error { return keyring.Set(service, user, password) }
func (system) Get(service, user string) (string, error) { return keyring.Get(service, user) }
func (system) Delete(service, user string) error        { return keyring.Delete(service, user) }

// service names this store in a keyring that several share.
func (s Store) service() string { return "adze (" + s.Dir + ")" }

// ask does something with the keyring, for at most the limit. The library
// cannot be interrupted: what is late is left behind, and ends with the
// process if not before.
func (s Store) ask(ctx context.Context, do func() error) error {
	limit := s.Limit
	if limit == 0 {
		limit = keyringTime
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	done := make(chan error, 1)
	go func() { // ends with the library's call
		defer func() {
			if p := recover(); p != nil {
				done <- errors.New("the keyring's library failed")
			}
		}()
		done <- do()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Clean takes the line's end and blanks around a key away, as they come with
// copying.
func Clean(key string) string { return strings.TrimSpace(key) }

// Check says what about a text cannot be a key.
func Check(key string) error {
	switch {
	case key == "":
		return &Error{What: "the key is empty", Fix: "copy it from the provider's site"}
	case len(key) > MaxKey:
		return &Error{What: fmt.Sprintf("the key is longer than %d KiB", MaxKey>>10), Fix: "give the key alone"}
	case !utf8.ValidString(key) || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return &Error{What: "the key holds blanks, control characters or letters that keys do not have", Fix: "copy the key alone, on one line, without quotes or a name before it"}
	}
	return nil
}

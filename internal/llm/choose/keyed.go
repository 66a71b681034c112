package choose

import "context"

// A Keyed is a provider that takes a key.
type Keyed struct {
	Name string
	Vars []string // variables that hold the key, and go before a saved one
	// BaseURL is the variable that says where the provider is, "" for none.
	BaseURL string
}

// Keyed lists the providers that a key can be saved for. Clouds have
// credentials of their own; scripts and cassettes need none.
func (c *Chooser) Keyed() []Keyed {
	var out []Keyed
	for _, p := range c.providers {
		if p.wire != wireCloud && !p.wire.onDisk() {
			out = append(out, Keyed{p.name, p.keys, p.baseEnv})
		}
	}
	return out
}

// A SignedIn is how a provider would be asked.
type SignedIn struct {
	Provider  string // "" when there is no model to ask
	KeySource string // "" without a key
	Bearer    bool   // it is a token, no key
	Ready     bool   // there is a key, or none is needed
}

// SignedIn is how the provider of the model that Choose would take is asked. No command is
// run for a key.
func (c *Chooser) SignedIn(ctx context.Context, wishes ...string) (SignedIn, error) {
	p, _, err := c.find(ctx, wishes)
	if err != nil {
		return SignedIn{}, err
	}
	s := SignedIn{Provider: p.name}
	_, s.KeySource, s.Bearer = c.key(p)
	if s.KeySource == "" && c.usable(p) {
		s.KeySource = FromHelper
	}
	s.Ready = s.KeySource != "" || !c.needsKey(p)
	return s, nil
}

package choose

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
		switch p.wire {
		case "cloud", "script", "replay":
		default:
			out = append(out, Keyed{p.name, p.keys, p.baseEnv})
		}
	}
	return out
}

package event

import (
	"encoding/json"
	"strings"
)

// SettingsChanged says that settings files changed while the session ran:
// what of them counts from now on, and what does not.
type SettingsChanged struct {
	Changes []SettingChange `json:"changes,omitempty"`
	// Untrusted are files of the project that want more than counts before
	// the folder is trusted as it is now.
	Untrusted []string `json:"untrusted,omitempty"`
	Problems  []string `json:"problems,omitempty"` // mistakes in the files, in words
	Mended    []string `json:"mended,omitempty"`   // what was such a problem and is none any more, in words
}

// A SettingChange is a key with another value. Secrets in values are masked,
// and long values are left out with their size.
type SettingChange struct {
	Key string `json:"key"`
	// Old and New are JSON, null when unset. Of a list or a map, Added and
	// Removed say what differs instead.
	Old     json.RawMessage `json:"old,omitempty"`
	New     json.RawMessage `json:"new,omitempty"`
	Added   []string        `json:"added,omitempty"`
	Removed []string        `json:"removed,omitempty"`
	From    string          `json:"from,omitempty"`  // "file:line:column"
	Later   bool            `json:"later,omitempty"` // it counts from the next start only
}

// String says it on one line.
func (c SettingChange) String() string {
	var parts []string
	for _, x := range []struct {
		how  string
		list []string
	}{{"added ", c.Added}, {"removed ", c.Removed}} {
		if len(x.list) > 0 {
			parts = append(parts, x.how+strings.Join(x.list, ", "))
		}
	}
	if len(parts) == 0 {
		parts = []string{string(c.Old) + " → " + string(c.New)}
	}
	s := c.Key + ": " + strings.Join(parts, "; ")
	if c.From != "" {
		s += " (" + c.From + ")"
	}
	if c.Later {
		s += ", from the next start"
	}
	return s
}

// Lines says it in lines: what counts, what does not, and what is wrong.
func (b SettingsChanged) Lines() (counts, waits, wrong []string) {
	for _, c := range b.Changes {
		counts = append(counts, c.String())
	}
	counts = append(counts, b.Mended...)
	if len(b.Untrusted) > 0 {
		waits = []string{"what these files loosen does not count until the folder is trusted again (adze trust): " + strings.Join(b.Untrusted, ", ")}
	}
	return counts, waits, b.Problems
}

func (SettingsChanged) body() {}

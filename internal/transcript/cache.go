package transcript

import (
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// Cache is what is known of how much of the newest request a provider's cache
// served. All counts are tokens, as the provider said them.
type Cache struct {
	Prompt int           `json:"prompt,omitempty"` // of the newest request
	Read   int           `json:"read,omitempty"`   // of it, from the cache
	Before int           `json:"before,omitempty"` // of the request before; 0: there was none
	Idle   time.Duration `json:"idle,omitempty"`   // from the reply before to the newest request
	Any    bool          `json:"any,omitempty"`    // the provider has told of a cache in this session
	// Between is what happened between the two requests that can change the
	// beginning of the second, and Since what happened after it.
	Between []CacheChange `json:"between,omitempty"`
	Since   []CacheChange `json:"since,omitempty"`
}

// A CacheChange is something that can change what a request begins with.
type CacheChange string

// What changes the beginning of requests.
const (
	CacheModel     CacheChange = "model"     // another model has a cache of its own
	CacheTools     CacheChange = "tools"     // tools were added
	CacheCleared   CacheChange = "cleared"   // old results were cleared
	CacheStripped  CacheChange = "stripped"  // media were taken out
	CacheCompacted CacheChange = "compacted" // the conversation begins anew
	CacheRewound   CacheChange = "rewound"   // a person went back
	CacheResumed   CacheChange = "resumed"   // adze was started anew
)

// replied notes the reply to a request; before is when the one before came.
func (c Cache) replied(b event.Replied, at, before time.Time) Cache {
	if b.Usage.Prompt() <= 0 {
		return c
	}
	next := Cache{
		Prompt: b.Usage.Prompt(), Read: b.Usage.CacheRead, Before: c.Prompt, Between: c.Since,
		Any: c.Any || b.Usage.CacheRead+b.Usage.CacheWrite > 0,
	}
	if !before.IsZero() {
		next.Idle = max(0, at.Sub(before)-b.Took)
	}
	return next
}

func (c Cache) changed(what CacheChange) Cache {
	if !slices.Contains(c.Since, what) {
		c.Since = append(slices.Clip(c.Since), what)
	}
	return c
}

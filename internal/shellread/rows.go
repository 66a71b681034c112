package shellread

import (
	"maps"
	"sync"
)

// rows is the whole read-only table.
var rows = sync.OnceValue(func() map[string]*command {
	out := map[string]*command{}
	for _, family := range []map[string]*command{printRows, fileRows, textRows, systemRows, searchRows, goRows, packageRows, containerRows, hostRows} {
		maps.Copy(out, family)
	}
	return out
})

package ext

import (
	"maps"
	"slices"
)

// maxLog is how many lines of a server's log are kept.
const maxLog = 30

// wrote keeps a line that a server wrote.
func (f *Folder) wrote(server, line string) {
	f.mu.Lock()
	list := append(f.logs[server], line)
	if f.logs == nil {
		f.logs = map[string][]string{}
	}
	f.logs[server] = list[max(0, len(list)-maxLog):]
	tell := f.logged
	f.mu.Unlock()
	if tell != nil {
		tell(server, line)
	}
}

// Logged hands what servers wrote last, and each line from now on, to tell as well.
func (f *Folder) Logged(tell func(server, line string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, server := range slices.Sorted(maps.Keys(f.logs)) {
		for _, line := range f.logs[server] {
			tell(server, line)
		}
	}
	f.logged = tell
}

// Log is what a server wrote last: to its standard error, or as log messages.
func (f *Folder) Log(server string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.logs[server])
}

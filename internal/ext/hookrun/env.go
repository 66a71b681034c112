package hookrun

import (
	"os"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Bounds of what hooks set for commands.
const (
	maxVariables = 200
	maxEnvFile   = 256 << 10
)

// variables is the file that a hook writes what commands are to have to.
type variables struct{ path string }

func newVariables(dir string) (v variables, err error) {
	f, err := os.CreateTemp(dir, "env-")
	if err != nil {
		return v, err
	}
	return variables{f.Name()}, f.Close()
}

func (v variables) close() {
	if v.path != "" {
		_ = os.Remove(v.path) // the folder goes with the session
	}
}

// read returns the file's content, "" when it is none.
func (v variables) read() string {
	if v.path == "" {
		return ""
	}
	text, err := regular.Read(v.path, maxEnvFile)
	if err != nil {
		return ""
	}
	return string(text)
}

// assignment is a line of an environment file.
var assignment = pattern.Lazy(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

// learn takes over what a hook wrote for the commands that follow. The file is
// data: nothing in it is run, and a variable that makes programs load other code
// is refused.
func (r *Runner) learn(text string) {
	var refused []string
	for line := range strings.Lines(text) {
		m := assignment().FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		name, value := m[1], unquoted(m[2])
		switch {
		case name == "PATH":
			path := proc.Getenv(r.Env(), "PATH")
			if path == "" {
				path = proc.Getenv(r.conf.Environ(), "PATH")
			}
			value = strings.NewReplacer("${PATH}", path, "$PATH", path).Replace(value)
		case proc.Steering(name):
			refused = append(refused, name)
			continue
		}
		r.mu.Lock()
		if env := proc.Set(r.env, name+"="+value); len(env) <= maxVariables {
			r.env = env
		} else {
			refused = append(refused, name)
		}
		r.mu.Unlock()
	}
	if len(refused) > 0 {
		slices.Sort(refused)
		r.conf.Tell(event.Noted{Level: "warning", Text: "hooks set variables that commands do not get, because they make programs load other code, or there are too many: " + strings.Join(slices.Compact(refused), ", ")})
	}
}

// unquoted takes the quotes of a shell's word off. Nothing in it is expanded.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		s = s[1 : n-1]
	}
	return s
}

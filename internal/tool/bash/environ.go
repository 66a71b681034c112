package bash

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
	"github.com/adze-agent/adze/internal/tool"
)

// exports are what commands changed of the environment they began with. What a
// command in the sandbox exports reaches only those in the sandbox.
type exports struct {
	inside  delta // for what runs in the sandbox: of all commands
	outside delta // for what runs outside: of those that ran outside
}

// add takes over how a command changed the environment it was begun with.
func (x *exports) add(base, begun, now []string, confined bool) {
	change := diff(begun, now)
	x.inside = diff(base, change.apply(x.inside.apply(base)))
	if !confined {
		x.outside = diff(base, change.apply(x.outside.apply(base)))
	}
}

// mayLeave is what counts of the environment that came back from a command begun
// with begun: anything that it ran could write it. So only variables change that
// the script sets, as it was read; where its verdict rests on its only reading or
// editing, none that steers a program. odd are the names of others.
func mayLeave(s shellread.Script, pinned bool, begun, now []string) (kept, odd []string) {
	change := diff(begun, now)
	bad := func(name, value string) bool {
		return !s.Sets[name] && (pinned || !s.Any) || pinned && shellread.Steers(name, value)
	}
	var d delta
	for _, kv := range change.set {
		if name, value, _ := strings.Cut(kv, "="); bad(name, value) {
			odd = append(odd, name)
		} else {
			d.set = append(d.set, kv)
		}
	}
	for _, name := range change.unset {
		if bad(name, "") {
			odd = append(odd, name)
		} else {
			d.unset = append(d.unset, name)
		}
	}
	return d.apply(begun), odd
}

// of is the environment of a command that is not pinned.
func (x *exports) of(base []string, confined bool) []string {
	if confined {
		return x.inside.apply(base)
	}
	return x.outside.apply(base)
}

// Bounds of what is recorded of one command.
const (
	maxRecorded = 200
	maxValue    = 4096 // bytes
)

// recorded is what of a change may come back when the session is resumed: what
// steers no program. Of the rest only the name is said, so that no earlier
// value comes back in its place.
func recorded(d delta) (out []effect.Variable) {
	for _, kv := range d.set {
		name, value, _ := strings.Cut(kv, "=")
		if keeps(name, value) {
			out = append(out, effect.Variable{Name: name, Value: value})
		} else {
			out = append(out, effect.Variable{Name: name, Hidden: true})
		}
	}
	for _, name := range d.unset {
		out = append(out, effect.Variable{Name: name, Unset: !shellread.Steers(name, ""), Hidden: shellread.Steers(name, "")})
	}
	return out[:min(len(out), maxRecorded)]
}

// keeps reports whether a variable lasts from one run to the next.
func keeps(name, value string) bool {
	return plainName().MatchString(name) && len(value) <= maxValue && !strings.ContainsRune(value, 0) && !shellread.Steers(name, value)
}

var plainName = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

// resume takes over, once, what was exported before the session was resumed.
// The log is not trusted: what steers a program stays out, whoever wrote it there.
func (b *runner) resume(earlier []effect.Export) {
	b.resumed.Do(func() {
		for _, v := range earlier {
			if v.Hidden || !keeps(v.Name, v.Value) {
				continue
			}
			b.exports.inside = b.exports.inside.with(v.Variable)
			if !v.Confined {
				b.exports.outside = b.exports.outside.with(v.Variable)
			}
		}
	})
}

// with is d and the change of one more variable.
func (d delta) with(v effect.Variable) delta {
	out := delta{
		set:   slices.DeleteFunc(slices.Clone(d.set), func(kv string) bool { return strings.HasPrefix(kv, v.Name+"=") }),
		unset: slices.DeleteFunc(slices.Clone(d.unset), func(name string) bool { return name == v.Name }),
	}
	if v.Unset {
		out.unset = append(out.unset, v.Name)
	} else {
		out.set = append(out.set, v.Name+"="+v.Value)
	}
	return out
}

// pinned is the environment of commands that only read or edit: of what was
// exported, only what steers no program; of PATH, only folders that are not the
// commands' to write; and the pins on top.
func (b *runner) pinned(base []string, d delta, avoid []string) []string {
	mild := func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return name == "PATH" || !shellread.Steers(name, value)
	}
	var keep delta
	for _, kv := range d.set {
		if mild(kv) {
			keep.set = append(keep.set, kv)
		}
	}
	for _, name := range d.unset {
		if name != "PATH" && mild(name+"=") {
			keep.unset = append(keep.unset, name)
		}
	}
	safe := func(dir string) bool { return notWorldWritable(dir) && !inside(avoid, dir) }
	return proc.Pin(keep.apply(base), avoid, safe, b.Pins)
}

// avoid are the folders that commands write in, where no program is looked for.
func (b *runner) avoid(env tool.Env) []string {
	out := append([]string{}, env.Roots...)
	for _, dir := range []string{b.Temp, b.Confined, env.Scratch} {
		if dir == "" {
			continue
		}
		out = append(out, dir)
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
			out = append(out, real)
		}
	}
	return out
}

// inside reports whether path really lies in one of dirs.
func inside(dirs []string, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return paths.WithinAny(dirs, path) || err == nil && paths.WithinAny(dirs, real)
}

// notWorldWritable is true for a folder that only its owner and group change.
func notWorldWritable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && info.Mode().Perm()&0o002 == 0
}

// program is world.World.Program for the environment that commands get now
// when they are not pinned.
func (b *runner) program(env tool.Env) func(name string) string {
	b.mu.Lock()
	b.resume(env.Exports)
	d := b.exports.inside // holds what outside does
	b.mu.Unlock()
	var environ, avoid []string
	known := map[string]string{}
	return func(name string) string {
		if avoid == nil {
			environ, avoid = d.apply(proc.Scrub(b.Vars())), b.avoid(env)
		}
		why, ok := known[name]
		if !ok {
			why = cmp.Or(steered(d, name), steeredBy(environ, name), elsewhere(name, proc.Getenv(environ, "PATH"), avoid))
			known[name] = why
		}
		return why
	}
}

// elsewhere says why name, looked up in path, may be a program of the workspace.
func elsewhere(name, path string, avoid []string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			return fmt.Sprintf("PATH names the folder %q, which is another one in each folder", dir)
		}
		if file := filepath.Join(dir, name); proc.Executable(file) {
			if !proc.System(dir) && (inside(avoid, file) || inside(avoid, dir)) {
				return "PATH leads to " + file + " for it"
			}
			return ""
		}
	}
	return ""
}

// steered names a variable that an earlier command exported and that name obeys.
func steered(d delta, name string) string {
	for _, kv := range d.set {
		v, _, _ := strings.Cut(kv, "=")
		if proc.Steers(v, name) {
			return "an earlier command exported " + v
		}
	}
	return ""
}

// starts are variables that make a program which only reads start another one.
var starts = map[string][]string{
	"LESSOPEN": {"less", "more"}, "LESSCLOSE": {"less", "more"}, "LESSKEY": {"less", "more"}, "LESSKEYIN": {"less", "more"}, "LESSKEY_CONTENT": {"less", "more"},
	"RIPGREP_CONFIG_PATH": {"rg"}, "TAR_OPTIONS": {"tar"}, "BAT_CONFIG_PATH": {"bat", "batcat"}, "BAT_OPTS": {"bat", "batcat"},
}

// steeredBy names a variable of an environment that makes the program name start
// another one.
func steeredBy(environ []string, name string) string {
	for _, kv := range environ {
		if v, value, _ := strings.Cut(kv, "="); value != "" && slices.Contains(starts[v], name) {
			return "the variable " + v + " is set"
		}
	}
	return ""
}

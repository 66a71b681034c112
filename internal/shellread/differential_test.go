//go:build linux

package shellread_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// CI runs 8,000 with a seed of its own for each commit; ./test long runs a
// million. -seed repeats a run.
var (
	scripts = flag.Int("scripts", 1000, "random scripts per shell in the differential tests")
	seed    = flag.Uint64("seed", 1, "of the random scripts")
)

// batch is how many scripts are made at a time; one process runs those of them that are read.
const batch = 2000

// TestDifferentialBash: every command that bash really runs is one that we
// read, with the same arguments, or we said that we are not sure.
func TestDifferentialBash(t *testing.T) { differential(t, "bash", "--noprofile", "--norc") }

// TestDifferentialZsh is the same for zsh, which a person may have as shell:
// what it reads differently (words that are not split, =cmd, globs that must
// match, |&, a redirect without a command) must be unclear to us.
func TestDifferentialZsh(t *testing.T) { differential(t, "zsh", "-f") }

func differential(t *testing.T, shell string, flags ...string) {
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skip(shell + " is not installed")
	}
	box := sandbox(t)
	var next, hidden, ran, exact atomic.Int64
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for {
				n := int(next.Add(batch)) - batch
				if n >= *scripts || hidden.Load() > 20 {
					return
				}
				list := readable(newGenerator(*seed, uint64(n)), min(batch, *scripts-n))
				exact.Add(int64(len(list)))
				runBatch(t, box, path, flags, list)
				for _, r := range list {
					ran.Add(int64(len(r.ran)))
					if why := r.differs(shell); why != "" {
						hidden.Add(1)
						t.Errorf("%s: %s\n%q\nactions %+v", shell, why, r.script, r.got.Actions)
					}
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%s: %d scripts, %d read exactly (%d commands of them ran), %d hidden", shell, *scripts, exact.Load(), ran.Load(), hidden.Load())
	if exact.Load() < int64(*scripts)/20 || ran.Load() < int64(*scripts)/20 {
		t.Errorf("too few scripts mean anything")
	}
}

// readable makes n scripts and returns those that are read without a doubt.
// The others ask whatever they would do, so they need not run.
func readable(g generator, n int) []*result {
	var list []*result
	for range n {
		at := "/w/d/" + strconv.Itoa(len(list)+1)
		w := world.World{Dir: at, Home: "/w/home", Git: func(string) (bool, string) { return true, "" }, Glob: globIn(at)}
		r := &result{script: g.script(), dir: at}
		r.got = shellread.Read(r.script, w)
		if !slices.ContainsFunc(slices.Collect(policy.All(r.got.Actions)), func(a policy.Action) bool { _, o := a.(policy.Opaque); return o }) {
			list = append(list, r)
		}
	}
	return list
}

// sandbox is the start of a command line for a private mount, process and
// network namespace in which nothing but /w can be written, and a /tmp of its
// own, where shells keep here-documents.
func sandbox(t *testing.T) []string {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("random scripts only run in a sandbox, and bwrap is not installed")
	}
	argv := []string{bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"}
	for _, d := range []string{"/bin", "/lib", "/lib64"} {
		if to, err := os.Readlink(d); err == nil {
			argv = append(argv, "--symlink", to, d)
		} else if _, err := os.Stat(d); err == nil {
			argv = append(argv, "--ro-bind", d, d)
		}
	}
	if err := exec.Command(argv[0], append(argv[1:], "/bin/true")...).Run(); err != nil {
		t.Skipf("random scripts only run in a sandbox, and bwrap does not work here: %v", err)
	}
	return argv
}

// A result is what one script did.
type result struct {
	script string
	dir    string // where it runs, as it sees it
	got    shellread.Script
	ran    [][]string // argv of every stub that ran
	wrote  []string   // files in its folder that were not there, or changed
}

// stubs are functions that record their arguments. Some have names that the
// table of commands knows.
var stubs = strings.Fields("a b c no ls cat rm touch git find xargs env timeout nice nohup sed awk grep sort tee head echo true2 test2 bash sh make rg")

// driver runs every script of a file in a subshell of its own, in its folder.
// A script that does not end is ended: by its processor time, or by the
// number of its calls.
func driver() string {
	var b strings.Builder
	b.WriteString("PATH=/nonexistent; HOME=/w/home; FUNCNEST=40\n[ -z \"$ZSH_VERSION\" ] || zmodload zsh/system\nexec 9>>/w/log 8</w/scripts\n__n=0 __c=0\n")
	// Parts of a pipe write at the same time, and a shell writes at a line's end.
	b.WriteString("__nl='\n'\n")
	for _, s := range stubs {
		status, before := "0", ""
		switch s {
		case "no":
			status = "1"
		case "echo":
			before = "builtin echo \"$@\"; "
		case "cat": // what it prints is known to us: $(cat <<E …)
			before = "if [ $# = 0 ]; then while IFS= builtin read -r __l; do builtin printf '%s\\n' \"$__l\"; done; fi; "
		}
		fmt.Fprintf(&b, "%s() { builtin printf '%%s\\0' R \"$__n\" \"$#\" %s \"${@//$__nl/\x01}\" >&9; __c=$((__c+1)); if [ $__c -gt 100 ]; then builtin exit; fi; if [ $SECONDS -gt $((__s0+1)) ]; then builtin kill -KILL $__top; fi; %sbuiltin return %s; }\n", s, s, before, status)
	}
	for _, h := range []string{"command_not_found_handle", "command_not_found_handler"} {
		fmt.Fprintf(&b, "%s() { builtin printf '%%s\\0' R \"$__n\" $((${#}-1)) \"${@//$__nl/\x01}\" >&9; }\n", h)
	}
	b.WriteString("while IFS= builtin read -r -d '' __s <&8; do __n=$((__n+1)) __s0=$SECONDS; ( __top=${BASHPID:-${sysparams[pid]}}; builtin cd /w/d/$__n && ulimit -t 1 -f 40000 && builtin eval \"$__s\"; builtin wait ) 8<&- </dev/null >/dev/null 2>&1; done\n")
	return b.String()
}

// before are the files in each script's folder.
var before = map[string]string{"f1": "one\n", "g 2": "two\n", ".h": "three\n", "d1/x": "four\n"}

func runBatch(t *testing.T, box []string, shell string, flags []string, list []*result) {
	t.Helper()
	root, err := os.MkdirTemp(t.TempDir(), "w")
	if err != nil {
		t.Error(err)
		return
	}
	defer os.RemoveAll(root)
	var text strings.Builder
	for i, r := range list {
		text.WriteString(r.script + "\x00")
		dir := filepath.Join(root, "d", strconv.Itoa(i+1))
		if err := os.MkdirAll(filepath.Join(dir, "d1"), 0o755); err != nil {
			t.Error(err)
		}
		for name, text := range before {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
	for name, text := range map[string]string{"scripts": text.String(), "driver": driver(), "log": ""} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
	argv := slices.Concat(box[1:], []string{"--bind", root, "/w", "--chdir", "/w", "--clearenv", "--setenv", "LC_ALL", "C.UTF-8", shell}, flags, []string{"/w/driver"})
	cmd := exec.Command(box[0], argv...)
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	msg, err := cmd.CombinedOutput()
	if !timer.Stop() {
		t.Logf("a batch took more than half a minute and was ended: %v", err)
	} else if err != nil && len(msg) > 0 {
		t.Errorf("the driver failed: %v\n%s", err, msg)
	}
	log, err := os.ReadFile(filepath.Join(root, "log"))
	if err != nil {
		t.Error(err)
	}
	collect(list, string(log))
	for i, r := range list {
		r.wrote = changed(filepath.Join(root, "d", strconv.Itoa(i+1)))
	}
}

// collect gives each record of the log to its script.
func collect(out []*result, log string) {
	f := strings.Split(log, "\x00")
	for len(f) >= 4 && f[0] == "R" {
		n, err1 := strconv.Atoi(f[1])
		argc, err2 := strconv.Atoi(f[2])
		if err1 != nil || err2 != nil || n < 1 || n > len(out) || len(f) < 4+argc {
			break
		}
		if r := out[n-1]; len(r.ran) < 300 {
			r.ran = append(r.ran, f[3:4+argc])
		}
		f = f[4+argc:]
	}
}

// changed lists what is new or different in a script's folder.
func changed(dir string) []string {
	var out []string
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		rel, _ := filepath.Rel(dir, p)
		got, err := os.ReadFile(p)
		if want, known := before[rel]; err != nil || !known || !bytes.Equal(got, []byte(want)) {
			out = append(out, rel)
		}
		return nil
	})
	return out
}

// globIn matches patterns in the folder as it is at the start.
func globIn(at string) func(string) []string {
	return func(pattern string) []string {
		out := []string{}
		for _, name := range []string{"f1", "g 2", ".h", "d1", "d1/x"} {
			p := at + "/" + name
			base := filepath.Base(p)
			if ok, _ := filepath.Match(strings.ReplaceAll(pattern, "[!", "[^"), p); ok && (base[0] != '.' || strings.HasPrefix(filepath.Base(pattern), ".")) {
				out = append(out, p)
			}
		}
		return out
	}
}

// differs says what the shell did that is not among the actions.
func (r *result) differs(shell string) string {
	for _, argv := range r.ran {
		if shell == "zsh" && knownOfZsh(argv) {
			continue
		}
		if !slices.ContainsFunc(slices.Collect(policy.All(r.got.Actions)), func(a policy.Action) bool { return covers(a, argv) }) {
			return fmt.Sprintf("ran %q, which was not read", argv)
		}
	}
	for _, name := range r.wrote {
		if !slices.ContainsFunc(slices.Collect(policy.All(r.got.Actions)), func(a policy.Action) bool {
			if e, ok := a.(policy.Exec); ok && e.Loose && !e.ReadOnly && !e.Edits && (e.Argv[0] == "touch" || e.Argv[0] == "tee") {
				return true // "command -p" or a shell of its own ran the real one, with words that were said to be open
			}
			w, ok := a.(policy.Write)
			return ok && (w.Path == r.dir+"/"+name || w.Path == "/w/d" || w.Path == r.dir)
		}) {
			return fmt.Sprintf("wrote %q, which was not read", name)
		}
	}
	return ""
}

// knownOfZsh are the differences that do no harm: a redirect without a
// command runs NULLCMD or READNULLCMD, which only print, and time has no flag -p.
func knownOfZsh(argv []string) bool {
	return len(argv) == 1 && (argv[0] == "cat" || argv[0] == "more" || argv[0] == "pager") || argv[0] == "-p"
}

// covers reports whether an action is the command that ran: word for word,
// where the words were known.
func covers(a policy.Action, argv []string) bool {
	e, ok := a.(policy.Exec)
	if !ok || e.ReadOnly && strings.Contains(" a b c no rm touch make tee f g ", " "+e.Argv[0]+" ") {
		// The second is listed for deny rules only: it was read, but not as
		// something that runs.
		return false
	}
	same := func(ours, theirs string) bool { return strings.ReplaceAll(ours, "\n", "\x01") == theirs }
	if slices.EqualFunc(e.Argv, argv, same) || e.Loose && same(e.Argv[0], argv[0]) {
		return true
	}
	return slices.ContainsFunc(e.Also, func(also []string) bool { return also[0] == argv[0] })
}

package bash

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/shellread/world"
	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/tasks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig is a session's shell in a folder of its own.
type rig struct {
	t     *testing.T
	tools map[string]tool.Tool
	tasks *Tasks
	env   tool.Env

	bashRunner *runner // the Bash tool itself, for looking at what it builds
}

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("needs /bin/bash")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "work")
	for _, d := range []string{"work", "home", "session", "temp"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := Config{
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "LANG=C.UTF-8", "ANTHROPIC_API_KEY=sk-planted", "OTHER=x"},
		Temp:    filepath.Join(dir, "temp"),
		World:   func(d string) world.World { return world.World{Dir: d} },
	}
	if change != nil {
		change(&c)
	}
	b := newRunner(c)
	r := &rig{t: t, tasks: b.tasks, bashRunner: b, tools: map[string]tool.Tool{}, env: tool.Env{
		Dir: root, Roots: []string{root}, Home: filepath.Join(dir, "home"), Scratch: filepath.Join(dir, "session"),
		Progress: func(string) {},
	}}
	for _, x := range append(b.tools(), tasks.New(func() task.List { return task.List{b.tasks} })...) {
		r.tools[x.Spec().Name] = x
	}
	t.Cleanup(func() { b.tasks.Close(proc.Grace) })
	return r
}

// call runs a tool with a JSON input, as if everything were allowed, and follows
// the directory.
func (r *rig) call(ctx context.Context, name string, in any) tool.Result {
	r.t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		r.t.Fatal(err)
	}
	env := r.env
	if p, err := r.tools[name].Plan(raw, env); err == nil { // what makes no sense is for Run to say
		env.Needs = policy.Decide(policy.Rules{Dir: env.Dir}, policy.Bypass, policy.Request{Tool: name, Actions: p.Actions, Sandboxed: p.Sandboxed}).Needs
	}
	res, err := r.tools[name].Run(ctx, raw, env)
	if err != nil {
		r.t.Fatal(err)
	}
	if dirOf(res) != "" {
		r.env.Dir = dirOf(res)
	}
	return res
}

func (r *rig) bash(command string) tool.Result {
	r.t.Helper()
	return r.call(r.t.Context(), "Bash", map[string]any{"command": command})
}

func TestResults(t *testing.T) {
	r := newRig(t, nil)
	for _, c := range []struct {
		command, want string
		isErr         bool
	}{
		{"echo hello", "hello", false},
		{"true", "(no output)", false},
		{"echo out; echo err >&2; echo out2", "out\nerr\nout2", false},
		{"exit 3", "[exit code 3]", true},
		{"echo x; exit 3", "x\n[exit code 3]", true},
		{"grep zzz /dev/null", "[exit code 1: no match; that is not an error]", false},
		{"cd /nope 2>/dev/null && grep x y", "[exit code 1: no match; that is not an error]", false}, // printed nothing: cannot be told apart
		{"cd /nope && grep x y", "bash: line 1: cd: /nope: No such file or directory\n[exit code 1]", true},
		{"echo a >a; echo b >b; diff a b", "1c1\n< a\n---\n> b\n[exit code 1: the files differ; that is not an error]", false},
		{"test 1 = 2", "[exit code 1: the condition is false; that is not an error]", false},
		{"[[ a == b ]]", "[exit code 1: the condition is false; that is not an error]", false},
		{"cmp a b >/dev/null", "[exit code 1: the files differ; that is not an error]", false},
		{"nonesuch-command", "bash: line 1: nonesuch-command: command not found\n[exit code 127: command not found]", true},
		{"touch plain; ./plain", "bash: line 1: ./plain: Permission denied\n[exit code 126: found, but it cannot be run: not executable, or a directory]", true},
		{"kill -9 $$", "[exit code 137: killed (SIGKILL); often because memory ran out]", true},
		{"kill -SEGV $$", "[exit code 139: segmentation fault (SIGSEGV)]", true},
		{"bash -c 'kill -TERM $$'", "", true},
		{"printf 'a\\0b\\0'", "a\nb", false},
		{"printf '\\033[31mred\\033[0m\\n'", "red", false},
		{"cat", "(no output)", false},
		{"echo $0 $# \"$@\"", "bash 0", false},
		{"echo a # comment", "a", false},
		{"echo a \\", "a \\", false}, // as bash -c does
		{"cat <<E\nhi\nE", "hi", false},
		{"set -v\necho v", "echo v\nv", false},
		{"set -x; echo x", "++ echo x\nx", false},
		{"set -C; echo x", "x", false},
		{"tty", "not a tty\n[exit code 1]", true},
		{"echo \"$ANTHROPIC_API_KEY$OTHER$ADZE\"", "1", false},
	} {
		got := r.bash(c.command)
		if c.want == "" {
			c.want = got.Text
		}
		if got.Text != c.want || got.IsErr != c.isErr {
			t.Errorf("%q:\n got %q error %v\nwant %q error %v", c.command, got.Text, got.IsErr, c.want, c.isErr)
		}
	}
	if left, _ := os.ReadDir(r.tasks.conf.Temp); len(left) != 0 {
		t.Errorf("left in the private folder: %v", left)
	}
	if s := strings.Join(lsTree(r.env.Scratch), " "); s != "" {
		t.Errorf("left in the session's folder: %s", s)
	}
}

func lsTree(dir string) (out []string) {
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, p)
		}
		return nil
	})
	return out
}

// TestWrapsEnvironmentIsNotTheCommands: what the sandbox sets for a command
// inside does not stay, and what a command sets inside does not go outside.
func TestWrapsEnvironmentIsNotTheCommands(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Wrap = func(p *proc.Command, _ policy.Needs) (policy.Kept, error) {
			p.Env = proc.Unset(proc.Set(p.Env, "HTTP_PROXY=http://inside", "FLAGS="+proc.Getenv(p.Env, "FLAGS")+"+"), "LANG")
			return policy.Kept{}, nil
		}
	})
	outside := func(command string) string {
		return r.call(t.Context(), "Bash", map[string]any{"command": command, "dangerously_disable_sandbox": true}).Text
	}
	r.bash("export MINE=1 PATH=/evil:$PATH LD_PRELOAD_X=evil; export SEEN=$HTTP_PROXY")
	r.bash("export MINE=2")
	if got := r.bash("echo $MINE:$SEEN:$HTTP_PROXY:$FLAGS:$LANG:${PATH%%:*}; trap : USR1").Text; got != "2:http://inside:http://inside:+::/evil" {
		t.Error(got)
	}
	if got := outside("trap : USR1; echo $MINE:$SEEN:$HTTP_PROXY:$FLAGS:$LANG:$LD_PRELOAD_X; case $PATH in *evil*) echo evil;; esac"); got != "::::C.UTF-8:" {
		t.Error(got)
	}
	outside("export FROM_OUTSIDE=1")
	if got := r.bash("echo $FROM_OUTSIDE:$MINE:$FLAGS; trap : USR1").Text; got != "1:2:+" {
		t.Error(got)
	}
}

// TestCVE_2026_39861_PlantedLinks: what we write ourselves beside a command's
// own files follows no link that a command put there.
func TestCVE_2026_39861_PlantedLinks(t *testing.T) {
	r := newRig(t, nil)
	r.env.Scratch = ""
	victim := filepath.Join(r.env.Home, "victim")
	if err := os.Mkdir(victim, 0o755); err != nil {
		t.Fatal(err)
	}
	temp := r.bashRunner.Temp
	plant := "ln -s " + victim + " " + temp + "/tool-results; ln -s " + victim + " " + temp + "/tasks; for i in $(seq 20); do ln -s " + victim + "/script " + temp + "/script-$i; done"
	if got := r.bash(plant); got.IsErr {
		t.Fatal(got.Text)
	}
	r.bash(": " + strings.Repeat("x", maxArg) + "; echo long")
	r.bash("seq 100000; false")
	r.call(t.Context(), "Bash", map[string]any{"command": "echo background", "run_in_background": true})
	if list, err := os.ReadDir(victim); err != nil || len(list) > 0 {
		t.Errorf("written through a link: %v %v", list, err)
	}
}

// TestAdvisories holds published weaknesses of running shells against us:
// go test -run 'TestAdvisories/changelog_2.1.309'.
func TestAdvisories(t *testing.T) {
	t.Run("changelog_2.1.309_no_start_files", func(t *testing.T) {
		var marker string
		r := newRig(t, func(c *Config) {
			home := proc.Getenv(c.Environ, "HOME")
			marker = filepath.Join(home, "ran")
			start := filepath.Join(home, "start")
			for _, n := range []string{".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshenv", ".zshrc", ".kshrc", "start"} {
				if err := os.WriteFile(filepath.Join(home, n), []byte("echo "+n+" >>"+marker+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			c.Environ = append(c.Environ, "BASH_ENV="+start, "ENV="+start, "PROMPT_COMMAND=. "+start, "SHELLOPTS=xtrace", "BASH_FUNC_ls%%=() { . "+start+"; }")
		})
		for _, command := range []string{"ls", "echo x >f", "bash -c 'echo inner'", "sh -c 'echo inner'", "ls | cat"} {
			if res := r.bash(command); res.IsErr || strings.Contains(res.Text, "+ ") {
				t.Errorf("%s: %s", command, res.Text)
			}
		}
		if b, err := os.ReadFile(marker); err == nil {
			t.Errorf("start files ran: %s", b)
		}
	})
	t.Run("changelog_2.1.321_what_only_reads_runs_inside_too", func(t *testing.T) {
		var wrapped []string
		r := newRig(t, func(c *Config) {
			c.Wrap = func(p *proc.Command, _ policy.Needs) (policy.Kept, error) {
				wrapped = append(wrapped, p.Args[len(p.Args)-2])
				return policy.Kept{}, nil
			}
		})
		for _, command := range []string{"ls", "cat /dev/null", "head -n 1 /dev/null", "pwd"} {
			if in := (input{Command: command}); !r.bashRunner.read(in.Command, r.env).ReadOnly {
				t.Errorf("%s does not count as reading, so it shows nothing", command)
			}
			n := len(wrapped)
			if r.bash(command); len(wrapped) != n+1 || !strings.Contains(wrapped[n], command) {
				t.Errorf("%s ran outside", command)
			}
		}
	})
}

// dirOf is where later calls run, "" when nothing changed.
func dirOf(r tool.Result) string {
	d, _ := effect.Of[effect.Dir](r.Effects)
	return d.Path
}

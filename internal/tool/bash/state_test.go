package bash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Directory and exported variables survive every way out of a command.
func TestStateLasts(t *testing.T) {
	for _, c := range []struct{ name, command, out string }{
		{"plain", "export A=1; mkdir -p d; cd d", "1 d"},
		{"exit", "export A=1; mkdir -p d; cd d; exit 3", "1 d"},
		{"set -e", "set -e; export A=1; mkdir -p d; cd d; false; export A=2", "1 d"},
		{"set -u", "set -u; export A=1; mkdir -p d; cd d; echo $nope; export A=2", "1 d"},
		{"syntax error after", "export A=1; mkdir -p d; cd d\nif then", "1 d"},
		{"syntax error at once", "export A=1; if then fi", " work"},
		{"open quote", "export A=1; echo 'x", " work"},
		{"open heredoc", "export A=1; mkdir -p d; cd d; cat <<E\nx", "1 d"},
		{"comment at the end", "export A=1; mkdir -p d; cd d # it's (", "1 d"},
		{"backslash at the end", "export A=1; mkdir -p d; cd d; echo \\", "1 d"},
		{"exec", "export A=1; mkdir -p d; cd d; exec true", " work"},
		{"exec of a descriptor", "exec >/dev/null 2>&1; export A=1; mkdir -p d; cd d; exec 3>&1", "1 d"},
		{"closed output", "exec >&- 2>&-; export A=1; mkdir -p d; cd d", "1 d"},
		{"own exit trap", "trap 'echo bye' EXIT; export A=1; mkdir -p d; cd d", "1 d"},
		{"subshell", "(export A=1; mkdir -p d; cd d)", " work"},
		{"odd value", "export A=$'x\\ny \"q\" \\'s\\' =$(id) é'; mkdir -p d; cd d", "x\ny \"q\" 's' =$(id) é d"},
		{"IFS, noglob, noclobber", "IFS=_; set -f; set -C; export A=1 A_B=2; mkdir -p d; cd d", "1 d"},
		{"allexport", "set -a; A=1; mkdir -p d; cd d", "1 d"},
		{"functions in the way", "printf() { echo no; }; pwd() { echo /; }; export A=1; mkdir -p d; cd d", "1 d"},
		{"not exported", "A=1; mkdir -p d; cd d", " d"},
		{"a name with blanks", "mkdir -p 'x y'; cd 'x y'; export A=1", "1 x y"},
	} {
		r := newRig(t, nil)
		r.bash(c.command)
		got := r.bash(`builtin printf '%s %s' "$A" "${PWD##*/}"`)
		if got.Text != c.out {
			t.Errorf("%s: %q, want %q", c.name, got.Text, c.out)
		}
		if env := r.bash("env | grep -c __adze").Text; !strings.HasPrefix(env, "0") {
			t.Errorf("%s: our variables leak: %s", c.name, env)
		}
		r.tasks.Close(0)
	}
}

func TestEnvironmentChanges(t *testing.T) {
	r := newRig(t, nil)
	r.bash("export A=1 B=2; unset LANG; export HOME=/elsewhere BASH_ENV=/tmp/x ENV=y; PATH=$PATH:/extra")
	if got := r.bash("trap : USR1; echo $A $B ${LANG-unset} $HOME ${BASH_ENV-none} ${ENV-none} ${PATH##*:}").Text; got != "1 2 unset /elsewhere none none /extra" {
		t.Errorf("%q", got)
	}
	r.bash("unset A; export LANG=C.UTF-8")
	if got := r.bash("trap : USR1; echo ${A-unset} $B $LANG $SHLVL").Text; got != "unset 2 C.UTF-8 1" && got != "unset 2 C.UTF-8 0" {
		t.Errorf("%q", got)
	}
	// Read as read-only, the same command gets the settings we began with.
	if got := r.bash("echo $HOME ${PATH##*:}").Text; !strings.HasPrefix(got, r.env.Home+" ") {
		t.Errorf("%q", got)
	}
	// A pinned command sees none of what could steer it.
	r.bash("export LD_PRELOAD_X=1 GIT_DIR=/x PAGER=less; export PATH=" + r.env.Dir + "/bin:$PATH")
	pinned := r.env
	pinned.Needs.Pinned = true
	c, fs, _, err := r.bashRunner.command(input{Command: "env"}, pinned, true)
	if err != nil || fs.script != "" || fs.state != "" || len(c.Files) != 0 {
		t.Fatal(fs, err)
	}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		if name == "GIT_DIR" || name == "PAGER" && value != "cat" || name == "HOME" && value == "/elsewhere" || name == "PATH" && strings.Contains(value, r.env.Dir) {
			t.Errorf("pinned command has %s", kv)
		}
	}
	if !slices.Contains(c.Env, "B=2") {
		t.Error("pinned command lost B")
	}
}

func TestDirectoryStaysInside(t *testing.T) {
	r := newRig(t, nil)
	root := r.env.Dir
	if err := os.Symlink("/usr", filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "in", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("in/deep", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, text, dir string }{
		{"cd /usr", "(no output)\n[the working directory was reset to " + root + ": /usr is outside the allowed folders]", ""},
		{"cd out && pwd", root + "/out\n[the working directory was reset to " + root + ": /usr is outside the allowed folders]", ""},
		{"cd " + root + "/../work", "(no output)", ""},
		{"cd link", "(no output)", root + "/in/deep"},
		{"cd ..", "(no output)", root + "/in"},
		{"cd deep; cd -", root + "/in", ""},
	} {
		if got := r.bash(c.command); got.Text != c.text || dirOf(got) != c.dir || got.IsErr {
			t.Errorf("%s: %q dir %q", c.command, got.Text, dirOf(got))
		}
	}
}

func TestHugeCommand(t *testing.T) {
	r := newRig(t, nil)
	text := strings.Repeat("it's \"long\" $x\n", 20_000)
	got := r.bash("export A=1\ncat >f <<'E'\n" + text + "E\nwc -c <f")
	if strings.TrimSpace(got.Text) != "300000" || got.IsErr {
		t.Errorf("%q", got.Text)
	}
	if got := r.bash("echo $A"); got.Text != "1" {
		t.Errorf("%q", got.Text)
	}
	if left, _ := os.ReadDir(r.tasks.conf.Temp); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func FuzzParseState(f *testing.F) {
	f.Add("/x\x00A=1\x00B=\x00end\x00")
	f.Add("\x00end\x00")
	f.Add("/x\ny\x00end\x00")
	f.Add("/x\x00A=1\x00end\x00/y\x00end\x00")
	f.Add("/x\x00__adze_s=1\x00no\x00=\x00é=1\x00PWD=/\x00end\x00")
	f.Fuzz(func(t *testing.T, s string) {
		e, err := parseState(s)
		if err == nil && s != "" && !strings.HasSuffix(s, "\x00end\x00") {
			t.Fatalf("%q is taken", s)
		}
		if err != nil && (e.dir != "" || e.vars != nil) {
			t.Fatalf("%q: %v, and %+v", s, err, e)
		}
		if e.dir != "" && (!filepath.IsAbs(e.dir) || strings.ContainsAny(e.dir, "\n\r\x1b") || len(e.dir) > maxDir) {
			t.Fatalf("%q: folder %q", s, e.dir)
		}
		d := diff(nil, e.vars)
		for _, kv := range d.apply([]string{"A=0"}) {
			name, _, found := strings.Cut(kv, "=")
			if !found || !lasting(name) || strings.ContainsRune(kv, 0) {
				t.Fatalf("%q → %q", s, kv)
			}
		}
	})
}

// A row of progress that comes in pieces is shown as it is last.
func TestFeedOverwrites(t *testing.T) {
	for _, pieces := range [][]string{
		{"\rstep 1", "\rstep 2", "\rstep 3"}, {"step 1\r", "step 2\r", "step 3\r"}, {"a\n", "st", "ep 1\rstep 2", "\r", "\r", "step 3", "\nb\n"},
		{"step 1\r\n", "step 2\r\n"}, {"half", " a line\rwhole"},
	} {
		o := proc.NewOutput(proc.OutputConfig{})
		var got strings.Builder
		fd := feed{out: o, show: func(s string) { got.WriteString(s) }}
		for _, p := range pieces {
			_, _ = o.Write([]byte(p))
			fd.send()
		}
		if want := clip.Clean(strings.Join(pieces, "")); clip.Clean(got.String()) != want {
			t.Errorf("%q is shown as %q, want %q", pieces, clip.Clean(got.String()), want)
		}
	}
}

// Pieces of live output, appended, never show a raw control byte but carriage
// returns, and lose nothing that ends in time.
func FuzzFeed(f *testing.F) {
	f.Add([]byte("abc\n\x1b[31mred\x1b[0m\n世界"), 3)
	f.Add([]byte("a\r\nb\rc\n"), 1)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = max(1, min(size, 4000))
		if len(in) > progressMax {
			return
		}
		o := proc.NewOutput(proc.OutputConfig{})
		var got strings.Builder
		fd := feed{out: o, show: func(s string) { got.WriteString(s) }}
		for rest := in; len(rest) > 0; {
			n := min(size, len(rest))
			_, _ = o.Write(rest[:n])
			fd.send()
			rest = rest[n:]
		}
		s := got.String()
		if bare := strings.ReplaceAll(s, "\r", ""); !utf8.ValidString(s) || bare != clip.Clean(bare) {
			t.Fatalf("%q → %q", in, s)
		}
	})
}

// TestConfinedOrNotAtAll: what is allowed only inside the sandbox does not run
// where there is none any more.
func TestConfinedOrNotAtAll(t *testing.T) {
	there := true
	r := newRig(t, func(c *Config) {
		c.Wrap = func(*proc.Command, policy.Needs) (policy.Kept, error) { return policy.Kept{}, nil }
		c.Passes = func() bool { return there }
	})
	r.env.Needs.Confined = true
	run := func(in input) string {
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.tools["Bash"].Run(t.Context(), raw, r.env)
		if err != nil {
			t.Fatal(err)
		}
		return res.Text
	}
	if got := run(input{Command: "echo inside"}); got != "inside" {
		t.Error(got)
	}
	if got := run(input{Command: "echo outside", NoSandbox: true}); !strings.HasPrefix(got, "the command was not run: it is allowed only inside") {
		t.Error(got)
	}
	there = false
	if got := run(input{Command: "echo outside"}); !strings.HasPrefix(got, "the command was not run: it is allowed only inside") {
		t.Error(got)
	}
}

// TestHostileState: what a command writes where its shell leaves its state is
// data. It counts only as a whole, moves no further than cd could, and is told
// when it does not count.
func TestHostileState(t *testing.T) {
	r := newRig(t, nil)
	if err := os.MkdirAll(filepath.Join(r.env.Dir, "a\nb"), 0o700); err != nil {
		t.Fatal(err)
	}
	whole := `printf '%s\0' "$PWD" A=evil end >&250; `
	for name, c := range map[string]struct{ command, says string }{
		"words before it":         {"export A=1; echo words >&250", "[the folder and the variables are as before the command: "},
		"a whole one before it":   {"export A=1; " + whole, "as before the command"},
		"half of one":             {`export A=1; printf '%s\0' /x A >&250; exec true`, "as before the command"},
		"too much":                {"export A=1; head -c 3000000 /dev/zero >&250", "as before the command"},
		"a child writes it":       {"export A=1; bash -c 'echo x >&250'", "as before the command"},
		"one of a killed shell":   {whole + "kill -9 $$", "killed"},
		"a name with two lines":   {"export A=1; cd 'a\nb'", `has a name that is not kept]`},
		"a variable that is huge": {`export A=$(head -c 110000 /dev/zero | tr '\0' x)`, "the variable A is too long"},
		"many variables":          {`for i in $(seq 10); do export "V$i=$(head -c 90000 /dev/zero | tr '\0' x)"; done; export A=1`, "is too long"},
		"nothing, with the end":   {"export A=1; exec 250>&-", ""},
		"a descriptor of its own": {"exec 3>three 4>four; echo x >&3; cat three", "x"},
	} {
		res := r.bash(c.command)
		if !strings.Contains(res.Text, c.says) || dirOf(res) != "" {
			t.Errorf("%s: %q dir %q", name, res.Text, dirOf(res))
		}
		if got := r.bash("echo ${A-unset}").Text; got != "unset" {
			t.Errorf("%s: A is %s", name, got)
		}
	}
	if res := r.bash(`trap : USR1; printf '%s\0' /etc LD_PRELOAD_X=x IFS=/ BASH_ENV=x B=1 end >&250; exec true`); dirOf(res) != "" || !strings.Contains(res.Text, "/etc is outside") {
		t.Errorf("%+v", res)
	}
	if got := r.bash("trap : USR1; echo ${BASH_ENV-none} $B").Text; got != "none 1" {
		t.Error(got)
	}
	// Nothing of ours lies where commands write.
	if left := lsTree(r.bashRunner.Temp); len(left) != 0 {
		t.Error(left)
	}
}

// TestForgedState: of a command, only variables that it sets, as it was read, come
// back; what it runs has the shell's way of leaving its state too.
func TestForgedState(t *testing.T) {
	r := newRig(t, nil)
	forge := "#!/bin/bash\nprintf '%s\\0' \"$PWD\" \"HOME=$HOME\" LD_PRELOAD_X=x GIT_SSH_COMMAND=x A=evil B=2 end >&250\n"
	if err := os.WriteFile(filepath.Join(r.env.Dir, "forge"), []byte(forge), 0o700); err != nil {
		t.Fatal(err)
	}
	r.bash("export A=1 DONE=1")
	seen := func() string {
		return r.bash("trap : USR1; echo $A ${B-none} ${DONE-none} ${LD_PRELOAD_X-none} ${GIT_SSH_COMMAND-none}").Text
	}
	for _, c := range []struct{ command, says, want string }{
		{"cd .; exec ./forge", "nothing in the command sets are as before it", "1 none 1 none none"},
		{"B=1; exec ./forge", "LD_PRELOAD_X GIT_SSH_COMMAND A", "1 2 1 none none"},
		{"A=3; mkdir d", "(no output)", "3 2 1 none none"},
		{"unset DONE; read -r A < forge; exec ./forge", "GIT_SSH_COMMAND", "evil 2 none none none"},
		{"source ./forge; exec true", "(no output)", "evil 2 none x x"}, // it may set anything
	} {
		if got := r.bash(c.command).Text; !strings.Contains(got, c.says) {
			t.Errorf("%s: %q", c.command, got)
		}
		if got := seen(); got != c.want {
			t.Errorf("after %s: %s, want %s", c.command, got, c.want)
		}
	}
	s := shellread.Script{Any: true, Sets: map[string]bool{"A": true, "PATH": true}}
	kept, odd := mayLeave(s, true, []string{"A=1", "PATH=/bin"}, []string{"A=2", "PATH=/x", "B=1"})
	if want := []string{"PATH=/bin", "A=2"}; !slices.Equal(kept, want) || !slices.Equal(odd, []string{"PATH", "B"}) {
		t.Errorf("of one that is pinned: %q, %q", kept, odd)
	}
}

// TestLongCommandIsWhatWasAllowed: it reaches the shell as memory that nothing
// else can open, not as a file.
func TestLongCommandIsWhatWasAllowed(t *testing.T) {
	r := newRig(t, nil)
	c, h, _, err := r.bashRunner.command(input{Command: "echo long # " + strings.Repeat("x", maxArg)}, r.env, false)
	if err != nil {
		t.Fatal(err)
	}
	defer h.drop()
	if len(c.Files) != 2 || len(lsTree(r.bashRunner.Temp)) != 0 {
		t.Errorf("%d files, %v", len(c.Files), lsTree(r.bashRunner.Temp))
	}
	if _, err := c.Files[0].WriteAt([]byte("id #"), 0); err == nil {
		t.Error("it can be changed")
	}
}

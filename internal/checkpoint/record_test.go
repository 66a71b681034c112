package checkpoint_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
)

func TestRecorderLooksWhereACallMayWrite(t *testing.T) {
	dir := tempTree(t)
	outside := filepath.Join(tempTree(t), "o")
	shell(t, dir, `printf a >a; printf b >b`)
	shell(t, filepath.Dir(outside), `printf o >o`)
	for _, x := range []struct {
		name    string
		actions []policy.Action
		want    []string
	}{
		{"a file it names", []policy.Action{policy.Write{Path: filepath.Join(dir, "a")}}, []string{"a"}},
		{"a file outside", []policy.Action{policy.Write{Path: outside}}, []string{"o"}},
		{"a command", []policy.Action{policy.Exec{Argv: []string{"x"}}}, []string{"a", "b"}},
		{"a command and a file outside", []policy.Action{policy.Exec{Argv: []string{"x"}}, policy.Write{Path: outside}, policy.Write{Path: filepath.Join(dir, "a")}}, []string{"a", "b", "o"}},
		{"a tree", []policy.Action{policy.Write{Path: dir, Tree: true}}, []string{"a", "b"}},
		{"another server", []policy.Action{policy.Call{Server: "s", Tool: "t"}}, []string{"a", "b"}},
		{"only reading", []policy.Action{policy.Exec{Argv: []string{"ls"}, ReadOnly: true}, policy.Read{Path: dir}}, nil},
	} {
		tree, blobs := newTree(t, dir)
		r := &checkpoint.Recorder{Trees: []*checkpoint.Tree{tree}, Blobs: blobs}
		end, note := r.Begin(context.Background(), x.actions)
		shell(t, dir, `printf + >>a; printf + >>b; printf + >>`+outside)
		var got []string
		for _, c := range end(context.Background()).Files {
			got = append(got, filepath.Base(c.Path))
		}
		if d := cmp.Diff(x.want, got); d != "" || note != "" {
			t.Errorf("%s: %s%s", x.name, d, note)
		}
	}
}

// With a new file go the folders that were made for it, and come back with it.
func TestRecorderKnowsTheFoldersOfANewFile(t *testing.T) {
	for _, inside := range []bool{true, false} {
		dir := tempTree(t)
		at := dir
		if !inside {
			at = tempTree(t)
		}
		tree, blobs := newTree(t, dir)
		r := &checkpoint.Recorder{Trees: []*checkpoint.Tree{tree}, Blobs: blobs}
		end, _ := r.Begin(t.Context(), []policy.Action{policy.Write{Path: filepath.Join(at, "x/y/f")}})
		shell(t, at, `mkdir -p x/y; printf f >x/y/f`)
		got := end(t.Context()).Files
		if _, problems, err := checkpoint.Restore(t.Context(), blobs, checkpoint.Back(got)); err != nil || len(problems) > 0 || len(got) != 3 {
			t.Errorf("%+v: %q %v", got, problems, err)
		}
		if _, err := os.Stat(filepath.Join(at, "x")); !os.IsNotExist(err) {
			t.Errorf("its folders stay: %v", err)
		}
	}
}

// A file that says it is huge costs neither memory nor disk, and that its content
// is not kept is said; nothing overwrites it when the rest is put back.
func TestRecorderLeavesHugeFiles(t *testing.T) {
	dir := tempTree(t)
	huge := filepath.Join(dir, "huge")
	for _, x := range []struct{ name, before, script string }{
		{"appended", "truncate -s 1T huge", "printf x >>huge"},
		{"changed in place", "truncate -s 1T huge", "printf x | dd of=huge conv=notrunc status=none"},
		{"it became huge", "rm -f huge; printf x >huge", "truncate -s 1T huge"},
	} {
		shell(t, dir, x.before)
		tree, blobs := newTree(t, dir)
		r := &checkpoint.Recorder{Trees: []*checkpoint.Tree{tree}, Blobs: blobs}
		end, _ := r.Begin(context.Background(), []policy.Action{policy.Write{Path: huge}})
		shell(t, dir, x.script)
		got := end(context.Background())
		if lost := x.name != "it became huge"; lost != (len(got.Missed) == 1) || lost && blobs.bytes() > 0 {
			t.Errorf("%s: missed %q, %d bytes kept", x.name, got.Missed, blobs.bytes())
		}
		done, problems, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(got.Files))
		if fi, bad := os.Stat(huge); err != nil || bad != nil || len(done) > 0 || len(got.Files) > 0 && len(problems) == 0 || fi.Size() < 1<<40 {
			t.Errorf("%s: restored %v, problems %q, %v %v", x.name, done, problems, err, bad)
		}
	}
}

// What a call leaves running, and a call that never ends, change files between
// calls; what a person does then is nobody's.
func TestRecorderBetweenCalls(t *testing.T) {
	for _, x := range []struct {
		name string
		busy bool
		want int
	}{{"a person", false, 0}, {"a task in the background", true, 1}} {
		dir := tempTree(t)
		shell(t, dir, `printf a >a`)
		tree, blobs := newTree(t, dir)
		r := &checkpoint.Recorder{Trees: []*checkpoint.Tree{tree}, Blobs: blobs, Beside: func() bool { return x.busy }}
		command := []policy.Action{policy.Exec{Argv: []string{"x"}}}
		end, _ := r.Begin(context.Background(), command)
		end(context.Background())
		shell(t, dir, `printf b >a`)
		end, _ = r.Begin(context.Background(), command)
		c := end(context.Background())
		if len(c.Files) != x.want {
			t.Errorf("%s: %d changes, want %d", x.name, len(c.Files), x.want)
		}
		if x.want > 0 {
			if _, _, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(c.Files)); err != nil {
				t.Error(err)
			}
			if b, _ := os.ReadFile(filepath.Join(dir, "a")); string(b) != "a" {
				t.Errorf("%s: a is %q", x.name, b)
			}
		}
	}
}

// What a task in the background changes after its call is found while no call runs, whatever
// its command was taken for; not what a rewind or a person does, nor what happens beside one
// that only reads.
func TestRecorderLate(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct {
		name    string
		command []policy.Action
		want    int
	}{
		{"any command", []policy.Action{policy.Exec{Argv: []string{"x"}}}, 2},
		{"one that changes what it names", []policy.Action{policy.Exec{Argv: []string{"sed", "-i"}, Edits: true}}, 2},
		{"one that writes what it reads", []policy.Action{policy.Exec{Argv: []string{"cat"}, ReadOnly: true}, policy.Write{Path: "/nowhere/c"}}, 2},
		{"one that reads", []policy.Action{policy.Exec{Argv: []string{"tail", "-f"}, ReadOnly: true}}, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := tempTree(t)
			shell(t, dir, `printf a >a; printf b >b`)
			tree, blobs := newTree(t, dir)
			busy := false
			r := &checkpoint.Recorder{Trees: []*checkpoint.Tree{tree}, Blobs: blobs, Beside: func() bool { return busy }}
			end, _ := r.Begin(ctx, x.command)
			busy = true
			end(ctx)
			shell(t, dir, `printf c >a; rm b`)
			end, _ = r.Begin(ctx, nil)
			if c := r.Late(ctx); len(c.Files) != 0 {
				t.Errorf("a call runs, whose end says it: %v", c)
			}
			end(ctx)
			c := r.Late(ctx)
			if len(c.Files) != x.want || len(c.Missed) != 0 {
				t.Fatalf("%+v, want %d changes", c, x.want)
			}
			if x.want == 0 {
				return
			}
			if _, problems, _, err := r.TakeBack(ctx, c.Files, func([]effect.Change) error { return nil }, nil); err != nil || len(problems) > 0 {
				t.Error(err, problems)
			}
			for _, name := range []string{"a", "b"} {
				if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != name {
					t.Errorf("%s is %q", name, got)
				}
			}
			if c := r.Late(ctx); c.Any() {
				t.Errorf("what the rewind did counts: %v", c)
			}
			shell(t, dir, `printf d >a`)
			busy = false
			if c := r.Late(ctx); len(c.Files) != 1 {
				t.Errorf("%v: of the task that ended a change was to be found", c)
			}
			shell(t, dir, `printf e >a`)
			if c := r.Late(ctx); c.Any() {
				t.Errorf("a person's change counts: %v", c)
			}
		})
	}
}

// Changes of one path by several calls are one: from the first to the last.
func TestBack(t *testing.T) {
	file := func(hash string) effect.Version { return effect.Version{Kind: effect.IsFile, Hash: hash} }
	got := checkpoint.Back([]effect.Change{
		{Path: "/b", Before: effect.Version{}, After: file("1")}, {Path: "/a", Before: file("x"), After: file("y")},
		{Path: "/b", Before: file("1"), After: file("2")}, {Path: "/a", Before: file("y"), After: file("x")},
	})
	if d := cmp.Diff([]effect.Change{{Path: "/b", Before: file("2"), After: effect.Version{}}}, got); d != "" {
		t.Error(d)
	}
}

// Every tree is looked at; one that cannot be is left out, which a person is told once, and each
// record says.
func TestRecorderLooksAtSeveralTrees(t *testing.T) {
	one, two, large := tempTree(t), tempTree(t), tempTree(t)
	shell(t, one, `printf a >a`)
	shell(t, two, `printf b >b`)
	shell(t, large, `printf c >c; printf d >d`)
	first, blobs := newTree(t, one)
	second, _ := newTree(t, two, func(c *checkpoint.Config) { c.Blobs = blobs })
	third, _ := newTree(t, large, func(c *checkpoint.Config) { c.Limits.Files = 1 })
	r := &checkpoint.Recorder{Trees: []*checkpoint.Tree{first, third, second}, Blobs: blobs}
	for i := range 2 {
		end, note := r.Begin(context.Background(), []policy.Action{policy.Exec{Argv: []string{"x"}}, policy.Write{Path: filepath.Join(two, "b")}})
		if i == 0 != strings.Contains(note, "in "+large+": ") {
			t.Errorf("call %d: note %q", i, note)
		}
		shell(t, one, `printf + >>a; printf + >>`+filepath.Join(two, "b"))
		got := end(context.Background())
		var names []string
		for _, c := range got.Files {
			names = append(names, c.Path)
		}
		if d := cmp.Diff([]string{filepath.Join(one, "a"), filepath.Join(two, "b")}, names); d != "" || len(got.Missed) != 1 || !strings.Contains(got.Missed[0], "in "+large+": ") {
			t.Errorf("call %d: %s %q", i, d, got.Missed)
		}
	}
}

// What adze itself writes in a tree that holds its folders is no call's doing.
func TestRecorderLeavesOurOwnFolders(t *testing.T) {
	dir := tempTree(t)
	shell(t, dir, `mkdir -p state/blobs; printf a >a`)
	tree, blobs := newTree(t, dir, func(c *checkpoint.Config) { c.Leave = []string{filepath.Join(dir, "state")} })
	r := &checkpoint.Recorder{Trees: []*checkpoint.Tree{tree}, Blobs: blobs}
	end, _ := r.Begin(context.Background(), []policy.Action{policy.Exec{Argv: []string{"x"}}})
	shell(t, dir, `printf + >>a; printf b >state/blobs/b; mkdir state/more`)
	got := end(context.Background())
	if len(got.Files) != 1 || got.Files[0].Path != filepath.Join(dir, "a") || len(got.Missed) > 0 {
		t.Errorf("%+v", got)
	}
}

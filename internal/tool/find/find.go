// Package find holds the tools that look for files: Glob by name and Grep by
// content. Both only read, and run in this process on package search. What
// they print is bounded here; which folders may be searched is decided by
// others, from their plans.
package find

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/tool"
)

//go:embed glob.md
var globText string

//go:embed grep.md
var grepText string

// Limits of results for the model, in bytes (tools.md).
const (
	grepLimit = 20_000
	globLimit = 100_000
)

// New returns Glob and Grep.
func New() []tool.Tool {
	t := &tools{calls: &pin.Calls{}}
	return []tool.Tool{
		tool.New(tool.Spec{Name: "Glob", Again: true, Description: strings.TrimSpace(globText), Limit: globLimit}, t.planGlob, t.glob),
		tool.NewWithSchema(tool.Spec{Name: "Grep", Again: true, Description: strings.TrimSpace(grepText), Limit: grepLimit}, grepSchema(), t.planGrep, t.grep),
	}
}

type tools struct {
	calls *pin.Calls
}

// locate returns the resolved path of a folder or file the model named; "" is
// the working directory.
func locate(asked string, env tool.Env) (string, error) {
	return place.Locate(env.Dir, env.Home, cmp.Or(asked, "."))
}

// gone says that a path does not exist; a missing working directory is named
// as such, because no path of the model's is to blame.
func gone(asked string, env tool.Env) error {
	if env.Dir != "" {
		if _, err := os.Stat(env.Dir); err != nil && (asked == "" || !filepath.IsAbs(asked)) {
			return fmt.Errorf("the working directory %s does not exist any more", env.Dir)
		}
	}
	return fmt.Errorf("path %s does not exist", asked)
}

// plan is a plan to read below the path that was asked for.
func (t *tools) plan(asked, title string, env tool.Env) (tool.Plan, error) {
	path, err := locate(asked, env)
	if err != nil {
		return tool.Plan{}, err
	}
	t.calls.Plan(env.Call, asked, path)
	return tool.Plan{
		Actions:  []policy.Action{policy.Read{Path: path, Asked: asked, Folder: !isFile(path)}},
		Title:    title,
		Parallel: true,
		Fold:     "search",
	}, nil
}

// root is the path of a call at run time.
func (t *tools) root(asked string, env tool.Env) (string, error) {
	path, err := locate(asked, env)
	if err != nil {
		return "", err
	}
	return t.calls.Run(env.Call, asked, path)
}

// A hunt is one call's tree, and how many of its files are left out, by why.
type hunt struct {
	search.Tree
	denied, asked, secret atomic.Int64
}

// tree is what a call searches. Files that could not be read without a refusal
// or a question are left out; names only says that their names alone are shown,
// so that secrets are not meant.
func (t *tools) tree(asked, root string, names bool, env tool.Env) *hunt {
	h := &hunt{Tree: t.folder(root, env)}
	if env.Covers == nil {
		return h
	}
	named := paths.Absolute(env.Dir, env.Home, asked) // with its links
	h.Leave = func(rel string) bool {
		path := search.Path(root, rel)
		reached := path
		if named != root {
			reached = search.Path(named, rel)
		}
		switch env.Covers(env.Mode, path, reached) {
		case policy.Denied:
			h.denied.Add(1)
		case policy.Asked:
			if names {
				return false
			}
			h.asked.Add(1)
		case policy.Secret:
			if names {
				return false
			}
			h.secret.Add(1)
		case policy.Uncovered:
			return false
		}
		return true
	}
	return h
}

// left says how many files are not shown, a line for each reason.
func (h *hunt) left() string {
	var b strings.Builder
	for _, x := range []struct {
		n   int64
		why string
	}{{h.denied.Load(), "a rule denies %s"}, {h.asked.Load(), "a rule asks about %s; use Read"}, {h.secret.Load(), "%s may hold secrets; use Read"}} {
		switch {
		case x.n == 1:
			fmt.Fprintf(&b, "[1 file is not shown: "+x.why+"]\n", "it")
		case x.n > 1:
			fmt.Fprintf(&b, "[%s files are not shown: "+x.why+"]\n", thousands(int(x.n)), "them")
		}
	}
	return strings.Replace(b.String(), "them may hold", "they may hold", 1)
}

func (t *tools) folder(root string, env tool.Env) search.Tree {
	tree := search.Tree{Root: root, Home: env.Home}
	for _, r := range append([]string{env.Dir}, env.Roots...) {
		if r != "" && paths.Within(r, root) && len(r) > len(tree.Top) {
			tree.Top = r
		}
	}
	if env.Scratch != "" && !paths.Within(env.Scratch, root) {
		tree.Skip = []string{env.Scratch}
	}
	return tree
}

// shown names a found path for the model: relative to the working directory
// when it is below it.
func shown(root, rel string, env tool.Env) string {
	abs := search.Path(root, rel)
	if short := paths.Short(env.Dir, abs); short != abs {
		return clip.Clean(filepath.ToSlash(short))
	}
	return clip.Clean(abs)
}

// unread tells what a search could not look at.
func unread(r search.Report) string {
	if r.Denied == 0 {
		return ""
	}
	what := "folders or files"
	if r.Denied == 1 {
		what = "folder or file"
	}
	return fmt.Sprintf("[%d %s could not be read, such as %s]", r.Denied, what, clip.Clean(r.Example))
}

// failed is the result of a search that did not end.
func failed(err error, asked string, env tool.Env) tool.Result {
	if errors.Is(err, search.ErrGone) {
		err = gone(asked, env)
	}
	return tool.Errorf("%s", clip.Clean(err.Error()))
}

func isFile(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular()
}

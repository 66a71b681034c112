package find

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/tool"
)

// maxFound bounds the files of one result.
const maxFound = 1000

type globIn struct {
	Pattern string `json:"pattern" jsonschema:"such as **/*.go"`
	Path    string `json:"path,omitempty" jsonschema:"the folder to search (default: the working directory)"`
}

// split moves the fixed folders of a pattern into the path: those of an absolute
// pattern, or of one that climbs with "..", because a search never leaves its
// root, and those that are folders or links, because a folder that is named is
// meant, also when it is a link or git ignores it. A name that exists as it is
// written is no pattern.
func (in globIn) split(env tool.Env) (path, pattern string) {
	path, pattern = in.Path, filepath.ToSlash(in.Pattern)
	if strings.HasPrefix(pattern, "!") {
		return path, pattern
	}
	away := strings.HasPrefix(pattern, "~/") || filepath.IsAbs(in.Pattern) || pattern == ".." || strings.HasPrefix(pattern, "../")
	if away && !strings.HasPrefix(pattern, "..") {
		path = ""
	}
	pattern = strings.TrimPrefix(pattern, "./")
	fixed := ""
	if path != "" {
		fixed = strings.TrimSuffix(path, "/") + "/"
	}
	for {
		name, after, more := strings.Cut(pattern, "/")
		if !more || after == "" || name == "**" {
			break
		}
		plain := !strings.ContainsAny(name, magic)
		if !(plain && away) && !isDir(paths.Absolute(env.Dir, env.Home, fixed+name)) {
			break
		}
		fixed += name + "/"
		pattern = after
	}
	if pattern != "" && strings.ContainsAny(pattern, magic) && exists(paths.Absolute(env.Dir, env.Home, fixed+pattern)) {
		pattern = literal(pattern)
	}
	if fixed != "/" {
		fixed = strings.TrimSuffix(fixed, "/")
	}
	return fixed, pattern
}

// magic are the characters that mean something in a pattern.
const magic = `*?[{\`

// literal is the pattern of a name.
func literal(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(magic+"]}!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (t *tools) planGlob(in globIn, env tool.Env) (tool.Plan, error) {
	if strings.TrimSpace(in.Pattern) == "" {
		return tool.Plan{}, errors.New("pattern is empty")
	}
	path, pattern := in.split(env)
	return t.plan(path, "Glob "+clip.Line(clip.Clean(pattern), 80), env)
}

func (t *tools) glob(ctx context.Context, in globIn, env tool.Env) (tool.Result, error) {
	path, pattern := in.split(env)
	root, err := t.root(path, env)
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	began := time.Now()
	h := t.tree(path, root, true, env)
	found, report, err := search.Glob(ctx, h.Tree, pattern)
	if ctx.Err() != nil {
		return tool.Errorf("the search was cancelled"), nil
	}
	if err != nil {
		return failed(err, path, env), nil
	}
	deeper := false
	if len(found) == 0 && !strings.Contains(pattern, "/") && !strings.HasPrefix(pattern, "!") {
		h = t.tree(path, root, true, env)
		if found, report, err = search.Glob(ctx, h.Tree, "**/"+pattern); err != nil {
			return failed(err, path, env), nil
		}
		deeper = len(found) > 0
	}
	text, n := listing(root, found, deeper, h.left()+unread(report), env)
	took := time.Since(began).Milliseconds()
	return tool.Result{Text: text, Data: func() any {
		names := []string{}
		for _, f := range found[:n] {
			names = append(names, shown(root, f.Rel, env))
		}
		return map[string]any{"durationMs": took, "numFiles": n, "filenames": names, "truncated": len(found) > n, "totalMatches": len(found)}
	}}, nil
}

// listing is what the model reads, with how many of what was found it names.
func listing(root string, found []search.Found, deeper bool, notes string, env tool.Env) (text string, named int) {
	var b strings.Builder
	n := 0
	for _, f := range found {
		name := shown(root, f.Rel, env)
		if n == maxFound || b.Len()+len(name) > globLimit-1000 {
			break
		}
		b.WriteString(name)
		b.WriteByte('\n')
		n++
	}
	if n == 0 {
		b.WriteString("No files found.\n")
	}
	if deeper {
		b.WriteString("[none directly in the folder; these are further down, as **/ finds them]\n")
	}
	if left := len(found) - n; left > 0 {
		fmt.Fprintf(&b, "[%s left out; use a narrower pattern or path]\n", thousands(left)+" older files")
	}
	b.WriteString(notes)
	return strings.TrimSuffix(b.String(), "\n"), n
}

// thousands writes 4120 as 4,120.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

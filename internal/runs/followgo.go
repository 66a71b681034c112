package runs

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/paths"
)

// Bounds of what is followed of Go: packages of one server, and what is read of a
// file for its imports, in bytes.
const (
	maxPackages = 500
	maxImports  = 64 << 10
)

// goSwitches are flags of "go run" without a value.
var goSwitches = []string{"-a", "-n", "-v", "-x", "-race", "-msan", "-asan", "-cover", "-work", "-trimpath", "-modcacherw", "-json"}

// followGo adds the package that "go run" names, with those of its module, of
// folders that replace modules and of vendor which it imports.
func (r *Finder) followGo(args []string, dir, what string) {
	var rest []string
	for i, ran := 0, false; i < len(args); i++ {
		a := args[i]
		switch {
		case strings.HasPrefix(a, "-C="):
			dir = paths.Absolute(dir, r.Home, a[3:])
		case a == "-C" && i+1 < len(args):
			i++
			dir = paths.Absolute(dir, r.Home, args[i])
		case !ran && a != "run" && a != "tool":
			return
		case !ran:
			ran = true
		case !strings.HasPrefix(a, "-"):
			rest = args[i:]
			i = len(args)
		case !strings.Contains(a, "=") && !slices.Contains(goSwitches, a):
			i++ // its value
		}
	}
	if rest == nil {
		return
	}
	mod := moduleOf(resolved(dir), r.Dirs)
	for _, m := range []string{"go.mod", "go.sum", "go.work"} {
		r.there(filepath.Join(mod.dir, m), what)
	}
	var queue []string
	switch f := first(rest); {
	case strings.HasSuffix(f, ".go"):
		queue = []string{filepath.Dir(paths.Absolute(dir, r.Home, f))}
	case strings.HasPrefix(f, ".") || filepath.IsAbs(f):
		queue = []string{paths.Absolute(dir, r.Home, f)}
	case f != "":
		queue = mod.folders(f)
	}
	for i := 0; i < len(queue) && i < maxPackages; i++ {
		r.sources(queue[i], goFiles, false, i > 0)
		for _, name := range importsIn(queue[i]) {
			for _, d := range mod.folders(name) {
				if !slices.Contains(queue, d) {
					queue = append(queue, d)
				}
			}
		}
	}
}

// A module is where imports lead in a folder.
type module struct {
	dir   string
	roots map[string]string // folders, by the path of the module
}

// moduleOf finds the module of a folder inside of others.
func moduleOf(dir string, within []string) module {
	m := module{dir: dir, roots: map[string]string{}}
	for at := dir; paths.WithinAny(within, at); at = filepath.Dir(at) {
		text := head(filepath.Join(at, "go.mod"), 1<<20)
		if text == nil {
			if at == filepath.Dir(at) {
				break
			}
			continue
		}
		m.dir = at
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "//")
			words := strings.Fields(line)
			if len(words) == 2 && words[0] == "module" {
				m.roots[unquoted(words[1])] = at
			}
			if i := slices.Index(words, "=>"); i > 0 && i+1 < len(words) && strings.HasPrefix(unquoted(words[i+1]), ".") {
				of := words[0]
				if of == "replace" && i > 1 {
					of = words[1]
				}
				m.roots[unquoted(of)] = filepath.Join(at, filepath.FromSlash(unquoted(words[i+1])))
			}
		}
		break
	}
	return m
}

func unquoted(s string) string { return strings.Trim(s, "\"`") }

// folders are where a package can be in the folder, none of one from elsewhere.
func (m module) folders(name string) (out []string) {
	for root, dir := range m.roots {
		if rest, ok := strings.CutPrefix(name, root); ok && (rest == "" || rest[0] == '/') {
			out = append(out, filepath.Join(dir, filepath.FromSlash(rest)))
		}
	}
	vendored := filepath.Join(m.dir, "vendor", filepath.FromSlash(path.Clean(name)))
	if info, err := os.Stat(vendored); strings.Contains(name, ".") && err == nil && info.IsDir() {
		out = append(out, vendored)
	}
	return out
}

// importsIn are the packages that the Go files of a folder import.
func importsIn(dir string) (out []string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			out = append(out, goImports(string(head(filepath.Join(dir, e.Name()), maxImports)))...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// goImports are the paths that a Go file imports. It reads what stands before the
// first other declaration, and so needs no parser.
func goImports(text string) (out []string) {
	paren := false
	for text = skipGo(text); text != ""; text = skipGo(text) {
		switch c := text[0]; {
		case c == '"' || c == '`':
			end := strings.IndexByte(text[1:], c)
			if end < 0 {
				return out
			}
			if v, err := strconv.Unquote(text[:end+2]); err == nil {
				out = append(out, v)
			}
			text = text[end+2:]
		case c == '(' || c == ')':
			paren, text = c == '(', text[1:]
		case c == ';' || c == '.':
			text = text[1:]
		default:
			n := strings.IndexAny(text, " \t\r\n\"`();./")
			if n <= 0 {
				return out
			}
			word := text[:n]
			if text = text[n:]; !paren && slices.Contains([]string{"func", "var", "const", "type"}, word) {
				return out
			}
		}
	}
	return out
}

// skipGo leaves out space and comments.
func skipGo(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n\ufeff")
		switch {
		case strings.HasPrefix(text, "//"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
		default:
			return text
		}
	}
}

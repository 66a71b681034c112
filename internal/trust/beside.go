package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// skillFile is the file that makes a folder a skill.
const skillFile = "SKILL.md"

// SkillFile is the kind of what lies beside a SKILL.md: its scripts and texts.
const SkillFile Kind = "file of a skill"

// Bounds of what may lie beside a SKILL.md. Of a skill with more nothing is used.
const (
	maxBeside      = 500 // files
	maxBesideSize  = 8 << 20
	maxBesideDepth = 8
	maxBesideAll   = 8000 // files, of all skills of a folder
)

// skill takes a skill: its SKILL.md with all that lies beside it, or nothing of it.
func (l *looker) skill(at string) {
	n := len(l.v.Files)
	l.file(at, Skill)
	if len(l.v.Files) == n {
		return
	}
	files, err := beside(l.root, path.Dir(at))
	size := int64(0)
	for _, f := range files {
		size += f.size
	}
	switch {
	case err != nil:
		l.v.Files = l.v.Files[:n]
		l.bad(path.Dir(at), Skill, err)
	case l.total+size > maxTotal || l.beside+len(files) > maxBesideAll:
		l.v.Files = l.v.Files[:n]
		l.over++
	default:
		l.total, l.beside = l.total+size, l.beside+len(files)
		l.v.Files = append(l.v.Files, files...)
	}
}

// Beside reports whether what lies beside a SKILL.md, a path below root, is what was
// looked at with it.
func Beside(root, at string, seen []File) bool {
	r, err := os.OpenRoot(root)
	if err != nil {
		return false
	}
	defer r.Close()
	files, err := beside(r, path.Dir(at))
	if err != nil {
		return false
	}
	want, now := map[string]string{}, map[string]string{}
	for _, f := range seen {
		if f.Kind == SkillFile && strings.HasPrefix(f.Path, path.Dir(at)+"/") {
			want[f.Path] = f.Sum
		}
	}
	for _, f := range files {
		now[f.Path] = f.Sum
	}
	return maps.Equal(want, now)
}

// beside is what lies in the folder of a skill, beside its SKILL.md.
func beside(root *os.Root, dir string) ([]File, error) {
	b := besides{root: root, skill: path.Join(dir, skillFile)}
	return b.files, b.folder(dir, maxBesideDepth)
}

type besides struct {
	root  *os.Root
	skill string
	files []File
	size  int64
}

func (b *besides) folder(dir string, depth int) error {
	if depth == 0 {
		return errors.New("too deep")
	}
	d, err := b.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	list, err := d.ReadDir(maxNames + 1)
	d.Close()
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case len(list) > maxNames:
		return fmt.Errorf("it holds more than %d names", maxNames)
	}
	order.By(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range list {
		at := path.Join(dir, e.Name())
		if at == b.skill || e.Name() == ".git" || e.Name() == ".DS_Store" { // git brings none of its own
			continue
		}
		if err := b.entry(at, e.Type(), depth); err != nil {
			return err
		}
	}
	return nil
}

// entry takes a file, or what a folder holds. A link is where it leads, and what is
// there, if that is below the root.
func (b *besides) entry(at string, kind fs.FileMode, depth int) error {
	name := filepath.FromSlash(at)
	var text []byte
	if kind == fs.ModeSymlink {
		to, err := b.root.Readlink(name)
		if err != nil {
			return err
		}
		text = []byte("link to " + to + "\n")
		info, err := b.root.Stat(name)
		if err != nil {
			return b.take(at, text)
		}
		kind = info.Mode().Type()
	}
	switch {
	case kind.IsDir():
		if text != nil {
			if err := b.take(at, text); err != nil {
				return err
			}
		}
		return b.folder(at, depth-1)
	case kind != 0: // a pipe, a socket: nothing runs from there
		return nil
	}
	content, err := readBelow(b.root, name, maxBesideSize)
	if err != nil {
		return err
	}
	if compiled(at, content) {
		return nil
	}
	return b.take(at, append(text, content...))
}

func (b *besides) take(at string, text []byte) error {
	b.size += int64(len(text))
	if len(b.files) == maxBeside || b.size > maxBesideSize {
		return fmt.Errorf("the skill is not used, because its folder holds more than %d files or %d MiB", maxBeside, maxBesideSize>>20)
	}
	f := File{Path: at, Kind: SkillFile, Sum: sum(text), size: int64(len(text))}
	if len(text) <= maxCopy && !clip.Binary(text) { // else nobody looks at a difference
		f.text = append([]byte{}, text...)
	}
	b.files = append(b.files, f)
	return nil
}

// compiled reports whether a file is what Python made of a source beside it when it ran,
// and looks at that source (its size and time) before it uses it: PEP 552.
func compiled(at string, text []byte) bool {
	return path.Base(path.Dir(at)) == "__pycache__" && path.Ext(at) == ".pyc" && len(text) >= 8 && bytes.Equal(text[4:8], make([]byte, 4))
}

// besideClaims say what lies beside each SKILL.md, in a line each.
func (v Verdict) besideClaims() (out []Claim) {
	for _, s := range v.Files {
		if s.Kind != Skill {
			continue
		}
		var names []string
		size := int64(0)
		for _, f := range v.Files {
			if rel, below := strings.CutPrefix(f.Path, path.Dir(s.Path)+"/"); below && f.Kind == SkillFile {
				names, size = append(names, rel), size+f.size
			}
		}
		if len(names) > 0 {
			about := fmt.Sprintf("%s, %s: ", clip.Count(len(names), "file"), clip.Size(size))
			out = append(out, claim(s.Path, 0, "what lies beside it", "%s%s", about, strings.Join(names, ", ")))
		}
	}
	return out
}

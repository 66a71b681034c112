package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// maxFitted bounds the names of files that one script's unknown words are compared
// with, all together; beyond it a word may name any file.
const maxFitted = 400_000

// A fits is what a word that is not known may name below a folder.
type fits struct{ below *policy.Below }

// MayName adds, for rules that forbid, the files below the folders it may run in
// that a word which is not known may name: by how it surely begins and ends. write
// says that they are written, otherwise they are read.
func (r *Recorder) MayName(w Word, dirs []string, write bool) {
	if w.Substitution || w.Kind != Unknown && (w.Kind != Number || !w.Many) || strings.HasPrefix(w.Head, "/dev/") || strings.HasPrefix(w.Head, "-") {
		return
	}
	if strings.HasPrefix(w.Head, "/proc/") {
		for _, t := range r.inProcess("/proc/self"+w.Tail, w.Source, dirs, false) {
			r.Add(policy.Read{Path: t.Real, Named: t.Named, Asked: t.Asked, Sure: policy.Possible})
		}
	}
	if len(dirs) == 0 {
		dirs = []string{r.World.Dir}
	}
	for _, d := range dirs {
		if d == "" {
			continue
		}
		below := r.fitting(d, plainEnd(w.Head, true), plainEnd(w.Tail, false))
		switch {
		case below == nil || len(below.Paths) == 0 && below.Short == "":
		case write:
			r.Add(policy.Write{Path: d, Named: d, Asked: w.Source, Within: true, Sure: policy.Guessed, Below: below})
		default:
			r.Add(policy.Read{Path: d, Named: d, Asked: w.Source, Tree: true, Sure: policy.Possible, Below: below})
		}
	}
}

// somewhere is MayName for a name that counts from a folder which is not known.
func (r *Recorder) somewhere(w Word, dirs []string, write bool) {
	if w.Kind == Exact && len(dirs) == 0 && w.Text != "" && !path.IsAbs(w.Text) {
		r.MayName(Word{Kind: Unknown, Tail: "/" + w.Text, Source: w.Source}, nil, write)
	}
}

// plainEnd is a head or tail of a path as it can be compared with names: without
// what "." and ".." make mean something else.
func plainEnd(s string, head bool) string {
	segs := strings.Split(s, "/")
	for i, seg := range segs {
		if seg != "." && seg != ".." && (seg != "" || i == 0 || i == len(segs)-1) {
			continue
		}
		if head {
			return ""
		}
		return plainEnd(strings.Join(segs[i+1:], "/"), head)
	}
	return s
}

// fitting lists the files below a folder whose names begin and end so; nil when
// nobody can look.
func (r *Recorder) fitting(dir, head, tail string) *policy.Below {
	key := dir + "\x00" + head + "\x00" + tail
	if got, ok := r.fits[key]; ok {
		return got.below
	}
	all := r.below(dir, dir, pick{})
	if all != nil && (head != "" || tail != "") {
		if r.fitted += len(all.Paths); r.fitted > maxFitted {
			return r.fitting(dir, "", "")
		}
		some := &policy.Below{Short: all.Short}
		for _, p := range all.Paths {
			if fit(strings.TrimPrefix(p.Path, dir+"/"), p.Path, head, tail) {
				some.Paths = append(some.Paths, p)
			}
		}
		all = some
	}
	if r.fits == nil {
		r.fits = map[string]*fits{}
	}
	r.fits[key] = &fits{all}
	return all
}

// fit reports whether a file may be spelled with a head and a tail. The head is a
// name from the folder, or the whole path.
func fit(rel, full, head, tail string) bool {
	begins := head == "" || strings.HasPrefix(rel, head) && len(rel) >= len(head)+len(tail) || strings.HasPrefix(full, head)
	return begins && (strings.HasSuffix(full, tail) || strings.HasPrefix(tail, "/") && rel == tail[1:])
}

// unknownOperand adds what an operand that is not known may name to a program that
// is known to read or write what it is given. nth is its place among the operands.
func (u *Invocation) unknownOperand(w Word, nth int) {
	changes := u.r.Table.Changes(u.name) || u.is(copier|writer) || u.r.Table.of(u.name).changesFolders()
	row := u.r.Table.of(u.name).row
	if !changes && (row == nil || !row.reads()) {
		return
	}
	if row != nil && operandKind(row, nth) == 'x' || row == nil && u.name == "sed" && nth == 0 {
		return
	}
	if !NamesOnly(u.name) {
		u.mayName(w, false)
	}
	if changes {
		u.mayName(w, true)
	}
}

// operandKind is what a row says of its nth operand.
func operandKind(row *command, nth int) byte {
	kinds := strings.Fields(row.args)
	if len(kinds) == 0 {
		return 'x'
	}
	return kinds[min(nth, len(kinds)-1)][0]
}

// fromList adds all files of the folder for a command that takes the names of those
// it reads from elsewhere: from its standard input or from a file.
func (u *Invocation) fromList(ws []Word) {
	some := u.is(listed)
	for _, f := range flagsTaking(u.r.Table.of(u.name).takes, takesList) {
		some = some || slices.ContainsFunc(ws[1:], func(w Word) bool {
			if w.Kind != Exact {
				return strings.HasPrefix(w.Source, f+"=") // --files0-from=<(…)
			}
			return w.Text == f || strings.HasPrefix(w.Text, f+"=") || len(f) == 2 && f[0] == '-' && clustered(w.Text, f[1])
		})
	}
	if some {
		u.mayName(Word{Kind: Unknown, Source: u.name}, false)
	}
}

// clustered reports a flag of one letter among others of a word: -cT, or cT for tar.
func clustered(text string, c byte) bool {
	return len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.IndexByte(text, c) > 0
}

// mayName adds what a word that is not known may name.
func (u *Invocation) mayName(w Word, write bool) {
	u.Actions = append(u.Actions, u.r.apart(func() { u.r.MayName(w, u.dirs, write) })...)
}

// eachFound adds, of fd that starts a program for what it finds, all that this may
// read or write.
func (u *Invocation) eachFound(ws []Word) {
	if u.name != "fd" && u.name != "fdfind" {
		return
	}
	for i, w := range ws[:len(ws)-1] {
		if w.Is("-x") || w.Is("-X") || w.Is("--exec") || w.Is("--exec-batch") {
			inner := &Invocation{r: u.r, dirs: u.dirs, name: Base(ws[i+1].Text)}
			inner.unknownOperand(Word{Kind: Unknown, Source: u.name}, 1)
			u.Actions = append(u.Actions, inner.Actions...)
		}
	}
}

package shellread

import (
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// perhaps are the files that a command which is not read exactly may change,
// by the words it was given.
func (u *use) perhaps(ws []word) []policy.Action {
	c := &use{r: u.r, dirs: u.dirs, name: u.name}
	switch {
	case u.name == "sed" || awks[u.name]:
		c.inPrograms(ws[1:])
	case copies[u.name]:
		c.destinations(ws[1:])
	case u.name == "curl" || u.name == "wget":
		for i, w := range ws[1:] {
			if i > 0 && strings.HasPrefix(ws[i].text, "-") || strings.HasPrefix(w.text, "-") {
				c.every([]word{w})
			}
		}
	case writers[u.name] || u.r.table.changes[u.name] != nil:
		c.every(ws[1:])
	case u.name == "find":
		c.found(ws[1:])
	}
	return append(c.acts, u.guess(ws)...)
}

var (
	awks   = map[string]bool{"awk": true, "gawk": true, "mawk": true, "nawk": true}
	copies = map[string]bool{"cp": true, "mv": true, "install": true, "ln": true, "rsync": true, "scp": true}
)

// inPrograms adds the words of sed's and awk's programs, which may name files.
func (u *use) inPrograms(ws []word) {
	for _, w := range ws[:min(len(ws), 20)] {
		if w.kind != exact || len(w.text) > 5000 {
			continue
		}
		words := strings.FieldsFunc(w.text, func(c rune) bool { return strings.ContainsRune(" \t\n\"';{}()<>|", c) })
		for _, name := range words[:min(len(words), 100)] {
			if strings.ContainsAny(name, "./") {
				u.put(lit(name), policy.Write{Maybe: true})
				u.get(lit(name), policy.Read{})
			}
		}
	}
}

// destinations adds where a copy may go: the last operand, and every value
// that is given to a flag.
func (u *use) destinations(ws []word) {
	for i, w := range ws[:min(len(ws), 100)] {
		flag, val, has := strings.Cut(w.text, "=")
		switch {
		case has && strings.HasPrefix(flag, "--t"):
			u.any(word{kind: w.kind, text: val, src: w.src})
		case i == len(ws)-1 && !strings.HasPrefix(w.text, "-"), i > 0 && strings.HasPrefix(ws[i-1].text, "-") && strings.HasSuffix(ws[i-1].text, "t"):
			u.any(w)
		}
	}
}

// found adds the folders of a find that runs a program which changes files.
func (u *use) found(ws []word) {
	for i, w := range ws {
		if !strings.HasPrefix(w.text, "-exec") && !strings.HasPrefix(w.text, "-ok") || i+1 == len(ws) {
			continue
		}
		if name := base(ws[i+1].text); u.r.table.changes[name] == nil && !writers[name] || copies[name] {
			continue
		}
		for _, from := range ws[:i] {
			if strings.HasPrefix(from.text, "-") {
				break
			}
			u.any(from)
		}
	}
}

// any adds a folder or file that something in it may be changed.
func (u *use) any(w word) {
	if w.kind == exact || w.kind == pattern {
		u.put(w, policy.Write{Maybe: true, Tree: u.folder(w)})
	}
}

// writers are programs that may write any file they are told of.
var writers = map[string]bool{"tar": true, "unzip": true, "zip": true, "split": true, "csplit": true, "xxd": true, "patch": true, "mkfifo": true, "mknod": true, "perl": true, "yq": true, "busybox": true, "install": true, "zstd": true}

// every adds each operand, and each value of a flag, as written.
func (u *use) every(ws []word) {
	for _, w := range ws[:min(len(ws), 100)] {
		if w.kind != exact || w.text == "" || len(w.text) > 1000 || strings.Contains(w.text, "\n") {
			continue
		}
		text := w.text
		if strings.HasPrefix(text, "-") {
			_, text, _ = strings.Cut(text, "=")
		}
		if text != "" {
			w.text = text
			u.put(w, policy.Write{Maybe: true, Tree: u.folder(w)})
		}
	}
}

package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// mayWrite are the files that a command which is not read exactly may change,
// by the words it was given.
func (u *Invocation) mayWrite(ws []Word) []policy.Action {
	c := &Invocation{r: u.r, dirs: u.dirs, name: u.name}
	switch {
	case u.name == "sed" || IsAwk(u.name):
		c.inPrograms(ws[1:])
	case u.is(copier):
		c.destinations(ws[1:])
	case u.is(container):
		if at := slices.IndexFunc(ws, func(w Word) bool { return w.Is("cp") }); at > 0 {
			c.destinations(ws[at+1:])
		}
	case u.name == "curl" || u.name == "wget":
		for i, w := range ws[1:] {
			if i > 0 && strings.HasPrefix(ws[i].Text, "-") || strings.HasPrefix(w.Text, "-") {
				c.eachWord([]Word{w})
			}
		}
	case u.is(writer), u.r.Table.Changes(u.name):
		var kept []Word
		archives, made := packs(u.name, ws)
		for i, w := range ws[1:] {
			if !u.excluded(ws, i+1) && (!made || slices.Contains(archives, i+1)) {
				kept = append(kept, w)
			}
		}
		c.eachWord(kept)
	case u.name == "find":
		c.findTargets(ws[1:])
	}
	return append(c.Actions, u.MayRead(ws)...)
}

// inPrograms adds the words of sed's and awk's programs, which may name files.
func (u *Invocation) inPrograms(ws []Word) {
	for _, w := range ws[:min(len(ws), 20)] {
		if w.Kind != Exact || len(w.Text) > 5000 {
			continue
		}
		words := strings.FieldsFunc(w.Text, func(c rune) bool { return strings.ContainsRune(" \t\n\"';{}()<>|", c) })
		for _, name := range words[:min(len(words), 100)] {
			if strings.ContainsAny(name, "./") {
				u.put(Lit(name), policy.Write{Sure: policy.Possible})
				u.get(Lit(name), policy.Read{})
				u.get(Lit(name), policy.Read{Sure: policy.Possible})
			}
		}
		if u.name == "sed" {
			u.sedNames(w)
		}
	}
}

// sedNames adds what may stand as a file's name behind the letters of sed that read
// and write one: "1rFILE", "s/a/b/wFILE". A name reaches to the end of the line.
func (u *Invocation) sedNames(w Word) {
	n := 0
	for line := range strings.Lines(w.Text) {
		line = strings.TrimRight(line, "\n")
		for i := 0; i+1 < len(line) && n < 60; i++ {
			name := strings.TrimLeft(line[i+1:], " \t")
			if strings.IndexByte("rRwW", line[i]) < 0 || name == "" || len(name) > 300 {
				continue
			}
			n++
			u.get(Lit(name), policy.Read{Sure: policy.Possible})
			if cut, _, found := strings.Cut(name, "}"); found && cut != "" {
				u.get(Lit(strings.TrimRight(cut, "; ")), policy.Read{Sure: policy.Possible})
			}
		}
	}
}

// destinations adds where a copy may go: the last operand, and every value
// that is given to a flag.
func (u *Invocation) destinations(ws []Word) {
	for i, w := range ws[:min(len(ws), 100)] {
		flag, val, has := strings.Cut(w.Text, "=")
		switch {
		case has && strings.HasPrefix(flag, "--t"):
			u.mayTouch(Word{Kind: w.Kind, Text: val, Source: w.Source})
		case i == len(ws)-1 && !strings.HasPrefix(w.Text, "-"), i > 0 && strings.HasPrefix(ws[i-1].Text, "-") && strings.HasSuffix(ws[i-1].Text, "t"):
			u.mayTouch(w)
		}
	}
}

// findTargets adds the folders of a find that runs a program which changes files.
func (u *Invocation) findTargets(ws []Word) {
	for i, w := range ws {
		if !strings.HasPrefix(w.Text, "-exec") && !strings.HasPrefix(w.Text, "-ok") || i+1 == len(ws) {
			continue
		}
		if name := Base(ws[i+1].Text); !u.r.Table.Changes(name) && !u.r.Table.is(name, writer) || u.r.Table.is(name, copier) {
			continue
		}
		for _, from := range ws[:i] {
			if strings.HasPrefix(from.Text, "-") {
				break
			}
			u.mayTouch(from)
		}
	}
}

// mayTouch adds a file that may be changed, or a folder in which something may be.
func (u *Invocation) mayTouch(w Word) {
	if w.Kind == Exact || w.Kind == Pattern {
		u.put(w, policy.Write{Sure: policy.Possible, Tree: u.folder(w)})
	}
}

// extracts reports the words of a tar that unpacks: what it writes below a folder, Unpacks
// says.
func extracts(ws []Word) bool {
	return ws[0].Is("--extract") || ws[0].Is("--get") || ws[0].Kind == Exact && !strings.HasPrefix(ws[0].Text, "--") && strings.Contains(ws[0].Text, "x") && strings.Trim(ws[0].Text, "-xzjJvkpmofaC") == ""
}

// eachWord adds each operand, and each value of a flag, as written.
func (u *Invocation) eachWord(ws []Word) {
	unpacks := u.name == "unzip" || u.name == "tar" && len(ws) > 0 && extracts(ws)
	for _, w := range ws[:min(len(ws), 100)] {
		if w.Kind != Exact || w.Text == "" || len(w.Text) > 1000 || strings.Contains(w.Text, "\n") {
			continue
		}
		text := w.Text
		if strings.HasPrefix(text, "-") {
			_, text, _ = strings.Cut(text, "=")
		}
		if text != "" {
			w.Text = text
			if u.folder(w) && unpacks {
				u.putStanding(w, policy.Write{Sure: policy.Possible, Within: true}, func(dir string) *policy.Standing { return u.r.standing(dir, false, nil) })
				continue
			}
			u.put(w, policy.Write{Sure: policy.Possible, Tree: u.folder(w)})
		}
	}
}

package secret

import (
	"bytes"
	"strings"
)

// keyBlock finds private keys in PEM and PGP armour. Where the last line is
// missing the key is what still looks like one.
type keyBlock struct{}

const (
	keyBegin  = "-----BEGIN "
	maxLabel  = 40 // "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"
	firstBody = 32 // so much of a body tells a key from text about keys
)

func (*keyBlock) starts() []string { return []string{keyBegin[:3]} }

func (*keyBlock) match(b []byte, i int, _ [2]byte, final bool) found {
	rest := b[i:]
	if n := min(len(rest), len(keyBegin)); string(rest[:n]) != keyBegin[:n] {
		return found{}
	} else if n < len(keyBegin) {
		return undecided(final)
	}
	label := rest[len(keyBegin):min(len(rest), len(keyBegin)+maxLabel)]
	n := bytes.Index(label, []byte("-----"))
	if n < 0 {
		if len(label) == maxLabel || bytes.ContainsAny(label, "\r\n\"'\\") {
			return found{}
		}
		return undecided(final)
	}
	if label = label[:n]; !bytes.HasSuffix(label, []byte("PRIVATE KEY")) && !bytes.HasSuffix(label, []byte("PRIVATE KEY BLOCK")) {
		return found{}
	}
	body := rest[len(keyBegin)+n+5:]
	end := tail{class: armour, key: true}
	covered := end.take(body)
	switch {
	case covered < len(body) && bytes.HasSuffix(body[:covered], []byte("-----")): // its last line
	case !startsBody(body[:covered]) && (covered < len(body) || len(body) >= firstBody):
		return found{}
	case covered >= firstBody, final && len(bytes.TrimSpace(body[:covered])) > 0:
	case covered == len(body) && !final:
		return found{state: more}
	default:
		return found{}
	}
	return found{state: yes, start: i, end: i + len(rest) - len(body) + covered, goes: end}
}

// startsBody: a line ends first, and then there is a long word or the name of
// a field.
func startsBody(body []byte) bool {
	line := bytes.TrimLeft(body, "\r\n\t \\")
	if len(line) == len(body) {
		return false
	}
	if body[0] == '\\' && len(line) > 0 { // the letter of \n
		line = line[1:]
	}
	w, _, more := bytes.Cut(line, []byte(" "))
	return !more || len(w) >= 16 || bytes.HasSuffix(w, []byte(":"))
}

// login finds the password in scheme://user:password@host.
type login struct{}

const maxLogin = 256

func (*login) starts() []string { return []string{"://"} }

func (*login) match(b []byte, i int, before [2]byte, final bool) found {
	if !word[before[1]] {
		return found{}
	}
	colon := 0
	for j := i + 3; j < len(b) && j < i+maxLogin; j++ {
		switch c := b[j]; {
		case c == ':' && colon == 0:
			colon = j
		case c == '@':
			if colon == 0 || j-colon <= 3 || strings.IndexByte("$<{*", b[colon+1]) >= 0 || string(b[colon+1:j]) == Masked {
				return found{}
			}
			return found{state: yes, start: colon + 1, end: j}
		case c <= ' ' || c == '/' || c == '"' || c == '\'' || c == '\\':
			return found{}
		}
	}
	if len(b)-i >= maxLogin {
		return found{}
	}
	return undecided(final)
}

// header finds what authorises a request in its header's line, as programs
// print it and as JSON holds it.
type header struct {
	name   string // lower case
	scheme bool   // a word such as Bearer stands before the secret
}

const (
	leastHeader = 8
	maxBlank    = 16
)

func (h *header) starts() []string {
	out := []string{""}
	for _, c := range []byte(h.name[:3]) {
		var longer []string
		for _, have := range out {
			longer = append(longer, have+string(c), have+strings.ToUpper(string(c)))
		}
		out = longer
	}
	return out
}

func (h *header) match(b []byte, i int, before [2]byte, final bool) found {
	r := reader{b: b, i: i}
	if !edge(before) || !r.fold(h.name) {
		return r.answer(final)
	}
	r.skip("\"'\\", 4)
	r.skip(" \t", maxBlank)
	if !r.one(":=") {
		return r.answer(final)
	}
	r.skip(" \t", maxBlank)
	r.skip("\"'\\", 4)
	if h.scheme {
		at := r.i
		for _, s := range []string{"bearer", "basic", "token"} {
			if r.i, r.short = at, false; r.fold(s) || r.short {
				break
			}
		}
		if r.short || !r.one(" \t") {
			return r.answer(final)
		}
		r.skip(" \t", maxBlank)
	}
	n := 0
	for r.i+n < len(b) && n < leastHeader && bearer[b[r.i+n]] {
		n++
	}
	if n < leastHeader {
		r.short = r.i+n == len(b)
		return r.answer(final)
	}
	return found{state: yes, start: r.i, end: r.i + n, goes: tail{class: bearer}}.extended(b)
}

// A reader goes through the parts of a header.
type reader struct {
	b     []byte
	i     int
	short bool // b ended where more was wanted
}

func (r *reader) answer(final bool) found {
	if r.short {
		return undecided(final)
	}
	return found{}
}

// fold reads a word in any case.
func (r *reader) fold(w string) bool {
	have := r.b[r.i:min(len(r.b), r.i+len(w))]
	if !strings.EqualFold(string(have), w[:len(have)]) {
		return false
	}
	if len(have) < len(w) {
		r.short = true
		return false
	}
	r.i += len(w)
	return true
}

func (r *reader) skip(chars string, most int) {
	for ; most > 0 && r.i < len(r.b) && strings.IndexByte(chars, r.b[r.i]) >= 0; most-- {
		r.i++
	}
}

func (r *reader) one(chars string) bool {
	if r.i >= len(r.b) {
		r.short = true
		return false
	}
	if strings.IndexByte(chars, r.b[r.i]) < 0 {
		return false
	}
	r.i++
	return true
}

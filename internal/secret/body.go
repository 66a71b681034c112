package secret

import (
	"bytes"
	"encoding/base64"
	"io"
	"slices"
	"strings"
)

// Bodies hides the lines of a private key that stand without its first line, or with
// something before or after each: cut out, quoted, numbered, sorted, in a list. It
// looks for words of base64: one that begins as a private key does, with those that
// follow closely; else at least three that are as long as lines of a key are,
// and not as mail and "base64" wrap theirs. Each word is replaced for itself,
// so that lines stay lines. What says that it is something else (a certificate, a
// picture) is left alone.
//
// Text comes in pieces. What may belong to a key is held back: less than 1 KiB.
type bodies struct {
	held   []byte
	shown  int    // of held, that is passed on already: the beginning of a word
	next   int    // in held: where to look on
	last   []byte // what stood before held
	run    run    // words that follow each other closely
	inside inside // of a long word
}

// A run is what is known of words that follow each other closely.
type run struct {
	on      bool
	end     int      // where the last one ends in held; below 0 when it is passed on
	pending [][2]int // those that are not passed on yet
	full    int      // how many look like lines of a key
	word    string   // the last of these
	hide    bool     // they are a key
	public  bool     // they are something else
}

type inside uint8

const (
	noWord inside = iota
	shownWord
	hiddenWord
)

const (
	leastBody = 60 // characters of a line of a key: 64 and 70 are usual
	mostBody  = 75 // mail and "base64" have 76
	mostWord  = 96 // with what stands before or after each line
	leastLast = 20 // of the last line of a short key
	maxGap    = 64 // bytes between two lines
	maxLast   = 512
	leastHeld = 8  // characters of a word that are held back
	maxAlike  = 24 // characters that two lines have in common
	// maxPending is how many lines are held back.
	maxPending = 6
)

var base64Word = newClass("A-Za-z0-9+/")

// take goes on with p.
func (s *bodies) take(p []byte, final bool, emit func(p []byte, mask bool) error) error {
	b := p
	if len(s.held) > 0 {
		s.held = append(s.held, p...)
		b = s.held
	}
	at, i := s.shown, max(s.next, 0) // passed on; looked at
	pass := func(to int, mask bool) (err error) {
		if to = max(at, to); to > at || mask {
			err = emit(b[at:to], mask)
		}
		at = to
		return err
	}
	if s.inside != noWord {
		n := wordEnd(b, 0)
		if s.inside == hiddenWord {
			at = n
		}
		i, s.run.end = n, n
		if n < len(b) || final {
			s.inside = noWord
		}
	}
	for s.inside == noWord {
		start, end := nextWord(b, i, s.least(), s.before())
		if start < 0 || end == len(b) && !final && end-start <= mostWord {
			break
		}
		i = end
		s.judge(b, start, end)
		if s.run.hide && s.run.on {
			for _, w := range s.run.pending {
				if err := pass(w[0], true); err != nil {
					return err
				}
				at = w[1]
			}
		}
		if s.run.hide || s.run.public {
			s.run.pending = nil
		}
		if end == len(b) && !final {
			s.inside = shownWord
			if at == end {
				s.inside = hiddenWord
			}
		}
	}
	stop, word := len(b), len(b)
	if !final {
		if s.inside == noWord {
			word = lastWord(b)
		}
		if s.run.on || stop-word >= leastHeld {
			stop = word
		}
		if s.run.on && stop-s.run.end > maxGap {
			s.run = run{}
		}
		if len(s.run.pending) > 0 {
			stop = s.run.pending[0][0]
		}
	}
	if err := pass(stop, false); err != nil {
		return err
	}
	keep := min(at, word)
	if len(s.run.pending) > 0 {
		keep = min(keep, s.run.pending[0][0])
	}
	s.last = append(s.last, b[max(0, keep-maxLast):keep]...)
	s.last = append(s.last[:0], s.last[max(0, len(s.last)-maxLast):]...)
	for k := range s.run.pending {
		s.run.pending[k][0] -= keep
		s.run.pending[k][1] -= keep
	}
	s.run.end, s.next, s.shown = s.run.end-keep, max(i, min(stop, word))-keep, at-keep
	s.held = append(s.held[:0], b[keep:]...)
	if final {
		*s = bodies{}
	}
	return nil
}

// before is the last byte that was passed on before held.
func (s *bodies) before() byte {
	if len(s.last) == 0 {
		return 0
	}
	return s.last[len(s.last)-1]
}

// least is how long a word is that counts now.
func (s *bodies) least() int {
	if s.run.on && s.run.hide {
		return 4
	}
	return leastLast
}

// judge looks at one word.
func (s *bodies) judge(b []byte, start, end int) {
	w := b[start:end]
	if r := &s.run; r.on && (start-r.end > maxGap || bytes.Contains(b[max(r.end, 0):start], []byte("-----"))) {
		*r = run{}
	}
	r := &s.run
	k := kindOf(w)
	if k == last && r.on && r.full == 0 && !r.hide && !r.public { // another first one
		*r = run{}
	}
	if !r.on && k >= last {
		behind := s.behind(b, start)
		label, in := labelOf(behind)
		r.hide = in && strings.Contains(label, "PRIVATE KEY")
		r.public = !r.hide && (in || k == public || hashed(behind))
		r.on = r.hide || k != wide
	}
	switch {
	case !r.on:
		return
	case r.public && k != other:
	case k == private, r.hide && (len(w) >= leastLast || padded(w)):
		r.hide = true
	case k == full && (r.full == 0 || alike(r.word, string(w))):
		r.full, r.word = r.full+1, string(w)
		r.hide = r.full >= 3
	case k == full, k == public: // another run begins
		*r = run{on: true, full: 1, word: string(w), public: k == public || hashed(s.behind(b, start))}
	case k == wide && len(w) == len(r.word) && len(r.pending) < maxPending:
	case k == last && len(r.pending) < maxPending:
		r.hide = r.full >= 2
	default:
		return
	}
	r.end, r.pending = end, append(r.pending, [2]int{start, end})
}

// behind is what stands before b[start:], as far as it counts.
func (s *bodies) behind(b []byte, start int) []byte {
	if start >= maxLast {
		return b[start-maxLast : start]
	}
	return append(slices.Clone(s.last), b[:start]...)
}

// labelOf is of the first line of PEM armour that what follows a text stands in.
func labelOf(text []byte) (label string, in bool) {
	i := bytes.LastIndex(text, []byte(keyBegin))
	if i < 0 || bytes.Contains(text[i:], []byte(keyEnd)) {
		return "", false
	}
	label = string(text[i+len(keyBegin):])
	return label[:min(len(label), maxLabel)], true
}

// hashed reports whether a word that follows a text is named as a checksum.
func hashed(text []byte) bool {
	text = text[max(0, len(text)-7):]
	i := bytes.LastIndex(text, []byte("sha"))
	return i >= 0 && bytes.IndexByte([]byte("-:="), text[len(text)-1]) >= 0
}

// padded reports whether a short word is the end of base64.
func padded(w []byte) bool {
	return w[len(w)-1] == '=' && len(w)%4 == 0 && bytes.ContainsAny(w, "0123456789+/ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// Kinds of words.
type wordKind uint8

const (
	other   wordKind = iota
	last             // it may be the last line of a key
	wide             // as long as a line, and not as random: zeros, names
	full             // it looks like a line of a key
	private          // a private key begins so
	public           // something else begins so
)

// kindOf looks at a word by itself.
func kindOf(w []byte) wordKind {
	if len(w) >= 40 {
		if w[0] == '+' { // of a difference
			w = w[1:]
		}
		if k := begins(w); k != other {
			return k
		}
	}
	switch random := randomWord(w); {
	case len(w) < leastLast:
		return other
	case random && len(w) >= leastBody && len(w) <= mostWord:
		return full
	case len(w) >= leastBody:
		return wide
	case random:
		return last
	}
	return other
}

// begins tells by the first bytes what a word of base64 holds.
func begins(w []byte) wordKind {
	for _, p := range publicStarts {
		if strings.HasPrefix(string(w[:20]), p) {
			return public
		}
	}
	if strings.HasPrefix(string(w[:20]), "b3BlbnNzaC1rZXktdjE") { // openssh-key-v1
		return private
	}
	var head [24]byte
	if _, err := base64.StdEncoding.Decode(head[:], w[:32]); err != nil || head[0] != 0x30 {
		return other
	}
	in, ok := insideOf(head[:])
	switch {
	case !ok:
	case in[0] == 2 && in[1] == 1 && in[2] <= 3: // a version
		if in[3] == 2 || in[3] == 0x30 || in[3] == 4 { // a number, an algorithm, a key
			return private
		}
	case in[0] == 2 && in[1] >= 0x80: // the modulus of a public key
		return public
	case in[0] == 0x30:
		if oid, ok := insideOf(in); ok && (bytes.HasPrefix(oid[2:], pkcs5) || bytes.HasPrefix(oid[2:], pkcs12)) {
			return private
		}
		return public
	case in[0] == 6:
		return public
	}
	return other
}

// Prefixes of the algorithms that private keys are encrypted with.
var (
	pkcs5  = []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x05")
	pkcs12 = []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01")
)

// insideOf is what a sequence in DER holds, as far as it is there.
func insideOf(b []byte) ([]byte, bool) {
	n := 2
	if b[1] > 0x80 {
		n += int(b[1] & 0x7f)
	}
	return b[min(n, len(b)):], n <= 5 && b[1] != 0x80 && len(b) >= n+11
}

// publicStarts begin keys of SSH that are public, pictures, fonts, programs and archives.
var publicStarts = []string{
	"AAAA", "iVBORw0KGgo", "/9j/4", "R0lGOD", "UklGR", "d09GR", "AAEAAA", "T1RUTw", "H4sI", "UEsDB", "JVBERi0", "AGFzbQ", "SUQz", "PHN2Zy", "PD94bWw", "Qk0", "f0VMRg",
}

// randomWord reports whether a word mixes capitals, small letters and digits as
// encoded random bytes do, and not as names do.
func randomWord(w []byte) bool {
	var upper, lower, digits, slashes, turns int
	was := 0
	for _, c := range w {
		is := 0
		switch {
		case c >= 'A' && c <= 'Z':
			upper++
			is = 1
		case c >= 'a' && c <= 'z':
			lower++
			is = 2
		case c >= '0' && c <= '9':
			digits++
			is = 3
		case c == '/':
			slashes++
		}
		if is != was {
			turns++
		}
		was = is
	}
	n := len(w)
	return upper*6 >= n && lower*6 >= n && digits >= 1 && digits+slashes >= 1+n/30 && slashes <= 7 && turns*10 >= n*3
}

// alike reports whether two words may be lines of one key, and no names that differ in
// their ends. Long ones are of one length, and a part of them is the same in all.
func alike(a, b string) bool {
	same, end := 0, 0
	for n := min(len(a), len(b)); same < n && a[same] == b[same]; {
		same++
	}
	for n := min(len(a), len(b)) - same; end < n && a[len(a)-1-end] == b[len(b)-1-end]; {
		end++
	}
	long := max(len(a), len(b))
	return same+end < maxAlike && (long <= mostBody || len(a) == len(b) && same+end > 3 && long-same-end <= mostBody)
}

// nextWord finds the first word of at least n characters from i on, where no word
// began before; start is -1 when there is none. The letter of an escape such as \n
// is no part of it.
func nextWord(b []byte, i, n int, before byte) (start, end int) {
	for i+n <= len(b) {
		j := i + n - 1
		for j >= i && base64Word[b[j]] {
			j--
		}
		if j >= i {
			i = j + 1
			continue
		}
		if i > 0 {
			before = b[i-1]
		}
		start, end = i, wordEnd(b, i)
		if before == '\\' && strings.IndexByte("nrt", b[i]) >= 0 {
			start++
		}
		if end-start >= n {
			return start, end
		}
		i = end
	}
	return -1, -1
}

// wordEnd is where a word ends that i is in, with its padding.
func wordEnd(b []byte, i int) int {
	for i < len(b) && base64Word[b[i]] {
		i++
	}
	for i < len(b) && b[i] == '=' {
		i++
	}
	return i
}

// lastWord is where a word begins that b ends in.
func lastWord(b []byte) int {
	i := len(b)
	for i > 0 && (base64Word[b[i-1]] || b[i-1] == '=') {
		i--
	}
	return i
}

// withoutBodies replaces the lines of private keys in a whole text.
func withoutBodies(b []byte) (string, bool) {
	var s bodies
	var out strings.Builder
	hidden := false
	_ = s.take(b, true, func(p []byte, mask bool) error { // it does not fail
		if hidden = hidden || mask; !hidden && len(p) == len(b) {
			return nil
		}
		out.Write(p)
		if mask {
			out.WriteString(Masked)
		}
		return nil
	})
	return out.String(), hidden
}

// Keys hides the lines of private keys in what is read from r, so that a part of it
// can be shown: what begins a key may stand before the part.
func Keys(r io.Reader) io.Reader { return &keyReader{r: r} }

type keyReader struct {
	r    io.Reader
	keys bodies
	out  []byte // not read yet
	err  error
}

func (k *keyReader) Read(p []byte) (int, error) {
	for len(k.out) == 0 && k.err == nil {
		b := make([]byte, 32<<10)
		var n int
		n, k.err = k.r.Read(b)
		_ = k.keys.take(b[:n], k.err != nil, func(p []byte, mask bool) error { // it does not fail
			k.out = append(k.out, p...)
			if mask {
				k.out = append(k.out, Masked...)
			}
			return nil
		})
	}
	n := copy(p, k.out)
	k.out = k.out[n:]
	if n == 0 {
		return 0, k.err
	}
	return n, nil
}

// KeyLine reports whether a line may be one of a private key, which only what stands
// before it tells.
func KeyLine(line string) bool {
	start, _ := nextWord([]byte(line), 0, leastLast, 0)
	return start >= 0
}

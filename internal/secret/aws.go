package secret

import "strings"

// awsSecret finds a secret access key of AWS behind its name: forty characters that
// nothing but the name tells from others. The name may be spelled in any case, and
// with or without signs between its words.
type awsSecret struct{}

const (
	awsLength = 40
	maxJoin   = 24 // bytes between a name, or an id, and the key
)

func (*awsSecret) starts() []string {
	var out []string
	for i := range 8 {
		b := []byte("sec")
		for k := range b {
			if i>>k&1 == 1 {
				b[k] -= 'a' - 'A'
			}
		}
		out = append(out, string(b))
	}
	return out
}

func (*awsSecret) match(b []byte, i int, _ [2]byte, final bool) found {
	r := reader{b: b, i: i}
	if !r.fold("secret") {
		return r.answer(final)
	}
	r.skip("_-. ", 1)
	if at := r.i; !r.fold("access") {
		if r.short {
			return undecided(final)
		}
		r.i = at
	} else {
		r.skip("_-. ", 1)
	}
	if !r.fold("key") {
		return r.answer(final)
	}
	r.skip("\"'\\ \t", maxJoin)
	if !r.one(":=") {
		return r.answer(final)
	}
	r.skip(">\"'\\ \t=", maxJoin)
	return awsKey(b, r.i, r.i, final)
}

// awsPair finds a secret access key that stands right behind the id it belongs to,
// as in a table of them.
type awsPair struct{}

func (*awsPair) starts() []string { return []string{"AKI"} }

func (*awsPair) match(b []byte, i int, before [2]byte, final bool) found {
	r := reader{b: b, i: i}
	if !edge(before) || !r.fold("AKIA") {
		return r.answer(final)
	}
	for k := range 16 {
		if r.i+k >= len(b) {
			return undecided(final)
		}
		if !upper[b[r.i+k]] {
			return found{}
		}
	}
	r.i += 16
	at := r.i
	r.skip(",;:|\"' \t\r\n", maxJoin)
	if at == r.i {
		return found{}
	}
	return awsKey(b, i, r.i, final)
}

// awsKey is the answer for a key that would stand at b[at:], hidden from start on.
func awsKey(b []byte, start, at int, final bool) found {
	n := 0
	var lower, capital, digit bool
	for ; at+n < len(b) && n <= awsLength; n++ {
		c := b[at+n]
		if !alnum[c] && strings.IndexByte("+/", c) < 0 {
			break
		}
		lower, capital, digit = lower || c >= 'g' && c <= 'z', capital || c >= 'A' && c <= 'Z', digit || c >= '0' && c <= '9'
	}
	ended := at+n < len(b) || final
	switch {
	case n == awsLength && ended && lower && capital && digit && (at+n == len(b) || b[at+n] != '='):
		return found{state: yes, start: start, end: at + n}
	case n > awsLength || ended:
		return found{}
	}
	return found{state: more}
}

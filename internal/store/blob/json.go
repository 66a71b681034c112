package blob

import (
	"bytes"
	"encoding/base64"
)

// Large data in JSON is a member "data" whose value is base64: of images and
// documents, wherever they stand. In a log the name of a blob stands for it,
// as "blob:" and the name; base64 has no colon. A member that begins so by
// itself is written with an escape, which changes nothing of what it says.
// These bytes are no part of another string: there the quotes are escaped.
var (
	member  = []byte(`"data":"`)
	ref     = []byte(`"data":"blob:`)
	escaped = []byte(`"data":"\u0062lob:`)
)

const nameSize = 64 // of a name in bytes

// minSize is the size in bytes of the base64 from which on data is kept apart.
const minSize = 4 << 10

// Out replaces large data in JSON by references to what put keeps.
func Out(text []byte, put func(content []byte) (name string, err error)) ([]byte, error) {
	if bytes.Contains(text, ref) {
		text = bytes.ReplaceAll(text, ref, escaped)
	}
	if len(text) < minSize || !bytes.Contains(text, member) {
		return text, nil
	}
	var out []byte
	rest := text
	for {
		i := bytes.Index(rest, member)
		if i < 0 {
			break
		}
		i += len(member)
		out, rest = append(out, rest[:i]...), rest[i:]
		n := bytes.IndexByte(rest, '"')
		if n < minSize {
			continue
		}
		content, err := base64.StdEncoding.Strict().DecodeString(string(rest[:n]))
		if err != nil || base64.StdEncoding.EncodedLen(len(content)) != n {
			continue
		}
		name, err := put(content)
		if err != nil {
			return text, err
		}
		out, rest = append(append(out, "blob:"...), name...), rest[n:]
	}
	return append(out, rest...), nil
}

// In puts data in the place of references. Where get has none, the data is
// empty and counted in missing.
func In(text []byte, get func(name string) ([]byte, error)) (out []byte, missing int) {
	rest := text
	for {
		i := bytes.Index(rest, ref)
		if i < 0 {
			break
		}
		at := i + len(ref)
		if len(rest) < at+nameSize+1 || rest[at+nameSize] != '"' || !valid(string(rest[at:at+nameSize])) {
			out, rest = append(out, rest[:at]...), rest[at:]
			continue
		}
		out = append(out, rest[:i+len(member)]...)
		content, err := get(string(rest[at : at+nameSize]))
		if err != nil {
			missing++
		}
		out = base64.StdEncoding.AppendEncode(out, content)
		rest = rest[at+nameSize:]
	}
	if out == nil {
		return text, 0
	}
	return append(out, rest...), missing
}

// Bare is the JSON without what its references stand for.
func Bare(text []byte) []byte {
	text, _ = In(text, func(string) ([]byte, error) { return nil, nil })
	return text
}

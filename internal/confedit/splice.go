package confedit

import (
	"bytes"
	"encoding/json"

	"github.com/tailscale/hujson"
)

// A doc is the text of a file; its methods return a changed copy.
type doc struct{ text []byte }

func (d doc) splice(from, to int, with []byte) []byte {
	out := make([]byte, 0, len(d.text)+len(with))
	out = append(out, d.text[:from]...)
	out = append(out, with...)
	return append(out, d.text[to:]...)
}

// indentAt returns the white space at the start of the line of an offset.
func (d doc) indentAt(at int) string {
	start := bytes.LastIndexByte(d.text[:at], '\n') + 1
	end := start
	for end < len(d.text) && (d.text[end] == ' ' || d.text[end] == '\t') {
		end++
	}
	return string(d.text[start:end])
}

// unit is one step of the file's own indentation.
func (d doc) unit() string {
	for line := range bytes.Lines(d.text) {
		trimmed := bytes.TrimLeft(line, " \t")
		if lead := line[:len(line)-len(trimmed)]; len(lead) > 0 && len(trimmed) > 1 && trimmed[0] == '"' {
			if lead[0] == '\t' {
				return "\t"
			}
			return string(lead[:min(len(lead), 8)])
		}
	}
	return "  "
}

// newline is the file's own.
func (d doc) newline() string {
	if bytes.Contains(d.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// pretty lays a value out as the file does: short ones on one line.
func (d doc) pretty(value []byte, indent string) []byte {
	var flat bytes.Buffer
	if json.Compact(&flat, value) != nil {
		return value
	}
	v, err := hujson.Parse(bytes.Clone(flat.Bytes()))
	if err != nil {
		return value
	}
	switch x := v.Value.(type) {
	case *hujson.Object:
		if len(x.Members) == 0 {
			return []byte("{}")
		}
	case *hujson.Array:
		if len(x.Elements) == 0 {
			return []byte("[]")
		}
	default:
		return flat.Bytes()
	}
	var out bytes.Buffer
	if json.Indent(&out, flat.Bytes(), indent, d.unit()) != nil {
		return value
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(d.newline()))
}

// addMember puts a member at the end of an object.
func (d doc) addMember(v hujson.Value, obj *hujson.Object, name string, value []byte) []byte {
	key, err := json.Marshal(name)
	if err != nil { // a string always marshals
		return d.text
	}
	indent := d.indentAt(v.StartOffset) + d.unit()
	if n := len(obj.Members); n > 0 && d.ownLine(obj.Members[n-1].Name.StartOffset) {
		indent = d.indentAt(obj.Members[n-1].Name.StartOffset)
	}
	entry := append(append(key, ": "...), d.pretty(value, indent)...)
	last := -1
	if n := len(obj.Members); n > 0 {
		last = obj.Members[n-1].Value.EndOffset
	}
	return d.append(v, last, indent, entry)
}

// ownLine reports whether nothing but white space stands before an offset on
// its line.
func (d doc) ownLine(at int) bool {
	start := bytes.LastIndexByte(d.text[:at], '\n') + 1
	return start > 0 && len(bytes.TrimLeft(d.text[start:at], " \t")) == 0
}

// append puts an entry before the closing bracket of a composite, after its
// last entry (whose value ends at last, -1 for none) and the comments there.
func (d doc) append(v hujson.Value, last int, indent string, entry []byte) []byte {
	closing := v.EndOffset - 1
	nl := d.newline()
	if last >= 0 && !bytes.Contains(d.text[v.StartOffset:closing], []byte("\n")) { // all on one line
		text := append(append([]byte(", "), bytes.TrimSpace(entry)...), d.tail(last, closing)...)
		return d.splice(last, closing, text)
	}
	// The last line of content inside the brackets ends here.
	end := closing
	for end > v.StartOffset+1 && isSpace(d.text[end-1]) {
		end--
	}
	after := append([]byte(nl+indent), entry...)
	after = append(after, nl+d.indentAt(v.StartOffset)...)
	if closingIndent := d.indentAt(closing); d.ownLine(closing) {
		after = append(append([]byte(nl+indent), entry...), nl+closingIndent...)
	}
	out := d.splice(end, closing, after)
	if last >= 0 && !d.commaAfter(last, closing) {
		out = doc{out}.splice(last, last, []byte(","))
	}
	return out
}

// tail is what stands between the last value and the closing bracket of a
// one-line composite, without a trailing comma.
func (d doc) tail(last, closing int) []byte {
	rest := d.text[last:closing]
	if i := d.comma(last, closing); i >= 0 {
		rest = append(bytes.Clone(d.text[last:i]), d.text[i+1:closing]...)
	}
	return bytes.TrimRight(rest, " \t")
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// comma finds the first comma outside comments, or -1.
func (d doc) comma(from, to int) int {
	for i := from; i < to; i++ {
		switch {
		case d.text[i] == ',':
			return i
		case d.text[i] == '/' && i+1 < to && d.text[i+1] == '/':
			j := bytes.IndexByte(d.text[i:to], '\n')
			if j < 0 {
				return -1
			}
			i += j
		case d.text[i] == '/' && i+1 < to && d.text[i+1] == '*':
			j := bytes.Index(d.text[i+2:to], []byte("*/"))
			if j < 0 {
				return -1
			}
			i += j + 3
		}
	}
	return -1
}

func (d doc) commaAfter(from, to int) bool { return d.comma(from, to) >= 0 }

func (d doc) removeMember(obj *hujson.Object, at int) []byte {
	m := obj.Members[at]
	prev := -1
	if at > 0 {
		prev = obj.Members[at-1].Value.EndOffset
	}
	next := -1
	if at+1 < len(obj.Members) {
		next = obj.Members[at+1].Name.StartOffset
	}
	return d.remove(m.Name.StartOffset, m.Value.EndOffset, prev, next)
}

// remove takes out an entry with its comma and, when it stands on lines of
// its own, those lines. Comments above it stay. prev is where the entry before
// it ends, next where the one after it starts; -1 for none.
func (d doc) remove(from, to, prev, next int) []byte {
	limit := len(d.text)
	if next >= 0 {
		limit = next
	}
	comma := -1
	if next >= 0 {
		comma = d.comma(to, limit)
	} else if c := d.comma(to, d.closing(to)); c >= 0 {
		comma = c
	}
	end := to
	if comma >= 0 {
		end = comma + 1
	}
	start := from
	if d.ownLine(from) {
		if e, ok := d.restOfLine(end, limit); ok {
			start, end = bytes.LastIndexByte(d.text[:from], '\n')+1, e
		}
	} else if next >= 0 {
		for end < next && isSpace(d.text[end]) {
			end++
		}
	}
	out := d.splice(start, end, nil)
	if comma < 0 && prev >= 0 { // the last one went: so does the comma before it
		if c := d.comma(prev, from); c >= 0 {
			stop := c + 1
			if !d.ownLine(from) {
				for stop < from && isSpace(d.text[stop]) {
					stop++
				}
			}
			out = doc{out}.splice(c, stop, nil)
		}
	}
	return out
}

// closing finds the bracket that ends the composite around an offset after
// its last entry.
func (d doc) closing(from int) int {
	for i := from; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '}' || c == ']':
			return i
		case c == '/' && i+1 < len(d.text) && d.text[i+1] == '/':
			if j := bytes.IndexByte(d.text[i:], '\n'); j >= 0 {
				i += j
			} else {
				return len(d.text)
			}
		case c == '/' && i+1 < len(d.text) && d.text[i+1] == '*':
			if j := bytes.Index(d.text[i+2:], []byte("*/")); j >= 0 {
				i += j + 3
			} else {
				return len(d.text)
			}
		}
	}
	return len(d.text)
}

// restOfLine returns where the line after an entry begins, when only a
// comment that belongs to the entry follows it on its line.
func (d doc) restOfLine(at, limit int) (int, bool) {
	nl := bytes.IndexByte(d.text[at:], '\n')
	if nl < 0 || at+nl >= limit {
		return 0, false
	}
	rest := bytes.TrimSpace(d.text[at : at+nl])
	ok := len(rest) == 0 || bytes.HasPrefix(rest, []byte("//")) ||
		bytes.HasPrefix(rest, []byte("/*")) && bytes.Index(rest, []byte("*/")) == len(rest)-2
	return at + nl + 1, ok
}

// list adds to or takes from a list.
func (d doc) list(v hujson.Value, list *hujson.Array, e Edit) []byte {
	at := -1
	for i, el := range list.Elements {
		if same(d.text[el.StartOffset:el.EndOffset], e.Value) {
			at = i
		}
	}
	n := len(list.Elements)
	switch {
	case e.Op == Drop && at >= 0:
		prev, next := -1, -1
		if at > 0 {
			prev = list.Elements[at-1].EndOffset
		}
		if at+1 < n {
			next = list.Elements[at+1].StartOffset
		}
		return d.remove(list.Elements[at].StartOffset, list.Elements[at].EndOffset, prev, next)
	case e.Op == Add && at < 0:
		indent, last := d.indentAt(v.StartOffset)+d.unit(), -1
		if n > 0 {
			last = list.Elements[n-1].EndOffset
			if d.ownLine(list.Elements[n-1].StartOffset) {
				indent = d.indentAt(list.Elements[n-1].StartOffset)
			}
		}
		return d.append(v, last, indent, d.pretty(e.Value, indent))
	}
	return d.text
}

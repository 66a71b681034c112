package effect

import (
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// A path may hold bytes that are no UTF-8, which JSON cannot say. Where one does, its
// bytes stand beside it in base64, and the text is only for people.

// rawPath are the bytes of a path that JSON cannot say, nil when it can.
func rawPath(path string) []byte {
	if utf8.ValidString(path) {
		return nil
	}
	return []byte(path)
}

// fromRaw is a path as it was written.
func fromRaw(path string, raw []byte) string {
	if len(raw) > 0 {
		return string(raw)
	}
	return path
}

type (
	plainChange  Change
	plainVersion Version
)

type changeJSON struct {
	plainChange
	Raw      []byte   `json:"path_bytes,omitempty"`
	RawNames [][]byte `json:"names_bytes,omitempty"` // of all names, when one needs it
}

type versionJSON struct {
	plainVersion
	Raw []byte `json:"link_bytes,omitempty"`
}

// MarshalJSON writes a path that is no UTF-8 as its bytes, too.
func (c Change) MarshalJSON() ([]byte, error) {
	out := changeJSON{plainChange: plainChange(c), Raw: rawPath(c.Path)}
	for i, n := range c.Names {
		if raw := rawPath(n); raw != nil && out.RawNames == nil {
			for _, n := range c.Names[:i] {
				out.RawNames = append(out.RawNames, []byte(n))
			}
		}
		if out.RawNames != nil || rawPath(n) != nil {
			out.RawNames = append(out.RawNames, []byte(n))
		}
	}
	return fastjson.Append(nil, out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Change) UnmarshalJSON(b []byte) error {
	var in changeJSON
	if err := fastjson.Unmarshal(b, &in); err != nil {
		return err
	}
	*c = Change(in.plainChange)
	c.Path = fromRaw(c.Path, in.Raw)
	for i, raw := range in.RawNames {
		if i < len(c.Names) {
			c.Names[i] = string(raw)
		}
	}
	return nil
}

// MarshalJSON writes where a link points as its bytes, too, when that is no UTF-8.
func (v Version) MarshalJSON() ([]byte, error) {
	return fastjson.Append(nil, versionJSON{plainVersion: plainVersion(v), Raw: rawPath(v.Link)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Version) UnmarshalJSON(b []byte) error {
	var in versionJSON
	if err := fastjson.Unmarshal(b, &in); err != nil {
		return err
	}
	*v = Version(in.plainVersion)
	v.Link = fromRaw(v.Link, in.Raw)
	return nil
}

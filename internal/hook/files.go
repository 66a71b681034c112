package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"github.com/adze-agent/adze/internal/config"
)

// Files are the files, below a home folder or a folder of a repository, in which
// other agents have hooks, with slashes.
func Files() []string {
	return []string{".codex/hooks.json", ".codex/config.toml", ".gemini/settings.json"}
}

// ParseFile reads the hooks of one of Files; at says where it stands, and its From is
// the path. A file without hooks, also one that cannot be read and has not even the
// word, has none and no problem. Gemini's may have comments
// (github.com/google-gemini/gemini-cli, docs/reference/configuration.md: it takes them out before it reads them).
func ParseFile(text []byte, at Place) (hooks []Hook, problems []error) {
	d := Gemini
	if filepath.Base(filepath.Dir(at.From)) == ".codex" {
		d = Codex
	}
	doc, err := text, error(nil)
	switch {
	case filepath.Ext(at.From) == ".toml":
		doc, err = fromTOML(text)
	case d == Gemini:
		doc, err = standardJSON(text)
	}
	if err == nil {
		hooks, problems = ParseOther(d, doc, at)
	} else {
		problems = []error{fmt.Errorf("it cannot be read for its hooks: %w", err)}
		hooks = lostIn(text, at, err)
	}
	if len(hooks) == 0 && !bytes.Contains(text, []byte("hooks")) {
		return nil, nil
	}
	return hooks, problems
}

// lostIn stands for the hooks before calls that a file which cannot be read has, as far
// as its words tell; none where it has not even theirs.
func lostIn(text []byte, at Place, why error) []Hook {
	for _, word := range []string{string(PreToolUse), "preToolUse", "BeforeTool"} {
		if bytes.Contains(text, []byte(word)) {
			return []Hook{Lost(at, "of "+filepath.Base(at.From), why)}
		}
	}
	return nil
}

// standardJSON is a text of JSON without its comments; the rest stays where it is.
func standardJSON(text []byte) ([]byte, error) {
	if _, err := config.Depth(text); err != nil {
		return nil, err
	}
	out, err := hujson.Standardize(bytes.Clone(config.Ended(text)))
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return out, nil
}

// fromTOML is the table of hooks of a TOML file, as JSON.
func fromTOML(text []byte) ([]byte, error) {
	if len(text) > maxTOML {
		return nil, fmt.Errorf("larger than %d KiB", maxTOML>>10)
	}
	if err := shallow(text); err != nil {
		return nil, err
	}
	var doc struct {
		Hooks map[string]any `toml:"hooks" json:"hooks"`
	}
	if err := toml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// Bounds of a TOML file, which may be a hostile repository's: its size in bytes, and how
// deep its tables and arrays are in each other. The parser recurses, and needs time and
// room by the square of that.
const (
	maxTOML   = 256 << 10
	maxNested = 20
)

// shallow refuses a TOML text that is nested more than maxNested deep, by brackets or
// by the dots of a name, before a parser sees it.
func shallow(text []byte) error {
	depth, dots := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			i = closing(text, i)
		case '[', '{':
			depth, dots = depth+1, 0
		case ']', '}':
			depth = max(depth-1, 0)
		case '.':
			dots++
		case '\n', ',', '=':
			dots = 0
		}
		if depth > maxNested || dots > maxNested {
			return fmt.Errorf("line %d: nested more than %d deep", 1+bytes.Count(text[:i], []byte("\n")), maxNested)
		}
	}
	return nil
}

// closing is where the TOML string that begins at i ends: at its last quote, or at the
// end of the line or the text that leaves it open.
func closing(text []byte, i int) int {
	quote := text[i : i+1]
	long := bytes.Repeat(quote, 3)
	lines := bytes.HasPrefix(text[i:], long)
	if lines {
		quote = long
	}
	for j := i + len(quote); j < len(text); j++ {
		switch {
		case text[j] == '\\' && quote[0] == '"':
			j++
		case text[j] == '\n' && !lines:
			return j - 1
		case bytes.HasPrefix(text[j:], quote):
			end := j + len(quote) - 1
			for lines && end < j+4 && end+1 < len(text) && text[end+1] == quote[0] { // a long one may end in quotes of its own
				end++
			}
			return end
		}
	}
	return len(text)
}

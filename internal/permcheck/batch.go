package permcheck

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// maxRow bounds one row of a batch, in bytes.
const maxRow = 4 << 20

// A Result is one line that Batch writes.
type Result struct {
	ID      string        `json:"id"`
	Verdict policy.Effect `json:"verdict"`
	Reason  string        `json:"reason"`
	Rule    string        `json:"rule,omitempty"`
	Check   policy.Check  `json:"check,omitempty"`
	Part    string        `json:"part,omitempty"`
}

// Batch reads rows, either the TSV of the shell cases (id, command,
// allow_rules …, with a header) or JSON lines {"id","command","allow_rules"},
// and writes one JSON line per row, in order. It stops at the first line that
// is no row.
func Batch(r io.Reader, w io.Writer, o Options) error {
	in := bufio.NewReaderSize(r, 64<<10)
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading row %d: %w", n, err)
		}
		if row, ok, rowErr := parseRow(line); rowErr != nil {
			return errors.Join(fmt.Errorf("reading row %d: %w", n, rowErr), out.Flush())
		} else if ok {
			if encErr := enc.Encode(row.run(o)); encErr != nil {
				return fmt.Errorf("writing row %d: %w", n, encErr)
			}
		}
		if err != nil {
			return out.Flush()
		}
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxRow {
			return nil, fmt.Errorf("it is longer than %d bytes", maxRow)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

// A Row is one case of a batch.
type Row struct {
	ID      string   `json:"id"`
	Command string   `json:"command"`
	Rules   []string `json:"allow_rules"`
	// Expected is the fourth column of the TSV; Batch ignores it.
	Expected string `json:"expected,omitempty"`
}

// parseRow reads one line; ok is false for an empty line and for the header.
func parseRow(line []byte) (row Row, ok bool, err error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return row, false, nil
	}
	if line[0] == '{' {
		if err := json.Unmarshal(line, &row); err != nil {
			return row, false, fastjson.InWords(err)
		}
		return row, true, nil
	}
	row, err = parseTSV(string(line))
	return row, err == nil && row.ID != "id", err
}

// parseTSV reads one line of the TSV of shell cases.
func parseTSV(line string) (Row, error) {
	f := strings.Split(line, "\t")
	if len(f) < 2 {
		return Row{}, fmt.Errorf("expected columns separated by tabs (id, command, allow_rules), or a JSON object; found %q", clip(line))
	}
	row := Row{ID: f[0]}
	var err error
	if row.Command, err = unescape(f[1]); err != nil {
		return row, err
	}
	if len(f) > 2 && f[2] != "" {
		rules, err := unescape(f[2])
		if err != nil {
			return row, err
		}
		row.Rules = strings.Split(rules, " ;; ")
	}
	if len(f) > 3 {
		row.Expected = f[3]
	}
	return row, nil
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// unescape decodes \\, \n, \t, \r, \uXXXX and \UXXXXXXXX.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", errors.New("a backslash ends the field")
		}
		digits := 0
		switch s[i] {
		case '\\':
			b.WriteByte('\\')
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		default:
			return "", fmt.Errorf("the escape \\%c is not known", s[i])
		}
		if digits == 0 {
			continue
		}
		if i+digits >= len(s) {
			return "", fmt.Errorf("an escape \\%c needs %d digits", s[i], digits)
		}
		n, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 32)
		if err != nil || n > utf8.MaxRune {
			return "", fmt.Errorf("the escape \\%s is not a character", s[i:i+1+digits])
		}
		if n >= 0xd800 && n < 0xe000 {
			b.WriteString("\xed") // a lone surrogate: keep it invalid
		} else {
			b.WriteRune(rune(n))
		}
		i += digits
	}
	return b.String(), nil
}

// run decides one row with its rules added to those of the options. A row whose
// rule cannot be read asks.
func (row Row) run(o Options) Result {
	o.Rules.List = append([]policy.Rule(nil), o.Rules.List...)
	for _, text := range row.Rules {
		r, err := batchRule(text, o.Dir)
		if err != nil {
			return Result{ID: row.ID, Verdict: policy.Ask, Reason: err.Error(), Check: policy.CheckUnsafe}
		}
		o.Rules.List = append(o.Rules.List, r)
	}
	v := Check(row.Command, o).Verdict
	return Result{ID: row.ID, Verdict: v.Effect, Reason: v.Reason, Rule: v.Rule, Check: v.Check, Part: v.Part}
}

// batchRule reads a rule of a row: an allow rule, or with "deny:" or "ask:"
// before it one of those.
func batchRule(text, root string) (policy.Rule, error) {
	effect := policy.Allow
	if t, ok := strings.CutPrefix(text, "deny:"); ok {
		text, effect = t, policy.Deny
	} else if t, ok := strings.CutPrefix(text, "ask:"); ok {
		text, effect = t, policy.Ask
	} else if t, ok := strings.CutPrefix(text, "allow:"); ok {
		text = t
	}
	return policy.ParseRule(text, effect, policy.CLI, "row", root)
}

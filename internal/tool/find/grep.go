package find

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// Bounds of Grep.
const (
	defaultHead = 250 // entries
	maxContext  = 1000
	maxText     = 500 // characters of one line shown
)

// Output modes.
const (
	modeFiles   = "files_with_matches"
	modeContent = "content"
	modeCount   = "count"
)

type grepIn struct {
	Pattern   string `json:"pattern" jsonschema:"the regular expression"`
	Path      string `json:"path,omitempty" jsonschema:"a folder or file (default: the working directory)"`
	Glob      string `json:"glob,omitempty" jsonschema:"file names, such as *.js or *.{ts,tsx}"`
	Type      string `json:"type,omitempty" jsonschema:"a file type, such as go, py, js, rust"`
	Mode      string `json:"output_mode,omitempty" jsonschema:"default files_with_matches"`
	After     int    `json:"-A,omitempty" jsonschema:"lines shown after each match"`
	Before    int    `json:"-B,omitempty" jsonschema:"lines shown before each match"`
	Around    int    `json:"-C,omitempty" jsonschema:"lines shown before and after each match"`
	Numbers   *bool  `json:"-n,omitempty" jsonschema:"show line numbers (default true)"`
	Fold      bool   `json:"-i,omitempty" jsonschema:"ignore case"`
	Multiline bool   `json:"multiline,omitempty" jsonschema:"let a match span lines"`
	HeadLimit *int   `json:"head_limit,omitempty" jsonschema:"entries shown (default 250, 0 = all)"`
	Offset    int    `json:"offset,omitempty" jsonschema:"entries skipped"`
}

func grepSchema() *jsonschema.Schema {
	s, err := jsonschema.For[grepIn](nil)
	if err != nil {
		panic(err) // the type has no schema: found by any test
	}
	s.Properties["output_mode"].Enum = []any{modeContent, modeFiles, modeCount}
	zero := 0.0
	for _, name := range []string{"-A", "-B", "-C", "head_limit", "offset"} {
		s.Properties[name].Minimum = &zero
	}
	for _, name := range []string{"-n", "head_limit"} {
		p := s.Properties[name]
		for _, k := range p.Types {
			if k != "null" {
				p.Type = k
			}
		}
		p.Types = nil
	}
	return s
}

func (in grepIn) limit() int {
	if in.HeadLimit == nil {
		return defaultHead
	}
	return *in.HeadLimit
}

func (t *tools) planGrep(in grepIn, env tool.Env) (tool.Plan, error) {
	if in.Pattern == "" {
		return tool.Plan{}, errors.New("pattern is empty")
	}
	if err := search.Check(in.query()); err != nil {
		return tool.Plan{}, err
	}
	return t.plan(in.Path, "Grep "+clip.Line(clip.Clean(in.Pattern), 80), env)
}

func (in grepIn) query() search.Query {
	q := search.Query{Pattern: in.Pattern, Fold: in.Fold, Multiline: in.Multiline, Globs: in.Glob, Type: in.Type}
	switch in.Mode {
	case modeContent:
		q.Before, q.After = max(in.Before, in.Around), max(in.After, in.Around)
		q.Before, q.After = min(q.Before, maxContext), min(q.After, maxContext)
		q.First, q.Max = in.Offset, in.limit()
	case modeCount:
		q.Counts = true
	default:
		q.Names = true
	}
	return q
}

func (t *tools) grep(ctx context.Context, in grepIn, env tool.Env) (tool.Result, error) {
	root, err := t.root(in.Path, env)
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	h := t.tree(in.Path, root, false, env)
	files, report, err := search.Grep(ctx, h.Tree, in.query())
	if ctx.Err() != nil {
		return tool.Errorf("the search was cancelled"), nil
	}
	if err != nil {
		return failed(err, in.Path, env), nil
	}
	p := printer{in: in, env: env, root: root, limit: in.limit(), room: grepLimit - 1000}
	p.single = isFile(root)
	switch in.Mode {
	case modeContent:
		p.content(files)
	case modeCount:
		p.counts(files)
	default:
		p.names(files)
	}
	if note := strings.TrimSuffix(h.left()+unread(report), "\n"); note != "" {
		p.note("%s", note)
	}
	return tool.Result{Text: strings.TrimSuffix(p.b.String(), "\n"), Data: p.data(files)}, nil
}

// data is what was found as programs read it.
func (p *printer) data(files []search.File) func() any {
	entries, done, whole := p.entries, p.done, p.in.Offset+p.done >= p.seen && !p.full
	return func() any {
		out := map[string]any{"mode": cmp.Or(string(p.in.Mode), "files_with_matches"), "numFiles": len(files), "filenames": []string{}}
		matches := 0
		for _, f := range files {
			matches += f.Count
		}
		switch p.in.Mode {
		case modeContent, modeCount:
			out["content"] = strings.Join(entries, "\n")
			out["numMatches"] = matches
			if p.in.Mode == modeContent {
				out["numLines"], out["totalLines"] = done, matches
			}
		default:
			out["filenames"], out["totalFiles"], out["numFiles"] = append([]string{}, entries...), len(files), done
		}
		if p.in.Offset > 0 {
			out["appliedOffset"] = p.in.Offset
		}
		if !whole && p.limit > 0 {
			out["appliedLimit"] = p.limit
		}
		return out
	}
}

// A printer writes entries until a bound is met.
type printer struct {
	in     grepIn
	env    tool.Env
	root   string
	single bool // root is the one file
	limit  int  // entries; 0 is all
	room   int  // bytes
	b      strings.Builder
	seen   int // entries, the skipped ones included
	done   int // entries written
	full   bool
	// entries are those that were written.
	entries []string
}

func (p *printer) name(f search.File) string {
	if p.single {
		return shown(p.root, "", p.env)
	}
	return shown(p.root, f.Rel, p.env)
}

// put writes one entry unless it is skipped or over a bound.
func (p *printer) put(s string) {
	p.seen++
	switch {
	case p.seen <= p.in.Offset:
	case p.full || p.limit > 0 && p.done == p.limit || p.b.Len()+len(s) > p.room && p.done > 0:
		p.full = true
	default:
		p.b.WriteString(s)
		p.b.WriteByte('\n')
		p.entries = append(p.entries, s)
		p.done++
	}
}

func (p *printer) note(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// rest says how many entries are not shown and how to see them.
func (p *printer) rest(total int, what string) {
	switch left := total - p.in.Offset - p.done; {
	case total == 0:
		p.note("No matches found.")
	case p.done == 0 && p.in.Offset >= total:
		p.note("[%s in all; offset %d is past the end]", amount(total, what), p.in.Offset)
	case left > 0:
		p.note("[%s; continue with offset=%d, or narrow the search]", amount(left, "more "+what), p.in.Offset+p.done)
	}
}

func amount(n int, what string) string {
	if n != 1 {
		if strings.HasSuffix(what, "h") {
			what += "e"
		}
		what += "s"
	}
	return thousands(n) + " " + what
}

func (p *printer) names(files []search.File) {
	for _, f := range files {
		p.put(p.name(f))
	}
	p.rest(len(files), "file")
}

func (p *printer) counts(files []search.File) {
	total := 0
	for _, f := range files {
		p.put(fmt.Sprintf("%s:%d", p.name(f), f.Count))
		total += f.Count
	}
	p.rest(len(files), "file")
	if len(files) > 0 {
		p.note("[%s in %s]", amount(total, "matching line"), amount(len(files), "file"))
	}
}

// content writes matching lines with their context. Entries are matching
// lines; context goes with the match it is nearest to.
func (p *printer) content(files []search.File) {
	q := p.in.query()
	c := contexts{p: p, before: q.Before, after: q.After}
	total := 0
	for _, f := range files {
		p.seen = total // lines that were not kept count, too
		c.start(p.name(f))
		for _, l := range withoutKeys(p.root, f).Lines {
			if p.full {
				break
			}
			c.add(l)
		}
		total += f.Count
	}
	p.rest(total, "match")
}

// contexts puts lines of context with the matches that are shown.
type contexts struct {
	p             *printer
	before, after int

	name    string
	pending []search.Line // context that the next match may want
	owed    int           // lines of context due after the last match
	last    int           // number of the last line written, 0 at a file's start
}

func (c *contexts) start(name string) {
	c.name, c.pending, c.owed, c.last = name, nil, 0, 0
}

func (c *contexts) add(l search.Line) {
	if l.Context {
		if c.owed > 0 {
			c.owed--
			c.write(l)
		} else {
			c.pending = append(c.pending, l)
		}
		return
	}
	c.p.seen++
	lead := c.pending[max(0, len(c.pending)-c.before):]
	c.pending = nil
	switch {
	case c.p.seen <= c.p.in.Offset:
		return
	case c.p.limit > 0 && c.p.done == c.p.limit:
		c.p.full = true
		return
	}
	for _, x := range lead {
		c.write(x)
	}
	if c.write(l) {
		c.p.done++
	}
	c.owed = c.after
}

// write adds a line, with "--" where lines were left out before it.
func (c *contexts) write(l search.Line) bool {
	s := c.p.line(c.name, l)
	if c.before+c.after > 0 && c.p.b.Len() > 0 && (c.last == 0 || l.Number != c.last+1) {
		s = "--\n" + s
	}
	if c.p.full || c.p.b.Len()+len(s) > c.p.room && c.p.b.Len() > 0 {
		c.p.full = true
		return false
	}
	c.p.b.WriteString(s)
	c.p.b.WriteByte('\n')
	c.last = l.Number
	return true
}

// line writes path:number:text, with dashes for context.
func (p *printer) line(name string, l search.Line) string {
	sep := ":"
	if l.Context {
		sep = "-"
	}
	text := lineText(l)
	if p.in.Numbers != nil && !*p.in.Numbers {
		return name + sep + text
	}
	return fmt.Sprintf("%s%s%d%s%s", name, sep, l.Number, sep, text)
}

// lineText is what is shown of a line: of a long one, the part with the match.
func lineText(l search.Line) string {
	text := clip.Clean(l.Text)
	r := []rune(text)
	if len(r) <= maxText {
		return text
	}
	from, lead := 0, ""
	if at := len([]rune(clip.Clean(l.Text[:min(l.Match, len(l.Text))]))); at > maxText/2 {
		from, lead = min(at-maxText/4, len(r)-maxText), "[line cut] "
	}
	to, end := from+maxText, ""
	if to < len(r) {
		end = " [line cut]"
	}
	return lead + string(r[from:to]) + end
}

package file

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm/pixels"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/text/charset"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of Read (tools.md).
const (
	defaultLines = 2000
	maxLineChars = 2000
	maxWhole     = 256 << 10 // bytes read without offset and limit
	maxOut       = 256 << 10 // bytes of one result
	maxCount     = 64 << 20  // bytes looked through to count the lines that are left
)

type readIn struct {
	FilePath string `json:"file_path" jsonschema:"the file to read"`
	Offset   int    `json:"offset,omitempty" jsonschema:"first line, from 1"`
	Limit    int    `json:"limit,omitempty" jsonschema:"number of lines (default 2000)"`
	Pages    string `json:"pages,omitempty" jsonschema:"pages of a PDF, such as 3 or 1-5"`
}

func (t *tools) planRead(in readIn, env tool.Env) (tool.Plan, error) {
	if in.Offset < 0 || in.Limit < 0 {
		return tool.Plan{}, errors.New("offset and limit cannot be negative; offset counts lines from 1")
	}
	if call, ok := earlier(in, env); ok {
		return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "Read the result of call " + clip.Line(clip.Visible(call), 80), Parallel: true, Fold: "file"}, nil
	}
	path, err := t.locate(in.FilePath, env)
	if err != nil {
		return tool.Plan{}, err
	}
	t.calls.Plan(env.Call, in.FilePath, path)
	return tool.Plan{
		Actions:  []policy.Action{policy.Read{Path: path, Asked: in.FilePath}},
		Title:    "Read " + short(path, env),
		Parallel: true,
		Fold:     "file",
	}, nil
}

// short names a path for people: relative to the working directory below it,
// with what cannot be seen written out, so that it reads as no other file.
func short(path string, env tool.Env) string {
	return clip.Visible(paths.Short(env.Dir, path))
}

func (t *tools) read(ctx context.Context, in readIn, env tool.Env) (tool.Result, error) {
	if call, ok := earlier(in, env); ok {
		return result(ctx, in, env, call)
	}
	path, err := t.pinned(in.FilePath, env)
	if err != nil {
		return tool.Errorf("%s", clip.Pictures(err.Error())), nil
	}
	o, err := open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tool.Errorf("%s", clip.Pictures(missing(in.FilePath, path, env))), nil
	case errors.Is(err, errFolder):
		return tool.Errorf("%s is a folder; list it with Glob (pattern \"*\", path %q)", in.FilePath, path), nil
	case err != nil:
		return tool.Errorf("%s: %v", clip.Pictures(in.FilePath), cause(err)), nil
	}
	defer o.f.Close()
	r := reading{t: t, in: in, env: env, path: path, o: o}
	return r.run(ctx)
}

// earlier is the call whose result is to be read, where no file is.
func earlier(in readIn, env tool.Env) (call string, ok bool) {
	call, ok = strings.CutPrefix(in.FilePath, transcript.ResultPath)
	return call, ok && env.Result != nil
}

// result shows what an earlier call returned. The model has seen it before, so
// that nothing is asked.
func result(ctx context.Context, in readIn, env tool.Env, call string) (tool.Result, error) {
	text, ok, err := env.Result(ctx, call)
	switch {
	case ctx.Err() != nil:
		return tool.Errorf("reading was cancelled"), nil
	case err != nil:
		return tool.Errorf("the log of the session: %v", cause(err)), nil
	case !ok:
		return tool.Errorf("there was no call %q in this session", clip.Line(clip.Visible(call), 80)), nil
	}
	p := page{first: max(in.Offset, 1), limit: in.Limit, max: budget(env)}
	if p.limit == 0 {
		p.limit = defaultLines
	}
	if err := p.fill(ctx, strings.NewReader(text)); err != nil {
		return tool.Errorf("reading was cancelled"), nil
	}
	switch {
	case text == "":
		return tool.Result{Text: "The result was empty."}, nil
	case p.shown == 0:
		return tool.Errorf("the result has %s; offset %d is past its end", clip.Count(p.total, "line"), p.first), nil
	}
	body := p.b.String()
	return tool.Result{Text: body + p.notes(), View: view.Code{Path: in.FilePath, First: p.first, S: unnumbered(body)}}, nil
}

// reading is one call of Read.
type reading struct {
	t    *tools
	in   readIn
	env  tool.Env
	path string
	o    opened
}

func (r *reading) failed(err error) (tool.Result, error) {
	return tool.Errorf("%s: %v", clip.Pictures(r.in.FilePath), cause(err)), nil
}

func (r *reading) run(ctx context.Context) (tool.Result, error) {
	br := bufio.NewReaderSize(r.o.f, 64<<10)
	head, err := br.Peek(8192)
	if err != nil && err != io.EOF {
		return r.failed(err)
	}
	ext := strings.ToLower(filepath.Ext(r.path))
	switch {
	case pixels.Media(head) != "":
		return r.image(br)
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return r.pdf(ctx)
	case ext == ".ipynb" && r.in.Offset == 0 && r.in.Limit == 0:
		if res, ok := r.notebook(br); ok {
			return res, nil
		}
		if _, err := r.o.f.Seek(0, io.SeekStart); err != nil {
			return r.failed(err)
		}
		br.Reset(r.o.f)
	case clip.Binary(head):
		if name := charset.Bare16(head); name != "" {
			return tool.Errorf("%s looks like text stored as %s without a byte order mark, which Read and Edit do not take; "+
				"`iconv -f %s -t UTF-8` (with the file's name) shows it in Bash", clip.Pictures(r.in.FilePath), name, name), nil
		}
		return tool.Errorf("%s is a binary file (%s) and cannot be read as text; its first bytes:\n%s",
			clip.Pictures(r.in.FilePath), clip.Size(r.o.fi.Size()), hexDump(head)), nil
	}
	return r.text(ctx, br, head)
}

func hexDump(b []byte) string {
	return strings.TrimSuffix(hex.Dump(b[:min(len(b), 128)]), "\n")
}

// text reads lines as they stand in the file.
func (r *reading) text(ctx context.Context, br *bufio.Reader, head []byte) (tool.Result, error) {
	size := r.o.fi.Size()
	whole := r.in.Offset == 0 && r.in.Limit == 0
	if whole && size > maxWhole {
		return tool.Errorf("%s is %s, too much to read at once (at most 256 KB without offset and limit). "+
			"Read a part with offset and limit, such as offset=1 limit=500, or look for what you need with Grep.",
			clip.Pictures(r.in.FilePath), clip.Size(size)), nil
	}
	var src io.Reader = br
	sum := sha256.New()
	var seen int64
	var d document
	if utf16 := bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")); utf16 || size <= charset.MaxFind {
		raw, err := io.ReadAll(io.LimitReader(br, maxFile+1))
		if err != nil {
			return r.failed(err)
		}
		if len(raw) > maxFile {
			return r.failed(errBig)
		}
		if d, err = decodeRaw(raw); err != nil {
			return r.failed(err)
		}
		sum.Write(raw)
		seen = int64(len(raw))
		src = strings.NewReader(d.raw)
	} else {
		src = io.TeeReader(br, io.MultiWriter(sum, counter{&seen}))
	}
	p := page{first: max(r.in.Offset, 1), limit: r.in.Limit, max: budget(r.env)}
	p.set = d.set
	if p.limit == 0 {
		p.limit = defaultLines
	}
	if err := p.fill(ctx, secret.Keys(src)); err != nil { // a part of a key says less of itself
		if ctx.Err() != nil {
			return tool.Errorf("reading was cancelled"), nil
		}
		return r.failed(err)
	}
	f := effect.File{Path: r.path, Size: seen, MTime: r.o.fi.ModTime().UnixNano()}
	if p.ended {
		f.Hash = hex.EncodeToString(sum.Sum(nil))
	}
	return r.result(p, f), nil
}

type counter struct{ n *int64 }

func (c counter) Write(b []byte) (int, error) { *c.n += int64(len(b)); return len(b), nil }

// budget bounds one result in bytes: a small window gets less.
func budget(env tool.Env) int {
	if env.Window > 0 {
		return min(maxOut, max(env.Window*2, 16<<10))
	}
	return maxOut
}

func (r *reading) result(p page, f effect.File) tool.Result {
	switch {
	case p.ended && f.Size == 0:
		r.t.Ledger.put(f)
		return tool.Result{Text: fmt.Sprintf("%s is an empty file.", clip.Pictures(r.in.FilePath)), Effects: []tool.Effect{effect.Saw{Files: []effect.File{f}}}, Data: r.data("", p)}
	case p.shown == 0 && p.ended:
		return tool.Errorf("%s has %s; offset %d is past its end", clip.Pictures(r.in.FilePath), clip.Count(p.total, "line"), p.first)
	}
	last := p.first + p.shown - 1
	f.Partial = p.first > 1 || p.more() > 0 || !p.ended
	if f.Partial {
		f.First, f.Last, f.Unseen = p.first, last, effect.UnseenPart
	}
	if p.clipped > 0 {
		f.Unseen = effect.UnseenEnds
	}
	if old, ok := r.t.Ledger.Get(r.path); ok && f.Hash != "" && old.Hash == f.Hash && old.Size == f.Size {
		known := shown(old) && (!old.Partial || old.First <= p.first && last <= old.Last)
		if known && r.env.Whole {
			return tool.Result{Text: fmt.Sprintf("%s is unchanged since you read it (lines %d-%d are in the earlier result).", clip.Pictures(r.in.FilePath), p.first, last)}
		}
	}
	f = r.t.Ledger.saw(f, p.total)
	body := p.b.String()
	return tool.Result{
		Text:    body + p.notes(),
		View:    view.Code{Path: short(r.path, r.env), First: p.first, S: unnumbered(body)},
		Effects: []tool.Effect{effect.Saw{Files: []effect.File{f}}},
		Data:    r.data(body, p),
	}
}

// data is what was read as programs read it. Of a text that was not read to its end,
// totalLines are the lines that were looked at.
func (r *reading) data(body string, p page) func() any {
	first, shown, total := p.first, p.shown, p.total
	return func() any {
		return r.shape("text", map[string]any{"filePath": r.path, "content": unnumbered(body), "numLines": shown, "startLine": first, "totalLines": total})
	}
}

func (r *reading) shape(kind string, file map[string]any) map[string]any {
	return map[string]any{"type": kind, "file": file}
}

// unnumbered drops the numbers that page put in front of each line.
func unnumbered(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		_, rest, _ := strings.Cut(line, "\t")
		b.WriteString(rest)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// page is a range of lines of a text, numbered.
type page struct {
	first, limit int
	max          int // bytes

	b        strings.Builder
	shown    int  // lines in b
	total    int  // lines seen; of the whole text when ended
	ended    bool // the text was seen to its end
	clipped  int  // lines cut at maxLineChars
	pictures bool // control characters were replaced
	unseen   bool // others that cannot be seen were
	full     bool // stopped by max
	crlf     int  // lines shown that end with CRLF
	lf       int  // lines shown that end with LF alone
	broken   bool // bytes that are no UTF-8 were shown as U+FFFD

	set *charset.Encoding // how the text is stored, when not in Unicode
}

// fill reads lines until the end, or until enough was looked through.
func (p *page) fill(ctx context.Context, src io.Reader) error {
	br := bufio.NewReaderSize(src, 64<<10)
	after := 0 // bytes looked at behind the range
	for {
		if p.total%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		wanted := p.total+1 >= p.first && p.shown < p.limit && !p.full
		line, n, err := p.line(br, wanted)
		if n == 0 && err == io.EOF {
			p.ended = true
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		p.total++
		if wanted {
			p.add(line)
		} else if p.total > p.first {
			if after += n; after > maxCount {
				return nil
			}
		}
		if err == io.EOF {
			p.ended = true
			return nil
		}
	}
}

// line reads one line and keeps at most what may be shown of it, with one
// character more to see that it is longer. n counts the bytes read.
func (p *page) line(br *bufio.Reader, keep bool) (line []byte, n int, err error) {
	for {
		part, err := br.ReadSlice('\n')
		n += len(part)
		if room := maxLineChars*utf8.UTFMax + 2 - len(line); keep && room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if err != bufio.ErrBufferFull {
			return line, n, err
		}
	}
}

func (p *page) add(line []byte) {
	s, ends := strings.CutSuffix(string(line), "\n")
	s, crlf := strings.CutSuffix(s, "\r")
	if p.total == 1 {
		s = strings.TrimPrefix(s, bom8)
	}
	v := clip.Pictures(s)
	p.pictures = p.pictures || v != s && strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f })
	p.unseen = p.unseen || v != s && strings.ContainsFunc(s, clip.Unseen)
	s = v
	if len(s) > maxLineChars && utf8.RuneCountInString(s) > maxLineChars {
		p.clipped++
		n := 0
		for i := range s {
			if n == maxLineChars {
				s = s[:i] + " [line cut]"
				break
			}
			n++
		}
	}
	if p.shown > 0 && p.b.Len()+len(s)+8 > p.max {
		p.full = true
		return
	}
	fmt.Fprintf(&p.b, "%6d\t%s\n", p.total, s)
	p.shown++
	switch {
	case ends && crlf:
		p.crlf++
	case ends:
		p.lf++
	}
	p.broken = p.broken || strings.Count(s, "\uFFFD") > strings.Count(string(line), "\uFFFD")
}

// more counts the lines behind the range.
func (p *page) more() int { return p.total - (p.first + p.shown - 1) }

// notes say what the reader does not see.
func (p *page) notes() string {
	var out []string
	next := p.first + p.shown
	switch {
	case !p.ended:
		out = append(out, fmt.Sprintf("[more than %s more lines; read with offset=%d]", clip.Thousands(p.more()), next))
	case p.more() > 0:
		out = append(out, fmt.Sprintf("[%s; read with offset=%d]", clip.Count(p.more(), "more line"), next))
	}
	if p.clipped > 0 {
		out = append(out, fmt.Sprintf("[%s longer than %s characters cut]", clip.Count(p.clipped, "line"), clip.Thousands(maxLineChars)))
	}
	if p.pictures {
		out = append(out, "[control characters are shown as symbols, such as ␛ for ESC]")
	}
	if p.unseen {
		out = append(out, "[characters that cannot be seen are shown by number, such as <U+0085>]")
	}
	switch {
	case p.crlf > 0 && p.lf == 0:
		out = append(out, "[lines end with CRLF]")
	case p.crlf > 0:
		out = append(out, fmt.Sprintf("[%s with CRLF, the others with LF]", ended(p.crlf)))
	}
	switch {
	case p.set != nil:
		out = append(out, fmt.Sprintf("[the file is stored as %s, not UTF-8; Edit and Write keep that]", p.set.Name))
	case p.broken:
		out = append(out, "[bytes that are no UTF-8 are shown as \uFFFD (U+FFFD); an edit around them keeps them]")
	}
	return strings.Join(out, "\n")
}

func ended(n int) string {
	if n == 1 {
		return "1 line ends"
	}
	return clip.Count(n, "line") + " end"
}

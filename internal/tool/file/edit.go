package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/diff"
	"github.com/adze-agent/adze/internal/tool"
)

type editIn struct {
	FilePath   string `json:"file_path" jsonschema:"the file to change"`
	OldString  string `json:"old_string" jsonschema:"the text to replace, exactly as in the file"`
	NewString  string `json:"new_string" jsonschema:"the text to put there"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
}

type multiIn struct {
	FilePath string   `json:"file_path" jsonschema:"the file to change"`
	Edits    []change `json:"edits" jsonschema:"the replacements, in order"`
}

// A change is one replacement.
type change struct {
	OldString  string `json:"old_string" jsonschema:"the text to replace"`
	NewString  string `json:"new_string" jsonschema:"the text to put there"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
}

type writeIn struct {
	FilePath string `json:"file_path" jsonschema:"the file to write"`
	Content  string `json:"content" jsonschema:"the whole content"`
}

func (in editIn) changes() []change {
	return []change{{in.OldString, in.NewString, in.ReplaceAll}}
}

func (t *tools) planEdit(in editIn, env tool.Env) (tool.Plan, error) {
	return t.plan(in.FilePath, "Edit", env, func(p string) (draft, error) { return t.draftEdit(p, in.FilePath, in.changes(), env) })
}

func (t *tools) planMulti(in multiIn, env tool.Env) (tool.Plan, error) {
	if len(in.Edits) == 0 {
		return tool.Plan{}, errors.New("edits is empty; give at least one {old_string, new_string}")
	}
	return t.plan(in.FilePath, "Edit", env, func(p string) (draft, error) { return t.draftEdit(p, in.FilePath, in.Edits, env) })
}

func (t *tools) planWrite(in writeIn, env tool.Env) (tool.Plan, error) {
	return t.plan(in.FilePath, "Write", env, func(p string) (draft, error) { return t.draftWrite(p, in.FilePath, in.Content) })
}

func (t *tools) plan(asked, verb string, env tool.Env, make func(path string) (draft, error)) (tool.Plan, error) {
	path, err := t.locate(asked, env)
	if err != nil {
		return tool.Plan{}, err
	}
	d, err := make(path)
	if err != nil {
		return tool.Plan{}, err
	}
	t.calls.Plan(env.Call, asked, path)
	return tool.Plan{
		Actions: []policy.Action{policy.Write{Path: path, Asked: asked}},
		View:    d.diff(short(path, env)),
		Title:   verb + " " + short(path, env),
	}, nil
}

func (t *tools) edit(_ context.Context, in editIn, env tool.Env) (tool.Result, error) {
	res, err := t.apply(in.FilePath, env, func(p string) (draft, error) { return t.draftEdit(p, in.FilePath, in.changes(), env) })
	return with(res, map[string]any{"oldString": in.OldString, "newString": in.NewString, "replaceAll": in.ReplaceAll}), err
}

func (t *tools) multi(_ context.Context, in multiIn, env tool.Env) (tool.Result, error) {
	if len(in.Edits) == 0 {
		return tool.Errorf("edits is empty; give at least one {old_string, new_string}"), nil
	}
	res, err := t.apply(in.FilePath, env, func(p string) (draft, error) { return t.draftEdit(p, in.FilePath, in.Edits, env) })
	before, after := make([]string, len(in.Edits)), make([]string, len(in.Edits))
	for i, c := range in.Edits { // who knows only Edit reads all that was replaced, and all that stands there now
		before[i], after[i] = c.OldString, c.NewString
	}
	more := map[string]any{"edits": in.Edits, "oldString": strings.Join(before, "\n"), "newString": strings.Join(after, "\n"), "replaceAll": len(in.Edits) == 1 && in.Edits[0].ReplaceAll}
	return with(res, more), err
}

func (t *tools) write(_ context.Context, in writeIn, env tool.Env) (tool.Result, error) {
	made := "create"
	res, err := t.apply(in.FilePath, env, func(p string) (draft, error) {
		d, err := t.draftWrite(p, in.FilePath, in.Content)
		if d.was != nil {
			made = "update"
		}
		return d, err
	})
	return with(res, map[string]any{"type": made, "content": in.Content}), err
}

// maxData is how large a file may be, in bytes, whose content and changes programs are
// told with a result.
const maxData = 1 << 20

// data is a change as programs read it. What is too large to be told of is null.
func (d draft) data(path string) func() any {
	return func() any {
		out := map[string]any{"filePath": path, "originalFile": nil, "structuredPatch": []diff.Hunk{}, "userModified": false}
		if max(len(d.old.lf), len(d.new.lf)) > maxData {
			return out
		}
		if d.was != nil {
			out["originalFile"] = d.old.lf
			out["structuredPatch"] = diff.Hunks(d.old.lf, d.new.lf)
		}
		return out
	}
}

// with adds what the call said itself to what programs read of its result.
func with(r tool.Result, more map[string]any) tool.Result {
	if data := r.Data; data != nil {
		r.Data = func() any {
			out, _ := data().(map[string]any)
			maps.Copy(out, more)
			return out
		}
	}
	return r
}

// apply works a draft out, saves it and reports. The same code made the view
// of the plan; it runs again because the file may have changed since.
func (t *tools) apply(asked string, env tool.Env, make func(path string) (draft, error)) (tool.Result, error) {
	path, err := t.pinned(asked, env)
	if err != nil {
		return tool.Errorf("%s", clip.Pictures(err.Error())), nil
	}
	d, err := make(path)
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	content, err := d.new.bytes()
	if err != nil {
		return tool.Errorf("%s", clip.Pictures(err.Error())), nil
	}
	fi, err := t.disk.save(path, content, d.was)
	if err != nil {
		return tool.Errorf("%s was not changed: %v", clip.Pictures(asked), cause(err)), nil
	}
	f := entry(path, fi, content)
	f.Partial = true // known, but not shown line by line
	f.Unseen = d.unseen
	t.Ledger.put(f)
	t.Ledger.keep(f, content)
	return tool.Result{Text: d.report(clip.Pictures(asked)), View: d.diff(short(path, env)), Effects: []tool.Effect{effect.Saw{Files: []effect.File{f}}}, Data: d.data(path)}, nil
}

// A draft is a change of one file that is not saved yet. was is nil for a new
// file.
type draft struct {
	old, new document
	was      fs.FileInfo
	made     int // replacements
	whole    bool
	loose    string // how an inexact old_string was matched
	unseen   effect.Unseen
}

// draftEdit works out replacements in a file the model has seen.
func (t *tools) draftEdit(path, asked string, changes []change, env tool.Env) (draft, error) {
	old, seen, err := t.current(path, asked, "Edit")
	if errors.Is(err, fs.ErrNotExist) {
		if changes[0].OldString == "" {
			if err := makeable(path, asked); err != nil {
				return draft{}, err
			}
			d := draft{whole: true}
			return d.change(changes)
		}
		return draft{}, errors.New(clip.Pictures(missing(asked, path, env)))
	}
	if err != nil {
		return draft{}, err
	}
	d := draft{old: old, new: old, was: seen.is, unseen: seen.unseen}
	done, err := d.change(changes)
	if err == nil && seen.changed && (done.loose != "" || done.made > len(changes)) {
		return draft{}, changedErr(asked, "Edit")
	}
	if isNotebook(path, old.raw) {
		if err != nil {
			return draft{}, fmt.Errorf("%w\n%s", err, notebookHow)
		}
		return done, keepsNotebook(asked, done)
	}
	return done, err
}

// change applies replacements in order; all or nothing.
func (d draft) change(changes []change) (draft, error) {
	if d.was == nil {
		d.new = document{raw: changes[0].NewString}
		d.new.fold()
		changes = changes[1:]
		d.made = 1
	}
	for i, c := range changes {
		next, n, loose, err := replaceIn(d.new, c)
		if err != nil {
			if len(changes) > 1 {
				err = fmt.Errorf("edit %d of %d: %w; no edit was made", i+1, len(changes), err)
			}
			return draft{}, err
		}
		d.new = next
		d.made += n
		if loose != "" {
			d.loose = loose
		}
	}
	if d.was != nil && d.new.raw == d.old.raw {
		return draft{}, errors.New("the edits leave the file as it is")
	}
	if d.was != nil {
		return d, d.old.keeps(&d.new)
	}
	return d, nil
}

func (t *tools) draftWrite(path, asked, content string) (draft, error) {
	old, seen, err := t.current(path, asked, "Write")
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeable(path, asked); err != nil {
			return draft{}, err
		}
		d := draft{new: document{raw: content}, whole: true}
		d.new.fold()
		return d, nil
	}
	if err != nil {
		return draft{}, err
	}
	d := draft{old: old, new: old.with(content), was: seen.is, whole: true}
	if err := old.keeps(&d.new); err != nil {
		return draft{}, fmt.Errorf("%s: %w", clip.Pictures(asked), err)
	}
	if isNotebook(path, old.raw) {
		return d, keepsNotebook(asked, d)
	}
	return d, nil
}

// A sight is a file as it is now, and what the model knows of it.
type sight struct {
	is      fs.FileInfo
	unseen  effect.Unseen
	changed bool // since the model saw it; it was told of that, and not what changed
}

// current reads a file for a change and checks that the model knows it as it is: for Write
// all of it, for Edit that it changed, if it did.
func (t *tools) current(path, asked, verb string) (document, sight, error) {
	fail := func(err error) (document, sight, error) { return document{}, sight{}, err }
	name := clip.Pictures(asked)
	o, err := open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fail(fs.ErrNotExist)
		}
		return fail(fmt.Errorf("%s: %w", name, cause(err)))
	}
	defer o.f.Close()
	seen, ok := t.Ledger.Get(path)
	if !ok {
		return fail(fmt.Errorf("%s has not been read in this session; use Read first, then %s", name, verb))
	}
	now := sight{is: o.fi, unseen: seen.Unseen}
	b, err := o.slurp(maxFile)
	switch {
	case errors.Is(err, errBig):
		return fail(fmt.Errorf("%s is larger than 64 MB; change it with a command instead", name))
	case err != nil:
		return fail(fmt.Errorf("%s: %w", name, cause(err)))
	case seen.Hash == "" && seen.Size != int64(len(b)):
		return fail(fmt.Errorf("%s was read only in part and is too large to compare; read its end, then %s", name, verb))
	case clip.Binary(b) && verb == "Edit":
		return fail(fmt.Errorf("%s is a binary file and cannot be edited as text", name))
	case seen.Hash != "" && !same(seen, b):
		if verb != "Edit" || !t.Ledger.told(path, o.fi) {
			return fail(changedErr(asked, verb))
		}
		now.unseen, now.changed = effect.UnseenPart, true
	case verb == "Write" && seen.Unseen != "":
		return fail(unseenErr(seen, name, len(b)))
	}
	d, err := decode(b)
	if err != nil {
		return fail(fmt.Errorf("%s: %w", name, err))
	}
	return d, now, nil
}

func changedErr(asked, verb string) error {
	return fmt.Errorf("%s has changed since it was read; use Read again, then %s", clip.Pictures(asked), verb)
}

// unseenErr says what Write would replace unseen, and what to do first.
func unseenErr(seen effect.File, name string, size int) error {
	how := "use Read without offset and limit"
	if size > maxWhole {
		how = "use Read with offset and limit, from line 1 to its end"
	}
	switch {
	case seen.Unseen == effect.UnseenEnds:
		return fmt.Errorf("%s has lines of more than %s characters, which Read does not show to their ends, and Write would replace them; "+
			"use Edit to change a part, or, where nothing in it is needed, remove the file first", name, clip.Thousands(maxLineChars))
	case seen.First == 1:
		how = fmt.Sprintf("use Read with offset=%d", seen.Last+1)
		fallthrough
	case seen.First > 1:
		return fmt.Errorf("only lines %d-%d of %s were read, and Write would replace all of it; %s for the rest, then Write, or use Edit to change a part", seen.First, seen.Last, name, how)
	}
	return fmt.Errorf("%s has changed since all of it was read, and Write would replace what you have not seen; %s again, then Write, or use Edit to change a part", name, how)
}

// report confirms a change to the model.
func (d draft) report(name string) string {
	switch {
	case d.was == nil:
		return fmt.Sprintf("%s was created (%s).", name, clip.Count(len(splitLines(d.new.lf)), "line"))
	case d.whole && d.old.raw == d.new.raw:
		return fmt.Sprintf("%s was written; its content is as before.", name)
	}
	var b strings.Builder
	if d.whole {
		fmt.Fprintf(&b, "%s was replaced (%s, was %s).", name, clip.Count(len(splitLines(d.new.lf)), "line"), clip.Thousands(len(splitLines(d.old.lf))))
		switch {
		case d.old.mostlyCRLF() && d.new.mostlyCRLF():
			b.WriteString(` Its lines end with CRLF, as before (Edit of "\r\n" to "\n" with replace_all changes that).`)
		case d.old.mostlyCRLF() && len(d.new.cr) == 0:
			b.WriteString(" Its lines end with LF now, no longer with CRLF.")
		}
		if d.new.enc == legacy {
			fmt.Fprintf(&b, " It is stored as %s, as before.", d.new.set.Name)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "%s was changed (%s).", name, clip.Count(d.made, "replacement"))
	if d.loose != "" {
		fmt.Fprintf(&b, " old_string was matched although it differed in %s.", d.loose)
	}
	b.WriteString(" It reads now:\n")
	b.WriteString(d.around())
	return b.String()
}

// Bounds of the neighbourhood shown after a change, in lines.
const (
	aroundLines = 4
	aroundMax   = 80
)

// around numbers the changed lines with some before and after. When changes
// are far apart, the places between are left out.
func (d draft) around() string {
	lines := splitLines(d.new.lf)
	var b strings.Builder
	last, n := 0, 0
	for _, r := range changedLines(d.old.lf, d.new.lf) {
		from, to := max(r[0]-aroundLines, last+1, 1), min(r[1]+aroundLines, len(lines))
		if n > 0 && from > last+1 {
			b.WriteString("...\n")
		}
		for i := from; i <= to; i++ {
			if n++; n > aroundMax {
				b.WriteString("[further changed lines are not shown]\n")
				return b.String()
			}
			s, cut := clip.Head(clip.Pictures(lines[i-1]), maxLineChars)
			if cut {
				s += " [line cut]"
			}
			fmt.Fprintf(&b, "%6d\t%s\n", i, s)
		}
		last = max(last, to)
	}
	if len(lines) == 0 {
		return "(the file is empty)\n"
	}
	return b.String()
}

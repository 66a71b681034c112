package bash

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/charset"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of a result's text, in bytes; together with the notes they stay
// below Limit.
const (
	headText = 17_000
	tailText = 11_000
	noteText = 300 // of one thing quoted in a note
)

// remained are the processes that a command left behind, as far as its shell did not say so.
func (j *job) remained(st proc.Status) (names []string) {
	if j.hand.apart {
		return nil
	}
	for _, name := range st.Left {
		if strings.Contains(name, forked) {
			name = "a subshell"
		}
		names = append(names, name)
	}
	return names
}

// result describes a command that ended, timed out or was interrupted.
func (j *job) result(in input, how outcome) tool.Result {
	k := j.out.Kept()
	text, dropped := show(k, k.Path)
	var notes []string
	st := proc.Status{}
	if how != interrupted { // else it may still be ending
		st = j.p.Status()
	}
	j.tasks.mu.Lock()
	why := j.note
	j.tasks.mu.Unlock()
	isErr := true
	switch {
	case how == interrupted:
		notes = append(notes, "interrupted before it ended")
		why = "interrupted"
	case how == timedOut:
		notes = append(notes, why+" and was ended; what it printed until then is above. Use a longer timeout, or run_in_background")
	case why != "":
		notes = append(notes, why)
	default:
		var note string
		note, isErr = exitNote(in.Command, st, k.Total == 0)
		if note != "" {
			notes = append(notes, note)
		}
		why = note
	}
	left := j.remained(st)
	if n := len(left); n > 0 && how == ended {
		what := "1 process that it left running was"
		if n > 1 {
			what = strconv.Itoa(n) + " processes that it left running were"
		}
		notes = append(notes, fmt.Sprintf("%s ended: %s. Use run_in_background for what should stay",
			what, clip.Line(clip.Clean(strings.Join(left, "; ")), noteText)))
	}
	if k.FileErr != nil {
		notes = append(notes, fmt.Sprintf("the output file is not complete: %v", k.FileErr))
	}
	shown := text
	if text == "" && len(notes) == 0 {
		text = "(no output)"
	}
	return tool.Result{
		Text:  join(text, notes),
		IsErr: isErr,
		View: view.Terminal{
			Command: clip.VisibleText(in.Command), Output: shown, Exit: st.Code, Dropped: dropped, Note: why,
		},
		Data: func() any {
			out := map[string]any{"stdout": shown, "stderr": "", "interrupted": how == interrupted, "isImage": false, "noOutputExpected": false}
			if in.NoSandbox {
				out["dangerouslyDisableSandbox"] = true
			}
			if why != "" {
				out["returnCodeInterpretation"] = why
			}
			return out
		},
	}
}

// backgroundResult tells how to follow a task, and notes on it.
func (j *job) backgroundResult(in input, notes ...string) tool.Result {
	if in.watch != nil {
		return j.watchResult(notes...)
	}
	j.tasks.mu.Lock()
	id, path := j.id, j.out.Kept().Path
	j.tasks.mu.Unlock()
	text := fmt.Sprintf("Running in the background as %s. You are told when it ends. TaskOutput shows what it wrote, TaskStop ends it.", id)
	if path != "" {
		text += " All of its output goes to " + path + "."
	}
	text += j.untilWhen()
	return tool.Result{Text: join(text, notes), View: view.Terminal{Command: clip.VisibleText(in.Command), Note: "in the background as " + id}, Data: func() any {
		out := map[string]any{"stdout": "", "stderr": "", "interrupted": false, "isImage": false, "backgroundTaskId": id}
		if !in.Background {
			out["backgroundedByUser"] = true
		}
		if j.tasks.conf.Ends {
			out["backgroundEndsWithFinalResponse"] = true
		}
		return out
	}}
}

// untilWhen says how long a command may run in the background.
func (j *job) untilWhen() string {
	text := " It may run for " + j.lasts.String() + "."
	if j.tasks.conf.Ends {
		text += " It ends with your last answer: where you need what it comes to, wait for it with TaskOutput and block."
	}
	return text
}

// lateResult is what a command printed until it ran into its time limit, and how it goes
// on. What it prints from here on, the first look shows.
func (j *job) lateResult(in input, notes ...string) tool.Result {
	j.tasks.mu.Lock()
	id, k := j.id, j.out.Kept()
	j.read = k.Total
	j.tasks.mu.Unlock()
	text, dropped := show(k, k.Path)
	shown := text
	goes := fmt.Sprintf("it reached its time limit of %s and goes on in the background as %s. You are told when it ends; TaskOutput shows what it writes from here on, TaskStop ends it.", in.timeout(), id)
	if k.Path != "" {
		goes += " All of its output goes to " + k.Path + "."
	}
	return tool.Result{
		Text: join(join(text, []string{goes + j.untilWhen()}), notes),
		View: view.Terminal{Command: clip.VisibleText(in.Command), Output: shown, Dropped: dropped, Note: "time limit of " + in.timeout().String() + "; in the background as " + id},
		Data: func() any {
			out := map[string]any{"stdout": shown, "stderr": "", "interrupted": false, "isImage": false, "backgroundTaskId": id, "timedOutAfterMs": in.timeout().Milliseconds()}
			if j.tasks.conf.Ends {
				out["backgroundEndsWithFinalResponse"] = true
			}
			return out
		},
	}
}

// maxLeftOut bounds the files that are named as left out.
const maxLeftOut = 5

// leftOut says which files a command could not read. Where a command failed, and says
// that it was not allowed to read one of them, that is why.
func leftOut(hidden []string, dir string, r *tool.Result) {
	if len(hidden) == 0 {
		return
	}
	var names []string
	for _, at := range hidden[:min(len(hidden), maxLeftOut)] {
		if rel, err := filepath.Rel(dir, at); err == nil {
			at = rel
		}
		names = append(names, clip.Line(clip.Visible(at), noteText))
	}
	what, they := strings.Join(names, ", "), "it may hold secrets"
	if n := len(hidden) - len(names); n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	if len(hidden) > 1 {
		they = "they may hold secrets"
	}
	note := "left out, as " + they + ": " + what
	if t, ok := r.View.(view.Terminal); ok && r.IsErr && t.Exit > 0 && t.Exit < 20 && refused(t.Output, hidden) {
		r.IsErr = false
		note += "; so it was not allowed to read that"
	}
	r.Text = join(r.Text, []string{note + ". A command that names such a file asks for it"})
}

// notOpened says which paths a command is allowed to change, and cannot all the same.
func notOpened(closed []string) (notes []string) {
	for i, why := range closed {
		if i == maxLeftOut {
			return append(notes, fmt.Sprintf("and %d more", len(closed)-i))
		}
		notes = append(notes, "allowed, and yet not open in the sandbox: "+clip.Line(clip.Visible(why), noteText))
	}
	return notes
}

// refused reports whether an output says that one of some files could not be read.
func refused(output string, files []string) bool {
	for line := range strings.Lines(output) {
		if strings.Contains(line, "ermission denied") && slices.ContainsFunc(files, func(f string) bool { return strings.Contains(line, filepath.Base(f)) }) {
			return true
		}
	}
	return false
}

// join puts notes in brackets under text, one to a line.
func join(text string, notes []string) string {
	for _, n := range notes {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += "[" + n + "]"
	}
	return text
}

// show turns what was kept of an output into text that is clean and bounded;
// dropped counts the raw bytes that are not in it.
func show(k proc.Kept, path string) (text string, dropped int64) {
	k = inUnicode(k)
	if binary(k.Head) {
		return hexPreview(k, path), k.Total
	}
	if k.Gone == 0 {
		s := clean(append(k.Head, k.Tail...))
		if len(s) <= headText+tailText {
			return s, 0
		}
		k = proc.Kept{Head: []byte(s), Total: k.Total}
	} else {
		k.Head, k.Tail = []byte(clean(trimEnd(k.Head))), []byte(clean(trimStart(k.Tail)))
	}
	head, _ := clip.Head(string(k.Head), headText)
	rest := string(k.Tail)
	if k.Gone == 0 {
		rest = string(k.Head[len(head):])
	}
	tail, _ := clip.Tail(rest, tailText)
	dropped = max(0, k.Total-int64(len(head))-int64(len(tail)))
	note := clip.Size(dropped) + " left out"
	if path != "" {
		note += "; all of it is in " + path + ", read it with offset and limit or search it"
		if k.Total > proc.FileSize {
			note = clip.Size(dropped) + " left out; " + path + " has its first and last parts, up to 30 MB"
		}
	}
	if !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head + "[" + note + "]\n" + strings.TrimSuffix(tail, "\n"), dropped
}

// inUnicode is an output as UTF-8 where it came otherwise, as from cat of a file in a
// national encoding. A line or a character that was cut is left out before.
func inUnicode(k proc.Kept) proc.Kept {
	if k.Gone == 0 {
		whole := append(slices.Clip(k.Head), k.Tail...)
		if text, name := charset.Decode(whole); name != "" {
			k.Head, k.Tail = []byte(text), nil
		}
		return k
	}
	if i := bytes.LastIndexByte(k.Head, '\n'); i >= 0 {
		if text, name := charset.Decode(k.Head[:i+1]); name != "" {
			k.Head = []byte(text)
		}
	}
	if text, name := charset.Decode(trimStart(k.Tail)); name != "" {
		k.Tail = []byte("\n" + text) // as it is trimmed again
	}
	return k
}

// clean is clip.Clean for a piece of output, without the newlines at its end.
// NUL, which separates names in the output of many programs, ends a line.
func clean(b []byte) string {
	if bytes.IndexByte(b, 0) >= 0 {
		b = bytes.ReplaceAll(b, []byte{0}, []byte{'\n'})
	}
	return strings.TrimRight(clip.Clean(string(b)), "\n")
}

// trimEnd drops a character that was cut.
func trimEnd(b []byte) []byte {
	for i := max(0, len(b)-utf8.UTFMax); i < len(b); i++ {
		if utf8.RuneStart(b[i]) && !utf8.FullRune(b[i:]) {
			return b[:i]
		}
	}
	return b
}

// trimStart drops the rest of a line or of a character that was cut.
func trimStart(b []byte) []byte {
	if i := bytes.IndexByte(b[:min(len(b), 4096)], '\n'); i >= 0 {
		return b[i+1:]
	}
	for i := 0; i < min(len(b), utf8.UTFMax); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}

// binary reports whether b is not text: many bytes of its first 8 KB are NUL,
// other control characters, or not UTF-8. A NUL alone is not enough, because
// find -print0 and git -z write text with NULs; with a NUL few others are.
func binary(b []byte) bool {
	b = trimEnd(b[:min(len(b), 8192)])
	nul, odd := 0, 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case b[i] == 0:
			nul++
		case r == utf8.RuneError && n == 1:
			odd++
		case r < 0x20 && r != '\n' && r != '\r' && r != '\t' && r != '\b' && r != '\f' && r != 0x1b && r != 0x07:
			odd++
		}
		i += n
	}
	if nul > 0 {
		return len(b) > 16 && nul*3 > len(b) || odd*50 > len(b)
	}
	return odd*5 > len(b)
}

// hexPreview shows how a binary output begins.
func hexPreview(k proc.Kept, path string) string {
	n := min(len(k.Head), 256)
	s := fmt.Sprintf("[binary output, %s; the first %d bytes:]\n%s", clip.Size(k.Total), n, hex.Dump(k.Head[:n]))
	if path != "" {
		s += "[it is in " + path + "]"
	}
	return strings.TrimRight(s, "\n")
}

package file

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const aNotebook = `{
 "cells": [
  {
   "cell_type": "code",
   "id": "c0",
   "source": [
    "def f():\n",
    "    return \"a\"\n"
   ]
  }
 ],
 "nbformat": 4
}
`

// TestNotebookKept: no change makes something else of a notebook.
func TestNotebookKept(t *testing.T) {
	for _, was := range []string{aNotebook, bom8 + aNotebook} {
		b := newBench(t, Config{})
		b.put("a.ipynb", was)
		r := b.ok("Read", in{"file_path": "a.ipynb"})
		if !strings.Contains(r.Text, `<cell id="c0"`) || !strings.Contains(r.Text, "Read with offset=1 shows that text") {
			t.Errorf("Read: %q", r.Text)
		}
		b.fails("Read with offset=1", "Edit", in{"file_path": "a.ipynb", "old_string": `    return "a"`, "new_string": "x"})
		b.fails("would be no notebook any more", "Edit", in{"file_path": "a.ipynb", "old_string": `"c0",`, "new_string": `"c0"`})
		b.fails("would be no notebook any more", "Write", in{"file_path": "a.ipynb", "content": "<cell id=\"c0\" type=\"code\">\nprint(1)\n</cell>\n"})
		b.fails("would be no notebook any more", "Write", in{"file_path": "a.ipynb", "content": "{}"})
		if b.get("a.ipynb") != was {
			t.Fatal("the notebook was changed")
		}
		b.env.Whole = true
		if r := b.ok("Read", in{"file_path": "a.ipynb", "offset": 1}); !strings.Contains(r.Text, `"    return \"a\"\n"`) {
			t.Errorf("Read of the JSON: %q", r.Text)
		}
		b.ok("Edit", in{"file_path": "a.ipynb", "old_string": `return \"a\"`, "new_string": `return \"b\"`})
		if !json.Valid([]byte(strings.TrimPrefix(b.get("a.ipynb"), bom8))) {
			t.Error("no JSON any more")
		}
	}
}

// TestLineEndsChange: CRLF is said, kept, and can be changed.
func TestLineEndsChange(t *testing.T) {
	for _, c := range []struct {
		name, was, tool string
		in              in
		want, says      string
	}{
		{"write keeps", "a\r\nb\r\n", "Write", in{"content": "x\ny\n"}, "x\r\ny\r\n", "Its lines end with CRLF, as before"},
		{"script", "#!/bin/sh\r\necho\r\n", "Write", in{"content": "#!/bin/sh\necho 1\n"}, "#!/bin/sh\necho 1\n", "Its lines end with LF now"},
		{"all to LF", "a\r\nb\r\n", "Edit", in{"old_string": "\r\n", "new_string": "\n", "replace_all": true}, "a\nb\n", "2 replacements"},
		{"one to LF", "a\r\nb\r\n", "Edit", in{"old_string": "a\r\nb", "new_string": "a\nb"}, "a\nb\r\n", ""},
		{"all to CRLF", "a\nb\r\nc\n", "Edit", in{"old_string": "\n", "new_string": "\r\n", "replace_all": true}, "a\r\nb\r\nc\r\n", ""},
		{"explicit", "a\r\nb\r\n", "Edit", in{"old_string": "a\r\nb", "new_string": "x\ny"}, "x\ny\r\n", ""},
		{"shown as LF", "a\r\nb\r\n", "Edit", in{"old_string": "a\nb", "new_string": "x\ny"}, "x\r\ny\r\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Config{})
			b.put("f", c.was)
			b.ok("Read", in{"file_path": "f"})
			c.in["file_path"] = "f"
			if r := b.ok(c.tool, c.in); !strings.Contains(r.Text, c.says) {
				t.Errorf("says %q", r.Text)
			}
			if got := b.get("f"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestUnseen: what Read shows by a sign can be given to Edit so.
func TestUnseen(t *testing.T) {
	b := newBench(t, Config{})
	b.put("f", "b\u0085c \u202e \x1b[1m\n")
	r := b.ok("Read", in{"file_path": "f"})
	if !strings.Contains(r.Text, "b<U+0085>c <U+202E> ␛[1m\n") || !strings.Contains(r.Text, "shown by number") {
		t.Errorf("Read: %q", r.Text)
	}
	b.ok("Edit", in{"file_path": "f", "old_string": "b<U+0085>c <U+202E> ␛[1m", "new_string": "b<U+0085>d ␛[2m"})
	if got := b.get("f"); got != "b\u0085d \x1b[2m\n" {
		t.Errorf("got %q", got)
	}
}

// TestSpelling: a name in the other normal form is the file that is there.
func TestSpelling(t *testing.T) {
	b := newBench(t, Config{})
	const nfd, nfc = "de\u0301ja\u0300/cafe\u0301.txt", "d\u00e9j\u00e0/caf\u00e9.txt"
	b.put(nfd, "text\n")
	if _, err := os.Stat(filepath.Join(b.dir, nfc)); err == nil {
		t.Skip("the file system finds it itself")
	}
	if r := b.ok("Read", in{"file_path": nfc}); r.Text != "     1\ttext\n" {
		t.Errorf("Read: %q", r.Text)
	}
	b.ok("Write", in{"file_path": nfc, "content": "new\n"})
	if got := b.get(nfd); got != "new\n" {
		t.Errorf("got %q", got)
	}
	b.ok("Write", in{"file_path": "th\u00e9.txt", "content": "new\n"})
	if got := b.get("th\u00e9.txt"); got != "new\n" {
		t.Errorf("got %q", got)
	}
}

// TestForeignPaths: a path of Windows makes no strange file elsewhere.
func TestForeignPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("these are paths here")
	}
	b := newBench(t, Config{})
	b.put("src/a.py", "x\n")
	for asked, want := range map[string]string{`C:\Users\me\x.txt`: "Users/me/x.txt?", `src\new.py`: "src/new.py?", "D:/x.txt": "x.txt?"} {
		b.fails("did you mean "+want, "Write", in{"file_path": asked, "content": "x"})
		b.fails("did you mean "+want, "Edit", in{"file_path": asked, "old_string": "", "new_string": "x"})
	}
	for _, asked := range []string{`src\a.py`, `C:\work\src\a.py`, `C:/work/src/a.py`} {
		b.fails("did you mean src/a.py?", "Read", in{"file_path": asked})
	}
	b.put(`odd\name`, "x\n")
	b.ok("Read", in{"file_path": `odd\name`})
	b.ok("Write", in{"file_path": `odd\name`, "content": "y\n"})
	list, err := os.ReadDir(b.dir)
	if err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

package file

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm/pixels"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%6d\tline %d\n", i, i)
	}
	return b.String()
}

func linesOf(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadPages(t *testing.T) {
	b := newBench(t, Config{})
	b.put("f", linesOf(6120))
	for _, c := range []struct {
		in   in
		want string
	}{
		{in{"file_path": "f"}, numbered(1, 2000) + "[4,120 more lines; read with offset=2001]"},
		{in{"file_path": "f", "offset": "6119"}, numbered(6119, 6120)},
		{in{"file_path": "f", "offset": 10, "limit": 2}, numbered(10, 11) + "[6,109 more lines; read with offset=12]"},
		{in{"file_path": "f", "offset": 6119, "limit": 1}, numbered(6119, 6119) + "[1 more line; read with offset=6120]"},
	} {
		if r := b.ok("Read", c.in); r.Text != c.want {
			t.Errorf("%v: got %.200q, want %.200q", c.in, r.Text, c.want)
		}
	}
	b.fails("offset 7000 is past its end", "Read", in{"file_path": "f", "offset": 7000})
	b.fails("6,120 lines", "Read", in{"file_path": "f", "offset": 7000})
	b.fails("cannot be negative", "Read", in{"file_path": "f", "offset": -1})
}

func TestReadBounds(t *testing.T) {
	b := newBench(t, Config{})
	b.put("big", strings.Repeat("0123456789abcdef\n", 20_000))
	b.fails("Read a part with offset and limit", "Read", in{"file_path": "big"})
	r := b.ok("Read", in{"file_path": "big", "limit": 100_000})
	if len(r.Text) > maxOut+200 || !strings.Contains(r.Text, "more lines; read with offset=") {
		t.Errorf("a long range: %d bytes, ends %q", len(r.Text), r.Text[len(r.Text)-100:])
	}
	b.put("wide", strings.Repeat("é", 2500)+"\nshort\n")
	r = b.ok("Read", in{"file_path": "wide"})
	if want := "     1\t" + strings.Repeat("é", 2000) + " [line cut]\n     2\tshort\n[1 line longer than 2,000 characters cut]"; r.Text != want {
		t.Errorf("a wide line: got %.60q … %q", r.Text, r.Text[len(r.Text)-120:])
	}
	b.put("exact", strings.Repeat("x", 2000))
	if r = b.ok("Read", in{"file_path": "exact"}); strings.Contains(r.Text, "cut") {
		t.Errorf("a line of just 2,000 characters is cut: %q", r.Text[2000:])
	}
	b.put("huge", strings.Repeat("x", 3<<20))
	r = b.ok("Read", in{"file_path": "huge", "limit": 1})
	if len(r.Text) > 3000 {
		t.Errorf("one line of 3 MB gives %d bytes", len(r.Text))
	}
}

func TestReadKinds(t *testing.T) {
	b := newBench(t, Config{})
	b.put("empty", "")
	b.put("dir/x", "x")
	b.put("bin", "ELF\x00\x01\x02")
	b.put("bad", "a\xffb\x1b[31mred\x1b[0m\rz\n")
	b.put("crlf", "a\r\nb\r\n")
	b.put("bom", "\xef\xbb\xbfa\n")
	b.put("wide", "\xff\xfea\x00\r\x00\n\x00\xe9\x00")
	for _, c := range [][2]string{
		{"empty", "empty is an empty file."},
		{"bad", "     1\ta\ufffdb␛[31mred␛[0m␍z\n[control characters are shown as symbols, such as ␛ for ESC]\n[bytes that are no UTF-8 are shown as \ufffd (U+FFFD); an edit around them keeps them]"},
		{"crlf", "     1\ta\n     2\tb\n[lines end with CRLF]"},
		{"bom", "     1\ta\n"},
		{"wide", "     1\ta\n     2\té\n[lines end with CRLF]"},
	} {
		if r := b.ok("Read", in{"file_path": c[0]}); r.Text != c[1] {
			t.Errorf("%s: got %q, want %q", c[0], r.Text, c[1])
		}
	}
	b.fails("Glob", "Read", in{"file_path": "dir"})
	b.fails("00000000  45 4c 46 00 01 02", "Read", in{"file_path": "bin"})
	b.fails("binary file (6 bytes)", "Read", in{"file_path": "bin"})
}

func TestReadWrongNames(t *testing.T) {
	b := newBench(t, Config{})
	b.put("src/parser.go", "x")
	b.put("src/Makefile", "x")
	b.fails("did you mean "+b.dir+"/src/parser.go?", "Read", in{"file_path": "src/parsr.go"})
	b.fails("src/Makefile", "Read", in{"file_path": b.dir + "/src/makefile"})
	b.fails("src/parser.go", "Read", in{"file_path": "/src/parser.go"})
	b.fails("does not exist (the working directory is "+b.dir+")", "Read", in{"file_path": "quite/different"})
	for _, p := range []string{"~root/x", "$HOME/x", "${HOME}/x", "%USERPROFILE%/x", `\\host\share`, "//host/share/x", "a\x00b", "", "=ls"} {
		if r := b.run("Read", in{"file_path": p}); !r.IsErr {
			t.Errorf("%q is accepted", p)
		}
	}
	if r := b.run("Read", in{"file_path": "~/src/Makefile"}); r.IsErr {
		t.Errorf("~/: %s", r.Text)
	}
	for _, p := range []string{"/proc/self/fd/0", "/proc/1/environ", "/dev/stdin", "/dev/fd/3", "/proc/self/root/etc/passwd"} {
		b.fails("refused", "Read", in{"file_path": p})
	}
}

func TestUnchangedNote(t *testing.T) {
	b := newBench(t, Config{})
	b.put("f", "one\ntwo\nthree\n")
	full := b.ok("Read", in{"file_path": "f"}).Text
	if r := b.ok("Read", in{"file_path": "f"}); r.Text != full {
		t.Errorf("out of the window: got %q", r.Text)
	}
	b.env.Whole = true
	for _, m := range []in{{"file_path": "f"}, {"file_path": "f", "offset": 2, "limit": 1}} {
		if r := b.ok("Read", m); !strings.Contains(r.Text, "unchanged since") || strings.Contains(r.Text, "\n") {
			t.Errorf("%v: got %q", m, r.Text)
		}
	}
	b.put("f", "one\ntwo\nfour\n")
	if r := b.ok("Read", in{"file_path": "f"}); !strings.Contains(r.Text, "four") {
		t.Errorf("changed: got %q", r.Text)
	}
	b.ok("Edit", in{"file_path": "f", "old_string": "four", "new_string": "five"})
	if r := b.ok("Read", in{"file_path": "f"}); !strings.Contains(r.Text, "     3\tfive") {
		t.Errorf("after an edit the content must be shown: got %q", r.Text)
	}
	b.put("g", linesOf(10))
	b.ok("Read", in{"file_path": "g", "limit": 3})
	if r := b.ok("Read", in{"file_path": "g"}); strings.Contains(r.Text, "unchanged") {
		t.Errorf("more than was shown: got %q", r.Text)
	}
}

func picture(w, h int, encode func(*bytes.Buffer, image.Image) error) string {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i*i>>3) | 0x80
	}
	img.Set(0, 0, color.NRGBA{255, 0, 0, 255})
	var b bytes.Buffer
	if err := encode(&b, img); err != nil {
		panic(err)
	}
	return b.String()
}

func TestReadImages(t *testing.T) {
	b := newBench(t, Config{})
	asPNG := func(w *bytes.Buffer, m image.Image) error { return png.Encode(w, m) }
	asJPEG := func(w *bytes.Buffer, m image.Image) error { return jpeg.Encode(w, m, nil) }
	asGIF := func(w *bytes.Buffer, m image.Image) error { return gif.Encode(w, m, nil) }
	b.put("small.png", picture(20, 10, asPNG))
	b.put("wide.png", picture(3136, 100, asPNG))
	b.put("tall.jpg", picture(100, 2000, asJPEG))
	b.put("a.gif", picture(30, 30, asGIF))
	b.put("renamed.txt", picture(8, 8, asPNG))
	b.put("broken.png", "\x89PNG\r\n\x1a\nrest")
	for name, want := range map[string]image.Config{
		"small.png": {Width: 20, Height: 10}, "wide.png": {Width: 1568, Height: 50}, "tall.jpg": {Width: 78, Height: 1568}, "a.gif": {Width: 30, Height: 30}, "renamed.txt": {Width: 8, Height: 8},
	} {
		r := b.ok("Read", in{"file_path": name})
		if len(r.Images) != 1 {
			t.Fatalf("%s: %d images", name, len(r.Images))
		}
		img := r.Images[0]
		got, err := pixels.Size(img.Media, img.Data)
		if err != nil || got.Width != want.Width || got.Height != want.Height || len(img.Data) > pixels.MaxBytes {
			t.Errorf("%s: got %d×%d (%v), want %d×%d", name, got.Width, got.Height, err, want.Width, want.Height)
		}
	}
	b.env.ImageEdge = 3000
	r := b.ok("Read", in{"file_path": "wide.png"})
	if got, err := pixels.Size(r.Images[0].Media, r.Images[0].Data); err != nil || got.Width != 3000 {
		t.Errorf("a model that takes 3,000 pixels gets %d (%v)", got.Width, err)
	}
	b.fails("cannot be decoded", "Read", in{"file_path": "broken.png"})
	b.env.Images = false
	if r := b.ok("Read", in{"file_path": "small.png"}); len(r.Images) != 0 || !strings.Contains(r.Text, "20×10") {
		t.Errorf("a model without eyes: %+v", r)
	}
}

func TestReadNotebook(t *testing.T) {
	b := newBench(t, Config{})
	b.put("n.ipynb", `{"cells":[
 {"cell_type":"markdown","id":"m1","source":["# Title\n","text"]},
 {"cell_type":"code","execution_count":3,"source":"print(1)","outputs":[
  {"output_type":"stream","text":["1\n","\u001b[31mred\u001b[0m\n"]},
  {"output_type":"execute_result","data":{"text/plain":"'x'"}},
  {"output_type":"error","ename":"E","evalue":"v","traceback":["tb"]}]}],
 "metadata":{"language_info":{"name":"python"}},"nbformat":4}`)
	want := `n.ipynb: notebook, 2 cells, python

<cell id="m1" type="markdown">
# Title
text
</cell>

<cell id="cell-1" type="code" run=3>
print(1)
</cell>
<output>
1
red
'x'
E: v
tb
</output>

[` + notebookHow + `]`
	if r := b.ok("Read", in{"file_path": "n.ipynb"}); r.Text != want {
		t.Errorf("got %q\nwant %q", r.Text, want)
	}
	b.put("not.ipynb", "plain\n")
	if r := b.ok("Read", in{"file_path": "not.ipynb"}); r.Text != "     1\tplain\n" {
		t.Errorf("not a notebook: got %q", r.Text)
	}
}

// pdfOf writes a PDF with one line of text per page (PDF 1.4, ISO 32000).
func pdfOf(pages ...string) string {
	var b strings.Builder
	var at []int
	obj := func(s string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), s)
	}
	b.WriteString("%PDF-1.4\n")
	kids := ""
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", 4+2*i)
	}
	obj("<</Type/Catalog/Pages 2 0 R>>")
	obj(fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), kids))
	obj("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	for i, p := range pages {
		obj(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>", 5+2*i))
		s := fmt.Sprintf("BT /F 12 Tf 10 100 Td (%s) Tj ET", p)
		obj(fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(s), s))
	}
	x := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, a := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", a)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, x)
	return b.String()
}

func TestReadPDF(t *testing.T) {
	b := newBench(t, Config{})
	b.put("a.pdf", pdfOf("first", "second", "third"))
	r := b.ok("Read", in{"file_path": "a.pdf"})
	for _, want := range []string{"PDF, 3 pages", "--- page 1 ---\nfirst", "--- page 3 ---\nthird"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("got %q, want %q in it", r.Text, want)
		}
	}
	r = b.ok("Read", in{"file_path": "a.pdf", "pages": "2"})
	if !strings.Contains(r.Text, "second") || strings.Contains(r.Text, "first") || !strings.Contains(r.Text, `[1 more page; read with pages="3-3"]`) {
		t.Errorf("page 2: %q", r.Text)
	}
	b.fails("there is no page 9", "Read", in{"file_path": "a.pdf", "pages": "9"})
	b.fails("write a page or a range", "Read", in{"file_path": "a.pdf", "pages": "x"})
	b.put("broken.pdf", "%PDF-1.4\nnothing")
	b.fails("cannot be read as PDF", "Read", in{"file_path": "broken.pdf"})
}

func FuzzPDF(f *testing.F) {
	f.Add([]byte(pdfOf("a")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			return
		}
		doc, n, err := openPDF(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for i := 1; i <= min(n, 3); i++ {
			pageText(doc, i)
		}
	})
}

func FuzzDocument(f *testing.F) {
	for _, s := range []string{"a\r\nb\n", "\xff\xfea\x00", "\xef\xbb\xbfx\r\n", "a\xffb", "caf\xe9 \r\n", "\x93\xfa\x96\x7b\x8c\xea\n", "\r\n\r\n", "no end"} {
		f.Add([]byte(s), 1, 2, "x\ny")
	}
	f.Fuzz(func(t *testing.T, data []byte, from, to int, text string) {
		d, err := decode(data)
		if err != nil {
			return
		}
		if d.enc != utf16LE && d.enc != utf16BE {
			if got, err := d.bytes(); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%q is not kept: %q, %v", data, got, err)
			}
		}
		if from < 0 || from > to || to > len(d.lf) {
			return
		}
		out := d.replace(from, to, strings.ReplaceAll(text, "\r", ""))
		if want := d.lf[:from] + strings.ReplaceAll(text, "\r", "") + d.lf[to:]; out.lf != want && !strings.Contains(want, "\r\n") {
			t.Fatalf("replace in %q: got %q, want %q", data, out.lf, want)
		}
	})
}

// A private key is hidden in the whole file before a part of it is shown, so that no
// part is too short to be known; lines stay lines.
func TestReadHidesKeys(t *testing.T) {
	random := make([]byte, 480)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	body := base64.StdEncoding.EncodeToString(random)
	text := "name: x\n-----BEGIN PRIVATE KEY-----\n"
	for i := range 10 {
		text += body[64*i:64*i+64] + "\n"
	}
	b := newBench(t, Config{})
	b.put("conf.yaml", text+"-----END PRIVATE KEY-----\nother: y\n")
	for _, c := range []struct {
		in   in
		want string
	}{
		{in{"file_path": "conf.yaml", "offset": 5, "limit": 2}, "     5\t[masked]\n     6\t[masked]\n[8 more lines; read with offset=7]"},
		{in{"file_path": "conf.yaml", "offset": 12}, "    12\t[masked]\n    13\t-----END PRIVATE KEY-----\n    14\tother: y\n"},
	} {
		if r := b.ok("Read", c.in); r.Text != c.want {
			t.Errorf("%v: %q, want %q", c.in, r.Text, c.want)
		}
	}
}

package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ledongthuc/pdf"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// Bounds of a PDF.
const (
	maxPDF   = 100 << 20 // bytes
	maxPages = 20        // pages of one call
)

func (r *reading) pdf(ctx context.Context) (tool.Result, error) {
	if r.o.fi.Size() > maxPDF {
		return tool.Errorf("%s is a PDF of %s, too large to read", clip.Pictures(r.in.FilePath), clip.Size(r.o.fi.Size())), nil
	}
	doc, total, err := openPDF(r.o.f, r.o.fi.Size())
	if err != nil {
		return tool.Errorf("%s cannot be read as PDF: %v", clip.Pictures(r.in.FilePath), err), nil
	}
	first, last, err := pageRange(r.in.Pages, total)
	if err != nil {
		return tool.Errorf("%s: %v", clip.Pictures(r.in.FilePath), err), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: PDF, %s\n", clip.Pictures(r.in.FilePath), clip.Count(total, "page"))
	words, next := false, last+1
	for n := first; n <= last; n++ {
		if ctx.Err() != nil {
			return tool.Errorf("reading was cancelled"), nil
		}
		text, err := pageText(doc, n)
		if err != nil {
			text = fmt.Sprintf("[this page cannot be read: %v]", err)
		}
		words = words || err == nil && strings.TrimSpace(text) != ""
		if b.Len()+len(text) > budget(r.env) && n > first {
			next = n
			break
		}
		text, cut := clip.Head(clip.Pictures(text), budget(r.env))
		fmt.Fprintf(&b, "\n--- page %d ---\n%s\n", n, strings.TrimSpace(text))
		if cut {
			b.WriteString("[the rest of this page is left out]\n")
		}
	}
	if next <= total {
		fmt.Fprintf(&b, "\n[%s; read with pages=%q]", clip.Count(total-next+1, "more page"), fmt.Sprintf("%d-%d", next, min(total, next+maxPages-1)))
	}
	if !words {
		b.WriteString("\n[no text was found: the pages may be scanned images]")
	}
	text := b.String()
	return tool.Result{Text: text, Data: func() any { // the pages as text, which is what the model has
		n := strings.Count(text, "\n") + 1
		return r.shape("text", map[string]any{"filePath": r.path, "content": text, "numLines": n, "startLine": 1, "totalLines": n})
	}}, nil
}

// openPDF guards against the panics of the parser on broken files.
func openPDF(f io.ReaderAt, size int64) (doc *pdf.Reader, pages int, err error) {
	defer guard(&err)
	doc, err = pdf.NewReader(f, size)
	if err != nil {
		return nil, 0, err
	}
	if pages = doc.NumPage(); pages <= 0 {
		return nil, 0, errors.New("it has no pages")
	}
	return doc, pages, nil
}

func pageText(doc *pdf.Reader, n int) (text string, err error) {
	defer guard(&err)
	p := doc.Page(n)
	if p.V.IsNull() {
		return "", errors.New("it is missing")
	}
	return p.GetPlainText(nil)
}

func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged (%s)", clip.Line(fmt.Sprint(p), 100))
	}
}

// pageRange reads "3" or "1-5" or "7-"; "" is the first pages.
func pageRange(s string, total int) (first, last int, err error) {
	first, last = 1, min(total, maxPages)
	if s = strings.TrimSpace(s); s != "" {
		a, b, ranged := strings.Cut(s, "-")
		if first, err = strconv.Atoi(strings.TrimSpace(a)); err != nil || first < 1 {
			return 0, 0, fmt.Errorf("pages %q: write a page or a range, such as \"3\" or \"1-5\"", s)
		}
		switch b = strings.TrimSpace(b); {
		case !ranged:
			last = first
		case b == "":
			last = total
		default:
			if last, err = strconv.Atoi(b); err != nil || last < first {
				return 0, 0, fmt.Errorf("pages %q: write a page or a range, such as \"3\" or \"1-5\"", s)
			}
		}
	}
	if first > total {
		return 0, 0, fmt.Errorf("there is no page %d; it has %s", first, clip.Count(total, "page"))
	}
	return first, min(last, total, first+maxPages-1), nil
}

// PDFText is the text of the first pages of a PDF, with a line for each page.
func PDFText(data []byte) (string, error) {
	doc, total, err := openPDF(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", fmt.Errorf("it cannot be read as PDF: %w", err)
	}
	var b strings.Builder
	for n := 1; n <= total && b.Len() < maxOut; n++ {
		text, err := pageText(doc, n)
		if err != nil {
			text = fmt.Sprintf("[this page cannot be read: %v]", err)
		}
		text, _ = clip.Head(clip.Pictures(text), maxOut)
		fmt.Fprintf(&b, "--- page %d of %d ---\n%s\n", n, total, strings.TrimSpace(text))
	}
	return b.String(), nil
}

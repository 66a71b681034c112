// Command castsvg makes an animated SVG of frames that tmux captured: files of
// text with colours, each named by the milliseconds at which it was seen. The
// SVG needs nothing else: no script, no font, no address. A row that is seen in
// several frames is written once.
//
//	castsvg -cols 80 -rows 24 FOLDER > session.svg
package main

import (
	"bufio"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/vt"

	uv "github.com/charmbracelet/ultraviolet"
)

// Cells and margins, in pixels.
const (
	cellW, cellH, margin = 8.4, 17, 12
	fontSize             = 14
	rest                 = 3000 // ms that the last frame stays
)

func main() {
	cols := flag.Int("cols", 80, "columns of the terminal")
	rows := flag.Int("rows", 24, "rows of the terminal")
	ground := flag.String("bg", "#16181d", "background")
	ink := flag.String("fg", "#d5d9e0", "colour of plain text")
	longest := flag.Int("pause", 2500, "the longest that a frame stays, in ms")
	flag.Parse()
	c := cast{cols: *cols, rows: *rows, ground: *ground, ink: *ink, ids: map[string]int{}}
	if err := c.read(flag.Arg(0), *longest); err != nil {
		fmt.Fprintln(os.Stderr, "castsvg:", err)
		os.Exit(1)
	}
	w := bufio.NewWriter(os.Stdout)
	c.write(w)
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "castsvg:", err)
		os.Exit(1)
	}
}

type frame struct {
	at   int   // ms from the beginning
	rows []int // what each shows; 0 is nothing
}

type cast struct {
	cols, rows  int
	ground, ink string
	frames      []frame
	ids         map[string]int // of rows, by what draws them
	drawn       []string       // rows, by their number less one
	end         int
}

// read draws every frame of a folder. Pauses are cut to longest.
func (c *cast) read(dir string, longest int) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	saw, at := 0, 0
	for i, f := range files {
		ms, err := strconv.Atoi(f.Name())
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		if i > 0 {
			at += min(ms-saw, longest)
		}
		saw = ms
		next := frame{at, c.draw(string(b))}
		if n := len(c.frames); n == 0 || !slices.Equal(c.frames[n-1].rows, next.rows) {
			c.frames = append(c.frames, next)
		}
	}
	if len(c.frames) == 0 {
		return fmt.Errorf("%s has no frames", dir)
	}
	c.end = at + rest
	return nil
}

// draw has an emulator read a frame, and returns the numbers of its rows.
func (c *cast) draw(text string) []int {
	emu := vt.NewEmulator(c.cols, c.rows)
	defer emu.Close()
	text = strings.TrimSuffix(text, "\n")
	_, _ = emu.WriteString(strings.ReplaceAll(text, "\n", "\r\n"))
	out := make([]int, c.rows)
	for y := range out {
		row := c.row(emu, y)
		if row == "" {
			continue
		}
		if c.ids[row] == 0 {
			c.drawn = append(c.drawn, row)
			c.ids[row] = len(c.drawn)
		}
		out[y] = c.ids[row]
	}
	return out
}

// A run is cells beside each other that look alike.
type run struct {
	x, width int
	text     string
	style    uv.Style
}

func (c *cast) row(emu *vt.Emulator, y int) string {
	var runs []run
	for x := 0; x < c.cols; {
		cell := emu.CellAt(x, y)
		text, width, style := " ", 1, uv.Style{}
		if cell != nil {
			style, width = cell.Style, max(cell.Width, 1)
			if cell.Content != "" {
				text = cell.Content
			}
		}
		if n := len(runs); n > 0 && runs[n-1].style.Equal(&style) {
			runs[n-1].text += text
			runs[n-1].width += width
		} else {
			runs = append(runs, run{x, width, text, style})
		}
		x += width
	}
	var b strings.Builder
	for _, r := range runs {
		c.run(&b, r)
	}
	return b.String()
}

func (c *cast) run(b *strings.Builder, r run) {
	fg, bg := c.ink, ""
	if r.style.Fg != nil {
		fg = hex(r.style.Fg.RGBA())
	}
	if r.style.Bg != nil {
		bg = hex(r.style.Bg.RGBA())
	}
	if r.style.Attrs&uv.AttrReverse != 0 {
		if bg == "" {
			bg = c.ground
		}
		fg, bg = bg, fg
	}
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" width="%.1f" height="%d" fill="%s"/>`, float64(r.x)*cellW, float64(r.width)*cellW, cellH, bg)
	}
	text := strings.TrimRight(r.text, " ")
	lead := len(text) - len(strings.TrimLeft(text, " "))
	if text = text[lead:]; text == "" {
		return
	}
	cells := r.width - lead - (len(r.text) - lead - len(text))
	fmt.Fprintf(b, `<text x="%.1f" y="13" textLength="%.1f"`, float64(r.x+lead)*cellW, float64(cells)*cellW)
	if fg != c.ink {
		fmt.Fprintf(b, ` fill="%s"`, fg)
	}
	for _, a := range []struct {
		bit  uint8
		text string
	}{{uv.AttrBold, ` font-weight="bold"`}, {uv.AttrItalic, ` font-style="italic"`}, {uv.AttrFaint, ` opacity=".7"`}} {
		if r.style.Attrs&a.bit != 0 {
			b.WriteString(a.text)
		}
	}
	if r.style.Underline != 0 {
		b.WriteString(` text-decoration="underline"`)
	}
	fmt.Fprintf(b, `>%s</text>`, html.EscapeString(text))
}

func hex(r, g, b, _ uint32) string { return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8) }

func (c *cast) write(w *bufio.Writer) {
	width, height := float64(c.cols)*cellW+2*margin, c.rows*cellH+2*margin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="%.0f" height="%d" viewBox="0 0 %.0f %d" fill="%s" role="img" aria-label="A session of adze in a terminal">`, width, height, width, height, c.ink)
	fmt.Fprintf(w, "\n<style>text{font:%dpx ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}\n", fontSize)
	fmt.Fprintf(w, ".f{visibility:hidden;animation-duration:%dms;animation-iteration-count:infinite;animation-timing-function:step-end}\n", c.end)
	for i, f := range c.frames {
		from, to := c.percent(f.at), 100.0
		if i+1 < len(c.frames) {
			to = c.percent(c.frames[i+1].at)
		}
		fmt.Fprintf(w, "@keyframes k%d{", i)
		if from > 0 {
			w.WriteString("0%{visibility:hidden}")
		}
		fmt.Fprintf(w, "%.3f%%{visibility:visible}", from)
		if to < 100 {
			fmt.Fprintf(w, "%.3f%%{visibility:hidden}", to)
		}
		w.WriteString("}\n")
	}
	w.WriteString("@media (prefers-reduced-motion:reduce){.f{animation:none!important}.f:last-child{visibility:visible}}\n</style>\n<defs>\n")
	for i, row := range c.drawn {
		fmt.Fprintf(w, "<g id=\"r%d\">%s</g>\n", i+1, row)
	}
	fmt.Fprintf(w, "</defs>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n", c.ground)
	for i, f := range c.frames {
		fmt.Fprintf(w, `<g class="f" style="animation-name:k%d" transform="translate(%d %d)">`, i, margin, margin)
		for y, id := range f.rows {
			if id != 0 {
				fmt.Fprintf(w, `<use href="#r%d" y="%d"/>`, id, y*cellH)
			}
		}
		w.WriteString("</g>\n")
	}
	w.WriteString("</svg>\n")
}

func (c *cast) percent(ms int) float64 { return 100 * float64(ms) / float64(c.end) }

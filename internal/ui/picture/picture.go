// Package picture shows images in a terminal: by the protocols of kitty, of
// iTerm2 and of sixels, and where there is none of them, by half blocks, which
// are lines like any other. It decodes what tools bring, within bounds, and
// never passes the bytes of a file on as they are.
package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // so that image.Decode knows it
	_ "image/jpeg" // as well
	"image/png"
	"strconv"

	"github.com/adze-agent/adze/internal/ui/draw"
	xdraw "golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // as well
)

// A Protocol is a way to show an image.
type Protocol uint8

// The protocols.
const (
	HalfBlocks Protocol = iota // lines of text
	Kitty
	ITerm2
	Sixel
)

// maxPixels bounds the images that are decoded.
const maxPixels = 40_000_000

// errLarge is returned for an image of more pixels than are decoded.
var errLarge = errors.New("the image is too large to show")

// A Picture is an image that was fitted to a number of cells.
type Picture struct {
	img        image.Image
	Cols, Rows int
}

// Fit decodes data and fits it into at most cols and rows cells of the given
// size in pixels (0: 8 by 16). A small image is not made larger.
func Fit(data []byte, cols, rows, cellW, cellH int) (Picture, error) {
	if cellW <= 0 || cellH <= 0 {
		cellW, cellH = 8, 16
	}
	cols, rows = max(cols, 1), max(rows, 1)
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Picture{}, fmt.Errorf("decode image: %w", err)
	}
	if cfg.Width < 1 || cfg.Height < 1 || cfg.Width > maxPixels/cfg.Height {
		return Picture{}, errLarge
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Picture{}, fmt.Errorf("decode image: %w", err)
	}
	w, h := cfg.Width, cfg.Height
	if maxW := cols * cellW; w > maxW {
		h, w = max(h*maxW/w, 1), maxW
	}
	if maxH := rows * cellH; h > maxH {
		w, h = max(w*maxH/h, 1), maxH
	}
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	xdraw.ApproxBiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), xdraw.Src, nil)
	return Picture{img: dst, Cols: (w + cellW - 1) / cellW, Rows: (h + cellH - 1) / cellH}, nil
}

// Lines draws p with half blocks: two pixels in each cell.
func (p Picture) Lines() []draw.Line {
	small := image.NewRGBA(image.Rect(0, 0, p.Cols, p.Rows*2))
	xdraw.ApproxBiLinear.Scale(small, small.Bounds(), p.img, p.img.Bounds(), xdraw.Src, nil)
	out := make([]draw.Line, p.Rows)
	for y := range p.Rows {
		var l draw.Line
		for x := range p.Cols {
			upper, lower := small.RGBAAt(x, 2*y), small.RGBAAt(x, 2*y+1)
			s := draw.Span{Text: "▀", Style: draw.Style{Fg: colorOf(upper), Bg: colorOf(lower)}}
			switch {
			case upper.A < 128 && lower.A < 128:
				s = draw.Span{Text: " "}
			case upper.A < 128:
				s = draw.Span{Text: "▄", Style: draw.Style{Fg: colorOf(lower)}}
			case lower.A < 128:
				s.Bg = 0
			}
			if n := len(l) - 1; n >= 0 && l[n].Style == s.Style && l[n].Text[0] == s.Text[0] {
				l[n].Text += s.Text
				continue
			}
			l = append(l, s)
		}
		out[y] = l
	}
	return out
}

func colorOf(c color.RGBA) draw.Color { return draw.RGB(c.R, c.G, c.B) }

// Bytes returns the sequences that show p where the cursor is, Rows rows tall;
// nil for HalfBlocks.
func (p Picture) Bytes(how Protocol) ([]byte, error) {
	switch how {
	case HalfBlocks:
		return nil, nil
	case Sixel:
		return p.sixel(), nil
	case Kitty, ITerm2:
	}
	var file bytes.Buffer
	if err := png.Encode(&file, p.img); err != nil {
		return nil, fmt.Errorf("encode image: %w", err)
	}
	text := base64.StdEncoding.EncodeToString(file.Bytes())
	if how == ITerm2 {
		return fmt.Appendf(nil, "\x1b]1337;File=inline=1;size=%d;width=%d;height=%d;preserveAspectRatio=1:%s\x07", file.Len(), p.Cols, p.Rows, text), nil
	}
	var out []byte
	for first := true; first || text != ""; first = false {
		part := text[:min(len(text), 4096)]
		text = text[len(part):]
		more := 0
		if text != "" {
			more = 1
		}
		if first {
			out = fmt.Appendf(out, "\x1b_Ga=T,f=100,q=2,C=1,c=%d,r=%d,m=%d;%s\x1b\\", p.Cols, p.Rows, more, part)
		} else {
			out = fmt.Appendf(out, "\x1b_Gm=%d;%s\x1b\\", more, part)
		}
	}
	return out, nil
}

// sixel writes p with 216 colours, six levels of each part.
func (p Picture) sixel() []byte {
	b := p.img.Bounds()
	w, h := b.Dx(), b.Dy()
	out := fmt.Appendf(nil, "\x1bP0;1;0q\"1;1;%d;%d", w, h)
	for i := range 216 {
		out = fmt.Appendf(out, "#%d;2;%d;%d;%d", i, i/36*20, i/6%6*20, i%6*20)
	}
	row := make([]int, w*6) // the color of each pixel of a band, or -1
	bits := make([]byte, w)
	for top := 0; top < h; top += 6 {
		var used [216]bool
		for y := range 6 {
			for x := range w {
				row[y*w+x] = -1
				if top+y >= h {
					continue
				}
				r, g, bl, a := p.img.At(b.Min.X+x, b.Min.Y+top+y).RGBA()
				if a < 0x8000 {
					continue
				}
				n := level(r)*36 + level(g)*6 + level(bl)
				row[y*w+x], used[n] = n, true
			}
		}
		for n, is := range used {
			if !is {
				continue
			}
			for x := range w {
				bits[x] = 0
				for y := range 6 {
					if row[y*w+x] == n {
						bits[x] |= 1 << y
					}
				}
			}
			out = append(strconv.AppendInt(append(out, '#'), int64(n), 10), runs(bits)...)
			out = append(out, '$')
		}
		out = append(out, '-')
	}
	return append(out, "\x1b\\"...)
}

func level(v uint32) int { return int((v>>8)*5+127) / 255 }

// runs writes the columns of one color of a band, repeats as counts.
func runs(bits []byte) []byte {
	var out []byte
	for i := 0; i < len(bits); {
		j := i
		for j < len(bits) && bits[j] == bits[i] {
			j++
		}
		c := bits[i] + 63
		if n := j - i; n > 3 {
			out = append(strconv.AppendInt(append(out, '!'), int64(n), 10), c)
		} else {
			for range n {
				out = append(out, c)
			}
		}
		i = j
	}
	return out
}

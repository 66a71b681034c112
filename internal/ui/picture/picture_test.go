package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

func pngOf(t testing.TB, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{255, 0, 0, 255}
			if y >= h/2 {
				c = color.RGBA{0, 0, 255, 255}
			}
			img.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFit(t *testing.T) {
	for _, c := range []struct{ w, h, cols, rows, wantCols, wantRows int }{
		{8, 16, 10, 10, 1, 1}, {800, 400, 10, 10, 10, 3}, {100, 1600, 40, 10, 2, 10}, {1, 1, 5, 5, 1, 1}, {1000, 1, 20, 5, 20, 1},
	} {
		p, err := Fit(pngOf(t, c.w, c.h), c.cols, c.rows, 8, 16)
		if err != nil || p.Cols != c.wantCols || p.Rows != c.wantRows {
			t.Errorf("%+v: %d by %d, %v", c, p.Cols, p.Rows, err)
			continue
		}
		lines := p.Lines()
		if len(lines) != p.Rows {
			t.Errorf("%d lines of %d", len(lines), p.Rows)
		}
		for _, l := range lines {
			if l.Width() != p.Cols {
				t.Errorf("a line of %d columns, not %d", l.Width(), p.Cols)
			}
		}
		for how, want := range map[Protocol]string{Kitty: "\x1b_Ga=T,f=100", ITerm2: "\x1b]1337;File=inline=1", Sixel: "\x1bP0;1;0q"} {
			b, err := p.Bytes(how)
			if err != nil || !strings.HasPrefix(string(b), want) || strings.Count(string(b[1:len(b)-2]), "\x1b")%2 != 0 {
				t.Errorf("protocol %d: %.40q, %v", how, b, err)
			}
		}
	}
	if _, err := Fit([]byte("no image"), 5, 5, 0, 0); err == nil {
		t.Error("text was decoded")
	}
	// a header that claims 60,000 by 60,000 pixels
	bomb := pngOf(t, 1, 1)
	copy(bomb[16:], []byte{0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60})
	if _, err := Fit(bomb, 5, 5, 0, 0); err == nil {
		t.Error("a bomb was decoded")
	}
}

func TestSixelHoldsThePicture(t *testing.T) {
	p, err := Fit(pngOf(t, 12, 12), 10, 10, 8, 16)
	if err != nil {
		t.Fatal(err)
	}
	got := string(p.sixel())
	// six rows of red, then six of blue, each column full
	if want := "#180!12~$-#5!12~$-\x1b\\"; !strings.HasSuffix(got, want) {
		t.Errorf("%q", got[len(got)-60:])
	}
}

func FuzzFit(f *testing.F) {
	f.Add(pngOf(f, 3, 3), 4, 4)
	f.Fuzz(func(t *testing.T, data []byte, cols, rows int) {
		if cols > 100 || rows > 100 {
			return
		}
		if p, err := Fit(data, cols, rows, 0, 0); err == nil {
			p.Lines()
		}
	})
}

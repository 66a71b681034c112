package term

import (
	"strconv"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// fullscreen draws the alternate screen: every row has its place.
type fullscreen struct {
	look   look
	size   Size
	shown  []draw.Line
	at     Cursor
	redraw bool
}

// frame returns the bytes that make the screen look like next.
func (f *fullscreen) frame(dst []byte, next []draw.Line, cur Cursor) []byte {
	next, cur = fit(next, cur, f.size)
	start := len(dst)
	dst = f.look.begin(dst)
	body := len(dst)
	for i := range max(len(next), len(f.shown)) {
		if i >= f.size.Rows {
			break
		}
		var l, was draw.Line
		if i < len(next) {
			l = next[i]
		}
		if i < len(f.shown) && !f.redraw {
			if was = f.shown[i]; same(l, was) {
				continue
			}
		}
		if dst = place(dst, i, 0); f.redraw { // what stands there is not known
			dst = append(dst, eraseRow...)
		}
		dst = f.look.row(dst, was, l, f.size.Cols)
	}
	if f.redraw && len(next) < f.size.Rows {
		dst = place(dst, len(next), 0)
		dst = append(dst, eraseDn...)
	}
	if len(dst) == body && cur == f.at && !f.redraw {
		return dst[:start]
	}
	f.shown, f.at, f.redraw = next, cur, false
	dst = place(dst, cur.Row, cur.Col)
	return f.look.end(dst, cur)
}

func place(dst []byte, row, col int) []byte {
	dst = append(dst, '\x1b', '[')
	dst = strconv.AppendInt(dst, int64(row+1), 10)
	if col > 0 {
		dst = append(dst, ';')
		dst = strconv.AppendInt(dst, int64(col+1), 10)
	}
	return append(dst, 'H')
}

package pick

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// An Item is a choice of a menu.
type Item struct {
	ID     string // what the caller knows it by
	Title  string
	Detail string // after the title, quiet
	Note   string // at the right edge
	Group  string // items of one group stand together under its name
	Search string // more text that is searched, after title and detail
	Mark   bool   // the one that holds now
	Off    bool   // shown and not to be chosen
}

// A List is a menu with a filter. Only what is visible is drawn. The zero List is
// empty.
type List struct {
	items []Item
	query Query
	shown []int // indices of items, the best first
	sel   int   // of shown
	top   int   // of shown
	page  int   // items that the last View had room for
}

// NewList makes a menu; the item with Mark is selected, or else the first.
func NewList(items []Item) *List {
	l := &List{}
	l.SetItems(items)
	if i := slices.IndexFunc(items, func(it Item) bool { return it.Mark }); i >= 0 {
		l.MoveTo(slices.Index(l.shown, i))
	}
	return l
}

// SetItems changes the items; the selected one stays selected while it is there.
func (l *List) SetItems(items []Item) {
	id, had := "", false
	if it, ok := l.Selected(); ok {
		id, had = it.ID, true
	}
	l.items = items
	l.filter()
	if had {
		if i := slices.IndexFunc(l.shown, func(i int) bool { return items[i].ID == id }); i >= 0 {
			l.MoveTo(i)
		}
	}
}

// SetQuery changes the filter and selects the best match. Without a query all
// items are there, in their own order.
func (l *List) SetQuery(text string) {
	if text == l.query.text {
		return
	}
	q := NewQuery(text)
	l.query = q
	l.filter()
}

func (l *List) filter() {
	l.sel, l.top = 0, 0
	l.shown = l.shown[:0]
	if l.query.Empty() {
		for i := range l.items {
			l.shown = append(l.shown, i)
		}
		l.skipOff(1)
		return
	}
	scores := make(map[int]int)
	for i := range l.items {
		if score, ok := l.rate(&l.items[i]); ok {
			scores[i] = score
			l.shown = append(l.shown, i)
		}
	}
	slices.SortStableFunc(l.shown, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	l.skipOff(1)
}

// inTitle is what a match in the title is worth more than one elsewhere.
const inTitle = 60

// rate says how well an item matches. Each word is looked for in the title, with
// gaps, and then as it is in the other texts.
func (l *List) rate(it *Item) (int, bool) {
	total := 0
	for _, w := range l.query.words {
		if n, ok := w.near(it.Title, nil); ok {
			total += n + inTitle
			continue
		}
		best := -1
		for _, s := range []string{it.Detail, it.Group, it.Note, it.Search} {
			if n, ok := w.whole(s); ok {
				best = max(best, n)
			}
		}
		if best < 0 {
			return 0, false
		}
		total += best
	}
	return total, true
}

func (w word) in(s string) string {
	if w.fold {
		return fold(s)
	}
	return s
}

// whole finds the word as it is.
func (w word) whole(s string) (int, bool) {
	i := strings.Index(w.in(s), w.s)
	if i < 0 {
		return 0, false
	}
	return w.solid(s, i), true
}

// near finds the word as it is, or its letters not far from each other: in a
// long text any letters are somewhere.
func (w word) near(s string, at []int) (int, bool) {
	var tmp scratch
	n, start, end, ok := w.match(s, w.in(s), at, &tmp)
	switch {
	case !ok || end-start > 3*len(w.s)+4:
		return 0, false
	case end-start == len(w.s) && start == 0:
		return n + basePrefix + asItIs, true
	case end-start == len(w.s):
		return n + asItIs, true
	}
	return n, true
}

// asItIs is what a word without gaps is worth more than one with gaps.
const asItIs = 30

// Len is the number of items that match.
func (l *List) Len() int { return len(l.shown) }

// Selected is the selected item; false when none can be chosen.
func (l *List) Selected() (Item, bool) {
	if l.sel >= len(l.shown) || l.items[l.shown[l.sel]].Off {
		return Item{}, false
	}
	return l.items[l.shown[l.sel]], true
}

// Move selects the item n below (above, when negative). By one it goes round at
// the ends.
func (l *List) Move(n int) {
	if len(l.shown) == 0 {
		return
	}
	to := l.sel + n
	switch {
	case n == 1 && to >= len(l.shown):
		to = 0
	case n == -1 && to < 0:
		to = len(l.shown) - 1
	}
	l.sel = max(0, min(to, len(l.shown)-1))
	if n < 0 {
		l.skipOff(-1)
	} else {
		l.skipOff(1)
	}
}

// MoveTo selects the i-th matching item.
func (l *List) MoveTo(i int) { l.Move(i - l.sel) }

// Page moves by as many pages as the last View showed.
func (l *List) Page(n int) {
	if d := n * max(l.page-1, 1); d != 1 && d != -1 {
		l.Move(d)
	} else if to := l.sel + d; to >= 0 && to < len(l.shown) {
		l.Move(d) // a page of one item does not go round
	}
}

// skipOff goes on from an item that cannot be chosen, then back, then gives up.
func (l *List) skipOff(dir int) {
	for _, d := range []int{dir, -dir} {
		for i := l.sel; i >= 0 && i < len(l.shown); i += d {
			if !l.items[l.shown[i]].Off {
				l.sel = i
				return
			}
		}
	}
}

// headed: the i-th matching item stands under the name of its group.
func (l *List) headed(i int) bool {
	if !l.query.Empty() {
		return false // the best match comes first, whatever its group
	}
	g := l.items[l.shown[i]].Group
	return g != "" && (i == 0 || l.items[l.shown[i-1]].Group != g)
}

func (l *List) rows(i int) int {
	if l.headed(i) {
		return 2
	}
	return 1
}

// scroll moves the first visible item as little as needed to see the selected.
func (l *List) scroll(height int) {
	l.top = max(0, min(l.top, l.sel))
	lowest, room := l.sel, height-l.rows(l.sel)
	for lowest > 0 && room >= l.rows(lowest-1) {
		lowest--
		room -= l.rows(lowest)
	}
	l.top = max(l.top, lowest)
	n, end := 0, l.top
	for end < len(l.shown) && n < height {
		n += l.rows(end)
		end++
	}
	for end == len(l.shown) && l.top > 0 && n+l.rows(l.top-1) <= height { // no empty rows below
		l.top--
		n += l.rows(l.top)
	}
}

// View draws at most height rows of o.Width columns.
func (l *List) View(height int, o draw.Options) []draw.Line {
	if height < 1 || len(l.shown) == 0 {
		l.page = 0
		return nil
	}
	l.scroll(height)
	var out []draw.Line
	titles := l.column(height, o)
	l.page = 0
	for i := l.top; i < len(l.shown) && len(out) < height; i++ {
		if l.headed(i) {
			if height > 1 || i != l.sel {
				out = append(out, draw.L(draw.S(l.items[l.shown[i]].Group, draw.Heading)).Truncate(o.Width, o))
			}
			if len(out) == height {
				break
			}
		}
		out = append(out, l.row(i, titles, o))
		l.page++
	}
	return out
}

// column is how wide the titles are: as wide as the widest that is seen, and at
// most half of the room.
func (l *List) column(height int, o draw.Options) int {
	w := 0
	for i := l.top; i < min(len(l.shown), l.top+height); i++ {
		if it := &l.items[l.shown[i]]; it.Detail != "" {
			w = max(w, draw.Width(draw.String(it.Title)))
		}
	}
	return min(w, max(o.Width/2, 8))
}

func (l *List) row(i, titles int, o draw.Options) draw.Line {
	it := &l.items[l.shown[i]]
	role := draw.Plain
	if it.Off {
		role = draw.Quiet
	}
	lead := "  "
	if i == l.sel && !it.Off {
		lead = draw.Sign(draw.Cursor, o.ASCII) + " "
		role = draw.Accent
	}
	line := draw.L(draw.Span{Text: lead, Style: draw.Style{Role: draw.Accent}})
	title := l.title(it, role)
	if it.Detail != "" {
		title = title.Truncate(max(titles, 1), o).Pad(titles + 2)
		title = append(title, draw.S(it.Detail, draw.Quiet))
	}
	line = append(line, title...)
	if it.Mark {
		line = append(line, draw.S(" "+draw.Sign(draw.Check, o.ASCII), draw.OK))
	}
	note := draw.Line(nil)
	if it.Note != "" {
		note = draw.L(draw.S(it.Note, draw.Quiet))
	}
	return draw.Beside(line, note, o.Width, o).Truncate(o.Width, o)
}

// title is a title with the letters that matched.
func (l *List) title(it *Item, role draw.Role) draw.Line {
	var at []int
	for _, w := range l.query.words {
		places := make([]int, len(w.s))
		if _, ok := w.near(it.Title, places); ok {
			at = append(at, places...)
		}
	}
	slices.Sort(at)
	return Highlight(it.Title, at, role)
}

// Highlight is s with the bytes at these places as matches. Places are in order;
// a character of which one byte matched is a match.
func Highlight(s string, at []int, role draw.Role) draw.Line {
	var out draw.Line
	put := func(part string, r draw.Role) {
		if part = draw.String(part); part == "" {
			return
		}
		if n := len(out); n > 0 && out[n-1].Role == r {
			out[n-1].Text += part
			return
		}
		out = append(out, draw.Span{Text: part, Style: draw.Style{Role: r}})
	}
	from := 0
	for i, end := 0, 0; i < len(s); i = end {
		_, n := utf8.DecodeRuneInString(s[i:])
		end = i + n
		k, _ := slices.BinarySearch(at, i)
		if k < len(at) && at[k] < end {
			put(s[from:i], role)
			put(s[i:end], draw.Match)
			from = end
		}
	}
	put(s[from:], role)
	return out
}

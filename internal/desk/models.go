package desk

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// models are those that can be used, of a session or of the settings; as choices, the
// newest of each family first.
func (d *Desk) models(ctx context.Context, session string) (out ask.Reply, err error) {
	var rows []models.Row
	if s, ok := d.seat(session); ok {
		rows = s.Switchable(ctx)
	} else {
		ms, err := d.Models()
		if err != nil {
			return out, err
		}
		rows = ms.List(ctx)
	}
	all := []ask.Model{}
	for _, r := range rows {
		if !r.Usable {
			continue
		}
		m := ask.Model{ID: r.Provider + "/" + r.Model, Provider: r.Provider, Name: cmp.Or(r.Facts.Name, r.Model), Window: r.Facts.Window, Efforts: r.Facts.Efforts, Thinking: string(r.Facts.Thinking)}
		c := ask.Choice{ID: m.ID, Name: m.ID, About: strings.Join(r.Aliases, ", "), Also: r.Aliases}
		if m.Window > 0 {
			c.Right = clip.Window(m.Window)
		}
		if p := r.Facts.Price; p != nil {
			c.Right += fmt.Sprintf("  $%g in, $%g out", p.In, p.Out)
		}
		out.Choices, all = append(out.Choices, c), append(all, m)
	}
	order.By(out.Choices, func(a, b ask.Choice) int { return newest(a.ID, b.ID) })
	out.Data = all
	return out, nil
}

// newest sorts names of models: families by their letters, and of each the newest
// version before older ones, and before the same one of a date.
func newest(a, b string) int {
	x, y := versioned().FindAllString(a, -1), versioned().FindAllString(b, -1)
	for i := range max(len(x), len(y)) {
		m, n := namePart(x, i), namePart(y, i)
		v, vok := versionPart(m)
		w, wok := versionPart(n)
		switch {
		case vok && wok && v != w:
			return cmp.Compare(w, v)
		case vok != wok && (m != "" && n != ""):
			return cmp.Compare(m, n)
		case !(vok && wok) && m != n:
			return cmp.Compare(m, n)
		}
	}
	return cmp.Compare(a, b)
}

var versioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+|[^0-9./:_-]+`) })

func namePart(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return ""
}

// versionPart is a part of a name as a number: 0 where there is none, and less for a
// date.
func versionPart(s string) (int, bool) {
	if s == "" {
		return 0, true
	}
	n, err := strconv.Atoi(s)
	if err == nil && len(s) >= 6 {
		n = -1
	}
	return n, err == nil
}

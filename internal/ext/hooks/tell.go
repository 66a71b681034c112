package hooks

import "github.com/adze-agent/adze/internal/event"

// says tells people what a hook has them told; nobody looks at a session that ends.
func (g *Gate) says(text string) {
	g.mu.Lock()
	if g.ending {
		g.last = append(g.last, text)
	}
	g.mu.Unlock()
	g.report(event.Noted{Level: "info", Text: text, About: event.AboutHook})
}

// once tells people of a hook that does not work, the first time.
func (g *Gate) once(text string) {
	g.mu.Lock()
	known := g.failed[text]
	g.failed[text] = true
	if g.ending && !known {
		g.last = append(g.last, text)
	}
	g.mu.Unlock()
	if !known {
		g.report(event.Noted{Level: "warning", Text: text})
	}
}

func (g *Gate) report(what event.Noted) {
	_ = g.s.Report(what) // a session that cannot write says so itself
}

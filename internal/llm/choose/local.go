package choose

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// probeLimit is how long a local server may take to say what it has.
const probeLimit = 150 * time.Millisecond

// listLimit is how long a person's own server elsewhere may take for that.
const listLimit = 2 * time.Second

// locals are the servers that are tried, in the order of preference.
func (c *Chooser) locals() []provider {
	var out []provider
	for _, name := range []string{"ollama", "lmstudio", "llamacpp"} {
		if p, ok := c.provider(name); ok {
			out = append(out, p.everywhere()...)
		}
	}
	return out
}

// everywhere is a provider at each of its base URLs.
func (p provider) everywhere() []provider {
	out := []provider{p}
	for _, base := range p.also {
		p.baseURL = base
		out = append(out, p)
	}
	return out
}

// servers are those that are asked what they have: the local ones, and a person's
// own of which neither a table nor the settings name a model.
func (c *Chooser) servers() []provider {
	out := c.locals()
	for _, p := range c.providers {
		if c.lists(p) && !slices.ContainsFunc(out, func(q provider) bool { return q.name == p.name }) {
			out = append(out, p)
		}
	}
	return out
}

// lists reports whether only its server says which models a person's own provider has.
func (c *Chooser) lists(p provider) bool {
	return p.custom && p.wire == wireCompat && len(p.models) == 0 &&
		!slices.ContainsFunc(c.table.All(), func(f price.Facts) bool { return f.Provider == p.name })
}

// probe asks all servers at once and takes the first, in their order, that
// has a model.
func (c *Chooser) probe(ctx context.Context, ps []provider) (provider, string, bool) {
	found := c.probeAll(ctx, ps)
	for i, models := range found {
		if len(models) > 0 {
			return ps[i], models[0], true
		}
	}
	return provider{}, "", false
}

// probeAll returns the models of each server, none for one that is silent.
func (c *Chooser) probeAll(ctx context.Context, ps []provider) [][]string {
	tr := wire.NewTransport(wire.Dial{Connect: c.wait})
	defer tr.CloseIdleConnections()
	type answer struct {
		i      int
		models []string
	}
	answers := make(chan answer, len(ps))
	for i, p := range ps {
		go func() { // ends with the context at the latest
			limit, by := c.wait, http.RoundTripper(tr)
			if p.custom && !own(p.baseURL) {
				limit, by = listLimit, c.c.Transport
			}
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			answers <- answer{i, c.modelsOf(ctx, by, p)}
		}()
	}
	found := make([][]string, len(ps))
	for range ps {
		a := <-answers
		found[a.i] = a.models
	}
	return found
}

const maxList = 1 << 20 // bytes of a list of models

// headers are those of questions to a server.
func (c *Chooser) headers(p provider) map[string]string {
	out := map[string]string{"User-Agent": "adze/" + cmp.Or(c.c.Version, "0")}
	if key, _, _ := c.key(p); key != "" {
		out["Authorization"] = "Bearer " + key
	}
	maps.Copy(out, p.headers)
	return out
}

// modelsOf asks one server what it has.
func (c *Chooser) modelsOf(ctx context.Context, tr http.RoundTripper, p provider) []string {
	base := wire.Base(p.baseURL, "/chat/completions")
	switch {
	case p.name == "ollama":
		return c.listedAt(ctx, tr, p, wire.Join(wire.Base(base, "/v1"), "/api/tags"))
	case p.local:
		return c.listedAt(ctx, tr, p, wire.Join(wire.Base(base, "/v1"), "/v1/models"))
	}
	found := c.listedAt(ctx, tr, p, wire.Join(base, "/models")) // beside /chat/completions
	if found == nil && wire.Bare(base) {
		found = c.listedAt(ctx, tr, p, wire.Join(base, "/v1/models"))
	}
	return found
}

// listedAt are the models of a list at an address.
func (c *Chooser) listedAt(ctx context.Context, tr http.RoundTripper, p provider, url string) []string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil
	}
	for k, v := range c.headers(p) {
		req.Header.Set(k, v)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	var list struct {
		Models []struct{ Name string }
		Data   []struct{ ID string }
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	var out []string
	add := func(name string) {
		if name != "" && !strings.Contains(strings.ToLower(name), "embed") {
			out = append(out, name)
		}
	}
	for _, m := range list.Models {
		add(m.Name)
	}
	for _, m := range list.Data {
		add(m.ID)
	}
	return out
}

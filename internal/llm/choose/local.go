package choose

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm/wire"
)

// probeLimit is how long a local server may take to say what it has.
const probeLimit = 150 * time.Millisecond

// locals are the servers that are tried, in the order of preference.
func (c *Chooser) locals() []provider {
	var out []provider
	for _, name := range []string{"ollama", "lmstudio", "llamacpp"} {
		if p, ok := c.provider(name); ok {
			out = append(out, p)
		}
	}
	return out
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
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	tr := wire.NewTransport(wire.Dial{Connect: probeLimit})
	defer tr.CloseIdleConnections()
	type answer struct {
		i      int
		models []string
	}
	answers := make(chan answer, len(ps))
	for i, p := range ps {
		go func() { answers <- answer{i, modelsOf(ctx, tr, p, c.agent())} }() // ends with the context at the latest
	}
	found := make([][]string, len(ps))
	for range ps {
		a := <-answers
		found[a.i] = a.models
	}
	return found
}

const maxList = 1 << 20 // bytes of a list of models

// agent is the User-Agent of questions to servers.
func (c *Chooser) agent() string { return "adze/" + cmp.Or(c.c.Version, "0") }

// modelsOf asks one server what it has.
func modelsOf(ctx context.Context, tr http.RoundTripper, p provider, agent string) []string {
	base := strings.TrimSuffix(strings.TrimRight(p.baseURL, "/"), "/v1")
	url := base + "/v1/models"
	if p.name == "ollama" {
		url = base + "/api/tags"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil
	}
	req.Header.Set("User-Agent", agent)
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

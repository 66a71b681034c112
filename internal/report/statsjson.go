package report

import (
	"time"

	"github.com/adze-agent/adze/internal/usage"
)

// The JSON of adze stats is a contract; docs/stats.md says what is in it.
type (
	statsJSON struct {
		Version  int         `json:"version"` // 1
		From     string      `json:"from"`    // a day
		To       string      `json:"to"`
		Zone     string      `json:"zone"` // that days and hours are of
		Sessions int         `json:"sessions"`
		Total    spentJSON   `json:"total"`
		Models   []spentJSON `json:"models,omitempty"`
		Projects []spentJSON `json:"projects,omitempty"`
		Days     []spentJSON `json:"days,omitempty"`
		Agents   []spentJSON `json:"agents,omitempty"`
		Tools    []workJSON  `json:"tools,omitempty"`
		Hours    []hourJSON  `json:"hours,omitempty"` // of the week, those in which something was used
	}
	spentJSON struct {
		Name         string   `json:"name,omitempty"`
		Requests     int      `json:"requests"`
		Cost         *float64 `json:"cost_usd"` // null: not known
		Unpriced     int      `json:"unpriced_requests"`
		In           int      `json:"input_tokens"`
		Out          int      `json:"output_tokens"`
		CacheRead    int      `json:"cache_read_tokens"`
		CacheWrite   int      `json:"cache_write_tokens"`
		HitRate      *float64 `json:"cache_hit_rate"` // null: nothing was sent
		FirstChunkMS *int64   `json:"first_chunk_ms"` // on average; null: not known
		TookMS       int64    `json:"took_ms"`
		Retries      int      `json:"retries"`
	}
	hourJSON struct {
		Weekday int `json:"weekday"` // 1 is Monday
		Hour    int `json:"hour"`    // 0 to 23
		spentJSON
	}
	workJSON struct {
		Name   string `json:"name"`
		Calls  int    `json:"calls"`
		Failed int    `json:"failed"`
		Denied int    `json:"denied"`
		TookMS int64  `json:"took_ms"`
	}
)

// JSON has every list, or the one that is asked for: one of By, "" for all.
func (s Stats) JSON(by string) any {
	r := s.Report
	from, to := s.Period()
	out := statsJSON{Version: 1, From: from, To: to, Zone: zoneName(r.Zone, r.To), Sessions: r.Sessions, Total: asSpent("", r.Total)}
	for i := range r.Purposes {
		r.Purposes[i].Name = agentName(r.Purposes[i].Name)
	}
	for _, x := range []struct {
		by   string
		from []usage.Named
		to   *[]spentJSON
	}{{"model", r.Models, &out.Models}, {"project", r.Projects, &out.Projects}, {"day", r.Days, &out.Days}, {"agent", r.Purposes, &out.Agents}} {
		if by != "" && by != x.by {
			continue
		}
		for _, n := range x.from {
			*x.to = append(*x.to, asSpent(n.Name, n.Spent))
		}
	}
	if by == "" || by == "tool" {
		for _, t := range r.Tools {
			out.Tools = append(out.Tools, workJSON{t.Name, t.Calls, t.Errors, t.Denied, t.Took.Milliseconds()})
		}
	}
	if by == "" {
		for d, hours := range r.Hours {
			for h, s := range hours {
				if s.Requests() > 0 {
					out.Hours = append(out.Hours, hourJSON{d + 1, h, asSpent("", s)})
				}
			}
		}
	}
	return out
}

// zoneName is a zone as others know it, or its distance from UTC.
func zoneName(z *time.Location, at time.Time) string {
	if name := z.String(); name != "Local" && name != "" {
		return name
	}
	return at.Format("-07:00")
}

func asSpent(name string, s usage.Spent) spentJSON {
	out := spentJSON{
		Name: name, Requests: s.Requests(), Unpriced: s.Unpriced,
		In: s.Usage.In, Out: s.Usage.Out, CacheRead: s.Usage.CacheRead, CacheWrite: s.Usage.CacheWrite,
		TookMS: s.Took.Milliseconds(), Retries: s.Retries,
	}
	if usd, ok := s.Known(); ok {
		out.Cost = &usd
	}
	if rate, ok := s.HitRate(); ok {
		out.HitRate = &rate
	}
	if ms := s.FirstChunk().Milliseconds(); s.Timed > 0 {
		out.FirstChunkMS = &ms
	}
	return out
}

package sessions

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// An AgentCost is what agents of one type with one model have cost in a project.
type AgentCost struct {
	Type  string  `json:"type"`
	Model string  `json:"model"` // provider/model
	N     int     `json:"n"`     // of how many; the older ones count less
	USD   float64 `json:"usd"`   // each
}

// agentCosts is the file of a project. It can be removed at any time, and of two processes
// that write it at once the last one counts.
type agentCosts struct {
	Version int         `json:"version"`
	Rows    []AgentCost `json:"rows"` // that changed last, last
}

const (
	agentCostsName    = "agents.json"
	agentCostsVersion = 1
	maxAgentCosts     = 64
	// maxWeight is how many agents a mean is taken of at most.
	maxWeight = 20
)

// AgentCosts are what agents have cost in a project.
func (s Store) AgentCosts(project string) []AgentCost {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	return loadAgentCosts(root, project).Rows
}

func loadAgentCosts(root *os.Root, project string) (a agentCosts) {
	f, err := regular.In(root, filepath.Join(project, agentCostsName), os.O_RDONLY, 0)
	if err != nil {
		return a
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil || fastjson.Unmarshal(raw, &a) != nil || a.Version != agentCostsVersion {
		return agentCosts{}
	}
	return a
}

// AddAgentCost adds what one agent has cost. When it cannot, later estimates are worse, and
// nothing else happens.
func (s Store) AddAgentCost(project, kind, model string, usd float64) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return
	}
	defer root.Close()
	a := loadAgentCosts(root, project)
	row := AgentCost{Type: kind, Model: model}
	same := func(x AgentCost) bool { return x.Type == kind && x.Model == model }
	if i := slices.IndexFunc(a.Rows, same); i >= 0 {
		row = a.Rows[i]
	}
	row.N = min(row.N+1, maxWeight)
	row.USD += (usd - row.USD) / float64(row.N)
	a.Version, a.Rows = agentCostsVersion, append(slices.DeleteFunc(a.Rows, same), row)
	a.Rows = a.Rows[max(0, len(a.Rows)-maxAgentCosts):]
	if raw, err := json.Marshal(a); err == nil {
		_ = safe.Replace(root, safe.File{Name: filepath.Join(project, agentCostsName), Text: raw, Mode: disk.FileMode, Brief: true})
	}
}

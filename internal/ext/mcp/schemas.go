package mcp

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Bounds of the schemas that are kept until they are used.
const (
	maxKept      = 8 << 20 // bytes
	maxKeptCount = 4000
)

// schemas are those that a server sent, with their members in its order, by what
// they come to once they are decoded: the SDK hands over maps, which have none. The
// order is what a model reads, and a person of a form.
type schemas struct {
	mu   sync.Mutex // guards what follows
	sent map[string]json.RawMessage
	size int
	// tasks are tools that are called as tasks alone, by name: the SDK does not hand over
	// what they say of that (execution.taskSupport, MCP 2025-11-25).
	tasks map[string]bool
}

// holders are the members whose value is a schema that somebody reads.
var holders = []string{"inputSchema", "requestedSchema"}

// keep takes the schemas of a message.
func (k *schemas) keep(raw []byte) {
	k.keepTasks(raw)
	for _, name := range holders {
		if !bytes.Contains(raw, []byte(`"`+name+`"`)) {
			continue
		}
		fastjson.Each(raw, name, func(v fastjson.Raw) {
			var any map[string]any
			if json.Unmarshal(v, &any) != nil {
				return
			}
			key, err := json.Marshal(any)
			if err != nil || bytes.Equal(key, v) {
				return
			}
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.size+len(v) > maxKept || len(k.sent) >= maxKeptCount || k.sent == nil {
				k.sent, k.size = map[string]json.RawMessage{}, 0
			}
			k.sent[string(key)], k.size = bytes.Clone(v), k.size+len(v)
		})
	}
}

// keepTasks notes which tools of a list are called as tasks alone.
func (k *schemas) keepTasks(raw []byte) {
	var list struct {
		Result struct {
			Tools []struct {
				Name      string `json:"name"`
				Execution struct {
					TaskSupport string `json:"taskSupport"`
				} `json:"execution"`
			} `json:"tools"`
		} `json:"result"`
	}
	if !bytes.Contains(raw, []byte(`"taskSupport"`)) || fastjson.Unmarshal(raw, &list) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tasks == nil || len(k.tasks) > maxKeptCount {
		k.tasks = map[string]bool{}
	}
	for _, t := range list.Result.Tools {
		k.tasks[t.Name] = t.Execution.TaskSupport == "required"
	}
}

// onlyTask reports a tool that cannot be called as adze calls tools.
func (k *schemas) onlyTask(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tasks[name]
}

// asSent is a schema as it was sent, where it is known; decoded is what the SDK made of
// it, marshaled.
func (k *schemas) asSent(decoded json.RawMessage) json.RawMessage {
	if k == nil {
		return decoded
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.sent[string(decoded)]; ok {
		return v
	}
	return decoded
}

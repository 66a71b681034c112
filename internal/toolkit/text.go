package toolkit

import (
	"encoding/json"
	"errors"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/tool"
)

// maxScript bounds a file that Text reads, in bytes.
const maxScript = 1 << 20

// Text is a text file that is read for what is not the model, where judge of the Read tool's
// plan returns no error.
func (k Kit) Text(path string, judge func(tool.Plan) error) (string, error) {
	read, ok := k.All.Get("Read")
	if !ok {
		return "", errors.New("this session reads no files")
	}
	in, err := json.Marshal(map[string]string{"file_path": path})
	if err != nil {
		return "", err
	}
	p, err := read.Plan(in, tool.Env{Dir: k.conf.Dir, Home: k.conf.Home})
	if err != nil {
		return "", err
	}
	if err := judge(p); err != nil {
		return "", err
	}
	at, err := place.Locate(k.conf.Dir, k.conf.Home, path)
	if err != nil {
		return "", err
	}
	raw, err := regular.Read(at, maxScript)
	return string(raw), err
}

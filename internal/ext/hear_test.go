package ext

import (
	"reflect"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/hook"
)

// Hooks are asked about each file of settings that differs, under the source that its
// scope has in the format; what came with a flag is no file of theirs.
func TestReconfigured(t *testing.T) {
	file := func(s config.Scope, path, sum string) config.File {
		return config.File{Scope: s, Path: path, Sum: sum}
	}
	was := &config.Config{Report: config.Report{Files: []config.File{
		file(config.Managed, "/m", "1"), file(config.User, "/u", "1"), file(config.Project, "/p", "1"), file(config.Local, "/l", "1"), file(config.Flag, "/f", "1"),
	}}}
	with := func(sums ...string) *config.Config {
		out := &config.Config{}
		for i, f := range was.Files {
			f.Sum = sums[i]
			out.Files = append(out.Files, f)
		}
		return out
	}
	more := func(c *config.Config, f config.File) *config.Config {
		c.Files = append(c.Files, f)
		return c
	}
	for name, c := range map[string]struct {
		now     *config.Config
		want    []hook.ConfigInput
		managed bool
	}{
		"nothing":               {now: with("1", "1", "1", "1", "1")},
		"the user's":            {with("1", "2", "1", "1", "1"), []hook.ConfigInput{{Source: "user_settings", Path: "/u"}}, false},
		"the project's":         {with("1", "1", "2", "1", "1"), []hook.ConfigInput{{Source: "project_settings", Path: "/p"}}, false},
		"the local one":         {with("1", "1", "1", "", "1"), []hook.ConfigInput{{Source: "local_settings", Path: "/l"}}, false},
		"an administrator's":    {with("2", "1", "1", "2", "1"), []hook.ConfigInput{{Source: "policy_settings", Path: "/m"}, {Source: "local_settings", Path: "/l"}}, true},
		"of a flag":             {now: with("1", "1", "1", "1", "2")},
		"a new file":            {more(with("1", "1", "1", "1", "1"), file(config.Local, "/n", "1")), []hook.ConfigInput{{Source: "local_settings", Path: "/n"}}, false},
		"one that is not there": {now: more(with("1", "1", "1", "1", "1"), file(config.Local, "/n", ""))},
	} {
		if list, managed := reconfigured(was, c.now); !reflect.DeepEqual(list, c.want) || managed != c.managed {
			t.Errorf("%s: %+v %v", name, list, managed)
		}
	}
}

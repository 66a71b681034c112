package conf

import "github.com/adze-agent/adze/internal/git/setting"

// Scan is the first setting in a file that reading with PinnedEnv is refused for.
func Scan(file string) (string, error) {
	return scan(file, func(section, key, value string) bool { return setting.Of(section, key, value) < setting.Pinned })
}

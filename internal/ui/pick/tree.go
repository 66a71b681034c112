package pick

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/search"
)

// Tree lists the files of a folder for NewFiles, those that changed last first,
// without what ignore files and t leave out. At most limit are listed, and cut
// says that there are more.
func Tree(ctx context.Context, t search.Tree, limit int) (paths []string, cut bool, err error) {
	found, _, err := search.Glob(ctx, t, "**")
	if err != nil {
		return nil, false, err
	}
	cut = len(found) > limit
	found = found[:min(len(found), limit)]
	paths = make([]string, len(found))
	for i, f := range found {
		paths[i] = f.Rel
	}
	return slices.Clip(paths), cut, nil
}

package market_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ext/market"
)

// A dependency whose marketplace has a version that does not fit comes from the
// highest tag that does: of its own repository, or of the marketplace's, where the tag
// names the plugin.
func TestDependencyTags(t *testing.T) {
	root := t.TempDir()
	manifest := func(name, version string) files {
		return files{".claude-plugin/plugin.json": fmt.Sprintf(`{"name": %q, "version": %q}`, name, version), "skills/x/SKILL.md": version}
	}
	core := filepath.Join(root, "core")
	run := gitRepo(t, core, manifest("core", "1.2.0"))
	release := func(run func(args ...string) string, dir, name, version, tag string) {
		write(t, dir, manifest(name, version))
		run("add", "-A")
		run("commit", "--quiet", "-m", version)
		run("tag", tag)
	}
	run("tag", "v1.2.0")
	release(run, core, "core", "1.10.0", "core-v1.10.0")
	release(run, core, "core", "2.0.0", "v2.0.0")
	release(run, core, "core", "3.0.0", "latest")

	srv := gitServer(t, root)
	shop := filepath.Join(root, "shop")
	need := func(deps string) files {
		return files{".claude-plugin/plugin.json": `{"name": "x", "version": "1.0.0", "dependencies": ` + deps + `}`, "skills/x/SKILL.md": ""}
	}
	place(t, shop, "shop", map[string]files{
		"one": need(`[{"name": "core", "version": "^1.2"}]`), "none": need(`[{"name": "core", "version": "^7"}]`),
		"near": need(`[{"name": "lib", "version": "~0.1"}]`), "lib": manifest("lib", "0.1.5"),
	})
	write(t, shop, files{".claude-plugin/marketplace.json": fmt.Sprintf(`{"name": "shop", "owner": {"name": "o"}, "plugins": [
		{"name": "core", "source": {"source": "url", "url": %q}}, {"name": "one", "source": "./plugins/one"}, {"name": "none", "source": "./plugins/none"},
		{"name": "near", "source": "./plugins/near"}, {"name": "lib", "source": "./plugins/lib"}]}`, srv.URL+"/core/.git")})
	shopGit := gitRepo(t, shop, nil)
	shopGit("tag", "lib--v0.1.5")
	shopGit("tag", "v0.1.9") // of the marketplace, not of the plugin
	release(shopGit, filepath.Join(shop, "plugins", "lib"), "lib", "0.2.0", "lib--v0.2.0")

	s, _ := open(t)
	if _, _, err := s.Add(t.Context(), market.Source{Kind: market.Git, URL: srv.URL + "/shop/.git"}, market.Policy{}); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"one": "core 1.10.0", "near": "lib 0.1.5"} {
		p, err := s.Prepare(t.Context(), id, market.Policy{})
		if err != nil {
			t.Error(id, err)
			continue
		}
		if got := p.Steps[0].Plugin.Name + " " + p.Steps[0].Plugin.Version; got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Prepare(t.Context(), "none", market.Policy{}); err == nil || !strings.Contains(err.Error(), "none@shop needs core@shop ^7: its version 3.0.0 is not one that is needed") {
		t.Error(err)
	}
	// An update stays with what others need.
	install(t, s, "one")
	p, err := s.Prepare(t.Context(), "core", market.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if v := p.Steps[0].Plugin.Version; v != "1.10.0" || !p.Steps[0].Same() {
		t.Errorf("the update is %s", v)
	}
}

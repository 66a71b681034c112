package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/sandbox/boxes"
	"github.com/adze-agent/adze/internal/trust"
)

// SettingsFile is the settings file of a scope: user, project or local. ok is
// false for any other.
func SettingsFile(p Paths, scope string) (t confedit.Target, ok bool) {
	switch scope {
	case "user":
		return confedit.Target{Path: filepath.Join(p.Folders.Config, "settings.json")}, true
	case "project":
		return confedit.Target{Path: filepath.Join(p.Root, ".adze", "settings.json"), Root: p.Root, Mode: 0o644}, true
	case "local":
		return confedit.Target{Path: filepath.Join(p.Root, ".adze", "settings.local.json"), Root: p.Root}, true
	}
	return confedit.Target{}, false
}

// WriteSettings changes a settings file. A folder that was trusted stays so;
// the local file is kept out of git. What went wrong besides the change
// itself comes back as notes.
func WriteSettings(ctx context.Context, p Paths, t confedit.Target, edits ...confedit.Edit) (notes []string, err error) {
	before, _ := Trust(p).Check(TrustFolder(p)) // without a verdict trust stays as it is
	if err := (confedit.Editor{Good: Good(p)}).Update(ctx, t, edits...); err != nil {
		return nil, err
	}
	if t.Root == "" {
		return nil, nil
	}
	rel, err := filepath.Rel(t.Root, t.Path)
	if err != nil {
		return nil, err
	}
	rel = filepath.ToSlash(rel)
	if err := Trust(p).Wrote(ctx, before, rel); err != nil {
		notes = append(notes, fmt.Sprintf("the folder has to be trusted again: %v", err))
	}
	if repo, err := conf.Find(p.Root); err == nil && strings.HasSuffix(rel, ".local.json") {
		if err := confedit.HideFromGit(ctx, repo.Common, rel); err != nil {
			notes = append(notes, fmt.Sprintf("could not keep %s out of git: %v", rel, err))
		}
	}
	return notes, nil
}

// errUntrusted is why a rule is not written where it would not be read.
var errUntrusted = errors.New("the settings of this folder are not used until it is trusted (adze trust)")

// remember saves the rules of a person's answer: for this session, where it
// finds them when it is resumed; for later sessions, in a settings file. A domain that the sandbox asked about goes into its list,
// which a shared file cannot extend, so there it goes into the local one; any
// other rule goes into permissions.allow.
func (r *Running) remember(ctx context.Context, tool string, where op.Keep, rules []string) error {
	w := r.world
	if where == op.ForSession {
		if r.log.key == nil || !r.Kept {
			return nil // the session cannot be resumed, or was told so
		}
		return r.log.grants(w.Paths).Add(ctx, r.ID, w.Paths.Dir, rules)
	}
	if tool == boxes.NetworkTool && where == op.ForProject {
		where = op.ForLocal
	}
	t, ok := SettingsFile(w.Paths, string(where))
	if !ok {
		return fmt.Errorf("rules cannot be saved for %q", where)
	}
	if t.Root != "" {
		if v, err := Trust(w.Paths).Check(TrustFolder(w.Paths)); err != nil {
			return err
		} else if v.State != trust.Trusted && v.State != trust.Nothing {
			return errUntrusted
		}
	}
	var edits []confedit.Edit
	for _, rule := range rules {
		e := confedit.Edit{Op: confedit.Add, Key: "permissions.allow"}
		if host, ok := strings.CutPrefix(rule, "WebFetch(domain:"); ok && tool == boxes.NetworkTool {
			e.Key, rule = "sandbox.network.allowed_domains", strings.TrimSuffix(host, ")")
		}
		var err error
		if e.Value, err = json.Marshal(rule); err != nil {
			return err
		}
		edits = append(edits, e)
	}
	var notes []string
	err := r.boxes.Outside([]string{t.Path}, func() (err error) {
		notes, err = WriteSettings(ctx, w.Paths, t, edits...)
		return err
	})
	if err == nil {
		w.Wrote(t.Path)
	}
	if len(notes) > 0 && err == nil {
		err = errors.New(strings.Join(notes, "; "))
	}
	return err
}

package settings

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/trust"
)

// What is written, and where.
type (
	Target = confedit.Target
	Edit   = confedit.Edit
)

// Write changes a settings file. A folder that was trusted stays so in each moment;
// the local file is kept out of git. What went wrong besides the change
// itself comes back as notes.
func Write(ctx context.Context, p Paths, t Target, edits ...Edit) (notes []string, err error) {
	editor := confedit.Editor{Good: p.lastGood()}
	if t.Root == "" {
		return nil, editor.Update(ctx, t, edits...)
	}
	rel, err := filepath.Rel(t.Root, t.Path)
	if err != nil {
		return nil, err
	}
	rel = filepath.ToSlash(rel)
	var promised *trust.Promise
	var distrust error
	err = editor.Rewrite(ctx, t, func(text []byte) ([]byte, error) {
		now, err := confedit.Apply(text, edits...)
		if err == nil && !bytes.Equal(now, text) {
			_ = promised.Keep(ctx, false) // of an attempt that lost the lock
			promised, distrust = p.Trust().Promise(ctx, p.TrustFolder(), rel, text, now)
		}
		return now, err
	})
	distrust = cmp.Or(distrust, promised.Keep(context.WithoutCancel(ctx), err == nil)) // it takes a moment, and what was written is
	if err != nil {
		return nil, err
	}
	if distrust != nil {
		notes = append(notes, fmt.Sprintf("the folder has to be trusted again: %v", distrust))
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

// loosens is the file of a scope, when what it allows would be read.
func (p Paths) loosens(scope string) (confedit.Target, error) {
	t, ok := p.File(scope)
	if !ok {
		return t, fmt.Errorf("rules cannot be saved for %q", scope)
	}
	if t.Root == "" {
		return t, nil
	}
	v, err := p.Trust().Check(p.TrustFolder())
	if err == nil && v.State != trust.Trusted && v.State != trust.Nothing {
		err = errUntrusted
	}
	return t, err
}

// Folder is a further folder as it would count: absolute. dir counts from the working
// folder; from says in errors who named it.
func Folder(p Paths, dir, from string) (string, error) {
	return folder(config.Rule{Text: dir, Origin: config.Origin{Scope: config.Flag, From: from}}, p)
}

// AddDir is the file of a scope that may have folders added, and the edit that adds an
// absolute one to permissions.additionalDirectories.
func AddDir(p Paths, scope, dir string) (t confedit.Target, e confedit.Edit, err error) {
	if t, err = p.loosens(scope); err != nil {
		return t, e, err
	}
	raw, err := json.Marshal(dir)
	return t, confedit.Edit{Op: confedit.Add, Key: dirsKey, Value: raw}, err
}

// AsDir has a further folder count until the process ends, as --add-dir does.
func AsDir(dir, from string) config.Given {
	return config.Given{Key: dirsKey, Value: []string{dir}, From: from}
}

// Allow is the file of a scope that may have rules added, and the edits that
// add them to permissions.allow; with domains, those that allow a domain go
// into the list of the sandbox's network. It is an error when settings of the
// scope would not be read.
func Allow(p Paths, scope string, rules []string, domains bool) (confedit.Target, []confedit.Edit, error) {
	t, err := p.loosens(scope)
	if err != nil {
		return t, nil, err
	}
	var edits []confedit.Edit
	for _, rule := range rules {
		e := confedit.Edit{Op: confedit.Add, Key: "permissions.allow"}
		if host, ok := strings.CutPrefix(rule, "WebFetch(domain:"); ok && domains {
			e.Key, rule = "sandbox.network.allowed_domains", strings.TrimSuffix(host, ")")
		}
		var err error
		if e.Value, err = json.Marshal(rule); err != nil {
			return t, nil, err
		}
		edits = append(edits, e)
	}
	return t, edits, nil
}

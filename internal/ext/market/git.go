package market

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/object"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
)

// git fetches one commit into a repository of its own, which has no hooks and
// no settings, and reads the files out of it: nothing is checked out, so no
// filter, no attribute and no submodule takes part.
func (s *Store) git(ctx context.Context, src Source, near bool, dir string, t *tree) (string, error) {
	git, err := s.program("git")
	if err != nil {
		return "", err
	}
	env := s.gitEnv(src, near)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", mended(err)
	}
	if _, err := s.run(ctx, dir, env, git, "init", "--quiet", "--bare", "--template=", "."); err != nil {
		return "", err
	}
	want := src.SHA
	if want == "" {
		want = src.Ref
	}
	if want == "" {
		want = "HEAD"
	}
	ctx, watched := watchSize(ctx, dir)
	defer watched()
	fetch := func(args ...string) error {
		all := append([]string{"--git-dir=.", "-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "transfer.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-commit-graph"}, args...)
		_, err := s.run(ctx, dir, env, git, all...)
		return err
	}
	err = fetch("--depth=1", "--", src.URL, want)
	if err != nil && src.SHA != "" && ctx.Err() == nil { // a server that gives no commit by its name
		if all := fetch("--", src.URL, "+refs/heads/*:refs/all/heads/*", "+refs/tags/*:refs/all/tags/*"); all == nil {
			err = nil
		}
	} else if err == nil && src.SHA == "" {
		want = "FETCH_HEAD"
	}
	if err != nil {
		return "", &fault{fmt.Errorf("%s cannot be fetched: %w", src, err), "look whether the address is right, whether the network is there, and whether git may read it: git ls-remote " + clip.Visible(src.URL)}
	}
	commit, err := s.run(ctx, dir, env, git, "--git-dir=.", "rev-parse", "--verify", "--quiet", "--end-of-options", want+"^{commit}")
	commit = strings.TrimSpace(commit)
	if err != nil || !shaForm().MatchString(commit) {
		return "", fmt.Errorf("%s has no commit %s", src, want)
	}
	at := commit
	if src.Path != "" && src.Path != "." {
		at += ":" + src.Path
	}
	list, err := s.run(ctx, dir, env, git, "--git-dir=.", "ls-tree", "-r", "-z", "--long", "--full-tree", "--end-of-options", at)
	if err != nil {
		return "", fmt.Errorf("%s has no folder %s", src, clip.Visible(src.Path))
	}
	files, err := treeFiles(list)
	if err != nil {
		return "", err
	}
	repo := object.Repo{Repo: conf.Repo{GitDir: dir, Common: dir}, Git: git, Env: env}
	return "commit:" + commit, unpackGit(ctx, repo, files, t)
}

// gitEnv is the environment of git for one source. near: it may be on this machine.
func (s *Store) gitEnv(src Source, near bool) []string {
	protocols := "https:ssh"
	if u, err := url.Parse(src.URL); err == nil {
		if u.Scheme == "http" && loopback(u.Hostname()) {
			protocols += ":http"
		}
		if u.Scheme == "file" && near {
			protocols += ":file"
		}
	}
	env := proc.Set(s.environ(), append(conf.PinnedEnv(), "GIT_ALLOW_PROTOCOL="+protocols, "GIT_ASKPASS=", "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C")...)
	if s.env("GIT_SSH_COMMAND") == "" {
		env = proc.Set(env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes")
	}
	return env
}

// A gitFile is an entry of a commit.
type gitFile struct{ mode, id, name string }

// treeFiles reads what git ls-tree -z --long prints (git-ls-tree(1)).
func treeFiles(list string) (out []gitFile, err error) {
	if len(list) >= maxIndex {
		return nil, &hostile{"it has too many files"}
	}
	for e := range strings.SplitSeq(list, "\x00") {
		if e == "" {
			continue
		}
		about, name, ok := strings.Cut(e, "\t")
		f := strings.Fields(about)
		if !ok || len(f) != 4 {
			return nil, fmt.Errorf("git says %q of a file", clip.Line(clip.Visible(e), 100))
		}
		if f[0] == "160000" { // a submodule: not fetched
			continue
		}
		if out = append(out, gitFile{f[0], f[2], name}); len(out) > maxFiles {
			return nil, &hostile{fmt.Sprintf("it has more than %s files", clip.Thousands(maxFiles))}
		}
	}
	return out, nil
}

func unpackGit(ctx context.Context, repo object.Repo, files []gitFile, t *tree) error {
	for part := range slices.Chunk(files, 500) {
		ids := make([]string, 0, len(part))
		for _, f := range part {
			ids = append(ids, f.id)
		}
		i := 0
		err := repo.Read(ctx, ids, func(_ string, content []byte) error {
			f := part[i]
			i++
			switch {
			case content == nil:
				return refuse(f.name, "is too large")
			case f.mode == "120000":
				return t.link(f.name, string(content))
			}
			return t.file(f.name, f.mode == "100755", bytes.NewReader(content))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// watchSize ends ctx when a folder grows too large. stop ends the watch.
func watchSize(parent context.Context, dir string) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	done := make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		tick := time.NewTicker(sizeEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			var size int64
			_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
				if err != nil {
					return nil // what was just taken away does not count
				}
				if info, err := d.Info(); err == nil {
					size += info.Size()
				}
				return nil
			})
			if size > maxBytes {
				cancel(&hostile{"it is larger than " + clip.Size(maxBytes)})
			}
		}
	}()
	return ctx, func() { cancel(nil); <-done }
}

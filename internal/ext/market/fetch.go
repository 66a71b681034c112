package market

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of a fetch.
const (
	fetchTime = 10 * time.Minute // of git, npm, or a download
	sizeEvery = 200 * time.Millisecond
	maxIndex  = 8 << 20 // bytes of a marketplace.json
	maxSaid   = 64 << 10
)

// fetch puts what a source has into the folder into, which is made, and returns
// its pin: "commit:…", "sha256:…" or npm's integrity. work is a folder for what
// is in between. base is the folder that relative paths count from, "" for none.
// near: see Source.check.
func (s *Store) fetch(ctx context.Context, src Source, base string, near bool, work, into string) (pin string, err error) {
	if err := src.check(near); err != nil {
		return "", err
	}
	ctx, stop := context.WithTimeout(ctx, fetchTime)
	defer stop()
	t, err := newTree(into)
	if err != nil {
		return "", mended(err)
	}
	defer func() {
		if err == nil {
			err = t.done()
		}
		err = errors.Join(err, t.close())
		if err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = fmt.Errorf("it took longer than %s", clip.Span(fetchTime))
		}
	}()
	switch src.Kind {
	case Folder:
		return "", s.copyFolder(src, base, t)
	case Git:
		return s.git(ctx, src, near, filepath.Join(work, "git"), t)
	case NPM:
		return s.npm(ctx, src, filepath.Join(work, "npm"), t)
	case Archive:
		return s.archive(ctx, src, filepath.Join(work, "archive"), t)
	case JSON:
	}
	return "", fmt.Errorf("a plugin cannot come from %s", src)
}

func (s *Store) copyFolder(src Source, base string, t *tree) error {
	dir := src.Path
	if !filepath.IsAbs(dir) {
		if base == "" {
			return errors.New("its path counts from the files of the marketplace, and that has none: it was added by the address of its marketplace.json alone")
		}
		dir = filepath.Join(base, filepath.FromSlash(dir))
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s", clip.Visible(dir))
	case err != nil:
		return mended(err)
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", clip.Visible(dir))
	}
	return mended(t.copyDir(dir))
}

// environ is what git and npm run with: nothing of keys, but what people use
// to sign in to their own repositories.
func (s *Store) environ(more ...string) []string {
	env := proc.Scrub(s.conf.Environ, []string{"SSH_AUTH_SOCK", "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "all_proxy", "no_proxy"})
	return proc.Set(env, more...)
}

// program finds a program that is not the repository's.
func (s *Store) program(name string) (string, error) {
	at, ok := proc.Lookup(name, s.env("PATH"), s.conf.Avoid)
	if !ok {
		return "", &fault{fmt.Errorf("%s was not found on PATH", name), "install " + name + ", or take the plugin from a folder or an archive"}
	}
	return at, nil
}

func (s *Store) env(name string) string {
	return proc.Getenv(s.conf.Environ, name)
}

// run runs a program without a shell, and returns the start of what it prints.
func (s *Store) run(ctx context.Context, dir string, env []string, path string, args ...string) (string, error) {
	if err := proc.Batch(path, args); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Dir, c.Env, c.WaitDelay = dir, env, time.Second
	if s.env("GIT_SSH_COMMAND") == "" { // else it may ask a person at the terminal, which only its own group can
		together(c)
	}
	out, said := &head{max: maxIndex}, &head{max: maxSaid}
	c.Stdout, c.Stderr = out, said
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("%s: %s", filepath.Base(path), lastWords(said.String(), err))
	}
	return out.String(), nil
}

// lastWords is what a program said of why it failed.
func lastWords(said string, err error) string {
	var keep []string
	for l := range strings.Lines(clip.Clean(said)) {
		l = strings.TrimSpace(l)
		for _, noise := range []string{"npm error ", "npm ERR! ", "fatal: ", "error: "} {
			l = strings.TrimPrefix(l, noise)
		}
		if l != "" && !strings.HasPrefix(l, "A complete log of this run") && !strings.HasPrefix(l, "hint:") {
			keep = append(keep, l)
		}
	}
	if len(keep) == 0 {
		return err.Error()
	}
	return clip.Line(strings.Join(keep[:min(len(keep), 4)], "; "), 500)
}

// head keeps the start of what is written.
type head struct {
	bytes.Buffer
	max int
}

func (h *head) Write(b []byte) (int, error) {
	if n := h.max - h.Len(); n > 0 {
		h.Buffer.Write(b[:min(n, len(b))])
	}
	return len(b), nil
}

// npm has npm fetch a package from its registry, runs nothing of it, and checks
// what came against what npm says of its integrity.
func (s *Store) npm(ctx context.Context, src Source, dir string, t *tree) (string, error) {
	npm, err := s.program("npm")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", mended(err)
	}
	spec := src.Package
	if src.Version != "" {
		spec += "@" + src.Version
	}
	args := []string{"pack", "--json", "--ignore-scripts", "--foreground-scripts=false", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000", "--fetch-timeout=60000", "--cache=" + filepath.Join(dir, "cache"), "--pack-destination=" + dir}
	if r := first(src.Registry, s.conf.Registry); r != "" {
		args = append(args, "--registry="+r)
	}
	ctx, watched := watchSize(ctx, dir)
	defer watched()
	out, err := s.run(ctx, dir, s.environ("npm_config_ignore_scripts=true"), npm, append(args, "--", spec)...)
	if err != nil {
		return "", &fault{fmt.Errorf("%s cannot be fetched: %w", src, err), "look whether the name is right and the registry can be reached: npm view " + clip.Visible(spec)}
	}
	var said []struct{ Filename, Integrity string }
	if err := json.Unmarshal([]byte(out), &said); err != nil || len(said) != 1 {
		return "", errors.New("npm did not say what it fetched")
	}
	f, info, err := regular.Open(filepath.Join(dir, filepath.Base(said[0].Filename)))
	if err != nil {
		return "", errors.New("npm did not leave what it fetched")
	}
	defer f.Close()
	h := sha512.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	sum := "sha512-" + base64.StdEncoding.EncodeToString(h.Sum(nil))
	if said[0].Integrity != "" && said[0].Integrity != sum {
		return "", &hostile{"what npm fetched is not what its integrity hash says"}
	}
	return sum, untar(f, info.Size(), "package", t)
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// get asks for a URL. Redirects go to https only, five at most.
func (s *Store) get(ctx context.Context, address string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", s.conf.Agent)
	c := *s.conf.HTTP
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("more than 5 redirects")
		}
		if r.URL.Scheme != "https" && (!loopback(r.URL.Hostname()) || !loopback(via[0].URL.Hostname())) {
			return errors.New("a redirect to an address that is not https")
		}
		return nil
	}
	res, err := c.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return nil, &fault{fmt.Errorf("%s cannot be reached: %w", clip.Visible(address), err), "look whether the address is right and the network is there"}
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, fmt.Errorf("%s answers %s", clip.Visible(address), clip.Visible(res.Status))
	}
	return res.Body, nil
}

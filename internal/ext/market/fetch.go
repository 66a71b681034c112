package market

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/object"
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
	env := proc.Scrub(s.conf.Environ, []string{"SSH_AUTH_SOCK", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"})
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
	for _, kv := range slices.Backward(s.conf.Environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// run runs a program without a shell, and returns the start of what it prints.
func (s *Store) run(ctx context.Context, dir string, env []string, path string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, path, args...)
	c.Dir, c.Env, c.WaitDelay = dir, env, time.Second
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

// git fetches one commit into a repository of its own, which has no hooks and
// no settings, and reads the files out of it: nothing is checked out, so no
// filter, no attribute and no submodule takes part.
func (s *Store) git(ctx context.Context, src Source, near bool, dir string, t *tree) (string, error) {
	git, err := s.program("git")
	if err != nil {
		return "", err
	}
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
	var said []struct{ Filename, Integrity, Version string }
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

// archive downloads, or copies from this machine.
func (s *Store) archive(ctx context.Context, src Source, file string, t *tree) (string, error) {
	u, err := url.Parse(src.URL)
	if err != nil {
		return "", err
	}
	var in io.ReadCloser
	if u.Scheme == "file" {
		in, _, err = regular.Open(filepath.FromSlash(u.Path))
		if err != nil {
			return "", fmt.Errorf("%s cannot be read: %w", clip.Visible(u.Path), cause(err))
		}
	} else if in, err = s.get(ctx, src.URL); err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.Create(file)
	if err != nil {
		return "", mended(err)
	}
	defer out.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, h), io.LimitReader(in, maxBytes+1))
	switch {
	case err != nil && ctx.Err() == nil:
		return "", fmt.Errorf("%s cannot be fetched: %w", src, mended(err))
	case err != nil:
		return "", context.Cause(ctx)
	case n > maxBytes:
		return "", &hostile{"it is larger than " + clip.Size(maxBytes)}
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if src.SHA != "" && src.SHA != sum {
		return "", &hostile{fmt.Sprintf("what came is not what the marketplace pinned: its SHA-256 is %s, expected %s", sum, src.SHA)}
	}
	if strings.HasSuffix(u.Path, ".zip") {
		err = unzip(out, n, src.Path, t)
	} else {
		err = untar(out, n, src.Path, t)
	}
	return "sha256:" + sum, err
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

// within is a name below the folder that is wanted of an archive; ok is false
// for what is elsewhere.
func within(name, dir string) (string, bool) {
	name = strings.TrimPrefix(name, "./")
	if dir == "" || dir == "." {
		return name, true
	}
	rest, ok := strings.CutPrefix(name, path.Clean(dir)+"/")
	return rest, ok
}

// untar unpacks a compressed tar. npm's packages have all below one folder,
// whatever its name; so do those of most sites when no folder is named.
func untar(f io.ReadSeeker, _ int64, dir string, t *tree) error {
	top, err := topOf(f, dir)
	if err != nil {
		return err
	}
	n := 0
	return eachTar(f, func(h *tar.Header, r io.Reader) error {
		if n++; n > maxFiles {
			return &hostile{fmt.Sprintf("it has more than %s files", clip.Thousands(maxFiles))}
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			return nil
		}
		name, ok := within(h.Name, top)
		if !ok || name == "" {
			return nil
		}
		switch h.Typeflag {
		case tar.TypeDir:
			return t.dir(name)
		case tar.TypeReg:
			return t.file(name, h.Mode&0o111 != 0, r)
		case tar.TypeSymlink:
			return t.link(name, h.Linkname)
		case tar.TypeLink:
			return refuse(h.Name, "is a hard link")
		}
		return refuse(h.Name, "is neither a file nor a folder")
	})
}

// topOf is the one folder that all of an archive is in, unless another is
// wanted.
func topOf(f io.ReadSeeker, dir string) (string, error) {
	if dir != "" && dir != "package" {
		return dir, nil
	}
	top, n := "", 0
	err := eachTar(f, func(h *tar.Header, _ io.Reader) error {
		if n++; n > maxFiles {
			return &hostile{fmt.Sprintf("it has more than %s files", clip.Thousands(maxFiles))}
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			return nil
		}
		top = common(top, h.Name, h.Typeflag == tar.TypeDir)
		return nil
	})
	return strings.Trim(top, "/"), err
}

// common narrows down the folder that all names are in: "" is not known yet,
// "/" is none.
func common(top, name string, dir bool) string {
	name = strings.TrimPrefix(name, "./")
	part, _, below := strings.Cut(name, "/")
	switch {
	case name == "" || part == "." && !below:
		return top
	case !below && !dir || part == "" || strings.HasPrefix(part, ".") || slices.Contains([]string{"skills", "commands", "agents", "hooks"}, part):
		return "/"
	case top == "" || top == part:
		return part
	}
	return "/"
}

func eachTar(f io.ReadSeeker, each func(*tar.Header, io.Reader) error) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return errors.New("it is no tar.gz archive")
	}
	// What a header announces is read even where it is left out.
	r := tar.NewReader(&bounded{r: z, left: maxBytes + maxFiles*1024})
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var bad *hostile
		if errors.As(err, &bad) {
			return err
		}
		if err != nil {
			return errors.New("the archive is broken, or ends too early")
		}
		if err := each(h, r); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) {
				return errors.New("the archive is broken, or ends too early")
			}
			return err
		}
	}
}

// bounded ends a stream that is longer than it may be.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &hostile{"it is larger than " + clip.Size(maxBytes)}
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func unzip(f io.ReaderAt, size int64, dir string, t *tree) error {
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return errors.New("it is no zip archive, or broken")
	}
	if len(z.File) > maxFiles {
		return &hostile{fmt.Sprintf("it has more than %s files", clip.Thousands(maxFiles))}
	}
	top := dir
	if dir == "" {
		for _, e := range z.File {
			top = common(top, e.Name, strings.HasSuffix(e.Name, "/"))
		}
		top = strings.Trim(top, "/")
	}
	for _, e := range z.File {
		name, ok := within(e.Name, top)
		if !ok || name == "" {
			continue
		}
		if err := unzipOne(e, name, t); err != nil {
			return err
		}
	}
	return nil
}

func unzipOne(e *zip.File, name string, t *tree) error {
	mode := e.Mode()
	switch {
	case strings.HasSuffix(name, "/") || mode.IsDir():
		return t.dir(name)
	case mode&fs.ModeSymlink == 0 && !mode.IsRegular():
		return refuse(e.Name, "is neither a file nor a folder")
	}
	r, err := e.Open()
	if err != nil {
		return errors.New("the archive is broken, or packed in a way that is not read")
	}
	defer r.Close()
	if mode&fs.ModeSymlink != 0 {
		target, err := io.ReadAll(io.LimitReader(r, maxPath+1))
		if err != nil {
			return errors.New("the archive is broken")
		}
		return t.link(name, string(target))
	}
	err = t.file(name, mode&0o111 != 0, r)
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the archive is broken, or ends too early")
	}
	return err
}

// cause is an error without the path, which is said beside it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

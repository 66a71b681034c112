package market

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
)

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
			return "", fmt.Errorf("%s cannot be read: %w", clip.Visible(u.Path), paths.Cause(err))
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
	for announced := int64(0); ; {
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
		if announced += h.Size; announced > maxBytes { // nothing of it need be unpacked to see that
			return &hostile{"it is larger than " + clip.Size(maxBytes)}
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

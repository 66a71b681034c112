package place

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
)

// Bounds of an archive that is looked into.
const (
	maxPacked   = 5_000    // entries
	maxUnpacked = 64 << 20 // bytes that come out of one that is compressed as a whole
)

// packed lists the names in an archive, as unzip finds them or as tar does; ok is false for
// one that cannot be looked into, or in which a name leads through a link of its own.
func packed(path string, zipped bool) (names []string, ok bool) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	links := map[string]bool{}
	add := func(name string, link bool) bool {
		if link {
			links[strings.TrimSuffix(name, "/")] = true
		}
		names = append(names, name)
		return len(names) <= maxPacked
	}
	isZip := inZip(f, info.Size(), add)
	if isZip != zipped || !zipped && !inTar(f, add) { // some unpackers would take one that is both for the other
		return nil, false
	}
	for _, n := range names {
		for i, c := range n {
			if c == '/' && links[n[:i]] {
				return nil, false
			}
		}
	}
	return names, true
}

func inZip(f *os.File, size int64, add func(name string, link bool) bool) bool {
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return false
	}
	for _, e := range z.File {
		if !add(e.Name, e.Mode()&fs.ModeSymlink != 0) {
			return false
		}
	}
	return true
}

func inTar(f *os.File, add func(name string, link bool) bool) bool {
	for _, unpack := range []func(io.Reader) (io.Reader, error){
		func(r io.Reader) (io.Reader, error) { return r, nil },
		func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil },
	} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return false
		}
		in, err := unpack(f)
		if err != nil {
			continue
		}
		if in == io.Reader(f) {
			if some, whole := tarNames(in, add); some {
				return whole
			}
			continue
		}
		short := &io.LimitedReader{R: in, N: maxUnpacked}
		if some, whole := tarNames(short, add); some {
			return whole && short.N > 0
		}
	}
	return false
}

// tarNames adds the names in a tar archive: some reports that it is one, whole that all
// could be read.
func tarNames(r io.Reader, add func(name string, link bool) bool) (some, whole bool) {
	for t := tar.NewReader(r); ; some = true {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return some, some
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return some, false
		case !add(h.Name, h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink):
			return true, false
		}
	}
}

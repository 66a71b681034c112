// Package seal marks the lines of a session's log so that a line which adze
// did not write is told from one that it did. It owns the key on disk and the
// form of a mark. It keeps nobody from writing: a program that can read the
// key can forge a mark, and the end of a log can be cut off unnoticed.
package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/adze-agent/adze/internal/disk/safe"
)

// KeyName is the file that holds the key. Its ending is one that permissions
// treat as a secret.
const KeyName = "session.key"

// keySize is in bytes.
const keySize = 32

// Key returns the key that is kept in a folder, and makes it when there is
// none. The folder must exist.
func Key(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	key, err := read(root)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := create(root); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make %s: %w", KeyName, err)
	}
	return read(root) // of several processes one has made it
}

func read(root *os.Root) ([]byte, error) {
	info, err := root.Lstat(KeyName)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: it is no regular file", KeyName)
	}
	if err := private(info); err != nil {
		return nil, fmt.Errorf("read %s: %w", KeyName, err)
	}
	f, err := root.Open(KeyName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, keySize+1))
	if err != nil {
		return nil, err
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("read %s: it has not %d bytes; remove it to have another one made", KeyName, keySize)
	}
	return key, nil
}

// create makes the key. Where there are no hard links, a process that comes in
// the moment before its content is there finds a key that is too short, and
// goes without.
func create(root *os.Root) error {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return safe.Make(root, safe.File{Name: KeyName, Text: key, Mode: 0o600})
}

// A Mark is the mark of a line, as text; the zero Mark is none.
type Mark [22]byte // 16 bytes in base64

const (
	before = `,"mac":"`
	after  = `"}`
	// Size is how many bytes a mark adds to a line.
	Size = len(before) + len(Mark{}) + len(after) - 1
)

// A Sealer makes and checks marks. It is for one goroutine at a time.
type Sealer struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

// New returns a sealer with a key.
func New(key []byte) *Sealer { return &Sealer{mac: hmac.New(sha256.New, key)} }

// mark is the mark of a line without one that comes after a line marked prev.
func (s *Sealer) mark(prev Mark, line []byte) (m Mark) {
	s.mac.Reset()
	s.mac.Write(prev[:])
	s.mac.Write(line)
	base64.RawURLEncoding.Encode(m[:], s.mac.Sum(s.sum[:0])[:16])
	return m
}

// Append marks the line that begins at from in buf, a JSON object without its
// newline. The mark binds it to the mark of the line before it.
func (s *Sealer) Append(buf []byte, from int, prev Mark) ([]byte, Mark) {
	line := buf[from:]
	if n := len(line); n < 3 || line[0] != '{' || line[n-1] != '}' {
		return buf, Mark{} // not ours to change
	}
	m := s.mark(prev, line)
	buf = append(buf[:len(buf)-1], before...)
	buf = append(buf, m[:]...)
	return append(buf, after...), m
}

// Check reports whether m is the mark of a line without one that comes after
// a line marked prev.
func (s *Sealer) Check(prev Mark, line []byte, m Mark) bool {
	want := s.mark(prev, line)
	return m != Mark{} && hmac.Equal(want[:], m[:])
}

// Split takes the mark off a line, which it changes for that; a line without
// a mark stays as it is.
func Split(line []byte) ([]byte, Mark) {
	at := len(line) - Size - 1
	if at < 1 || string(line[at:at+len(before)]) != before || string(line[len(line)-len(after):]) != after {
		return line, Mark{}
	}
	m := Mark(line[at+len(before) : len(line)-len(after)])
	line[at] = '}'
	return line[:at+1], m
}

// Sum is a mark for other content of adze's that a log must not be able to
// stand in for; kind tells such contents apart.
func Sum(key []byte, kind string, content []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(kind + "\x00"))
	mac.Write(content)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Equal compares two sums in constant time.
func Equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

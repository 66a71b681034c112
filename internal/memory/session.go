package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/text/clip"
)

// SessionName is the name of a session's notes, beside its log.
const SessionName = "notes.md"

// sessionBytes bounds what is read of a session's notes.
const sessionBytes = 24_000

// SessionNotes reads the notes of a session: at most sessionBytes of them,
// cleaned. seen is the file as it is on disk. It is an error when they are not
// there, or no regular file.
func SessionNotes(path string) (text string, seen effect.File, err error) {
	st, err := os.Lstat(path)
	if err != nil {
		return "", seen, err
	}
	b, err := confedit.Disk{}.Read(path, maxFile)
	if err != nil {
		return "", seen, err
	}
	sum := sha256.Sum256(b)
	seen = effect.File{Path: path, Size: int64(len(b)), MTime: st.ModTime().UnixNano(), Hash: hex.EncodeToString(sum[:])}
	return clip.Middle(clip.Clean(string(b)), sessionBytes, ""), seen, nil
}

package fulltext

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/adze-agent/adze/internal/event"
)

// A Query asks for sessions with all of some words near each other.
type Query struct {
	// Words are plain words. Where fewer sessions than the limit have them, the
	// last one counts as the beginning of a word as well, from three letters on.
	// Words between double quotes stand next to each other.
	Words   string
	Project string // "" is all
	Limit   int    // of sessions; 0 is 20
}

// A Hit is a session, and the newest place in it that has the words.
type Hit struct {
	ID      string    `json:"session"`
	Project string    `json:"project"`
	Seq     event.Seq `json:"seq"`     // of the first event of that place
	Snippet string    `json:"snippet"` // one line, without control characters
}

const defaultLimit = 20

// snippetWords is how many words a snippet has, about.
const snippetWords = 18

// Search returns the sessions that fit, the one used last first, about. It
// reads what is in the index now: see Update. The error is ErrNone, ErrBusy or
// ErrNewer when there is nothing to search in.
func (f Folder) Search(ctx context.Context, q Query) ([]Hit, error) {
	exact := match(q.Words, false)
	if exact == "" {
		return nil, nil
	}
	x, err := f.open(ctx, false)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	s := search{x, q, map[int64]bool{}, nil}
	err = s.run(ctx, exact)
	if wider := match(q.Words, true); err == nil && len(s.hits) < q.Limit && wider != exact {
		err = s.run(ctx, wider)
	}
	err = errors.Join(err, x.close())
	if errors.Is(err, errBad) {
		return nil, ErrNone
	}
	return s.hits, err
}

// A search collects hits, each session once.
type search struct {
	*index
	q    Query
	seen map[int64]bool // by the number of a session
	hits []Hit
}

// many rows of one stretch are not gone through one by one.
const many = 64

// run adds the sessions that a query of FTS5 finds, up to the limit.
func (s *search) run(ctx context.Context, m string) error {
	m = "words : (" + m + ")"
	if s.q.Project != "" {
		m = "project : " + token(s.q.Project) + " AND " + m
	}
	for below := int64(1<<63 - 1); below > 0 && len(s.hits) < s.q.Limit; {
		rows, next, err := s.places(ctx, m, below)
		if err != nil {
			return fault(err)
		}
		for _, rowid := range rows {
			if err := s.take(ctx, m, rowid); err != nil {
				return fault(err)
			}
			if len(s.hits) == s.q.Limit {
				return nil
			}
		}
		below = next
	}
	return nil
}

// places are the first rows below a rowid, one of each stretch, and where to go
// on from; 0 at the end.
func (s *search) places(ctx context.Context, m string, below int64) (out []int64, next int64, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT rowid FROM doc WHERE doc MATCH ? AND rowid < ? ORDER BY rowid DESC", m, below)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	same, rowid := 0, int64(0)
	for rows.Next() {
		if err := rows.Scan(&rowid); err != nil {
			return nil, 0, err
		}
		switch n := len(out); {
		case n == 0 || out[n-1]>>rowBits != rowid>>rowBits:
			if n == s.q.Limit { // some of them may be of one session
				return out, out[n-1] >> rowBits << rowBits, nil
			}
			out, same = append(out, rowid), 0
		case same == many:
			return out, rowid >> rowBits << rowBits, nil
		default:
			same++
		}
	}
	return out, 0, rows.Err()
}

// take adds the session that a row belongs to, unless it is there.
func (s *search) take(ctx context.Context, m string, rowid int64) error {
	var h Hit
	var session, seq int64
	err := s.db.QueryRowContext(ctx, "SELECT s.n, s.id, s.project FROM stretch t JOIN session s ON s.n = t.session WHERE t.n = ?", rowid>>rowBits).Scan(&session, &h.ID, &h.Project)
	if errors.Is(err, sql.ErrNoRows) || s.seen[session] {
		return nil
	}
	if err != nil {
		return err
	}
	s.seen[session] = true
	err = s.db.QueryRowContext(ctx, "SELECT seq, snippet(doc, 0, '', '', '…', ?) FROM doc WHERE doc MATCH ? AND rowid = ?", snippetWords, m, rowid).Scan(&seq, &h.Snippet)
	if err != nil {
		return err
	}
	h.Seq, h.Snippet = event.Seq(seq), plain(h.Snippet)
	s.hits = append(s.hits, h)
	return nil
}

// plain makes one line of what was kept.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, joint, "")), " ")
}

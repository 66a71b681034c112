package fulltext

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	Project string    `json:"project"` // its key: of a session that works for another one, a path below that one's
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
		if err := s.take(ctx, m, rows); err != nil {
			return fault(err)
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

// take adds the sessions that rows belong to, but for those that are there, up to
// the limit. rows descend.
func (s *search) take(ctx context.Context, m string, rows []int64) error {
	var picks []int64
	for _, rowid := range rows {
		if len(s.hits)+len(picks) == s.q.Limit {
			break
		}
		var session int64
		err := s.db.QueryRowContext(ctx, "SELECT session FROM stretch WHERE n = ?", rowid>>rowBits).Scan(&session)
		if errors.Is(err, sql.ErrNoRows) || err == nil && s.seen[session] {
			continue
		}
		if err != nil {
			return err
		}
		s.seen[session] = true
		picks = append(picks, rowid)
	}
	for len(picks) > 0 {
		n := together(picks)
		if err := s.show(ctx, m, picks[:n]); err != nil {
			return err
		}
		picks = picks[n:]
	}
	return nil
}

// far is how many rows at most are passed by on the way from one pick to the next.
const far = 1024

// together is how many picks one query should show: up to one that may have many
// rows of its stretch below it, and no more than SQLite takes variables.
func together(picks []int64) int {
	for i, rowid := range picks {
		if i+1 == len(picks) || i+1 == 500 || rowid&(1<<rowBits-1) > far {
			return i + 1
		}
	}
	return 0
}

// show adds what is shown of rows. One query goes from the first of them to the last:
// to find the words anew for each costs more than the rows between, most of all
// for the beginning of a word.
func (s *search) show(ctx context.Context, m string, picks []int64) error {
	args := []any{snippetWords, m, picks[len(picks)-1], picks[0]}
	for _, rowid := range picks {
		args = append(args, rowid)
	}
	// The "+" keeps SQLite from looking up each row of the list by itself.
	rows, err := s.db.QueryContext(ctx, "SELECT s.id, s.project, d.seq, d.shown FROM (SELECT rowid AS at, seq, snippet(doc, 0, '', '', '…', ?) AS shown FROM doc WHERE doc MATCH ? AND rowid >= ? AND rowid <= ? AND +rowid IN (?"+
		strings.Repeat(", ?", len(picks)-1)+fmt.Sprintf(")) d CROSS JOIN stretch t ON t.n = d.at >> %d CROSS JOIN session s ON s.n = t.session ORDER BY d.at DESC", rowBits), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var h Hit
		var seq int64
		if err := rows.Scan(&h.ID, &h.Project, &seq, &h.Snippet); err != nil {
			return err
		}
		h.Seq, h.Snippet = event.Seq(seq), oneLine(h.Snippet)
		s.hits = append(s.hits, h)
	}
	return rows.Err()
}

// oneLine makes one line of what was kept.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, joint, "")), " ")
}

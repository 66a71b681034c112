package usage

import "time"

// A Sheet is what one session came to, in quarters of an hour, so that hours
// and days of every time zone can be made of it. Its size grows with the hours
// that a session was worked in and not with what was done in them.
type Sheet struct {
	Requests []Requested `json:"requests,omitempty"`
	Tools    []Worked    `json:"tools,omitempty"`
}

// A Slot is a quarter of an hour, counted from 1970-01-01 00:00 UTC.
type Slot int64

const slot = 15 * 60 // seconds

// At is the slot that a time is in.
func At(t time.Time) Slot {
	s := t.Unix()
	if s < 0 {
		s -= slot - 1
	}
	return Slot(s / slot)
}

// Time is when the slot begins.
func (s Slot) Time() time.Time { return time.Unix(int64(s)*slot, 0) }

// Requested are the requests of a slot to one model for one purpose.
type Requested struct {
	At    Slot   `json:"at"`
	Model string `json:"model"`
	For   string `json:"for,omitempty"` // as in Request
	Spent
}

// Worked are the calls of one tool in a slot.
type Worked struct {
	At   Slot   `json:"at"`
	Tool string `json:"tool"`
	Work
}

// Request adds a request.
func (s *Sheet) Request(t time.Time, r Request) {
	at := At(t)
	for i := len(s.Requests) - 1; i >= 0 && s.Requests[i].At == at; i-- {
		if q := &s.Requests[i]; q.Model == r.Model && q.For == r.For {
			q.Spent = q.Plus(r)
			return
		}
	}
	s.Requests = append(s.Requests, Requested{at, r.Model, r.For, Spent{}.Plus(r)})
}

// Call adds what a tool did.
func (s *Sheet) Call(t time.Time, tool string, w Work) {
	at := At(t)
	for i := len(s.Tools) - 1; i >= 0 && s.Tools[i].At == at; i-- {
		if q := &s.Tools[i]; q.Tool == tool {
			q.Work = q.Add(w)
			return
		}
	}
	s.Tools = append(s.Tools, Worked{at, tool, w})
}

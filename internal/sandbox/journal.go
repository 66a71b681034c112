package sandbox

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/lock"
	"github.com/adze-agent/adze/internal/disk/safe"
)

// A journal says, for the next start, what was there when commands began that
// may be running now: a file that is locked for as long as this process or one
// of the commands lives, and empty between commands. Its time is the last at
// which this process was alive, a slowest look at most before its end.
type journal struct {
	f    *os.File
	last string
}

// A noted is what a journal holds.
type noted struct {
	Writable []string `json:"writable"`
	Surveys  []string `json:"surveys"`
	Gits     []string `json:"gits"`
	Always   []string `json:"always"`
	Home     string   `json:"home"`
	Had      []string `json:"had"`
	// Was stood in folders that the commands take away.
	Was []string `json:"was,omitempty"`
	// Open are the settings that the commands may write.
	Open []setting `json:"open,omitempty"`
	// Since is when the first of the commands began.
	Since time.Time `json:"since"`
}

func newJournal(dir string) (*journal, error) {
	f, err := safe.New(filepath.Join(dir, fmt.Sprintf("%s-%d.journal", rand.Text(), os.Getpid())))
	if err != nil {
		return nil, err
	}
	if err := lock.Exclusive(f, true); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return &journal{f: f}, nil
}

func (j *journal) write(p Policy, had, was []string, open []setting, since time.Time) error {
	b, err := json.Marshal(noted{p.Writable, p.surveys, p.gits, p.always, p.home, had, was, open, since})
	if err != nil {
		return err
	}
	if string(b) == j.last {
		j.beat()
		return nil
	}
	j.clear()
	j.last = "?" // of which some may be there, if the rest cannot be written
	if _, err := j.f.WriteAt(b, 0); err != nil {
		return fmt.Errorf("note what is there before a command runs: %w", err)
	}
	if !exists(j.f.Name()) {
		return fmt.Errorf("note what is there before a command runs: %s is gone", j.f.Name())
	}
	j.last = string(b)
	return nil
}

func (j *journal) clear() {
	if j.last == "" {
		return // it is empty
	}
	_ = j.f.Truncate(0) // an entry that stays is gone through once more
	j.last = ""
}

// beat says that this process is alive.
func (j *journal) beat() {
	now := time.Now()
	_ = os.Chtimes(j.f.Name(), now, now) // without it, less is found after a crash
}

func (j *journal) close() {
	_ = os.Remove(j.f.Name())
	_ = j.f.Close()
}

// recoverFrom settles what commands of processes that were killed left, and
// returns what it found.
func recoverFrom(dir, quarantine string) []Found {
	list, _ := filepath.Glob(filepath.Join(dir, "*.journal"))
	var out []Found
	for _, path := range list {
		found, _ := recoverOne(path, quarantine, false) // one that is locked is alive, and sees to itself
		out = append(out, found...)
	}
	list, _ = filepath.Glob(filepath.Join(dir, "*"+foundSuffix))
	for _, path := range list {
		b, err := readSmall(path)
		var found []Found
		if err == nil && json.Unmarshal(b, &found) == nil && os.Remove(path) == nil {
			out = append(out, found...)
		}
	}
	return out
}

// foundSuffix ends the name of a list of what was found when nobody could be told.
const foundSuffix = ".found"

// Recover quarantines what the commands left that a journal tells of, when its
// process was killed, for the next start to tell of it. Without one there is
// nothing to do.
func Recover(journal string) {
	dir := filepath.Dir(journal)
	found, _ := recoverOne(journal, filepath.Join(dir, "quarantine"), true) // what fails is for the next start
	if len(found) == 0 {
		return
	}
	if b, err := json.Marshal(found); err == nil {
		_ = os.WriteFile(journal+foundSuffix, b, 0o600) // it is in quarantine all the same
	}
}

// afterlife is how long after its last sign a process and its commands can
// have been alive.
const afterlife = slowest + 2*time.Second

// dying bounds the wait for the commands of a process that was killed: the
// kernel ends them after it.
const dying = 5 * time.Second

// lockOfDead takes the lock of a journal whose process is dead, and waits for
// its commands to die. gone is that the process is known to be.
func lockOfDead(f *os.File, gone bool) error {
	_, number, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f.Name()), ".journal"), "-")
	pid, _ := strconv.Atoi(number) // 0 is alive
	for late := time.Now().Add(dying); ; time.Sleep(5 * time.Millisecond) {
		err := lock.Exclusive(f, false)
		if err == nil || !gone && alive(pid) || time.Now().After(late) {
			return err
		}
	}
}

func recoverOne(path, dir string, gone bool) ([]Found, error) {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := lockOfDead(f, gone); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, 8<<20))
	if err != nil {
		return nil, err
	}
	var found []Found
	var e noted
	if json.Unmarshal(b, &e) == nil {
		p := Policy{Writable: e.Writable, surveys: e.Surveys, gits: e.Gits, always: e.Always, home: e.Home}
		t := newAuditor(p, dir, nil)
		r := &started{had: map[string]bool{}, was: map[string]string{}, since: e.Since, settings: e.Open}
		for _, w := range e.Was {
			r.was[w] = ""
		}
		for _, s := range e.Open {
			maps.Copy(t.before, s.Before)
		}
		for _, h := range e.Had {
			r.had[h] = true
		}
		t.runs[r] = true
		t.audit(true, true, func(path string) bool {
			return !oldest(path).After(info.ModTime().Add(afterlife)) // else it was made when no command was left
		})
		found = t.untold
	}
	return found, os.Remove(path)
}

// sweepCovers removes what versions that kept absent paths away with empty
// files left behind when they were killed: what a claim that nobody holds
// names and that is still empty.
func sweepCovers(dir string) {
	list, _ := filepath.Glob(filepath.Join(dir, "*.claim"))
	for _, path := range list {
		f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
		if err != nil {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(f, 1<<20))
		if err == nil && lock.Exclusive(f, false) == nil {
			for _, n := range strings.Split(string(b), "\x00") {
				if filepath.IsAbs(n) {
					removeCover(n)
				}
			}
			_ = os.Remove(path)
		}
		_ = f.Close()
	}
}

func removeCover(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	switch m := info.Mode(); {
	case m.IsRegular():
		b, err := readSmall(path)
		if err != nil || string(b) != ".\n" || m.Perm() != 0o444 || filepath.Base(path) != "commondir" {
			return
		}
	case m&os.ModeSocket != 0 && m.Perm() != 0, !m.IsDir() && m&os.ModeSocket == 0:
		return
	}
	_ = os.Remove(path) // of folders only an empty one
}

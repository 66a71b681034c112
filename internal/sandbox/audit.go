package sandbox

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Found is what a command left under a name that steers other programs, and
// that was moved out of their reach.
type Found struct {
	ID   string `json:"id"`
	Path string `json:"path"` // where it was
	Why  string `json:"why"`  // why it matters
	// At is where it is now; "" when it could not be moved, which Err tells.
	At   string `json:"at"`
	Err  string `json:"err,omitempty"`
	Text string `json:"text,omitempty"` // what it says, bounded
	Told bool   `json:"-"`              // Config.Took heard of it

	before []byte // what is in its place now: what was there before it
}

// An auditor sees to it that nothing a confined command made is what steers
// programs outside: it knows what was there when each command began, looks while they
// run and when each ends, and judges what is new. What is not harmless goes to quarantine.
type auditor struct {
	base    Policy // without the folders that are open to some commands; it does not change
	dir     string // of the quarantine
	stays   func(path string) bool
	took    func(Found) // may be nil
	journal *journal

	about atomic.Pointer[[]string] // the git folders of the last look

	mu       sync.Mutex // guards the fields below
	policy   Policy     // base, with the folders that are open to commands that run
	survey   *survey
	runs     map[*started]bool
	accepted map[string]string    // what was judged, as it was then
	doubtful map[string]suspicion // seen once, by a look while commands run
	untold   []Found
	stop     chan struct{} // ends watch
	watching sync.WaitGroup
	names    *watch.Names  // nil where nobody watches
	cost     time.Duration // of the last look
	swept    time.Time     // when everything was looked at last
	sweep    time.Duration // what that cost
	told     bool          // that not all could be looked at
	says     map[string]said
	before   map[string][]byte // what files said that were replaced while commands ran
	mounts   atomic.Pointer[map[string]bool]
	holders  []holder        // files with secrets, when a command began last
	public   map[string]bool // values in their examples, before the first command
}

// A started is one command.
type started struct {
	since    time.Time
	partial  bool                // not all that was there is in had
	had      map[string]bool     // what steers programs and was there when it began
	todo     map[string][]string // what the lists of rebases, and the like, had to run then
	open     []string            // what it may write, whatever that is
	folders  []string            // that are open to it alone
	gone     []string            // those of them that it takes away
	was      map[string]string   // what stood in folders that it takes away; "" where nobody knows what it was
	settings []setting           // what it may write, and is judged
	kept     []mounted           // what is mounted for it alone
	taken    map[string]int      // how often it was taken away while this runs
	halt     chan string         // ends it, and says why
	exact    bool                // all that it changes was read, and judged before
	takes    int
	halted   bool
}

type suspicion struct {
	stamp string
	since time.Time
}

// An item is a path that steers programs.
type item struct {
	steer conf.Steer // Kind is for git's own
	why   string     // "" for git's own, which are judged by their content
	late  bool       // had does not know it: only its time tells whether it is new
}

// passing reports whether git itself writes what is at an item and goes
// through it, so that only what is left counts.
func (it item) passing() bool {
	return it.why == "" && (it.steer.Kind == conf.Todo || it.steer.Kind == conf.State)
}

func newAuditor(p Policy, dir string, stays func(string) bool) *auditor {
	if stays == nil {
		stays = func(string) bool { return false }
	}
	v := p.seen
	if v == nil {
		v = p.survey()
	}
	return &auditor{
		base: p, policy: p, dir: dir, stays: stays, survey: v,
		runs: map[*started]bool{}, accepted: map[string]string{}, doubtful: map[string]suspicion{}, says: map[string]said{}, before: map[string][]byte{},
	}
}

// items are the paths that steer programs now. Those of a rebase are among
// them, which git itself writes.
func (p Policy) items(s sight) map[string]item {
	out := map[string]item{}
	for _, path := range p.always {
		if exists(path) {
			out[path] = item{why: cmp.Or(policy.RunAtLogin(p.home, path), "the settings protect it, or run it")}
		}
	}
	for _, path := range s.named {
		if filepath.Base(path) == ".gitmodules" {
			out[path] = item{steer: conf.Steer{Path: path, Kind: conf.Modules}}
			continue
		}
		parent, name := filepath.Split(path)
		why := policy.NameProtects(filepath.Base(parent), name, true)
		out[path] = item{why: cmp.Or(why, policy.RunAtLogin(p.home, path), "programs read it")}
	}
	for _, path := range s.kin {
		out[path] = item{why: "version control takes its settings from it, which can run programs"}
	}
	add := func(st conf.Steer) { out[st.Path] = item{steer: st} }
	for _, dot := range s.dots {
		if !isDir(dot) {
			add(conf.Steer{Path: dot, Kind: conf.Pointer})
		}
	}
	for _, g := range s.gits {
		for _, st := range conf.Steers(g, s.holds[g]) {
			add(st)
		}
	}
	for _, st := range p.configured(s) {
		list, err := os.ReadDir(st.Path)
		if err != nil {
			if exists(st.Path) {
				add(st)
			}
			continue
		}
		for _, e := range list {
			add(conf.Steer{Path: filepath.Join(st.Path, e.Name()), Kind: st.Kind})
		}
	}
	for _, path := range s.odd {
		if _, ok := out[path]; !ok {
			out[path] = item{steer: conf.Steer{Path: path, Kind: conf.Strange}, late: true}
		}
	}
	return out
}

// everything is items of what is near, and of all beyond.
func (t *auditor) everything(near sight) map[string]item {
	from := time.Now()
	far := t.survey.all(near)
	out := t.policy.items(near)
	for path, it := range t.policy.items(far) {
		if _, ok := out[path]; !ok {
			it.late = true
			out[path] = it
		}
	}
	if far.more && !t.told {
		t.told = true
		t.untold = append(t.untold, Found{Path: t.survey.roots[0], Err: fmt.Sprintf("it holds more than %d folders, or very many repositories: what commands leave in the furthest is not looked at", t.survey.most)})
	}
	t.swept, t.sweep = time.Now(), time.Since(from)
	return out
}

// begin notes what is there before a command runs that may write what it needs.
func (t *auditor) begin(needs policy.Needs) (*started, sight, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &started{
		since: time.Now().Add(-tick), had: map[string]bool{}, todo: map[string][]string{}, was: map[string]string{}, open: needs.Writable,
		taken: map[string]int{}, halt: make(chan string, 1), exact: needs.Pinned && !needs.Sealed && len(needs.Writable)+len(needs.Settings) == 0,
	}
	for _, f := range needs.Folders {
		if t.contested(f.Path) {
			return nil, sight{}, fmt.Errorf("a command that still runs may put something else in the place of %s; end that command first", f.Path)
		}
		if r.folders = append(r.folders, f.Path); f.Gone {
			r.gone = append(r.gone, f.Path)
		}
	}
	t.spread(r.folders)
	seen := t.survey.look()
	set := t.policy.configured(seen)
	seen.set = &set
	t.arm(seen)
	r.partial = seen.more
	items := t.policy.items(seen)
	for _, s := range needs.Settings {
		r.settings = append(r.settings, t.opened(s, items))
	}
	for path, it := range items {
		switch {
		case it.passing() || it.why == "" && it.steer.Kind == conf.Config:
			r.todo[path] = conf.Runs(it.steer, t.known(seen))
			r.had[path] = !it.passing()
		case !it.late:
			r.had[path] = true
		}
		if r.had[path] && paths.WithinAny(r.gone, path) {
			delete(r.had, path)
			r.was[path] = stampOf(path)
		}
	}
	t.runs[r] = true
	if err := t.note(); err != nil {
		delete(t.runs, r)
		return nil, seen, err
	}
	if len(t.runs) == 1 {
		t.stop = make(chan struct{})
		t.watching.Add(1)
		go t.watch(t.stop, t.came()) // ends with the last command
	}
	return r, seen, nil
}

// contested reports whether a command that runs may change what a path leads to: what is
// opened is mounted by its name. t.mu is held.
func (t *auditor) contested(path string) bool {
	for r := range t.runs {
		if slices.ContainsFunc(r.folders, func(f string) bool { return f != path && paths.Within(f, path) }) {
			return true
		}
	}
	return false
}

// spread has all be looked after that is open to commands, to those that run and to one
// that may write folders; t.mu is held.
func (t *auditor) spread(folders []string) {
	for r := range t.runs {
		folders = slices.Concat(folders, r.folders)
	}
	t.policy = t.base.opening(folders)
	t.survey.roots = t.policy.surveys
}

// reaches reports whether a command could write at a path, as far as folders are open to
// others alone.
func (t *auditor) reaches(r *started, path string) bool {
	return paths.WithinAny(t.base.Writable, path) || paths.WithinAny(r.folders, path) || !paths.WithinAny(t.policy.Writable, path)
}

// came tells of names that came, never where nobody watches.
func (t *auditor) came() <-chan struct{} {
	if t.names == nil {
		return nil
	}
	return t.names.Came()
}

// lock is the journal, whose lock a command holds as well.
func (t *auditor) lock() *os.File {
	if t.journal == nil {
		return nil
	}
	return t.journal.f
}

// note writes down what is there, for the next start if this process is
// killed; t.mu is held.
func (t *auditor) note() error {
	if t.journal == nil {
		return nil
	}
	var had map[string]bool
	var open []setting
	var was []string
	var since time.Time
	for r := range t.doubted() {
		open = append(open, r.settings...)
		if since.IsZero() || r.since.Before(since) {
			since = r.since
		}
		if had == nil {
			had = map[string]bool{}
		}
		maps.Copy(had, r.had)
		was = slices.AppendSeq(was, maps.Keys(r.was))
	}
	if since.IsZero() {
		return nil
	}
	for r := range t.doubted() {
		maps.DeleteFunc(had, func(p string, _ bool) bool { return !r.had[p] && t.reaches(r, p) })
	}
	return t.journal.write(t.policy, slices.Sorted(maps.Keys(had)), slices.Sorted(slices.Values(was)), open, since)
}

// began is when the first of the commands began.
func (t *auditor) began() (first time.Time) {
	for r := range t.runs {
		if first.IsZero() || r.since.Before(first) {
			first = r.since
		}
	}
	return first
}

// end settles what a command left, when no process of it runs any more.
func (t *auditor) end(r *started) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.runs[r] {
		return
	}
	t.lost()
	t.audit(true, !r.exact, every)
	delete(t.runs, r)
	if r.halted && len(t.runs) == 0 { // else it may be another's
		r.unlock()
	}
	if len(r.folders) > 0 {
		t.spread(nil)
		_ = t.note() // else the next start looks for more than could be made
	}
	if len(t.runs) > 0 {
		return
	}
	close(t.stop)
	clear(t.accepted)
	clear(t.doubtful)
	clear(t.before)
	if t.journal != nil {
		t.journal.clear()
	}
}

// audit judges what is new to a command that runs, or ends. final is at an
// end: what is seen is what stays. all is to look at everything. mine says which
// paths are a command's at all, which only the next start cannot know otherwise.
// It reports whether anything was new; t.mu is held.
func (t *auditor) audit(final, all bool, mine func(path string) bool) (news bool) {
	from := time.Now()
	t.survey.since = t.began()
	defer func() { t.survey.since = time.Time{} }()
	seen := t.survey.look()
	t.arm(seen)
	t.cost = time.Since(from)
	var items map[string]item
	if all {
		items = t.everything(seen)
	} else {
		items = t.policy.items(seen)
	}
	known := t.known(seen)
	t.restore()
	for _, path := range slices.Sorted(maps.Keys(items)) {
		it := items[path]
		if !t.suspect(path, it, final) || !mine(path) {
			continue
		}
		stamp := stampOf(path)
		if stamp == "" || t.accepted[path] == stamp {
			continue
		}
		news = true
		why := t.why(path, it, known)
		if why == "" || t.stays(path) && !paths.WithinAny(t.policy.denied, path) || t.asBefore(path) || it.why != "" && t.copied(path, seen) {
			t.accepted[path] = stamp
			continue
		}
		if !final && !t.strays(path, why) && t.wait(path, it, stamp) {
			continue
		}
		f := t.take(path, why)
		if !final {
			if f.Told = t.took != nil; f.Told {
				t.took(f)
			}
			t.again(path)
		}
		t.untold = append(t.untold, f)
	}
	return news
}

// known are the git folders that are looked at themselves.
func (t *auditor) known(seen sight) []string {
	return slices.Concat(seen.gits, t.policy.gits)
}

func every(string) bool { return true }

// wait reports whether what is at path may still be half written.
func (t *auditor) wait(path string, it item, stamp string) bool {
	if it.why == "" && it.steer.Kind == conf.CommonDir && filepath.Base(filepath.Dir(filepath.Dir(path))) != "worktrees" {
		return false // git makes none there, so there is nothing to wait for
	}
	for r := range t.runs {
		if r.taken[path] > 0 {
			return false
		}
	}
	d, ok := t.doubtful[path]
	if !ok {
		t.doubtful[path] = suspicion{stamp, time.Now()}
		return true
	}
	if d.stamp == stamp || time.Since(d.since) > firm {
		delete(t.doubtful, path)
		return false
	}
	t.doubtful[path] = suspicion{stamp, d.since}
	return true
}

// take moves what is at path to quarantine.
func (t *auditor) take(path, why string) Found {
	f := Found{ID: shortID(), Path: path, Why: why}
	at, err := quarantine(t.dir, f.ID, path)
	if err != nil {
		f.Err = err.Error()
		return f
	}
	f.At = at
	f.Text = preview(at)
	t.putBack(&f)
	_ = writeAbout(t.dir, f) // for a person who looks; the move is what counts
	return f
}

// Found are the things that were moved to quarantine and not yet told of.
func (s *Sandbox) Found() []Found {
	if s.auditor == nil {
		return nil
	}
	s.auditor.mu.Lock()
	defer s.auditor.mu.Unlock()
	out := s.auditor.untold
	s.auditor.untold = nil
	return out
}

// Keep puts back what was found, as it was when it was found. Something that
// is in its place now stays, and is an error.
func (s *Sandbox) Keep(f Found) error {
	t := s.auditor
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.At == "" {
		return fmt.Errorf("keep %s: it was never moved: %s", f.Path, f.Err)
	}
	if b, err := readSmall(f.Path); f.before != nil && err == nil && bytes.Equal(b, f.before) {
		_ = os.Remove(f.Path) // else release says so
	}
	if err := release(t.dir, f); err != nil {
		return fmt.Errorf("keep %s: %w", f.Path, err)
	}
	t.accepted[f.Path] = stampOf(f.Path)
	return nil
}

// Outside has f write paths that steer programs, while commands may run: what
// it leaves there was not made by one of them. f must be quick.
func (s *Sandbox) Outside(files []string, f func() error) error {
	t := s.auditor
	if t == nil {
		return f()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	err := f()
	if len(t.runs) == 0 {
		return err
	}
	for q := range t.policy.items(t.survey.look()) {
		if slices.ContainsFunc(files, func(p string) bool { return paths.Within(p, q) || paths.Within(q, p) }) {
			t.accepted[q] = stampOf(q)
		}
	}
	return err
}

func (t *auditor) close() {
	defer t.disarm()
	t.mu.Lock()
	if len(t.runs) > 0 { // a command that was never started, or is ending now
		clear(t.runs)
		close(t.stop)
	}
	t.mu.Unlock()
	t.watching.Wait()
	if t.journal != nil {
		t.journal.close()
	}
}

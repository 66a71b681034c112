package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An escape is one way out that must be closed. Most are a verb and a place.
type escape struct {
	name, what string
	is         trait
	// do is tried inside with at and to; nil means that it worked. In a place $/ is the
	// scene's root and /#/ the process number of adze. to may be a text.
	do     func(at, to string) error
	at, to string
	// aim is tried inside with a process: adze, or the one that a trait says.
	aim func(pid int) error
	// run is tried inside where neither says it.
	run func(sc *scene) error
	// after, if any, makes the scene ready to be looked at from outside.
	after func(sc *scene)
}

// A trait is what holds for an escape beside how it is tried.
type trait int

const (
	kept     trait = 1 << iota // what is at at must be afterwards what the scene had there: its content, or nothing
	keptTo                     // the same of to
	modest                     // what is at at must not be setuid or setgid afterwards
	weak                       // landlock does not promise this
	dies                       // the try may be killed
	harmless                   // harmless without a sandbox, where it must succeed
	settled                    // it may work while the command runs; what is left afterwards counts
	silent                     // what the try itself says does not count, but what is seen afterwards or by the next
	first                      // it aims at the first process inside
	ours                       // it is tried only where the first process inside is adze
	beside                     // it aims at a command in the background, which runs meanwhile
	// planted is to make something come into being that steers programs outside.
	planted = settled | harmless | kept
	// guarded is at what a mount protects.
	guarded = weak | harmless | kept
)

// has reports whether an escape has all of some traits.
func (e escape) has(t trait) bool { return e.is&t == t }

// errNothing says that a try had no effect, without an error to show.
var errNothing = errors.New("no effect")

// allEscapes is the whole table. What destroys a repository where it is not
// stopped comes last.
func allEscapes() []escape {
	return slices.Concat(settledEscapes, escapes, nurseryEscapes, roomEscapes, cacheEscapes, modeEscapes)
}

// inside is the try itself, in the sandbox.
func (e escape) inside(sc *scene) error {
	if e.has(ours) {
		// Another program has nothing in its memory but what the command has, too.
		if b, err := os.ReadFile("/proc/1/comm"); err != nil || string(b) != "adze\n" {
			return fmt.Errorf("skip: the first process is %q", b)
		}
	}
	pid := sc.Parent
	if e.has(first) {
		pid = 1
	}
	if e.has(beside) {
		if pid = victimPID(); pid == 0 {
			return errors.New("skip: it sees no other command")
		}
	}
	var err error
	switch {
	case e.do != nil:
		err = e.do(sc.place(e.at), sc.place(e.to))
	case e.aim != nil:
		err = e.aim(pid)
	default:
		err = e.run(sc)
	}
	if e.has(silent) && (err == nil || !strings.HasPrefix(err.Error(), "skip: ")) {
		return errors.Join(err, errNothing)
	}
	return err
}

// place is a path of the table in this scene.
func (sc *scene) place(s string) string {
	return strings.NewReplacer("$/", sc.Root+"/", "/#/", fmt.Sprintf("/%d/", sc.Parent)).Replace(s)
}

// same is the place that must not change; "" is none.
func (e escape) same() string {
	switch {
	case e.has(kept):
		return e.at
	case e.has(keptTo):
		return e.to
	}
	return ""
}

// changed looks from outside whether a try had an effect; "" is none.
func (sc *scene) changed(e escape) string {
	if e.after != nil {
		e.after(sc)
	}
	if was := sc.was[e.same()]; sc.look(e.same()) != was {
		if was == "" {
			return sc.place(e.same()) + " is there"
		}
		return sc.place(e.same()) + " was changed"
	}
	if fi, err := os.Lstat(sc.place(e.at)); e.has(modest) && err == nil && fi.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		return strings.TrimPrefix(fi.Mode().String(), "-") + " " + filepath.Base(e.at)
	}
	return ""
}

// look says what is at a place: "" if nothing is.
func (sc *scene) look(place string) string {
	path := sc.place(place)
	fi, err := os.Lstat(path)
	switch {
	case err != nil:
		return ""
	case fi.Mode().IsRegular():
		b, err := os.ReadFile(path)
		return fmt.Sprintf("%q %v", b, err)
	case fi.Mode().Type() == fs.ModeSymlink:
		to, err := os.Readlink(path)
		return fmt.Sprintf("-> %q %v", to, err)
	}
	return fi.Mode().Type().String()
}

// The verbs. Each makes, changes or opens what is at at.

func create(at, _ string) error {
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString("escaped")
	return errors.Join(err, f.Close())
}

// plant writes a text and the folders above it.
func plant(at, text string) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, []byte(text), 0o755)
}

// plantRepo makes a folder a repository whose settings run a program.
func plantRepo(at string) error {
	return errors.Join(plant(at+"/HEAD", "ref: refs/heads/main\n"), plant(at+"/objects/x", ""), plant(at+"/refs/x", ""), plant(at+"/config", evil))
}

// plantLink makes at a link to to, whatever was there.
func plantLink(at, to string) error {
	_ = os.RemoveAll(at)
	return errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at))
}

// replaceLink renames a new link over one.
func replaceLink(at, to string) error {
	if err := os.Symlink(to, at+".new"); err != nil {
		return fmt.Errorf("beside it: %w", err)
	}
	return os.Rename(at+".new", at)
}

// createThrough writes to a file by a link to it at to, and readThrough reads the file
// below a folder so.
func createThrough(at, to string) error {
	if err := os.Symlink(at, to); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	return create(to, "")
}

func readThrough(at, to string) error {
	if err := os.Symlink(filepath.Dir(at), to); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	return read(filepath.Join(to, filepath.Base(at)), "")
}

func remove(at, _ string) error { return os.Remove(at) }

func read(at, _ string) error {
	_, err := os.ReadFile(at)
	return err
}

// readUnlocked reads a file, and createUnlocked writes one, after a try at the mode of its
// folder.
func readUnlocked(at, _ string) error {
	_ = os.Chmod(filepath.Dir(at), 0o777)
	return read(at, "")
}

func createUnlocked(at, _ string) error {
	_ = os.Chmod(filepath.Dir(at), 0o777)
	return create(at, "")
}

func openToWrite(at, _ string) error { return openAs(at, os.O_RDWR) }

func unmount(at, _ string) error { return unix.Unmount(at, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) }

// dial connects to to; at is the network.
func dial(at, to string) error {
	c, err := net.DialTimeout(at, to, 2*time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// script runs a script; at is what it may leave.
func script(_, text string) error { return exec.Command("sh", "-c", text).Run() }

// What several tries share.

func openAs(path string, flag int) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func call(nr uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, e := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if e != 0 {
		return e
	}
	return nil
}

func zero(s string) uintptr {
	p, _ := unix.BytePtrFromString(s)
	return uintptr(unsafe.Pointer(p))
}

// closed closes a descriptor that could be had.
func closed(fd int, err error) error {
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func socket(domain, kind, protocol int) error { return closed(unix.Socket(domain, kind, protocol)) }

func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("skip: " + name + " is not installed")
	}
	if err != nil {
		return fmt.Errorf("%s: %s", name, strings.TrimSpace(string(out)))
	}
	return nil
}

// writeMemory writes a byte of a process where this one has one.
func writeMemory(pid int) error {
	b := []byte{0}
	v := unix.Iovec{Base: &b[0], Len: 1}
	return call(unix.SYS_PROCESS_VM_WRITEV, uintptr(pid), uintptr(unsafe.Pointer(&v)), 1, uintptr(unsafe.Pointer(&v)), 1, 0)
}

// takeFile takes a descriptor of a process.
func takeFile(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := call(unix.SYS_PIDFD_GETFD, uintptr(fd), 0, 0); err == nil {
		return nil
	}
	return call(unix.SYS_PIDFD_GETFD, uintptr(fd), 1, 0)
}

// endFirst ends the first process inside, with which this one would end.
func endFirst(*scene) error {
	for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGKILL, unix.SIGSTOP} {
		if err := unix.Kill(1, s); err != nil {
			return err
		}
	}
	time.Sleep(20 * time.Millisecond)
	return errNothing
}

// openMemory opens what shows the memory of a process.
func openMemory(pid int) error { return openAny(pid, "mem", "map_files", "auxv", "syscall", "stack") }

// openAny opens the first of several files of a process that can be opened.
func openAny(pid int, names ...string) error {
	var errs []error
	for _, n := range names {
		f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/" + n)
		if err == nil {
			_, err = f.Readdirnames(1)
			_ = f.Close()
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// victim is a command in the background that others of its room try to get into.
const victim = "sleep 61"

// victimPID is the number of the victim, 0 if it cannot be seen.
func victimPID() int {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range list {
		if b, err := os.ReadFile(path); err == nil && strings.HasSuffix(strings.ReplaceAll(string(b), "\x00", " "), victim+" ") { // or the shell that becomes it
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return pid
		}
	}
	return 0
}

// inCache does something to an entry of the build cache inside; what became of
// the person's own, the look afterwards tells.
func inCache(f func(entry string) error) error {
	dir := os.Getenv("GOCACHE")
	if dir == "" {
		return errors.New("skip: there is no build cache inside")
	}
	return f(filepath.Join(dir, "ab", "entry"))
}

// ipc finds or makes objects of System V, which one try leaves for the next.
func ipc(flags uintptr) (errs [3]error) {
	const key = 0x61647a65
	return [3]error{call(unix.SYS_SHMGET, key, 1, flags), call(unix.SYS_SEMGET, key, 1, flags), call(unix.SYS_MSGGET, key, flags)}
}

func openQueue(flags uintptr) error {
	fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, zero("adze-left"), flags, 0o666, 0, 0, 0)
	if e != 0 {
		return e
	}
	return unix.Close(int(fd))
}

// datagram sends one; with refused, an answer that nobody is there is an error.
func datagram(address string, refused bool) error {
	c, err := net.Dial("udp4", address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte("x")); err != nil || !refused {
		return err
	}
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, unix.ECONNREFUSED) {
		return err // another network
	}
	return nil
}

// enter enters a namespace.
func enter(at, _ string) error {
	fd, err := unix.Open(at, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, 0)
}

// throughProxy asks the proxy of the sandbox for a tunnel.
func throughProxy(host string, port int) error {
	address, ok := strings.CutPrefix(os.Getenv("HTTPS_PROXY"), "http://")
	if !ok {
		return errors.New("there is no proxy")
	}
	c, err := net.DialTimeout("tcp4", address, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(c, "CONNECT %s:%d HTTP/1.1\r\nHost: x\r\n\r\n", host, port); err != nil {
		return err
	}
	var b [512]byte
	n, err := c.Read(b[:])
	if err != nil {
		return err
	}
	if line, _, _ := strings.Cut(string(b[:n]), "\r\n"); !strings.Contains(line, " 200 ") {
		return errors.New(line)
	}
	return nil
}

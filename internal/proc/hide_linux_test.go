package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// What a program started with is not in /proc for others of its user, and the
// program has it all the same; it can start itself again.
func TestHide(t *testing.T) {
	const secret = "sk-plain-0123456789"
	if os.Getenv("HIDE") == "self" {
		Hide()
		dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		self, serr := os.Executable()
		again := exec.Command("/proc/self/exe", "-test.run=^$")
		fmt.Println(dumpable, err, self != "" && serr == nil, os.Getenv("THE_KEY") == secret, again.Run())
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the test has looked
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestHide$")
	cmd.Env = []string{"HIDE=self", "THE_KEY=" + secret, "LAST=1", "GOCOVERDIR=" + t.TempDir()}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if want := "0 <nil> true true <nil>\n"; line != want {
		t.Fatalf("%q, want %q: %v", line, want, err)
	}
	dir := fmt.Sprintf("/proc/%d/", cmd.Process.Pid)
	if b, err := os.ReadFile(dir + "environ"); bytes.Contains(b, []byte("=")) {
		t.Errorf("%q %v", b, err)
	}
	if os.Geteuid() == 0 {
		return // may look into everything
	}
	if f, err := os.Open(dir + "mem"); err == nil {
		f.Close()
		t.Error("its memory can be read")
	}
}

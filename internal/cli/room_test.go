package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// An error of a program that a signal of the person's ended is that end, whatever it
// says and whatever would help otherwise.
func TestSignalEndsIt(t *testing.T) {
	for sig, want := range map[os.Signal]failure{os.Interrupt: {exitInterrupted, "interrupted", ""}, os.Kill: {exitOf(os.Kill), "received killed", ""}} {
		if f := sorted(fmt.Errorf("x.git cannot be fetched: %w", caught{sig})); *f != want {
			t.Errorf("%v: %+v", sig, *f)
		}
	}
}

func TestDiskFaults(t *testing.T) {
	if f := sorted(&failure{exitAuth, "write /h/credentials.json: no space left on device", "log in again"}); f.code != exitFailed {
		t.Errorf("a key that finds no room ends with %d", f.code)
	}
	at := func(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }
	const room, other = "make room on that disk; nothing that was there is lost", "make it writable, or name another folder; ADZE_HOME=FOLDER is where adze keeps its files"
	for _, c := range []struct {
		err         error
		cause, hint string
	}{
		{failf("adze config check shows what is wrong with it", "change /h/settings.json: %v", fmt.Errorf("writing /h/settings.json: %w", at("write", "/h/settings.json.lock", syscall.ENOSPC))),
			"change /h/settings.json: no space left on device", room},
		{at("write", "/h/x.md", syscall.ENOSPC), "write /h/x.md: no space left on device", room},
		{fmt.Errorf("remove session x: %w", at("openat", "lock", syscall.EROFS)), "remove session x: openat lock: read-only file system", other},
		{failf("end other searches and try again", "make the search index: %v", errors.Join(at("remove", "/a", syscall.EROFS), at("remove", "/a-wal", syscall.EROFS))),
			"make the search index: remove /a: read-only file system", other},
		{failf("end other searches", "make the search index: database or disk is full (13)"), "make the search index: no space left on device", room},
		{failf("make room, or --no-session", "it is kept nowhere: no space left on device"), "it is kept nowhere: no space left on device", "make room, or --no-session"},
		{failf("adze config check shows what is wrong with it", "change /h/settings.json: %v", fmt.Errorf("writing /h/settings.json: %w", at("openat", "settings.json.lock", syscall.EACCES))),
			"change /h/settings.json: permission denied", "look at its owner and its rights: ls -ld; ADZE_HOME=FOLDER is where adze keeps its files"},
		{failf("give another one", "read x: %v", at("open", "x", syscall.EACCES)), "read x: open x: permission denied", "give another one"},
		{failf("set ADZE_HOME", "writing x: %v", at("open", "x.lock", syscall.EROFS)), "writing x: open x.lock: read-only file system", "set ADZE_HOME"},
		{failf("try again", "it broke"), "it broke", "try again"},
	} {
		if f := sorted(c.err); f.cause != c.cause || f.hint != c.hint {
			t.Errorf("%v is told as %q, hint %q", c.err, f.cause, f.hint)
		}
	}
}

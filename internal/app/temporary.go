package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/adze-agent/adze/internal/disk/temp"
)

// temporary are the folders for temporary files. Commands in the sandbox write
// in inside, and nothing that is not confined makes or opens a file there by
// its name; TMPDIR of all other commands is outside.
type temporary struct {
	all, inside, outside string
	home                 string       // holds those of all sessions; "" where it can be had for none
	folder               *temp.Folder // all
	swept                func()       // ends the search for folders of dead sessions
}

// makeTemp makes the folder for temporary files in root, or where that is not possible in one that
// every machine has; in is which. It removes those of dead sessions beside it meanwhile.
func makeTemp(ctx context.Context, root string) (made temporary, in string, err error) {
	folder, home, root, err := temp.MakeSomewhere(append([]string{root}, temp.Others(runtime.GOOS)...))
	if err != nil {
		return temporary{}, "", err
	}
	t := temporary{home: home, folder: folder, all: folder.Path, inside: filepath.Join(folder.Path, "in"), outside: filepath.Join(folder.Path, "out")}
	for _, dir := range []string{t.inside, t.outside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return t, "", errors.Join(err, folder.Remove())
		}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { // ends after all folders, or with remove
		defer close(done)
		temp.Sweep(ctx, root) // of older versions, and where there is no home
		if home != "" {
			temp.Sweep(ctx, home)
		}
	}()
	t.swept = func() {
		select {
		case <-done:
		case <-time.After(time.Second): // there is much; the next start goes on
		}
		stop()
		<-done
	}
	return t, root, nil
}

func (t temporary) remove() {
	t.swept()
	_ = t.folder.Remove()
}

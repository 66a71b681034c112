package cli_test

import (
	"database/sql"
	"errors"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// sqliteBase makes a database of a file with SQL: sqlite FILE DATABASE.
func sqliteBase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite FILE DATABASE")
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(ts.MkAbs(args[1])))
	ts.Check(err)
	_, err = db.Exec(ts.ReadFile(args[0]))
	ts.Check(errors.Join(err, db.Close()))
}

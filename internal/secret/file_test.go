package secret

import (
	"slices"
	"strings"
	"testing"
)

// TestValues: what of a file with secrets is one.
func TestValues(t *testing.T) {
	got := Values(`# SOME_KEY=notthisone
NODE_ENV=development
PORT=3000
LONG_NUMBER=1234567890
NAME=my service name
API_URL=https://api.example.com/v1
DB_HOST=db.internal.example.com:5432
MAIL=someone@example.com
DATA=/var/lib/data/things
A_PASSWORD=envsecretvalue
export TOKEN="ab12 cd34#ef56" # a comment
SHORT_KEY=abc
WEBHOOK=https://h.example.com/x?sig=9f8e7d6c5b4a
DATABASE_URL=postgres://me:hunter2hunter2@db/app
ODD=zQ93jf02mfLs03
ENABLE_AUTH=true
  "client_secret": "jsonsecret99",
api_key: yamlsecret77
//registry.example.com/:_authToken=npmsecret_1234
KEY_FILE=/home/u/key.pem
DEBUG_COLORS=red green blue`)
	want := []string{"ab12 cd34#ef56", "envsecretvalue", "https://h.example.com/x?sig=9f8e7d6c5b4a", "hunter2hunter2", "jsonsecret99", "npmsecret_1234", "postgres://me:hunter2hunter2@db/app", "yamlsecret77", "zQ93jf02mfLs03"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestFiles: what is in files is hidden beside what a redactor hides already, also what it
// is told later.
func TestFiles(t *testing.T) {
	r := New("basesecret")
	files := map[string]string{".env": "A_TOKEN=filesecret"}
	of := r.Files(files)
	if got := of.String("basesecret filesecret"); strings.Contains(got, "secret") {
		t.Error(got)
	}
	if got := r.String("filesecret"); got != "filesecret" {
		t.Errorf("it stays hidden: %s", got)
	}
	if r.Files(files) != of {
		t.Error("it is made anew")
	}
	r.Add("latersecret")
	if got := r.Files(files).String("latersecret filesecret"); strings.Contains(got, "secret") {
		t.Error(got)
	}
	if r.Files(map[string]string{".env": "PORT=3000"}) != r {
		t.Error("a file without secrets makes another redactor")
	}
}

package secret

import (
	"slices"
	"strings"
	"testing"
)

// TestValues: what of a file with secrets is one.
func TestValues(t *testing.T) {
	got := Values(".env", `# SOME_KEY=notthisone
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

// TestValuesOfKinds: values in the forms of many kinds of files.
func TestValuesOfKinds(t *testing.T) {
	const a, b = "aB3-Xk29fjwq8", "cD4-Yl30gkxr9"
	for _, c := range []struct {
		file, text string
		want       []string
	}{
		{".netrc", "machine h.example login bob password " + a + " machine i.example login password password " + b, []string{a, b}},
		{".netrc", "machine h.example\n  login bob\n  password " + a + "\n", []string{a}},
		{".pgpass", "db.example:5432:app:me:" + a + "\n", []string{a}},
		{"config/master.key", a + "\n", []string{a}},
		{"config/master.key", "AAAABBBBcccc1234==\n", []string{"AAAABBBBcccc1234=="}},
		{".vault_pass", "justletterspassword\n", []string{"justletterspassword"}},
		{"passwords.txt", a + "\r\n" + b + "\r\n", []string{a, b}},
		{".envrc", "use_flake\n", nil},
		{".env", "PORT=30000000\n", nil},
		{"x.key", "-----BEGIN CERTIFICATE-----\nMIIBXk29fjwq8\n-----END CERTIFICATE-----\n", nil},
		{"x.p12", "\x00binary-" + a, nil},
		{"client_secret.json", `{"installed":{"client_id":"my-app-id","client_secret":"` + a + `"},"n":[1,null,true]}`, []string{a}},
		{"secrets.json", `{"api_keys":["` + a + `","` + b + `"],"url":"https://h.example/v1","note":"plain words of text"}`, []string{a, b}},
		{"terraform.tfstate", `{"version":4,"resources":[{"instances":[{"attributes":{"password":"` + a + `","id":"i-0123456789abcdef0"}}]}],"outputs":{"db_password":{"value":"` + b + `"}}}`, []string{a, b}},
		{".docker/config.json", `{"auths":{"https://index.docker.io/v1/":{"auth":"Ym9iOmFCMy1YazI5Zmp3cTg="}}}`, []string{"Ym9iOmFCMy1YazI5Zmp3cTg=", a}},
		{"secrets.json", `{"a_token": "` + a + `", // not JSON`, []string{a}},
		{"secrets.yml", "production:\n  keys:\n    - " + a + "\n    - lettersonly\n  cert: |\n    " + b + "\n    some words of text\n", []string{a, b, "lettersonly"}},
		{"secrets.yml", "keys:\n- " + a + "\nother:\n- lettersonly\nusers:\n- name: somebody\n  token: " + b + "\n", []string{a, b}},
		{"secrets.yml", "api: {token: '" + a + "', host: 'h.example.com'}\nkeys: [\"" + b + "\"]\n", []string{a, b}},
		{"secrets.toml", "[db]\npassword = \"" + a + "\"\nkeys = ['" + b + "']\n", []string{a, b}},
		{".env", "SENTRY_DSN=https://" + a + "@sentry.example/12\nREPO=https://somebody@git.example/x\n", []string{a}},
		{".env", "AUTH_PROVIDER=keycloak\nTOKEN_ALGORITHM=hmacsha\nSECRET=lettersonly\n", []string{"lettersonly"}},
		{".env", "DB_PASSWORD=postgres\nDATABASE_URL=postgres://postgres:postgres@db.example/app\nA_TOKEN=${OTHER_TOKEN}\nB_KEY=your-key-here\nC_KEY=<your key>\n", []string{"postgres://postgres:postgres@db.example/app"}},
	} {
		if got := Values(c.file, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q gives %q, want %q", c.file, c.text, got, c.want)
		}
	}
}

// TestWith: values are hidden beside what a redactor hides already, also what it
// is told later.
func TestWith(t *testing.T) {
	r := New("basesecret")
	values := []string{"filesecret"}
	of := r.With(values)
	if got := of.String("basesecret filesecret"); strings.Contains(got, "secret") {
		t.Error(got)
	}
	if got := r.String("filesecret"); got != "filesecret" {
		t.Errorf("it stays hidden: %s", got)
	}
	if r.With(values) != of {
		t.Error("it is made anew")
	}
	r.Add("latersecret")
	if got := r.With(values).String("latersecret filesecret"); strings.Contains(got, "secret") {
		t.Error(got)
	}
	if r.With([]string{"short"}) != r {
		t.Error("no value makes another redactor")
	}
}

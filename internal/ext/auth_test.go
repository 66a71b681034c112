package ext

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext/mcp/oauth"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/hint"
)

func configured(t *testing.T, raw string) servers.Server {
	t.Helper()
	set := servers.Load(servers.Sources{Config: &config.Config{}, Given: []servers.Given{{Name: "x", JSON: json.RawMessage(raw)}}})
	if len(set.Servers) != 1 || set.Servers[0].Problem != "" {
		t.Fatalf("%+v", set)
	}
	return set.Servers[0]
}

func TestSignInSettings(t *testing.T) {
	got := SignInSettings(configured(t, `{"type":"http","url":"https://h/mcp","oauth":{"clientId":"a","callbackPort":1,"authServerMetadataUrl":"https://m","scopes":["s"],
		"flow":"cross_app","clientSecret":"${S}","privateKey":"${K}","idp":{"issuer":"https://i","clientId":"b","clientSecret":"${I}","callbackPort":2,"scopes":["t"]}}}`))
	want := oauth.Settings{
		Name: "x", ServerURL: "https://h/mcp", ClientID: "a", ClientSecretRef: "${S}", PrivateKeyRef: "${K}", CallbackPort: 1, MetadataURL: "https://m", Scopes: []string{"s"},
		Flow: oauth.CrossApp, IdP: oauth.IdP{Issuer: "https://i", ClientID: "b", ClientSecretRef: "${I}", Scopes: []string{"t"}, CallbackPort: 2},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	v := reflect.ValueOf(got)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set by any configuration", v.Type().Field(i).Name)
		}
	}
}

// A secret is read from its variable when it is used, and no earlier.
func TestSecretsAreVariables(t *testing.T) {
	var as *httptest.Server
	as = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch _, pass, _ := r.BasicAuth(); {
		case strings.HasSuffix(r.URL.Path, "/oauth-authorization-server"):
			fmt.Fprintf(w, `{"issuer":%q,"token_endpoint":%q}`, as.URL, as.URL+"/token")
		case r.URL.Path == "/token" && pass == "s3cret":
			fmt.Fprint(w, `{"access_token":"t","token_type":"bearer"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer as.Close()
	env := map[string]string{"ADZE_KEYRING": "off"}
	c := SignIn(settings.Paths{Folders: config.Folders{State: t.TempDir()}}, func(name string) string { return env[name] }, oauth.Config{})
	defer c.Close()
	s := SignInSettings(configured(t, `{"type":"http","url":"`+as.URL+`/mcp","oauth":{"clientId":"a","flow":"client_credentials","clientSecret":"${S}"}}`))
	err := c.Login(t.Context(), s, nil)
	if err == nil || !strings.Contains(err.Error(), "the variable S, which holds it, is not set") || !strings.Contains(hint.Of(err), "set S") {
		t.Errorf("%v", err)
	}
	env["S"] = "s3cret"
	if err := c.Login(t.Context(), s, nil); err != nil {
		t.Error(err)
	}
	if st, err := c.Status(t.Context(), s); err != nil || !st.SignedIn {
		t.Errorf("%+v %v", st, err)
	}
}

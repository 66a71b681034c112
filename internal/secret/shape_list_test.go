package secret_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/secret"
)

// Every kind of key that has a row is masked alone, behind a name and inside quotes, and
// not when it is cut short, stands inside of another word, or is an ordinary name, a
// number or a hash that begins alike.
func TestServices(t *testing.T) {
	mix, low, hex40 := "Ab3dEfGh1jKlMn0pQrStUvWxYz0123456789abcdefghij", "ab3defgh1jklmn0pqrstuvwxyz0123456789abcdefghijab3defgh1jklmn0pqrstuvwxyz0123456789", strings.Repeat("0a1b2c3d4e", 20)
	caps := strings.ToUpper(low)
	r := secret.New()
	for _, key := range []string{
		join("shp", "at_", hex40[:32]), join("shp", "ss_", hex40[:32]), join("shp", "ca_", hex40[:32]), join("shp", "pa_", hex40[:32]),
		join("lin_", "api_", mix[:40]), join("lin_", "oauth_", hex40[:64]), join("sq0", "csp-", mix[:43]), join("sq0", "atp-", mix[:22]),
		join("GOC", "SPX-", mix[:28]), join("1/", "/0", mix, mix[:10]), join("wh", "sec_", mix[:32]), join("xo", "xc-123456789012-", hex40[:20]), join("xo", "xd-", mix), join("xo", "xe.xoxp-1-", mix),
		join("r8", "_", mix[:37]), join("cs", "k-", low[:48]), join("nv", "api-", mix, mix[:18]), join("ls", "v2_pt_", hex40[:32], "_", hex40[:10]), join("pc", "sk_", mix), join("tv", "ly-dev-", mix[:32]), join("sk", "_", hex40[:48]),
		join("do", "o_v1_", hex40[:64]), join("do", "r_v1_", hex40[:64]),
		join("gl", "ptt-", hex40[:40]), join("gl", "dt-", mix[:20]), join("gl", "rt-", mix[:20]), join("gl", "cbt-64_", mix[:20]), join("gl", "soat-", mix[:20]), join("gl", "oas-", hex40[:64]),
		join("gl", "ft-", mix[:20]), join("gl", "imt-", mix[:25]), join("gl", "agent-", mix, mix[:4]), join("GR", "1348941", mix[:20]),
		join("ATA", "TT3", mix, mix, "=1A2B3C4D"), join("ATC", "TT3", mix, mix, "=1A2B3C4D"), join("nt", "n_", mix), join("sec", "ret_", mix[:43]), join("PM", "AK-", hex40[:24], "-", hex40[:34]),
		join("da", "pi", hex40[:32]), join("dp", ".pt.", mix[:43]), join("dp", ".st.dev_x.", mix[:43]), join("dp", ".ct.", mix[:43]), join("dp", ".sa.", mix[:43]), join("gl", "sa_", mix[:32], "_", hex40[:8]), join("gl", "c_eyJv", mix, "="),
		join("hv", "s.CAESI", mix, mix), join("hv", "b.AAAAAQ", mix, mix), join("ps", "cale_tkn_", mix[:43]), join("ps", "cale_pw_", mix[:43]), join("ps", "cale_oauth_", mix[:43]), join("pu", "l-", hex40[:40]),
		join("rub", "ygems_", hex40[:48]), join("CLO", "JARS_", low[:60]), join("ci", "o", mix[:32]), join("oy", "2", low[:43]), join("AKC", "p8", mix, mix[:23]),
		join("NR", "AK-", caps[:27]), join("NR", "II-", mix[:32]), join("sn", "trys_eyJp", mix, mix, "="), join("sn", "tryu_", hex40[:64]), join("sb", "p_", hex40[:40]), join("sb", "_secret_", mix[:31]), join("v1", ".0-", hex40[:24], "-", hex40[:146]),
		join("dc", "kr_pat_", mix[:27]), join("dc", "kr_oat_", mix[:32]), join("sl", ".", mix, mix, mix), join("discord.com/api/web", "hooks/123456789012345678/", mix, mix[:22]),
		join("pa", "t", mix[:14], ".", hex40[:64]), join("fi", "gd_", mix), join("Fly", "V1 fm2_lJPE", mix, mix, "=="), join("fm", "2_lJPE", mix, mix, "=="), join("xk", "eysib-", hex40[:64], "-", hex40[:16]), join("xs", "mtpsib-", hex40[:64], "-", hex40[:16]),
		join("tf", "p_", mix[:40], "_", mix[:17]), join("CF", "PAT-", mix[:43]), join("pn", "u_", mix[:36]), join("rd", "me_", low[:70]), join("sg", "p_", hex40[:16], "_", hex40[:40]), join("re", "_", mix[:8], "_", mix[:24]),
		join("ph", "x_", mix[:43]), join("ts", "key-auth-k", mix[:20], "-", mix[:30]), join("bk", "ua_", hex40[:40]), join("CCI", "PAT_", mix[:22], "_", hex40[:40]), join("nf", "p_", mix[:40]), join("rn", "d_", mix[:32]), join("HR", "KU-AA", mix, mix[:10]),
		join("sk", ".eyJ1Ijoi", mix, mix[:20], ".", mix[:22]), join("op", "s_eyJ", mix, mix, mix), join("7Q", "~", mix[:34]), join("8Q", "~", mix[:34]), join("Shared", "AccessKey=", mix[:43], "="), join("EA", "ACEd", mix, mix, mix),
		join("$prod", "uction$", low[:16], "$", hex40[:32]), join("access-", "production-0a1b2c3d-4e0a-1b2c-3d4e-", hex40[:12]), join("sq", "u_", hex40[:40]), join("sq", "p_", hex40[:40]), join("sq", "a_", hex40[:40]),
		join("wa", "ka_0a1b2c3d-4e0a-1b2c-3d4e-", hex40[:12]), join("KG", "AT_", hex40[:32]), join("dt", "0c01.", caps[:24], ".", caps[:64]), join("ke", "y-", hex40[:32]), join("EZ", "AK", mix, mix[:8]), join("ship", "po_live_", hex40[:40]),
		join("duff", "el_live_", mix[:43]), join("LT", "AI", mix[:20]),
	} {
		for _, around := range [][2]string{{"", ""}, {"KEY=", "\n"}, {"\"", "\", x"}} {
			if got, want := r.String(around[0]+key+around[1]), around[0]+secret.Masked+around[1]; got != want {
				t.Errorf("%q became %q, want %q", around[0]+key+around[1], got, want)
			}
		}
		if short := key[:min(len(key)/3, 20)]; r.String(short) != short {
			t.Errorf("the beginning %q became %q", short, r.String(short))
		}
	}
	tail := join(mix[:14], ".atl", "asv1.", mix, mix[:20])
	if got := r.String(tail); got != mix[:14]+secret.Masked {
		t.Errorf("%q became %q", tail, got)
	}
	for in, want := range map[string]string{
		join("bot123456789:", "AAE", mix[:32], "/getMe"):                                                            "bot123456789:[masked]/getMe",
		join("TOKEN=1234567890:", "AAE", mix[:32], "\n"):                                                            "TOKEN=1234567890:[masked]\n",
		join("1234567890:", "AAE", mix[:31]):                                                                        "",
		join("1234567890:", "AAE", mix[:33]):                                                                        "",
		join("x:AAE", mix[:32]):                                                                                     "",
		"at 10:A-quite-long-line-of-words-and-dash :AAPL":                                                           "",
		hex40[:40] + " " + hex40[:64] + " sha256:" + hex40[:64]:                                                     "",
		"0a1b2c3d-4e0a-1b2c-3d4e-0a1b2c3d4e0a is an id, key-0a1b2c3d too":                                           "",
		"secret_name secret_" + low[:20] + " my_secret_" + mix[:43]:                                                 "",
		"pattern.for.a.path patch-" + hex40[:64] + " pat" + mix:                                                     "",
		"re_compile_all_of_the_expressions_of_it re_" + low[:8] + "_" + strings.Repeat("word", 6):                   "",
		"cio" + strings.Repeat("word", 8) + " dapifoo oy2 sha1-" + mix[:28] + "= " + "key-value-pair":               "",
		"sl.dropdown_menu__" + strings.Repeat("item-", 30):                                                          "",
		"EAAA" + strings.Repeat("a", 20) + " tskey-like-names-of-things glrt-runner-configuration-file":             "",
		"xshpat_" + hex40[:32] + " shpat_token lin_api_key sq0csp-placeholder hvs.example-of-a-name-without-digits": "",
		"https://github.com/x/y#1//0" + " access-production-servers-in-europe-and-in-asia-and-elsewhere":            "",
	} {
		if want == "" {
			want = in
		}
		if got := r.String(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		for cut := range len(in) {
			var b bytes.Buffer
			w := r.Writer(&b)
			write(t, w, in[:cut])
			write(t, w, in[cut:])
			flush(t, w)
			if b.String() != want {
				t.Fatalf("%q cut at %d: %q, want %q", in, cut, b.String(), want)
			}
		}
	}
}

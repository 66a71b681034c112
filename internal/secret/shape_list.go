package secret

// kind is a matcher that says with which three bytes what it finds begins.
type kind interface {
	matcher
	starts() []string
}

// shapes are the matchers of every known kind of key.
func shapes() []kind {
	out := []kind{&keyBlock{}, &login{}, &header{name: "authorization", scheme: true}, &header{name: "x-api-key"}, &awsSecret{}, &awsPair{}, &botToken{}}
	all := append(known(), services()...)
	for i := range all {
		out = append(out, &all[i])
	}
	for _, c := range codedShapes(all) {
		out = append(out, c)
	}
	return out
}

// known are keys of model providers, of clouds and of what developers use most.
func known() []shape {
	return []shape{
		{prefix: "AGE-SECRET-KEY-1", run: upper, least: 40}, {prefix: "AGE-SECRET-KEY-PQ-1", run: upper, least: 40}, // age
		{prefix: "AccountKey=", run: base64Text, least: 80}, // Azure storage
		{prefix: "sk-ant-", run: token, least: 16},          // Anthropic
		{prefix: "sk-proj-", run: token, least: 16},         // OpenAI
		{prefix: "sk-or-", run: token, least: 16},           // OpenRouter
		{prefix: "sk-", run: token, least: 16, edge: true, check: mixed},
		{prefix: "sk_live_", run: alnum, least: 16}, {prefix: "sk_test_", run: alnum, least: 16}, // Stripe
		{prefix: "rk_live_", run: alnum, least: 16}, {prefix: "rk_test_", run: alnum, least: 16},
		{prefix: "pk_live_", run: alnum, least: 16}, {prefix: "pk_test_", run: alnum, least: 16},
		{prefix: "whsec_", run: alnum, least: 24, edge: true, check: mixed},
		{prefix: "AKIA", run: upper, least: 16, exact: true, edge: true}, // AWS
		{prefix: "ASIA", run: upper, least: 16, exact: true, edge: true},
		{prefix: "ABIA", run: upper, least: 16, exact: true, edge: true},
		{prefix: "ACCA", run: upper, least: 16, exact: true, edge: true},
		{prefix: "AIza", run: token, least: 35, edge: true},  // Google
		{prefix: "ya29.", run: token, least: 20, edge: true}, // Google OAuth
		{prefix: "GOCSPX-", run: token, least: 28, exact: true, edge: true},
		{prefix: "1//0", run: token, least: 40, edge: true, check: mixed},
		{prefix: "ghp_", run: alnum, least: 30}, {prefix: "gho_", run: alnum, least: 30},
		{prefix: "ghu_", run: alnum, least: 30}, {prefix: "ghs_", run: alnum, least: 30},
		{prefix: "ghr_", run: alnum, least: 30}, {prefix: "github_pat_", run: word, least: 22}, // GitHub
		{prefix: "glpat-", run: token, least: 20}, // GitLab
		{prefix: "xoxa-", run: dashed, least: 10}, {prefix: "xoxb-", run: dashed, least: 10},
		{prefix: "xoxe-", run: dashed, least: 10}, {prefix: "xoxo-", run: dashed, least: 10},
		{prefix: "xoxp-", run: dashed, least: 10}, {prefix: "xoxr-", run: dashed, least: 10},
		{prefix: "xoxs-", run: dashed, least: 10}, {prefix: "xoxc-", run: dashed, least: 10},
		{prefix: "xoxe.xox", run: dashed, least: 20}, {prefix: "xoxd-", run: token, least: 20, check: mixed}, // Slack
		{prefix: "xapp-", run: dashed, least: 20, check: mixed},
		{prefix: "hooks.slack.com/services/", run: path, least: 20},
		{prefix: "npm_", run: alnum, least: 36, edge: true},
		{prefix: "pypi-", run: token, least: 50, edge: true},
		{prefix: "hf_", run: alnum, least: 30, edge: true},                                                                                    // Hugging Face
		{prefix: "gsk_", run: alnum, least: 40, edge: true},                                                                                   // Groq
		{prefix: "xai-", run: alnum, least: 40, edge: true},                                                                                   // xAI
		{prefix: "pplx-", run: alnum, least: 40, edge: true},                                                                                  // Perplexity
		{prefix: "r8_", run: alnum, least: 37, exact: true, edge: true},                                                                       // Replicate
		{prefix: "csk-", run: alnum, least: 40, edge: true, check: mixed},                                                                     // Cerebras
		{prefix: "nvapi-", run: token, least: 40, edge: true, check: mixed},                                                                   // NVIDIA
		{prefix: "lsv2_", run: word, least: 36, edge: true, check: mixed},                                                                     // LangSmith
		{prefix: "pcsk_", run: word, least: 40, edge: true, check: mixed},                                                                     // Pinecone
		{prefix: "tvly-", run: dashed, least: 24, edge: true, check: mixed},                                                                   // Tavily
		{prefix: "sk_", run: lowhex, least: 48, exact: true, edge: true},                                                                      // ElevenLabs
		{prefix: "dop_v1_", run: lowhex, least: 64}, {prefix: "doo_v1_", run: lowhex, least: 64}, {prefix: "dor_v1_", run: lowhex, least: 64}, // DigitalOcean
		{prefix: "SG.", run: dotted, least: 33, edge: true, check: twoParts},
		{prefix: "eyJ", run: dotted, least: 20, edge: true, check: webToken},
	}
}

// services are keys of further services, as these document them or as what looks
// for leaked keys knows them.
func services() []shape {
	return []shape{
		{prefix: "shpat_", run: lowhex, least: 32, edge: true}, {prefix: "shpss_", run: lowhex, least: 32, edge: true}, // Shopify
		{prefix: "shpca_", run: lowhex, least: 32, edge: true}, {prefix: "shppa_", run: lowhex, least: 32, edge: true},
		{prefix: "lin_api_", run: alnum, least: 32, edge: true}, {prefix: "lin_oauth_", run: alnum, least: 32, edge: true}, // Linear
		{prefix: "sq0csp-", run: token, least: 40, edge: true}, {prefix: "sq0atp-", run: token, least: 22, edge: true}, // Square
		{prefix: "glptt-", run: token, least: 20, edge: true, check: mixed}, {prefix: "gldt-", run: token, least: 20, edge: true, check: mixed}, // GitLab
		{prefix: "glrt-", run: token, least: 20, edge: true, check: mixed}, {prefix: "glcbt-", run: token, least: 20, edge: true, check: mixed},
		{prefix: "glsoat-", run: token, least: 20, edge: true, check: mixed}, {prefix: "gloas-", run: token, least: 40, edge: true, check: mixed},
		{prefix: "glft-", run: token, least: 20, edge: true, check: mixed}, {prefix: "glimt-", run: token, least: 20, edge: true, check: mixed},
		{prefix: "glagent-", run: token, least: 40, edge: true, check: mixed}, {prefix: "GR1348941", run: token, least: 20, edge: true},
		{prefix: "ATATT3", run: base64Text, least: 60, edge: true}, {prefix: "ATCTT3", run: base64Text, least: 60, edge: true}, // Atlassian
		{prefix: "ntn_", run: alnum, least: 40, edge: true}, {prefix: "secret_", run: alnum, least: 43, exact: true, edge: true, check: mixed}, // Notion
		{prefix: "PMAK-", run: lowdash, least: 50, edge: true},                                                        // Postman
		{prefix: "dapi", run: lowhex, least: 32, exact: true, edge: true},                                             // Databricks
		{prefix: "dp.pt.", run: alnum, least: 40, edge: true}, {prefix: "dp.st.", run: dotted, least: 40, edge: true}, // Doppler
		{prefix: "dp.ct.", run: alnum, least: 40, edge: true}, {prefix: "dp.sa.", run: alnum, least: 40, edge: true},
		{prefix: "glsa_", run: word, least: 40, edge: true}, {prefix: "glc_", run: base64Text, least: 32, edge: true, check: mixed}, // Grafana
		{prefix: "hvs.", run: token, least: 24, edge: true, check: mixed}, {prefix: "hvb.", run: token, least: 90, edge: true}, // Vault
		{prefix: ".atlasv1.", run: token, least: 60},                                                                                                                                           // Terraform Cloud
		{prefix: "pscale_tkn_", run: dotted, least: 32, edge: true}, {prefix: "pscale_pw_", run: dotted, least: 32, edge: true}, {prefix: "pscale_oauth_", run: dotted, least: 32, edge: true}, // PlanetScale
		{prefix: "pul-", run: lowhex, least: 40, exact: true, edge: true},                                                                                                                                  // Pulumi
		{prefix: "rubygems_", run: lowhex, least: 48, edge: true}, {prefix: "CLOJARS_", run: lowest, least: 60, edge: true}, {prefix: "cio", run: alnum, least: 32, exact: true, edge: true, check: mixed}, // package registries
		{prefix: "oy2", run: lowest, least: 43, exact: true, edge: true}, {prefix: "AKCp", run: alnum, least: 60, edge: true},
		{prefix: "NRAK-", run: upper, least: 27, edge: true}, {prefix: "NRAA-", run: lowhex, least: 27, edge: true}, {prefix: "NRII-", run: token, least: 32, edge: true}, // New Relic
		{prefix: "sntrys_", run: base64Text, least: 60, edge: true}, {prefix: "sntryu_", run: lowhex, least: 64, edge: true}, // Sentry
		{prefix: "sbp_", run: lowhex, least: 40, edge: true}, {prefix: "sb_secret_", run: token, least: 30, edge: true, check: mixed}, // Supabase
		{prefix: "v1.0-", run: lowdash, least: 150, edge: true},                                                            // Cloudflare's certificate authority
		{prefix: "dckr_pat_", run: token, least: 27, edge: true}, {prefix: "dckr_oat_", run: token, least: 27, edge: true}, // Docker
		{prefix: "sl.", run: token, least: 100, edge: true, check: mixed}, {prefix: "sl.u.", run: token, least: 100, edge: true, check: mixed}, // Dropbox
		{prefix: "discord.com/api/webhooks/", run: hook, least: 60}, {prefix: "discordapp.com/api/webhooks/", run: hook, least: 60},
		{prefix: "pat", run: dotted, least: 79, exact: true, edge: true, check: airtable},                                                    // Airtable
		{prefix: "figd_", run: token, least: 40, edge: true, check: mixed},                                                                   // Figma
		{prefix: "FlyV1 fm", run: base64Text, least: 60, edge: true}, {prefix: "fm2_", run: base64Text, least: 60, edge: true, check: mixed}, // Fly.io
		{prefix: "xkeysib-", run: lowdash, least: 64, edge: true}, {prefix: "xsmtpsib-", run: lowdash, least: 64, edge: true}, // Brevo
		{prefix: "tfp_", run: hook, least: 40, edge: true, check: mixed}, {prefix: "CFPAT-", run: token, least: 43, edge: true}, // Typeform, Contentful
		{prefix: "pnu_", run: alnum, least: 36, edge: true}, {prefix: "rdme_", run: lowest, least: 70, edge: true}, {prefix: "sgp_", run: word, least: 40, edge: true, check: mixed}, // Prefect, ReadMe, Sourcegraph
		{prefix: "re_", run: word, least: 33, exact: true, edge: true, check: resend},                                             // Resend
		{prefix: "phx_", run: alnum, least: 40, edge: true}, {prefix: "tskey-", run: dashed, least: 20, edge: true, check: mixed}, // PostHog, Tailscale
		{prefix: "bkua_", run: lowhex, least: 40, edge: true}, {prefix: "CCIPAT_", run: word, least: 40, edge: true}, {prefix: "CCIPRJ_", run: word, least: 40, edge: true}, // Buildkite, CircleCI
		{prefix: "nfp_", run: alnum, least: 36, edge: true}, {prefix: "rnd_", run: alnum, least: 28, edge: true, check: mixed}, {prefix: "HRKU-", run: token, least: 36, edge: true}, // Netlify, Render, Heroku
		{prefix: "sk.eyJ", run: dotted, least: 60, edge: true}, {prefix: "ops_eyJ", run: base64Text, least: 100, edge: true}, // Mapbox, 1Password
		{prefix: "8Q~", run: tilde, least: 34, exact: true}, {prefix: "7Q~", run: tilde, least: 34, exact: true}, // Entra
		{prefix: "SharedAccessKey=", run: base64Plus, least: 40, edge: true},
		{prefix: "EAA", run: alnum, least: 100, edge: true, check: mixed},                                                    // Meta
		{prefix: "$production$", run: money, least: 40}, {prefix: "access-production-", run: lowdash, least: 36, edge: true}, // Braintree, Plaid
		{prefix: "squ_", run: lowhex, least: 40, edge: true}, {prefix: "sqp_", run: lowhex, least: 40, edge: true}, {prefix: "sqa_", run: lowhex, least: 40, edge: true}, // SonarQube
		{prefix: "waka_", run: lowdash, least: 36, edge: true}, {prefix: "KGAT_", run: lowhex, least: 32, edge: true}, // WakaTime, Kaggle
		{prefix: "dt0c01.", run: dotted, least: 80, edge: true}, {prefix: "dt0s16.", run: dotted, least: 80, edge: true}, // Dynatrace
		{prefix: "key-", run: lowhex, least: 32, exact: true, edge: true},                                                                                                                           // Mailgun
		{prefix: "EZAK", run: alnum, least: 54, exact: true, edge: true}, {prefix: "shippo_live_", run: lowhex, least: 40, edge: true}, {prefix: "duffel_live_", run: token, least: 40, edge: true}, // EasyPost, Shippo, Duffel
		{prefix: "LTAI", run: alnum, least: 20, exact: true, edge: true, check: mixed}, // Alibaba Cloud
	}
}

// airtable checks the rest of a token: an identifier of 14, a dot, 64 hex digits.
func airtable(run []byte) bool {
	if len(run) != 79 || run[14] != '.' {
		return false
	}
	for _, c := range run[15:] {
		if !lowhex[c] {
			return false
		}
	}
	return true
}

// resend checks the rest of a key: two words of 8 and 24, at least one capital and one digit
// in the second, as no name of a function has.
func resend(run []byte) bool {
	if len(run) != 33 || run[8] != '_' {
		return false
	}
	var capital, digit bool
	for i, c := range run {
		if c == '_' && i != 8 {
			return false
		}
		capital, digit = capital || i > 8 && c >= 'A' && c <= 'Z', digit || i > 8 && c >= '0' && c <= '9'
	}
	return capital && digit
}

// botToken finds the secret of a Telegram bot: behind the bot's number and a colon, 35
// characters of which the first is an A.
type botToken struct{}

const botLength = 35

func (*botToken) starts() (out []string) {
	for c, in := range token {
		if in {
			out = append(out, ":A"+string(rune(c)))
		}
	}
	return out
}

func (*botToken) match(b []byte, i int, before [2]byte, final bool) found {
	if !isDigit(before[0]) || !isDigit(before[1]) {
		return found{}
	}
	n := 0
	for i+1+n < len(b) && n <= botLength && token[b[i+1+n]] {
		n++
	}
	switch ended := i+1+n < len(b) || final; {
	case n == botLength && ended && mixed(b[i+2:i+1+n]):
		return found{state: yes, start: i + 1, end: i + 1 + n}
	case ended || n > botLength:
		return found{}
	}
	return found{state: more}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

package export

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Masked stands where a secret was.
const Masked = "[masked]"

// minValue is the length below which a given value is not looked for: it
// would blank out ordinary words.
const minValue = 6

// shapes are forms of keys that their issuers document.
var shapes = regexp.MustCompile(strings.Join([]string{
	`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)`,
	`\bsk-[A-Za-z0-9_-]{16,}`,                                      // Anthropic, OpenAI, OpenRouter and others
	`\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}`,                // Stripe
	`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`,                      // AWS
	`\bAIza[A-Za-z0-9_-]{35,}`,                                     // Google
	`\bya29\.[A-Za-z0-9_-]{20,}`,                                   // Google OAuth
	`\bgh[pousr]_[A-Za-z0-9]{30,}`,                                 // GitHub
	`\bgithub_pat_[A-Za-z0-9_]{22,}`,                               // GitHub
	`\bglpat-[A-Za-z0-9_-]{20,}`,                                   // GitLab
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,                             // Slack
	`\bhooks\.slack\.com/services/[A-Za-z0-9/]{20,}`,               // Slack
	`\bnpm_[A-Za-z0-9]{36}`,                                        // npm
	`\bpypi-[A-Za-z0-9_-]{50,}`,                                    // PyPI
	`\bhf_[A-Za-z0-9]{30,}`,                                        // Hugging Face
	`\bgsk_[A-Za-z0-9]{40,}`,                                       // Groq
	`\bxai-[A-Za-z0-9]{40,}`,                                       // xAI
	`\bpplx-[A-Za-z0-9]{40,}`,                                      // Perplexity
	`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,                 // SendGrid
	`\bdop_v1_[a-f0-9]{64}`,                                        // DigitalOcean
	`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`, // JSON web token
}, "|"))

// Forms in which only a part is secret.
var (
	inURL    = regexp.MustCompile(`\b([a-z][a-z0-9+.-]*://[^\s/:@"']*:)([^\s/@"']{3,})(@)`)
	inHeader = regexp.MustCompile(`(?i)\b(authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+|x-api-key["']?\s*[:=]\s*["']?)([A-Za-z0-9._~+/=-]{8,})`)
)

// Mask replaces secrets in s: what looks like a key of a known kind, and the
// given values (those of six bytes or more), such as those of environment
// variables that children do not get.
func Mask(s string, values []string) string {
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return len(v) < minValue })
	// The longest first, so that none is left over beside a shorter one in it.
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, v := range values {
		s = strings.ReplaceAll(s, v, Masked)
	}
	s = shapes.ReplaceAllString(s, Masked)
	s = inURL.ReplaceAllString(s, "${1}"+Masked+"${3}")
	return inHeader.ReplaceAllString(s, "${1}"+Masked)
}

package export

import "github.com/adze-agent/adze/internal/secret"

// Masked stands where a secret was.
const Masked = secret.Masked

// Mask replaces secrets in s: what looks like a key of a known kind, and the
// given values, such as those of environment variables that children do not
// get. For many texts make one secret.Redactor.
func Mask(s string, values []string) string { return secret.New(values...).String(s) }

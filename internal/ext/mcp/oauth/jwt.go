package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A signer signs assertions of who a client is (RFC 7523 2.2).
type signer struct{ key crypto.Signer }

// parseKey reads a private key in PEM.
func parseKey(text secret) (signer, error) {
	bad := mistake("the private key cannot be used", "give it as PEM in PKCS #8: an EC key of P-256, or an RSA key of 2048 bits or more")
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return signer{}, bad
	}
	k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return signer{}, bad
	}
	switch k := k.(type) {
	case *ecdsa.PrivateKey:
		if k.Curve == elliptic.P256() {
			return signer{k}, nil
		}
	case *rsa.PrivateKey:
		if k.N.BitLen() >= 2048 {
			return signer{k}, nil
		}
	}
	return signer{}, bad
}

// assertion says for five minutes, and to that issuer alone, who the client is.
func (s signer) assertion(client, issuer string, now time.Time) (secret, error) {
	alg := "RS256"
	if _, ok := s.key.(*ecdsa.PrivateKey); ok {
		alg = "ES256"
	}
	head, err := json.Marshal(map[string]string{"alg": alg, "typ": "JWT"})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": client, "sub": client, "aud": issuer, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	if k, ok := s.key.(*ecdsa.PrivateKey); ok { // JWS has both numbers side by side, not ASN.1
		r, t, err := ecdsa.Sign(rand.Reader, k, sum[:])
		if err != nil {
			return "", errors.New("the private key did not sign")
		}
		sig = make([]byte, 64)
		r.FillBytes(sig[:32])
		t.FillBytes(sig[32:])
	} else if sig, err = s.key.Sign(rand.Reader, sum[:], crypto.SHA256); err != nil {
		return "", errors.New("the private key did not sign")
	}
	return secret(text + "." + base64.RawURLEncoding.EncodeToString(sig)), nil
}

// claims are those of an ID token that are looked at.
type claims struct {
	Issuer   string `json:"iss"`
	Audience any    `json:"aud"`
	Expires  int64  `json:"exp"`
	Nonce    string `json:"nonce"`
}

// identity reads an ID token. It came from the issuer's own token endpoint over
// TLS, which stands for its signature (OpenID Connect Core 3.1.3.7).
func identity(token secret, issuer, client string, now time.Time) (claims, error) {
	var c claims
	bad := errors.New("the identity provider gave no ID token that can be used")
	parts := strings.Split(string(token), ".")
	if len(parts) != 3 {
		return c, bad
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || fastjson.Unmarshal(raw, &c) != nil {
		return c, bad
	}
	to := []string{}
	switch a := c.Audience.(type) {
	case string:
		to = append(to, a)
	case []any:
		for _, x := range a {
			if x, ok := x.(string); ok {
				to = append(to, x)
			}
		}
	}
	switch {
	case strings.TrimSuffix(c.Issuer, "/") != strings.TrimSuffix(issuer, "/"):
		return c, fmt.Errorf("the ID token is of another issuer: %s", shown(c.Issuer))
	case !slices.Contains(to, client):
		return c, errors.New("the ID token is for another client")
	case !now.Before(time.Unix(c.Expires, 0)):
		return c, errOver
	}
	return c, nil
}

var errOver = errors.New("the ID token's time is over")

// short is a file's name for a key.
func short(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the folder for sign-ins cannot be made: %w", paths.Cause(err))
	}
	return nil
}

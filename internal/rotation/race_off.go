//go:build !race

package rotation

const race = false

// Package netaddr says which network addresses are inside: this machine, the
// networks around it, and what stands for either. Names of strangers must not
// lead there.
package netaddr

import "net/netip"

// Inside says what kind of address must not be reached through a name that a
// stranger controls, "" for a public one.
func Inside(a netip.Addr) string {
	a = a.Unmap()
	switch {
	case !a.IsValid() || a.IsUnspecified():
		return "this machine"
	case a.IsLoopback():
		return "this machine"
	case a == metadataV4 || a == metadataV6 || a == metadataAli:
		return "a cloud's metadata service"
	case a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast():
		return "a link-local address"
	case a.IsPrivate():
		return "a private network"
	case a.IsMulticast() || a.IsInterfaceLocalMulticast():
		return "a multicast address"
	}
	for _, p := range reserved {
		if p.prefix.Contains(a) {
			return p.what
		}
	}
	if v4, ok := embedded(a); ok {
		return Inside(v4)
	}
	return ""
}

var (
	metadataV4  = netip.MustParseAddr("169.254.169.254")
	metadataV6  = netip.MustParseAddr("fd00:ec2::254")
	metadataAli = netip.MustParseAddr("100.100.100.200")
)

// reserved are special-purpose blocks (IANA registries) besides those that
// netip knows.
var reserved = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a carrier's private network"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a documentation address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a benchmarking network"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a documentation address"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a documentation address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},
	{netip.MustParsePrefix("fec0::/10"), "a private network"},
	{netip.MustParsePrefix("100::/64"), "a discard address"},
	{netip.MustParsePrefix("2001:db8::/32"), "a documentation address"},
	{netip.MustParsePrefix("::/96"), "a reserved address"},
}

// embedded takes the IPv4 address out of an IPv6 one that leads to it: NAT64
// (64:ff9b::/96, 64:ff9b:1::/48), 6to4 (2002::/16).
func embedded(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	switch {
	case !a.Is6():
		return netip.Addr{}, false
	case nat64.Contains(a), nat64Local.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48")
	sixToFour  = netip.MustParsePrefix("2002::/16")
)

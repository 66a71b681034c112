package config

import (
	"bytes"
	"slices"
)

// A layerKey tells the layers of a repository apart.
type layerKey struct {
	scope Scope
	root  string
}

func (a layer) key() layerKey { return layerKey{a.scope, a.root} }

// held is what a file said when it was last read well; nil for a first load.
func (l *loader) held(path string) *node {
	if l.o.Held == nil {
		return nil
	}
	return l.o.Held.said[path]
}

// keepProhibitions adds the deny and ask rules of was: a file whose rules
// cannot be read any more lifts none.
func (l *loader) keepProhibitions(n, was *node) *node {
	for _, key := range []string{"permissions.deny", "permissions.ask"} {
		old := was.at(key)
		switch have := n.at(key); {
		case old == nil || old.kind != '[':
		case have == nil || have.kind != '[':
			n = n.set(key, old)
		default:
			n = n.set(key, unite(have, old))
		}
	}
	return n
}

// hold is what counts of a repository's layer that is not trusted as it is
// now: of what it brought before, all that it still says; of what is new, all
// that forbids; and what it forbade and does not forbid any more. The files
// that want more are noted as ignored.
func (l *loader) hold(a layer, own, cc, now *node) *node {
	was := l.o.Held.repo[a.key()]
	if !l.o.Changed && was != nil {
		was, _ = untrusted(was)
	}
	if was == nil && now == nil {
		return nil
	}
	out := &node{kind: '{', from: Origin{Scope: a.scope, Root: a.root}}
	waits := false
	for _, k := range l.table {
		v, more := holdKey(k, was.at(k.Name), now.at(k.Name))
		waits = waits || more
		if v != nil {
			out = out.set(k.Name, v)
		}
	}
	if waits {
		l.ignoreLayer(a, own, cc)
	}
	return out
}

func (l *loader) ignoreLayer(a layer, own, cc *node) {
	switch {
	case own == nil && cc == nil && a.own != "":
		l.ignore(a.own) // it was removed
	case own == nil && cc == nil:
		l.ignore(a.cc)
	}
	if own != nil {
		l.ignore(a.own)
	}
	if cc != nil {
		l.ignore(a.cc)
	}
}

// prohibits are the lists that only forbid: more of them is always stricter.
func (k Key) prohibits() bool {
	return slices.Contains([]string{
		"permissions.deny", "permissions.ask", "tools.disallowed", "disabledMcpjsonServers", "deniedMcpServers",
		"sandbox.network.denied_domains", "sandbox.filesystem.deny_write", "sandbox.filesystem.deny_read",
	}, k.Name)
}

// entries: a map whose entries stand each for itself.
func (k Key) entries() bool { return k.Kind == StringMap || k.Kind == Bools }

// holdKey is what counts of one key, and whether the file wants something
// else.
func holdKey(k Key, was, now *node) (counts *node, waits bool) {
	switch {
	case now != nil && bytes.Equal(was.json(), now.json()):
		return now, false // with its place in the file as it is now
	case now == nil && was != nil && !k.prohibits() && (was.kind == '[' || k.entries()):
		return nil, false
	case now == nil:
		return was, was != nil
	case k.prohibits():
		switch {
		case now.kind != '[':
			return was, true
		case was == nil || was.kind != '[':
			return now, false
		}
		all := unite(now, was)
		return all, len(all.elems) > len(now.elems)
	case now.kind == '[' && (was == nil || was.kind == '['):
		return both(now, was)
	case now.kind == '{' && (was == nil || was.kind == '{') && k.entries():
		return bothEntries(now, was)
	case k.Guard == Tighten && stricter(k, now, was):
		return now, false
	}
	return was, true
}

// both keeps of a list what it held before, too.
func both(now, was *node) (*node, bool) {
	out := &node{kind: '[', from: now.from}
	for _, e := range now.elems {
		if was != nil && slices.ContainsFunc(was.elems, func(o *node) bool { return sameAs(o) == sameAs(e) }) {
			out.elems = append(out.elems, e)
		}
	}
	waits := len(out.elems) < len(now.elems)
	if len(out.elems) == 0 {
		return nil, waits
	}
	return out, waits
}

func bothEntries(now, was *node) (*node, bool) {
	out := &node{kind: '{', from: now.from}
	for _, m := range now.members {
		if old := was.get(m.name); old != nil && bytes.Equal(old.json(), m.value.json()) {
			out.members = append(out.members, m)
		}
	}
	waits := len(out.members) < len(now.members)
	if len(out.members) == 0 {
		return nil, waits
	}
	return out, waits
}

// stricter reports whether a scalar only tightens.
func stricter(k Key, now, was *node) bool {
	if k.Name == "permissions.defaultMode" {
		from := modeRank("default")
		if was != nil {
			from = modeRank(was.text)
		}
		return now.kind == '"' && modeRank(now.text) > from
	}
	return now.kind == 't' && string(now.raw) == "true" || k.Kind == Off && now.text == "disable"
}

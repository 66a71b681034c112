package config

import "strings"

// merge lays one layer over another: objects merge deeply, lists unite in
// order without duplicates, anything else replaces, null removes (nil).
func merge(base, over *node) *node {
	switch {
	case over == nil:
		return base
	case over.kind == 'n':
		return nil
	case over.kind == '{':
		if base == nil || base.kind != '{' {
			base = &node{kind: '{'}
		}
		return mergeObjects(base, over)
	case over.kind == '[' && base != nil && base.kind == '[':
		return unite(base, over)
	}
	return over
}

// stack lays two parts of one layer over each other: as merge, but a null
// stays, because it is still to remove what weaker layers say.
func stack(base, over *node) *node {
	switch {
	case over == nil:
		return base
	case base == nil:
		return over
	case over.kind == '{' && base.kind == '{':
		at := make(map[string]int, len(base.members))
		out := &node{kind: '{', from: over.from, members: append([]member(nil), base.members...)}
		for i, m := range out.members {
			at[m.name] = i
		}
		for _, m := range over.members {
			if i, had := at[m.name]; had {
				out.members[i] = member{m.name, m.from, stack(out.members[i].value, m.value)}
				continue
			}
			out.members = append(out.members, m)
		}
		return out
	case over.kind == '[' && base.kind == '[':
		return unite(base, over)
	}
	return over
}

func mergeObjects(base, over *node) *node {
	out := &node{kind: '{', from: over.from, members: make([]member, 0, len(base.members)+len(over.members))}
	at := make(map[string]int, len(base.members))
	for _, m := range base.members {
		at[m.name] = len(out.members)
		out.members = append(out.members, m)
	}
	for _, m := range over.members {
		i, had := at[m.name]
		if !had {
			if v := merge(nil, m.value); v != nil {
				out.members = append(out.members, member{m.name, m.from, v})
			}
			continue
		}
		out.members[i] = member{m.name, m.from, merge(out.members[i].value, m.value)}
	}
	kept := out.members[:0]
	for _, m := range out.members {
		if m.value != nil {
			kept = append(kept, m)
		}
	}
	out.members = kept
	return out
}

// unite has what both lists have, once. What the administrator says is said by the
// administrator, whoever says it too.
func unite(base, over *node) *node {
	out := &node{kind: '[', from: over.from}
	at := make(map[string]int, len(base.elems)+len(over.elems))
	for _, list := range [][]*node{base.elems, over.elems} {
		for _, e := range list {
			k := sameAs(e)
			switch i, had := at[k]; {
			case !had:
				at[k] = len(out.elems)
				out.elems = append(out.elems, e)
			case e.from.Scope == Managed:
				out.elems[i] = e
			}
		}
	}
	return out
}

// sameAs gives equal elements of lists equal keys. A rule whose path counts
// from its file's own folder means something else in another file.
func sameAs(e *node) string {
	k := string(e.json())
	if e.kind == '"' && (strings.Contains(e.text, "(/") && !strings.Contains(e.text, "(//") || strings.HasPrefix(e.text, ".")) {
		k += "\x00" + e.from.Root
	}
	return k
}

// rules reports whether a key is a list to which answers of people are added: the
// first one in a file of our own must not end what another agent's file allows.
func rules(path string) bool {
	return path == "permissions.allow" || path == "permissions.additionalDirectories"
}

// underlay completes a layer's own file with the keys that only the other
// agent's file has. Lists of rules, and those that only forbid, are united; a deny
// rule counts wherever it stands.
func underlay(own, cc *node, path string) *node {
	switch {
	case own == nil:
		return cc
	case cc == nil:
		return own
	case own.kind == '{' && cc.kind == '{':
		out := own
		for _, m := range cc.members {
			p := m.name
			if path != "" {
				p = path + "." + m.name
			}
			old := own.get(m.name)
			v := underlay(old, m.value, p)
			if v != old {
				out = out.with(member{m.name, m.from, v})
			}
		}
		return out
	case cc.kind == '[' && own.kind == '[' && (rules(path) || Key{Name: path}.prohibits()):
		return unite(own, cc)
	case path == "permissions.deny" && cc.kind == '[':
		return cc
	case path == "permissions" && own.kind == 'n':
		if deny := cc.get("deny"); deny != nil {
			return (&node{kind: '{', from: cc.from}).with(member{"deny", deny.from, deny})
		}
	}
	return own
}

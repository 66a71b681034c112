package transcript

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A field that the stored form does not have would be lost with every resume.
func TestTheStoredFormHasEveryField(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string // what codec.go stores of it by hand
	}{
		{State{}, "files talk"},
		{conversation{}, "done tail from round held early gone cleared stripped partial declined words boundary told gauge"},
		{slot{}, "use result seq done"},
		{input{}, "seq parts"},
		{result{}, "ToolResult Files seq"},
		{Gauge{}, "prompt sent cut"},
		{Entry{}, "Message From"},
	} {
		typ := reflect.TypeOf(c.of)
		var got []string
		for i := range typ.NumField() {
			f := typ.Field(i)
			if byHand := typ.Name() != "State" && typ.Name() != "Gauge"; byHand || !f.IsExported() {
				got = append(got, f.Name)
			}
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s has the fields %v, codec.go stores %v: mend it, and raise Version", typ.Name(), got, want)
		}
	}
	state := reflect.TypeFor[State]()
	for i := range state.NumField() {
		if f := state.Field(i); f.IsExported() && f.Name != "Pending" {
			plain(t, f.Name, f.Type, map[reflect.Type]bool{})
		}
	}
}

// plain fails for what JSON leaves out.
func plain(t *testing.T, path string, typ reflect.Type, seen map[reflect.Type]bool) {
	if seen[typ] {
		return
	}
	seen[typ] = true
	switch typ.Kind() {
	case reflect.Interface:
		t.Errorf("%s is an interface: codec.go has to store it by hand", path)
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
		plain(t, path, typ.Elem(), seen)
	case reflect.Struct:
		if typ.PkgPath() == "time" {
			return
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			if !f.IsExported() || f.Tag.Get("json") == "-" {
				t.Errorf("%s.%s is not stored", path, f.Name)
			}
			plain(t, path+"."+f.Name, f.Type, seen)
		}
	default: // numbers, texts and truths
	}
}

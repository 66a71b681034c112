package dialog

import (
	"reflect"
	"testing"
)

// What a line is, by what is asked for.
func TestRead(t *testing.T) {
	answers := []Named{{Name: "Yes, all of it"}, {Name: "Yesterday", Also: []string{"z"}}, {Name: "No"}, {}}
	one, many := Poll{Answers: answers, How: "How.", Begun: true}, Poll{Answers: answers, How: "How.", Many: true, Text: true, Words: []string{"skip"}}
	letters := Poll{Answers: answers, How: "How.", Letters: true, Text: true, Empty: true}
	pick := func(i ...int) Reply { return Reply{Picks: i} }
	for _, c := range []struct {
		p    Poll
		line string
		r    Reply
		told string
	}{
		{one, "2", pick(1), ""}, {one, "4", pick(3), ""}, {one, "5", Reply{}, "5 is no number of an answer: there are 1 to 4."},
		{one, "1,", Reply{}, "One answer is wanted: How."}, {one, "1 2", Reply{}, "One answer is wanted: How."}, {one, "-1", Reply{}, "-1 is no number of an answer: there are 1 to 4."},
		{one, "n", pick(2), ""}, {one, "y", Reply{}, "“y” is none of the answers. How."}, {one, "yesterday", pick(1), ""}, {one, "Z", pick(1), ""}, {one, "yest", pick(1), ""},
		{one, "yes,", pick(0), ""}, {one, "", Reply{}, "It waits for an answer: How."}, {one, "?", Reply{}, "How."}, {one, "/skip", Reply{}, "“/skip” means nothing here. ? lists what does."},
		{Poll{Answers: answers[:1]}, "x", Reply{}, "“x” is none of the answers. There are 1."},
		{many, "1, 3", pick(0, 2), ""}, {many, "/skip now", Reply{Word: "skip", Rest: "now"}, ""}, {many, "n", Reply{Text: "n"}, ""}, {many, "1 9", Reply{}, "1 9 is no number of an answer: there are 1 to 4."},
		{letters, "2", pick(1), ""}, {letters, "1 2", Reply{Text: "1 2"}, ""}, {letters, "2024", Reply{Text: "2024"}, ""}, {letters, "9", Reply{}, "9 is no number of an answer: there are 1 to 4."}, {letters, "", Reply{}, ""},
		{letters, "no", pick(2), ""}, {letters, "yest", Reply{Text: "yest"}, ""},
		{Poll{Field: true, Words: []string{"back"}}, "/back", Reply{Word: "back"}, ""}, {Poll{Field: true}, "/tmp", Reply{Text: "/tmp"}, ""}, {Poll{Field: true}, "?", Reply{Text: "?"}, ""}, {Poll{Field: true}, "", Reply{}, ""},
		{Poll{Answers: []Named{{Name: "a"}, {Name: "A"}}, How: "How."}, "a", Reply{}, "“a” is none of the answers. How."},
	} {
		if r, told := c.p.read(c.line); !reflect.DeepEqual(r, c.r) || told != c.told {
			t.Errorf("%q: %+v, %q", c.line, r, told)
		}
	}
}

package metric

import (
	"testing"
	"time"
)

// TestThin: of thinned records every metric comes out the same but those that need every event, and some of those do not.
func TestThin(t *testing.T) {
	var records []Record
	for i := range 40 {
		r := Record{Index: i, Sent: time.Duration(i) * 10 * time.Millisecond, Status: 200, AskedIn: 8, AskedOut: 20, Input: 8, Output: 20}
		at := r.Sent
		for k := range 20 {
			at += time.Duration(5+(i*k)%7) * time.Millisecond
			r.Tokens = append(r.Tokens, Event{At: at, Tokens: 1})
		}
		r.FirstByte, r.End = r.Tokens[0].At, at
		records = append(records, r)
	}
	whole, thin := Compute(records, 2), Compute(Thin(records), 2)
	if len(records[0].Tokens) != 20 {
		t.Fatal("the records given were changed")
	}
	differ := 0
	for _, name := range Names() {
		a, inWhole := whole[name]
		b, inThin := thin[name]
		switch {
		case NeedsEvents(name):
			if a != b || inWhole != inThin {
				differ++
			}
		case inWhole != inThin || !same(a, b):
			t.Errorf("%s is %v (%v), of thinned records %v (%v)", name, a, inWhole, b, inThin)
		}
	}
	if differ < 4 {
		t.Errorf("only %d of the metrics that need every event differ", differ)
	}
}

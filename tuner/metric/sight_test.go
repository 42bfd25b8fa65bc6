package metric

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A request is seen at every instant as what had come of it by then.
func TestSight(t *testing.T) {
	good := Record{Scheduled: 5 * ms, Sent: 10 * ms, End: 41 * ms, AskedIn: 7, AskedOut: 3, Input: 7, Output: 3, Tokens: []Event{{20 * ms, 2}, {40 * ms, 1}}}
	broken := good
	broken.Error, broken.End, broken.Tokens = ErrStream, 30*ms, broken.Tokens[:1]
	refused := good
	refused.Error, refused.End, refused.Tokens = ErrRefused, 12*ms, nil
	asked := Sight{Scheduled: 5 * ms, AskedIn: 7, AskedOut: 3}
	with := func(change func(*Sight)) Sight {
		s := asked
		change(&s)
		return s
	}
	waiting := with(func(s *Sight) { s.State, s.Sent = Waiting, 10*ms })
	answering := with(func(s *Sight) { s.State, s.Sent, s.First, s.Burst = Answering, 10*ms, 20*ms, 2 })
	for _, c := range []struct {
		name   string
		record Record
		at     int
		want   Sight
	}{
		{"not sent yet", good, 9, asked},
		{"waiting", good, 19, waiting},
		{"answering", good, 39, answering},
		{"succeeded", good, 40, with(func(s *Sight) {
			*s = answering
			s.State, s.Last, s.Input, s.Output = Succeeded, 40*ms, 7, 3
		})},
		{"waiting, to break", broken, 15, waiting},
		{"answering, to break", broken, 29, answering},
		{"broken", broken, 30, with(func(s *Sight) { *s = answering; s.State, s.Last = Failed, 30*ms })},
		{"to be refused", refused, 11, waiting},
		{"refused", refused, 12, with(func(s *Sight) { *s = waiting; s.State, s.Last = Failed, 12*ms })},
		{"never sent", unsent(good), 90, asked},
	} {
		if d := cmp.Diff(c.want, c.record.Sight(time.Duration(c.at)*ms)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func unsent(r Record) Record {
	return Record{Scheduled: r.Scheduled, Error: ErrUnsent, AskedIn: r.AskedIn, AskedOut: r.AskedOut}
}

package metric

import (
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lawLike makes records as a batching engine gives them: all running requests get their token at the same step.
func lawLike(requests, tokens int) []Record {
	records := make([]Record, requests)
	for i := range records {
		sent := time.Duration(i) * time.Millisecond
		r := Record{Index: i, Scheduled: sent, Sent: sent, Status: 200, AskedIn: 8192, AskedOut: tokens, Input: 8192, Output: tokens}
		at := sent.Truncate(20*ms) + 100*ms
		for j := range tokens {
			at += 20*ms + time.Duration((i/50+j)%7)*11*time.Microsecond
			r.Tokens = append(r.Tokens, Event{at, 1})
		}
		r.FirstByte, r.End = r.Tokens[0].At, at
		records[i] = r
	}
	return records
}

// jittery makes records as a wall clock gives them: gaps spread over a wide range with no pattern to be exploited.
func jittery(requests, tokens int) []Record {
	rng := rand.New(rand.NewPCG(1, 2))
	records := make([]Record, requests)
	sent := time.Duration(0)
	for i := range records {
		sent += 5 * ms
		lag := time.Duration(rng.IntN(900)) * time.Microsecond
		r := Record{Index: i, Scheduled: sent, Sent: sent + lag, Lag: lag, Status: 200,
			AskedIn: 300, AskedOut: tokens, Input: 300 + rng.IntN(5), Output: tokens}
		at := r.Sent + time.Duration(rng.IntN(2_000_000))*time.Microsecond
		for range tokens {
			at += time.Duration(rng.ExpFloat64()*60000) * time.Microsecond
			r.Tokens = append(r.Tokens, Event{at, 1})
		}
		r.FirstByte, r.End = r.Tokens[0].At, at+50*time.Microsecond
		records[i] = r
	}
	return records
}

func roundTrip(t *testing.T, records []Record) []byte {
	t.Helper()
	blob, codec, err := Encode(records)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(blob, codec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if i >= len(back) || !reflect.DeepEqual(records[i], back[i]) {
			t.Fatalf("record %d is not what was packed (-packed +unpacked):\n%s", i, cmp.Diff(records[i:i+1], back[min(i, len(back)):min(i+1, len(back))]))
		}
	}
	if len(back) != len(records) {
		t.Fatalf("%d records came back as %d", len(records), len(back))
	}
	return blob
}

func TestCodecKeepsEverything(t *testing.T) {
	hour := time.Hour
	roundTrip(t, []Record{
		{Index: 5, Scheduled: 3 * hour, Sent: 4 * hour, Lag: hour, FirstByte: 5 * hour, End: 6 * hour, Status: 503, Error: ErrRefused,
			Detail: "Service Unavailable: größer", AskedIn: 1 << 40, AskedOut: 7, Input: 3, Output: 9},
		{Index: 2, Error: ErrUnsent, Scheduled: time.Microsecond},
		{Index: 9, Sent: 10 * ms, End: 12 * ms, Error: ErrConnect, Detail: "Service Unavailable: größer"},
		// A gap beyond three bytes, one backwards, and events of several tokens and of none.
		{Sent: ms, Status: 200, Tokens: []Event{{2 * ms, 3}, {40 * time.Second, 1}, {39 * time.Second, 0}, {39 * time.Second, 2}}},
		{Sent: time.Microsecond, Tokens: []Event{{wide * time.Microsecond, 1}, {(2*wide - 1) * time.Microsecond, 1}}},
	})
	blob, codec, err := Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Decode(blob, codec); err != nil || len(back) != 0 {
		t.Errorf("no records came back as %v, %v", back, err)
	}
}

func TestCodecSize(t *testing.T) {
	for name, records := range map[string][]Record{
		"law":           lawLike(1000, 1024),
		"wall":          jittery(400, 256),
		"short answers": jittery(1000, 16),
	} {
		blob := roundTrip(t, records)
		events := 0
		for _, r := range records {
			events += len(r.Tokens)
		}
		size := float64(len(blob)) / float64(events)
		t.Logf("%s: %.2f bytes a token event", name, size)
		if size > 3 {
			t.Errorf("%s: %.2f bytes a token event, at most 3 allowed", name, size)
		}
	}
}

// Instants finer than a microsecond are rounded to it, and nothing drifts over many events.
func TestCodecRoundsToTheMicrosecond(t *testing.T) {
	r := Record{Sent: 1499}
	for i := range 1000 {
		r.Tokens = append(r.Tokens, Event{time.Duration(i)*1333 + 1700, 1})
	}
	blob, codec, err := Encode([]Record{r})
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(blob, codec)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range back[0].Tokens {
		if want := r.Tokens[i].At.Round(time.Microsecond); e.At != want {
			t.Fatalf("event %d: %v, want %v", i, e.At, want)
		}
	}
}

// Damage is an error, never a panic and never a huge allocation.
func TestDecodeDamaged(t *testing.T) {
	raw := encodeColumns(jittery(20, 10))
	for cut := range raw {
		if _, err := decodeColumns(raw[:cut]); err == nil {
			t.Fatalf("%d of %d bytes were taken for whole", cut, len(raw))
		}
	}
	for at := range raw {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			bad := append([]byte(nil), raw...)
			bad[at] ^= flip
			decodeColumns(bad) // may succeed with other numbers, must come back
		}
	}
	if _, err := Decode([]byte("no zstd"), Codec1); err == nil {
		t.Error("text was taken for records")
	}
	if _, err := Decode(nil, "columns9"); err == nil {
		t.Error("an unknown codec was read")
	}
}

func BenchmarkEncode(b *testing.B) {
	records := lawLike(1000, 1024)
	for b.Loop() {
		if _, _, err := Encode(records); err != nil {
			b.Fatal(err)
		}
	}
}

// frozen are records with everything that a record holds, as testdata/records.columns1 has held them since the format began.
func frozen() []Record {
	return []Record{
		{Index: 0, Scheduled: 0, Sent: 100 * time.Microsecond, Lag: 100 * time.Microsecond, FirstByte: 50 * ms, End: 90*ms + time.Microsecond, Status: 200,
			AskedIn: 128, AskedOut: 4, Input: 130, Output: 4, Tokens: []Event{{50 * ms, 2}, {70 * ms, 1}, {90 * ms, 1}}},
		{Index: 1, Scheduled: 10 * ms, Sent: 20 * ms, FirstByte: 25 * ms, End: 25 * ms, Status: 503, Error: ErrRefused, Detail: "503 Service Unavailable: größer", AskedIn: 64, AskedOut: 8},
		{Index: 2, Scheduled: 20 * ms, Sent: 30 * ms, End: 40 * time.Second, Status: 200, Error: ErrTimeout, Detail: "no end within the request's limit of 40s",
			AskedIn: 64, AskedOut: 8, Tokens: []Event{{30 * time.Second, 1}}},
		{Index: 3, Scheduled: 30 * ms, Error: ErrUnsent, AskedIn: 64, AskedOut: 8},
	}
}

// What an earlier version has stored is read by every later one.
func TestDecodeFrozen(t *testing.T) {
	blob, err := os.ReadFile("testdata/records.columns1")
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(blob, "columns1+zstd")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(frozen(), back); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// After Round, records are what comes back of the codec, so that both give the same metrics.
func TestRoundIsWhatIsStored(t *testing.T) {
	records := jittery(50, 20)
	for i := range records {
		r := &records[i]
		r.Sent, r.Lag, r.FirstByte, r.End = r.Sent+499, r.Lag+501, r.FirstByte+1, r.End+777
		for k := range r.Tokens {
			r.Tokens[k].At += time.Duration(k * 37 % 1000)
		}
	}
	Round(records)
	roundTrip(t, records)
}

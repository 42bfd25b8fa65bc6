package metric

import (
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Codec1 names the format that Encode writes: columns of differences, varints and byte planes, compressed with zstd.
const Codec1 = "columns1+zstd"

// maxDecoded bounds the memory that a damaged blob can ask for.
const maxDecoded = 1 << 30

// Encode packs records for the study file; codec names the format, which Decode needs. Instants are kept to the microsecond.
func Encode(records []Record) (blob []byte, codec string, err error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, "", fmt.Errorf("packing records: %w", err)
	}
	defer encoder.Close()
	return encoder.EncodeAll(encodeColumns(records), nil), Codec1, nil
}

// Round brings every instant of records to the microsecond, as Encode does.
func Round(records []Record) {
	round := func(d *time.Duration) { *d = d.Round(time.Microsecond) }
	for i := range records {
		r := &records[i]
		for _, d := range []*time.Duration{&r.Scheduled, &r.Sent, &r.Lag, &r.FirstByte, &r.End} {
			round(d)
		}
		for k := range r.Tokens {
			round(&r.Tokens[k].At)
		}
	}
}

// Decode unpacks what Encode packed.
func Decode(blob []byte, codec string) ([]Record, error) {
	if codec != Codec1 {
		return nil, fmt.Errorf("unpacking records: unknown codec %q; this version reads %q", codec, Codec1)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDecoded))
	if err != nil {
		return nil, fmt.Errorf("unpacking records: %w", err)
	}
	defer decoder.Close()
	raw, err := decoder.DecodeAll(blob, nil)
	if err != nil {
		return nil, fmt.Errorf("unpacking records: %w", err)
	}
	records, err := decodeColumns(raw)
	if err != nil {
		return nil, fmt.Errorf("unpacking records: %w", err)
	}
	return records, nil
}

// A column is one field of all records, one after the other; neighbours are alike, so they compress well together.
type column struct {
	put func(w *writer, previous, r *Record)
	get func(rd *reader, previous, r *Record)
}

// columns are in the order of the format; a new one needs a new codec.
var columns = []column{
	{func(w *writer, p, r *Record) { w.signed(int64(r.Index - p.Index)) },
		func(rd *reader, p, r *Record) { r.Index = p.Index + int(rd.signed()) }},
	{func(w *writer, p, r *Record) { w.signed(micros(r.Scheduled) - micros(p.Scheduled)) },
		func(rd *reader, p, r *Record) { r.Scheduled = p.Scheduled + fromMicros(rd.signed()) }},
	{func(w *writer, _, r *Record) { w.signed(micros(r.Sent) - micros(r.Scheduled)) },
		func(rd *reader, _, r *Record) { r.Sent = r.Scheduled + fromMicros(rd.signed()) }},
	{func(w *writer, _, r *Record) { w.signed(micros(r.Lag)) },
		func(rd *reader, _, r *Record) { r.Lag = fromMicros(rd.signed()) }},
	{func(w *writer, p, r *Record) { w.signed(int64(r.Status - p.Status)) },
		func(rd *reader, p, r *Record) { r.Status = p.Status + int(rd.signed()) }},
	{func(w *writer, _, r *Record) { w.text(r.Error) }, func(rd *reader, _, r *Record) { r.Error = rd.text() }},
	{func(w *writer, _, r *Record) { w.text(r.Detail) }, func(rd *reader, _, r *Record) { r.Detail = rd.text() }},
	{func(w *writer, p, r *Record) { w.signed(int64(r.AskedIn - p.AskedIn)) },
		func(rd *reader, p, r *Record) { r.AskedIn = p.AskedIn + int(rd.signed()) }},
	{func(w *writer, p, r *Record) { w.signed(int64(r.AskedOut - p.AskedOut)) },
		func(rd *reader, p, r *Record) { r.AskedOut = p.AskedOut + int(rd.signed()) }},
	{func(w *writer, _, r *Record) { w.signed(int64(r.Input - r.AskedIn)) },
		func(rd *reader, _, r *Record) { r.Input = r.AskedIn + int(rd.signed()) }},
	{func(w *writer, _, r *Record) { w.signed(int64(r.Output - r.AskedOut)) },
		func(rd *reader, _, r *Record) { r.Output = r.AskedOut + int(rd.signed()) }},
}

// instants come after the events, because they nearly always coincide with the first and the last of them.
// 0 is an instant of its own here: none came.
var instants = []column{
	{func(w *writer, _, r *Record) { w.optional(r.FirstByte, r.firstEvent()) },
		func(rd *reader, _, r *Record) { r.FirstByte = rd.optional(r.firstEvent()) }},
	{func(w *writer, _, r *Record) { w.optional(r.End, r.lastEvent()) },
		func(rd *reader, _, r *Record) { r.End = rd.optional(r.lastEvent()) }},
}

func (r *Record) firstEvent() time.Duration {
	if len(r.Tokens) == 0 {
		return r.Sent
	}
	return r.Tokens[0].At
}

func (r *Record) lastEvent() time.Duration {
	if len(r.Tokens) == 0 {
		return r.Sent
	}
	return r.Tokens[len(r.Tokens)-1].At
}

func encodeColumns(records []Record) []byte {
	w := &writer{texts: map[string]uint64{}}
	w.unsigned(uint64(len(records)))
	putColumns(w, columns, records)
	encodeEvents(w, records)
	putColumns(w, instants, records)
	return w.buf
}

func decodeColumns(raw []byte) ([]Record, error) {
	rd := &reader{buf: raw}
	n := rd.unsigned()
	if n > uint64(len(raw)/len(columns)) { // every column takes a byte or more

		return nil, errDamaged
	}
	records := make([]Record, n)
	getColumns(rd, columns, records)
	decodeEvents(rd, records)
	getColumns(rd, instants, records)
	if rd.failed || len(rd.buf) != 0 {
		return nil, errDamaged
	}
	return records, nil
}

func putColumns(w *writer, columns []column, records []Record) {
	for _, c := range columns {
		previous := &Record{}
		for i := range records {
			c.put(w, previous, &records[i])
			previous = &records[i]
		}
	}
}

func getColumns(rd *reader, columns []column, records []Record) {
	for _, c := range columns {
		previous := &Record{}
		for i := range records {
			c.get(rd, previous, &records[i])
			previous = &records[i]
		}
	}
}

var errDamaged = errors.New("the records are damaged")

func micros(d time.Duration) int64      { return d.Round(time.Microsecond).Microseconds() }
func fromMicros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

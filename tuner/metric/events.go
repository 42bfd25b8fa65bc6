package metric

// wide marks a gap that does not fit three bytes (16.7 s, or backwards); it stands whole in a list of its own.
const wide = 1<<24 - 1

// encodeEvents writes the events of all records: how many each has, the gaps between them in three planes (all low bytes, all middle
// bytes, all high bytes: the high ones are nearly all 0), then the tokens in runs of equal counts.
func encodeEvents(w *writer, records []Record) {
	total := 0
	for i := range records {
		w.unsigned(uint64(len(records[i].Tokens)))
		total += len(records[i].Tokens)
	}
	start := len(w.buf)
	w.buf = append(w.buf, make([]byte, 3*total)...)
	low, middle, high := w.buf[start:start+total], w.buf[start+total:start+2*total], w.buf[start+2*total:]
	var whole []int64
	k := 0
	for i := range records {
		at := micros(records[i].Sent)
		for _, e := range records[i].Tokens {
			gap := micros(e.At) - at
			at += gap
			if gap < 0 || gap >= wide {
				whole = append(whole, gap)
				gap = wide
			}
			low[k], middle[k], high[k] = byte(gap), byte(gap>>8), byte(gap>>16)
			k++
		}
	}
	for _, gap := range whole {
		w.signed(gap)
	}
	encodeCounts(w, records)
}

func encodeCounts(w *writer, records []Record) {
	last, run := 0, uint64(0)
	for i := range records {
		for _, e := range records[i].Tokens {
			if run > 0 && e.Tokens != last {
				w.unsigned(run)
				w.signed(int64(last))
				run = 0
			}
			last = e.Tokens
			run++
		}
	}
	if run > 0 {
		w.unsigned(run)
		w.signed(int64(last))
	}
}

func decodeEvents(rd *reader, records []Record) {
	total := uint64(0)
	counts := make([]uint64, len(records))
	for i := range records {
		counts[i] = rd.unsigned()
		total += counts[i]
		// Every event takes three bytes, so a larger sum is damage, not data; checked at each step so that it cannot overflow.
		if rd.failed || counts[i] > uint64(len(rd.buf)) || total > uint64(len(rd.buf))/3 {
			rd.failed = true
			return
		}
	}
	planes := rd.bytes(3 * int(total))
	low, middle, high := planes[:total], planes[total:2*total], planes[2*total:]
	events := make([]Event, total)
	k := uint64(0)
	for i := range records {
		if counts[i] == 0 {
			continue
		}
		records[i].Tokens = events[k : k+counts[i] : k+counts[i]]
		at := micros(records[i].Sent)
		for j := range records[i].Tokens {
			gap := int64(low[k]) | int64(middle[k])<<8 | int64(high[k])<<16
			if gap == wide {
				gap = rd.signed()
			}
			at += gap
			records[i].Tokens[j].At = fromMicros(at)
			k++
		}
	}
	decodeCounts(rd, events)
}

func decodeCounts(rd *reader, events []Event) {
	for k := 0; k < len(events); {
		run, tokens := rd.unsigned(), int(rd.signed())
		if rd.failed || run == 0 || run > uint64(len(events)-k) {
			rd.failed = true
			return
		}
		for end := k + int(run); k < end; k++ {
			events[k].Tokens = tokens
		}
	}
}

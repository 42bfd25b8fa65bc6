package workload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A repeat sends content of its own, so that no cache of prefixes knows a prompt from an earlier repeat. Prompts that a dataset brings are
// changed at their beginning alone, all in the same way: what they share with each other stays shared.

// RepeatText is a text as it is sent in a repeat: itself in the first, else behind a few characters that name the repeat, and its words in
// reverse to warm up.
func RepeatText(text string, repeat int) string {
	switch repeat {
	case 0:
		return text
	case WarmupRepeat:
		return WarmupText(text)
	}
	return repeatMark(repeat) + text
}

func repeatMark(repeat int) string {
	if repeat == WarmupRepeat {
		return "[warm-up] "
	}
	return fmt.Sprintf("[%d] ", repeat)
}

// RepeatTokens are given token ids as they are sent in a repeat: as many, the first one another.
func RepeatTokens(ids []int32, repeat int) []int32 {
	if repeat == 0 || len(ids) == 0 {
		return ids
	}
	out := slices.Clone(ids)
	// One of the 899 ids from 100 on that are not the first one itself: two repeats of fewer than that have different ones.
	const lowest, width = specialTokens, DefaultVocab - specialTokens - 1
	out[0] = int32(lowest + (int(mix(uint64(ids[0]))%width)+repeat+width)%width)
	if out[0] >= ids[0] {
		out[0]++
	}
	return out
}

// RepeatMessages is a chat as it is sent in a repeat: the first message's content begins with the mark of the repeat. Messages is a JSON list
// that CheckMessages has let pass.
func RepeatMessages(messages string, repeat int) string {
	if repeat == 0 {
		return messages
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal([]byte(messages), &list) != nil || len(list) == 0 {
		return messages
	}
	mark := repeatMark(repeat)
	var text string
	var parts []json.RawMessage
	switch content := list[0]["content"]; {
	case json.Unmarshal(content, &text) == nil:
		list[0]["content"] = encode(mark + text)
	case json.Unmarshal(content, &parts) == nil:
		first := encode(map[string]string{"type": "text", "text": mark})
		list[0]["content"] = encode(slices.Insert(parts, 0, json.RawMessage(first)))
	}
	return string(encode(list))
}

// encode writes JSON; maps by their keys, so that it is the same each time.
func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("a value without JSON: " + err.Error()) // texts, and what was read as JSON, always have it
	}
	return text
}

// CheckMessages refuses what is no chat: a list of {"role": ..., "content": ...}, the content a text or a list of parts.
func CheckMessages(messages []byte) error {
	const want = `a list of {"role": ..., "content": ...} is wanted`
	var list []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(messages, &list); err != nil || len(list) == 0 {
		return fmt.Errorf("messages is no chat; %s", want)
	}
	for i, m := range list {
		if m.Role == "" {
			return fmt.Errorf("message %d has no role; %s", i+1, want)
		}
		if c := strings.TrimSpace(string(m.Content)); c == "" || c[0] != '"' && c[0] != '[' && (c != "null" || i == 0) {
			return fmt.Errorf("the content of message %d is neither a text nor a list of parts", i+1)
		}
	}
	return nil
}

// WarmupText is a text of a text's length that shares no beginning with it, so that no cache of prefixes knows the text afterwards:
// its words in reverse.
func WarmupText(text string) string {
	words := strings.Fields(text)
	slices.Reverse(words)
	return "Warm-up: " + strings.Join(words, " ")
}

package workload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A repeat sends content of its own, so that no cache of prefixes knows a prompt from an earlier repeat. Prompts that a dataset brings are
// changed at their beginning alone, all in the same way: what they share with each other stays shared.

// Mark is the number that prompts of a repeat are marked with: from 1 to 999999, another for each repeat of a trial, and by chance for other seeds and trials.
// Of the warm-up it is WarmupRepeat. 0 leaves prompts as the dataset has them.
func Mark(studySeed uint64, trial, repeat int) int {
	if repeat == WarmupRepeat {
		return WarmupRepeat
	}
	return 1 + int((mix(mix(studySeed)+uint64(trial))%mostMark+uint64(repeat))%mostMark)
}

const mostMark = 999_999

// MarkText is a text as it is sent under a mark: behind a few characters that name the mark, and its words in reverse to warm up.
func MarkText(text string, mark int) string {
	switch mark {
	case 0:
		return text
	case WarmupRepeat:
		return WarmupText(text)
	}
	return textOf(mark) + text
}

// textOf has as many characters for every mark, so that a prompt has as many tokens in each repeat.
func textOf(mark int) string {
	if mark == WarmupRepeat {
		return "[warm-up] "
	}
	return fmt.Sprintf("[%06d] ", mark)
}

// MarkTokens are given token ids as they are sent under a mark: as many, the first one another, and the second by more of the mark.
func MarkTokens(ids []int32, mark int) []int32 {
	if mark == 0 || len(ids) == 0 {
		return ids
	}
	if mark == WarmupRepeat {
		mark = mostMark + 1
	}
	out := slices.Clone(ids)
	// One of the 899 ids from 100 on that are not the one itself: marks that are fewer than that apart have another first one.
	const lowest, width = specialTokens, DefaultVocab - specialTokens - 1
	other := func(id int32, by int) int32 {
		n := int32(lowest + (int(mix(uint64(id))%width)+by)%width)
		if n >= id {
			n++
		}
		return n
	}
	out[0] = other(ids[0], mark)
	if more := mark / width; more > 0 && len(ids) > 1 {
		out[1] = other(ids[1], more)
	}
	return out
}

// MarkMessages is a chat as it is sent under a mark, with which the first message's content begins. Messages is a JSON list that CheckMessages
// has let pass.
func MarkMessages(messages string, mark int) string {
	if mark == 0 {
		return messages
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal([]byte(messages), &list) != nil || len(list) == 0 {
		return messages
	}
	begin := textOf(mark)
	var text string
	var parts []json.RawMessage
	switch content := list[0]["content"]; {
	case json.Unmarshal(content, &text) == nil:
		list[0]["content"] = encode(begin + text)
	case json.Unmarshal(content, &parts) == nil:
		first := encode(map[string]string{"type": "text", "text": begin})
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

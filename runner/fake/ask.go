package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// ask is the body of a completion request, as far as the fake obeys it.
type ask struct {
	Model               string          `json:"model"`
	Prompt              json.RawMessage `json:"prompt"`
	Messages            []message       `json:"messages"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stream              bool            `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
		Continuous   bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`

	ids int // prompt tokens, of a prompt of token ids
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

const (
	// charactersPerToken is the fake's tokenizer: English text has about four characters a token.
	charactersPerToken = 4
	// templateTokens is what a chat template adds: 12 in the published GLM study, 10 in the Qwen one.
	templateTokens = 12
	// chatOutput is where the fake's answers in a chat end that has no limit.
	chatOutput = 1024
	// defaultOutput is the OpenAI API's max_tokens of a completion that names none.
	defaultOutput = 16
)

// parseAsk reads a body. A prompt of token ids is counted by a scan of its own: it is most of the body, and nothing but its length matters.
func parseAsk(body []byte) (ask, error) {
	var a ask
	rest, ids := cutIDs(body)
	if err := json.Unmarshal(rest, &a); err != nil {
		return a, err
	}
	a.ids = ids
	return a, nil
}

// cutIDs finds a prompt that is one flat list of token ids, counts them and returns the body with an empty list in its place; any other
// body comes back as it is, with 0.
func cutIDs(body []byte) (rest []byte, count int) {
	at := bytes.Index(body, []byte(`"prompt":`)) // inside a JSON string the quotes would be escaped
	if at < 0 {
		return body, 0
	}
	from := at + len(`"prompt":`)
	for from < len(body) && body[from] == ' ' {
		from++
	}
	if from == len(body) || body[from] != '[' {
		return body, 0
	}
	digits := false // in a number
	for i := from + 1; i < len(body); i++ {
		switch c := body[i]; {
		case c >= '0' && c <= '9':
			if !digits {
				digits, count = true, count+1
			}
		case c == ',' || c == ' ':
			digits = false
		case c == ']' && count > 0:
			rest = append(append(append(rest, body[:from]...), "[]"...), body[i+1:]...)
			return rest, count
		default:
			return body, 0
		}
	}
	return body, 0
}

// input counts the prompt's tokens: exactly for token ids, by length for texts.
func (a *ask) input(chat bool) (int, error) {
	if chat {
		if len(a.Messages) == 0 {
			return 0, fmt.Errorf("messages is missing")
		}
		n := templateTokens
		for _, m := range a.Messages {
			n += textTokens(len(text(m.Content)))
		}
		return n, nil
	}
	if a.ids > 0 {
		return a.ids, nil
	}
	if len(a.Prompt) == 0 || a.Prompt[0] != '"' {
		return 0, fmt.Errorf("prompt is neither a text nor a list of token ids")
	}
	return max(1, textTokens(len(text(a.Prompt)))), nil
}

func textTokens(characters int) int {
	return (characters + charactersPerToken - 1) / charactersPerToken
}

// text is the text of a content, which is a string or a list of parts.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // what is neither counts as nothing
	for _, p := range parts {
		s += p.Text
	}
	return s
}

// limit is how many tokens the request asks for at most.
func (a *ask) limit(chat bool, context, input int) int {
	switch {
	case a.MaxCompletionTokens != nil:
		return *a.MaxCompletionTokens
	case a.MaxTokens != nil:
		return *a.MaxTokens
	case chat && context > 0:
		return max(1, min(chatOutput, context-input)) // a chat goes on until the model ends it
	}
	return defaultOutput
}

// output is how many tokens the model says before it stops: all of the limit when the end mark is ignored, else the model ends by itself
// somewhere between a quarter and all of it, as n (a number of the request) falls.
func (a *ask) output(limit, n int) int {
	if a.IgnoreEOS {
		return limit
	}
	const quarters = 7 // coprime to 8: neighbours differ
	return max(min(a.MinTokens, limit), limit-limit*3/4*(n*quarters%8)/8)
}

// check refuses what the engine refuses, with its own words.
func (a *ask) check(name string, input, limit, context int) *refusal {
	switch {
	case a.Model != "" && a.Model != name:
		return &refusal{http.StatusNotFound, "NotFoundError", fmt.Sprintf("The model `%s` does not exist. Valid aliases: %s.", a.Model, name), "model"}
	case limit < 1:
		return badRequest(fmt.Sprintf("max_tokens must be at least 1, got %d.", limit), "max_tokens")
	case context > 0 && input > context:
		return badRequest(fmt.Sprintf("This model's maximum context length is %d tokens. However, your prompt contains %d input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=%d)", context, input, input), "input_tokens")
	case context > 0 && input+limit > context:
		return badRequest(fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d output tokens and your prompt contains at least %d input tokens, for a total of at least %d tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=%d)", context, limit, input, input+limit, input), "input_tokens")
	}
	return nil
}

func badRequest(message, param string) *refusal {
	return &refusal{http.StatusBadRequest, "BadRequestError", message, param}
}

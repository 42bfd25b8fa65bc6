package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"autotune/tuner/metric"
)

const pathModels = "/v1/models"

// Models lists the names under which a server serves models. ErrRefused is in the error when the server answered, but with another status
// than 200.
func Models(ctx context.Context, t Target) ([]string, error) {
	c := newClient(t)
	defer c.close()
	ctx, cancel := context.WithTimeout(ctx, detectLimit)
	defer cancel()
	status, text, err := c.ask(ctx, http.MethodGet, pathModels, nil)
	switch {
	case err != nil:
		return nil, fmt.Errorf("asking for the models: %s: %s", metric.ErrConnect, c.secrets.Replace(plain(err)))
	case status != http.StatusOK:
		return nil, fmt.Errorf("asking for the models: %w: %d %s", ErrRefused, status, c.secrets.Replace(shorten(errorText(text))))
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("asking for the models: %w: the answer is no list of models", ErrRefused)
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"autotune/runner/load"
	"autotune/tuner"
)

// Why a launch did not get to its end. What the context says and what an observer says are ends of their own.
var (
	errExited   = errors.New("the server ended")
	errFatal    = errors.New("the server's log names the end of it")
	errSilent   = errors.New("the server fell silent")
	errLate     = errors.New("the server was not ready in time")
	errStranger = errors.New("another server answers")
	errRefuses  = errors.New("the server says that it is well, and refuses every request")
)

// stopped is the observer's word.
type stopped struct{ reason string }

func (s stopped) Error() string { return s.reason }

// Bounds of the wait for readiness.
const (
	firstPoll  = 10 * time.Millisecond  // between two questions whether it is ready, growing by half each time up to
	widestPoll = 500 * time.Millisecond // this; a start that takes minutes does not mind
	answerTime = 5 * time.Second        // for an answer other than a completion
	everyTick  = time.Second            // between two reports
	// fatalGrace is how long a server may live on after a line that names its end: most end by themselves and say more.
	fatalGrace = 3 * time.Second
)

// awaitReady waits until our own server has answered a completion, and says why it did not; nil when it did.
func (a *attempt) awaitReady(parent context.Context) error {
	ctx, cancel := context.WithTimeoutCause(parent, a.Timeouts.Start, errLate)
	defer cancel()
	polled := make(chan error, 1)
	go func() { polled <- a.poll(ctx) }()
	waitPoll := func() error { cancel(); return <-polled }
	tick := time.NewTicker(min(everyTick, a.Timeouts.Silence/4, a.Timeouts.Start/4) + 1)
	defer tick.Stop()
	if err := a.starting(); err != nil {
		_ = waitPoll() // the observer's word goes before it
		return err
	}
	for {
		var err error
		select {
		case err := <-polled:
			if err == nil {
				return a.welcome(parent)
			}
			return a.because(parent, ctx, err)
		case <-a.server.Done():
			err = errExited
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-a.news.came:
			a.news.judge(a.plan.Searched, false)
			if p, _ := a.news.standing(); later(p, a.phase) && p != tuner.PhaseServe {
				a.enter(p)
				err = a.starting()
			}
		case <-tick.C:
			err = a.checkStart()
		}
		if err != nil {
			late := errors.Is(err, errSilent) || errors.Is(err, errLate)
			if answer := waitPoll(); late && errors.Is(answer, errRefuses) {
				err = answer // it says more: the server lives, and is not slow
			}
			return a.because(parent, ctx, err)
		}
	}
}

// because is the reason that goes before all others: the end of the server, a person's wish, or what was found.
func (a *attempt) because(parent, ctx context.Context, err error) error {
	switch {
	case parent.Err() != nil:
		return context.Cause(parent)
	case closed(a.server.Done()):
		return errExited
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return context.Cause(ctx)
	default:
		return err
	}
}

// checkStart is done at each tick of the start.
func (a *attempt) checkStart() error {
	if a.news.dying(min(fatalGrace, a.Timeouts.Silence)) != nil {
		return errFatal
	}
	if a.news.silent() > a.Timeouts.Silence {
		return errSilent
	}
	return a.starting()
}

// starting reports how the start stands.
func (a *attempt) starting() error {
	_, milestone := a.news.standing()
	v := a.tell(tuner.Partial{Phase: a.phase, Elapsed: a.Now().Sub(a.since), Total: a.Workload.Requests, Detail: milestone})
	if v.Stop {
		return stopped{v.Reason}
	}
	return nil
}

// poll asks until our server is ready, soon at first and then less and less often.
func (a *attempt) poll(ctx context.Context) error {
	for pause := firstPoll; ; pause = min(pause+pause/2, widestPoll) {
		if a.healthy(ctx) {
			models, err := a.models(ctx)
			switch {
			case err != nil:
			case slices.Contains(models, a.name):
				return a.probe(ctx)
			case len(models) > 0:
				return fmt.Errorf("%w on port %d: it serves %s, not %s", errStranger, a.server.Slot().Port, strings.Join(models, ", "), a.name)
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// probe asks for completions until one is given: the first ones may be refused by a server that has only just come up, but one that
// gives nothing at all for long hangs, whatever its health says, and one that answers and refuses to the last does not work.
func (a *attempt) probe(ctx context.Context) error {
	hang := fmt.Errorf("%w: it says that it is well, and gives no completion", errSilent)
	limited, cancel := context.WithTimeoutCause(ctx, a.Timeouts.Hang, hang)
	defer cancel()
	var refusal error
	for pause := firstPoll; ; pause = min(2*pause, widestPoll) {
		err := load.Probe(limited, a.target)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, load.ErrRefused):
			refusal = fmt.Errorf("%w (%v)", errRefuses, err)
		case limited.Err() == nil: // a question that our own limit cut short says nothing
			refusal = nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-limited.Done():
			timer.Stop()
			switch {
			case refusal != nil:
				return refusal
			case ctx.Err() != nil:
				return ctx.Err()
			default:
				return fmt.Errorf("%w (%v)", hang, err)
			}
		}
	}
}

// welcome takes down what a server that is ready says of itself.
func (a *attempt) welcome(ctx context.Context) error {
	a.ready = true
	a.enter(tuner.PhaseServe)
	a.readInfo(ctx)
	v := a.tell(tuner.Partial{Phase: a.phase, Total: a.Workload.Requests, EngineVersion: a.out.Run.EngineVersion, Detail: "ready"})
	if v.Stop {
		return stopped{v.Reason}
	}
	return nil
}

func (a *attempt) healthy(ctx context.Context) bool {
	_, err := a.get(ctx, a.plan.Engine.HealthPath())
	return err == nil
}

func (a *attempt) models(ctx context.Context) ([]string, error) {
	text, err := a.get(ctx, a.plan.Engine.ModelsPath())
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

// answerMost bounds an answer's length in bytes: the largest that is asked for, the metrics of many ranks, has less.
const answerMost = 16 << 20

// get is the body of an answer with status 200.
func (a *attempt) get(ctx context.Context, path string) ([]byte, error) {
	return a.ask(ctx, http.MethodGet, path)
}

func (a *attempt) ask(ctx context.Context, method, path string) (body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, a.target.URL+path, nil)
	if err != nil {
		return nil, err
	}
	if a.target.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+a.target.APIKey)
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	body, err = io.ReadAll(io.LimitReader(answer.Body, answerMost))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: status %d", method, path, answer.StatusCode)
	}
	return body, err
}

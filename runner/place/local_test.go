package place_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"testing"

	"autotune/runner/place"
	"autotune/runner/place/placetest"
)

func TestMain(m *testing.M) {
	if placetest.Play(os.Args) {
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		if err := place.Guard(os.Stdin, os.Args[2:]); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func local(t *testing.T, c place.LocalConfig) *place.Local {
	t.Helper()
	l, err := place.NewLocal(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLocal(t *testing.T) { placetest.Run(t, local(t, place.LocalConfig{})) }

func TestLocalWithGuardAndGPUs(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	placetest.Run(t, local(t, place.LocalConfig{GPUs: []int{2, 3}, Guard: []string{exe, "guard"}}))
}

func start(t *testing.T, l *place.Local) (place.Server, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Start(t.Context(), place.Job{ID: fmt.Sprintf("%s-%d", t.Name(), os.Getpid()), Log: t.TempDir() + "/engine.log",
		Command: func(s place.Slot) place.Command {
			return place.Command{Argv: []string{exe, "placetest", "environment"}, Env: s.Env}
		}})
	if err == nil {
		t.Cleanup(func() { _ = s.Stop(0) })
	}
	return s, err
}

func TestGPUs(t *testing.T) {
	s, err := start(t, local(t, place.LocalConfig{GPUs: []int{4, 6}}))
	if err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(s.Lines(), "CUDA_VISIBLE_DEVICES=4,6") || !slices.Equal(s.Slot().GPUs, []int{4, 6}) {
		t.Errorf("GPUs %v, environment %q", s.Slot().GPUs, s.Lines())
	}
}

// oneBlock is room for one server, far from the ranges of other tests.
var oneBlock = place.Ports{First: 30000, Last: 30511}

func TestPortsRunOut(t *testing.T) {
	a, b := local(t, place.LocalConfig{Ports: oneBlock}), local(t, place.LocalConfig{Ports: oneBlock})
	s, err := start(t, a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := start(t, b); !errors.Is(err, place.ErrPorts) {
		t.Errorf("a second server on the same block: %v", err)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	if s, err = start(t, b); err != nil {
		t.Fatalf("the block was not given back: %v", err)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:30233") // a derived port of SGLang's
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, err := start(t, a); !errors.Is(err, place.ErrPorts) || !bytes.Contains([]byte(err.Error()), []byte("port 30233 is in use by another program")) {
		t.Errorf("a port that the engine would derive is taken: %v", err)
	}
}

func TestBadPorts(t *testing.T) {
	for _, ports := range []place.Ports{{First: 80, Last: 5000}, {First: 2000, Last: 2100}, {First: 60000, Last: 70000}, {First: 9000, Last: 8000}} {
		if _, err := place.NewLocal(place.LocalConfig{Ports: ports}); err == nil {
			t.Errorf("%v was taken", ports)
		}
	}
}

func TestGuardsWords(t *testing.T) {
	for _, words := range [][]string{nil, {"mark"}, {"mark", "soon"}} {
		if err := place.Guard(bytes.NewReader(nil), words); err == nil {
			t.Errorf("%q was taken", words)
		}
	}
}

package fake

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"autotune/runner/engine"
	"autotune/tuner"
)

var bothEngines = map[string]string{"vllm": "vllm serve demo/tiny", "sglang": "sglang --model-path demo/tiny"}

// verdict is what our own classifier makes of the server's log and end.
func (p *process) verdict(engineName string, status int) engine.Finding {
	return engine.Classify(engine.Evidence{Engine: engineName, Lines: strings.Split(p.log(), "\n"), ExitCode: status})
}

func TestOutOfMemoryInTheStart(t *testing.T) {
	for name, words := range bothEngines {
		for _, phase := range []string{"load", "profile", "capture"} {
			t.Run(name+"/"+phase, func(t *testing.T) {
				p := start(t, "--clock law --fault oom-start="+phase+" "+words+" --port=0")
				want := map[string]int{"vllm": 1, "sglang": -int(syscall.SIGKILL)}[name]
				if got := p.status(); got != want {
					t.Errorf("exit status %d, want %d", got, want)
				}
				if f := p.verdict(name, want); f.Reason != "memory" || f.Phase != tuner.Phase(phase) {
					t.Errorf("the log reads as %s in %s (%s): %s\n%s", f.Reason, f.Phase, f.Signature, f.Evidence, p.log())
				}
				p.nothingLeft()
			})
		}
	}
}

func TestRejectedFlag(t *testing.T) {
	for name, words := range bothEngines {
		p := start(t, "--fault reject-flag "+words+" --port=0")
		if got := p.status(); got != 2 {
			t.Errorf("%s: exit status %d", name, got)
		}
		if f := p.verdict(name, 2); f.Signature != "unrecognised" || f.Phase != "flags" {
			t.Errorf("%s: the log reads as %s in %s:\n%s", name, f.Signature, f.Phase, p.log())
		}
	}
	p := ready(t, "--fault reject-flag=enable-dbo vllm serve demo/tiny") // it is not used
	if p.terminate() != 0 {
		t.Error("a flag that is not used was refused")
	}
}

func TestFaultsOnlyWhenTheConditionHolds(t *testing.T) {
	p := start(t, "--clock law --fault oom-start --fault-when max-num-seqs>64&&engine==vllm vllm serve demo/tiny --max-num-seqs 65 --port=0")
	if p.status() != 1 {
		t.Error("the condition holds, and the fault did not happen")
	}
	p = ready(t, "--clock law --fault oom-start --fault-when max-num-seqs>64 vllm serve demo/tiny --max-num-seqs 64")
	if p.terminate() != 0 {
		t.Error("it did not end well")
	}
	p = ready(t, "--clock law --fault oom-start --fault-when max-num-seqs>64 vllm serve demo/tiny") // default is not greater than anything
	if p.terminate() != 0 {
		t.Error("it did not end well")
	}
}

func TestTakenPort(t *testing.T) {
	for name, words := range bothEngines {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for _, how := range []string{fmt.Sprintf("%s --host 127.0.0.1 --port=%d", words, l.Addr().(*net.TCPAddr).Port), "--fault address-in-use " + words} {
			p := start(t, "--clock law "+how)
			if got := p.status(); got != 1 {
				t.Errorf("%s: exit status %d", how, got)
			}
			if f := p.verdict(name, 1); f.Signature != "port_in_use" {
				t.Errorf("%s: the log reads as %s:\n%s", how, f.Signature, p.log())
			}
			p.nothingLeft()
		}
	}
}

func TestHangInTheStart(t *testing.T) {
	for name, words := range bothEngines {
		p := start(t, "--clock law --fault hang-start "+words+" --host=127.0.0.1 --port=0")
		p.logged(`Model loading took|Load weight end`)
		if len(session(p.cmd.Process.Pid)) < 2 {
			t.Errorf("%s: no child", name)
		}
		if got := p.terminate(); got != 0 {
			t.Errorf("%s: exit status %d", name, got)
		}
		p.nothingLeft()
	}
}

func TestSlowStart(t *testing.T) {
	begin := time.Now()
	p := ready(t, "--clock law --fault slow-start=300ms vllm serve demo/tiny")
	if took := time.Since(begin); took < 300*time.Millisecond {
		t.Errorf("it was ready after %v", took)
	}
	p.logged(`100% Completed \| 10/10`)
}

func TestStartTimeIsShared(t *testing.T) {
	begin := time.Now()
	p := ready(t, "--clock law --start-time 200ms vllm serve demo/tiny")
	if took := time.Since(begin); took < 200*time.Millisecond {
		t.Errorf("it was ready after %v", took)
	}
	if p.terminate() != 0 {
		t.Error("it did not end well")
	}
}

func TestOutOfMemoryButAlive(t *testing.T) {
	p := start(t, "--clock law --fault log-oom-but-alive vllm serve demo/tiny --port=0")
	p.logged(`CUDA out of memory`)
	if len(session(p.cmd.Process.Pid)) < 2 {
		t.Error("it does not live on")
	}
	if p.terminate() != 0 {
		t.Error("it does not end when asked")
	}
	p = ready(t, "--clock law --fault log-oom-but-alive=3 vllm serve demo/tiny")
	done := make(chan struct{})
	go func() { defer close(done); p.play(t, steady(4, 1, 1, 10, 10)) }()
	p.logged(`CUDA out of memory`)
	if status, _ := p.get("/health"); status != http.StatusOK {
		t.Errorf("/health: %d", status)
	}
	p.terminate()
	<-done
}

func TestWrongModelOnThePort(t *testing.T) {
	p := ready(t, "--clock law --fault wrong-model-name vllm serve demo/tiny --served-model-name mine")
	if model := p.object("/v1/models")["data"].([]any)[0].(map[string]any); model["id"] == "mine" {
		t.Errorf("/v1/models: %v", model)
	}
}

func TestSilence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	p := start(t, fmt.Sprintf("--clock law --fault silent vllm serve demo/tiny --host=127.0.0.1 --port=%d", port))
	p.base = fmt.Sprintf("http://127.0.0.1:%d", port)
	p.poll("the server to answer", func() bool {
		r, err := http.Get(p.base + "/health")
		return err == nil && drainBody(r) && r.StatusCode == 200
	})
	if a := p.ask("/v1/completions", completion("demo/tiny", 3, 3)); a.Usage != 3 {
		t.Errorf("%+v", a)
	}
	if p.terminate() != 0 || p.log() != "" {
		t.Errorf("it said something:\n%s", p.log())
	}
}

func TestHeldGPUs(t *testing.T) {
	dir := t.TempDir()
	first := ready(t, "--clock law --gpu-dir "+dir+" vllm serve demo/tiny", "CUDA_VISIBLE_DEVICES=0,1")
	other := ready(t, "--clock law --gpu-dir "+dir+" vllm serve demo/tiny", "CUDA_VISIBLE_DEVICES=2")
	p := start(t, "--clock law --gpu-dir "+dir+" vllm serve demo/tiny --port=0", "CUDA_VISIBLE_DEVICES=1")
	if got := p.status(); got != 1 {
		t.Errorf("exit status %d:\n%s", got, p.log())
	}
	if f := p.verdict("vllm", 1); f.Signature != "vllm_free_mem_low" {
		t.Errorf("the log reads as %s:\n%s", f.Signature, p.log())
	}
	if first.terminate() != 0 || other.terminate() != 0 {
		t.Error("they did not end well")
	}
	again := ready(t, "--clock law --gpu-dir "+dir+" vllm serve demo/tiny", "CUDA_VISIBLE_DEVICES=0,1,2")
	if again.terminate() != 0 {
		t.Error("it did not end well")
	}
	if locks, _ := filepath.Glob(dir + "/*.lock"); len(locks) != 3 {
		t.Errorf("lock files: %v", locks)
	}
}

func TestMoreGPUsThanThereAre(t *testing.T) {
	p := start(t, "--clock law --gpus 4 vllm serve demo/tiny --tensor-parallel-size 8 --port=0")
	if got := p.status(); got != 1 {
		t.Errorf("exit status %d", got)
	}
	if f := p.verdict("vllm", 1); f.Signature != "gpu_count" {
		t.Errorf("the log reads as %s:\n%s", f.Signature, p.log())
	}
	p.nothingLeft()
}

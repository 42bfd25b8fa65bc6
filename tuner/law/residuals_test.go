package law

import (
	"testing"
	"time"
)

func TestResiduals(t *testing.T) {
	p := readPublished()
	for i := range p.Records {
		at := time.Now()
		r := p.residual(i, nil)
		t.Logf("%2d %v %-16s %-6s %8.0f %8.0f %+6.1f%% %s/%s %v %v", i, r.OK, r.Workload, r.Engine, r.Published, r.Law, 100*r.Error, r.Status, r.LawStatus, r.Args, time.Since(at).Round(time.Millisecond))
	}
}

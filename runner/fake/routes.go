package fake

import (
	"net/http"
	"strconv"

	"autotune/runner/internal/lawtime"
)

// routes are the paths that the engine answers.
func (s *server) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /health", s.health)
	m.HandleFunc("GET /v1/models", s.models)
	m.HandleFunc("POST /v1/completions", s.complete(false))
	m.HandleFunc("POST /v1/chat/completions", s.complete(true))
	if s.sglang() {
		m.HandleFunc("GET /health_generate", s.health)
		m.HandleFunc("GET /server_info", s.sglangInfo)
		m.HandleFunc("GET /get_server_info", s.sglangInfo)
		m.HandleFunc("GET /model_info", s.modelInfo)
		m.HandleFunc("GET /get_model_info", s.modelInfo)
		m.HandleFunc("/flush_cache", s.flushSGLang)
		if s.on("enable-metrics", false) {
			m.HandleFunc("GET /metrics", s.serveMetrics)
		}
	} else {
		m.HandleFunc("GET /ping", s.health)
		m.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusOK, map[string]string{"version": s.version})
		})
		m.HandleFunc("GET /metrics", s.serveMetrics)
		if s.getenv("VLLM_SERVER_DEV_MODE") == "1" {
			m.HandleFunc("GET /server_info", s.vllmInfo)
			m.HandleFunc("POST /reset_prefix_cache", s.flushVLLM)
		}
	}
	if s.law() {
		m.Handle(lawtime.Path, s.plans)
	}
	m.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]string{"detail": "Not Found"})
	})
	return m
}

// health says that the engine believes that it is well.
func (s *server) health(w http.ResponseWriter, r *http.Request) {
	status := http.StatusOK
	if s.dead.Load() || !s.ready.Load() {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(status)
	s.access(r, status)
}

// models lists the one model that is served.
func (s *server) models(w http.ResponseWriter, r *http.Request) {
	owner := "vllm"
	if s.sglang() {
		owner = "sglang"
	}
	model := map[string]any{"id": s.shown, "object": "model", "created": s.start.Unix(), "owned_by": owner, "root": s.model, "parent": nil}
	if s.context > 0 {
		model["max_model_len"] = s.context
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{model}})
	s.access(r, http.StatusOK)
}

// flushVLLM empties the prefix cache; vLLM says that it did not while a request holds blocks.
func (s *server) flushVLLM(w http.ResponseWriter, r *http.Request) {
	idle := s.idleNow()
	if idle {
		s.cache.flush()
	}
	writeJSON(w, http.StatusOK, map[string]bool{"success": idle})
	s.access(r, http.StatusOK)
}

// flushSGLang empties the prefix cache; SGLang refuses while requests run.
func (s *server) flushSGLang(w http.ResponseWriter, r *http.Request) {
	status, text := http.StatusOK, "Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)\n"
	if !s.idleNow() {
		status, text = http.StatusBadRequest, "Flush cache failed.\n"
	} else {
		s.cache.flush()
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a client that is gone needs no answer
	s.access(r, status)
}

func (s *server) idleNow() bool {
	c := s.counters()
	return c.Running == 0 && c.Waiting == 0
}

func (s *server) modelInfo(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"model_path": s.model, "tokenizer_path": s.model, "is_generation": true})
	s.access(r, http.StatusOK)
}

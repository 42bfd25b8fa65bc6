// Package report turns a history into what people and scripts read: a terminal's text, JSON.
package report

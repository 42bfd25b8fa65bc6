// Package tuner is what a study is, and the loop that runs one.
package tuner

// Package storetest is what every implementation of tuner.Store has to pass, and the made-up studies that it is tried with.
package storetest

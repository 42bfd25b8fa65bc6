// Package store is the study file: SQLite behind tuner.Store.
//
// One file holds one study. Its trials stand in the tables of Optuna, so that Optuna and its dashboard open the file as their own, and in
// tables of ours, whose names begin with autotune_. Ours are true; Optuna's are a projection of them, written in the same transaction.
package store

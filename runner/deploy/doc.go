// Package deploy writes the measured command to and from what people deploy.
package deploy

// Package studyfile turns YAML into a valid study, or says which line is wrong and what would be right.
package studyfile

// Package demo plays the whole product in one process: a real daemon against fake endpoints and a fake Slack, with a fault that it
// is to find.
package demo

// Package secret holds credentials and keeps them out of every text: a Secret is a value and where it comes from, and a
// Redactor replaces every secret it knows, in each form in which servers and libraries echo one, by ***.
package secret

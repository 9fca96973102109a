package web

import (
	"html/template"
	"net/http"
	"strings"
)

// indexHTML links what is there; it needs no script and no file.
var indexHTML = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>serin</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2em auto;max-width:45em;padding:0 1em}dt{font-family:monospace;margin-top:.6em}</style>
<h1>serin</h1>
<dl>
{{range .}}<dt>{{if .Link}}<a href="{{.Path}}">{{.Path}}</a>{{else}}{{.Method}} {{.Path}}{{end}}</dt><dd>{{.About}}</dd>
{{end}}</dl>
</html>
`))

// indexLine is one line of the index. Link is false where a browser cannot simply go.
type indexLine struct {
	Method, Path, About string
	Link                bool
}

// index answers / with what is there: as a page for a browser, else as text.
func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	var lines []indexLine
	for _, rt := range s.routes() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		lines = append(lines, indexLine{method, path, rt.about, method == http.MethodGet && !strings.Contains(path, "{")})
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		var b strings.Builder
		b.WriteString("serin\n")
		for _, l := range lines {
			b.WriteString(l.Method + " " + l.Path + "  " + l.About + "\n")
		}
		s.text(w, http.StatusOK, strings.TrimSuffix(b.String(), "\n"))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := indexHTML.Execute(w, lines); err != nil {
		s.opt.Log.Debug("write index", "error", err)
	}
}

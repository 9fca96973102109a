package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/configs"
	"serin/probe"
)

// Findings is what a diagnosis starts from.
type Findings struct {
	Target *probe.Target
	Canary *probe.Canary
	Sample *probe.Sample
	Diary  *probe.Diary
	Models func() ([]string, error) // asks the endpoint, at most once a diagnosis
}

// diagnose says in sentences why a probe went as it did, each with the fix. It is empty when there is nothing to say.
func diagnose(f Findings) []string {
	var lines []string
	switch f.Sample.Outcome {
	case probe.Auth:
		lines = f.auth()
	case probe.NotFound:
		lines = f.notFound()
	case probe.BadRequest, probe.HTTP4xx:
		lines = f.badRequest()
	case probe.DNS, probe.Connect, probe.TLS, probe.TimeoutConnect:
		lines = f.connection()
	case probe.NotSSE, probe.Protocol, probe.Redirect:
		lines = f.wrongAnswer()
	case probe.OK, probe.OKLength:
		lines = f.healthy()
	default:
		lines = f.other()
	}
	if f.Diary.Snippet != "" && f.Sample.Outcome != probe.NotSSE {
		lines = append(lines, fmt.Sprintf("the endpoint said: %q", f.Diary.Snippet))
	}
	return lines
}

// notFound explains 404: the path or the model.
func (f Findings) notFound() []string {
	t := f.Target
	if strings.Contains(f.Diary.URL, "/v1/v1/") {
		return []string{fmt.Sprintf("%s holds /v1 twice: write base_url without the doubled /v1", f.Diary.URL)}
	}
	names, err := f.Models()
	if err == nil && len(names) > 0 && !slices.Contains(names, t.Model) {
		return []string{fmt.Sprintf("the endpoint has no model %q; nearest of its %d: %s", t.Model, len(names), strings.Join(nearest(t.Model, names, 3), ", "))}
	}
	lines := []string{fmt.Sprintf("nothing answers at %s", f.Diary.URL)}
	if t.Protocol == "azure-openai" {
		return append(lines, "model must be the name of the deployment, not of the model in it; the api-version in base_url's query must exist (2024-10-21 where none is given)")
	}
	if t.Protocol == "openai-chat" && !strings.HasSuffix(strings.TrimRight(t.BaseURL, "/"), "/v1") {
		lines = append(lines, fmt.Sprintf("base_url usually ends in /v1: try %s/v1", strings.TrimRight(t.BaseURL, "/")))
	}
	if base, ok := strings.CutSuffix(strings.TrimRight(t.BaseURL, "/"), "/v1"); ok && err != nil && strings.HasPrefix(t.Protocol, "openai-") {
		lines = append(lines, fmt.Sprintf("some gateways have the API without /v1: try %s", base))
	}
	if err != nil {
		lines = append(lines, fmt.Sprintf("its list of models cannot be had either (%v), so the path is the likelier cause", err))
	}
	return lines
}

// nearest returns the n names nearest to want.
func nearest(want string, names []string, n int) []string {
	rank := func(s string) int {
		if strings.Contains(strings.ToLower(s), strings.ToLower(want)) || strings.Contains(strings.ToLower(want), strings.ToLower(s)) {
			return 0
		}
		return 1 + configs.Distance(strings.ToLower(want), strings.ToLower(s))
	}
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return rank(a) - rank(b) })
	return sorted[:min(n, len(sorted))]
}

func (f Findings) badRequest() []string {
	if f.Sample.Reason == probe.ReasonLearningParameter {
		return []string{fmt.Sprintf("the endpoint refuses %s; serin sends the request without it from now on", f.Diary.Learned)}
	}
	names, err := f.Models()
	if err == nil && len(names) > 0 && !slices.Contains(names, f.Target.Model) {
		return []string{fmt.Sprintf("the endpoint lists no model %q; nearest: %s", f.Target.Model, strings.Join(nearest(f.Target.Model, names, 3), ", "))}
	}
	return []string{"the endpoint refuses the request as it is; --curl prints it, so that you can try without one field after the other"}
}

// connection explains what went wrong below HTTP.
func (f Findings) connection() []string {
	c := f.Diary.Cause
	if f.Diary.Proxy != "" || c.Phase == "proxy" {
		return []string{fmt.Sprintf(`the request went through the proxy %s, and that failed (%s): mend or unset HTTP_PROXY / HTTPS_PROXY, list the host in NO_PROXY, or set proxy = "none" for this target`, f.Diary.Proxy, c.Detail)}
	}
	switch c.Kind {
	case "refused":
		return []string{fmt.Sprintf("nothing listens at %s: check host and port of base_url, and that the server is up", f.Diary.URL)}
	case "no_such_host":
		return []string{"the name of the host does not exist: check base_url for a typing error (" + c.Detail + ")"}
	case "dns_server":
		return []string{"the name server did not answer well (" + c.Detail + "): check /etc/resolv.conf of this machine"}
	case "unreachable":
		return []string{"there is no route to the host: check network, VPN and firewall of this machine"}
	case "timeout":
		return []string{fmt.Sprintf("no connection within connect_timeout (%s; %s): a firewall that drops packets, a wrong port, or a host that is down", f.Target.ConnectTimeout, c.Phase)}
	case "unknown_authority":
		return []string{"the certificate is signed by an authority that this machine does not know: set ca_file to your CA's certificate (PEM)"}
	case "expired":
		return []string{"the server's certificate is out of its dates (" + c.Detail + "): renew it, and check the clock of this machine"}
	case "client_certificate":
		return []string{"the server wants to see a client certificate (mTLS): name it in client_cert_file and its key in client_key_file, from an authority that the server trusts"}
	case "name_mismatch":
		return []string{"the server's certificate is for another name (" + c.Detail + "): use the name in the certificate in base_url"}
	case "plain_http":
		return []string{"the server speaks plain HTTP on this port: write http:// in base_url, or use the TLS port"}
	}
	return []string{fmt.Sprintf("the connection failed in phase %s: %s", c.Phase, c.Detail)}
}

// wrongAnswer explains 2xx answers that are no stream, and redirects.
func (f Findings) wrongAnswer() []string {
	d := f.Diary
	switch {
	case f.Sample.Has(probe.Gzip):
		return []string{f.compressed()}
	case f.Sample.Outcome == probe.Redirect:
		return []string{fmt.Sprintf("the endpoint redirects to %s; serin does not follow, since the key would go along: put the final URL into base_url", d.Headers["location"])}
	case strings.Contains(d.ContentType, "html"):
		return []string{fmt.Sprintf("an HTML page came instead of a stream (%q): base_url points at a web page or a login, not at the API", d.Snippet)}
	case strings.Contains(d.ContentType, "json"):
		return []string{fmt.Sprintf("a JSON document came instead of a stream (%q): the server or a gateway ignores \"stream\": true; TTFT cannot be measured there", d.Snippet)}
	}
	return []string{fmt.Sprintf("what came is not the stream that protocol %s has (content type %q, %q)", f.Target.Protocol, d.ContentType, d.Snippet)}
}

// other explains timeouts, limits and faults of the server.
func (f Findings) other() []string {
	s := f.Sample
	advice := s.Outcome.Advice()
	switch {
	case s.Outcome == probe.Empty && s.Reason == probe.ReasonBudgetEaten:
		return []string{"thinking used up the whole output cap: raise max_tokens (2048 and more), or set reasoning = true"}
	case advice == "":
		return nil
	}
	return []string{f.fact() + requestText(s) + ": " + advice}
}

// fact says what the probe saw.
func (f Findings) fact() string {
	s := f.Sample
	limit := f.Target.TimeoutOf(s.Outcome, f.Canary.Size)
	switch {
	case s.Outcome == probe.TimeoutStall:
		return fmt.Sprintf("%s within stall_timeout (%s) after %d pieces", s.Outcome.Words(), limit, s.Chunks)
	case limit > 0:
		return fmt.Sprintf("%s within %s (%s)", s.Outcome.Words(), strings.Replace(string(s.Outcome), "timeout_", "", 1)+"_timeout", limit)
	case s.RetryAfter > 0:
		return fmt.Sprintf("%s (HTTP %d, wait %s)", s.Outcome.Words(), s.HTTPStatus, s.RetryAfter.Round(time.Second))
	case s.HTTPStatus >= 400:
		return fmt.Sprintf("%s (HTTP %d)", s.Outcome.Words(), s.HTTPStatus)
	}
	return s.Outcome.Words()
}

func requestText(s *probe.Sample) string {
	if s.RequestID == "" {
		return ""
	}
	return " (request id " + s.RequestID + ")"
}

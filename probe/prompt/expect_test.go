package prompt

import (
	"strings"
	"testing"
)

func TestExpectConditions(t *testing.T) {
	f := func(e Expect, answer, miss string) {
		t.Helper()
		if err := e.Compile(); err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		if got := e.Miss(answer); got != miss || e.Check(answer) != (miss == "") {
			t.Errorf("%+v of %.60q misses %q, want %q", e, answer, got, miss)
		}
	}
	f(Expect{Contains: "42"}, "It is 42.", "")
	f(Expect{Contains: "Blue"}, "blue", "contains")
	f(Expect{Regex: `(?i)^blue\b`}, "Blue sky", "")
	f(Expect{Regex: `^\d+$`}, "42.", "regex")
	f(Expect{Contains: "a", Regex: "b"}, "a", "regex")
	f(Expect{MaxLength: 4}, "天空蓝色", "")
	f(Expect{MaxLength: 4}, "天空是蓝色", "max_length")
	f(Expect{MaxLength: 1 << 20}, strings.Repeat("x", 1<<20+1), "max_length")

	f(Expect{JSON: true}, " {\"a\": [1, 2]}\n", "")
	f(Expect{JSON: true}, `"text"`, "")
	f(Expect{JSON: true}, "null", "")
	f(Expect{JSON: true}, "", "json")
	f(Expect{JSON: true}, `{"a":1} {"b":2}`, "json")
	f(Expect{JSON: true}, "```json\n{}\n```", "json")
	f(Expect{JSON: true}, `Here: {"a":1}`, "json")
	f(Expect{JSON: true}, `{"a":`, "json")
	f(Expect{JSON: true}, strings.Repeat("[", 100_000), "json")

	const doc = `{"a":{"b":[10,{"c":"x"}],"n":null,"t":true,"s":"2"},"":1}`
	f(Expect{JSONField: "a.b[0]"}, doc, "")
	f(Expect{JSONField: "a.b[1].c"}, doc, "")
	f(Expect{JSONField: "a.b[2]"}, doc, "json_field")
	f(Expect{JSONField: "a.b.c"}, doc, "json_field")
	f(Expect{JSONField: "a[0]"}, doc, "json_field")
	f(Expect{JSONField: "a.n"}, doc, "")
	f(Expect{JSONField: "a.n.x"}, doc, "json_field")
	f(Expect{JSONField: "[1][0]"}, `[0,["x"]]`, "")
	f(Expect{JSONField: "a"}, "no JSON", "json")
	f(Expect{JSONField: "a.b[0]", JSONEquals: "10"}, doc, "")
	f(Expect{JSONField: "a.b[0]", JSONEquals: "10.0"}, doc, "")
	f(Expect{JSONField: "a.b[0]", JSONEquals: "11"}, doc, "json_equals")
	f(Expect{JSONField: "a.b[1].c", JSONEquals: "x"}, doc, "")
	f(Expect{JSONField: "a.b[1].c", JSONEquals: `"x"`}, doc, "")
	f(Expect{JSONField: "a.b[1]", JSONEquals: `{ "c": "x" }`}, doc, "")
	f(Expect{JSONField: "a.n", JSONEquals: "null"}, doc, "")
	f(Expect{JSONField: "a.t", JSONEquals: "false"}, doc, "json_equals")
	f(Expect{JSONField: "a.s", JSONEquals: "2"}, doc, "")

	f(Expect{Language: "en"}, "The sky is blue because of Rayleigh scattering.", "")
	f(Expect{Language: "en"}, "The sign says 天空 and that means sky.", "")
	f(Expect{Language: "en"}, "天空是蓝色的，因为瑞利散射。", "language")
	f(Expect{Language: "en"}, "Небо голубое.", "language")
	f(Expect{Language: "en"}, "42 + 1 = 43", "language")
	f(Expect{Language: "zh"}, "我们用 Kubernetes 部署 vLLM 服务。", "")
	f(Expect{Language: "zh"}, "The sky is blue, 天空.", "language")
	f(Expect{Language: "zh"}, "空はどうして青いのですか", "language")
	f(Expect{Language: "zh"}, "하늘은 왜 파란가요", "language")
	f(Expect{Language: "zh"}, "", "language")
}

func TestExpectRefuses(t *testing.T) {
	f := func(e Expect, want string) {
		t.Helper()
		if err := e.Compile(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", e, err, want)
		}
	}
	f(Expect{}, "no condition")
	f(Expect{Regex: "(?=x)"}, "RE2")
	f(Expect{Regex: strings.Repeat("x", MaxPattern+1)}, "use at most")
	f(Expect{JSONEquals: "1"}, "json_field")
	f(Expect{MaxLength: -1}, "max_length is -1")
	f(Expect{Language: "fr"}, "en or zh")
	for _, path := range []string{".", "a.", ".a", "a..b", "a[", "a[]", "a[x]", "a[-1]", "a[0]b", "a]", "a.[0]", strings.Repeat("a", maxPath+1)} {
		f(Expect{JSONField: path}, "json_field")
	}
}

func TestNilExpectHolds(t *testing.T) {
	if e := (*Expect)(nil); !e.Check("anything") {
		t.Error("nil fails")
	}
	if (&Expect{Regex: "("}).Check("(") || (&Expect{JSONField: "a["}).Check(`{"a":1}`) {
		t.Error("a condition that does not compile holds")
	}
}

func FuzzExpect(f *testing.F) {
	f.Add("a.b[0]", "10", `{"a":{"b":[10]}}`)
	f.Add("[0]", "", "[1]")
	f.Fuzz(func(t *testing.T, path, equals, answer string) {
		e := Expect{JSON: true, JSONField: path, JSONEquals: equals}
		if e.Compile() == nil && e.Check(answer) && path != "" && !(&Expect{JSON: true}).Check(answer) {
			t.Error("a field was found in what is not JSON")
		}
	})
}

package configs

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/v2"
	"github.com/pelletier/go-toml/v2"

	"serin/alert"
	"serin/probe"
)

// mistake is what is wrong with one value; {key} in the fix stands for the value's key, {path} for its whole name.
type mistake struct{ what, fix string }

func (m mistake) Error() string { return m.what }

// forKey returns the fix for the value under a path.
func (m mistake) forKey(path string) string {
	name := bare(path)
	return strings.NewReplacer("{key}", name[strings.LastIndexByte(name, '.')+1:], "{path}", name).Replace(m.fix)
}

// unmarshal fills out, which holds the defaults, and calls bad for each value of a wrong type, with its path.
func unmarshal(k *koanf.Koanf, out any, bad func(path string, m mistake)) {
	err := k.UnmarshalWithConf("", out, koanf.UnmarshalConf{Tag: "koanf", DecoderConfig: &mapstructure.DecoderConfig{
		DecodeHook: convert, MatchName: func(key, field string) bool { return key == field }}})
	eachMistake(err, "", bad)
}

func eachMistake(err error, path string, bad func(string, mistake)) {
	switch e := err.(type) {
	case nil:
	case mistake:
		bad(path, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			eachMistake(one, path, bad)
		}
	case *mapstructure.DecodeError:
		eachMistake(e.Unwrap(), strings.NewReplacer("[", ".", "]", "").Replace(e.Name()), bad)
	case interface{ Unwrap() error }:
		eachMistake(e.Unwrap(), path, bad)
	default: // a hole in convert
		bad(path, mistake{"unmarshal config: " + err.Error(), "check its type"})
	}
}

// convert is the type check of every value: it returns the value as the field takes it, or a mistake.
func convert(from, to reflect.Value) (any, error) {
	if to.Kind() == reflect.Pointer || to.Kind() == reflect.Interface {
		return from.Interface(), nil
	}
	v := from.Interface()
	text, isText := v.(string)
	switch to.Interface().(type) {
	case time.Duration:
		return duration(v)
	case time.Time:
		return date(v)
	case probe.Money:
		f, err := number(v)
		return probe.Some(f), err
	case sizeKeys: // a cron alone
		if isText {
			return map[string]any{"schedule": text}, nil
		}
	case alert.Limit: // a duration alone
		if from.Kind() != reflect.Map {
			_, err := duration(v)
			return map[string]any{"warning": text}, err
		}
	}
	switch to.Kind() {
	case reflect.Float64:
		return number(v)
	case reflect.Int:
		return integer(v)
	case reflect.Slice:
		return list(v, to)
	}
	if good := isText && to.Kind() == reflect.String || from.Kind() == reflect.Bool && to.Kind() == reflect.Bool ||
		from.Kind() == reflect.Map && (to.Kind() == reflect.Map || to.Kind() == reflect.Struct); !good {
		return nil, wrongType(v, kindOf(to.Type()))
	}
	if variable := variablePattern.FindStringSubmatch(text); variable != nil {
		return nil, mistake{fmt.Sprintf("holds %s, and serin fills in no variables", variable[0]),
			fmt.Sprintf("write the value itself; single tables can be set by SERIN__TABLE__KEY, credentials by api_key_env = %q", variable[1])}
	}
	return v, nil
}

var variablePattern = regexp.MustCompile(`\$\{([A-Za-z_]\w*)\}`)

func wrongType(v any, k kind) error {
	want := map[kind]string{kindString: `a string`, kindBool: "true or false", kindTable: "a table", kindAny: "a table", kindSize: "a cron string or a table",
		kindMap: "a table of strings", kindInt: "an integer", kindNumber: "a finite number"}[k]
	fix := "write " + want
	text, isText := v.(string)
	_, notNumber := strconv.ParseFloat(text, 64)
	switch _, isTable := v.(map[string]any); {
	case k == kindString && !isTable:
		fix = "put the value in double quotes"
	case k == kindMap:
		fix = `write { name = "value" }`
	case isText && notNumber == nil && (k == kindInt || k == kindNumber), isText && k == kindBool && (text == "true" || text == "false"):
		fix = "write {key} = " + text
	}
	return mistake{"must be " + want + ", is " + typeName(v), fix}
}

func number(v any) (float64, error) {
	switch x := v.(type) {
	case int64:
		return float64(x), nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, mistake{fmt.Sprintf("is %v, not a finite number", x), "write a finite number"}
		}
		return x, nil
	}
	return 0, wrongType(v, kindNumber)
}

func integer(v any) (int64, error) {
	i, ok := v.(int64)
	switch {
	case !ok:
		return 0, wrongType(v, kindInt)
	case i < math.MinInt32 || i > math.MaxInt32:
		return 0, mistake{"is out of range", "write at most 2147483647"}
	}
	return i, nil
}

// list takes an array, and has it stand in place of the field's default.
func list(v any, to reflect.Value) (any, error) {
	elements, ok := v.([]any)
	if to.Type().Elem().Kind() == reflect.Struct && to.Type().Elem() != reflect.TypeFor[time.Time]() {
		for _, e := range elements {
			_, isTable := e.(map[string]any)
			ok = ok && isTable
		}
		if !ok {
			return nil, mistake{"must be an array of tables, is " + typeName(v), "write [[{path}]]"}
		}
		return v, nil
	}
	if !ok {
		return nil, mistake{"must be an " + string(kindOf(to.Type())) + ", is " + typeName(v), "put it in [ ]"}
	}
	to.SetZero()
	return v, nil
}

func duration(v any) (time.Duration, error) {
	switch x := v.(type) {
	case time.Duration:
		return x, nil
	case string:
		d, err := ParseDuration(x)
		switch {
		case err == nil && d.Abs() < time.Millisecond && d != 0:
			return 0, mistake{fmt.Sprintf("%q is shorter than a millisecond", x), `write "1ms" or more (units: ms, s, m, h, d)`}
		case err == nil:
			return d, nil
		case strings.HasSuffix(err.Error(), "no unit"):
			return 0, mistake{err.Error(), fmt.Sprintf(`write "%ss" if seconds are meant (units: ms, s, m, h, d)`, strings.TrimSpace(x))}
		}
		return 0, mistake{err.Error(), `write a number with a unit: "90s", "5m", "2h", "7d"`}
	case int64, float64:
		return 0, mistake{fmt.Sprintf("is a number without a unit (%v)", v), fmt.Sprintf(`write "%vs" if seconds are meant (units: ms, s, m, h, d)`, v)}
	}
	return 0, mistake{"must be a duration, is " + typeName(v), `write a string with a unit: "90s", "5m", "2h", "7d"`}
}

// date takes 2026-01-01, with or without quotes, as that day's beginning in UTC, or a whole RFC 3339 time.
func date(v any) (time.Time, error) {
	switch x := v.(type) {
	case time.Time:
		return x, nil
	case toml.LocalDate:
		return x.AsTime(time.UTC), nil
	case string:
		for _, layout := range []string{time.DateOnly, time.RFC3339} {
			if at, err := time.Parse(layout, x); err == nil {
				return at, nil
			}
		}
	}
	return time.Time{}, mistake{"is not a date", "write a day, such as 2026-01-01"}
}

// typeName says for people what a value of TOML is.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "an array"
	case map[string]any:
		return "a table"
	}
	return "a date or time"
}

// checkKeys reports every key that no table has, and every one that was removed or stands in the wrong table.
func (l *loader) checkKeys() {
	unknown := map[string]bool{}
	for _, path := range l.doc.order {
		parent, key := "", path
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			parent, key = path[:i], path[i+1:]
		}
		table := l.spec.find(parent)
		what, fix := l.advice(path)
		switch {
		case unknown[parent], table != nil && table.kind != kindTables && l.doc.count[parent] > 0: // reported by its parent
		case what != "":
			l.problem(Error, path, what, fix)
		case table == nil || table.kind == kindTables || table.keys == nil || table.keys[key] != nil:
			continue
		default:
			l.problem(Error, path, "is not a key that is known here", nearestFix(key, table.offered()))
		}
		unknown[path] = true
	}
}

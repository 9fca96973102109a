package store

import (
	"math"
	"reflect"
)

// finite returns a copy of v in which every NaN and infinity is 0. Unexported fields stay as they are.
func finite[T any](v T) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	out.Set(scrub(reflect.ValueOf(v)))
	return out.Interface().(T)
}

func scrub(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return reflect.Zero(v.Type())
		}
	case reflect.Struct:
		return scrubStruct(v)
	case reflect.Pointer:
		if !v.IsNil() {
			out := reflect.New(v.Type().Elem())
			out.Elem().Set(scrub(v.Elem()))
			return out
		}
	case reflect.Slice:
		return scrubSlice(v)
	case reflect.Map:
		return scrubMap(v)
	}
	return v
}

func scrubStruct(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			out.Field(i).Set(scrub(v.Field(i)))
		}
	}
	return out
}

func scrubSlice(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		out.Index(i).Set(scrub(v.Index(i)))
	}
	return out
}

func scrubMap(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		out.SetMapIndex(it.Key(), scrub(it.Value()))
	}
	return out
}

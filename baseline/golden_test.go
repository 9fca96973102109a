package baseline

import (
	"math"
	"testing"
	"time"
	_ "time/tzdata" // zones wherever the tests run

	"serin/probe"
)

// made is a history that needs no library to make again elsewhere: a daily sine, a three-fold uniform noise from a
// small congruential generator, and every 37th value e times as large.
func made(start time.Time, every time.Duration, count int, base, amp, noise float64) []Point {
	x := uint64(7)
	uniform := func() float64 {
		x = (x*1103515245 + 12345) % 2147483648
		return float64(x) / 2147483648
	}
	list := make([]Point, count)
	for i := range list {
		at := start.Add(time.Duration(i) * every)
		u := uniform() + uniform() + uniform() - 1.5
		y := math.Log(base) + amp*math.Sin(2*math.Pi*float64(at.Hour()*60+at.Minute())/1440) + noise*u
		if i%37 == 0 {
			y++
		}
		v := time.Duration(math.Round(math.Exp(y) * 1e9))
		list[i] = Point{At: at, Y: Y(v), Regular: true}
	}
	return list
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func utc(month time.Month, day, hour, minute int) time.Time {
	return time.Date(2026, month, day, hour, minute, 0, 0, time.UTC)
}

func before(list []Point, at time.Time) []Point {
	for i, p := range list {
		if !p.At.Before(at) {
			return list[:i]
		}
	}
	return list
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 2e-5*max(1, math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

func sameBand(t *testing.T, got, want Band) {
	t.Helper()
	if got.State != "ready" || got.N != want.N || got.Days != want.Days || got.Widened != want.Widened {
		t.Errorf("band is %s of %d samples on %d days within %q, want ready, %d, %d, %q",
			got.State, got.N, got.Days, got.Widened, want.N, want.Days, want.Widened)
	}
	near(t, "mu", got.Mu, want.Mu)
	near(t, "offset", got.Offset, want.Offset)
	near(t, "sw", got.SW, want.SW)
	near(t, "sL", got.SL, want.SL)
	near(t, "sigma", got.Sigma, want.Sigma)
	near(t, "kappa", got.Kappa, want.Kappa)
	near(t, "line", got.Line, want.Line)
	near(t, "mean", got.Mean, want.Mean)
	near(t, "limit", got.Limit, want.Limit)
	near(t, "low", got.Low, want.Low)
	near(t, "sd", got.SD, want.SD)
}

// The numbers are those of a second program, written from the rule's text in another language with dates and zones
// of its own library, no index and no cache.
func TestBandsOfWholeHistories(t *testing.T) {
	f := func(zoneName string, every time.Duration, at time.Time, want Band) {
		t.Helper()
		t.Run(zoneName+" "+every.String()+" "+at.Format(time.DateTime), func(t *testing.T) {
			count := int(20 * 24 * time.Hour / every)
			list := before(made(utc(3, 2, 0, 2), every, count, .4, .3, .2), at)
			s := NewSeries(Key{Canary: "c", Metric: probe.TTFT, Zone: zone(t, zoneName), Interval: every}, DefaultOptions(), DefaultThreshold())
			s.Load(list, nil, at)
			sameBand(t, s.Band(at), want)
			v := s.Judge(at, 500*time.Millisecond)
			sameBand(t, *v.Band, want)
			r := math.Log(.5 / want.Mean)
			near(t, "z", v.Z, 2*r/want.Line)
			near(t, "ratio", v.Ratio, .5/want.Mean)
			near(t, "e", v.Res.E, math.Log(.5)-want.Mu)
		})
	}
	f("UTC", 5*time.Minute, utc(3, 10, 23, 47), Band{N: 126, Days: 7, Widened: "30m", Mu: -0.933522299858, Offset: -0.00604906246554,
		SW: 0.110438347939, SL: 0.0181311581286, Sigma: 0.11191678869, Kappa: 1.375, Line: 0.307771168896,
		Mean: 0.390795309057, Limit: 0.531633895214, Low: 0.287267186979, SD: 0.0704192930787})
	f("UTC", 5*time.Minute, utc(3, 10, 0, 7), Band{N: 126, Days: 7, Widened: "30m", Mu: -0.891700859964, Offset: 0.00516749434698,
		SW: 0.110572954955, SL: 0.017877421429, Sigma: 0.112008841456, Kappa: 1.375, Line: 0.308024314004,
		Mean: 0.412081816497, Limit: 0.560733768748, Low: 0.302837875926, SD: 0.0743259761255})
	f("Asia/Kathmandu", 15*time.Minute, utc(3, 10, 12, 47), Band{N: 42, Days: 7, Widened: "30m", Mu: -0.969541216538, Offset: -0.00404813650525,
		SW: 0.101846176972, SL: 0.0663759692402, Sigma: 0.121566496439, Kappa: 1.375, Line: 0.334307865206,
		Mean: 0.377724814278, Limit: 0.527671426206, Low: 0.270388026024, SD: 0.0749733059641})
	f("America/New_York", 5*time.Minute, utc(3, 10, 12, 47), Band{N: 126, Days: 7, Widened: "30m", Mu: -1.02632696452, Offset: 0.0350411895555,
		SW: 0.110848851214, SL: 0.0190398330611, Sigma: 0.112472143478, Kappa: 1.375, Line: 0.309298394564,
		Mean: 0.371099234031, Limit: 0.505611151508, Low: 0.272372634756, SD: 0.0672559587386})
	f("UTC", time.Hour, utc(3, 16, 12, 2), Band{N: 35, Days: 7, Widened: "2h", Mu: -0.9162496695, Offset: 0.0588078869447,
		SW: 0.101603442402, SL: 0.0772842297911, Sigma: 0.127656224613, Kappa: 1.375, Line: 0.351054617685,
		Mean: 0.424246008808, Limit: 0.602668994066, Low: 0.298645986041, SD: 0.0892114926295})
	f("UTC", 5*time.Minute, utc(3, 6, 12, 7), Band{N: 72, Days: 4, Widened: "30m", Mu: -0.92897841597, Offset: 0.000267645431079,
		SW: 0.10370311628, SL: 0.017219648108, Sigma: 0.105123035569, Kappa: 1.81534853912, Line: 0.381669898096,
		Mean: 0.395062708676, Limit: 0.578659606969, Low: 0.269717363899, SD: 0.0917984491464})
	f("UTC", 4*time.Hour, utc(3, 16, 12, 2), Band{N: 42, Days: 7, Widened: "day", Mu: -0.927566245691,
		Sigma: 0.261394729403, Kappa: 1.375, Line: 0.718835505858,
		Mean: 0.395515126615, Limit: 0.811613741476, Low: 0.192742196672, SD: 0.208049307431})
}

func loaded(t *testing.T, zoneName string, th Threshold, list []Point, at time.Time) *Series {
	t.Helper()
	s := NewSeries(Key{Canary: "c", Metric: probe.TTFT, Zone: zone(t, zoneName), Interval: 5 * time.Minute}, DefaultOptions(), th)
	s.Load(before(list, at), nil, at)
	return s
}

func fiveMinutes(start time.Time) []Point { return made(start, 5*time.Minute, 2880, .4, .3, .2) }

func TestBandsLeaveExcludedSamplesOut(t *testing.T) {
	list, at := fiveMinutes(utc(3, 2, 0, 2)), utc(3, 10, 12, 7)
	for i, p := range list {
		list[i].Excluded = !p.At.Before(utc(3, 9, 10, 0)) && !p.At.After(utc(3, 9, 14, 2))
	}
	got := loaded(t, "UTC", DefaultThreshold(), list, at).Band(at)
	sameBand(t, got, Band{N: 108, Days: 6, Widened: "30m", Mu: -0.935585883106, Offset: -0.00823914137709,
		SW: 0.110363348876, SL: 0.0180992669033, Sigma: 0.111837615486, Kappa: 1.41660495979, Line: 0.316859441577,
		Mean: 0.389136528286, Limit: 0.534210361123, Low: 0.283459941376, SD: 0.0725369164188})
	if got.LeftOut["excluded"] != 18 || len(got.LeftOut) != 1 {
		t.Errorf("left out %v, want 18 excluded", got.LeftOut)
	}
}

// Windows go by the date and the wall clock: a gap leaves a day with fewer samples, a repeated hour gives one more,
// and neither moves the window of another day.
func TestBandsAroundClockChanges(t *testing.T) {
	f := func(start, at time.Time, want Band) {
		t.Helper()
		got := loaded(t, "Europe/Berlin", DefaultThreshold(), fiveMinutes(start), at).Band(at)
		sameBand(t, got, want)
	}
	spring, autumn := utc(3, 22, 0, 2), utc(10, 18, 0, 2)
	f(spring, utc(3, 31, 0, 17), Band{N: 114, Days: 7, Widened: "30m", Mu: -0.833434946734, Offset: -0.0647975205123, // 02:17
		SW: 0.110799314579, SL: 0.0189769874357, Sigma: 0.112412695739, Kappa: 1.375, Line: 0.309134913283,
		Mean: 0.407288920402, Limit: 0.554827760988, Low: 0.298983353657, SD: 0.0737694202931})
	f(spring, utc(3, 31, 1, 17), Band{N: 120, Days: 7, Widened: "30m", Mu: -0.788466003874, Offset: -0.0456330969074, // 03:17
		SW: 0.110457523721, SL: 0.0190058538316, Sigma: 0.112080716568, Kappa: 1.375, Line: 0.308221970561,
		Mean: 0.434265534738, Limit: 0.591036720772, Low: 0.319077559876, SD: 0.0783855930172})
	f(autumn, utc(10, 27, 1, 17), Band{N: 138, Days: 7, Widened: "30m", Mu: -0.880434216013, Offset: 0.0526615326218, // 02:17
		SW: 0.110387195748, SL: 0.0182076554807, Sigma: 0.1118787366, Kappa: 1.375, Line: 0.307666525651,
		Mean: 0.43702158855, Limit: 0.594457438362, Low: 0.32128098083, SD: 0.0787179249063})
	f(autumn, utc(10, 25, 0, 17), Band{N: 120, Days: 7, Widened: "30m", Mu: -0.88745964496, Offset: 0.0233320849374, // 02:17, the first
		SW: 0.109665472801, SL: 0.0173916048949, Sigma: 0.111035957444, Kappa: 1.375, Line: 0.305348882972,
		Mean: 0.421419055123, Limit: 0.571907120777, Low: 0.310529478597, SD: 0.075244032827})
	f(autumn, utc(10, 25, 1, 17), Band{N: 120, Days: 7, Widened: "30m", Mu: -0.88745964496, Offset: 0.0318050258397, // 02:17, again
		SW: 0.10995230329, SL: 0.0173425626663, Sigma: 0.111311605318, Kappa: 1.375, Line: 0.306106914625,
		Mean: 0.425004883676, Limit: 0.577210821209, Low: 0.312934450485, SD: 0.0761029687662})
}

func TestThresholdsMoveTheLimit(t *testing.T) {
	list, at := fiveMinutes(utc(2, 24, 0, 2)), utc(3, 4, 12, 7)
	base := Band{N: 126, Days: 7, Widened: "30m", Mu: -0.940009561566, Offset: -0.00541572980009,
		SW: 0.110615106966, SL: 0.0180798677281, Sigma: 0.112082931378, Mean: 0.388514303982}
	f := func(change func(*Threshold), kappa, line, limit, low, sd float64) {
		t.Helper()
		th, want := DefaultThreshold(), base
		change(&th)
		want.Kappa, want.Line, want.Limit, want.Low, want.SD = kappa, line, limit, low, sd
		sameBand(t, loaded(t, "UTC", th, list, at).Band(at), want)
	}
	f(func(*Threshold) {}, 1.375, 0.308228061289, 0.528772376404, 0.285460003461, 0.070129036211)
	f(func(th *Threshold) { th.Sigma, th.Kappa, th.MinRatio, th.MinAbs = 3, 1.5, 1.1, 300*time.Millisecond },
		1.5, 0.5043731912, 0.688514303982, 0.23461756286, 0.15)
	f(func(th *Threshold) { th.MinRatio = 1.6 }, 1.375, 0.470003629246, 0.621622886371, 0.242821439989, 0.116554291195)
}

func TestLiteralBand(t *testing.T) {
	th := DefaultThreshold()
	th.Literal = true
	f := func(zoneName string, start, at time.Time, n, days int, mean, sd, limit, low, z float64) {
		t.Helper()
		s := loaded(t, zoneName, th, fiveMinutes(start), at)
		v := s.Judge(at, 500*time.Millisecond)
		if v.Band.N != n || v.Band.Days != days {
			t.Errorf("%d samples on %d days, want %d on %d", v.Band.N, v.Band.Days, n, days)
		}
		near(t, "mean", v.Mean, mean)
		near(t, "sd", v.Band.SD, sd)
		near(t, "limit", v.Limit, limit)
		near(t, "low", v.Band.Low, low)
		near(t, "z", v.Z, z)
		near(t, "ratio", v.Ratio, .5/mean)
	}
	f("UTC", utc(3, 2, 0, 2), utc(3, 10, 12, 7), 42, 7, 0.382442748024, 0.0393807391197, 0.461204226263, 0.303681269784, 2.98514590137)
	f("Europe/Berlin", utc(3, 22, 0, 2), utc(3, 31, 0, 17), 36, 6, 0.464406712889, 0.136818112168, 0.738042937225, 0.190770488553, 0.260150403679)
}

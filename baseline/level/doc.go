// Package level models how the level of a latency moves when nothing is wrong, follows it, and scores steps up from it.
// It is pure mathematics: it knows logarithms of ratios and times, nothing of probes, canaries or alerts.
//
// # Units
//
// A residual e is ln(value) less what is usual for that time of day, so 0 is usual and ln 2 twice as slow. Variances are ln².
//
// # Model
//
//	level(t) = x₁(t) + x₂(t) + x₃(t) + x₄(t)       independent Ornstein-Uhlenbeck processes around 0
//	τ        = 15 min, 1 h, 4 h, 16 h               their time constants
//	e        = level(t) + N(0, probeSD²)            one measurement
//	cov(level(t), level(t+lag)) = Σ vᵢ·exp(−lag/τᵢ)
//
// # Fit
//
//	C(lag)   1.5625 times the mean product of e (clipped at its 10th and 90th percentiles) with itself a lag later; the factor
//	         makes it that of a normal law. Lags begin at one interval, each is a quarter longer than the one before, up to
//	         12 h; a lag needs 20 pairs, a fit 4 lags
//	v        the variances, none negative, whose Σ vᵢ·exp(−lag/τᵢ) comes nearest to C (least squares, coordinate descent)
//	         vᵢ = 0 where less than a quarter of process i is left at the shortest lag: chance fits any variance to it
//	         v₁ is at least a tenth of probeSD² where runs are over 15 min apart: nothing shows what moves between two runs
//	         Σ v is at least 0.015²
//
// # Kalman filter
//
// The state is the mean of the four processes and their covariance. Before the first measurement they are 0 and diag(v).
//
//	predict  aᵢ = exp(−Δt/τᵢ);  mᵢ ← aᵢ·mᵢ;  Pᵢⱼ ← aᵢ·aⱼ·Pᵢⱼ;  Pᵢᵢ ← Pᵢᵢ + vᵢ·(1 − aᵢ²)
//	gain     s² = probeSD² + Σᵢⱼ Pᵢⱼ;  gᵢ = Σⱼ Pᵢⱼ / s²;  Pᵢⱼ ← Pᵢⱼ − gᵢ·gⱼ·s²
//	update   z = (e − Σ mᵢ)/s;  h = z clipped to [−2, 1.2];  mᵢ ← mᵢ + gᵢ·h·s
//	nll      h·(z − h/2): −ln of the density, up to a constant. It is z²/2 inside the clip and a straight line outside (Huber)
//
// Innovations are Huber-clipped because queues and retries make single probes far too slow. Several measurements of one time
// (those of a round) are updates without time between them.
//
// # Step score
//
// A candidate is a measurement before which a step may have come. The level before it is the filtered one, shrunk to at most
// max(ln cap, 2·√Σv) from usual. From there two filters run over the candidate and all newer measurements, one on e and one on
// e − size, for sizes ln 1.5 and ln 2.5.
//
//	LLR        Σ nll(e) − Σ nll(e − size): how much likelier the measurements are with the step than without it
//	slowLevel  m₃ + m₄ after all measurements
//	slowBound  max(ln cap, 2·√(v₃ + v₄))
//
// Where no innovation is clipped, LLR is the logarithm of the likelihood ratio of the joint normal laws (TestScoreIsTheLikelihoodRatio).
package level

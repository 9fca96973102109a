package alert

// KindChange is the kind of a row of history that tells of the endpoint, not of an alert: another model, counts that are
// gone, and the like. Its To names what changed, as the flag of the sample does; its Reason says it in words. It is told
// nowhere but in the log, in history and, where it is configured, in the channel for information.
const KindChange Kind = "change"

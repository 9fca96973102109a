package incident

import (
	"slices"
	"time"

	"serin/alert"
	"serin/alert/message"
)

// clockSlop is how far samples and ticks may disagree about the time before the clock counts as set back.
const clockSlop = time.Minute

// enqueueDue enqueues what is due of an incident: its opening, news, a reminder, its end.
func (i *Incidents) enqueueDue(inc *incident) {
	if !fires(inc) {
		if _, stays := i.staysOpen(inc); !stays || inc.State == alert.IncidentWaiting {
			i.closeIncident(inc)
			return
		}
	}
	if inc.State == alert.IncidentWaiting {
		i.announceDue(inc)
		return
	}
	i.enqueueNews(inc)
	i.remind(inc)
}

// announceDue opens a waiting incident once group_wait has ended, or the clock was set back.
func (i *Incidents) announceDue(inc *incident) {
	if !isAudible(inc) {
		return
	}
	if inc.Severity == alert.Critical {
		if soon := inc.Opened.Add(i.wait(alert.Critical)); soon.Before(inc.Announce) {
			inc.Announce = soon
			i.touch(inc)
		}
	}
	if left := inc.Announce.Sub(i.now); left > 0 && left <= i.opt.GroupWait+clockSlop {
		return
	}
	inc.State, inc.Reminded, inc.rose, inc.edit = alert.IncidentOpen, i.now, false, false
	inc.Members = slices.DeleteFunc(inc.Members, func(m alert.Member) bool {
		return m.Ended.IsZero() && (m.Mute.IsFull() || m.Inhibited != "") // it joins again when it may be sent
	})
	i.setAnnounced(inc)
	i.log.Warn("incident opened", "incident", inc.ID, "group", inc.Group, "severity", string(inc.Severity), "alerts", len(inc.Members))
	i.enqueue(inc, delivery{act: alert.ActOpen, pages: true, mention: true})
}

// setAnnounced notes that a message has named all members that may be sent, and the ends of those that have ended.
func (i *Incidents) setAnnounced(inc *incident) {
	for n := range inc.Members {
		m := &inc.Members[n]
		if m.Ended.IsZero() {
			m.Announced = m.Announced || !m.Mute.IsFull() && m.Inhibited == ""
			continue
		}
		m.Announced, m.EndSent = true, true
	}
	i.touch(inc)
}

// enqueueNews edits an open incident's message and adds to its thread what is new. What does not page waits for more, for group_wait.
func (i *Incidents) enqueueNews(inc *incident) {
	acked := i.isAcked(inc) // it may just have run out
	news := i.news(inc)
	urgent := inc.rose || inc.again || inc.acked || len(inc.slower) > 0
	if len(news) == 0 && !urgent && !inc.edit {
		return
	}
	if inc.since.IsZero() || inc.since.After(i.now) {
		inc.since = i.now
	}
	if !urgent && i.now.Sub(inc.since) < i.opt.GroupWait {
		return
	}
	if inc.acked && acked {
		news = append(news, message.News{What: message.NewsAcked, Detail: inc.Acked})
	}
	grew := len(announced(inc)) == 1
	i.setAnnounced(inc)
	grew = grew && len(announced(inc)) > 1
	slower := len(inc.slower) > 0
	d := delivery{act: alert.ActThread, news: news, pages: inc.rose || grew || slower, mention: inc.rose || slower}
	switch {
	case inc.again:
		d.act, d.pages, d.mention = alert.ActReopen, true, true
	default:
		i.enqueue(inc, delivery{act: alert.ActUpdate})
	}
	if inc.rose || grew {
		i.addChannels(inc)
	}
	if len(news) > 0 || d.pages {
		i.enqueue(inc, d)
	}
	inc.rose, inc.again, inc.acked, inc.edit, inc.slower, inc.since = false, false, false, false, nil, time.Time{}
}

// announced lists the targets that a message has named.
func announced(inc *incident) []string {
	var names []string
	for _, m := range inc.Members {
		if m.Announced && !slices.Contains(names, m.Target) {
			names = append(names, m.Target)
		}
	}
	return names
}

// news lists what no message has said yet.
func (i *Incidents) news(inc *incident) []message.News {
	var list []message.News
	if inc.again {
		list = append(list, message.News{What: message.NewsReopened})
	} else if inc.rose {
		list = append(list, message.News{What: message.NewsEscalated})
	}
	for _, id := range inc.slower {
		list = addNews(list, message.News{What: message.NewsSlower, Alert: id})
	}
	known := announced(inc)
	for _, m := range inc.Members {
		switch {
		case m.Ended.IsZero() && !m.Announced && !m.Mute.IsFull() && m.Inhibited == "" && !inc.again:
			list = addNews(list, i.joined(inc, m, known))
		case !m.Ended.IsZero() && m.Announced && !m.EndSent && fires(inc):
			list = addNews(list, ended(inc, m))
		case !m.Ended.IsZero() && !m.Announced:
			continue // nobody has heard of it
		}
	}
	return list
}

// joined is the news of a member: that its target joined, where that is new too.
func (i *Incidents) joined(inc *incident, m alert.Member, known []string) message.News {
	if !slices.Contains(known, m.Target) {
		return message.News{What: message.NewsTargetJoined, Target: m.Target}
	}
	return message.News{What: message.NewsJoined, Alert: m.Alert, Target: m.Target}
}

// ended is the news that a member is over: that its whole target is, where none of its others fires.
func ended(inc *incident, m alert.Member) message.News {
	others := slices.ContainsFunc(inc.Members, func(o alert.Member) bool { return o.Target == m.Target && o.Ended.IsZero() })
	if !others && len(inc.Targets()) > 1 {
		return message.News{What: message.NewsTargetRecovered, Target: m.Target}
	}
	return message.News{What: message.NewsEnded, Alert: m.Alert, Target: m.Target}
}

// addNews adds a piece of news once.
func addNews(list []message.News, n message.News) []message.News {
	if slices.Contains(list, n) {
		return list
	}
	return append(list, n)
}

// remind says that an incident still fires, unless somebody has taken it.
func (i *Incidents) remind(inc *incident) {
	if inc.Reminded.After(i.now) {
		inc.Reminded = i.now // the clock was set back
		i.touch(inc)
	}
	if i.opt.RemindEvery <= 0 || i.now.Sub(inc.Reminded) < i.remindAfter(inc) || !isAudible(inc) || i.isAcked(inc) {
		return
	}
	inc.Reminded = i.now
	inc.Reminders++
	i.enqueue(inc, delivery{act: alert.ActThread, news: []message.News{{What: message.NewsReminder}}, pages: true})
}

// remindAfter is how long after the last reminder the next one comes: with remind_every of 4 h, what is only slow is reminded of after
// 4 h, 12 h, then daily.
func (i *Incidents) remindAfter(inc *incident) time.Duration {
	slow := !slices.ContainsFunc(inc.Members, func(m alert.Member) bool { return m.Ended.IsZero() && inc.alerts[m.Alert].Kind.Metric() == "" })
	switch {
	case !slow || inc.Reminders == 0:
		return i.opt.RemindEvery
	case inc.Reminders == 1:
		return 2 * i.opt.RemindEvery
	}
	return 6 * i.opt.RemindEvery
}

// closeIncident ends an incident; what was never announced ends silently.
func (i *Incidents) closeIncident(inc *incident) {
	announced := inc.State == alert.IncidentOpen
	inc.State, inc.Closed = alert.IncidentClosed, i.now
	delete(i.open, inc.Group)
	i.log.Info("incident closed", "incident", inc.ID, "group", inc.Group, "announced", announced)
	if announced {
		i.setAnnounced(inc)
		i.enqueue(inc, delivery{act: alert.ActResolve, pages: true})
		i.closed = append(i.closed, inc)
	}
	i.touch(inc)
}

package message

// markLine lists marks: mark 13:58 "vllm 0.13" (7 min before it began).
func markLine(s Story) string {
	var parts []string
	from := began(s)
	for _, m := range s.Marks {
		text := "mark " + onDay(m.At, s.Now, s.Zone, "15:04") + ` "` + oneLine(m.Text, 100) + `"`
		if d := from.Sub(m.At); d >= time.Second && !from.IsZero() {
			text += " (" + elapsed(d) + " before it began)"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

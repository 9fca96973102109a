package cli

import (
	"encoding/json"
	"testing"

	"serin/baseline/store"
)

// Three sums of a price that binary fractions cannot hold say the cents that they are.
func TestBillsAddNoFractions(t *testing.T) {
	day := store.Daily{Target: "a", Day: "2026-01-05", CostUSD: .000121}
	list, total := bills([]store.Daily{day, day, day}, []string{"target"}, nil)
	for _, b := range []bill{list[0], total} {
		text, err := json.Marshal(b.CostUSD)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != "0.000363" {
			t.Errorf("cost is %s, want 0.000363", text)
		}
	}
}

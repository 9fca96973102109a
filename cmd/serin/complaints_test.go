package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// complaint is something that users of such tools complain of, and the tests which hold that it cannot happen here:
// directory and name.
type complaint struct {
	what  string
	tests []string
}

// complaints lists them all. A test that is renamed or gone makes this one fail.
func complaints() []complaint {
	return []complaint{
		{"a recovery without an alert before it, or an alert that is never closed",
			[]string{"alert/blackbox TestScenarios", "alert/incident TestOpensAfterGroupWaitAndResolves", "alert/outbox TestOpeningAndEndInOne"}},
		{"everything fires again after a restart or reload; votes are lost, reminders doubled",
			[]string{"alert/engine TestRestartChangesNothing", "alert/incident TestRestartChangesNothing", "alert/engine TestReloadKeepsEverything", "alert/blackbox TestScenarios", "cmd/serin TestKill"}},
		{"a reload of a broken file stops probing although the log says that the old config stays",
			[]string{"cmd/internal/daemon TestReloadFailedIsTold"}},
		{"an alert is lost because one send failed, or because it was over before the queue drained",
			[]string{"alert/slack TestDelivery", "alert/slack TestDeliveryOfEveryWord", "alert/outbox TestCrash", "alert/outbox TestOpeningAndEndInOne"}},
		{"slow sending blocks probing; a stuck provider blocks other targets",
			[]string{"cmd/internal/daemon BenchmarkJitter", "alert/outbox TestOneChannelHoldsUpNoOther", "probe/schedule TestWaitingRunNeverHoldsOthersUp"}},
		{"probes fired in phase slow each other down",
			[]string{"probe/schedule TestOffsetSpreads", "probe/schedule TestSpreadDelaysEveryRunAlike"}},
		{"windows are shifted by an hour when the clocks change, or have a hole at midnight",
			[]string{"baseline TestBandsAroundClockChanges", "baseline TestSlotStarts", "alert/blackbox TestScenarios", "probe/schedule TestWindowsHoldWhatTheClockShows"}},
		{"the database grows without bound; deleting blocks the loop",
			[]string{"baseline/store TestFileStaysBounded", "baseline/store TestCommitsDuringPrune"}},
		{"probing stops silently, and what is shown is old",
			[]string{"cmd/internal/daemon TestStuckScheduleIsTold", "alert/engine TestNoData", "cmd/internal/daemon TestACanaryWithoutRoomIsTold"}},
		{"the own network's loss is told as every endpoint being down; own overload as a slow endpoint",
			[]string{"cmd/internal/daemon TestOwnNetworkLost", "alert/engine TestStrangeSamples"}},
		{"thirty messages for one gateway, or two hundred a day that nobody reads",
			[]string{"alert/incident TestTargetsOfAProviderAreOneMessage", "cmd/internal/daemon TestDigestOnce"}},
		{"keys in error texts, pages, labels and backups",
			[]string{"cmd/serin TestPlantedKey", "alert/outbox TestRedacts"}},
		{"probes that cost more than the service; a paid probe of everything at each restart",
			[]string{"cmd/internal/daemon TestBudgetHoldsTheCap", "probe/schedule TestNothingFiresAtStartUp", "probe/schedule TestReloadFiresNothingThatTheScheduleDidNotAskFor"}},
		{"a monitor that always fails is shown as healthy, because its own bad request counts as reachable",
			[]string{"alert/engine TestBadRequestsAreNoHealth", "probe TestOutcomes"}},
	}
}

func TestComplaints(t *testing.T) {
	if n := len(complaints()); n != 14 {
		t.Errorf("%d complaints", n)
	}
	for _, c := range complaints() {
		for _, ref := range c.tests {
			dir, name, _ := strings.Cut(ref, " ")
			if !hasTest(t, dir, name) {
				t.Errorf("%s: %s has no %s", c.what, dir, name)
			}
		}
	}
}

// hasTest reports whether a directory's test files have a function of that name.
func hasTest(t *testing.T, dir, name string) bool {
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no tests: %v", dir, err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

package prompt

// pinned holds the hash of every version's default texts, by version and language.
var pinned = map[string]uint64{
	"1en": 0x178560972040ebaa,
	"1zh": 0x78923046ba3f8b09,
}

package prompt

// pinned holds the hash of every version's default texts, by version and language.
var pinned = map[string]uint64{
	"1en": 0xf9c62f8b890685c3,
	"1zh": 0x312571be64d4745f,
}

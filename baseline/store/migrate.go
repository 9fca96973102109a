package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"os"
	"sort"
)

//go:embed migrations/*.sql
var scripts embed.FS

// migration takes the schema from one version to the next; the version is its place in the list, counted from 1.
type migration struct {
	name, script string
}

// embedded returns the migrations in order of their names.
func embedded() ([]migration, error) {
	entries, err := scripts.ReadDir("migrations")
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	steps := make([]migration, 0, len(entries))
	for _, e := range entries {
		script, err := scripts.ReadFile("migrations/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read migration %q: %w", e.Name(), err)
		}
		steps = append(steps, migration{e.Name(), string(script)})
	}
	return steps, nil
}

// migrate brings the schema from version have to the newest, all steps in one transaction; a copy of a file that held
// something is kept beside it.
func (s *Store) migrate(ctx context.Context, have int, steps []migration) error {
	if have == len(steps) {
		return explain(s.path, s.write.PingContext(ctx))
	}
	if have > 0 {
		if err := s.keepCopy(ctx, have); err != nil {
			return err
		}
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return explain(s.path, err)
	}
	if err := s.climb(ctx, tx, steps); err != nil {
		_ = tx.Rollback() // the first error is the one to tell
		return err
	}
	return explain(s.path, tx.Commit())
}

// climb runs the missing steps. It reads the version again, inside the transaction: another process may have been faster.
func (s *Store) climb(ctx context.Context, tx *sql.Tx, steps []migration) error {
	var have int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&have); err != nil {
		return explain(s.path, err)
	}
	if have >= len(steps) {
		return nil
	}
	for _, step := range steps[have:] {
		if _, err := tx.ExecContext(ctx, step.script); err != nil {
			return fmt.Errorf("migration %q: %w", step.name, explain(s.path, err))
		}
	}
	for _, q := range []string{
		fmt.Sprintf(`PRAGMA user_version = %d`, len(steps)),
		fmt.Sprintf(`PRAGMA application_id = %d`, application)} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return explain(s.path, err)
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO meta VALUES ('schema_by', ?)`, s.opt.Version)
	if err == nil {
		s.log.Info("store migrated", "path", s.path, "from", have, "to", len(steps))
	}
	return explain(s.path, err)
}

// keepCopy writes the file as it is to PATH.v<have>.bak.
func (s *Store) keepCopy(ctx context.Context, have int) error {
	name := fmt.Sprintf("%s.v%d.bak", s.path, have)
	part := name + ".part"
	if err := vacuumInto(ctx, s.write, s.path, part); err != nil {
		return fmt.Errorf("keep a copy of store %q before its migration: %w", s.path, err)
	}
	if err := os.Rename(part, name); err != nil {
		return fmt.Errorf("keep a copy of store %q before its migration: %w", s.path, err)
	}
	s.log.Info("store copied before its migration", "path", s.path, "copy", name)
	return nil
}

// tooNew returns the *SchemaError of a file whose schema have is beyond what this program knows.
func (s *Store) tooNew(ctx context.Context, have, know int) error {
	var by sql.NullString
	if err := s.read.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'schema_by'`).Scan(&by); err != nil {
		by.String = "" // a schema so new that even this moved: the numbers must do
	}
	return &SchemaError{Path: s.path, Have: have, Know: know, Needs: by.String}
}

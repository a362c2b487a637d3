import { Migration } from '../../migration.ts';

/** What each correction says, by its hash: of one row no two say the same. Those of before have none. */
export class CorrectionHashes extends Migration {
  override up(): void {
    this.addSql(`
      alter table book_correction add column said_hash text null;
      create unique index book_correction_said on book_correction (agent_id, corrects_seq, said_hash);
    `);
  }
}

import { Migration } from '../../migration.ts';

/** Who funded the payers of posts, and how far payments to those who post were looked for. What of it stands in posts is the board's own. */
export class ScoreBaseline extends Migration {
  /** What made the same, step by step. */
  static readonly replaces: readonly string[] = ['BoardScores', 'BoardScoresWeighable'];

  override up(): void {
    this.addSql(`
      create table board_funding (
        payer text primary key, state text not null, from_block integer null, to_block integer null, funders jsonb null,
        tries integer not null default 0, looked_at timestamptz not null);
      create index board_funding_pending on board_funding (looked_at) where state = 'pending';
      create table board_funding_head (name text primary key, position bigint not null);
    `);
    this.addSeed(`insert into board_funding_head (name, position) values ('posts', 0)`);
  }
}

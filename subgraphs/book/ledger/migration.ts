import { Migration } from '../../migration.ts';
import { COUNT_STANDING_ROWS } from './sums.ts';

/** Corrections of inflows, and how many rows a book has of each day and evidence: what is told of its sequence, and to strangers. */
export class BookSequenceTables extends Migration {
  override up(): void {
    this.addSql(`
      create table book_correction (
        agent_id integer not null, seq integer not null, original_seq integer not null, corrects_seq integer not null,
        primary key (agent_id, seq));
      create index book_correction_original on book_correction (agent_id, original_seq, seq);
      create index book_correction_corrects on book_correction (agent_id, corrects_seq);

      create table book_supersession (
        agent_id integer not null, original_seq integer not null, chains integer not null,
        corrections integer not null, forks integer not null, last_seq integer not null,
        primary key (agent_id, original_seq));
    `);
    this.addSql(COUNT_STANDING_ROWS);
  }
}

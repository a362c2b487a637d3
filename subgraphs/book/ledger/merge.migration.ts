import { Migration } from '../../migration.ts';

/** Corrections in which branches of a fork come together, and how many rows of each chain nothing has taken the place of. */
export class CorrectionMerges extends Migration {
  override up(): void {
    this.addSql(`
      create table book_merge (
        agent_id integer not null, merged_seq integer not null, seq integer not null,
        primary key (agent_id, merged_seq, seq));
      alter table book_supersession add column tips integer null, add column last_merge_seq integer null;
      update book_supersession s set tips = (select count(*) from book_correction c
        where c.agent_id = s.agent_id and (s.original_seq = 0 or c.original_seq = s.original_seq)
          and not exists (select from book_correction n where n.agent_id = c.agent_id and n.corrects_seq = c.seq));
      alter table book_supersession alter column tips set not null;
    `);
  }
}

/**
 * A process of the version before counts its corrections without ends of chains: `tips` holds for as long as `tips_of` is the count
 * of all of them.
 */
export class CorrectionMergesBeside extends Migration {
  override up(): void {
    this.addSql(`
      alter table book_supersession alter column tips drop not null, add column tips_of integer null;
      update book_supersession set tips_of = corrections;
    `);
  }
}

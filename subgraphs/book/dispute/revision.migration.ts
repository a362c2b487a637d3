import { Migration } from '../../migration.ts';

/** Verdicts that a later one may take the place of, and one refund for each charge. Those of before have none of these. */
export class DisputeRevisions extends Migration {
  override up(): void {
    this.addSql(`
      alter table dispute add column revision integer not null default 1, add column supersedes text null,
        add column standing_task_id text null, add column decides_after timestamptz null, add column refund_of text null,
        add constraint dispute_refund_of unique (refund_of);
      create index dispute_refund on dispute (agent_id, coalesce(refund_of, task_id)) where outcome = 'refund';
    `);
  }
}

/**
 * A refund names the charge that is owed back. A process of the version before names none, and neither looks for an earlier refund of
 * the charge nor ends the resend that may still bring the answer: what it would refund is for others to decide.
 */
export class RefundsNameTheirCharge extends Migration {
  override up(): void {
    this.addSql(`
      create function refuse_unnamed_refund() returns trigger language plpgsql as $$
        begin
          raise exception 'a refund names the charge that is owed back';
        end $$;
      create trigger dispute_refund_named before insert or update of outcome on dispute
        for each row when (new.outcome = 'refund' and new.refund_of is null) execute function refuse_unnamed_refund();
    `);
  }
}

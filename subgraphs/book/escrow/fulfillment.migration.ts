import { Migration } from '../../migration.ts';

/**
 * Which receipt fulfils which escrow, and which output an escrow requires. Where a receipt was submitted for several escrows
 * before there was this rule, it is that of the first, whatever has become of that one.
 */
export class EscrowFulfillments extends Migration {
  override up(): void {
    this.addSql(`
      alter table a2a_escrow add column required_output_hash text;
      create table a2a_escrow_fulfillment (task_id text primary key, escrow_id text not null);
      insert into a2a_escrow_fulfillment (task_id, escrow_id)
        select distinct on (phase->'said'->>'fulfillment_receipt_id')
          phase->'said'->>'fulfillment_receipt_id', escrow_id
        from a2a_escrow, jsonb_array_elements(phases) phase
        where phase->>'action' = 'submit'
        order by phase->'said'->>'fulfillment_receipt_id', (phase->>'at')::timestamptz, escrow_id;
    `);
  }
}

import { Migration } from '../../migration.ts';

/** The posts that a score may count, and how much each funder gave: who was looked at before is looked at again, in the same blocks. */
export class BoardScoresWeighable extends Migration {
  override up(): void {
    this.addSql(`
      create index board_post_weighable on board_post (endpoint_host, post_id)
        where not hidden and taken_down_at is null
          and host_basis = 'signed' and receipt_ref is not null and rail = 'usdc' and amount_atomic > 0;
      update board_funding set state = 'pending', tries = 0, looked_at = to_timestamp(0)
        where state = 'known' and funders <> '[]';
    `);
  }
}

import { Migration } from '../../migration.ts';

/**
 * Which posts cite a payment that their own author has received: such a post stands by its stamp alone. And by what else posts
 * are listed: their author, and what backs them.
 */
export class BoardSelfDealt extends Migration {
  override up(): void {
    this.addSql(`
      alter table board_post add self_dealt boolean not null default false;
      update board_post p set self_dealt = true, amount_atomic = 2000, rail = 'usdc', host_basis = 'declared'
        from book_row r left join agent a using (agent_id)
        where r.agent_id = p.agent_id and r.task_id = p.receipt_ref and r.facts ? 'pay_to'
          and (r.facts->>'pay_to' in (r.payer_wallet, a.wallet)
            or r.facts->>'pay_to' like '0x%' and lower(r.facts->>'pay_to') in (lower(r.payer_wallet), lower(a.wallet)));
      alter table board_post
        add spend_backed boolean not null generated always as (receipt_ref is not null and not self_dealt) stored;
      create index board_post_agent on board_post (agent_id, post_id) where not hidden and taken_down_at is null;
      create index board_post_backing on board_post (spend_backed, post_id) where not hidden and taken_down_at is null;
      create index board_post_host_backing on board_post (endpoint_host, spend_backed, post_id)
        where not hidden and taken_down_at is null;
      create index board_post_outcome_backing on board_post (outcome, spend_backed, post_id)
        where not hidden and taken_down_at is null;
    `);
  }
}

import { scoreLimits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { type FundingChain, fundersOf } from './look.ts';

export interface FundingParts {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly chain: FundingChain;
}

/**
 * Periodic job that runs in one process of the fleet. It queues the payers of new posts and searches for the funders of one payer. Results
 * are stored for good, so that a repeated score uses the same edges.
 */
export async function lookAtFunding({ database, chain }: FundingParts): Promise<void> {
  await takeUpPayers(database);
  const next = await nextPayer(database);
  if (next === null) return;
  const to_block = next.to_block ?? (await chain.head());
  const from_block = next.from_block ?? Math.max(0, (to_block ?? 0) - scoreLimits.funding_blocks_max + 1);
  const look =
    to_block === null
      ? ({ kind: 'unreachable' } as const)
      : await fundersOf(chain, next.payer, { from_block, to_block });
  const given_up = look.kind === 'refused' || next.tries + 1 >= scoreLimits.tries_max;
  const state = look.kind === 'known' ? 'known' : given_up ? 'unknown' : 'pending';
  const funders = look.kind === 'known' ? JSON.stringify(look.funders) : null;
  await database.query({
    name: 'pin board funding',
    text: `update board_funding set state = $2, from_block = $3, to_block = $4, funders = $5::jsonb, tries = tries + 1,
        looked_at = now() where payer = $1 and state = 'pending'`,
    values: [next.payer, state, to_block === null ? null : from_block, to_block, funders],
  });
}

/**
 * Queues the payers of new posts. It finds the posts by the board's events, whose positions have no gap, so that a post that commits late
 * is not missed.
 */
async function takeUpPayers(database: FundingParts['database']): Promise<void> {
  await database.transaction(async tx => {
    const { rows } = await tx.query<{ position: number }>({
      name: 'lock board funding',
      text: `select position from board_funding_head where name = 'posts' for update`,
    });
    const from = rows[0]?.position ?? 0;
    tx.write({
      name: 'take up board payers',
      text: `with events as (
          select position, kind, post_id from board_event where position > $1 order by position limit $2),
        payers as (
          insert into board_funding (payer, state, looked_at)
          select distinct lower(r.payer_wallet), 'pending', to_timestamp(0)
          from events e join board_post p on p.post_id = e.post_id join receipt r on r.task_id = p.receipt_ref
          where e.kind = 'post_created' and r.payer_wallet like '0x%'
          on conflict (payer) do nothing)
        update board_funding_head set position = coalesce((select max(position) from events), position) where name = 'posts'`,
      values: [from, scoreLimits.events_per_round_max],
    });
  });
}

interface PendingPayer {
  readonly payer: string;
  readonly from_block: number | null;
  readonly to_block: number | null;
  readonly tries: number;
}

async function nextPayer({ query }: FundingParts['database']): Promise<PendingPayer | null> {
  const [next] = await query<PendingPayer & Record<string, unknown>>({
    name: 'next board payer',
    text: `select payer, from_block, to_block, tries from board_funding where state = 'pending'
        and looked_at <= now() - make_interval(secs => $1 * power(2, tries)) order by looked_at limit 1`,
    values: [scoreLimits.retry_seconds_min],
  });
  return next ?? null;
}

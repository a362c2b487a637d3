import type { JsonObject } from '../../../../schema/canonical-json.ts';
import type { NetworkName } from '../../../../schema/network.ts';
import type { Database, Tx } from '../../../database.ts';
import type { ClaimState } from '../claim.machine.ts';

/** Stored in place of a key's address, because a facilitator settles with keys of its own. */
const FACILITATOR = 'facilitator';

/** A settlement that is about to be sent to a facilitator. */
export interface NewHandOver {
  readonly network: NetworkName;
  readonly settlement_id: string;
  readonly from_block: number;
  readonly valid_before: number;
}

/** Records a settlement by a facilitator, in the transaction in which its claim begins to settle and before anything is sent. */
export async function journalPost(
  tx: Tx,
  { network, settlement_id, from_block, valid_before }: NewHandOver,
): Promise<void> {
  await tx.query({
    name: 'insert posted settlement',
    text: `insert into settlement (network, settlement_id, key_address, authorizations, from_block, valid_before_max, state, created_at, posted_at)
      values ($1, $2, '${FACILITATOR}', 1, $3, $4, 'sent', clock_timestamp(), clock_timestamp())`,
    values: [network, settlement_id, from_block, valid_before],
  });
}

export async function isJournalled(database: Pick<Database, 'query'>, settlement_id: string): Promise<boolean> {
  const text = 'select 1 from settlement where settlement_id = $1';
  return (await database.query({ name: 'is journalled', text, values: [settlement_id] })).length === 1;
}

/** Stores the transaction that a facilitator reported, so that another process can continue without the facilitator's response. */
export async function noteVouch(
  database: Pick<Database, 'query'>,
  settlement_id: string,
  tx_hash: string,
): Promise<void> {
  await database.query({
    name: 'note vouch',
    text: 'update settlement set vouched_tx = $2 where settlement_id = $1',
    values: [settlement_id, tx_hash],
  });
}

/** Hash of the transaction in which a facilitator says that the payment moved; null if it reported none. */
export async function vouchOf(database: Pick<Database, 'query'>, settlement_id: string): Promise<string | null> {
  const [row] = await database.query<{ vouched_tx: string | null }>({
    name: 'vouch of settlement',
    text: 'select vouched_tx from settlement where settlement_id = $1',
    values: [settlement_id],
  });
  return row?.vouched_tx ?? null;
}

/**
 * Abandons a settlement, so that nothing more is sent for it: it was never accepted, was refused, or its payment has moved in another way.
 */
export async function dropPost(database: Pick<Database, 'query'>, settlement_id: string): Promise<void> {
  await database.query({
    name: 'drop posted settlement',
    text: `update settlement set state = 'abandoned' where settlement_id = $1 and state = 'sent'`,
    values: [settlement_id],
  });
}

/** Marks a facilitator's settlement as mined and stores its transaction, so that its finality can be checked. */
export async function markCarried(
  tx: Tx,
  settlement_id: string,
  carried: { tx_hash: string; block_number: number; block_hash: string },
): Promise<void> {
  await tx.query({
    name: 'insert carried attempt',
    text: `insert into settlement_attempt (settlement_id, tx_hash, nonce, raw, max_fee_wei, priority_fee_wei, created_at)
      values ($1, $2, 0, '', 0, 0, clock_timestamp()) on conflict do nothing`,
    values: [settlement_id, carried.tx_hash],
  });
  await tx.query({
    name: 'mark carried',
    text: `update settlement set state = 'mined', block_number = $2, block_hash = $3
      where settlement_id = $1 and state in ('sent', 'mined')`,
    values: [settlement_id, carried.block_number, carried.block_hash],
  });
}

/** A settlement that was sent to a facilitator and not seen mined. `claim_state` and `authorization` are null if no claim refers to it. */
export interface DuePost {
  readonly settlement_id: string;
  readonly from_block: number;
  readonly claim_state: ClaimState | null;
  readonly authorization: JsonObject | null;
}

/** Pauses before a settlement is sent again: `rest_ms` the first time, then twice as long each time, up to `rest_ms_max`. */
export interface PostPace {
  readonly rest_ms: number;
  readonly rest_ms_max: number;
}

/** Takes settlements that are due to be sent again, each for one process. The next pause of each begins now. */
export async function takeDuePosts(
  tx: Tx,
  network: NetworkName,
  pace: PostPace,
  count_max: number,
): Promise<readonly DuePost[]> {
  const { rows } = await tx.query<DuePost>({
    name: 'take due posts',
    text: `with due as (
        update settlement set posts = posts + 1, posted_at = clock_timestamp() where settlement_id in (
          select settlement_id from settlement where state = 'sent' and network = $4 and posted_at is not null
            and posted_at < clock_timestamp() - make_interval(secs => least($1::float8 * 2 ^ least(posts, 20), $2::float8) / 1000)
          order by posted_at limit $3 for update skip locked)
        returning settlement_id, from_block)
      select due.settlement_id, due.from_block, c.state as claim_state, c."authorization"
      from due left join payment_claim c on c.settlement_id = due.settlement_id`,
    values: [pace.rest_ms, pace.rest_ms_max, count_max, network],
  });
  return rows;
}

import type { Tx } from '../../../database.ts';

/** A key that may be used now, and its next nonce on the chain, pending transactions included. */
export interface KeyCandidate {
  readonly address: string;
  readonly nonce_pending: number;
}

export interface AllocatedNonce {
  readonly address: string;
  readonly nonce: number;
}

/**
 * Takes the next nonce of one of the candidate keys; null if there are none. The row of the key is locked until the transaction ends, so no
 * two processes take the same nonce. A key that another process has locked is skipped if another key is free. A key with a transaction that
 * has waited for a block longer than `held_up_ms` is used only if no other is free, because whatever is signed after a stuck nonce waits
 * with it. Among the rest the choice is random, so that processes do not all wait for the same key.
 */
export async function allocateNonce(
  tx: Tx,
  candidates: readonly KeyCandidate[],
  held_up_ms: number,
): Promise<AllocatedNonce | null> {
  insertKeys(tx, candidates);
  const key =
    (await lockKey(tx, candidates, held_up_ms, 'skip locked')) ?? (await lockKey(tx, candidates, held_up_ms, ''));
  if (key === null) return null;
  // A key may also have been used outside this database. The chain's count is then higher than the stored one.
  const pending = candidates.find(candidate => candidate.address === key.address)?.nonce_pending ?? 0;
  const nonce = Math.max(key.next_nonce, pending);
  tx.write({
    name: 'take nonce',
    text: 'update settler_key set next_nonce = $2 where address = $1',
    values: [key.address, nonce + 1],
  });
  return { address: key.address, nonce };
}

interface KeyRow {
  readonly address: string;
  readonly next_nonce: number;
}

/**
 * Inserts a row for every candidate before one is chosen. Otherwise keys that were never used would have no row, and a stuck key would be
 * chosen instead.
 */
function insertKeys(tx: Tx, candidates: readonly KeyCandidate[]): void {
  tx.write({
    name: 'insert settler keys',
    text: `insert into settler_key (address, next_nonce)
      select address, next_nonce from unnest($1::text[], $2::bigint[]) as n(address, next_nonce)
      order by address on conflict (address) do nothing`,
    values: [candidates.map(({ address }) => address), candidates.map(({ nonce_pending }) => nonce_pending)],
  });
}

async function lockKey(
  tx: Tx,
  candidates: readonly KeyCandidate[],
  held_up_ms: number,
  wait: 'skip locked' | '',
): Promise<KeyRow | null> {
  const { rows } = await tx.query<KeyRow>({
    name: `lock settler key ${wait}`,
    text: `select address, next_nonce from settler_key k where address = any($1)
      order by exists (select 1 from settlement s where s.key_address = k.address and s.state = 'sent'
        and s.created_at < clock_timestamp() - make_interval(secs => $2::float8 / 1000)), random()
      limit 1 for update of k ${wait}`,
    values: [candidates.map(({ address }) => address), held_up_ms],
  });
  return rows[0] ?? null;
}

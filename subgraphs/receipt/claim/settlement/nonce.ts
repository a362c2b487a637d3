import type { Tx } from '../../../database.ts';

/** A key that may be used now, and how far the chain says its nonces are taken. */
export interface KeyCandidate {
  readonly address: string;
  readonly nonce_pending: number;
}

export interface AllocatedNonce {
  readonly address: string;
  readonly nonce: number;
}

/**
 * Takes the next nonce of one of these keys; the row's lock is held until the transaction ends, so no two processes
 * take the same. A key that another process is using this moment is passed over while there is another, and so is one
 * that has waited for a block longer than `held_up_ms`: what is signed after a stuck nonce waits with it. Among the rest
 * chance decides, so that processes do not all queue for the same one.
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
  // A key that was used elsewhere has gone on without us: what the chain counts can only be more.
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

/** Every candidate has to be there before one is chosen, or those never used would be passed over for a stuck one. */
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

import type { Tx } from '../../database.ts';

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
 * take the same. A key that another process is using this moment is passed over while there is another.
 */
export async function allocateNonce(tx: Tx, candidates: readonly KeyCandidate[]): Promise<AllocatedNonce | null> {
  const key = (await lockKey(tx, candidates, 'skip locked')) ?? (await lockNewKey(tx, candidates));
  if (key === null) return null;
  // A key that was used elsewhere has gone on without us: what the chain counts can only be more.
  const pending = candidates.find(candidate => candidate.address === key.address)?.nonce_pending ?? 0;
  const nonce = Math.max(key.next_nonce, pending);
  await tx.query({
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

async function lockKey(tx: Tx, candidates: readonly KeyCandidate[], wait: 'skip locked' | ''): Promise<KeyRow | null> {
  const { rows } = await tx.query<KeyRow>({
    name: `lock settler key ${wait}`,
    text: `select address, next_nonce from settler_key where address = any($1) order by address limit 1 for update ${wait}`,
    values: [candidates.map(({ address }) => address)],
  });
  return rows[0] ?? null;
}

/** No key is free: each is in use or has never been used here. */
async function lockNewKey(tx: Tx, candidates: readonly KeyCandidate[]): Promise<KeyRow | null> {
  const { rows } = await tx.query<KeyRow>({
    name: 'insert settler keys',
    text: `insert into settler_key (address, next_nonce)
      select address, next_nonce from unnest($1::text[], $2::bigint[]) as n(address, next_nonce)
      order by address on conflict (address) do nothing returning address, next_nonce`,
    values: [candidates.map(({ address }) => address), candidates.map(({ nonce_pending }) => nonce_pending)],
  });
  return rows[0] ?? lockKey(tx, candidates, '');
}

import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import type { InflowRow } from './find.ts';
import type { WalletClaim } from './wallet-claim.ts';

/**
 * What a correction says of the row that it names. What it left out of its request stands in it as it holds from then on.
 * `merges`, every branch in the order of seq, stands in that of one which merges, and in no other: their hash stays.
 */
export interface Said extends JsonObject {
  readonly reason: string;
  readonly bucket: string;
  /** Atomic USDC, digits. */
  readonly allocation: string;
  /** The free object that it carries. */
  readonly correction: JsonObject | null;
  /** Without its signature, of which there may be several over one text. */
  readonly wallet_claim: JsonObject | null;
}

export interface Naming {
  readonly agent_id: AgentId;
  /** Of the row that is corrected. */
  readonly corrects_seq: number;
  readonly said: Said;
}

export function withoutSignature({ signature: _, ...claim }: WalletClaim): JsonObject {
  return claim;
}

/** SHA-256 of it as canonical JSON (RFC 8785). */
export function saidHash({ said }: Naming): string {
  return canonicalHash(said);
}

/**
 * Where the correction stands that names the same row and says the same; null where there is none. Of two that are sent at
 * once the second waits here for the first. Before any head is locked, as with every id that its caller chose.
 */
export async function sameCorrection(tx: Tx, naming: Naming): Promise<Pick<InflowRow, 'seq'> | null> {
  const { agent_id, corrects_seq, said } = naming;
  const hash = saidHash(naming);
  await tx.query({
    name: 'lock correction',
    text: `select pg_advisory_xact_lock(hashtextextended('correction ' || $1::int || ' ' || $2::int || ' ' || $3, 0))`,
    values: [agent_id, corrects_seq, hash],
  });
  const { rows } = await tx.query<{ seq: number }>({
    name: 'same correction',
    text: SAME,
    values: [agent_id, corrects_seq, hash, JSON.stringify(said)],
  });
  return rows[0] ?? null;
}

/** Corrections of before have no hash: they are compared by what stands on their rows. The first stands where they forked. */
const SAME = `select c.seq from book_correction c where c.agent_id = $1 and c.corrects_seq = $2 and c.said_hash = $3
  union all
  (select c.seq from book_correction c join book_row r using (agent_id, seq)
    where c.agent_id = $1 and c.corrects_seq = $2 and c.said_hash is null and r.evidence = 'inflow_claimed'
      and jsonb_build_object('reason', r.facts->'reason', 'bucket', r.facts->'bucket',
        'allocation', r.facts->'allocation', 'correction', r.facts->'inflow_claim'->'correction',
        'wallet_claim', (r.facts->'inflow_claim'->'wallet_claim') - 'signature') = $4::jsonb
    order by c.seq limit 1)
  limit 1`;

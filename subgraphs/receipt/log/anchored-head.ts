import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Database } from '../../database.ts';
import { EMPTY_ROOT } from '../verify/merkle-proof.ts';
import { parseJws, verifyEs256 } from '../verify/signature.ts';
import { type LogIntegrity, proveLogIntact } from './prove-intact.ts';
import { LOG_ID, type TreeHeadFacts } from './tree-head.ts';

/**
 * The newest anchor as it is named in a declared break. The log need no longer extend it, nor any earlier anchor of its sender on that
 * chain.
 */
export interface DeclaredAnchor {
  readonly tree_size: number;
  readonly root_hash: string;
  readonly sender: string;
  readonly tx_hash: string;
  readonly block_number: number;
  /** Hash of the chain's first block, which distinguishes a development chain from the one after a restart. */
  readonly genesis_hash: string;
}

/**
 * Anchors of the declared breaks, read from the signed declarations. A row without a valid signature of the issuer is left out, so it
 * releases no anchor.
 */
export async function declaredAnchors(database: Database, jwks: JsonObject): Promise<DeclaredAnchor[]> {
  const breaks = await database.query<{ jws: string }>({
    text: 'select jws from log_break where anchored is not null order by break_id',
  });
  return breaks.flatMap(({ jws }) => {
    const parsed = parseJws(jws);
    const anchored = parsed?.claims.anchored;
    if (!parsed || !isJsonObject(anchored)) return [];
    if (!verifyEs256(jwks, parsed.header.kid, parsed.input, parsed.signature)) return [];
    return [anchored as unknown as DeclaredAnchor];
  });
}

export type ProvenHeads<H extends TreeHeadFacts> =
  | { readonly kind: 'extended' }
  | { readonly kind: 'broken'; readonly head: H; readonly integrity: Exclude<LogIntegrity, { kind: 'intact' }> };

/**
 * Whether the log extends each of these heads. Otherwise the result is the last of them that it does not extend. Reads O(log n) rows for
 * each head.
 */
export async function proveHeads<H extends TreeHeadFacts>(
  database: Database,
  heads: readonly H[],
): Promise<ProvenHeads<H>> {
  for (const head of heads.toReversed()) {
    const integrity = await proveLogIntact(database, head);
    if (integrity.kind !== 'intact') return { kind: 'broken', head, integrity };
  }
  return { kind: 'extended' };
}

const empty: TreeHeadFacts = { log_id: LOG_ID, tree_size: 0, root_hash: EMPTY_ROOT.toString('hex') };

/** Current head of the log if it extends `since` and is larger; otherwise null. A null `since` is the empty log. */
export async function findExtendingHead(
  database: Database,
  since: TreeHeadFacts | null,
): Promise<TreeHeadFacts | null> {
  const before = since ?? empty;
  const integrity = await proveLogIntact(database, before);
  return integrity.kind === 'intact' && integrity.found.tree_size > before.tree_size ? integrity.found : null;
}

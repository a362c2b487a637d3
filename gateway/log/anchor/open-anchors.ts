import { systemRandom } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { type Issuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import type { Config } from '../../config/read-config.ts';
import type { Hex } from '../../rails/base/abi.ts';
import type { BaseChain } from '../../rails/base/chain.ts';
import { settlerKey } from '../../rails/base/settle/transaction.ts';
import { type AnchorChain, openAnchorChain } from './anchor-chain.ts';
import { AnchoredHeads } from './anchored-heads.ts';
import type { AnchorerParts } from './anchorer.ts';

/** What anchoring needs from this process, except the log. */
export interface Anchors extends AnchorerParts {
  readonly chain: BaseChain;
  readonly anchors: AnchorChain;
  readonly heads: AnchoredHeads;
  readonly poll_ms: number;
  close(): Promise<void>;
}

const GWEI = 1_000_000_000n;
/**
 * Defaults by profile. At 0.01 gwei a day of anchors costs less than a hundredth of the limit. Gas of a development chain has a high price
 * but no real cost.
 */
const defaults = {
  development: { anchor_seconds: 30, fee_day_max_gwei: 500_000_000, poll_ms: 4_000 },
  production: { anchor_seconds: 3_600, fee_day_max_gwei: 1_000_000, poll_ms: 20_000 },
} as const;
const STUCK_MS = 60_000;

interface AnchorsParts {
  readonly database: Database;
  readonly chain: BaseChain;
  readonly issuer: Pick<Issuer, 'jwks'>;
}

/** Whether this process never anchors: a generated key has no gas on a real chain. */
function anchorsNothing({ stand_ins }: Pick<Config, 'stand_ins'>): boolean {
  return stand_ins.includes('ANCHOR_KEY') && !stand_ins.includes('BASE_RPC_URL');
}

/** Opens what anchoring needs. Null if this process never anchors. */
export function openAnchors(config: Config, { database, chain, issuer }: AnchorsParts): Anchors | null {
  if (anchorsNothing(config)) return null;
  const { anchor_seconds, fee_day_max_gwei, poll_ms } = defaults[config.profile];
  const key = anchorKey(config.anchor_key);
  const anchors = openAnchorChain(config.base_rpc_url);
  return {
    database,
    chain,
    anchors,
    key,
    poll_ms,
    heads: new AnchoredHeads({ database, chain, anchors, sender: key.address, jwks: issuer.jwks }),
    random: systemRandom,
    pace_ms: (config.anchor_seconds ?? anchor_seconds) * 1_000,
    fee_day_max_wei: BigInt(config.anchor_fee_day_max ?? fee_day_max_gwei) * GWEI,
    stuck_ms: STUCK_MS,
    close: () => anchors.close(),
  };
}

/** The key that signs anchors. Its address is in lower case, because logs of the chain have it so. */
export function anchorKey(seed: string) {
  const key = settlerKey(`0x${seed}`);
  return { ...key, address: key.address.toLowerCase() as Hex };
}

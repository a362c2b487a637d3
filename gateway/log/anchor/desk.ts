import type { Random } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { type AnchorPlace } from '../../../subgraphs/receipt/log/anchor-journal.ts';
import type { BaseChain } from '../../rails/base/chain.ts';
import type { SettlerKey } from '../../rails/base/settle/transaction.ts';
import type { AnchorChain } from './anchor-chain.ts';

/** Why nothing is anchored, as `/health` names it. */
export type AnchorTrouble =
  | 'chain_unavailable'
  /** The key's balance does not cover one transaction. */
  | 'unfunded'
  /** What is left of ANCHOR_FEE_DAY_MAX does not cover one, at what the chain asks now. */
  | 'fee_too_high'
  /** It pays what the chain asks, and no block has taken it for long. */
  | 'not_mined'
  /** It was mined without effect. */
  | 'void';

/** What one move came to. */
export type Move =
  /** Nothing to anchor, or not yet. */
  | { readonly kind: 'still' }
  /** Under way: the chain alone says what becomes of it. */
  | { readonly kind: 'sent'; readonly tx_hash: string }
  /** Mined: the contract, or a head. */
  | { readonly kind: 'deployed' }
  | { readonly kind: 'anchored'; readonly tx_hash: string }
  | { readonly kind: 'trouble'; readonly trouble: AnchorTrouble; readonly cause?: unknown };

/** Points at which a test may end the process. */
export type AnchorFaults = (point: 'after_journal' | 'after_broadcast') => Promise<void>;

export interface AnchorerParts {
  readonly database: Database;
  readonly chain: Pick<BaseChain, 'market' | 'broadcast' | 'transactionCount' | 'code'>;
  readonly anchors: Pick<AnchorChain, 'receipt'>;
  readonly key: SettlerKey;
  readonly random: Random;
  readonly pace_ms: number;
  readonly fee_day_max_wei: bigint;
  /** When one that is not mined is looked at more closely. */
  readonly stuck_ms: number;
  readonly faults?: AnchorFaults | undefined;
}

/** The desk at which one key's transactions are sent. */
export interface AnchorDesk extends AnchorerParts {
  readonly place: AnchorPlace;
}

export function away(cause: unknown): Move {
  return { kind: 'trouble', trouble: 'chain_unavailable', cause };
}

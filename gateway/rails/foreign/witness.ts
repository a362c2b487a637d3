import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type {
  NamedTransfer,
  NotBelieved,
  Observation,
  SeenIn,
  TransferStanding,
} from '../../../subgraphs/foreign-transfers.ts';

/** One chain, asked about payments that were made to somebody else. */
export interface Witness {
  observe(named: NamedTransfer): Promise<Observation>;
  standing(transfer: ObservedTransfer, seen_in: SeenIn): Promise<TransferStanding>;
}

export const notBelieved = (reason: NotBelieved): Observation => ({ kind: 'not_believed', reason });
export const noAnswer = (cause: unknown): Observation => ({ kind: 'unknown', cause });

/** Of a transaction that moves the same a hundred times whoever has to choose needs a look at it. */
const INDEXES_SAID_MAX = 32;

/** The one that is meant of all that a transaction moved: by its index where that is named, or else there is one alone. */
export function theOneMeant<T extends { readonly index: number }>(
  found: readonly T[],
  index: number | null,
): { readonly kind: 'one'; readonly transfer: T } | Extract<Observation, { kind: 'not_believed' }> {
  const meant = index === null ? found : found.filter(one => one.index === index);
  const [transfer, second] = meant;
  if (transfer === undefined) return { kind: 'not_believed', reason: 'no_such_transfer' };
  if (second === undefined) return { kind: 'one', transfer };
  const transfer_indexes = meant.slice(0, INDEXES_SAID_MAX).map(one => one.index);
  return { kind: 'not_believed', reason: 'ambiguous', transfer_indexes };
}

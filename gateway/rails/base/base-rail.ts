import type { Database } from '../../../subgraphs/database.ts';
import type { ClaimItem } from '../../charge/settle-claim.ts';
import type { ExactEvmPayload } from '../../x402/envelope.ts';
import { rememberChain } from '../epoch.ts';
import { vouchFor } from '../facilitator/vouch.ts';
import { type FinalChain, recheckFinalized } from '../finality.ts';
import type { BasePayment } from '../payment.ts';
import type { Rail, Sent } from '../rail.ts';
import type { Settler } from '../settler.ts';
import type { Authorization } from './authorization.ts';
import type { BaseChain } from './chain.ts';
import type { ChainHead } from './chain-head.ts';
import { isOver } from './decide.ts';
import { epochChainOf } from './epoch-chain.ts';
import { carriedOnBase } from './facilitated.ts';
import { searchFrom } from './first-block.ts';
import { meansOf, readyToPay, searchElsewhere, usedInTime } from './ready.ts';
import { findMined } from './settle/attempts.ts';
import { reconcileSettlement } from './settle/reconcile-settlement.ts';
import { signedBy } from './signed-by.ts';
import type { Unproven } from './unproven.ts';
import { compareAccepted, verifyAuthorization } from './verify-authorization.ts';

export interface BaseRailParts {
  readonly database: Database;
  readonly chain: BaseChain;
  readonly chain_head: ChainHead;
  /** @throws while it is not known. */
  readonly chain_epoch: () => number;
  readonly settler: Settler<ClaimItem<BasePayment>>;
  readonly unproven: Unproven;
}

/** Who judges a payment on Base by itself. */
export const baseJudge: Pick<Rail<BasePayment>, 'compare' | 'verify'> = {
  compare: compareAccepted,
  verify: async (payload, offered) => verifyAuthorization(payload as ExactEvmPayload, offered),
};

/** USDC on Base, by EIP-3009. */
export function openBaseRail(parts: BaseRailParts): Rail<BasePayment> {
  const { database, chain, chain_head, chain_epoch, settler, unproven } = parts;
  const epoch_chain = epochChainOf(chain);
  const carried = carriedOnBase(chain);
  return {
    ...baseJudge,
    network: 'base',
    get chain_epoch() {
      return chain_epoch();
    },
    settler,
    prove: (payment, address) => unproven.prove(payment, address),
    ready: readyToPay,
    usedInTime,
    find: searchElsewhere,
    means: meansOf,
    isOver: ({ authorization }) => isOver(chain, authorization),
    async decide(_till, { authorization }, sent) {
      const { settlement_id } = sent;
      const from_block = sent.from_block ?? (await searchFrom(chain, unusedUntil(authorization, sent)));
      if (from_block === null) return { kind: 'unknown', reason: 'chain_unavailable' };
      return reconcileSettlement({ database, chain }, { authorization, settlement_id, from_block });
    },
    vouch: (_till, payment, sent) => vouchFor(database, carried, payment, sent),
    signedBy,
    // One request for both.
    look: async () => {
      const epoch = chain_epoch();
      await Promise.all([chain_head.poll(), rememberChain(database, epoch_chain, epoch)]);
    },
    age_ms: () => chain_head.age_ms(),
    reachable: async () => (await chain.block('latest')).kind === 'ok',
    recheck: (_till, correct) => recheckFinalized(finalBase(database, chain), correct),
    close: () => settler.close(),
  };
}

export function finalBase(database: Database, chain: BaseChain): FinalChain {
  return {
    database,
    network: 'base',
    async finalized() {
      const block = await chain.block('finalized');
      return block.kind === 'ok' ? (block.value?.number ?? null) : null;
    },
    find: settlements => findMined(chain, settlements),
  };
}

/** For how long a payment may have been used before the claim that found it used. */
const SEEN_LATE_SECONDS_MAX = 24 * 3600;

/** It was looked at when it was first claimed; before `validAfter` no block can have taken it. */
function unusedUntil({ valid_after_seconds }: Authorization, { claimed_at }: Sent): number {
  const claimed_seconds = Math.floor(claimed_at.getTime() / 1_000);
  return Math.max(valid_after_seconds, claimed_seconds - SEEN_LATE_SECONDS_MAX);
}

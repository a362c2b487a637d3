import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Refusal } from '../../schema/errors.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Moved, Transferred } from '../rails/outcome.ts';
import type { Payment } from '../rails/payment.ts';
import { type ClaimItem, commitSettling } from '../rails/settler.ts';
import { answerLabel, type InHand, workedLanding } from '../record/facts.ts';
import { type CallOutcome, type Hears, movementOf } from './answer-by-outcome.ts';
import type { Claimed } from './claim-request.ts';
import type { Movement } from './held.ts';
import type { Presented } from './verify-payment.ts';

export interface SettleParts {
  readonly database: Database;
  readonly vault: Pick<Vault, 'seal'>;
  readonly log: Pick<LogStanding, 'halt'>;
  readonly hears: Hears;
}

export type SettledClaim =
  | { readonly kind: 'transferred'; readonly transfer: Moved }
  | { readonly kind: 'refused'; readonly movement: Movement; readonly refusal: Refusal };

/** How the money of a claim moves, or is found to have moved already. */
export interface ClaimSettling {
  /** Moves the money, or finds out why it did not move. The chain's word decides; a time-out decides nothing. */
  settle(claimed: Claimed, in_hand: InHand | null): Promise<SettledClaim>;
  /** The Transfer that somebody else's submission made. @throws where it went elsewhere, or the chain cannot say yet. */
  transferElsewhere(presented: Presented): Promise<Transferred>;
  /**
   * Somebody else has submitted the payment: there is nothing to send, but the claim must say that the money has moved
   * before any work is done for it, or a hub that fails would make it look unpaid.
   */
  adopt(claimed: Claimed, transfer: Transferred): Promise<void>;
}

export function openSettling(parts: SettleParts): ClaimSettling {
  const { database, hears } = parts;
  return {
    settle: (claimed, in_hand) => settleClaim(parts, claimed, in_hand),
    async transferElsewhere({ paid, payment, payer, rail }) {
      // Who has used their nonce themselves can ask for as many searches as they like: they wait in their own line.
      const found = await rail.find(payment, payer.wallet);
      // No turn in time is no word of the payment. Where its nonce is spent and the log is not there yet the money may be ours.
      if (found.kind === 'busy' || found.kind === 'unknown') throw hears({ kind: 'unknown' });
      if (found.kind === 'not_transferred') throw hears({ kind: 'rejected', paid, reason: found.reason });
      return found;
    },
    async adopt(claimed, { block_number }) {
      const item = { ...claimItem(claimed), answer_box: null, worked: {} };
      const sending = { settlement_id: null, from_block: block_number, replaces: [] };
      const moved = await database.transaction(tx => commitSettling(tx, [item], sending));
      if (!moved.has(item.claim_key)) throw hears({ kind: 'unknown' });
    },
  };
}

async function settleClaim(parts: SettleParts, claimed: Claimed, in_hand: InHand | null): Promise<SettledClaim> {
  const { vault, log, hears } = parts;
  const refused = (outcome: CallOutcome) =>
    ({ kind: 'refused', movement: movementOf(outcome), refusal: hears(outcome) }) as const;
  // It could not be recorded: nothing is taken for it. What was sent before is found out by whoever sent it.
  if (log.halt) return refused({ kind: 'not_taken', unsure: false });
  const { paid, task_id, rail } = claimed;
  const worked = workedLanding(in_hand);
  const answer_box = in_hand?.answer ? sealAnswer(vault, task_id, in_hand.answer) : null;
  const settlement = await rail.settler.settle({ ...claimItem(claimed), answer_box, worked });
  switch (settlement.kind) {
    case 'transferred':
      return { kind: 'transferred', transfer: settlement };
    case 'vouched':
      // A stamp's effect cannot be taken back: it is written for money that was seen, and for no less.
      if (paid.order !== 'stamp') return { kind: 'transferred', transfer: settlement };
      return refused({ kind: 'unknown', transaction: settlement.tx_hash });
    case 'not_transferred':
    case 'declined':
      return refused({ kind: 'rejected', paid, reason: settlement.reason });
    case 'not_sent':
      return refused({ kind: 'not_sent', reason: settlement.reason });
    case 'unknown':
      return refused({ kind: 'unknown', transaction: settlement.tx_hash ?? null });
  }
}

function claimItem({ lease, payment }: Claimed): Payment & Pick<ClaimItem, 'claim_key' | 'lease'> {
  const { authorization, signature } = payment;
  return { claim_key: lease.claim_key, lease, authorization, signature } as Payment &
    Pick<ClaimItem, 'claim_key' | 'lease'>;
}

export function sealAnswer({ seal }: Pick<Vault, 'seal'>, task_id: string, answer: JsonObject): Buffer {
  return seal(JSON.stringify(answer), answerLabel(task_id));
}

import { type JsonObject } from '../../schema/canonical-json.ts';
import { type Refusal } from '../../schema/errors.ts';
import { type TaskId } from '../../schema/ids.ts';
import { holdSlots, type SlotHoldOutcome } from '../../subgraphs/receipt/claim/held-leg.ts';
import { answerLabel } from '../../subgraphs/receipt/claim/rerun.ts';
import { storeAnswers } from '../../subgraphs/receipt/claim/transitions.ts';
import { revocationsAmong } from '../../subgraphs/receipt/issuer/revoked-sessions.ts';
import { type StampFact } from '../../subgraphs/stamped-row.ts';
import { type Tx } from '../../subgraphs/transaction.ts';
import { type Vault } from '../../subgraphs/vault.ts';
import { type RecordableOutcome, type Transferred } from '../rails/outcome.ts';
import { type Payment } from '../rails/payment.ts';
import { type ClaimItem, commitSettling } from '../rails/settler.ts';
import { type CallParts } from './parts.ts';
import { foundLabel, type InHand, isFound, workedLanding } from './record/facts.ts';
import { type CallOutcome, movementOf } from './respond.ts';
import { type Claimed, type Movement, type Presented } from './states.ts';

type SettleParts = Pick<CallParts, 'database' | 'vault' | 'log' | 'respond'>;

type SettledClaim =
  | { readonly kind: 'transferred'; readonly transfer: RecordableOutcome }
  | { readonly kind: 'refused'; readonly movement: Movement; readonly refusal: Refusal };

/**
 * Moves the money, or returns why it did not move. Only the chain decides that: a time-out decides nothing. If somebody else has moved it
 * (`elsewhere`), the facts that a stamp has found are still stored.
 */
export function settle(
  parts: SettleParts,
  claimed: Claimed,
  in_hand: InHand | StampFact<JsonObject> | null,
  elsewhere: Transferred | null,
): Promise<SettledClaim> {
  return elsewhere ? keepFound(parts, claimed, elsewhere, in_hand) : settleClaim(parts, claimed, in_hand);
}

/** The transfer that somebody else's submission made. @throws if the money went elsewhere, or the chain cannot show it yet */
export async function transferElsewhere(
  { respond }: Pick<CallParts, 'respond'>,
  { paid, payment, payer, rail }: Presented,
): Promise<Transferred> {
  // Payers who used their nonces themselves could request any number of searches, so these wait in a queue of their own.
  const found = await rail.find(payment, payer.wallet);
  // Without a turn in time, nothing is known of the payment. If its nonce is used and the log cannot be read yet, the money may have been
  // paid to this service.
  if (found.kind === 'busy' || found.kind === 'unknown') throw respond({ kind: 'unknown' });
  if (found.kind === 'not_transferred') throw respond({ kind: 'rejected', paid, reason: found.reason });
  return found;
}

/**
 * Stores that somebody else submitted the payment. Nothing is sent, but the claim must show that the money has moved before any work is
 * done. Otherwise it would look unpaid if a hub failed.
 */
export async function adopt(
  { database, respond }: Pick<CallParts, 'database' | 'respond'>,
  claimed: Claimed,
  { block_number }: Transferred,
): Promise<void> {
  const item = { ...claimItem(claimed), answer_box: null, worked: {} };
  const sending = { settlement_id: null, from_block: block_number, replaces: [] };
  const moved = await database.transaction(tx => commitSettling(tx, [item], sending));
  if (!moved.has(item.claim_key)) throw respond({ kind: 'unknown' });
}

async function keepFound(
  parts: SettleParts,
  claimed: Claimed,
  transfer: Transferred,
  in_hand: InHand | StampFact<JsonObject> | null,
): Promise<SettledClaim> {
  if (!isFound(in_hand)) return { kind: 'transferred', transfer };
  const { claim_key } = claimed.lease;
  const answer_box = sealFound(parts.vault, claimed.task_id, in_hand);
  const held = await holdFound(parts, claimed, in_hand, tx => storeAnswers(tx, [{ claim_key, answer_box }]));
  if (held !== 'held') throw parts.respond({ kind: 'unknown' });
  return { kind: 'transferred', transfer };
}

/** Takes the slots of the facts that a stamp has found, while the claim belongs to this process. */
async function holdFound(
  { database }: SettleParts,
  { lease }: Claimed,
  { slots }: StampFact<JsonObject>,
  also: (tx: Tx) => Promise<void> = async () => {},
): Promise<SlotHoldOutcome> {
  return database.transaction(async tx => {
    const held = await holdSlots(tx, lease, slots);
    if (held === 'held') await also(tx);
    return held;
  });
}

async function settleClaim(
  parts: SettleParts,
  claimed: Claimed,
  in_hand: InHand | StampFact<JsonObject> | null,
): Promise<SettledClaim> {
  const { vault, log, respond } = parts;
  const refused = (outcome: CallOutcome) =>
    ({ kind: 'refused', movement: movementOf(outcome), refusal: respond(outcome) }) as const;
  // The call could not be recorded, so its payment is not accepted. The outcome of a payment that was sent before is found by its sender.
  if (!log.signs) return refused({ kind: 'not_taken', unsure: false });
  const { paid, task_id, rail } = claimed;
  if (isFound(in_hand)) {
    const held = await holdFound(parts, claimed, in_hand);
    if (held === 'taken') return refused({ kind: 'slot_taken', paid });
    if (held === 'lost') return refused({ kind: 'not_sent', reason: 'claim_lost' });
  }
  const worked = workedLanding(in_hand);
  const answer_box = sealedInHand(vault, task_id, in_hand);
  const path = claimed.under?.paid_under.path;
  const settlement = await rail.settler.settle({ ...claimItem(claimed), answer_box, worked, ...(path && { path }) });
  switch (settlement.kind) {
    case 'transferred':
      return { kind: 'transferred', transfer: settlement };
    case 'vouched':
      // A stamp's effect cannot be undone, so it is written only for money that was seen on the chain.
      if (paid.order !== 'stamp' && paid.order !== 'leg') return { kind: 'transferred', transfer: settlement };
      return refused({ kind: 'unknown', transaction: settlement.tx_hash });
    case 'not_transferred':
    case 'declined':
      return refused({ kind: 'rejected', paid, reason: settlement.reason });
    case 'not_sent':
      if (settlement.reason === 'claim_lost' && path && (await isRevoked(parts, path)))
        return refused({ kind: 'refused_by_session', refusal: { kind: 'not_active', status: 'revoked' } });
      return refused({ kind: 'not_sent', reason: settlement.reason });
    case 'unknown':
      return refused({ kind: 'unknown', transaction: settlement.tx_hash ?? null });
  }
}

/**
 * Whether a revocation may be the reason that the claim did not move. Whether the claim still belongs to this call is checked when it is
 * released.
 */
async function isRevoked({ database }: SettleParts, path: readonly string[]): Promise<boolean> {
  const revoked = await database.transaction(tx => revocationsAmong(tx, path));
  return revoked.size > 0;
}

function claimItem({ lease, payment }: Claimed): Payment & Pick<ClaimItem, 'claim_key' | 'lease'> {
  const { authorization, signature } = payment;
  return { claim_key: lease.claim_key, lease, authorization, signature } as Payment &
    Pick<ClaimItem, 'claim_key' | 'lease'>;
}

/** The sealed result that reconcile needs to continue alone. Null if there is none yet. */
function sealedInHand(
  vault: Pick<CallParts, 'vault'>['vault'],
  task_id: TaskId,
  in_hand: InHand | StampFact<JsonObject> | null,
) {
  if (isFound(in_hand)) return sealFound(vault, task_id, in_hand);
  return in_hand?.answer ? sealAnswer(vault, task_id, in_hand.answer) : null;
}

function sealFound(
  { seal }: Pick<CallParts, 'vault'>['vault'],
  task_id: TaskId,
  { fact, slots }: StampFact<JsonObject>,
): Buffer {
  return seal(JSON.stringify({ fact, slots }), foundLabel(task_id));
}

export function sealAnswer({ seal }: Pick<Vault, 'seal'>, task_id: string, answer: JsonObject): Buffer {
  return seal(JSON.stringify(answer), answerLabel(task_id));
}

import { atomicAmount } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import { approvalLimits } from '../../../schema/limits.ts';
import { NOTE_HEADER, readNote } from '../../../schema/session/note-header.ts';
import { requestText } from '../../../schema/session/request-text.ts';
import { sealCallText } from '../../../subgraphs/book/approval/call-text.ts';
import { isApproved } from '../../../subgraphs/book/approval/is-approved.ts';
import { type Random } from '../../../subgraphs/clock.ts';
import { type Context } from '../../../subgraphs/context.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import { type ClaimRequest } from '../../../subgraphs/receipt/claim/claim.ts';
import { identifierSlot, nameOfSlot } from '../../../subgraphs/receipt/claim/identifier.ts';
import { isProofSlot, proofSlots } from '../../../subgraphs/receipt/claim/slots.ts';
import { claimByKey, leaseOfTask } from '../../../subgraphs/receipt/claim/transitions.ts';
import { isRouted } from '../../../subgraphs/receipt/inference/catalogue.ts';
import { isVendorBlind } from '../../../subgraphs/receipt/inference/vendor-blind.ts';
import { type AnyPaid } from '../../../subgraphs/sale.ts';
import { type ClaimSession } from '../../../subgraphs/session/delegation/hold.ts';
import { type Vault } from '../../../subgraphs/vault.ts';
import { type Authorization, paymentId, paymentToJson } from '../../rails/payment.ts';
import { type PayTo } from '../../x402/offer.ts';
import { giveUpClaim } from '../give-up.ts';
import { type CallParts } from '../parts.ts';
import { type CallLanding } from '../record/facts.ts';
import { type RequestedSale } from '../request.ts';
import { type CallOutcome } from '../respond.ts';
import { type Presented } from '../states.ts';
import { type Claiming, type TakenClaim } from './queues.ts';

export const requestLabel = (claim_key: string): string => `request:${claim_key}`;

type ToClaim = Presented & Pick<ClaimRequest, 'task_id' | 'means'>;

/**
 * Prepares a claim with everything that reconcile needs to finish it alone. The payer's own book is not part of it, because it is looked up
 * in the claim's transaction.
 */
async function claimingOf(
  { vault, random, pay_to, owner, respond }: Pick<CallParts, 'vault' | 'random' | 'pay_to' | 'owner' | 'respond'>,
  presented: ToClaim,
  context: Context,
): Promise<Claiming> {
  const { paid, payment, claim_key, request_hash, is_former, task_id, means, is_payers = false } = presented;
  const { authorization } = payment;
  requirePayee(pay_to, paid, authorization);
  if (context.principal.possession.kind === 'wrong') throw respond({ kind: 'wrong_session' });
  const book = await bookOf(presented, context);
  const note = noteOf(context);
  const request = {
    claim_key,
    field: paid.field,
    request_hash,
    is_former,
    task_id,
    lease_owner: owner,
    network: authorization.network,
    payer: authorization.payer,
    payment_id: paymentId(authorization),
    amount_atomic: authorization.amount_atomic,
    valid_before: authorization.valid_before_seconds,
    authorization: paymentToJson(payment),
    means,
    landing: { ...landingOf(random, presented, context), ...delegationOf(presented) },
    request_box: requestBox(vault, presented),
    identifier: presented.identifier,
    is_payers,
    slots: [
      ...slotsOf(presented),
      ...(isAfterFirst(paid) ? [] : proofSlots(context.principal.possession, isStamped(paid))),
    ],
  };
  const holds_atomic = paid.reserves ? (paid.reserved_atomic ?? authorization.amount_atomic) : NOTHING;
  const { under = null } = presented;
  return {
    request,
    book,
    holds_atomic,
    call: presented.call,
    sealText: approval_id => sealCallText(vault, approval_id, { ...requestText(presented.args), note }),
    ...(under ? { under } : {}),
  };
}

/** The note of the call. Null without one. @throws invalid_request if the header is invalid */
function noteOf({ note }: Context): string | null {
  const read = readNote(note);
  if (read.kind === 'read') return read.note;
  if (read.kind === 'none') return null;
  const detail = `${NOTE_HEADER} must be UTF-8 of at most ${approvalLimits.note_characters_max} characters. Nothing was charged.`;
  throw new Refusal('invalid_request', { param: NOTE_HEADER, detail, facts: { charged: false } });
}

/**
 * The final check: a payment to another payee or of another amount is never claimed, and so never sent, even if an earlier check failed to
 * refuse it.
 */
function requirePayee(ours: PayTo, paid: AnyPaid, { network, pay_to, amount_atomic }: Authorization): void {
  const spelt = (address: string) => (network === 'base' ? address.toLowerCase() : address);
  if (spelt(pay_to) !== spelt(paid.pay_to ?? ours[network] ?? ''))
    throw new Error('a payment to another payee was to be claimed');
  if (amount_atomic !== paid.price_atomic) throw new Error('a payment of another amount was to be claimed');
}

function slotsOf(presented: Presented): readonly string[] {
  const { paid, args, payer, names } = presented;
  return [...(paid.slots?.(args, payer) ?? []), ...names.map(identifierSlot)];
}

/**
 * The sealed request of a stamp, or a mark. Reconcile reads the request of stamps only. For work, the claim stores just a mark that a
 * resend may have the work done again. A claim costs no money yet, so its stored size must not depend on the caller.
 */
function requestBox(vault: Vault, { paid, args, claim_key }: Presented): Buffer {
  return isStamped(paid) ? vault.seal(JSON.stringify(args), requestLabel(claim_key)) : MARK;
}

/** Whether reconcile needs the request to finish the claim, because the record writes a stamp's effect. */
function isStamped(paid: AnyPaid): paid is Extract<AnyPaid, { order: 'stamp' | 'leg' }> {
  return paid.order === 'stamp' || paid.order === 'leg';
}

function isAfterFirst(paid: AnyPaid): boolean {
  return paid.order === 'stamp' && paid.after_first === true;
}

/** The session of the payment. Left out for a payment without a grant. */
function delegationOf({ under }: Presented): { readonly delegation?: ClaimSession } {
  return under ? { delegation: under.paid_under } : {};
}

const NOTHING = atomicAmount(0n);

/** The mark identifies nobody, so it need not be sealed. */
const MARK = Buffer.of(0);

/** The book of the call: the session's, or else the payer's. It is chosen before the money moves, and stored on the claim. */
export async function bookOf({ paid, args, payer }: Presented, context: Context): Promise<Claiming['book']> {
  const { possession } = context.principal;
  if (paid.book) return paid.book(args, payer, context);
  return possession.kind === 'proven' ? possession.agent_id : 'payers';
}

export function landingOf(
  random: Random,
  { paid, call, address_mark, router_key_mark, idempotency_mark }: RequestedSale,
  context: Context,
): CallLanding {
  const { api_key, possession } = context.principal;
  // The graph requires the caller to choose one book before anything runs, because a call without a book is checked against no caps.
  if (possession.kind === 'several') throw new Error(`${paid.field} was to be charged under no one book of several`);
  const stamped = isStamped(paid);
  const route = stamped ? paid.route : { model: null, hub: null };
  return {
    job_kind: paid.job_kind,
    resource: context.resource ?? `${context.base_url}/graphql`,
    intent_id: call.intent_id,
    attempt_index: call.attempt_index,
    parent_ref: call.parent_ref,
    // A demo key has no effect if a payment came with it.
    api_key_hash: 'hash' in api_key && !(api_key.kind === 'demo' && context.payment) ? api_key.hash : null,
    model: route.model,
    hub: route.hub,
    answered_model: null,
    answered_catalogue_model: null,
    output_sha256: null,
    output_covers: null,
    omission_rule: null,
    provider_cogs: null,
    would_block: null,
    possessed_by: possession.kind === 'proven' ? possession.agent_id : null,
    paid_from_mark: address_mark,
    router_key_mark,
    idempotency_mark,
    vendor_blind: !stamped && isVendorBlind(context, isRouted(call.model ?? '')),
    request_salt: Buffer.from(random.bytes(16)).toString('hex'),
  };
}

type TakeParts = Pick<
  CallParts,
  'database' | 'vault' | 'random' | 'log' | 'pay_to' | 'owner' | 'queues' | 'later' | 'respond'
>;

/** Result of a claim: the payment is claimed, has a claim already, or was refused by its book. */
type ClaimAnswer = Exclude<TakenClaim['outcome'], { kind: 'beyond_means' }>;
type AnsweredClaim = { readonly claim: TakenClaim['claim']; readonly outcome: ClaimAnswer };

/**
 * Claims the payment and reserves its amount on the book, in one commit that other calls share. `spent`: the chain shows the payment as
 * used.
 * @throws if the database is unreachable: then no work is done and nothing is sent
 */
export async function takeClaim(
  parts: TakeParts,
  to_claim: ToClaim,
  spent: boolean,
  context: Context,
): Promise<AnsweredClaim> {
  try {
    if (!parts.log.sound) await requireClaimed(parts, to_claim, spent);
    const claiming = await claimingOf(parts, to_claim, context);
    return await submitClaim(parts, to_claim, claiming);
  } catch (error) {
    throw error instanceof DatabaseAway ? await unclaimed(parts, to_claim, spent, error) : error;
  }
}

/**
 * Requires that the payment was sent for a claim of this service. While the log is unsound, nothing new is accepted, and former purchases
 * are delivered. While it is halted, the database was restored to an older state, so a missing claim proves nothing.
 */
async function requireClaimed(
  { database, log, respond }: TakeParts,
  { claim_key }: ToClaim,
  spent: boolean,
): Promise<void> {
  const standing = await claimByKey(database, claim_key);
  if (standing?.state === 'settling' || standing?.state === 'recorded') return;
  if (log.halt && spent) throw respond({ kind: 'unknown_here' });
  throw respond({ kind: 'not_taken', unsure: log.halt !== null });
}

/** Checks of the balance. A call that is claimed, worked for and mined between the two requests of one check is noticed by the next one. */
const LOOKS_MAX = 2;

/**
 * Claims the payment. If the payer's open calls seem to exceed the balance, it is read again before the refusal, because a call that is
 * being settled may have left the balance and still count as open.
 * @throws payment_rejected (`insufficient_funds`), chain_unavailable
 */
export async function submitClaim(
  parts: TakeParts,
  { paid, rail }: Pick<ToClaim, 'paid' | 'rail'>,
  claiming: Claiming,
): Promise<AnsweredClaim> {
  const { request } = claiming;
  let { claim, outcome } = await submit(parts, claiming);
  for (let looks = 0; outcome.kind === 'beyond_means' && looks < LOOKS_MAX; looks++) {
    const funds = await rail.funds(request.payer);
    if (funds.kind !== 'ok') throw parts.respond({ kind: 'chain_unreachable' }, funds.cause);
    ({ claim, outcome } = await submit(parts, { ...claiming, request: { ...request, means: funds.value } }));
  }
  // A person may have approved a call that its book refused before, so the book judges it again.
  if (outcome.kind === 'blocked' && (await isApproved(parts.database, claim, outcome.refusal_id)))
    ({ claim, outcome } = await submit(parts, { ...claiming, request: { ...request, approved: true } }));
  if (outcome.kind === 'beyond_means') throw parts.respond({ kind: 'rejected', paid, reason: 'insufficient_funds' });
  return { claim, outcome };
}

async function submit(parts: TakeParts, claiming: Claiming): Promise<TakenClaim> {
  const { database, queues, later } = parts;
  try {
    return await queues.claim.submit(claiming);
  } catch (error) {
    // The claim may exist nevertheless. This process has no lease for it, and it would count as in flight for minutes.
    if (error instanceof DatabaseAway && error.in_doubt)
      later.add(async () => {
        const lease = await leaseOfTask(database, claiming.request);
        if (lease) await giveUpClaim(parts, lease, { reason: 'unavailable', definite: false });
      });
    throw error;
  }
}

/**
 * The refusal of a call that could not be claimed. It states that nothing was charged only if no earlier call is known to have sent the
 * payment.
 */
export async function unclaimed(
  { database, respond }: Pick<CallParts, 'database' | 'respond'>,
  { claim_key }: Pick<ToClaim, 'claim_key'>,
  spent: boolean,
  cause: DatabaseAway,
): Promise<Refusal> {
  const standing = await claimByKey(database, claim_key).catch(() => undefined);
  const sent = standing?.state === 'settling' || standing?.state === 'recorded';
  if (spent || sent) return respond({ kind: 'unknown_here' }, cause);
  return respond({ kind: 'not_taken', unsure: standing === undefined }, cause);
}

/** The outcome of a payment that already has a claim: each state has its own code, and none charges again. */
export function outcomeOfClaim(
  outcome: Exclude<ClaimAnswer, { kind: 'claimed' | 'replayed' | 'blocked' | 'blocked_too_often' }>,
  paid: AnyPaid,
): CallOutcome {
  if (outcome.kind !== 'slot_taken') return outcome;
  if (isProofSlot(outcome.slot)) return { kind: 'wrong_session' };
  const by = nameOfSlot(outcome.slot);
  return by === null ? { kind: 'slot_taken', paid } : { kind: 'name_in_flight', by };
}

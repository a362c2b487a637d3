import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, type TaskId } from '../../../schema/ids.ts';
import { foreignRef, type ObservedTransfer, transferSlot } from '../../../schema/observed-transfer.ts';
import type { IngestRequest } from '../../../schema/requests/ingest.ts';
import type { ChainPosition, NamedTransfer, Observation } from '../../foreign-transfers.ts';
import { newTask } from '../../new-task.ts';
import { isOwnTransfer } from '../../receipt/receipt/own-transfer.ts';
import type { Payer } from '../../sale.ts';
import type { StampFact } from '../../stamped-row.ts';
import type { BookContext } from '../context.ts';
import { merchantVerdict } from './merchant-signature.ts';
import { isPayerProven, requireFresh } from './payer-proof.ts';
import { namedTransfer, spendOf } from './spend.ts';

/* Looks up a payment on its chain, determines its payer, and lists the slots that it takes. */

/** Request and its book. The payment of the stamp is bound to both. */
export type IngestArgs = IngestRequest & { readonly agent_id: AgentId };

/** Facts that are found before any money moves. The row and its receipt are made from the request and these facts alone. */
export type IngestFact = {
  /** Task id of the row. */
  readonly task_id: TaskId;
  readonly transfer: ObservedTransfer;
  readonly seen_in: { readonly [K in keyof ChainPosition]: ChainPosition[K] };
  readonly payer_proven: boolean;
  /** Whether the seller signed that the payment was for the resource of the row. */
  readonly merchant_signed: boolean;
};

/**
 * Slot of a named transfer, so that only one of several concurrent requests reads the chain. It is released when the transfer is
 * recorded.
 */
export function lookSlot(request: IngestRequest): string {
  const { network, transaction, index, payer, pay_to, amount_atomic } = namedTransfer(request);
  return `ingest:${network}:${transaction}:${index ?? `${payer ?? ''}|${pay_to}|${amount_atomic}`}`;
}

/**
 * Reads the chain under the claim, before any money moves. Only facts that the chain shows are accepted.
 * @throws transfer_not_believed, duplicate_ref, payer_signature_invalid, offer_receipt_invalid, too_many_disbelieved;
 * network_not_served, chain_unavailable, unavailable if the chain could not be read
 */
export async function findTransfer(
  args: IngestArgs,
  stamped_by: Payer | null,
  context: BookContext,
): Promise<StampFact<IngestFact>> {
  const { clock, random, failed_looks } = context;
  const named = namedTransfer(args);
  requireForeign(named, context.treasuries);
  requireFresh(args, clock.now_ms());
  const who = [`agent:${args.agent_id}`, ...(stamped_by === null ? [] : [`payer:${stamped_by.wallet}`])];
  const rest = failed_looks.rest(who);
  if (rest !== null) {
    Object.assign(context.response.headers, rest.headers);
    throw new Refusal('too_many_disbelieved', { facts: { charged: false, retry_after_seconds: rest.seconds } });
  }
  try {
    const { transfer, seen_in } = requireObserved(await context.transfers.observe(named), named);
    const payer_proven = await isPayerProven(transfer, args.agent_id, args, context);
    const merchant_signed = await isMerchantSigned(args, transfer);
    const slots = await freeSlots(context, args.agent_id, transfer, payer_proven);
    const task_id = newTask({ clock, random });
    return { fact: { task_id, transfer, seen_in: { ...seen_in }, payer_proven, merchant_signed }, slots };
  } catch (error) {
    if (error instanceof Refusal && untrueCodes.has(error.code)) failed_looks.countFailure(who);
    throw error;
  }
}

/** Codes of refusals because a statement of the request is not true. */
const untrueCodes: ReadonlySet<string> = new Set([
  'transfer_not_believed',
  'payer_signature_invalid',
  'offer_receipt_invalid',
]);

/**
 * Whether the seller signed what the payment was for. Without a signed offer or receipt, only the payer states it. One that is sent
 * must be valid.
 * @throws offer_receipt_invalid
 */
async function isMerchantSigned(args: IngestArgs, transfer: ObservedTransfer): Promise<boolean> {
  if (args.offer_receipt === undefined) return false;
  const verdict = await merchantVerdict(args.offer_receipt, spendOf(args).resource, transfer);
  if (verdict.kind === 'signed') return true;
  const facts = { charged: false, reason: verdict.reason };
  throw new Refusal('offer_receipt_invalid', { param: 'offer_receipt', facts });
}

/**
 * Requires that the payee is not this service: a payment to it is never foreign, whether it paid for a call or not.
 * @throws duplicate_ref
 */
export function requireForeign({ network, pay_to }: NamedTransfer, treasuries: BookContext['treasuries']): void {
  const ours = network === 'nano' ? undefined : treasuries[network];
  const spelt = (address: string) => (network === 'base' ? address.toLowerCase() : address);
  if (ours !== undefined && spelt(ours) === spelt(pay_to))
    throw new Refusal('duplicate_ref', { facts: { charged: false } });
}

/** Reason of the refusal and, if several transfers match, the `transfer_index` of each. */
function disbelief({ reason, transfer_indexes }: Extract<Observation, { kind: 'not_believed' }>) {
  return { reason, ...(transfer_indexes && { transfer_indexes: [...transfer_indexes] }) };
}

function requireObserved(
  observation: Observation,
  { network }: NamedTransfer,
): Extract<Observation, { kind: 'observed' }> {
  switch (observation.kind) {
    case 'observed':
      return observation;
    case 'not_believed':
      throw new Refusal('transfer_not_believed', { facts: { charged: false, ...disbelief(observation) } });
    case 'unknown':
      throw new Refusal('chain_unavailable', { facts: { charged: false }, cause: observation.cause });
    case 'unsupported':
      throw new Refusal('network_not_served', {
        detail: `This service is not configured to read ${network}. Nothing was charged.`,
        facts: { charged: false, network },
      });
  }
}

/**
 * Returns the slot that the transfer takes. A transfer belongs to one row, permanently and across all books. With an unproven payer
 * it takes another slot, so that the payer can still record it, but it is refused if it already belongs to a row.
 * @throws duplicate_ref
 */
async function freeSlots(
  context: Pick<BookContext, 'database' | 'payment_index'>,
  agent_id: AgentId,
  transfer: ObservedTransfer,
  payer_proven: boolean,
): Promise<readonly string[]> {
  const slot = transferSlot(transfer);
  const unproven = `unproven:${slot}`;
  // The transfer may already be on this book through another kind of payment.
  const taken = await context.database.query({
    name: 'transfer that is taken',
    text: `select 1 from claim_slot where slot = any($1)
      union all select 1 from book_row where agent_id = $2 and payment_ref = $3 and transfer_index = $4 limit 1`,
    values: [payer_proven ? [slot] : [slot, unproven], agent_id, foreignRef(transfer), transfer.index],
  });
  // A transfer that is not on this book may have paid for a call at a former treasury.
  if (taken.length > 0 || (await isOwnTransfer(context, transfer)))
    throw new Refusal('duplicate_ref', { facts: { charged: false } });
  return [payer_proven ? slot : unproven];
}

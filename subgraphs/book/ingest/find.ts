import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, type TaskId } from '../../../schema/ids.ts';
import { foreignRef, type ObservedTransfer, transferSlot } from '../../../schema/observed-transfer.ts';
import type { IngestRequest } from '../../../schema/requests/ingest.ts';
import type { NamedTransfer, Observation, SeenIn } from '../../foreign-transfers.ts';
import { newTask } from '../../new-task.ts';
import { isOwnTransfer } from '../../receipt/receipt/own-transfer.ts';
import type { Payer } from '../../sale.ts';
import type { Found } from '../../stamped-row.ts';
import type { BookContext } from '../context.ts';
import { merchantVerdict } from './merchant-signature.ts';
import { isPayerProven, requireFresh } from './payer-proof.ts';
import { namedTransfer, spendOf } from './spend.ts';

/* Looks for a payment on its chain, finds out whose it is, and names what nobody else may hold. */

/** What is asked, and of whose book: what the stamp's payment is bound to. */
export type IngestArgs = IngestRequest & { readonly agent_id: AgentId };

/** What was found out before any money moved: the row and its receipt are made of this alone. */
export type IngestFact = {
  /** Of the row. */
  readonly task_id: TaskId;
  readonly transfer: ObservedTransfer;
  readonly seen_in: { readonly [K in keyof SeenIn]: SeenIn[K] };
  readonly payer_proven: boolean;
  /** Whether whoever was paid has signed that it was for the row's resource. */
  readonly merchant_signed: boolean;
};

/** So that of many at once who name the same thing one looks at the chain. Let go of as it is recorded. */
export function lookSlot(request: IngestRequest): string {
  const { network, transaction, index, payer, pay_to, amount_atomic } = namedTransfer(request);
  return `ingest:${network}:${transaction}:${index ?? `${payer ?? ''}|${pay_to}|${amount_atomic}`}`;
}

/**
 * Has the chain looked at, under the claim and before any money moves. Nothing is believed that the chain does not show.
 * @throws transfer_not_believed, duplicate_ref, payer_signature_invalid, offer_receipt_invalid, too_many_disbelieved; network_not_served,
 * chain_unavailable, unavailable where nobody could say
 */
export async function findTransfer(
  args: IngestArgs,
  stamped_by: Payer | null,
  context: BookContext,
): Promise<Found<IngestFact>> {
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
    const { transfer, seen_in } = observed(await context.transfers.observe(named), named);
    const payer_proven = await isPayerProven(transfer, args.agent_id, args, context);
    const merchant_signed = await isMerchantSigned(args, transfer);
    const slots = await freeSlots(context, args.agent_id, transfer, payer_proven);
    const task_id = newTask({ clock, random });
    return { fact: { task_id, transfer, seen_in: { ...seen_in }, payer_proven, merchant_signed }, slots };
  } catch (error) {
    if (error instanceof Refusal && disbelieved.has(error.code)) failed_looks.failed(who);
    throw error;
  }
}

/** Refusals that say: what was shown is not so. */
const disbelieved: ReadonlySet<string> = new Set([
  'transfer_not_believed',
  'payer_signature_invalid',
  'offer_receipt_invalid',
]);

/** What is shown has to hold: a row that is declared alone is had by showing nothing. @throws offer_receipt_invalid */
async function isMerchantSigned(args: IngestArgs, transfer: ObservedTransfer): Promise<boolean> {
  if (args.offer_receipt === undefined) return false;
  const verdict = await merchantVerdict(args.offer_receipt, spendOf(args).resource, transfer);
  if (verdict.kind === 'signed') return true;
  const facts = { charged: false, reason: verdict.reason };
  throw new Refusal('offer_receipt_invalid', { param: 'offer_receipt', facts });
}

/** What was paid to us is a call's, or nobody's: it is never foreign. */
export function requireForeign({ network, pay_to }: NamedTransfer, treasuries: BookContext['treasuries']): void {
  const ours = network === 'nano' ? undefined : treasuries[network];
  const spelt = (address: string) => (network === 'base' ? address.toLowerCase() : address);
  if (ours !== undefined && spelt(ours) === spelt(pay_to))
    throw new Refusal('duplicate_ref', { facts: { charged: false } });
}

/** Why; and where several transfers would do, by which `transfer_index` each of them is named. */
function disbelief({ reason, transfer_indexes }: Extract<Observation, { kind: 'not_believed' }>) {
  return { reason, ...(transfer_indexes && { transfer_indexes: [...transfer_indexes] }) };
}

function observed(observation: Observation, { network }: NamedTransfer): Extract<Observation, { kind: 'observed' }> {
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
 * A transfer is one row's, for ever and over all books. One whose payer is not proven takes a slot of its own, so that
 * the payer may still record it; and is refused where it is somebody's already.
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
  // On this very book it may stand by what was paid to somebody else in another way.
  const taken = await context.database.query({
    name: 'transfer that is taken',
    text: `select 1 from claim_slot where slot = any($1)
      union all select 1 from book_row where agent_id = $2 and payment_ref = $3 and transfer_index = $4 limit 1`,
    values: [payer_proven ? [slot] : [slot, unproven], agent_id, foreignRef(transfer), transfer.index],
  });
  // On another, or on none, it may have paid for a call: at a treasury of before.
  if (taken.length > 0 || (await isOwnTransfer(context, transfer)))
    throw new Refusal('duplicate_ref', { facts: { charged: false } });
  return [payer_proven ? slot : unproven];
}

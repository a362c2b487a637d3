import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { ChargedAnswer } from '../../subgraphs/charge-port.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Context } from '../../subgraphs/context.ts';
import { newTask } from '../../subgraphs/new-task.ts';
import type { AnyPaid, Work } from '../../subgraphs/sale.ts';
import type { StampFact } from '../../subgraphs/stamped-row.ts';
import type { Faults } from '../operations/faults.ts';
import type { RecordableOutcome } from '../rails/outcome.ts';
import type { Admit } from './admission.ts';
import type { Claimed } from './claim/take.ts';
import { type TakeClaim, whoseElse } from './claim/take.ts';
import type { Failures } from './failures.ts';
import { modelsUnder } from './grants.ts';
import type { Guesses } from './guesses.ts';
import { type Held, type Movement, workUntil } from './held.ts';
import type { KnownCharge } from './known-charge.ts';
import type { BoughtBefore } from './names.ts';
import type { RefusedByBook } from './refused-by-book.ts';
import type { Hears } from './respond.ts';
import type { Announce } from './response-headers.ts';
import type { ClaimSettling } from './settle.ts';
import type { Presented, Verify } from './verify-payment.ts';

/** A paid request that was accepted: held under its own claim, or bought before. */
export type Entered =
  /** `spent`: the payment is used already; by whom is found out later. */
  { readonly kind: 'claimed'; readonly claimed: Claimed; readonly spent: boolean } | BoughtBefore;

export interface EnterParts {
  readonly verify: Verify;
  readonly guesses: Pick<Guesses, 'unlessGuessed'>;
  readonly boughtOnce: (presented: Presented, context: Context, enter: () => Promise<Entered>) => Promise<Entered>;
  readonly admit: Admit;
  readonly take: TakeClaim;
  readonly refusedByBook: RefusedByBook;
  readonly failures: Pick<Failures, 'tried'>;
  readonly known: Pick<KnownCharge, 'beside'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly hears: Hears;
}

/**
 * How a payment comes to hold a call: verify → admit → claim and reserve. A former purchase, by the same payment or under the
 * same name, claims nothing.
 */
export function openEnter(parts: EnterParts) {
  const { verify, guesses, boughtOnce, known } = parts;
  return async (paid: AnyPaid, args: JsonObject, context: Context): Promise<Entered> => {
    context.response.stopwatch.begin('verify');
    try {
      const presented = await verify(paid, args, context);
      return await guesses.unlessGuessed(presented, context, is_payers =>
        boughtOnce(presented, context, () => claim(parts, { ...presented, is_payers }, context)),
      );
    } catch (error) {
      throw await known.beside(error, context.payment);
    }
  };
}

async function claim(parts: EnterParts, shown: Presented, context: Context): Promise<Entered> {
  const { admit, take, refusedByBook, clock, random, hears } = parts;
  const admitted = await admit(shown, context);
  if (admitted.kind === 'replayed') return { kind: 'bought', presented: shown, bought: admitted };
  if (admitted.kind === 'blocked') throw await refusedByBook(admitted, context);

  context.response.stopwatch.begin('claim');
  const task_id = newTask({ clock, random });
  const { presented, funds } = admitted;
  const spent = funds === null;
  const { claim, outcome } = await take({ ...presented, task_id, means: funds }, spent, context);
  if (outcome.kind === 'replayed') return { kind: 'bought', presented, bought: outcome };
  if (outcome.kind === 'blocked' || outcome.kind === 'blocked_too_often') throw await refusedByBook(outcome, context);
  if (outcome.kind === 'refused_by_session') parts.failures.tried(presented.payer.wallet, presented.address_mark);
  if (outcome.kind !== 'claimed') throw hears(whoseElse(outcome, shown.paid));

  const { lease } = outcome;
  const allowed_models = modelsUnder(presented, outcome.allowed_models);
  return { kind: 'claimed', claimed: { ...presented, claim, lease, task_id, allowed_models }, spent };
}

export interface PaidParts {
  readonly settling: ClaimSettling;
  readonly record: (
    claimed: Claimed,
    done: Work<JsonObject> | StampFact<JsonObject> | null,
    transfer: RecordableOutcome,
  ) => Promise<ChargedAnswer<JsonObject>>;
  /** Stores the first of two payments as moved. @throws if its claim no longer belongs to this process */
  readonly keep: (claimed: Claimed, transfer: RecordableOutcome) => Promise<void>;
  readonly abandon: (claimed: Claimed, movement: Movement, error: unknown) => Promise<Refusal>;
  /**
   * The refusal if someone else moved the money and the book's kill switch is on: it is recorded and no work is done. Null
   * otherwise.
   */
  readonly stopped: (claimed: Claimed, transfer: RecordableOutcome) => Promise<Refusal | null>;
  readonly announce: Announce;
  readonly clock: Clock;
  readonly faults: Faults | null;
}

/** The first of two payments is stored, and recorded only with its sibling. */
export interface HeldByPayment extends Held {
  keep(): Promise<void>;
}

/**
 * A call that rests on a payment of its own. Before any work it is found out whether a used payment was used for this service;
 * then its money has moved and nothing is sent.
 */
export async function holdPaid(
  parts: PaidParts,
  { claimed, spent }: Extract<Entered, { kind: 'claimed' }>,
  context: Context,
): Promise<HeldByPayment> {
  const { settling, clock, faults } = parts;
  let movement: Movement = 'nothing_moved';
  const abandon = (error: unknown) => parts.abandon(claimed, movement, error);
  let stopped: Refusal | null = null;
  try {
    await faults?.reach('after_claim');
    const elsewhere = spent ? await settling.transferElsewhere(claimed) : null;
    if (elsewhere) {
      movement = 'moved';
      await settling.adopt(claimed, elsewhere);
      stopped = await parts.stopped(claimed, elsewhere);
      if (stopped !== null) throw stopped;
    }
    if (elsewhere === null) requireSharedModel(claimed);
    let transfer: RecordableOutcome | null = elsewhere;
    const { task_id, args, payment, payer, claim, allowed_models } = claimed;
    return {
      task_id,
      args,
      payer,
      status: 'settled',
      bounds: { until_ms: workUntil(clock.now_ms(), elsewhere ? null : payment.authorization), allowed_models },
      steps: context.response.stopwatch,
      async settle(in_hand) {
        context.response.stopwatch.begin('settle');
        if (!elsewhere) movement = 'may_have_moved';
        const settled = await settling.settle(claimed, in_hand, elsewhere);
        movement = settled.kind === 'transferred' ? 'moved' : settled.movement;
        if (settled.kind === 'refused') throw settled.refusal;
        transfer = settled.transfer;
        const transaction = transfer.tx_hash;
        const transfer_index = transfer.kind === 'transferred' ? transfer.transfer_index : null;
        return {
          payment_ref: `${claim.network}:${transaction}`,
          announce: () =>
            parts.announce(context, { payment, task_id, transaction, transfer_index, landing: claim.landing }),
        };
      },
      record: async done => parts.record(claimed, done, moved(claimed, transfer)),
      keep: async () => parts.keep(claimed, moved(claimed, transfer)),
      abandon,
    };
  } catch (error) {
    throw error === stopped ? error : await abandon(error);
  }
}

/** Book and grant may each allow some model but none in common. What has been paid for is not refused. */
function requireSharedModel({ call: { models }, allowed_models }: Claimed): void {
  if (allowed_models === null || models.length === 0 || models.some(model => allowed_models.includes(model))) return;
  const detail =
    'None of the models that could answer this call is allowed by both the book and the grant. Nothing was charged.';
  throw new Refusal('grant_exceeded', { param: 'model', detail, facts: { charged: false } });
}

function moved({ task_id }: Claimed, transfer: RecordableOutcome | null): RecordableOutcome {
  if (transfer === null) throw new Error(`${task_id} was to be written down before its payment had moved`);
  return transfer;
}

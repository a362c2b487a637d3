import { atomicAmount } from '../../../../schema/amount.ts';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { Refusal } from '../../../../schema/errors.ts';
import type { PaymentRail } from '../../../../schema/inference/task-answer.ts';
import { limits } from '../../../../schema/limits.ts';
import { commitTo } from '../../../../schema/output-commitment.ts';
import type { TaskQuoteRequest, TaskRequest } from '../../../../schema/requests/tasks.ts';
import { WHOLE } from '../../../answer-end.ts';
import { iso } from '../../../clock.ts';
import type { Context } from '../../../context.ts';
import type { JobKind, Payer, Work, WorkThenSettle } from '../../../sale.ts';
import { autoModels, callTerms, modelsFor } from '../answer.paid.ts';
import { type Candidate, candidatesFor } from '../catalogue.ts';
import type { Hubs } from '../hubs/open.ts';

/** Route of a task, and its cost to this service in atomic USDC. The cost is null if the route has no price. */
export interface PricedRoute {
  readonly route: Candidate;
  readonly price_atomic: number | null;
}

/** Price and accounting of a task, as they are stored. Amounts are decimal digits of atomic USDC. */
export type KeptTask = {
  readonly payment_rail: PaymentRail;
  /** Price of the task. Null if nothing is paid, because an API key is used. */
  readonly gross_amount: string | null;
  readonly accounting: JsonObject;
  /** Fee of the legacy rail (`tfuel`). Null on USDC, or if nothing is paid. */
  readonly fee: { readonly fee_amount: string; readonly net_amount: string; readonly fee_bps: number } | null;
};

const BPS = 10_000n;

/** Amounts of a task. The rail does not change how we are paid: the whole price, in USDC, to one payee. */
function keptTask(rail: PaymentRail, priced: PricedRoute, gross: bigint | null, now_ms: number): KeptTask {
  return {
    payment_rail: rail,
    gross_amount: gross === null ? null : gross.toString(),
    accounting: accountingOf(priced, gross, now_ms),
    fee: rail === 'tfuel' && gross !== null ? feeOf(gross) : null,
  };
}

function feeOf(gross: bigint): NonNullable<KeptTask['fee']> {
  const fee = atomicAmount((gross * BigInt(limits.tfuel_fee_bps)) / BPS);
  return { fee_amount: fee.toString(), net_amount: (gross - fee).toString(), fee_bps: limits.tfuel_fee_bps };
}

/**
 * Internal accounting: the provider's part of the settled amount, and the rest. No hub was called yet, so the actual cost is zero. The mark
 * is the current price of the route, or zero if the route has none.
 */
function accountingOf({ route, price_atomic }: PricedRoute, gross: bigint | null, now_ms: number): JsonObject {
  const usd_mark = price_atomic ?? 0;
  return {
    scope: 'internal',
    unit: 'usdc_atomic',
    on_chain_deduction: false,
    route: { ...route },
    pricing: price_atomic === null ? 'unpriced' : 'live',
    provider_cogs: { actual: 0, usd_mark },
    // The margin is null if nothing was paid.
    route_margin: gross === null ? null : (gross - BigInt(usd_mark)).toString(),
    priced_at: iso(now_ms),
  };
}

/** A task or its forecast. Either is answered from the catalogue, without a request to a hub. */
interface SoldTask<T extends JsonObject> {
  readonly field: `Mutation.${string}`;
  readonly job_kind: JobKind;
  /** Whether the answer states the amounts of a payment. */
  pays(context: Pick<Context, 'payment'>): boolean;
  work(figures: KeptTask, route: Candidate): Omit<Work<T>, 'route'>;
}

/**
 * Terms of an answer from the catalogue. It has the order of work although no hub does any, so that the book's ceiling and policies apply
 * to it as to any other call.
 */
function catalogueWork<A extends TaskQuoteRequest & JsonObject, T extends JsonObject>(
  hubs: Hubs,
  { field, job_kind, pays, work }: SoldTask<T>,
): WorkThenSettle<A, T> {
  return {
    ...callTerms,
    order: 'work_then_settle',
    field,
    job_kind,
    model: ({ model_id }) => model_id,
    models: ({ model_id }) => modelsFor(hubs, model_id, 'text'),
    auto_models: ({ model_id }) => autoModels(hubs, model_id, 'text'),
    async admit(request, payer) {
      requireSender(request, payer);
      routeOfTask(hubs, request.model_id, null);
    },
    async work({ model_id, payment }, _task_id, context, { allowed_models }) {
      const priced = routeOfTask(hubs, model_id, allowed_models);
      const { route, price_atomic } = priced;
      // No provider was called yet, so the actual cost is zero.
      const provider_cogs = price_atomic === null ? null : { actual: 0, usd_mark: price_atomic };
      const gross = pays(context) ? limits.call_price_atomic : null;
      return { ...work(keptTask(payment.rail, priced, gross, context.clock.now_ms()), route), route, provider_cogs };
    },
  };
}

/**
 * Route to the healthiest hub that serves the model. For `svc/auto` it has a model that the book allows. Models of the router are excluded,
 * because they need the caller's own key. @throws unknown_model
 */
function routeOfTask(
  { settings, standings }: Hubs,
  model_id: string,
  allowed_models: readonly string[] | null,
): PricedRoute {
  const health = ({ hub }: Candidate) =>
    standings.find(known => known.hub === hub && known.modality === 'text')?.health ?? 1;
  const candidates = candidatesFor(settings, model_id, 'text', allowed_models);
  const [live] = candidates.toSorted((one, other) => health(other) - health(one));
  if (live === undefined) throw new Refusal('unknown_model', { param: 'model_id' });
  const price = settings.find(({ name }) => name === live.hub)?.prices?.[live.model];
  return { route: live, price_atomic: price ?? null };
}

/**
 * Checks that the sender is the payer and that the network of the task is that of the payment.
 * @throws invalid_request or payer_mismatch, before anything is claimed or settled
 */
function requireSender({ chain_id, sender }: TaskQuoteRequest, payer: Payer | null): void {
  // A call with an API key has no paying wallet, so the sender is not checked.
  if (payer === null) return;
  const { network, wallet } = payer;
  if (chain_id !== null && chain_id !== network)
    throw new Refusal('invalid_request', {
      param: 'chain_id',
      detail: `chain_id does not match the network of the payment, ${network}.`,
    });
  if (sender === null || addressForm(sender) === addressForm(wallet)) return;
  const detail = 'sender: the payment comes from another address. Nothing was charged.';
  throw new Refusal('payer_mismatch', { param: 'sender', detail, facts: { charged: false } });
}

/**
 * Form in which two addresses are compared. The case of an 0x address is a checksum; the case of a base58 address is part of the address.
 */
const addressForm = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);

/** Sells the acceptance of a task. The request has no input for a model, so the receipt commits to no output. */
export function taskPaid(hubs: Hubs): WorkThenSettle<TaskRequest, KeptTask> {
  return catalogueWork<TaskRequest, KeptTask>(hubs, {
    field: 'Mutation.requestTask',
    job_kind: 'completions',
    pays: ({ payment }) => payment !== null,
    work: answer => ({ answer, output_sha256: null, omission_rule: 'no_input', end: WHOLE }),
  });
}

export type KeptQuote = { readonly figures: KeptTask; readonly model: string; readonly hub: string };

/** Sells the forecast of a task. It creates no obligation to pay for the task. */
export function quotePaid(hubs: Hubs): WorkThenSettle<TaskQuoteRequest, KeptQuote> {
  return catalogueWork<TaskQuoteRequest, KeptQuote>(hubs, {
    field: 'Mutation.quoteTask',
    job_kind: 'other',
    // A forecast always states the amounts of a task that is paid for.
    pays: () => true,
    work(figures, route) {
      const answer = { figures, ...route };
      return { answer, ...commitTo({ output: forecastOf(answer) }), omission_rule: null, end: WHOLE };
    },
  });
}

/** The forecast with the member names of REST. The receipt commits to this form, because a client can hash it again. */
export function forecastOf({ model, hub, figures }: KeptQuote) {
  return { model, hub, ...shownTask(figures) };
}

/** A task with the member names of the wire, where the members of the fee are at the top level. */
export function shownTask({ fee, ...amounts }: KeptTask) {
  return { ...amounts, ...fee };
}

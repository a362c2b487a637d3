import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { Refusal } from '../../../../schema/errors.ts';
import type { TaskQuoteRequest } from '../../../../schema/requests/tasks.ts';
import type { JobKind, Payer, Work, WorkThenSettle } from '../../../sale.ts';
import { type Candidate, candidatesFor } from '../catalogue.ts';
import type { Hubs } from '../hubs/open.ts';
import { callTerms } from '../terms.ts';
import { figuresOf, type PricedRoute, type TaskFigures } from './figures.ts';

/** A task or a forecast of one: answered from the catalogue, without a word to any hub. */
interface SoldTask<T extends JsonObject> {
  readonly field: `Mutation.${string}`;
  readonly job_kind: JobKind;
  work(figures: TaskFigures, route: Candidate): Omit<Work<T>, 'route'>;
}

/**
 * Sold in the order of all work, though there is none to do: so the book's ceiling and policies hold for it as for any
 * other call.
 */
export function catalogueWork<A extends TaskQuoteRequest & JsonObject, T extends JsonObject>(
  hubs: Hubs,
  { field, job_kind, work }: SoldTask<T>,
): WorkThenSettle<A, T> {
  return {
    ...callTerms,
    order: 'work_then_settle',
    field,
    job_kind,
    model: ({ model_id }) => model_id,
    async admit(request, payer) {
      requireSender(request, payer);
      routeOfTask(hubs, request.model_id);
    },
    async work({ model_id, payment }, _task_id, context) {
      const priced = routeOfTask(hubs, model_id);
      const { route } = priced;
      return { ...work(figuresOf(payment.rail, priced, context.clock.now_ms()), route), route };
    },
  };
}

/**
 * Of the hubs that serve the model, one that is well. The router's ids are not among them: it is asked under the caller's
 * own key, which a task does not leave here. @throws unknown_model
 */
function routeOfTask({ settings, figures }: Hubs, model_id: string): PricedRoute {
  const health = ({ hub }: Candidate) =>
    figures.find(figure => figure.hub === hub && figure.modality === 'text')?.health ?? 1;
  const [live] = candidatesFor(settings, model_id).toSorted((one, other) => health(other) - health(one));
  if (live === undefined) throw new Refusal('unknown_model', { param: 'model_id' });
  const price = settings.find(({ name }) => name === live.hub)?.prices?.[live.model];
  return { route: live, price_atomic: price ?? null };
}

/** Whoever is named as the sender pays, and pays where the task says. @throws before anything is claimed or settled. */
function requireSender({ chain_id, sender }: TaskQuoteRequest, payer: Payer | null): void {
  // A key names no wallet: nobody pays, and the sender is taken at its word.
  if (payer === null) return;
  const { network, wallet } = payer;
  if (chain_id !== null && chain_id !== network)
    throw new Refusal('invalid_request', { param: 'chain_id', detail: `chain_id: the payment is on ${network}.` });
  if (sender === null || spelt(sender) === spelt(wallet)) return;
  const detail = 'sender: the payment comes from another address. Nothing was charged.';
  throw new Refusal('payer_mismatch', { param: 'sender', detail, facts: { charged: false } });
}

/** The case of an 0x address is a checksum; that of a base58 one is the address. */
const spelt = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);

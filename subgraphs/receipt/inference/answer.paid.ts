import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { canonicalHash } from '../../../schema/digest.ts';
import type { TaskId } from '../../../schema/ids.ts';
import type { Intent } from '../../../schema/requests/intent.ts';
import type { Context } from '../../context.ts';
import type { JobKind, Work, WorkThenSettle } from '../../sale.ts';
import type { Ability, Candidate, Modality } from './catalogue.ts';
import type { Hubs } from './hubs/open.ts';
import type { Question } from './hubs/question.ts';
import { admitRoute, hubFailed, routeOf, type Wanted } from './route.ts';
import { callTerms } from './terms.ts';

/** What a hub said, and when. */
export interface Said<V> {
  readonly value: V;
  readonly by: Candidate;
  readonly task_id: TaskId;
  /** Unix seconds. */
  readonly at: number;
}

interface SoldAnswer<A, V extends object, T extends JsonObject> {
  readonly field: `Mutation.${string}`;
  readonly job_kind: JobKind;
  readonly modality: Modality;
  /** What a model must be able to do for it; without it, what answers in its modality do. */
  ability?(asked: A): Ability;
  question(asked: A, context: Context): Question<V>;
  /** What is kept of it for redelivery, and what of that the receipt commits to. */
  answer(said: Said<V>): { readonly output: Json } & Pick<Work<T>, 'answer' | 'fetched_there'>;
}

/** One answer of a hub, sold at the fixed price: the hub answers first, and only an answer in hand is charged. */
export function answerPaid<A extends JsonObject & Wanted & Intent, V extends object, T extends JsonObject>(
  hubs: Hubs,
  { field, job_kind, modality, ability = () => modality, ...sold }: SoldAnswer<A, V, T>,
): WorkThenSettle<A, T> {
  return {
    ...callTerms,
    order: 'work_then_settle',
    field,
    job_kind,
    model: ({ model }) => model,
    admit: (asked, _payer, context) => admitRoute(hubs, asked, ability(asked), context),
    async work(asked, task_id, context, until_ms) {
      const asking = { ...routeOf(hubs, asked, ability(asked), context), until_ms };
      const outcome = await hubs.put(sold.question(asked, context), asking);
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, value } = outcome;
      const by = { hub, model };
      const at = Math.floor(context.clock.now_ms() / 1000);
      const { output, ...kept } = sold.answer({ value, by, task_id, at });
      return { ...kept, route: by, output_sha256: canonicalHash(output), omission_rule: null };
    },
  };
}

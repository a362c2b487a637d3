import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { canonicalHash } from '../../../../schema/digest.ts';
import type { TaskQuoteRequest } from '../../../../schema/requests/tasks.ts';
import type { WorkThenSettle } from '../../../sale.ts';
import type { Hubs } from '../hubs/open.ts';
import { catalogueWork } from './catalogue-work.ts';
import type { TaskFigures } from './figures.ts';

export type QuoteAnswer = { readonly figures: TaskFigures; readonly model: string; readonly hub: string };

/** What a task would come to now. A forecast that is itself paid for; nobody owes anything by it. */
export function quotePaid(hubs: Hubs): WorkThenSettle<TaskQuoteRequest, QuoteAnswer> {
  return catalogueWork<TaskQuoteRequest, QuoteAnswer>(hubs, {
    field: 'Mutation.quoteTask',
    job_kind: 'other',
    work(figures, route) {
      const answer = { figures, ...route };
      return { answer, output_sha256: canonicalHash(spelt(answer)), omission_rule: null };
    },
  });
}

/** As the wire has it: what a receipt commits to must be there to be hashed again. */
function spelt({ model, hub, figures: { fee, ...amounts } }: QuoteAnswer): JsonObject {
  return { model, hub, ...amounts, ...fee };
}

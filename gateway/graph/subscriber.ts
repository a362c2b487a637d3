import type { ExecutionResult } from 'graphql';
import type { Executor } from './executor.ts';
import { mapEvents } from './map-events.ts';
import type { Planned } from './planner.ts';
import type { Operation } from './source.ts';

export type Subscribed = AsyncIterableIterator<ExecutionResult> | ExecutionResult;

/**
 * Apollo's gateway plans subscriptions and refuses to run them: the owner runs the primary here,
 * and what other subgraphs know is joined to each event.
 */
export async function subscribe(executor: Executor, planned: Planned, operation: Operation): Promise<Subscribed> {
  const refused = executor.refuseVariables(planned.operation, operation.variables);
  if (refused) return refused;
  if (planned.kind === 'planned') throw new Error('only subscriptions are subscribed to');

  const events = await planned.source.subscribe(planned.kind === 'direct' ? operation : primaryOf(planned, operation));
  if (!(Symbol.asyncIterator in events)) return executor.published(events);
  if (planned.kind === 'direct') return mapEvents(events, async event => executor.published(event));
  return mapEvents(events, event => executor.join(planned, event, operation));
}

function primaryOf({ primary }: Extract<Planned, { kind: 'events' }>, { variables, context }: Operation): Operation {
  const document = primary.operationDocumentNode;
  if (!document) throw new Error('the planner was told to keep the documents of its fetches');
  const used = (primary.variableUsages ?? []).filter(name => Object.hasOwn(variables, name));
  const own = Object.fromEntries(used.map(name => [name, variables[name]]));
  return { document, operationName: primary.operationName, variables: own, context };
}

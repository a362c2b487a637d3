import type { ExecutionResult } from 'graphql';
import type { Context } from '../../subgraphs/context.ts';
import { withinAnswerSize } from './answer-size.ts';
import type { Executor } from './executor.ts';
import type { PlannedOperation } from './owner.ts';
import type { Operation } from './source.ts';

export type SubscribeResult = AsyncIterableIterator<ExecutionResult> | ExecutionResult;

/**
 * Runs a subscription. Apollo's gateway plans subscriptions but does not run them. So the owning subgraph runs the primary field here, and
 * fields of other subgraphs are joined to each event.
 */
export async function subscribe(
  executor: Executor,
  planned: PlannedOperation,
  operation: Operation,
): Promise<SubscribeResult> {
  const refused = executor.refuseVariables(planned.operation, operation.variables);
  if (refused) return refused;
  if (planned.kind === 'planned') throw new Error('only subscriptions are subscribed to');

  const events = await planned.source.subscribe(planned.kind === 'direct' ? operation : primaryOf(planned, operation));
  if (!(Symbol.asyncIterator in events)) return executor.publish(events);
  const context = operation.context as Context;
  return mapEvents(events, async event => {
    const published =
      planned.kind === 'direct' ? executor.publish(event) : await executor.join(planned, event, operation);
    return withinAnswerSize(published, context);
  });
}

function primaryOf(
  { primary }: Extract<PlannedOperation, { kind: 'events' }>,
  { variables, context }: Operation,
): Operation {
  const document = primary.operationDocumentNode;
  if (!document) throw new Error('the planner must keep the documents of its fetches');
  const used = (primary.variableUsages ?? []).filter(name => Object.hasOwn(variables, name));
  const own = Object.fromEntries(used.map(name => [name, variables[name]]));
  return { document, operationName: primary.operationName, variables: own, context };
}

/**
 * Maps each event. The source is closed on return(), on throw(), and if `map` fails. This is not a generator, because a generator's
 * return() waits for an event that may never come.
 */
export function mapEvents(
  source: AsyncIterable<ExecutionResult>,
  map: (event: ExecutionResult) => Promise<ExecutionResult>,
): AsyncIterableIterator<ExecutionResult> {
  const events = source[Symbol.asyncIterator]();
  const release = async (): Promise<IteratorResult<ExecutionResult>> => {
    await events.return?.();
    return { done: true, value: undefined };
  };
  return {
    async next() {
      const event = await events.next();
      if (event.done) return { done: true, value: undefined };
      try {
        return { done: false, value: await map(event.value) };
      } catch (error) {
        await release();
        throw error;
      }
    },
    return: release,
    async throw(error) {
      await release();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
